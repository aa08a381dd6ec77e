"""The line to the server breaks, stalls and sleeps: the page says so, comes back by itself and has missed nothing."""

import signal
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer, free_port


@pytest.fixture
def lasting_server(start_server: Callable[..., RunningServer]) -> RunningServer:
    """On a port of its own, to which it comes back."""
    return start_server("", "--port", str(free_port()))


@pytest.fixture
def stoppable_server(sqlite_server: RunningServer) -> Iterator[RunningServer]:
    """A test may stop it in its tracks (SIGSTOP); it goes on in the end."""
    yield sqlite_server
    sqlite_server.process.send_signal(signal.SIGCONT)


def put(server: RunningServer, text: str, session: str = "session-1") -> None:
    payload = {"kind": "blocker", "role": "manager", "mode": "balanced", "text": text}
    server.append("GembaAsk", payload, session)


def test_a_killed_server_comes_back_and_what_was_missed_is_there(
    open_desk: Callable[..., Desk], lasting_server: RunningServer
) -> None:
    server = lasting_server
    desk = open_desk(server)
    asker = ask(server, "Asked before?")
    desk.reply_box("Asked before?").fill("half typed")

    server.kill()
    expect(desk.connection).to_contain_text("Reconnecting")
    put(server, "Asked while it was down?", "session-2")
    server.start()

    desk.is_live()
    expect(desk.card("Asked before?")).to_be_visible()
    expect(desk.page.get_by_role("button", name="1 new")).to_be_visible()
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("n")
    expect(desk.card("Asked while it was down?")).to_be_focused()
    expect(desk.reply_box("Asked before?")).to_have_value("half typed")
    desk.reply_box("Asked before?").press("Enter")
    assert outcome(asker) == ("half typed\n", 0)
    assert len([request for request in desk.requests if request.is_navigation_request()]) == 1


def test_an_answer_given_while_the_server_is_down_is_sent_when_it_is_back(
    open_desk: Callable[..., Desk], lasting_server: RunningServer
) -> None:
    server = lasting_server
    desk = open_desk(server)
    asker = ask(server, "Which port?")
    expect(desk.card("Which port?")).to_be_visible()
    server.kill()

    desk.reply_box("Which port?").fill("8080")
    desk.reply_box("Which port?").press("Enter")
    expect(desk.card("Which port?")).to_contain_text("Not sent yet: Reply sent")
    server.start()

    assert outcome(asker) == ("8080\n", 0)


def test_a_server_that_is_gone_for_good_is_said_with_what_to_do(desk: Desk) -> None:
    desk.page.clock.install()
    put(desk.server, "Still to be read?")
    expect(desk.card("Still to be read?")).to_be_visible()
    desk.server.stop()
    expect(desk.connection).to_contain_text("Reconnecting")
    place = desk.card("Still to be read?").bounding_box()

    desk.page.clock.run_for(5_000)

    notice = desk.page.get_by_role("alert")
    expect(notice).to_contain_text("Not connected.")
    expect(notice).to_contain_text("gemba serve")
    assert desk.card("Still to be read?").bounding_box() == place
    desk.page.clock.run_for(60_000)
    expect(notice).to_be_visible()
    expect(desk.connection).to_contain_text("Reconnecting")
    # However long it lasts, the page does not hammer.
    assert len(desk.api_requests("/api/events")) < 20


def test_what_could_not_be_read_is_read_when_the_server_is_back(
    open_desk: Callable[..., Desk], lasting_server: RunningServer
) -> None:
    put(lasting_server, "Which port?")
    desk = open_desk(lasting_server)
    desk.page.clock.install()
    desk.page.route("**/api/escalations?*", lambda route: route.abort())
    desk.page.reload()
    unread = desk.page.get_by_role("heading", name="The inbox could not be read")

    def is_given_up() -> bool:
        desk.page.clock.run_for(1_000)
        return unread.is_visible() and len(desk.api_requests("/api/events")) == 2

    retry_until(is_given_up, timeout=20)
    lasting_server.kill()
    expect(desk.connection).to_contain_text("Reconnecting")
    desk.page.unroute("**/api/escalations?*")
    lasting_server.start()
    desk.page.clock.run_for(10_000)

    desk.is_live()
    expect(desk.card("Which port?")).to_be_visible()
    expect(unread).to_have_count(0)


def test_a_line_that_went_silent_is_given_up_and_taken_up_again(
    open_desk: Callable[..., Desk], stoppable_server: RunningServer
) -> None:
    server = stoppable_server
    desk = open_desk(server)
    desk.page.clock.install()
    desk.page.reload()
    desk.is_live()
    server.process.send_signal(signal.SIGSTOP)
    put(server, "Asked in the silence?")

    # Longer than the heartbeats may stay away, as when the machine slept.
    desk.page.clock.fast_forward("00:45")
    expect(desk.connection).not_to_contain_text("Live")
    server.process.send_signal(signal.SIGCONT)
    desk.page.clock.fast_forward("00:10")

    desk.is_live()
    expect(desk.card("Asked in the silence?")).to_be_visible()


def test_waking_up_does_not_trust_a_line_that_was_silent(desk: Desk) -> None:
    desk.page.clock.install()
    desk.page.reload()
    put(desk.server, "Asked before sleeping?")
    expect(desk.card("Asked before sleeping?")).to_be_visible()
    in_half_a_minute = desk.page.evaluate("Date.now() / 1000") + 30

    desk.page.clock.set_system_time(in_half_a_minute)
    with desk.page.expect_request("**/api/events*") as resumed:
        desk.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    assert int(resumed.value.headers["last-event-id"]) > 0
    desk.is_live()
    put(desk.server, "Asked after waking?")
    expect(desk.card("Asked after waking?")).to_be_visible()


def test_a_short_absence_does_not_cut_a_good_line(desk: Desk) -> None:
    before = len(desk.api_requests("/api/events"))

    desk.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    desk.page.evaluate("dispatchEvent(new Event('online'))")

    put(desk.server, "Still heard?")
    expect(desk.card("Still heard?")).to_be_visible()
    assert len(desk.api_requests("/api/events")) == before


def test_going_offline_is_said_and_coming_online_reconnects_at_once(
    open_desk: Callable[..., Desk], lasting_server: RunningServer
) -> None:
    desk = open_desk(lasting_server)
    desk.page.clock.install()
    lasting_server.kill()
    desk.page.context.set_offline(True)
    desk.page.clock.run_for(30_000)
    expect(desk.connection).to_contain_text("Offline")
    lasting_server.start()
    put(lasting_server, "Asked meanwhile?")

    desk.page.context.set_offline(False)

    desk.is_live()
    expect(desk.card("Asked meanwhile?")).to_be_visible()


def test_a_page_whose_place_in_the_log_is_gone_reads_everything_anew(
    open_desk: Callable[..., Desk], lasting_server: RunningServer
) -> None:
    """The server comes back with another database: what the page remembers of the old one is worth nothing."""
    server = lasting_server
    put(server, "Of the old database?")
    desk = open_desk(server)
    expect(desk.card("Of the old database?")).to_be_visible()
    server.kill()
    for file in (server.workspace / ".gemba").glob("gemba.db*"):
        file.unlink()
    for file in (server.home / "sessions").iterdir():
        file.unlink()

    server.start()

    desk.is_live()
    expect(desk.page.get_by_role("heading", name="Nobody waits for you")).to_be_visible()
    put(server, "Of the new one?")
    expect(desk.card("Of the new one?")).to_be_visible()
