"""What is known of the project on the page: read, opened and closed, its history and differences, taken back."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.browser.test_hostile_text import BIDI, MARKUP
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.fixtures.servers import RunningServer

TOML = """
[section.architecture]
paths = ["src/**", "docs/**"]
writers = ["architect"]

[section.ops]
strict = true
"""
KNOWN = {
    "overview": "One API and two workers.",
    "services": [{"id": "api", "port": 8080}, {"id": "worker"}],
    "limits": {"retries": 3, "note": None},
}


def declare(server: RunningServer, text: str = TOML) -> None:
    (server.workspace / ".gemba/context.toml").write_text(text)


def apply(server: RunningServer, payload: dict[str, Any], name: str = "architecture") -> None:
    server.post(f"/api/context/{name}", {"payload": payload})


def section(desk: Desk, name: str = "architecture") -> Locator:
    return desk.page.locator(f'[data-section="{name}"]')


def revision(desk: Desk, number: int) -> Locator:
    return desk.page.locator(f'[data-revision="{number}"]')


@pytest.fixture
def knowing(desk: Desk) -> Desk:
    """At the screen, with a section that has two revisions."""
    declare(desk.server)
    apply(desk.server, KNOWN)
    apply(desk.server, {"services": [{"id": "api", "port": 8081}, {"id": "mailer"}], "limits": {"retries": 5}})
    desk.go_to("Context")
    expect(section(desk)).to_contain_text("revision 2 by operator")
    return desk


def test_a_workspace_without_sections_is_told_how_to_declare_one(desk: Desk) -> None:
    desk.go_to("Context")

    expect(desk.page.get_by_role("heading", name="No section is declared")).to_be_visible()
    expect(desk.page.get_by_label("Example of a section")).to_contain_text("[section.architecture]")


def test_sections_tell_what_they_are_about_and_what_is_known(knowing: Desk) -> None:
    card = section(knowing)

    expect(card).to_contain_text("About src/**, docs/**")
    expect(card).to_contain_text("Written by architect")
    expect(card).to_contain_text('overview "One API and two workers."')
    expect(card).to_contain_text("retries 5")
    expect(section(knowing, "ops")).to_contain_text("Nothing is known here yet.")
    expect(section(knowing, "ops")).to_contain_text("Strict")


def test_parts_open_and_close(knowing: Desk) -> None:
    card = section(knowing)
    first = card.get_by_role("button", name="0 api")
    expect(first).to_have_attribute("aria-expanded", "false")
    expect(card).not_to_contain_text("8081")

    first.click()
    expect(card).to_contain_text("port 8081")
    card.get_by_role("button", name="limits").click()
    expect(card).not_to_contain_text("retries")


def test_the_history_shows_what_went_and_what_came(knowing: Desk) -> None:
    section(knowing).get_by_role("button", name="History").click()

    last = revision(knowing, 2)
    retries = last.locator(".change").filter(has_text="/limits/retries")
    expect(retries.locator('[data-side="gone"]')).to_have_text("Before: 3")
    expect(retries.locator('[data-side="come"]')).to_have_text("Now: 5")
    # Only the service that is new; that of the other, a change of its own tells.
    services = last.locator(".change").filter(has_text="/services items")
    expect(services.locator(".change-value")).to_have_text('New item: id "mailer"')
    expect(last.locator(".change").filter(has_text="/services/0")).to_contain_text("port 8081")
    expect(revision(knowing, 1)).to_contain_text("/overview added")


def test_the_last_change_is_undone_after_one_question_and_can_be_redone(knowing: Desk) -> None:
    card = section(knowing)
    card.get_by_role("button", name="Undo last change").click()
    expect(knowing.focused).to_have_text("Undo revision 2")
    card.get_by_role("button", name="Keep it").click()
    expect(card).to_contain_text("revision 2")

    card.get_by_role("button", name="Undo last change").click()
    card.get_by_role("button", name="Undo revision 2").click()
    expect(card).to_contain_text("revision 3 by operator")
    expect(card).to_contain_text("retries 3")
    expect(knowing.focused).to_have_attribute("data-section", "architecture")

    card.get_by_role("button", name="History").click()
    expect(revision(knowing, 3)).to_contain_text("takes back revision 2")
    revision(knowing, 3).get_by_role("button", name="Redo").click()
    card.get_by_role("button", name="Undo revision 3").click()
    expect(card).to_contain_text("retries 5")
    assert knowing.server.get("/api/context/architecture")["revision"] == 4


def test_all_of_it_works_with_the_keyboard_alone(knowing: Desk) -> None:
    page = knowing.page
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", level=1)).to_have_text("Context")
    expect(section(knowing)).to_be_visible()

    page.keyboard.press("j")
    expect(knowing.focused).to_have_attribute("data-section", "architecture")
    page.keyboard.press("o")
    expect(revision(knowing, 2)).to_be_visible()
    page.keyboard.press("u")
    expect(knowing.focused).to_have_text("Undo revision 2")
    page.keyboard.press("Escape")
    expect(knowing.focused).to_have_attribute("data-section", "architecture")
    page.keyboard.press("u")
    page.keyboard.press("Enter")
    expect(section(knowing)).to_contain_text("revision 3 by operator")


def test_what_others_change_appears_by_itself(knowing: Desk) -> None:
    apply(knowing.server, {"overview": "Now three workers."})
    expect(section(knowing)).to_contain_text("Now three workers.")
    expect(section(knowing)).to_contain_text("revision 3")


def test_an_undo_that_came_too_late_says_why(knowing: Desk) -> None:
    card = section(knowing)
    card.get_by_role("button", name="Undo last change").click()
    apply(knowing.server, {"overview": "Meanwhile."})
    card.get_by_role("button", name="Undo revision 2").click()

    expect(card.get_by_role("alert")).to_contain_text("has changed since revision 2")
    expect(card).to_contain_text("Meanwhile.")


def test_live_state_and_faults_of_the_file_are_told(desk: Desk) -> None:
    declare(desk.server)
    apply(desk.server, {"load_balancer": {"ip": "34.102.136.180"}})
    desk.go_to("Context")
    expect(section(desk)).to_contain_text("Of a running system: ip address 34.102.136.180")

    desk.go_to("Inbox")
    declare(desk.server, "[section.architecture]\npaths = 3\n")
    desk.page.reload()
    desk.go_to("Context")
    expect(desk.page.get_by_role("alert")).to_contain_text("context.toml:2")


def test_what_agents_wrote_is_text(desk: Desk) -> None:
    declare(desk.server)
    apply(
        desk.server, {MARKUP[:300]: MARKUP, "__proto__": {"constructor": MARKUP}, "bidi": [BIDI], "word": "x" * 3_000}
    )
    apply(desk.server, {MARKUP[:300]: "gone"})
    desk.go_to("Context")
    section(desk).get_by_role("button", name="History").click()

    expect(revision(desk, 2)).to_contain_text("<script>window.owned")
    expect(section(desk)).to_contain_text("⟨U+202E⟩")
    expect(section(desk)).to_contain_text("constructor")
    assert desk.page.evaluate("window.owned") is None
    assert desk.page.locator("main :is(script, iframe, img, style, base)").count() == 0
    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert desk.console_errors == []


def test_a_section_of_ten_thousand_entries_shows_the_first_and_the_rest_when_it_is_wanted(desk: Desk) -> None:
    declare(desk.server)
    apply(desk.server, {f"key-{number}": {"n": number} for number in range(10_000)})
    desk.go_to("Context")
    card = section(desk)

    expect(card).to_contain_text("key-49")
    expect(card).not_to_contain_text("key-50")
    card.get_by_role("button", name="Show 500 more of 9,950").click()
    expect(card).to_contain_text("key-549")


def test_a_section_too_long_for_the_list_is_read_when_it_is_wanted(desk: Desk) -> None:
    declare(desk.server)
    apply(desk.server, {f"key-{number}": "x" * 90 for number in range(4_000)})
    desk.go_to("Context")
    card = section(desk)

    expect(card).not_to_contain_text("key-0")
    card.get_by_role("button", name="Show what is known in").click()
    expect(card).to_contain_text("key-49")
    card.get_by_role("button", name="History").click()
    expect(revision(desk, 1)).to_contain_text("more changes are not listed")


def test_axe_finds_nothing_serious_in_any_state(knowing: Desk, axe: Callable[[Page], list[str]]) -> None:
    apply(
        knowing.server, {"load_balancer": {"ip": "34.102.136.180"}, "services": ["text"], "limits": {"retries": None}}
    )
    expect(section(knowing)).to_contain_text("Of a running system")
    found = findings("sections", knowing.page, axe)
    section(knowing).get_by_role("button", name="History").click()
    expect(revision(knowing, 1)).to_be_visible()
    section(knowing).get_by_role("button", name="Undo last change").click()
    found += findings("history and undo", knowing.page, axe)
    declare(knowing.server, "")
    knowing.page.reload()
    expect(section(knowing)).to_contain_text("No longer declared")
    found += findings("no longer declared", knowing.page, axe)
    assert found == []


def test_it_fits_a_phone_and_a_finger(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    declare(sqlite_server)
    long = "a/very/long/path/that/does/not/want/to/break/" * 4
    apply(
        sqlite_server, {"path": long, long: {"x": long}, "items": [{"id": long, "deep": {"deeper": [long, {"n": 1}]}}]}
    )
    apply(sqlite_server, {"path": "short", "items": [{"id": long, "deep": {"deeper": ["new"]}}]})
    phone = open_desk(sqlite_server, **PHONE)
    phone.go_to("Context")
    card = section(phone)
    card.get_by_role("button", name="History").tap()
    expect(revision(phone, 1)).to_be_visible()
    card.get_by_role("button", name="0 a/very").first.tap()
    card.get_by_role("button", name="deep 1 entry").first.tap()

    assert too_wide(phone) == []
    small = [one for one in card.get_by_role("button").all() if size(one)[1] < FINGER]
    assert small == []
