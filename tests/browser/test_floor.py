"""The floor on the page: every number leads to its place, it moves by itself, by keyboard and on a phone; with axe."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.browser.test_sprints import item, running, take
from tests.browser.work import relate
from tests.fixtures.remembered import suggest_in
from tests.fixtures.servers import RunningServer

PHONE_SIZE: ViewportSize = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> \u202egnp.exe"
ASK = {"kind": "question", "role": "manager", "mode": "balanced"}


def fill(server: RunningServer) -> None:
    """Something in every part."""
    first, second = item(server, "Build the index", priority=1), item(server, "Answer queries")
    relate(server, first, "blocks", second)
    running(server, first, budget=10_000)
    server.append("GembaAsk", {**ASK, "kind": "blocker", "text": "Which port?"}, "stopped")
    server.append("GembaAsk", {**ASK, "text": HOSTILE}, "asks")
    server.append("GembaState", {"state": "working", "note": HOSTILE, "bead_id": first}, "paints")
    server.append("GembaUsage", {"input_tokens": 2_500, "cost_usd": 0.75}, "paints")
    suggest_in(server.workspace, server.home, "use UTC")
    body = {"text": "Look into the search", "agent": "builtin", "plan_only": True}
    assert server.request("POST", "/api/teams", body).status == 201
    retry_until(lambda: server.get("/api/usage")["total"] == 1)


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def need(page: Page, name: str) -> Locator:
    return page.locator(f"[data-need='{name}']")


@pytest.fixture
def full(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    fill(sqlite_server)
    desk = open_desk(sqlite_server, reduced_motion="reduce")
    desk.open("/")
    expect(need(desk.page, "plans")).to_be_visible()
    return desk


def test_every_number_leads_to_its_place(full: Desk) -> None:
    page = full.page
    asked = full.server.get("/api/escalations?urgency=blocking")["escalations"][0]["id"]
    run = full.server.get("/api/teams")["runs"][0]["id"]
    first = full.server.get("/api/floor")["ready"]["items"][0]["id"]
    ways = (
        (need(page, "blocking").get_by_role("link", name="1 blocking", exact=True), "/inbox", "Inbox"),
        (need(page, "blocking").get_by_role("link", name="the oldest"), f"/escalations/{asked}", "Blocker"),
        (need(page, "memories").get_by_role("link"), "/memory", "Memory"),
        (need(page, "plans").get_by_role("link", name="1 plan to start"), "/teams", "Teams"),
        (need(page, "plans").get_by_role("link", name="the oldest"), f"/teams/{run}", "Look into the search"),
        (part(page, "Needs you").get_by_role("link", name="Which port?"), f"/escalations/{asked}", "Blocker"),
        (part(page, "Running").get_by_role("link", name="Running 3"), "/sessions", "Sessions"),
        (part(page, "Running").get_by_role("link", name="paints"), "/sessions/paints", "paints"),
        (part(page, "Running").get_by_role("link", name="needs you"), "/sessions/stopped?show=asked", "stopped"),
        (part(page, "Team runs").get_by_role("link", name="Look into"), f"/teams/{run}", "Look into the search"),
        (part(page, "Next").get_by_role("link", name="1 ready"), "/board?show=ready", "Board"),
        (part(page, "Next").get_by_role("link", name="Build the index"), f"/items/{first}", "Build the index"),
        (part(page, "Today").get_by_role("link", name="$0.75"), "/insights", "Insights"),
        (part(page, "Today").get_by_role("link", name="Search that finds"), "/sprints/sprint-1", "Search that finds"),
        (part(page, "Today").get_by_role("link", name="Advice"), "/personas", "Personas"),
        (part(page, "Phase").get_by_role("link"), "/personas", "Personas"),
    )
    for link, path, heading in ways:
        link.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        assert page.url.removeprefix(full.server.url).startswith(path.partition("?")[0]), (path, page.url)
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("Floor")
    page.get_by_role("link", name="Gemba").first.click()
    assert page.url == f"{full.server.url}/"
    assert full.console_errors == []


def test_it_moves_by_itself_and_asks_once_for_what_came_together(full: Desk) -> None:
    page, server = full.page, full.server
    expect(page.locator(".screen-head")).to_contain_text("1 ask stops an agent, 1 can wait; 3 agents are at work")
    expect(part(page, "Today")).to_contain_text("25 % of 10 k tokens")
    before = len(full.api_requests("/api/floor"))

    for number in range(5):
        server.append("GembaAsk", {**ASK, "kind": "blocker", "text": f"And {number}?"}, "stopped")

    expect(need(page, "blocking").locator(".strip-many")).to_have_text("6")
    expect(page.locator(".screen-head")).to_contain_text("6 asks stop an agent")
    assert len(full.api_requests("/api/floor")) - before <= 3
    take(server, 3_500, "paints")
    expect(part(page, "Today")).to_contain_text("60 % of 10 k tokens")
    item(server, "Write the docs", priority=0)
    expect(part(page, "Next").locator("li").first).to_contain_text("Write the docs")
    server.append("SessionEnd", {"reason": "exit"}, "paints")
    expect(part(page, "Running").get_by_role("link", name="Running 2")).to_be_visible()
    server.request("PATCH", "/api/project/phase", {"phase": "shipping"})
    expect(part(page, "Phase")).to_contain_text("shipping")


def test_it_is_walked_by_keyboard_and_whoever_comes_back_stands_where_they_were(full: Desk) -> None:
    page, keys = full.page, full.page.keyboard
    page.get_by_role("heading", level=1).focus()
    keys.press("j")
    expect(page.locator(".floor-row").first).to_be_focused()
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Blocker")
    page.go_back()
    expect(page.locator(".floor-row").first).to_be_focused()
    keys.press("g")
    keys.press("i")
    expect(page.get_by_role("heading", name="Inbox", level=1)).to_be_focused()
    keys.press("g")
    keys.press("g")
    expect(page.get_by_role("heading", name="Floor", level=1)).to_be_focused()
    # The letter that led here begins no new pair.
    keys.press("i")
    expect(page.get_by_role("heading", level=1)).to_have_text("Floor")


def test_an_empty_floor_says_how_to_begin_and_fills_by_itself(desk: Desk, axe: Callable[[Page], list[str]]) -> None:
    page = desk.page
    desk.open("/")
    expect(page.get_by_role("heading", name="Nothing happens on this floor yet")).to_be_visible()
    assert findings("empty floor", page, axe) == []
    page.set_viewport_size(PHONE_SIZE)
    # What is too long in a command is scrolled within it.
    assert [one for one in too_wide(desk) if not one.startswith("<code")] == []

    desk.server.append("GembaAsk", {**ASK, "text": "Tea or coffee?"}, "try")

    expect(part(page, "Needs you").get_by_role("link", name="Tea or coffee?")).to_be_visible()
    expect(part(page, "Next")).to_contain_text("Nothing is ready.")


def test_a_full_floor_is_accessible_and_fits_a_phone(
    full: Desk, open_desk: Callable[..., Desk], axe: Callable[[Page], list[str]]
) -> None:
    assert findings("floor", full.page, axe) == []
    assert full.page.title().endswith("Floor · workspace")

    phone = open_desk(full.server, **PHONE)
    long = "a/very/long/path/that/does/not/want/to/break/" * 4
    full.server.append("GembaState", {"state": "working", "note": long}, "long-" * 20)
    item(full.server, long, priority=0)
    phone.open("/")
    expect(part(phone.page, "Running").get_by_role("link", name="Running 4")).to_be_visible()
    expect(part(phone.page, "Next")).to_contain_text("a/very/long")

    assert too_wide(phone) == []
    strip = [*phone.page.locator(".strip a").all(), *phone.page.locator(".nav > .nav-group a").all()]
    assert [one for one in strip if size(one)[1] < FINGER] == []
    needs = phone.page.locator(".strip").bounding_box()
    running_ = part(phone.page, "Running").bounding_box()
    assert needs is not None
    assert running_ is not None
    assert needs["y"] < running_["y"]
