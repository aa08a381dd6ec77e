"""Insights on the page: every plot with its sentence and its table, the days in the address, both themes, a phone."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.fixtures.plans import epic as candidate
from tests.fixtures.plans import order_input
from tests.fixtures.servers import RunningServer

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> \u202egnp.exe"
BY_DAY = ("Work dispatched", "Escalations", "Time to see", "Time to answer", "Blocked agent-minutes", "Cost by day")
COMPARED = ("Cost by epic", "Cost by persona", "Advisor against model")


def days_ago(many: int) -> str:
    return (datetime.now(UTC) - timedelta(days=many)).isoformat()


def make(server: RunningServer, path: str, body: dict[str, Any]) -> str:
    """Something new; its id."""
    answer = server.request("POST", path, body)
    assert answer.status == 201, answer
    return str(answer.json["id"])


def happen(server: RunningServer, title: str = "Search") -> None:
    """Some of everything that is plotted: asks of today, turns of the last days, advice, a sprint that runs."""
    epic = make(server, "/api/work-items", {"item": {"title": title, "kind": "epic"}})
    body = {"title": title, "token_budget": 100_000, "item_ids": [epic], "ends_at": "2199-01-01T00:00:00Z"}
    sprint = make(server, "/api/sprints", body)
    server.post(f"/api/sprints/{sprint}/start", {})
    server.append("GembaState", {"state": "working", "bead_id": epic}, "s-1")
    for ago, tokens in ((0, 4_000), (2, 1_000), (40, 500)):
        server.append("GembaUsage", {"input_tokens": tokens, "cost_usd": tokens / 1_000}, "s-1", ts=days_ago(ago))
    advice = make(
        server,
        "/api/consults",
        {"persona_id": "project-manager", "skill_id": "epic_order", "raw_input": order_input(candidate(epic))},
    )
    server.append("GembaUsage", {"input_tokens": 200}, advice)
    server.post("/api/dispatches", {"goal": "do it"})
    asked = {"kind": "blocker", "role": "manager", "mode": "balanced"}
    first = server.append("GembaAsk", {**asked, "text": "Which port?"}, "s-1")
    server.append("GembaAsk", {**asked, "text": "Which name?"}, "s-2")
    retry_until(lambda: server.get("/api/escalations")["total"] == 2)
    server.post(f"/api/escalations/{first}/respond", {"text": "8080"})
    retry_until(lambda: server.get("/api/insights?days=90")["total"]["tokens"] == 5_700)
    retry_until(lambda: server.get("/api/personas/track-record")["records"])


def figure(page: Page, title: str) -> Locator:
    return page.get_by_role("figure", name=title, exact=True)


def table(page: Page, title: str) -> list[list[str]]:
    """The rows behind a plot, which is unfolded for that."""
    behind = figure(page, title).locator("details")
    if behind.get_attribute("open") is None:
        behind.get_by_text("As a table").click()
    expect(behind.get_by_role("table")).to_be_visible()
    return [row.locator("th, td").all_inner_texts() for row in behind.locator("tbody tr").all()]


def number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text) or 0)


def test_every_plot_says_what_it_shows_and_its_table_has_the_same(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    happen(desk.server, HOSTILE)
    keys.press("g")
    keys.press("u")
    expect(page.get_by_role("heading", name="Insights", level=1)).to_be_focused()

    expect(figure(page, "Escalations").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^Escalations\. Asked 2, answered 1; 0\.07 a day, ")
    )
    expect(page.get_by_role("img", name="Time to answer. Asked 2, answered 1; the median answer took")).to_be_visible()
    expect(page.get_by_role("img", name="Cost by day. $5.00 in 30 days")).to_be_visible()
    expect(page.get_by_role("img", name="Burn-down. On the first day: 1 of 1 item left")).to_be_visible()
    expect(page.get_by_role("img", name="Advisor against model. 1 ranking; none can be compared")).to_be_visible()
    for title in BY_DAY:
        rows = table(page, title)
        assert len(rows) == 30
        drawn = figure(page, title).locator(".plot-day title").all_text_contents()
        for (_, *cells), told in zip(reversed(rows), drawn, strict=True):
            known = [cell for cell in cells if number(cell) > 0]
            assert all(cell in told for cell in known), (title, cells, told)
    # Bars are as long as the figures say.
    bars = [number(str(bar.get_attribute("height"))) for bar in figure(page, "Cost by day").locator(".plot-part").all()]
    costs = [number(cost) for _, cost in reversed(table(page, "Cost by day")) if number(cost) > 0]
    assert costs == [1.0, 4.0]
    assert bars[1] / bars[0] == pytest.approx(4)
    for title in COMPARED:
        said = figure(page, title).locator("svg[role=img] g > title").all_text_contents()
        assert len(said) == len(table(page, title)) >= 1
    assert [row[2:] for row in table(page, "Cost by epic")] == [["5,000", "2"], ["200", "1"]]
    assert page.title() != "owned"

    desk.server.append("GembaUsage", {"input_tokens": 1_000, "cost_usd": 1}, "s-1")
    expect(page.get_by_role("img", name="Cost by day. $6.00 in 30 days")).to_be_visible()


def test_the_days_and_the_unit_stand_in_the_address(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    happen(desk.server)
    desk.open("/insights?days=90")
    expect(page.get_by_role("radio", name="90 days")).to_be_checked()
    expect(page.get_by_role("img", name="Cost by day. $5.50 in 90 days")).to_be_visible()

    page.get_by_role("radio", name="90 days").focus()
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")

    expect(page.get_by_role("img", name="Cost by day. $5.00 in 7 days")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/insights\?days=7"))
    page.get_by_role("radio", name="tokens").check(force=True)
    expect(page.get_by_role("img", name="Cost by day. 5,200 tokens in 7 days")).to_be_visible()
    page.reload()
    expect(page.get_by_role("img", name="Cost by day. 5,200 tokens in 7 days")).to_be_visible()
    desk.open("/insights?days=never")
    expect(page.get_by_role("radio", name="30 days")).to_be_checked()


def test_an_empty_floor_is_told_what_will_stand_where(desk: Desk) -> None:
    page = desk.page
    desk.open("/insights")

    for title in (*BY_DAY, *COMPARED, "No sprint runs"):
        expect(figure(page, title)).to_be_visible()
    expect(page.get_by_role("img")).to_have_count(0)
    expect(figure(page, "Escalations")).to_contain_text("What agents ask with gemba-ask counts here")
    figure(page, "No sprint runs").get_by_role("link", name="Plan a sprint").click()
    expect(page.get_by_role("heading", name="Sprints", level=1)).to_be_visible()


def test_axe_finds_nothing_with_every_table_open(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, axe: Callable[[Page], list[str]]
) -> None:
    happen(sqlite_server)
    desk = open_desk(sqlite_server, reduced_motion="reduce")
    desk.open("/insights")
    for title in (*BY_DAY, *COMPARED):
        table(desk.page, title)

    assert findings("insights", desk.page, axe) == []


def test_plots_fit_a_phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    happen(sqlite_server, "a/very/long/path/that/does/not/want/to/break/" * 4)
    phone = open_desk(sqlite_server, **PHONE)
    phone.open("/insights?days=90")
    expect(phone.page.get_by_role("img", name="Burn-down.")).to_be_visible()
    expect(phone.page.get_by_role("img", name="Cost by epic.")).to_be_visible()

    assert [one for one in too_wide(phone) if not one.startswith(("<t", "<caption"))] == []
    pressed = [phone.page.locator(".segmented label").first, phone.page.locator(".as-table summary").first]
    assert [size(one) for one in pressed if size(one)[1] < FINGER] == []
