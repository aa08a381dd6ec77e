"""Sprints on the page: planned, filled, started and closed by keyboard; live; on a phone; with axe."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.fixtures.servers import RunningServer


def item(server: RunningServer, title: str, **facts: Any) -> str:
    answer = server.request("POST", "/api/work-items", {"item": {"title": title, **facts}})
    assert answer.status == 201, answer
    return str(answer.json["id"])


def sprint(server: RunningServer, *items: str, title: str = "Search that finds", budget: int = 1_000) -> str:
    body = {"title": title, "token_budget": budget, "item_ids": list(items), "ends_at": "2199-01-01T00:00:00Z"}
    answer = server.request("POST", "/api/sprints", body)
    assert answer.status == 201, answer
    return str(answer.json["id"])


def running(server: RunningServer, *items: str, **facts: Any) -> str:
    id = sprint(server, *items, **facts)
    server.post(f"/api/sprints/{id}/start", {})
    return id


def take(server: RunningServer, tokens: int, session: str = "s-1") -> None:
    server.append("GembaUsage", {"input_tokens": tokens}, session)


def test_a_sprint_is_planned_filled_started_and_closed_without_a_mouse(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    index = item(desk.server, "Build the index")
    keys.press("g")
    keys.press("n")
    expect(page.get_by_role("heading", name="Sprints", level=1)).to_be_focused()
    expect(page.get_by_text("No sprint is planned yet")).to_be_visible()

    page.get_by_role("button", name="Plan a sprint…").focus()
    keys.press("Enter")
    expect(page.get_by_label("Title")).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("button", name="Plan a sprint…")).to_be_focused()
    keys.press("Enter")
    keys.type("Search that finds")
    page.get_by_label("Budget in tokens").focus()
    keys.type("lots")
    keys.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("whole number of tokens, such as 2,000,000 or 2M")
    keys.press("ControlOrMeta+a")
    keys.type("2k")
    keys.press("Enter")

    expect(page.get_by_role("heading", name="Search that finds", level=1)).to_be_focused()
    page.get_by_label("Put an item in").focus()
    keys.type("index")
    expect(page.get_by_role("button", name="Build the index")).to_be_visible()
    keys.press("Enter")
    expect(page.get_by_role("region", name="Items")).to_contain_text(index)
    page.get_by_role("button", name="Start").focus()
    keys.press("Enter")
    expect(page.locator(".screen-head")).to_contain_text("running")
    expect(page.get_by_role("meter", name="Budget used")).to_have_attribute("aria-valuetext", "0 of 2,000 tokens, 0 %")
    page.get_by_role("button", name="Close…").focus()
    keys.press("Enter")
    keys.type("enough")
    keys.press("Enter")
    expect(page.locator(".screen-head")).to_contain_text("closed")
    (found,) = desk.server.get("/api/sprints")["sprints"]
    assert (found["state"], found["token_budget"], found["close_reason"]) == ("closed", 2_000, "enough")
    keys.press("Escape")
    expect(page.get_by_role("heading", name="Sprints", level=1)).to_be_visible()


def test_what_is_used_comes_in_live_and_a_raised_budget_lets_work_go_on(desk: Desk) -> None:
    page = desk.page
    work = item(desk.server, "Build the index")
    id = running(desk.server, work)
    desk.open(f"/sprints/{id}")
    expect(page.get_by_role("img", name="Burn-down.")).to_have_attribute(
        "aria-label", "Burn-down. On the first day: 1 of 1 item left, 1,000 of 1,000 tokens left."
    )

    take(desk.server, 1_200)

    expect(page.get_by_text("120 % used: 1,200 of 1,000 tokens. Past its stop")).to_be_visible()
    expect(page.get_by_role("region", name="Nothing new is begun")).to_contain_text("raise its budget, or close it")
    expect(page.locator(".screen-head")).to_contain_text("held")
    for place in ("Board", "Coach"):
        desk.go_to(place)
        expect(page.get_by_role("region", name="Nothing new is begun")).to_contain_text("raise its budget")
    desk.open(f"/sprints/{id}")
    assert desk.server.request("PATCH", f"/api/work-items/{work}", {"state": "done"}).status == 200
    expect(page.get_by_text("0 of 1 item left, 200 tokens over the budget")).to_be_visible()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("region", name="Burn-down by day")).to_contain_text("1,200")

    page.get_by_role("button", name="Change…").click()
    page.get_by_label("Budget in tokens").fill("5,000")
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("region", name="Nothing new is begun")).to_have_count(0)
    expect(page.get_by_text("24 % used")).to_be_visible()
    desk.go_to("Inbox")
    expect(desk.cards).to_have_count(0)


def test_thresholds_that_fall_are_refused_in_the_form(desk: Desk) -> None:
    page = desk.page
    desk.open("/sprints")
    page.get_by_role("button", name="Plan a sprint…").click()
    page.get_by_label("Title").fill("First")
    page.get_by_label("Budget in tokens").fill("1000")
    page.get_by_label("Warn at").fill("20")
    page.get_by_role("button", name="Plan it").click()

    expect(page.get_by_role("alert")).to_contain_text("allowed: inform ≤ warn ≤ stop")
    expect(page.get_by_label("Warn at")).to_have_attribute("aria-invalid", "true")
    assert desk.server.get("/api/sprints")["total"] == 0


def test_axe_finds_nothing_in_sprints(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, axe: Callable[[Page], list[str]]
) -> None:
    epic = item(sqlite_server, "Search", kind="epic")
    work = item(sqlite_server, "Build the index", parent=epic, estimated_tokens=5_000)
    id = running(sqlite_server, epic, work)
    sprint(sqlite_server, title="Next", budget=5_000_000)
    take(sqlite_server, 1_500)
    retry_until(lambda: sqlite_server.get("/api/holds")["holds"])
    desk = open_desk(sqlite_server, reduced_motion="reduce")
    page = desk.page
    desk.open("/sprints")
    page.get_by_role("button", name="Plan a sprint…").click()
    expect(page.get_by_role("img", name="Burn-down.")).to_be_visible()
    found = findings("sprints", page, axe)
    desk.open(f"/sprints/{id}")
    page.get_by_text("As a table").click()
    page.get_by_label("Put an item in").fill("e")
    expect(page.get_by_role("region", name="Items")).to_contain_text("Build the index")
    found += findings("sprint", page, axe)

    assert found == []


@pytest.mark.parametrize("path", ["/sprints", "/sprints/sprint-1"])
def test_sprints_fit_a_phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer, path: str) -> None:
    long = "a/very/long/path/that/does/not/want/to/break/" * 3
    running(sqlite_server, item(sqlite_server, long), title=long)
    take(sqlite_server, 1_500, "a-session-with-quite-a-long-name-" * 3)
    retry_until(lambda: sqlite_server.get("/api/holds")["holds"])
    phone = open_desk(sqlite_server, **PHONE)
    phone.open(path)
    expect(phone.page.get_by_role("img", name="Burn-down.")).to_be_visible()

    assert [one for one in too_wide(phone) if "<td" not in one and "<th" not in one and "<table" not in one] == []
    buttons = [one for one in phone.page.locator("main").get_by_role("button").all() if one.is_visible()]
    assert {str(one): size(one) for one in buttons if size(one)[1] < FINGER} == {}
