"""Beside any screen the PM is asked a question about what is open there; its lines come in and can be applied."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.consulting import detail, emit, line, make_item, order_of, ranked, with_agents
from tests.browser.desk import Desk
from tests.browser.test_accessibility import Axe, findings
from tests.browser.test_hostile_text import MARKUP
from tests.browser.test_phone import FINGER, PHONE, size
from tests.fixtures.servers import RunningServer

MILESTONE = {"verb": "POST", "path": "/api/work-items", "body": {"item": {"kind": "milestone", "title": "Beta"}}}


@pytest.fixture
def server(sqlite_server: RunningServer) -> Iterator[RunningServer]:
    with with_agents(sqlite_server) as server:
        yield server


@pytest.fixture
def desk(open_desk: Callable[..., Desk], server: RunningServer) -> Desk:
    return open_desk(server, reduced_motion="reduce")


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Ask the PM")


def question(page: Page) -> Locator:
    return panel(page).get_by_role("textbox", name="Question")


def newest(server: RunningServer) -> dict[str, Any]:
    listed = server.get("/api/consults?limit=1")["consults"]
    return detail(server, listed[0]["id"])


def ask(desk: Desk, words: str, agent: str = "scribe") -> str:
    """The consult's id."""
    page = desk.page
    panel(page).get_by_role("combobox", name="Answered by").select_option(agent)
    question(page).fill(words)
    with page.expect_response("**/api/consults"):
        panel(page).get_by_role("button", name="Ask", exact=True).click()
    expect(panel(page).locator("[data-consult]")).to_be_visible()
    id = panel(page).locator("[data-consult]").get_attribute("data-consult")
    assert id is not None
    return id


def test_a_question_is_asked_about_what_is_open_and_its_proposal_is_applied(desk: Desk) -> None:
    page, server = desk.page, desk.server
    server.append("GembaState", {"state": "working"}, "agent-7")
    desk.open("/sessions/agent-7")
    page.keyboard.press("q")
    expect(question(page)).to_be_focused()
    expect(panel(page).get_by_role("checkbox", name="About the session agent-7")).to_be_checked()

    id = ask(desk, "What is in the way?")
    asked = detail(server, id)
    assert asked["raw_request"]["raw_input"] == {"question": "What is in the way?", "refs": ["agent-7"]}
    assert (asked["persona_id"], asked["skill_id"], asked["status"]) == ("project-manager", "ask", "running")
    emit(server, id, {"type": "strategy", "reasoning": "I looked."}, skill="ask")
    expect(line(panel(page), "I looked.")).to_be_visible()
    finding = {"type": "finding", "text": f"Nobody planned it. {MARKUP}", "refs": ["agent-7"]}
    proposal = {"type": "proposal", "title": "A milestone", "rationale": "To see it.", "confidence": 0.8}
    emit(server, id, finding, {**proposal, "suggested_action": MILESTONE}, skill="ask")
    expect(line(panel(page), "Nobody planned it.")).to_contain_text("<script>window.owned = 1</script>")
    offered = line(panel(page), "A milestone")
    expect(offered).to_contain_text("New milestone: Beta")
    expect(offered).to_contain_text("80 % sure")

    offered.get_by_role("button", name="Apply").click()
    expect(offered).to_contain_text("Applied by")
    titles = [item["title"] for item in server.get("/api/work-items?kind=milestone")["items"]]
    assert titles == ["M1 Beta"]
    assert page.evaluate("window.owned") is None
    emit(server, id, {"type": "summary", "notes": "Plan it."}, skill="ask")
    server.append("Stop", {}, id)
    expect(panel(page).locator(".consult-head .outcome")).to_have_text("Completed")


def test_it_stays_open_from_screen_to_screen_and_keeps_what_was_typed(desk: Desk) -> None:
    page = desk.page
    page.get_by_role("button", name="Ask the PM").click()
    question(page).fill("half a question")
    desk.go_to("Health")
    expect(question(page)).to_have_value("half a question")
    question(page).press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Ask the PM")).to_be_focused()
    page.keyboard.press("q")
    expect(question(page)).to_have_value("half a question")
    expect(panel(page).get_by_role("checkbox")).to_have_count(0)


def test_without_a_model_it_says_what_is_missing_and_fails_once(desk: Desk) -> None:
    page, server = desk.page, desk.server
    page.keyboard.press("q")
    question(page).fill("Why?")
    question(page).press("Enter")

    expect(panel(page).get_by_role("alert")).to_contain_text("Ask needs a model, and none is at hand")
    expect(question(page)).to_have_value("Why?")
    assert server.get("/api/consults?status=failed")["total"] == 1


def test_an_order_is_recommended_beside_any_screen(desk: Desk) -> None:
    page, server = desk.page, desk.server
    base = make_item(server, "Base")
    desk.go_to("Assumptions")
    page.keyboard.press("q")
    panel(page).get_by_role("button", name="Recommend order").dblclick()

    expect(panel(page).locator(".consult-head .outcome")).to_have_text("Completed")
    assert server.get("/api/consults")["total"] == 1
    ranked(panel(page), 1).focus()
    page.keyboard.press("a")
    expect(ranked(panel(page), 1)).to_contain_text("Applied by")
    assert order_of(server, base) == 1


def test_its_keys_leave_the_screen_beside_it_alone(desk: Desk) -> None:
    page, server = desk.page, desk.server
    for number in (1, 2):
        server.append("GembaAsk", {"kind": "question", "role": "manager", "mode": "balanced", "text": f"Ask {number}?"})
    expect(desk.cards).to_have_count(2)
    page.keyboard.press("q")
    id = ask(desk, "Why?")
    emit(server, id, {"type": "strategy", "reasoning": "One."}, {"type": "finding", "text": "Two."}, skill="ask")
    expect(line(panel(page), "Two.")).to_be_visible()

    line(panel(page), "One.").focus()
    page.keyboard.press("j")
    expect(line(panel(page), "Two.")).to_be_focused()
    page.locator("main h1").focus()
    page.keyboard.press("j")
    expect(desk.cards.first).to_be_focused()
    assert newest(server)["id"] == id


def test_nothing_serious_is_found_in_it_and_a_phone_has_room_for_it(
    desk: Desk, open_desk: Callable[..., Desk], axe: Axe
) -> None:
    page, server = desk.page, desk.server
    page.keyboard.press("q")
    id = ask(desk, "Why?")
    proposal = {"type": "proposal", "title": "long/" * 60, "rationale": "To see it.", "confidence": 0.8}
    emit(
        server,
        id,
        {"type": "strategy", "reasoning": "I looked."},
        {**proposal, "suggested_action": MILESTONE},
        skill="ask",
    )
    expect(panel(page).get_by_role("button", name="Apply", exact=True).first).to_be_visible()
    assert findings("the panel", page, axe) == []

    phone = open_desk(server, **PHONE)
    phone.page.get_by_role("button", name="Ask the PM").tap()
    expect(question(phone.page)).to_be_visible()
    assert phone.page.locator("html").evaluate("element => element.scrollWidth <= innerWidth")
    pressed = panel(phone.page).get_by_role("button").all()
    assert [one for one in pressed if min(size(one)) < FINGER] == []
