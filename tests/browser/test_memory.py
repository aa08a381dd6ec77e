"""What agents want remembered: seen first, decided by keyboard, taken back; and what is remembered, with its source."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.fixtures.remembered import SOURCE, suggest_in
from tests.fixtures.servers import RunningServer

PORT = {"description": "The proxy's port", "body": "8000 is taken by the `proxy`", "rationale": "it cost an hour"}
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> [click](javascript:alert(1)) \u202egnp.exe \x1b[31m"
LONG = "\n".join(f"line {number}" for number in range(60))


def suggest(desk: Desk, *entries: dict[str, Any] | str, surfaces: tuple[str, ...] = ()) -> list[str]:
    return suggest_in(desk.server.workspace, desk.server.home, *entries, surfaces=surfaces)


def part(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("region", name=name)


def card(desk: Desk, words: str) -> Locator:
    return desk.page.get_by_role("article").filter(has_text=words)


def states(desk: Desk) -> list[str]:
    return [memory["state"] for memory in desk.server.get("/api/memories")["memories"]]


def test_what_waits_is_counted_and_comes_in_live(desk: Desk) -> None:
    link = desk.page.get_by_role("navigation").get_by_role("link", name="Memory")
    desk.go_to("Memory")
    expect(desk.page.get_by_label("What agents write")).to_contain_text("memorialize_suggestions")

    suggest(desk, PORT, surfaces=("api", "web"))

    expect(link).to_have_text("Memory1 waiting")
    one = desk.page.get_by_role("article", name="The proxy's port")
    for words in ("thread · atom", "for turns on api, web", "it cost an hour", "the-proxys-port", SOURCE[-6:]):
        expect(one).to_contain_text(words)
    expect(one.locator("code", has_text="proxy").first).to_be_visible()


def test_one_is_accepted_edited_and_rejected_without_a_mouse(desk: Desk) -> None:
    suggest(desk, "use UTC", PORT, "never touch the lock file")
    keys = desk.page.keyboard
    keys.press("g")
    keys.press("m")
    expect(desk.page.get_by_role("heading", name="Memory", level=1)).to_be_focused()
    expect(part(desk, "Waiting for you").get_by_role("article")).to_have_count(3)

    keys.press("j")
    expect(card(desk, "never touch")).to_be_focused()
    keys.press("a")
    expect(part(desk, "Remembered").get_by_role("article")).to_contain_text("never touch the lock file")
    expect(card(desk, "use UTC")).to_be_focused()

    keys.press("d")
    keys.type("we use local time")
    keys.press("Enter")
    expect(card(desk, "The proxy's port")).to_be_focused()

    keys.press("e")
    body = desk.page.get_by_role("textbox", name="What to remember")
    expect(body).to_be_focused()
    body.fill("8000: the proxy")
    desk.page.get_by_role("textbox", name="Name").fill("proxy")
    desk.page.get_by_role("combobox", name="Class").select_option("anchor")
    body.press("Enter")
    expect(part(desk, "Remembered").get_by_role("article")).to_have_count(2)
    expect(card(desk, "8000: the proxy")).to_contain_text("anchor · atom")
    expect(card(desk, "8000: the proxy")).to_contain_text("for every turn")
    expect(desk.page.get_by_text("Nothing waits for you.")).to_be_visible()
    expect(desk.page.get_by_role("heading", name="Memory", level=1)).to_be_focused()
    assert sorted(states(desk)) == ["accepted", "accepted", "rejected"]
    desk.unfold("Rejected")
    expect(desk.page.locator(".row")).to_contain_text("we use local time")


def test_a_decision_is_taken_back_with_one_key_or_later(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    desk = open_desk(sqlite_server, undo=30)
    suggest(desk, PORT, "use UTC")
    desk.go_to("Memory")
    card(desk, "The proxy's port").get_by_role("button", name="Remember").click()
    toast = desk.page.get_by_role("group", name="Last answer")
    expect(toast).to_contain_text("Remembered as the-proxys-port")

    desk.page.keyboard.press("u")

    expect(toast).to_contain_text("Taken back")
    expect(part(desk, "Waiting for you").get_by_role("article")).to_have_count(2)
    assert states(desk) == ["suggested", "suggested"]

    card(desk, "use UTC").get_by_role("button", name="Reject").click()
    desk.page.get_by_role("group", name="Reject").get_by_role("button", name="Reject").click()
    desk.unfold("Rejected")
    desk.page.get_by_role("button", name="Take back: use UTC").click()
    expect(part(desk, "Waiting for you").get_by_role("article")).to_have_count(2)

    card(desk, "The proxy's port").get_by_role("button", name="Remember").click()
    part(desk, "Remembered").get_by_role("button", name="Take back").click()
    expect(part(desk, "Waiting for you").get_by_role("article")).to_have_count(2)
    retry_until(lambda: states(desk) == ["suggested", "suggested"])


def test_a_name_that_is_taken_is_said_and_the_edit_stays(desk: Desk) -> None:
    first, _second = suggest(desk, PORT, "use UTC")
    desk.server.post(f"/api/memories/{first}/accept", {"slug": "port"})
    desk.go_to("Memory")
    one = card(desk, "use UTC")
    one.get_by_role("button", name="Edit").click()
    one.get_by_role("textbox", name="Name").fill("port")
    one.get_by_role("textbox", name="What to remember").fill("use UTC everywhere")

    one.get_by_role("button", name="Remember").click()

    expect(one.get_by_role("alert")).to_contain_text("another memory has it")
    expect(one.get_by_role("textbox", name="What to remember")).to_have_value("use UTC everywhere")
    one.get_by_role("textbox", name="Name").fill("time")
    one.get_by_role("textbox", name="Name").press("Enter")
    expect(part(desk, "Remembered").get_by_role("article")).to_have_count(2)


def test_escape_leaves_the_edit_and_the_reason_for_the_card(desk: Desk) -> None:
    suggest(desk, PORT)
    desk.go_to("Memory")
    one = card(desk, "The proxy's port")
    for name in ("Edit", "Reject"):
        one.get_by_role("button", name=name).click()
        desk.page.keyboard.press("Escape")
        expect(one).to_be_focused()
        expect(one.get_by_role("textbox")).to_have_count(0)
    assert states(desk) == ["suggested"]


def test_of_two_operators_the_second_sees_what_the_first_decided(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    desk, other = open_desk(sqlite_server), open_desk(sqlite_server, operator="ben")
    suggest(desk, PORT)
    for each in (desk, other):
        each.go_to("Memory")
        expect(card(each, "The proxy's port")).to_be_visible()

    card(other, "The proxy's port").get_by_role("button", name="Remember").click()

    expect(part(desk, "Remembered").get_by_role("article")).to_contain_text("accepted by ben")
    expect(desk.page.get_by_role("button", name="Remember")).to_have_count(0)


def test_agents_text_is_shown_to_the_letter_and_does_nothing(desk: Desk) -> None:
    entry = {"description": HOSTILE, "body": HOSTILE + " body", "rationale": HOSTILE, "class": HOSTILE, "type": HOSTILE}
    (id,) = suggest(desk, entry, surfaces=(HOSTILE,))
    desk.go_to("Memory")

    one = desk.page.locator(f"[data-memory-id='{id}']")
    expect(one).to_contain_text("<img src=x")
    expect(one).to_contain_text("⟨U+202E⟩gnp.exe ␛[31m")
    one.get_by_role("button", name="Edit").click()
    one.get_by_role("button", name="Remember").click()
    expect(part(desk, "Remembered").get_by_role("article")).to_have_count(1)
    assert desk.page.locator("main img, main a:not([href^='/handoffs/'])").count() == 0
    assert "owned" not in desk.page.title()
    assert desk.server.get(f"/api/memories/{id}")["body"] == f"{HOSTILE} body"


def test_a_long_one_is_folded_until_it_is_wanted(desk: Desk) -> None:
    suggest(desk, {**PORT, "body": LONG})
    desk.go_to("Memory")
    one = card(desk, "The proxy's port")
    one.focus()
    folded = one.bounding_box()

    desk.page.keyboard.press("o")

    expect(one.get_by_role("button", name="Show less")).to_be_visible()
    unfolded = one.bounding_box()
    assert folded is not None
    assert unfolded is not None
    assert unfolded["height"] > 3 * folded["height"]


def test_axe_finds_nothing_in_any_state(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, axe: Callable[[Page], list[str]]
) -> None:
    desk = open_desk(sqlite_server, undo=30, reduced_motion="reduce")
    desk.go_to("Memory")
    expect(desk.page.locator(".empty")).to_be_visible()
    found = findings("empty", desk.page, axe)
    entries = ({**PORT, "body": LONG, "class": "forever"}, "use UTC", "edit this", "reject this", "no, this")
    ids = suggest(desk, *entries, surfaces=("api",))
    desk.server.post(f"/api/memories/{ids[1]}/accept", {"class": "anchor"})
    desk.server.post(f"/api/memories/{ids[4]}/reject", {"reason": "because"})
    expect(card(desk, "edit this")).to_be_visible()
    desk.unfold("Rejected")
    found += findings("all states", desk.page, axe)

    card(desk, "reject this").get_by_role("button", name="Reject").click()
    card(desk, "edit this").get_by_role("button", name="Edit").click()
    desk.page.get_by_role("textbox", name="Name").fill("not safe")
    desk.page.get_by_role("textbox", name="Name").press("Enter")
    expect(desk.page.get_by_role("alert")).to_be_visible()
    found += findings("in use", desk.page, axe)

    card(desk, "The proxy's port").get_by_role("button", name="Remember").click()
    expect(desk.page.get_by_role("group", name="Last answer")).to_be_visible()
    found += findings("decided", desk.page, axe)

    assert found == []


def test_the_screen_fits_a_phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    desk = open_desk(sqlite_server, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    suggest(desk, {**PORT, "slug": "a-very-long-slug-" * 3, "body": "x" * 300}, surfaces=("a" * 80,))
    desk.open("/memory")
    card(desk, "The proxy's port").get_by_role("button", name="Edit").tap()

    assert desk.page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("Remember", "Cancel"):
        box = desk.page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None
        assert box["height"] >= 44
