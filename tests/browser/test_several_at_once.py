"""One answer for several: like questions on one card, cards that are selected, the way back, and who was first."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer

PORT = "Which port does the staging server use?"


def put(server: RunningServer, text: str, session: str, **payload: object) -> str:
    document = {"kind": "question", "role": "manager", "mode": "balanced", "text": text, **payload}
    return server.append("GembaAsk", document, session)


def known(server: RunningServer, count: int) -> None:
    """Taken in, all of them."""
    retry_until(lambda: server.get("/api/escalations?limit=1")["total"] == count)


def state(server: RunningServer, id_: str) -> str:
    found: str = server.get(f"/api/escalations/{id_}")["state"]
    return found


@pytest.fixture
def alike(sqlite_server: RunningServer) -> list[str]:
    """Four that ask the same, in slightly other words, and one that does not."""
    ids = [put(sqlite_server, PORT, "agent-1"), put(sqlite_server, PORT, "agent-2")]
    ids += [put(sqlite_server, f"Please: {PORT}", "agent-3"), put(sqlite_server, PORT.lower(), "agent-4")]
    put(sqlite_server, "What colour shall the button have?", "agent-5")
    known(sqlite_server, 5)
    return ids


def test_like_questions_are_one_card_and_one_request_answers_all(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, alike: list[str]
) -> None:
    desk = open_desk(sqlite_server)
    expect(desk.cards).to_have_count(2)
    card = desk.card("staging server")
    expect(desk.page).to_have_title("(5) Inbox · workspace")
    card.get_by_role("button", name="and 3 more ask the same").click()
    others = card.get_by_role("list", name="Asked alike").get_by_role("listitem")
    expect(others).to_have_count(4)
    expect(others.filter(has_text="agent-2")).to_contain_text("in the same words")
    expect(others.filter(has_text="agent-3")).to_contain_text("Please: …")

    desk.reply_box("staging server").fill("8080")
    desk.reply_box("staging server").press("Enter")

    expect(card).to_have_count(0)
    expect(desk.page.get_by_role("group", name="Last answer")).to_contain_text("Answered 4")
    texts = [sqlite_server.get(f"/api/escalations/{id_}")["resolution"]["text"] for id_ in alike]
    assert texts == ["8080"] * 4
    assert [
        one.url.removeprefix(sqlite_server.url) for one in desk.api_requests("/api/escalations/respond", "POST")
    ] == ["/api/escalations/respond"]


def test_one_of_them_is_answered_apart(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, alike: list[str]
) -> None:
    desk = open_desk(sqlite_server)
    desk.card("staging server").get_by_role("button", name="and 3 more").click()

    desk.page.get_by_role("button", name="Answer apart: agent-3").click()

    apart = desk.page.locator(f".card[data-escalation-id='{alike[2]}']")
    expect(apart).to_be_focused()
    expect(desk.cards).to_have_count(3)
    expect(desk.card("and 2 more ask the same")).to_be_visible()
    apart.get_by_role("textbox", name="Reply").fill("9090")
    apart.get_by_role("textbox", name="Reply").press("Enter")
    expect(apart).to_have_count(0)
    assert [state(sqlite_server, id_) for id_ in alike].count("resolved") == 1


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_dismissing_the_first_of_a_group_leaves_the_next_in_its_place(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, alike: list[str], motion: str
) -> None:
    desk = open_desk(sqlite_server, reduced_motion=motion)
    expect(desk.cards).to_have_count(2)
    desk.cards.first.focus()
    desk.page.keyboard.press("d")
    expect(desk.card("agent-1")).to_contain_text("This concerns agent-1 alone")
    desk.page.keyboard.press("Enter")

    expect(desk.card("agent-1")).to_have_count(0)
    expect(desk.cards.first).to_contain_text("agent-2")
    expect(desk.cards.first).to_contain_text("and 2 more ask the same")
    assert state(sqlite_server, alike[0]) == "dismissed"


def test_selected_by_keys_answered_at_once_and_taken_back(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    asker = ask(sqlite_server, "Which database do we use?", session="agent-1")
    known(sqlite_server, 1)
    ids = [
        put(sqlite_server, "Who writes the changelog?", "agent-2"),
        put(sqlite_server, "When is the release?", "agent-3"),
    ]
    put(sqlite_server, "Red or green?", "agent-4", options=["red", "green"])
    known(sqlite_server, 4)
    desk = open_desk(sqlite_server, undo=30, reduced_motion="reduce")
    keys = desk.page.keyboard
    expect(desk.cards).to_have_count(4)
    for key in ("j", "x", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown"):
        keys.press(key)
    bar = desk.page.get_by_role("region", name="Answer the selected")
    expect(bar).to_contain_text("4 selected")
    expect(bar).to_contain_text("3 take the same answer; the other 1 stay selected")
    keys.press("x")
    expect(bar).to_contain_text("3 selected")

    keys.press("k")
    keys.press("r")
    expect(bar.get_by_role("textbox", name="Reply to the 3 selected")).to_be_focused()
    keys.type("as in the handbook")
    keys.press("Enter")

    toast = desk.page.get_by_role("group", name="Last answer")
    expect(toast).to_contain_text("Answered 3")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()
    expect(desk.page.get_by_role("status").last).to_contain_text("Press u within")
    expect(desk.cards).to_have_count(1)
    assert [state(sqlite_server, id_) for id_ in ids] == ["resolved", "resolved"]
    assert list((sqlite_server.home / "replies").glob("*.json")) == []

    keys.press("u")

    expect(toast).to_contain_text("Taken back 3")
    # They are back where they stood, without being asked for.
    expect(desk.cards).to_have_count(4)
    expect(desk.card("Which database")).to_be_focused()
    assert [state(sqlite_server, id_) for id_ in ids] == ["open", "open"]
    assert asker.poll() is None
    expect(desk.reply_box("Which database")).to_have_value("as in the handbook")
    sqlite_server.gemba("answer", desk.card("Which database").get_attribute("data-escalation-id") or "", "SQLite")
    assert outcome(asker) == ("SQLite\n", 0)


def test_all_that_ask_the_same_are_selected_with_one_key(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, alike: list[str]
) -> None:
    desk = open_desk(sqlite_server, undo=30, reduced_motion="reduce")
    keys = desk.page.keyboard
    keys.press("j")
    keys.press("m")
    desk.page.get_by_role("button", name="Answer apart: agent-1").click()
    expect(desk.cards).to_have_count(3)

    keys.press("Shift+A")

    bar = desk.page.get_by_role("region", name="Answer the selected")
    expect(bar).to_contain_text("4 selected")
    bar.get_by_role("textbox").fill("8080")
    bar.get_by_role("button", name="Send").click()
    expect(bar).to_have_count(0)
    expect(desk.cards).to_have_count(1)
    assert {state(sqlite_server, id_) for id_ in alike} == {"resolved"}
    desk.page.get_by_role("group", name="Last answer").get_by_role("button", name="Undo").click()
    expect(desk.page.get_by_role("group", name="Last answer")).to_contain_text("Taken back 4")
    assert {state(sqlite_server, id_) for id_ in alike} == {"open"}


def test_a_single_answer_is_held_and_a_closed_tab_loses_nothing(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    asker = ask(sqlite_server, "Which database do we use?")
    desk = open_desk(sqlite_server, undo=3)
    desk.reply_box("Which database").fill("SQLite")
    desk.reply_box("Which database").press("Enter")
    desk.unfold("Recently resolved")
    expect(desk.row("Which database")).to_contain_text("goes out in")
    expect(desk.row("Which database").get_by_role("button", name="Undo")).to_be_visible()

    desk.page.close()

    assert outcome(asker) == ("SQLite\n", 0)


def test_of_two_operators_at_once_each_hears_who_was_first(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, alike: list[str]
) -> None:
    maria, paul = open_desk(sqlite_server, operator="maria"), open_desk(sqlite_server, operator="paul")
    held: list[Route] = []
    paul.page.route("**/api/escalations/respond", lambda route: held.append(route))
    paul.reply_box("staging server").fill("8080")
    paul.reply_box("staging server").press("Enter")
    expect(paul.card("staging server")).to_contain_text("Reply sent to 4…")
    maria.card("staging server").get_by_role("button", name="and 3 more").click()
    maria.page.get_by_role("button", name="Answer apart: agent-2").click()
    apart = maria.page.locator(f".card[data-escalation-id='{alike[1]}']")
    apart.get_by_role("textbox", name="Reply").fill("443")
    apart.get_by_role("textbox", name="Reply").press("Enter")
    expect(apart).to_have_count(0)

    held[0].continue_()

    toast = paul.page.get_by_role("group", name="Last answer")
    expect(toast).to_contain_text("Answered 3: “8080” · 1 not")
    expect(toast).to_contain_text("agent-2 · Answered by maria first: 443")
    answers = [sqlite_server.get(f"/api/escalations/{id_}")["resolution"] for id_ in alike]
    assert [(one["who"], one["text"]) for one in answers] == [
        ("paul", "8080"),
        ("maria", "443"),
        ("paul", "8080"),
        ("paul", "8080"),
    ]
    toast.get_by_role("button", name="Put away").click()
    expect(toast).to_have_count(0)
