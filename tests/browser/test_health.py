"""Health says what works and what does not, what was counted, and which sessions there are; it keeps up by itself."""

from pathlib import Path

from playwright.sync_api import Locator, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome


def check(desk: Desk, label: str) -> Locator:
    return desk.page.get_by_role("listitem").filter(has=desk.page.get_by_role("heading", name=label))


def session_row(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("row", name=name)


def test_a_sound_workspace_is_in_order(desk: Desk) -> None:
    desk.go_to("Health")

    expect(desk.page.locator("main")).to_contain_text("Everything is in order.")
    expect(check(desk, "Database")).to_contain_text("SQLite")
    expect(check(desk, "Workspace folder")).to_contain_text(str(desk.server.workspace))
    expect(desk.page.locator(".check[data-status=ok]")).to_have_count(desk.page.locator(".check").count())
    expect(desk.page.get_by_text("No agent has been heard of yet.")).to_be_visible()


def test_what_is_wrong_comes_first_and_says_what_to_do(desk: Desk) -> None:
    desk.server.append("GembaAsk", {"kind": "blocker", "role": "coach", "text": "a coach may not"})
    link = desk.page.get_by_role("navigation").get_by_role("link", name="Health")
    expect(link).to_contain_text("needs a look")

    desk.go_to("Health")

    expect(desk.page.locator("main")).to_contain_text("It works, and something wants a look.")
    first = desk.page.locator(".check").first
    expect(first).to_contain_text("1 refused")
    expect(first).to_contain_text("frame_dropped events say which and why")


def test_a_token_that_others_can_read_is_found_while_one_looks(desk: Desk) -> None:
    desk.page.clock.install()
    desk.go_to("Health")
    expect(check(desk, "Access token")).to_contain_text("readable by you alone")

    Path(desk.server.workspace / ".gemba/token").chmod(0o644)

    def is_found() -> bool:
        """At one of the next looks: one that was under way may have seen the token as it was."""
        desk.page.clock.run_for(20_000)
        return "can be read by others" in (check(desk, "Access token").text_content() or "")

    retry_until(is_found)


def test_sessions_tell_what_they_do_and_who_needs_the_operator(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?", kind="blocker", session="asking")
    desk.server.append("SessionStart", {"source": "startup"}, "calm")
    desk.server.append("GembaState", {"state": "working", "bead_id": "web-9", "note": "writing tests"}, "calm")
    desk.go_to("Health")

    expect(session_row(desk, "calm")).to_contain_text("working")
    expect(session_row(desk, "calm")).to_contain_text("web-9")
    expect(session_row(desk, "calm")).to_contain_text("writing tests")
    expect(session_row(desk, "asking")).to_contain_text("needs you")
    expect(session_row(desk, "calm")).not_to_contain_text("needs you")
    expect(desk.page.locator("tbody tr").first).to_contain_text("asking")

    desk.server.gemba("dismiss", desk.server.get("/api/escalations")["escalations"][0]["id"])
    assert outcome(asker)[1] == 12
    expect(session_row(desk, "asking")).not_to_contain_text("needs you")
    desk.server.append("SessionEnd", {"reason": "exit"}, "calm")
    expect(session_row(desk, "calm")).to_contain_text("completed")


def test_counters_have_names_a_person_can_read(desk: Desk) -> None:
    for number in range(3):
        desk.server.append("GembaAsk", {"kind": "question", "role": "coach", "text": f"Question {number}"})
    expect(desk.cards).to_have_count(3)
    desk.go_to("Health")

    unresolved = desk.page.locator(".counters > div").filter(has_text="escalations unresolved")
    expect(unresolved.locator("dd")).to_have_text("3")
