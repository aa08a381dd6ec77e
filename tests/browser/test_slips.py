"""A number pressed with no card chosen answers nothing by surprise."""

from collections.abc import Callable

from playwright.sync_api import expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer

ASK = ("--kind", "blocker", "--role", "manager", "--option", "red", "--option", "green")


def test_a_number_with_no_card_chosen_chooses_the_first_and_answers_when_pressed_again(desk: Desk) -> None:
    for text in ("First?", "Second?"):
        desk.server.ask(*ASK, "--text", text).communicate(timeout=30)
        expect(desk.card(text)).to_be_visible()

    desk.page.keyboard.press("2")
    expect(desk.card("First?")).to_be_focused()
    expect(desk.card("First?")).to_contain_text("Nothing is answered yet: press 2 again for green.")
    expect(desk.cards).to_have_count(2)
    desk.page.keyboard.press("2")

    expect(desk.card("First?")).to_have_count(0)
    expect(desk.card("Second?")).to_be_visible()
    expect(desk.card("Second?")).not_to_contain_text("Nothing is answered yet")
    toast = desk.page.get_by_role("group", name="Last answer")
    expect(toast).to_contain_text("Answered session-1: “green” · First?")


def test_a_permission_that_nobody_chose_takes_its_number_twice_and_says_what_it_did(desk: Desk) -> None:
    for name, command in (("claude-1", "make drop"), ("claude-2", "make clean")):
        desk.server.append("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": command}}, name)
        expect(desk.card(name)).to_be_visible()
    expect(desk.card("claude-1")).to_contain_text("What you choose goes at once and cannot be taken back")
    desk.page.keyboard.press("j")
    with desk.page.expect_response("**/respond"):
        desk.page.keyboard.press("1")
    toast = desk.page.get_by_role("group", name="Last answer")
    expect(toast).to_contain_text("Allowed: Bash: make drop")

    expect(desk.card("claude-1")).to_have_count(0)
    expect(desk.card("claude-2")).to_be_focused()
    desk.page.keyboard.press("1")
    expect(desk.card("claude-2")).to_contain_text("Nothing is answered yet: press 1 again for Yes")
    desk.page.keyboard.press("2")  # another number begins anew
    expect(desk.card("claude-2")).to_contain_text("Nothing is answered yet: press 2 again for No")

    def refuse() -> bool:
        # Within half a second of the decision before it a press counts for nothing, and the card still says so.
        desk.page.keyboard.press("2")
        return "Refused: Bash: make clean" in (toast.text_content() or "")

    retry_until(refuse, every=0.3)
    expect(desk.card("claude-2")).to_have_count(0)


def test_each_of_several_answers_can_be_taken_back_the_last_first(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    desk = open_desk(sqlite_server, undo=30)
    for text in ("First?", "Second?"):
        desk.server.ask(*ASK, "--text", text).communicate(timeout=30)
        expect(desk.card(text)).to_be_visible()
    last = desk.page.get_by_role("group", name="Last answer")
    # Not the same one twice: a second click on the same spot would be taken for a slip.
    for text, choice in (("First?", "red"), ("Second?", "green")):
        with desk.page.expect_response("**/respond*"):
            desk.card(text).get_by_role("button", name=choice).click()
        expect(last).to_contain_text(f"“{choice}” · {text}")
        expect(desk.card(text)).to_have_count(0)
    expect(last).to_contain_text("and 1 before it")

    desk.page.keyboard.press("u")
    expect(last).to_contain_text("Taken back")
    expect(desk.card("Second?")).to_be_visible()
    desk.page.keyboard.press("u")

    expect(desk.card("First?")).to_be_visible()
    expect(desk.cards).to_have_count(2)


def test_a_key_pressed_twice_does_not_decide_the_permission_after_it_and_the_first_can_be_taken_back(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    desk = open_desk(sqlite_server, undo=30)
    desk.server.ask(*ASK, "--text", "First?").communicate(timeout=30)
    expect(desk.card("First?")).to_be_visible()
    desk.server.append("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make drop"}}, "claude-1")
    expect(desk.card("claude-1")).to_be_visible()
    desk.card("First?").focus()

    with desk.page.expect_response("**/respond*"):
        desk.page.keyboard.press("1")
        desk.page.keyboard.press("1")

    expect(desk.page.get_by_role("group", name="Last answer")).to_contain_text("Undo")
    expect(desk.card("First?")).to_have_count(0)
    expect(desk.card("claude-1")).to_be_visible()
    desk.page.keyboard.press("u")
    expect(desk.card("First?")).to_be_visible()
