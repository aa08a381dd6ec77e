"""The palette: any thing, screen or action by a few letters, by keyboard alone, wherever one is."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.desk import Desk
from tests.browser.test_accessibility import Axe, findings
from tests.browser.test_hostile_text import MARKUP
from tests.browser.test_phone import PHONE
from tests.browser.work import make
from tests.fixtures.servers import RunningServer


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    return open_desk(sqlite_server, reduced_motion="reduce")


def palette(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Find or do")


def field(page: Page) -> Locator:
    return palette(page).get_by_role("combobox")


def options(page: Page) -> Locator:
    return palette(page).get_by_role("option")


def selected(page: Page) -> Locator:
    return palette(page).get_by_role("option", selected=True)


def open_palette(page: Page, words: str = "") -> None:
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()
    page.keyboard.type(words)


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def test_a_thing_is_found_and_opened_by_keys_alone(desk: Desk) -> None:
    page = desk.page
    for title in ("Renew the tokens", "Retokenise", "Tokens in the log"):
        make(desk.server, title)
    desk.server.append("GembaState", {"state": "working", "note": "renewing tokens"}, "agent-7")
    open_palette(page, "tokens")

    expect(options(page)).to_have_count(3)
    expect(options(page).first).to_contain_text("Tokens in the log")
    expect(selected(page)).to_contain_text("Tokens in the log")
    expect(field(page)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(selected(page)).to_contain_text("Renew the tokens")
    active = field(page).get_attribute("aria-activedescendant")
    assert active == selected(page).get_attribute("id")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(selected(page)).to_contain_text("agent-7")
    page.keyboard.press("Enter")

    expect(palette(page)).to_have_count(0)
    expect(page).to_have_url(f"{desk.server.url}/sessions/agent-7")
    expect(heading(page)).to_be_focused()


def test_escape_leads_back_to_where_the_focus_was_with_what_was_typed_there(desk: Desk) -> None:
    page = desk.page
    desk.open("/answered")
    search = page.locator("#search")
    search.fill("half a wo")
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()
    page.keyboard.type("board")
    page.keyboard.press("Escape")
    expect(palette(page)).to_have_count(0)
    expect(search).to_be_focused()
    expect(search).to_have_value("half a wo")

    button = page.get_by_role("button", name="Find or do")
    expect(button).to_have_attribute("aria-keyshortcuts", "Control+K")
    button.focus()
    page.keyboard.press("Enter")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Control+k")
    expect(button).to_be_focused()


def test_screens_and_actions_need_no_request(desk: Desk) -> None:
    page = desk.page
    page.route("**/api/find?**", lambda route: route.abort())
    open_palette(page, "refi")
    expect(selected(page)).to_contain_text("Refine")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("Refine")
    expect(heading(page)).to_be_focused()

    open_palette(page, "keyboard m")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    open_palette(page, "dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize(
    ("words", "begun"),
    [
        ("new work", "New item"),
        ("start a ses", "Start an agent"),
        ("start a team", "Start a team"),
    ],
)
def test_something_is_begun_from_anywhere_and_back_does_not_begin_it_again(desk: Desk, words: str, begun: str) -> None:
    page = desk.page
    open_palette(page, words)
    page.keyboard.press("Enter")

    form = page.get_by_role("form", name=begun)
    expect(form).to_be_visible()
    expect(form.locator(":focus")).to_have_count(1)
    assert "begin" not in parse_qs(urlsplit(page.url).query)


def test_the_next_answer_and_the_pm(desk: Desk) -> None:
    page = desk.page
    ask = {"kind": "question", "role": "manager", "mode": "balanced", "text": "Which port?"}
    desk.server.append("GembaAsk", ask, "agent-1")
    expect(desk.cards).to_have_count(1)
    desk.open("/board")
    open_palette(page, "answer next")
    expect(selected(page)).to_contain_text("1 waits")
    page.keyboard.press("Enter")
    expect(desk.card("Which port?")).to_be_focused()

    open_palette(page, "consult the")
    page.keyboard.press("Enter")
    expect(page.locator("#pm-question")).to_be_focused()


def test_a_persona_is_brought_into_view(desk: Desk) -> None:
    open_palette(desk.page, "security")
    expect(options(desk.page).filter(has_text="Persona")).to_have_count(1)
    desk.page.keyboard.press("Enter")

    expect(desk.page.locator("[data-card-id=security]")).to_be_focused()


def test_an_older_answer_never_takes_the_place_of_a_newer_one(desk: Desk) -> None:
    page = desk.page
    make(desk.server, "Cache of pages")
    make(desk.server, "Cabbage")
    late: list[Route] = []

    def hold(route: Route) -> None:
        if parse_qs(urlsplit(route.request.url).query)["q"] == ["ca"]:
            late.append(route)
        else:
            route.continue_()

    page.route("**/api/find?**", hold)
    with page.expect_request(lambda request: "q=ca&" in request.url):
        open_palette(page, "ca")
    page.keyboard.type("che")
    expect(options(page).filter(has_text="Cache of pages")).to_have_count(1)
    assert len(late) == 1
    late[0].continue_()

    expect(options(page).filter(has_text="Cabbage")).to_have_count(0)
    expect(selected(page)).to_contain_text("Cache of pages")


def test_enter_before_the_answer_takes_what_the_answer_has_first(desk: Desk) -> None:
    made = make(desk.server, "Quagga")
    desk.page.keyboard.press("Control+k")
    expect(field(desk.page)).to_be_focused()
    desk.page.keyboard.type("quagga")
    desk.page.keyboard.press("Enter")

    expect(desk.page).to_have_url(f"{desk.server.url}/items/{made['id']}")


def test_where_one_was_stands_first_with_its_title(desk: Desk) -> None:
    page = desk.page
    made = make(desk.server, "Quagga")
    desk.open(f"/items/{made['id']}")
    expect(heading(page)).to_contain_text("Quagga")
    desk.open("/board")
    expect(heading(page)).to_have_text("Board")
    open_palette(page)

    group = palette(page).get_by_role("group", name="Recent")
    expect(group.get_by_role("option").first).to_contain_text("Quagga")
    expect(selected(page)).to_contain_text("Quagga")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{desk.server.url}/items/{made['id']}")


def test_agents_text_is_data_and_nothing_found_is_said(desk: Desk) -> None:
    page = desk.page
    make(desk.server, f"Zzz {MARKUP}")
    open_palette(page, "zzz")
    expect(options(page)).to_have_count(1)
    expect(options(page)).to_contain_text("<")
    expect(palette(page).locator("img, script")).to_have_count(0)
    page.keyboard.type("zzzz")
    expect(palette(page).get_by_role("status")).to_have_text("Nothing has these words")


def test_nothing_serious_for_accessibility(desk: Desk, axe: Axe) -> None:
    make(desk.server, "Renew the tokens")
    desk.open("/board")
    open_palette(desk.page)
    expect(options(desk.page).first).to_be_visible()
    found = findings("palette", desk.page, axe)
    desk.page.keyboard.type("tokens")
    expect(options(desk.page)).to_have_count(1)
    found += findings("palette with words", desk.page, axe)

    assert found == []


def test_on_a_phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    made = make(sqlite_server, "Renew the tokens")
    page = open_desk(sqlite_server, **PHONE).page
    page.get_by_role("button", name="Find or do").tap()
    field(page).fill("tokens")
    options(page).first.tap()

    expect(page).to_have_url(f"{sqlite_server.url}/items/{made['id']}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
