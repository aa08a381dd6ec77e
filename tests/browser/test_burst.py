"""Three hundred asks at once: the page stays usable, asks the server little, and shows them all."""

from collections.abc import Callable

from playwright.sync_api import expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer

MANY = 300

# The longest time in which the page did not get round to a frame.
WATCH_FRAMES = """
window.longest = 0;
let last = performance.now();
(function frame(now) {
  window.longest = Math.max(window.longest, now - last);
  last = now;
  requestAnimationFrame(frame);
})(last);
"""


def test_a_burst_is_read_in_a_few_lists_and_every_card_is_there(desk: Desk) -> None:
    desk.server.append("GembaAsk", {"kind": "blocker", "role": "manager", "mode": "balanced", "text": "The first."})
    typing = desk.reply_box("The first.")
    typing.fill("typing")
    before = len(desk.requests)
    desk.page.evaluate(WATCH_FRAMES)

    for number in range(MANY):
        document = {"kind": "question", "role": "coach", "mode": "balanced", "text": f"Question {number:03}."}
        desk.server.append("GembaAsk", document, f"agent-{number % 30}")

    expect(desk.page).to_have_title(f"({MANY + 1}) Inbox · workspace", timeout=20_000)
    expect(desk.cards).to_have_count(MANY + 1)
    expect(typing).to_be_focused()
    desk.page.keyboard.type(" on")
    expect(typing).to_have_value("typing on")
    assert desk.page.evaluate("longest") < 5_000  # it never froze, however busy the machine is

    texts = desk.cards.locator(".words").all_text_contents()
    assert sorted(texts[1:]) == [f"Question {number:03}." for number in range(MANY)]
    asked = [request for request in desk.requests[before:] if request.method == "GET"]
    assert len(asked) < MANY / 3, f"{len(asked)} requests for one burst"  # by time, not by ask

    # The last one is a key away from being answered like any other.
    last = desk.card(f"Question {MANY - 1:03}.")
    last.scroll_into_view_if_needed()
    desk.reply_box(f"Question {MANY - 1:03}.").fill("yes")
    desk.reply_box(f"Question {MANY - 1:03}.").press("Enter")
    expect(last).to_have_count(0)


def test_more_than_the_page_holds_moves_up_as_cards_are_answered(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    ids = [
        sqlite_server.append(
            "GembaAsk", {"kind": "question", "role": "coach", "mode": "balanced", "text": f"Question {number:03}."}
        )
        for number in range(620)
    ]
    retry_until(lambda: sqlite_server.get("/api/escalations?limit=1")["total"] == 620, timeout=20)
    desk = open_desk(sqlite_server)
    more = desk.page.get_by_text("more move up as you answer these.")
    expect(more).to_have_text("20 more move up as you answer these.")
    expect(desk.cards).to_have_count(600)

    for id_ in ids[100:120]:
        sqlite_server.post(f"/api/escalations/{id_}/dismiss", {})

    expect(more).to_have_count(0)
    expect(desk.card("Question 619.")).to_have_count(1)
