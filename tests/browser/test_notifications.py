"""The browser's notifications: for whoever wants them, of what newly waits, and only while nobody looks at the page."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer

# The browser's own window for them cannot be looked at: what the page asks it to show can.
SHOWN = """
window.shown = [];
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (Notification.permission = "granted"); }
  constructor(title, options) { Object.assign(this, { title, ...options }); window.shown.push(this); }
  close() {}
};
Object.defineProperty(document, "hidden", { get: () => window.isAway === true });
"""


@pytest.fixture
def desk(new_page: Callable[..., Page], sqlite_server: RunningServer) -> Desk:
    page = new_page(reduced_motion="reduce")
    page.add_init_script(SHOWN)
    desk = Desk(page, sqlite_server)
    desk.open("/settings")
    return desk


def put(desk: Desk, text: str, session: str = "agent-1") -> None:
    ask = {"kind": "question", "role": "manager", "mode": "balanced", "text": text}
    desk.server.append("GembaAsk", ask, session)


def shown(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate("shown.map(({ title, body, tag }) => ({ title, body, tag }))")
    return found


def test_nobody_is_notified_who_did_not_ask_for_it_or_looks_at_the_page(desk: Desk) -> None:
    page = desk.page
    page.evaluate("isAway = true")
    put(desk, "Not wanted?")
    expect(page).to_have_title("(1) Settings · " + desk.server.workspace.name)
    page.evaluate("isAway = false")
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="No longer")).to_be_visible()
    put(desk, "Seen anyway?", "agent-2")
    expect(page).to_have_title("(2) Settings · " + desk.server.workspace.name)

    assert shown(page) == []


def test_what_newly_waits_is_told_while_one_is_away_and_a_click_leads_to_its_card(desk: Desk) -> None:
    page = desk.page
    page.get_by_role("button", name="Notify me").click()
    expect(page.get_by_role("button", name="No longer")).to_be_visible()
    page.evaluate("isAway = true")
    put(desk, "Which <b>port</b>?\u202e", "agent-7")
    (told,) = retry_until(lambda: shown(page))
    assert (told["title"], told["body"]) == ("Question from agent-7", "Which <b>port</b>?⟨U+202E⟩")

    page.evaluate("isAway = false; shown[0].onclick()")
    expect(desk.card("Which <b>port</b>?")).to_be_focused()
    page.evaluate("isAway = true")
    page.reload()
    desk.is_live()
    assert shown(page) == []


def test_it_can_be_switched_off_again(desk: Desk) -> None:
    page = desk.page
    page.get_by_role("button", name="Notify me").click()
    page.get_by_role("button", name="No longer").click()
    expect(page.get_by_role("button", name="Notify me")).to_be_visible()
    page.evaluate("isAway = true")
    put(desk, "Which port?")
    expect(page).to_have_title("(1) Settings · " + desk.server.workspace.name)

    assert shown(page) == []
