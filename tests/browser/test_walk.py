"""A walk on the page: every decision by key and what comes of it, two tabs, a server that restarts, a phone, axe.

Where an agent waits, it is a real `gemba-ask`, and what it prints is what was decided.
"""

import json
from collections.abc import Callable
from subprocess import Popen
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.browser.test_accessibility import findings
from tests.browser.test_connection import lasting_server  # noqa: F401  a fixture
from tests.browser.test_hostile_text import BIDI, MARKUP
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.browser.work import make
from tests.fixtures.servers import RunningServer

Axe = Callable[[Page], list[str]]


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    """Without transitions: half-way between two colours no contrast is right."""
    return open_desk(sqlite_server, reduced_motion="reduce")


def put(server: RunningServer, text: str, session: str, **more: object) -> str:
    """An ask that nobody waits for; its id once the server has it."""
    payload = {"kind": "blocker", "role": "manager", "mode": "balanced", "text": text, **more}
    id = server.append("GembaAsk", payload, session)
    retry_until(lambda: server.request("GET", f"/api/escalations/{id}").status == 200)
    return id


def wait(server: RunningServer, number: int, text: str, *more: str, session: str = "") -> Popen[str]:
    """An agent that waits for its answer; with it, so many have asked."""
    asker = ask(server, text, *more, kind="blocker", session=session or f"a{number}")
    retry_until(lambda: server.get("/api/escalations")["total"] == number)
    return asker


def begin(desk: Desk) -> str:
    """By the keys, from wherever one is; the id of the walk."""
    keys = desk.page.keyboard
    keys.press("g")
    keys.press("x")
    expect(desk.page.get_by_role("heading", name="Walk", level=1)).to_be_focused()
    expect(desk.page.get_by_role("button", name="Start the walk")).to_be_visible()
    keys.press("s")
    expect(desk.page.get_by_role("region", name="Elsewhere")).to_be_visible()
    id: str = desk.server.get("/api/walks")["hint"]["open_walk"]
    return id


def walk_of(server: RunningServer, id: str) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"/api/walks/{id}")
    return found


def table(desk: Desk) -> Locator:
    return desk.page.locator(".walk-table")


def is_on_the_table(desk: Desk, words: str) -> None:
    """With what the project manager proposes: nothing can be decided before."""
    expect(desk.page.locator(".walk-table h2")).to_contain_text(words)
    expect(table(desk).get_by_role("radio").first).to_be_visible()


def said(desk: Desk) -> Locator:
    return desk.page.locator(".frame > [role=status]")


def test_every_decision_is_carried_out_and_recorded_with_its_walk(desk: Desk) -> None:
    server, page, keys = desk.server, desk.page, desk.page.keyboard
    colour = wait(server, 1, "Which colour?", "--option", "red", "--option", "green")
    port, drop = wait(server, 2, "Which port?"), wait(server, 3, "Drop the table?")
    later = put(server, "Which name?", "a4")
    handed = put(server, "Which library?", "a5")
    item = make(server, "Paint the shed", kind="task")["id"]
    backlog = make(server, "Sweep the yard", kind="task")["id"]
    walk = begin(desk)
    expect(page.locator(".walk-agenda")).to_contain_text("7 to go")

    is_on_the_table(desk, "Which colour?")
    keys.press("2")
    expect(table(desk).get_by_role("radio", name="green")).to_be_checked()
    keys.press("r")
    is_on_the_table(desk, "Which port?")
    expect(said(desk)).to_contain_text("Ratified: Which colour?. Now: Which port?. 6 to go")
    assert outcome(colour) == ("green\n", 0)

    keys.press("m")
    expect(page.get_by_role("textbox", name="Reply")).to_be_focused()
    page.get_by_role("textbox", name="Reply").fill("8080")
    keys.press("Enter")
    is_on_the_table(desk, "Drop the table?")
    assert outcome(port) == ("8080\n", 0)

    keys.press("x")
    keys.type("never")
    keys.press("Enter")
    is_on_the_table(desk, "Which name?")
    assert outcome(drop) == ("never\n", 12)  # declined, and why

    keys.press("d")
    keys.press("h")
    is_on_the_table(desk, "Which library?")
    assert server.get(f"/api/escalations/{later}")["state"] == "snoozed"

    keys.press("h")
    expect(page.get_by_role("group", name="Hand to").get_by_role("button").first).to_be_focused()
    keys.press("1")
    is_on_the_table(desk, "Paint the shed")
    assert server.get(f"/api/escalations/{handed}")["state"] in ("open", "acknowledged")

    keys.press("r")
    is_on_the_table(desk, "Sweep the yard")
    agreed = server.get(f"/api/work-items/{item}/history")["changes"][0]
    assert agreed["cause"] == {"kind": "walk", "id": walk}
    keys.press("d")
    keys.press("b")
    expect(page.locator(".walk-table h2")).to_have_text("Everything is decided")
    expect(desk.focused).to_have_count(1)
    retry_until(lambda: server.get(f"/api/work-items/{backlog}")["state"] == "backlog")

    totals = page.get_by_role("group", name="Totals")
    expect(totals).to_contain_text("2 ratified, 1 modified, 1 rejected, 2 deferred, 1 handed off")
    known = walk_of(server, walk)
    consult = next(each["decision"]["consult_id"] for each in known["agenda"] if each["topic"] == "Which library?")
    assert consult in [each["id"] for each in known["consults"]]
    entries = [json.loads(line) for line in server.gemba("audit", "export").stdout.splitlines()]
    assert [each["ref"] for each in entries if each["kind"] == "walk.decided"] == [walk] * 7
    answered = server.get("/api/escalations?state=resolved")["escalations"]
    assert [each["resolution"]["walk_id"] for each in answered] == [walk] * 2

    # What was handed on can be looked at again, with what the other one proposes beside it.
    page.get_by_role("list", name="Put off").get_by_role("button", name="Which library?").first.click()
    is_on_the_table(desk, "Which library?")
    expect(page.locator(f"[data-consult='{consult}']")).to_be_visible()


def test_what_is_settled_elsewhere_shows_so_and_two_tabs_stay_in_step(
    desk: Desk, open_desk: Callable[..., Desk]
) -> None:
    server, page, keys = desk.server, desk.page, desk.page.keyboard
    first, second = put(server, "The first?", "a1"), put(server, "The second?", "a2")
    put(server, "The third?", "a3")
    put(server, "The fourth?", "a4")
    begin(desk)
    other = open_desk(server, reduced_motion="reduce")
    other.open("/walk")
    is_on_the_table(desk, "The first?")
    is_on_the_table(other, "The first?")

    server.post(f"/api/escalations/{first}/respond", {"text": "from elsewhere"})
    server.post(f"/api/escalations/{second}/respond", {"text": "this too"})
    for one in (desk, other):
        expect(table(one)).to_contain_text("Settled elsewhere: resolved")
        expect(table(one)).to_contain_text("from elsewhere")
    keys.press("r")
    expect(page.locator(".walk-table h2")).to_contain_text("The first?")
    keys.press("n")
    is_on_the_table(desk, "The third?")
    is_on_the_table(other, "The third?")

    # Both decide at once: the first counts, the other one is told.
    other.page.context.set_offline(True)
    other.page.keyboard.press("r")
    expect(other.page.locator(".walk-sending")).to_contain_text("1 decision waits to be sent")
    keys.press("x")
    keys.type("not now")
    keys.press("Enter")
    is_on_the_table(desk, "The fourth?")
    other.page.context.set_offline(False)
    expect(other.page.locator(".walk-sending")).to_contain_text("Decided already: The third?")
    is_on_the_table(other, "The fourth?")

    put(server, "What came meanwhile?", "a5")
    elsewhere = page.get_by_role("region", name="Elsewhere")
    elsewhere.get_by_role("button", name="Pull in: What came meanwhile?").click()
    expect(page.locator(".walk-agenda")).to_contain_text("What came meanwhile?")
    expect(other.page.locator(".walk-agenda")).to_contain_text("What came meanwhile?")


def test_a_server_that_is_killed_resumes_at_the_same_item_and_gets_what_was_decided_meanwhile(
    open_desk: Callable[..., Desk],
    lasting_server: RunningServer,  # noqa: F811
) -> None:
    server = lasting_server
    asker = wait(server, 1, "Which port?")
    put(server, "Which name?", "a2")
    desk = open_desk(server)
    keys = desk.page.keyboard
    walk = begin(desk)
    is_on_the_table(desk, "Which port?")
    before = walk_of(server, walk)

    server.kill()
    expect(desk.connection).to_contain_text("Reconnecting")
    server.start()
    desk.is_live()
    is_on_the_table(desk, "Which port?")
    again = walk_of(server, walk)
    assert (again["active_item"], again["transcript"]) == (before["active_item"], before["transcript"])

    server.kill()
    keys.press("m")
    desk.page.get_by_role("textbox", name="Reply").fill("8080")
    keys.press("Enter")
    # The next one is there at once; what was decided is kept until it arrives.
    expect(desk.page.locator(".walk-table h2")).to_contain_text("Which name?")
    expect(desk.page.locator(".walk-sending")).to_contain_text("1 decision waits to be sent")
    server.start()
    desk.is_live()
    is_on_the_table(desk, "Which name?")
    expect(desk.page.locator(".walk-sending")).to_have_count(0)
    assert outcome(asker) == ("8080\n", 0)
    assert walk_of(server, walk)["totals"]["decisions"] == {"modify": 1}


def test_a_decision_is_taken_back_by_key_and_from_the_agenda_and_what_was_sent_says_so(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    server = sqlite_server
    desk = open_desk(server, undo=30, reduced_motion="reduce")
    page, keys = desk.page, desk.page.keyboard
    asker = wait(server, 1, "Which port?")
    put(server, "Which name?", "a2")
    item = make(server, "Paint the shed", kind="task")["id"]
    walk = begin(desk)
    is_on_the_table(desk, "Which port?")
    keys.press("r")
    is_on_the_table(desk, "Which name?")
    toast = page.get_by_role("group", name="Last answer")
    expect(toast).to_contain_text("Ratified: Which port?")

    keys.press("u")

    expect(toast).to_contain_text("Taken back: Which port?")
    is_on_the_table(desk, "Which port?")
    assert asker.poll() is None
    assert walk_of(server, walk)["totals"]["decisions"] == {}
    expect(page.get_by_role("list", name="About this")).to_contain_text("Taken back: Ratify")

    # From the agenda, as long as it can be: work always, an answer while it is held.
    page.get_by_role("button", name="Paint the shed").first.click()
    is_on_the_table(desk, "Paint the shed")
    keys.press("r")
    is_on_the_table(desk, "Which port?")
    page.locator(".walk-done summary").click()
    done = page.get_by_role("list", name="Done")
    done.get_by_role("button", name="Paint the shed").click()
    page.get_by_role("button", name="Take it back").click()
    is_on_the_table(desk, "Paint the shed")
    retry_until(lambda: server.get(f"/api/work-items/{item}/history")["changes"][0]["kind"] == "undone")

    page.get_by_role("button", name="Which name?").first.click()
    is_on_the_table(desk, "Which name?")
    page.evaluate("localStorage.setItem('gemba.undo-seconds', '0')")
    keys.press("r")
    is_on_the_table(desk, "Paint the shed")
    page.locator(".walk-done summary").click()
    done.get_by_role("button", name="Which name?").click()
    expect(table(desk)).to_contain_text("It was done, and cannot be taken back.")
    expect(page.get_by_role("button", name="Take it back")).to_have_count(0)
    keys.press("Escape")
    page.get_by_role("button", name="Which port?").first.click()
    is_on_the_table(desk, "Which port?")
    keys.press("r")
    assert outcome(asker)[1] == 0


def test_an_offer_on_a_phone_covers_no_words_and_makes_nothing_wider(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    for number in (1, 2, 3):
        put(sqlite_server, f"Question {number}?", "a", title=f"Question {number}?")
    phone = open_desk(sqlite_server, **PHONE)
    page = phone.page
    offer = page.get_by_role("region", name="A walk is offered").bounding_box(timeout=10_000)
    words = page.locator(".screen-head > p").bounding_box()

    assert offer is not None
    assert words is not None
    assert offer["y"] + offer["height"] <= words["y"] + 1
    # What is wider than the screen makes a phone's window wider too.
    assert page.evaluate("innerWidth") == 390
    page.get_by_role("button", name="More").tap()
    expect(page.get_by_role("link", name="Health")).to_be_in_viewport()


def test_a_walk_is_offered_paused_taken_up_and_ended_with_its_summary(desk: Desk, axe: Axe) -> None:
    server, page, keys = desk.server, desk.page, desk.page.keyboard
    for number in (1, 2, 3):
        put(server, f"Question {number} {MARKUP} {BIDI}?", f"a{number}", title=f"Question {number}?")
    make(server, MARKUP, kind="task")
    make(server, "Ship the shop", kind="epic")
    offer = page.get_by_role("region", name="A walk is offered")
    expect(offer).to_contain_text("3 things wait, 3 block: walk through them")
    found = findings("the inbox with an offer", page, axe)
    offer.get_by_role("link", name="walk through them").click()
    expect(page.get_by_role("list", name="What waits, by kind")).to_contain_text("Blocker3")
    page.get_by_role("textbox", name="What you call it").fill("Monday")
    found += findings("before a walk", page, axe)
    keys.press("Enter")
    is_on_the_table(desk, "Question 1?")
    expect(page.get_by_role("heading", name="Monday", level=1)).to_be_visible()

    keys.press("s")
    keys.type("What is this about?")
    keys.press("Enter")
    expect(page.get_by_role("list", name="About this")).to_contain_text("What is this about?")
    keys.press("Escape")
    expect(table(desk)).to_be_focused()
    keys.press("p")
    expect(page.locator(".walk-speak")).to_contain_text("sked")
    keys.press("o")
    expect(page.locator(".walk-consult").first).to_be_visible()
    found += findings("a walk with a consult", page, axe)
    keys.press("m")
    expect(page.get_by_role("textbox", name="Reply")).to_be_focused()
    found += findings("a walk while a reply is modified", page, axe)
    keys.press("Escape")
    keys.press("z")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    found += findings("a walk that is paused", page, axe)
    keys.press("z")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".walk-speak")).to_contain_text("goes with where the walk stood")
    keys.press("n")
    is_on_the_table(desk, "Question 2?")
    keys.press("r")
    is_on_the_table(desk, "Question 3?")
    # The agenda by its keys: to a line, moved, left out.
    keys.press("j")
    keys.press("Shift+K")
    expect(page.locator(".walk-rows").first.get_by_role("listitem").first).to_contain_text("Question 3?")
    keys.press("e")
    page.get_by_role("button", name="End the walk", exact=True).click()
    expect(page.locator(".walk-summary")).to_contain_text("Decisions: 1 ratified")
    expect(page.get_by_role("heading", name="Monday", level=1).first).to_be_focused()
    found += findings("a walk that is over", page, axe)
    page.get_by_role("button", name="To the walks").click()
    page.get_by_role("link", name="Monday").click()
    expect(page.locator(".walk-summary")).to_contain_text("Not looked at")
    keys.press("Escape")
    expect(page.get_by_role("heading", name="Walk", level=1)).to_be_visible()

    assert found == []
    assert page.evaluate("window.owned") is None
    assert desk.console_errors == []


def test_a_walk_under_the_thumb(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    server = sqlite_server
    long = "a/very/long/path/that/does/not/want/to/break/" * 4
    asker = wait(server, 1, f"Which of {long}?", "--option", long, "--option", "short", session="a" * 60)
    put(server, "Which port?", "a2")
    phone = open_desk(server, **PHONE)
    page = phone.page
    phone.go_to("Walk")
    page.get_by_role("button", name="Start the walk").tap()
    is_on_the_table(phone, "a/very/long")
    assert too_wide(phone) == []
    decide = page.get_by_role("group", name="Decide")
    buttons = decide.get_by_role("button").all()
    assert len(buttons) == 6
    assert [one.text_content() for one in buttons if min(size(one)) < FINGER] == []
    box = decide.bounding_box()
    assert box is not None
    assert 844 / 2 < box["y"] < box["y"] + box["height"] <= 844

    table(phone).get_by_text("short", exact=True).tap()
    expect(table(phone).get_by_role("radio", name="short")).to_be_checked()
    decide.get_by_role("button", name="Ratify").tap()
    is_on_the_table(phone, "Which port?")
    assert outcome(asker) == ("short\n", 0)
    decide.get_by_role("button", name="Defer").tap()
    assert too_wide(phone) == []
    page.get_by_role("button", name="In an hour").tap()
    expect(page.locator(".walk-table h2")).to_have_text("Everything is decided")
    fold = page.get_by_role("button", name="Agenda")
    expect(page.get_by_role("list", name="Put off")).to_have_count(0)
    fold.tap()
    expect(page.get_by_role("list", name="Put off")).to_contain_text("Which port?")
    assert too_wide(phone) == []
