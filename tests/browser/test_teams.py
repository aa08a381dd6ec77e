"""Team runs on the page: planned, started, watched, decided and cancelled; on a phone; with axe; with hostile words."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.desk import Desk
from tests.browser.teams import box, cell, head, is_in_state, poor_task, start, task
from tests.browser.test_accessibility import findings
from tests.browser.test_hostile_text import BIDI, MARKUP
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.browser.work import make
from tests.fixtures.servers import RunningServer

_PATIENCE = 60_000
_PHONE_WIDTH = 390


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    """Without transitions: half-way between two colours no contrast is right."""
    return open_desk(sqlite_server, reduced_motion="reduce")


def test_a_run_that_was_planned_is_started_by_key_and_watched_to_its_end(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    tasks = [task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001"), task("TEST-001", "IMPL-001", "RESEARCH-001")]
    id = start(desk.server, *tasks, plan_only=True)
    keys.press("g")
    keys.press("k")
    expect(page.get_by_role("heading", name="Teams", level=1)).to_be_focused()
    expect(page.get_by_text("It waits for your start")).to_be_visible()
    keys.press("j")
    keys.press("Enter")

    expect(head(desk)).to_contain_text("Planned")
    expect(cell(desk, "Waits for you")).to_contain_text("The plan waits for your start")
    expect(box(desk, "IMPL-001")).to_contain_text("Pending")
    assert desk.server.get(f"/api/teams/{id}")["state"] == "planned"
    keys.press("s")

    expect(head(desk)).to_contain_text("Completed", timeout=_PATIENCE)
    expect(page.locator(".team-box[data-state='completed']")).to_have_count(3)
    expect(cell(desk, "Running now")).to_contain_text("The run is over.")
    expect(cell(desk, "Failed")).to_contain_text("0")
    expect(cell(desk, "Cost")).to_contain_text("0 tokens")
    # What follows from other lines is not drawn.
    expect(page.locator(".team-line")).to_have_count(2)

    for name, words in (
        ("Report", "Everything was done. 3 of 3 tasks are done"),
        ("Messages", "planned 3 tasks"),
        ("Who knows what", "RESEARCH-001-report.md"),
        ("Plan", "How it runs"),
    ):
        page.get_by_role("navigation", name="Parts of the run").get_by_role("link", name=name).click()
        expect(page.locator(".team-main")).to_contain_text(words)


def test_a_task_is_reached_by_the_arrows_and_shows_how_it_was_judged(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    id = start(desk.server, task("RESEARCH-001"), task("IMPL-001", "RESEARCH-001"))
    is_in_state(desk.server, id, "completed")
    desk.open(f"/teams/{id}")
    box(desk, "RESEARCH-001").get_by_role("link").focus()
    keys.press("ArrowRight")
    expect(box(desk, "IMPL-001").get_by_role("link")).to_be_focused()
    keys.press("ArrowLeft")
    expect(box(desk, "RESEARCH-001").get_by_role("link")).to_be_focused()
    keys.press("Enter")

    drawer = page.get_by_role("region", name="RESEARCH-001")
    expect(page).to_have_url(f"{desk.server.url}/teams/{id}/RESEARCH-001")
    expect(drawer.get_by_role("heading", name="RESEARCH-001")).to_be_focused()
    expect(drawer.get_by_role("meter")).to_have_count(4)
    expect(drawer.get_by_role("link", name="Output envelope")).to_be_visible()
    drawer.get_by_text("RESEARCH-001-report.md", exact=True).click()
    expect(drawer.get_by_role("heading", name="Findings")).to_be_visible()
    expect(drawer.get_by_text("the second", exact=True)).to_be_visible()
    drawer.get_by_role("link", name="IMPL-001").click()
    expect(page.get_by_role("region", name="IMPL-001")).to_be_visible()
    keys.press("Escape")
    expect(page.locator(".drawer")).to_have_count(0)
    expect(box(desk, "IMPL-001").get_by_role("link")).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("heading", name="Teams", level=1)).to_be_visible()


def test_a_gate_that_gives_up_waits_for_a_decision_and_the_run_goes_on_with_it(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    id = start(desk.server, poor_task("IMPL-001"), task("TEST-001", "IMPL-001"))
    desk.open(f"/teams/{id}")
    waits = cell(desk, "Waits for you")
    expect(waits).to_contain_text("after 3 attempts, 60 are needed", timeout=_PATIENCE)
    expect(box(desk, "IMPL-001")).to_contain_text("Gate failed · try 3")
    expect(box(desk, "TEST-001")).to_contain_text("Pending")
    waits.get_by_role("link", name="Decide IMPL-001").click()
    drawer = page.get_by_role("region", name="IMPL-001")
    expect(drawer).to_contain_text("no conflict markers")
    expect(drawer.locator(".attempts > li")).to_have_count(3)
    expect(drawer.locator(".choice-words")).to_contain_text("Skipleave it out, and all that depends on it")
    keys.press("4")
    expect(page.get_by_role("group", name="Skip IMPL-001")).to_contain_text("TEST-001 is left out with it")
    keys.press("Escape")
    keys.press("1")

    expect(head(desk)).to_contain_text("Completed with warnings", timeout=_PATIENCE)
    expect(box(desk, "TEST-001")).to_have_attribute("data-state", "completed")
    expect(waits).to_contain_text("0")
    desk.go_to("Inbox")
    expect(desk.cards).to_have_count(0)
    desk.unfold("Recently resolved")
    expect(desk.row("IMPL-001")).to_contain_text("accept")  # decided on the run, and told so where it was asked
    expect(desk.row("IMPL-001")).to_contain_text("Answered")


def test_a_plan_is_looked_at_before_anything_runs_and_cancelled_after_a_question(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    desk.open("/teams")
    expect(page.get_by_text("No team has run here yet")).to_be_visible()
    page.get_by_role("button", name="Start a team here").click()
    page.get_by_label("Agents").select_option("builtin")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was started: say what is to be done")
    expect(page.get_by_label("What is to be done")).to_be_focused()
    keys.type("!!!")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Plan only").click()
    expect(page.get_by_role("alert")).to_contain_text("the task's text is empty")
    expect(page.get_by_label("What is to be done")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("What is to be done").fill("Investigate the search, then test it")
    page.get_by_role("button", name="Plan only").click()

    expect(head(desk)).to_contain_text("Planned")
    asked = page.get_by_role("region", name="What the text asks for")
    expect(asked).to_contain_text("Investigate")
    expect(asked).to_contain_text("Complexity")
    expect(page.get_by_role("region", name="Roles")).to_contain_text("researcher")
    page.get_by_text("Its spec").first.click()
    expect(page.get_by_role("heading", name="Boundaries").first).to_be_visible()
    assert desk.server.get("/api/sessions")["sessions"] == []
    keys.press("c")
    expect(page.get_by_role("group", name="Cancel the run")).to_contain_text("A cancelled run does not go on")
    keys.press("Escape")
    expect(head(desk)).to_contain_text("Planned")
    keys.press("c")
    keys.press("Enter")
    expect(head(desk)).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Archive…")).to_be_visible()


def test_a_running_task_is_shown_paused_for_told_and_cancelled(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    id = start(desk.server, task("RESEARCH-001", run="exec sleep 600"), task("TEST-001", "RESEARCH-001"))
    desk.open(f"/teams/{id}")
    expect(cell(desk, "Running now")).to_contain_text("RESEARCH-001 researcher, for", timeout=_PATIENCE)
    expect(box(desk, "RESEARCH-001")).to_have_attribute("data-state", "running", timeout=_PATIENCE)
    keys.press("p")
    expect(head(desk)).to_contain_text("Paused")
    expect(page.get_by_text("paused by operator")).to_be_visible()
    keys.press("f")
    keys.type("Mind the old index in TEST-001")
    keys.press("Enter")
    expect(page.get_by_role("button", name="Feedback…")).to_be_focused()
    page.get_by_text("As a table").click()
    page.get_by_role("table").get_by_role("link", name="TEST-001").click()
    expect(page.get_by_role("region", name="TEST-001")).to_contain_text("operator: Mind the old index")
    keys.press("Escape")
    keys.press("p")
    expect(head(desk)).to_contain_text("Running")
    page.get_by_role("link", name="Messages").click()
    page.get_by_role("button", name="Post a message…").click()
    keys.type("Lunch at one")
    keys.press("Enter")
    expect(page.get_by_role("list", name="Messages")).to_contain_text("Lunch at one")
    keys.press("c")
    keys.press("Enter")

    expect(head(desk)).to_contain_text("Cancelled")
    is_in_state(desk.server, id, "cancelled")


def test_a_team_is_started_from_an_epic(desk: Desk) -> None:
    page = desk.page
    epic = make(desk.server, "Search that finds", kind="epic", description="Investigate it, then test it")["id"]
    desk.open(f"/items/{epic}")
    page.get_by_role("link", name="Start a team…").click()
    expect(page.get_by_label("What is to be done")).to_have_value("Search that finds\n\nInvestigate it, then test it")
    expect(page.get_by_label("Epic, optional")).to_have_value(epic)
    page.get_by_label("Agents").select_option("builtin")
    page.get_by_role("button", name="Plan only").click()
    expect(head(desk)).to_contain_text(epic)
    (run,) = desk.server.get("/api/teams")["runs"]
    assert run["epic_id"] == epic


@pytest.mark.parametrize("id", ["team-000000000000", "..%2Fx", "nothing"])
def test_an_address_of_no_run_says_so(desk: Desk, id: str) -> None:
    desk.open(f"/teams/{id}")
    expect(desk.page.get_by_role("heading", name="No team run has this id")).to_be_visible()
    desk.page.get_by_role("link", name="To the teams").click()
    expect(desk.page.get_by_role("heading", name="Teams", level=1)).to_be_visible()


def test_an_address_of_no_task_says_so_beside_the_run(desk: Desk) -> None:
    id = start(desk.server, task("TEST-001"), plan_only=True)
    desk.open(f"/teams/{id}/TEST-999")
    expect(desk.page.get_by_role("heading", name="The run has no task of this id")).to_be_visible()
    expect(box(desk, "TEST-001")).to_be_visible()


def test_two_hundred_tasks_are_drawn_and_walked_through(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard

    def nth(number: int) -> str:
        return f"IMPL-{number + 1:03d}"

    tasks = [task(nth(at), *([nth(at - 10)] if at >= 10 else []), run="true") for at in range(200)]
    id = start(desk.server, *tasks, plan_only=True)
    desk.open(f"/teams/{id}")
    expect(page.locator(".team-box")).to_have_count(200)
    expect(page.locator(".team-line")).to_have_count(190)
    box(desk, nth(0)).get_by_role("link").focus()
    for _ in range(19):
        keys.press("ArrowRight")
    expect(box(desk, nth(190)).get_by_role("link")).to_be_focused()
    expect(box(desk, nth(190))).to_be_in_viewport()
    # One of them is in the order of the Tab key.
    assert page.locator(".team-box a[tabindex='0']").count() == 1


def test_hostile_words_are_words(desk: Desk) -> None:
    page = desk.page
    hostile = f"{MARKUP} {BIDI}"
    id = start(desk.server, task("TEST-001", goal=hostile, more=f"\n{hostile}\n"), text=hostile)
    desk.server.post(f"/api/teams/{id}/messages", {"type": "note", "summary": hostile[:1_500], "data": {"x": hostile}})
    is_in_state(desk.server, id, "completed", "completed_with_warnings")
    desk.open("/teams")
    expect(page.locator(".card").first).to_contain_text("<script>")
    desk.open(f"/teams/{id}/TEST-001")
    drawer = page.get_by_role("region", name="TEST-001")
    expect(drawer.locator(".task-goal-whole")).to_contain_text("⟨U+202E⟩gnp.exe")
    drawer.get_by_text("TEST-001-report.md", exact=True).click()
    expect(drawer.locator(".markdown")).to_contain_text("[link](javascript:alert(1)) ![image]")
    desk.open(f"/teams/{id}?show=messages")
    expect(page.get_by_role("list", name="Messages")).to_contain_text("<iframe")

    assert page.evaluate("window.owned") is None
    assert page.locator("main :is(script, iframe, img, style, base)").count() == 0
    assert page.locator("main a[href^='javascript']").count() == 0


def test_teams_fit_a_phone_and_a_finger(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    phone, long = open_desk(sqlite_server, **PHONE), "a/very/long/path/that/does/not/want/to/break/" * 4
    id = start(
        phone.server,
        task("RESEARCH-001", goal=long, more=f"\n`{long}`\n\n```\n{long}\n```\n"),
        poor_task("IMPL-001"),
        text=long,
    )
    page = phone.page
    phone.open(f"/teams/{id}")
    decide = page.get_by_role("link", name="Decide IMPL-001")
    expect(decide).to_be_visible(timeout=_PATIENCE)
    is_in_state(phone.server, id, "running")
    for target in (decide, page.get_by_role("button", name="Pause"), page.get_by_role("link", name="Plan")):
        assert size(target)[1] >= FINGER
    for part in ("", "?show=messages", "?show=knowledge", "?show=plan", "/RESEARCH-001", "/IMPL-001"):
        phone.open(f"/teams/{id}{part}")
        expect(page.locator(".team-main .section, .drawer .facts").first).to_be_visible()
        assert too_wide(phone) == [], part
        # What is too wide widens the window of a phone, too.
        assert page.evaluate("innerWidth") == _PHONE_WIDTH, part
    phone.open(f"/teams/{id}/RESEARCH-001")
    page.locator(".artifacts summary").click()
    expect(page.locator(".markdown pre")).to_be_visible()
    assert too_wide(phone) == []
    page.get_by_role("button", name="Close the task").click()
    phone.go_to("Teams")
    page.get_by_role("button", name="Start a team…").click()
    expect(page.get_by_role("form", name="Start a team")).to_be_visible()
    assert too_wide(phone) == []


def test_axe_finds_nothing_on_any_part_of_a_run(desk: Desk, axe: Callable[[Page], list[str]]) -> None:
    page, server = desk.page, desk.server
    desk.open("/teams")
    expect(page.get_by_text("No team has run here yet")).to_be_visible()
    found = findings("no run", page, axe)
    id = start(server, task("RESEARCH-001"), poor_task("IMPL-001"), task("TEST-001", "IMPL-001"))
    desk.open(f"/teams/{id}")
    expect(page.get_by_role("link", name="Decide IMPL-001")).to_be_visible(timeout=_PATIENCE)
    page.get_by_text("As a table").click()
    found += findings("the tasks", page, axe)
    for part in ("messages", "knowledge", "plan"):
        desk.open(f"/teams/{id}?show={part}")
        expect(page.locator(".team-main .section").first).to_be_visible()
        found += findings(part, page, axe)
    desk.open(f"/teams/{id}/RESEARCH-001")
    page.locator(".artifacts summary").click()
    expect(page.locator(".markdown")).to_be_visible()
    found += findings("a task", page, axe)
    desk.open(f"/teams/{id}/IMPL-001")
    expect(page.get_by_role("meter").first).to_be_visible()
    found += findings("a decision", page, axe)
    desk.open("/teams")
    page.get_by_role("button", name="Start a team…").click()
    page.get_by_text("How it runs").click()
    found += findings("the list", page, axe)

    assert found == []
