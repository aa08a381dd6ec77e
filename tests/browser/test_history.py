"""What was answered is found by its words, a session's story by its name, and what the asking costs by the day."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer


def put(server: RunningServer, text: str, session: str, **payload: object) -> str:
    document = {"kind": "question", "role": "manager", "mode": "balanced", "text": text, **payload}
    return server.append("GembaAsk", document, session)


@pytest.fixture
def story(sqlite_server: RunningServer) -> RunningServer:
    """Three sessions that asked, two of which were answered."""
    server = sqlite_server
    port = put(server, "Which port does staging use?", "agent-1")
    colour = put(server, "What colour is the button?", "agent-2")
    put(server, "When is the release?", "agent-1")
    put(server, "Which size?", "agent-1", kind="assumption", chose="large")
    retry_until(lambda: server.get("/api/escalations")["total"] == 3)
    server.post(f"/api/escalations/{port}/respond", {"text": "8080, behind the proxy"})
    server.post(f"/api/escalations/{colour}/respond", {"text": "green"})
    return server


def test_answered_ones_are_found_by_words_of_question_and_answer(
    open_desk: Callable[..., Desk], story: RunningServer
) -> None:
    desk = open_desk(story)
    keys = desk.page.keyboard
    keys.press("/")
    box = desk.page.get_by_role("searchbox", name="Search questions and answers")
    expect(box).to_be_focused()
    expect(desk.page.locator(".row")).to_have_count(2)

    keys.type("proxy")
    expect(desk.page.locator(".row")).to_have_count(1)
    expect(desk.row("Which port does staging use?")).to_contain_text("8080, behind the proxy")
    expect(desk.row("Which port does staging use?")).to_contain_text("Answered")
    expect(desk.page).to_have_url(f"{story.url}/answered?q=proxy")
    expect(desk.page.get_by_role("status").last).to_have_text("1 found")
    searches = [one.url for one in desk.api_requests("/api/escalations") if "q=" in one.url]
    assert len(searches) < len("proxy"), searches

    box.fill("button")
    expect(desk.row("What colour is the button?")).to_be_visible()
    box.fill("nothing has these words")
    expect(desk.page.get_by_role("heading", name="Nothing found")).to_be_visible()
    keys.press("Escape")
    expect(desk.page.locator(".row")).to_have_count(2)

    # What is answered meanwhile comes in by itself.
    waiting = story.get("/api/escalations?state=unresolved")["escalations"][0]["id"]
    story.post(f"/api/escalations/{waiting}/respond", {"text": "on Friday"})
    expect(desk.row("When is the release?")).to_contain_text("on Friday")


def test_a_session_has_a_page_with_everything_it_asked(open_desk: Callable[..., Desk], story: RunningServer) -> None:
    desk = open_desk(story)
    desk.card("When is the release?").get_by_role("link", name="agent-1").click()

    page = desk.page
    expect(page.get_by_role("heading", level=1)).to_have_text("agent-1")
    expect(page).to_have_title("(1) agent-1 · workspace")
    rows = page.get_by_role("list", name="What it asked").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("Which size?")
    expect(rows.nth(0)).to_contain_text("Decided alone")
    expect(rows.nth(1)).to_contain_text("When is the release?")
    expect(rows.nth(2)).to_contain_text("8080, behind the proxy")
    names, values = (page.locator(f".counters {tag}").all_inner_texts() for tag in ("dt", "dd"))
    figures = dict(zip(names, values, strict=True))
    assert {name: figures[name] for name in ("asked", "waiting", "answered", "decided alone")} == {
        "asked": "2",
        "waiting": "1",
        "answered": "1",
        "decided alone": "1",
    }

    put(story, "And what then?", "agent-1")
    expect(rows.first).to_contain_text("And what then?")
    rows.first.get_by_role("link", name="Answer…").click()
    desk.reply_box("And what then?").fill("rest")
    desk.reply_box("And what then?").press("Enter")
    expect(desk.card("And what then?")).to_contain_text("Answered")
    page.go_back()
    expect(rows.filter(has_text="And what then?")).to_contain_text("rest")


def test_the_cost_of_asking_is_shown_by_day_and_in_a_table(
    open_desk: Callable[..., Desk], story: RunningServer
) -> None:
    desk = open_desk(story)
    desk.go_to("Attention")

    page = desk.page
    expect(page.get_by_role("img", name="Asked a day: 3 in 7 days, at most 3 on one")).to_be_visible()
    row = page.get_by_role("region", name="Figures by day").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").nth(1)).to_have_text("Question")
    expect(row.get_by_role("cell").nth(2)).to_have_text("3")
    expect(row.get_by_role("cell").nth(3)).to_have_text("2")
    page.get_by_role("combobox", name="Days").select_option("30")
    expect(page.get_by_role("img", name="Asked a day: 3 in 30 days")).to_be_visible()
    put(story, "One more?", "agent-3", kind="blocker")
    expect(page.get_by_role("img", name="Asked a day: 4 in 30 days")).to_be_visible()
    page.get_by_role("combobox", name="Kind").select_option("blocker")
    expect(page.get_by_role("img", name="Asked a day: 1 in 30 days")).to_be_visible()


def test_policies_are_read_as_sentences_with_the_state_of_their_channels(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer]
) -> None:
    server = start_server(running=False)
    (server.workspace / ".gemba/workspace.toml").write_text(
        '[channels.phone]\nurl_env = "NOT_SET_ANYWHERE"\n'
        '[channels.team]\nmembers = ["phone", "page"]\n'
        '[[policy]]\nname = "urgent"\nkinds = ["blocker"]\nremind_after = "10m"\nrepeat_every = "30m"\n'
        'repeat_at_most = 5\nnotify = ["page"]\nthen_notify = ["team"]\nexpire_after = "8h"\n'
        'default_answer = "<b>go on</b>"\n'
    )
    server.start()
    desk = open_desk(server)
    desk.go_to("Policies")

    policy = desk.page.get_by_role("article", name="urgent")
    expect(policy).to_contain_text("Blockers wait for your answer: after 10 minutes remind, notify page;")
    steps = policy.get_by_role("list", name="What happens when").get_by_role("listitem")
    expect(steps).to_have_count(4)
    expect(steps.nth(2)).to_contain_text("again, notify team, at most 5 times, until somebody looks")
    expect(steps.nth(3)).to_contain_text("after 8 hours")
    expect(steps.nth(3)).to_contain_text("it is answered “<b>go on</b>” for you")
    expect(desk.page.locator("[data-channel=phone]")).to_contain_text("NOT_SET_ANYWHERE is not set in the environment")
    expect(desk.page.locator("[data-channel=page]")).to_have_attribute("data-status", "ok")
    expect(desk.page.get_by_role("heading", name="Policies").locator("..")).to_contain_text(".gemba/workspace.toml")

    undo = desk.page.get_by_role("combobox", name="Answers can be taken back for")
    expect(undo).to_have_value("0")
    undo.select_option("15")
    assert desk.page.evaluate("localStorage.getItem('gemba.undo-seconds')") == "15"
