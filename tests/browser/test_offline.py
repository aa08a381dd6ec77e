"""Without a network, on a phone: what was answered, decided and approved is kept, also over a reload of the tab, is
shown as not sent yet, and arrives once when the line is back; what was answered elsewhere meanwhile is said."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Error, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.browser.test_connection import lasting_server  # noqa: F401  a fixture
from tests.browser.test_phone import PHONE, too_wide
from tests.browser.test_walk import is_on_the_table, put, table, walk_of
from tests.fixtures.servers import RunningServer

WANTED = {"command": "make deploy", "cwd": "/srv", "tool": "Bash", "risk": "T2", "requester": "claude"}


@pytest.fixture
def phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    return open_desk(sqlite_server, **PHONE)


def offline(phone: Desk, is_off: bool = True) -> None:
    phone.page.context.set_offline(is_off)


def reload_without_a_line(phone: Desk) -> None:
    """The tab is loaded anew while there is nothing to load it from; then there is."""
    with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
        phone.page.reload()
    offline(phone, False)
    phone.page.goto(f"{phone.server.url}/inbox")


def test_an_answer_is_kept_over_a_reload_and_arrives_once(phone: Desk) -> None:
    asker = ask(phone.server, "Which port?")
    expect(phone.card("Which port?")).to_be_visible()
    offline(phone)
    phone.reply_box("Which port?").fill("8080")
    phone.card("Which port?").get_by_role("button", name="Send", exact=True).tap()

    expect(phone.card("Which port?")).to_contain_text("Not sent yet: Reply sent. It is kept")
    assert too_wide(phone) == []
    assert asker.poll() is None
    reload_without_a_line(phone)

    assert outcome(asker) == ("8080\n", 0)
    expect(phone.page.get_by_text("Not sent yet")).to_have_count(0)
    expect(phone.page.get_by_text("Your unsent reply")).to_have_count(0)
    resolved = phone.server.get("/api/escalations?state=resolved")["escalations"]
    assert [one["resolution"]["text"] for one in resolved] == ["8080"]


def test_what_was_answered_elsewhere_meanwhile_is_said(phone: Desk) -> None:
    asker = ask(phone.server, "Which port?", "--option", "8080", "--option", "9090")
    expect(phone.card("Which port?")).to_be_visible()
    offline(phone)
    phone.card("Which port?").get_by_role("button", name="8080").tap()
    expect(phone.card("Which port?")).to_contain_text("Not sent yet: Answered: 8080")
    (one,) = phone.server.get("/api/escalations")["escalations"]
    phone.server.post(f"/api/escalations/{one['id']}/respond", {"option": 2})

    offline(phone, False)

    notice = phone.page.locator(".not-taken").get_by_role("alert")
    expect(notice).to_contain_text("Answered elsewhere meanwhile, yours came second. Answered: 8080: Which port?")
    expect(notice).to_contain_text("The first answer stands: 9090")
    assert too_wide(phone) == []
    assert outcome(asker) == ("9090\n", 0)
    notice.get_by_role("button", name="Put away").tap()
    expect(notice).to_have_count(0)


def test_an_answer_that_was_not_sent_yet_can_be_held_back(phone: Desk) -> None:
    id = put(phone.server, "Which port?", "a1")
    expect(phone.card("Which port?")).to_be_visible()
    offline(phone)
    phone.reply_box("Which port?").fill("8080")
    phone.card("Which port?").get_by_role("button", name="Send", exact=True).tap()
    phone.card("Which port?").get_by_role("button", name="Do not send").tap()

    expect(phone.reply_box("Which port?")).to_have_value("8080")
    offline(phone, False)
    phone.is_live()
    assert phone.server.get(f"/api/escalations/{id}")["resolution"] is None


def test_an_approval_is_kept_over_a_reload_and_arrives_once(phone: Desk) -> None:
    request = phone.server.request("POST", "/api/approvals", {**WANTED, "session_id": "a1"}).json
    card = phone.card("make deploy")
    expect(card.get_by_role("button", name="Approve").first).to_be_enabled()
    offline(phone)
    card.get_by_role("button", name="Approve").first.tap()
    expect(card).to_contain_text("Not sent yet: Approved")
    assert phone.server.get(f"/api/approvals/{request['id']}")["state"] == "pending"

    reload_without_a_line(phone)

    retry_until(lambda: phone.server.get(f"/api/approvals/{request['id']}")["state"] == "approved")
    expect(phone.page.get_by_text("Not sent yet")).to_have_count(0)


def test_what_was_decided_on_a_walk_is_kept_over_a_reload_and_arrives_once_from_any_screen(phone: Desk) -> None:
    asker = ask(phone.server, "Which port?", kind="blocker")
    expect(phone.card("Which port?")).to_be_visible()
    put(phone.server, "Which name?", "a2")
    phone.go_to("Walk")
    phone.page.get_by_role("button", name="Start the walk").tap()
    is_on_the_table(phone, "Which port?")
    walk = phone.server.get("/api/walks")["hint"]["open_walk"]
    offline(phone)
    table(phone).get_by_role("button", name="Ratify").tap()
    expect(phone.page.locator(".walk-sending")).to_contain_text("1 decision waits to be sent")
    assert too_wide(phone) == []

    reload_without_a_line(phone)  # and comes back at the inbox

    assert outcome(asker)[1] == 0
    assert walk_of(phone.server, walk)["totals"]["decisions"] == {"ratify": 1}


def test_a_server_that_is_killed_and_started_again_gets_what_was_answered_and_approved_meanwhile(
    open_desk: Callable[..., Desk],
    lasting_server: RunningServer,  # noqa: F811
) -> None:
    server = lasting_server
    phone = open_desk(server, **PHONE)
    asker = ask(server, "Which port?")
    request = server.request("POST", "/api/approvals", {**WANTED, "session_id": "a2"}).json
    expect(phone.card("Which port?")).to_be_visible()
    approve = phone.card("make deploy").get_by_role("button", name="Approve").first
    expect(approve).to_be_enabled()

    server.kill()
    phone.reply_box("Which port?").fill("8080")
    phone.card("Which port?").get_by_role("button", name="Send", exact=True).tap()
    approve.tap()
    for words in ("Which port?", "make deploy"):
        expect(phone.card(words)).to_contain_text("Not sent yet")
    expect(phone.page.get_by_role("alert")).to_contain_text("2 not sent yet")
    server.start()

    assert outcome(asker) == ("8080\n", 0)
    retry_until(lambda: server.get(f"/api/approvals/{request['id']}")["state"] == "approved")
    expect(phone.page.get_by_text("Not sent yet")).to_have_count(0)
