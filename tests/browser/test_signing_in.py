"""Who gets in: the token comes in the address, stays in the tab, and nothing else opens the page."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer, free_port


def storage(page: Page) -> dict[str, Any]:
    stored: dict[str, Any] = page.evaluate(
        "({session: {...sessionStorage}, local: {...localStorage}, cookie: document.cookie, address: location.href})"
    )
    return stored


def is_signed_out(page: Page) -> None:
    expect(page.get_by_role("heading", name="Open Gemba from your terminal")).to_be_visible()
    expect(page.get_by_label("Command to run")).to_have_text("gemba open")
    expect(page.get_by_role("main")).to_contain_text("In the demo there is nothing to run")


def test_the_printed_address_signs_in_and_leaves_no_trace_of_the_token(desk: Desk) -> None:
    desk.page.goto(desk.server.address)
    desk.is_live()
    expect(desk.page.get_by_role("heading", name="Floor")).to_be_visible()

    stored = storage(desk.page)
    assert stored["address"] == f"{desk.server.url}/"
    assert stored["session"] == {"gemba.token": desk.server.token}
    assert desk.server.token not in str(stored["local"])
    assert stored["cookie"] == ""
    assert desk.page.context.cookies() == []
    assert not any(desk.server.token in request.url.partition("#")[0] for request in desk.requests)


def test_a_reload_keeps_the_session_and_the_screen_and_no_way_leads_back_to_the_token(desk: Desk) -> None:
    desk.go_to("Health")

    desk.page.reload()
    desk.is_live()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Health")
    desk.page.go_back()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Inbox")
    assert desk.page.url == f"{desk.server.url}/inbox"

    desk.page.goto(f"{desk.server.url}/nowhere")
    desk.page.get_by_role("link", name="Go to the floor").click()
    expect(desk.page.get_by_role("heading", name="Floor")).to_be_visible()


def test_the_same_address_once_more_in_the_same_tab_changes_nothing(desk: Desk) -> None:
    desk.open()
    desk.page.get_by_role("navigation").get_by_role("link", name="Health").click()
    expect(desk.page.locator(".check").first).to_be_visible()
    desk.is_live()


def test_without_a_token_or_with_a_wrong_one_the_page_says_how_to_get_in(
    page: Page, sqlite_server: RunningServer
) -> None:
    page.goto(sqlite_server.url)
    is_signed_out(page)
    page.goto(f"{sqlite_server.url}/#token=wrong")
    is_signed_out(page)
    assert storage(page)["session"] == {}

    # The right one, pasted into the same tab, where only the fragment changes.
    page.goto(sqlite_server.address)

    Desk(page, sqlite_server).is_live()
    expect(page.get_by_role("heading", name="Floor")).to_be_visible()
    second_tab = page.context.new_page()
    second_tab.goto(sqlite_server.url)
    is_signed_out(second_tab)


def test_a_token_that_is_no_longer_the_workspaces_signs_out(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer]
) -> None:
    server = start_server("", "--port", str(free_port()))
    desk = open_desk(server)
    server.kill()
    (server.workspace / ".gemba/token").unlink()

    server.start()

    is_signed_out(desk.page)
    assert storage(desk.page)["session"] == {}
