"""What the operator reads or types into does not move, whatever arrives; and what was typed is not lost."""

from collections.abc import Callable

from playwright.sync_api import FloatRect, Locator, expect

from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer

# Every shift inside the screen that the browser saw and that no press of a key or click explains. The pill floats.
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { node } of list.getEntries().filter((shift) => !shift.hadRecentInput).flatMap((shift) => shift.sources))
    if (node?.parentElement?.closest("main") && !node.parentElement.closest(".pill-place")) shifts.push(node.outerHTML);
}).observe({ type: "layout-shift" });
"""


def box(locator: Locator) -> FloatRect:
    found = locator.bounding_box()
    assert found is not None
    return found


def put(server: RunningServer, text: str, *options: str, blocking: bool = False) -> str:
    kind = "blocker" if blocking else "question"
    payload = {"kind": kind, "role": "manager", "mode": "balanced", "text": text, "options": list(options)}
    return server.append("GembaAsk", payload)


def test_twenty_arrivals_move_nothing_and_are_announced(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    for number in range(6):
        options = () if number == 3 else ("a", "b")
        put(sqlite_server, f"Earlier question {number}.", *options, blocking=number < 3)
    desk = open_desk(sqlite_server)
    expect(desk.cards).to_have_count(6)
    typing = desk.reply_box("Earlier question 3.")
    typing.click()
    desk.page.keyboard.type("half a sen")
    expect(desk.card("Earlier question 3.").get_by_role("button", name="Send")).to_be_visible()
    desk.page.evaluate(WATCH_SHIFTS)
    before = [box(desk.card(f"Earlier question {number}.")) for number in range(6)]

    for number in range(20):
        put(desk.server, f"Late question {number}.", "a", "b", blocking=number % 2 == 0)

    pill = desk.page.get_by_role("button", name="20 new 10 blocking")
    expect(pill).to_be_visible()
    expect(desk.page.locator("[aria-live=polite]")).to_contain_text("new")
    assert [box(desk.card(f"Earlier question {number}.")) for number in range(6)] == before
    assert desk.page.evaluate("shifts") == []
    expect(typing).to_be_focused()
    expect(typing).to_have_value("half a sen")
    desk.page.keyboard.type("tence")
    expect(typing).to_have_value("half a sentence")

    pill.click()

    expect(pill).to_have_count(0)
    expect(desk.cards).to_have_count(26)
    expect(desk.card("Late question 0.")).to_be_focused()
    expect(desk.card("Late question 0.")).to_be_in_viewport()
    expect(typing).to_have_value("half a sentence")


def test_a_draft_survives_a_reload_and_a_change_of_screens_and_goes_when_it_is_sent(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    desk.reply_box("Which port?").fill("8080, but")

    desk.page.reload()
    expect(desk.reply_box("Which port?")).to_have_value("8080, but")
    desk.go_to("Health")
    desk.go_to("Inbox")
    expect(desk.reply_box("Which port?")).to_have_value("8080, but")
    desk.reply_box("Which port?").fill("8080")
    desk.reply_box("Which port?").press("Enter")

    assert outcome(asker) == ("8080\n", 0)
    assert not any("draft" in key for key in desk.page.evaluate("Object.keys(sessionStorage)"))


def test_a_card_that_is_settled_elsewhere_while_it_is_typed_into_keeps_the_words(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    put(desk.server, "Another one.")
    expect(desk.cards).to_have_count(2)
    typing = desk.reply_box("Which port?")
    typing.fill("I would say 80")
    place = (box(typing)["x"], box(typing)["y"])

    desk.server.gemba("answer", desk.card("Which port?").get_attribute("data-escalation-id") or "", "8080")

    assert outcome(asker) == ("8080\n", 0)
    card = desk.card("Which port?")
    expect(card).to_contain_text("Answered")
    # Letters that are typed on are letters, and answer nobody: the box stays until it is left.
    expect(typing).to_be_focused()
    assert (box(typing)["x"], box(typing)["y"]) == place
    desk.page.keyboard.type(", just 1")
    expect(typing).to_have_value("I would say 80, just 1")
    desk.page.keyboard.press("Enter")
    expect(card).to_contain_text("Your unsent reply: I would say 80, just 1")
    expect(card).to_be_focused()
    assert desk.server.get("/api/escalations?state=unresolved")["total"] == 1


def test_a_card_grows_with_what_is_typed_and_not_beyond_the_window(desk: Desk) -> None:
    put(desk.server, "Write a poem.")
    typing = desk.reply_box("Write a poem.")
    expect(typing).to_be_visible()
    one_line = box(typing)["height"]

    typing.fill("roses\nare\nred\n" * 40)

    height = desk.page.viewport_size["height"] if desk.page.viewport_size else 0
    assert one_line < box(typing)["height"] < height / 2
    typing.fill("")
    assert box(typing)["height"] == one_line


def test_the_focus_is_not_lost_when_the_answer_it_stands_on_is_given_elsewhere(desk: Desk) -> None:
    id_ = put(desk.server, "Which one?", "a", "b")
    desk.card("Which one?").get_by_role("button", name="b").focus()

    desk.server.post(f"/api/escalations/{id_}/respond", {"option": 1})

    expect(desk.card("Which one?")).to_contain_text("Answered")
    expect(desk.card("Which one?")).to_be_focused()


def test_a_reason_half_typed_into_a_dismissal_stays_where_it_is_typed(desk: Desk) -> None:
    id_ = put(desk.server, "Which one?", "a", "b")
    desk.card("Which one?").get_by_role("button", name="Dismiss").click()
    desk.page.keyboard.type("because ")

    desk.server.post(f"/api/escalations/{id_}/respond", {"option": 1})

    expect(desk.card("Which one?")).to_contain_text("Answered")
    desk.page.keyboard.type("d")
    expect(desk.card("Which one?").get_by_role("textbox")).to_have_value("because d")
    desk.page.keyboard.press("Escape")
    expect(desk.card("Which one?")).to_be_focused()
    desk.page.keyboard.press("d")
    expect(desk.cards).to_have_count(0)
