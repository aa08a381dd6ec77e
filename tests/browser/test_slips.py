"""A number pressed with no card chosen answers nothing by surprise."""

from playwright.sync_api import expect

from tests.browser.desk import Desk

ASK = ("--kind", "blocker", "--role", "manager", "--option", "red", "--option", "green")


def test_a_number_with_no_card_chosen_chooses_the_first_and_answers_when_pressed_again(desk: Desk) -> None:
    for text in ("First?", "Second?"):
        desk.server.ask(*ASK, "--text", text).communicate(timeout=30)
        expect(desk.card(text)).to_be_visible()

    desk.page.keyboard.press("2")
    expect(desk.card("First?")).to_be_focused()
    expect(desk.cards).to_have_count(2)
    desk.page.keyboard.press("2")

    expect(desk.card("First?")).to_have_count(0)
    expect(desk.card("Second?")).to_be_visible()
