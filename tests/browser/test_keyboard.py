"""Everything the page can do is done without a mouse, and one always sees where one is."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer

SCREENS = (
    ("g", "Floor"),
    ("x", "Walk"),
    ("s", "Sessions"),
    ("a", "Assumptions"),
    ("b", "Board"),
    ("k", "Teams"),
    ("e", "Refine"),
    ("o", "Coach"),
    ("l", "Personas"),
    ("d", "Answered"),
    ("f", "Handoffs"),
    ("w", "Dispatches"),
    ("r", "Rules"),
    ("p", "Policies"),
    (",", "Settings"),
    ("t", "Attention"),
    ("h", "Health"),
    ("i", "Inbox"),
)

# The focused element, or what stands for it, is marked by an outline or a ring that its neighbours do not have.
FOCUS_IS_VISIBLE = """
() => {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return "nothing has the focus";
  const marked = focused.closest(".reply") ?? focused;
  const style = getComputedStyle(marked);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const ringed = style.boxShadow.includes("0px 0px 0px 3px") || style.boxShadow.includes("0px 0px 0px 4px");
  const { top, bottom } = marked.getBoundingClientRect();
  if (bottom <= 0 || top >= innerHeight) return `${marked.outerHTML.slice(0, 200)} is out of view`;
  return outlined || ringed ? "" : `nothing marks ${marked.outerHTML.slice(0, 200)}`;
}
"""


class Keys:
    """Presses keys, and holds after each that the focus is somewhere and seen."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __call__(self, *keys: str) -> None:
        for key in keys:
            self._desk.page.keyboard.press(key)
            self.sees_focus()

    def type(self, text: str) -> None:
        self._desk.page.keyboard.type(text)
        self.sees_focus()

    def sees_focus(self) -> None:
        assert self._desk.page.evaluate(FOCUS_IS_VISIBLE) == ""

    def tab_to(self, target: Locator, key: str = "Tab") -> None:
        """On through the page's order of focus until it is there."""
        for _ in range(60):
            self(key)
            if target.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"{key} never reaches {target}")


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    """Without transitions, so that what marks the focus is there at once."""
    return open_desk(sqlite_server, reduced_motion="reduce")


@pytest.fixture
def keys(desk: Desk) -> Keys:
    return Keys(desk)


def put(server: RunningServer, text: str, session: str = "session-1", **payload: object) -> str:
    document = {"kind": "question", "role": "manager", "mode": "balanced", "text": text, **payload}
    return server.append("GembaAsk", document, session)


def test_moving_between_cards(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    for name in ("first", "second", "third"):
        put(sqlite_server, f"The {name}.")
    desk = open_desk(sqlite_server, reduced_motion="reduce")
    keys = Keys(desk)
    expect(desk.cards).to_have_count(3)

    keys("j")
    expect(desk.card("The first.")).to_be_focused()
    keys("j", "ArrowDown")
    expect(desk.card("The third.")).to_be_focused()
    keys("j", "ArrowUp", "k")
    expect(desk.card("The first.")).to_be_focused()
    keys("k")
    expect(desk.card("The first.")).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(desk.focused).to_have_count(0)


def test_answering_one_card_goes_on_to_the_next(desk: Desk, keys: Keys) -> None:
    first = ask(desk.server, "Which colour?", "--option", "red", "--option", "green", session="agent-1")
    expect(desk.cards).to_have_count(1)
    second = ask(desk.server, "Which port?", session="agent-2")
    expect(desk.cards).to_have_count(2)

    keys("j", "2")
    expect(desk.card("Which port?")).to_be_focused()
    keys("r")
    expect(desk.reply_box("Which port?")).to_be_focused()
    keys.type("80")
    keys("Shift+Enter")
    keys.type("or 443")
    keys("Enter")
    expect(desk.page.get_by_role("heading", name="Inbox")).to_be_focused()

    assert outcome(first) == ("green\n", 0)
    assert outcome(second) == ("80\nor 443\n", 0)


def test_a_held_key_answers_one_card_only_and_with_a_modifier_it_is_the_browsers(desk: Desk) -> None:
    for name in ("first", "second"):
        put(desk.server, f"The {name}.", options=["yes", "no"])
        expect(desk.card(f"The {name}.")).to_be_visible()
    desk.page.keyboard.press("j")
    for key in ("Control+1", "Alt+2", "Meta+d"):
        desk.page.keyboard.press(key)
    expect(desk.card("The first.")).to_have_attribute("data-mode", "reply")

    for _ in range(3):
        desk.page.keyboard.down("1")
    desk.page.keyboard.up("1")

    expect(desk.card("The first.")).to_have_count(0)
    expect(desk.card("The second.")).to_be_focused()
    assert desk.server.get("/api/escalations?state=unresolved")["total"] == 1


def test_snoozing_and_waking(desk: Desk, keys: Keys) -> None:
    put(desk.server, "Later?")
    expect(desk.card("Later?")).to_be_visible()
    keys("j", "s")
    expect(desk.page.get_by_role("button", name="15 min")).to_be_focused()
    keys("Escape")
    expect(desk.card("Later?")).to_be_focused()

    keys("s", "2")

    expect(desk.cards).to_have_count(0)
    expect(desk.page.get_by_role("heading", name="Inbox")).to_be_focused()
    keys.tab_to(desk.page.locator("summary").filter(has_text="Snoozed"))
    keys("Enter")
    keys.tab_to(desk.page.get_by_role("button", name="Wake now"))
    keys("Enter")
    expect(desk.card("Later?")).to_be_visible()
    expect(desk.page.get_by_role("heading", name="Inbox")).to_be_focused()


def test_dismissing_with_a_reason(desk: Desk, keys: Keys) -> None:
    asker = ask(desk.server, "Shall I?")
    expect(desk.card("Shall I?")).to_be_visible()
    keys("j", "d")
    keys.type("no, d and j are letters here")
    keys("Escape")
    expect(desk.card("Shall I?")).to_be_focused()

    keys("d")
    keys.type("not now")
    keys("Enter")

    assert outcome(asker) == ("not now\n", 12)
    keys.sees_focus()


def test_opening_again_and_hiding_what_the_pane_answered(desk: Desk, keys: Keys) -> None:
    put(desk.server, "Which port?", "pane")
    expect(desk.card("Which port?")).to_be_visible()
    desk.server.append("UserPromptSubmit", {"prompt": "80"}, "pane")
    expect(desk.card("Which port?")).to_contain_text("Answered in the pane")

    keys("j", "u")
    expect(desk.reply_box("Which port?")).to_be_visible()
    expect(desk.card("Which port?")).to_be_focused()
    desk.server.append("UserPromptSubmit", {"prompt": "81"}, "pane")
    expect(desk.card("Which port?")).to_contain_text("81")
    keys("d")
    expect(desk.cards).to_have_count(0)
    keys.sees_focus()

    keys.tab_to(desk.page.locator("summary").filter(has_text="Recently resolved"))
    keys("Enter")
    keys.tab_to(desk.page.get_by_role("button", name="Re-open"))
    keys("Enter")
    expect(desk.reply_box("Which port?")).to_be_visible()
    keys.sees_focus()


def test_showing_all_of_a_long_text(desk: Desk, keys: Keys) -> None:
    put(desk.server, "A long story. " * 300 + "The end.")
    expect(desk.card("A long story.")).to_be_visible()

    keys("j", "o")

    expect(desk.card("A long story.")).to_contain_text("The end.")
    keys("o")
    expect(desk.card("A long story.")).not_to_contain_text("The end.")


def test_going_to_what_is_new(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    put(sqlite_server, "Old and advisory.")
    desk = open_desk(sqlite_server, reduced_motion="reduce")
    keys = Keys(desk)
    expect(desk.cards).to_have_count(1)
    put(sqlite_server, "New and blocking.", kind="blocker")
    expect(desk.page.get_by_role("button", name="1 new 1 blocking")).to_be_visible()

    keys("n")

    expect(desk.card("New and blocking.")).to_be_focused()
    expect(desk.page.get_by_role("button", name="1 new")).to_have_count(0)


def test_going_from_screen_to_screen(desk: Desk, keys: Keys) -> None:
    for letter, screen in SCREENS:
        desk.page.keyboard.press("g")
        keys(letter)
        expect(desk.page.get_by_role("heading", name=screen, exact=True)).to_be_focused()

    keys.tab_to(desk.page.get_by_role("link", name="Health"), "Shift+Tab")
    keys("Enter")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Health")


def test_skipping_the_navigation(desk: Desk, keys: Keys) -> None:
    put(desk.server, "Which?", options=["yes", "no"])
    expect(desk.card("Which?")).to_be_visible()
    keys("Tab")
    expect(desk.page.get_by_role("link", name="Skip to the content")).to_be_focused()

    desk.page.keyboard.press("Enter")
    keys("Tab")

    expect(desk.card("Which?").get_by_role("link", name="session-1")).to_be_focused()
    keys("Tab")
    expect(desk.card("Which?").get_by_role("button", name="yes")).to_be_focused()
    desk.is_live()


def test_the_map_of_keys(desk: Desk, keys: Keys) -> None:
    put(desk.server, "Which?", options=["yes", "no"])
    expect(desk.card("Which?")).to_be_visible()
    keys("j", "?")
    dialog = desk.page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()

    # Behind the map nothing is answered, and nothing is reached.
    keys("1")
    desk.page.keyboard.press("Tab")
    assert desk.page.evaluate("document.activeElement.closest('main, header.frame-head')") is None
    assert desk.server.get("/api/escalations?state=unresolved")["total"] == 1
    desk.page.keyboard.press("Escape")

    expect(dialog).to_be_hidden()
    expect(desk.card("Which?")).to_be_focused()


def test_switching_the_theme(desk: Desk, keys: Keys) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = desk.page.evaluate(ground)
    keys.tab_to(desk.page.get_by_role("button", name="Switch to the dark theme"))

    keys("Enter")

    assert desk.page.evaluate(ground) != light
    desk.page.reload()
    assert desk.page.evaluate(ground) != light
    keys.tab_to(desk.page.get_by_role("button", name="Switch to the light theme"))
    keys("Space")
    assert desk.page.evaluate(ground) == light


def test_overturning_an_assumption(desk: Desk, keys: Keys) -> None:
    server = desk.server
    for number in (1, 2):
        put(server, f"Which port {number}?", kind="assumption", chose="8080")
    desk.page.keyboard.press("g")
    keys("a")
    older = desk.page.get_by_role("article", name="Which port 1?")
    expect(older).to_be_visible()

    keys("j", "j", "Enter")
    keys("Escape")
    expect(older).to_be_focused()
    keys("r")
    keys.type("9090")
    keys("Enter")

    expect(older).to_contain_text("9090")
    expect(older).to_be_focused()
    keys.tab_to(desk.page.get_by_role("button", name="Overturn"), "Shift+Tab")
    keys("Enter")
    expect(desk.page.get_by_role("textbox", name="What to do instead")).to_be_focused()


def test_trying_again_what_failed(desk: Desk, keys: Keys) -> None:
    asker = ask(desk.server, "Which port?")
    expect(desk.card("Which port?")).to_be_visible()
    desk.page.route("**/respond", lambda route: route.fulfill(status=500, body="{}"))
    keys("j", "r")
    keys.type("80")
    keys("Enter")
    expect(desk.page.get_by_role("button", name="Try again")).to_be_visible()
    desk.page.unroute("**/respond")

    keys.tab_to(desk.page.get_by_role("button", name="Try again"))
    keys("Enter")

    assert outcome(asker) == ("80\n", 0)
    keys.sees_focus()
