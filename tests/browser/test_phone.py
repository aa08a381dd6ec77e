"""On a phone nothing has to be scrolled sideways, and what is to be pressed is large enough for a finger."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FINGER = 44


@pytest.fixture
def phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    return open_desk(sqlite_server, **PHONE)


def too_wide(desk: Desk) -> list[str]:
    """What stands out beyond the screen's edge."""
    found: list[str] = desk.page.evaluate(
        "[...document.querySelectorAll('html, main *:not(.visually-hidden)')]"
        ".filter(element => element.getBoundingClientRect().right > innerWidth + 0.5"
        " || (element.tagName === 'HTML' && element.scrollWidth > innerWidth))"
        ".map(element => element.outerHTML.slice(0, 200))"
    )
    return found


def size(target: Locator) -> tuple[float, float]:
    box = target.bounding_box()
    assert box is not None, target
    return box["width"], box["height"]


def test_nothing_is_wider_than_the_phone(phone: Desk) -> None:
    long = "a/very/long/path/that/does/not/want/to/break/" * 4
    phone.server.append(
        "GembaAsk",
        {
            "kind": "blocker",
            "role": "manager",
            "mode": "balanced",
            "text": f"See `{long}`\n```\n{long}\n```",
            "title": long,
            "options": [long, "short"],
            "bead_id": long[:100],
        },
        session="a-session-with-quite-a-long-name-" * 3,
    )
    phone.server.append("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": f"cat {long}"}})
    phone.server.append(
        "GembaAsk",
        {"kind": "assumption", "role": "coach", "mode": "balanced", "text": long, "chose": long},
    )
    phone.server.append("GembaState", {"state": "working", "note": long})
    expect(phone.cards.first).to_be_visible()
    assert too_wide(phone) == []

    for screen in ("Assumptions", "Policies", "Health", "Inbox"):
        phone.go_to(screen)
        expect(phone.page.locator(".card, .check").first).to_be_visible()
        assert too_wide(phone) == [], screen


def test_groups_forms_rules_and_histories_fit_a_phone(phone: Desk) -> None:
    server, long = phone.server, "a/very/long/path/that/does/not/want/to/break/" * 4
    asked = {"kind": "question", "role": "manager", "mode": "balanced"}
    first = server.append("GembaAsk", {**asked, "text": f"Which of {long}?"}, "agent-0")
    retry_until(lambda: server.get("/api/escalations")["total"] == 1)
    server.post(f"/api/escalations/{first}/respond", {"text": long})
    for number in (1, 2):
        server.append("GembaAsk", {**asked, "text": f"Which of {long}?"}, f"agent-{number}-" + "long" * 20)
    fields = {"type": "object", "properties": {long[:60]: {"type": "string", "description": long}}}
    server.append("GembaAsk", {**asked, "text": "Typed?", "schema": fields}, "agent-3")
    group = phone.card("and 1 more asks the same")
    expect(phone.card("Typed?")).to_be_visible()
    expect(group).to_contain_text("You answered this")
    group.get_by_role("button", name="and 1 more").tap()
    phone.card("Typed?").get_by_role("button", name="Select").tap()
    expect(phone.page.get_by_role("region", name="Answer the selected")).to_be_visible()
    assert too_wide(phone) == []
    pressed = [*group.get_by_role("button").all(), *phone.card("Typed?").get_by_role("button").all()]
    send = group.get_by_role("button", name="Send")
    assert [one for one in pressed if min(size(one)) < FINGER and one != send] == []

    group.get_by_role("button", name="Always answer this so").tap()
    assert too_wide(phone) == []
    for path in ("/answered", "/attention", f"/escalations/{first}", "/sessions/agent-0"):
        phone.open(path)
        expect(phone.page.locator("main :is(.rows, .card, .bars)").first).to_be_visible()
        beyond = [one for one in too_wide(phone) if "figures" not in one and not one.startswith(("<t", "<c"))]
        assert beyond == [], path


def test_what_is_pressed_has_room_for_a_finger(phone: Desk) -> None:
    server = phone.server
    server.append("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}}, "claude")
    server.append(
        "GembaAsk",
        {"kind": "assumption", "role": "coach", "mode": "balanced", "text": "Which port?", "chose": "80"},
    )
    expect(phone.card("claude")).to_be_visible()
    card = phone.card("claude")
    phone.reply_box("claude").fill("use a copy")
    pressed = [
        *card.get_by_role("button").all(),
        phone.reply_box("claude"),
        *phone.page.get_by_role("navigation").get_by_role("link").all(),
        phone.page.get_by_role("button", name="Switch to the dark theme"),
    ]
    sizes = {str(target): size(target) for target in pressed}
    send = size(card.get_by_role("button", name="Send"))

    # The button that sends stands inside the line it sends, which is as high as a finger.
    small = {name: found for name, found in sizes.items() if min(found) < FINGER and found != send}
    assert small == {}
    assert min(send) >= FINGER - 8
    card.get_by_role("button", name="Snooze").tap()
    assert min(min(size(one)) for one in card.get_by_role("group").get_by_role("button").all()) >= FINGER
    phone.go_to("Assumptions")
    assert min(size(phone.page.get_by_role("button", name="Overturn"))) >= FINGER


def test_a_question_is_answered_with_a_thumb_and_the_screens_cover_nothing(phone: Desk) -> None:
    asker = ask(phone.server, "Which colour should the new button on the front page have?", "--option", "red")
    expect(phone.card("Which colour")).to_be_visible()
    for number in range(8):
        phone.server.append(
            "GembaAsk", {"kind": "question", "role": "coach", "mode": "balanced", "text": f"Question {number}."}
        )
    expect(phone.cards).to_have_count(9)
    bar = phone.page.get_by_role("navigation").bounding_box()
    assert bar is not None
    assert bar["y"] + bar["height"] == 844

    phone.card("Which colour").get_by_role("button", name="red").tap()
    assert outcome(asker) == ("red\n", 0)
    phone.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")

    last = phone.card("Question 7.").bounding_box()
    assert last is not None
    assert last["y"] + last["height"] < bar["y"]
