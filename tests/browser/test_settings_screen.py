"""Settings: what files say with their lines, and a text that is checked and shown as a change before it is saved."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.desk import Desk
from tests.browser.test_accessibility import Axe, findings
from tests.browser.test_phone import PHONE
from tests.fixtures.servers import RunningServer

MINUS = "\N{MINUS SIGN}"
TEXT = "# Ours\n[consults]\ntimeout_seconds = 300\n"


@pytest.fixture
def file(sqlite_server: RunningServer) -> Path:
    path = sqlite_server.workspace / ".gemba/workspace.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer, file: Path) -> Desk:
    return open_desk(sqlite_server, reduced_motion="reduce")


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Text of .gemba/workspace.toml")


def save(page: Page) -> Locator:
    return page.get_by_role("button", name="Save")


def test_a_policy_that_is_saved_and_not_in_force_yet_is_told_on_policies(desk: Desk, file: Path) -> None:
    file.write_text(
        f'{TEXT}\n[[policy]]\nname = "calm"\nurgency = "advisory"\nremind_after = "3m"\nnotify = ["page"]\n'
    )
    desk.go_to("Policies")

    note = desk.page.get_by_role("note", name="Saved, not in force yet")
    expect(note).to_contain_text("and not in force yet")
    expect(note).to_contain_text("calm will be: advisory; reminds page after 3m. Now: nothing: it is new.")


def test_what_the_files_say_leads_to_the_line_and_a_change_is_previewed_and_saved(desk: Desk, file: Path) -> None:
    page = desk.page
    desk.go_to("Settings")
    row = page.locator(".settings-value").filter(has_text="timeout_seconds")
    expect(row).to_contain_text("300")
    expect(row).to_contain_text("the server still runs with 600")
    row.get_by_role("link").click()

    expect(box(page)).to_be_focused()
    assert box(page).evaluate("box => box.value.slice(box.selectionStart, box.selectionEnd)") == "timeout_seconds = 300"
    expect(save(page)).to_be_disabled()
    page.keyboard.type("timeout_seconds = 0")
    expect(page.locator("#settings-findings")).to_contain_text("Line 3")
    expect(page.locator("#settings-findings")).to_contain_text("allowed: a whole number from 1 to 86,400")
    expect(save(page)).to_be_disabled()
    assert file.read_text() == TEXT

    box(page).fill(TEXT.replace("300", "120"))
    preview = page.get_by_role("region", name="What changes")
    expect(preview).to_contain_text("consults.timeout_seconds")
    expect(preview.locator("[data-kind=gone]")).to_have_text(f"{MINUS} timeout_seconds = 300")
    expect(preview.locator("[data-kind=new]")).to_have_text("+ timeout_seconds = 120")
    expect(page.locator("#settings-findings")).to_have_text("No fault.")
    assert file.read_text() == TEXT
    box(page).press("Control+Enter")

    expect(page.get_by_text("Saved. A change counts")).to_be_visible()
    expect(preview).to_have_count(0)
    assert file.read_text() == TEXT.replace("300", "120")


def test_a_file_that_was_changed_meanwhile_is_not_written_over_unseen(desk: Desk, file: Path) -> None:
    page = desk.page
    desk.open("/settings?file=workspace.toml")
    box(page).fill(TEXT + "applicable_days = 3\n")
    expect(save(page)).to_be_enabled()
    file.write_text("# Theirs\n")
    save(page).click()

    expect(page.get_by_role("alert")).to_contain_text("the file was changed meanwhile")
    assert file.read_text() == "# Theirs\n"
    preview = page.get_by_role("region", name="What changes")
    expect(preview.locator("[data-kind=gone]")).to_have_text(f"{MINUS} # Theirs")
    save(page).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert file.read_text() == TEXT + "applicable_days = 3\n"


def test_what_is_half_typed_outlives_a_change_of_screen_and_can_be_taken_back(desk: Desk) -> None:
    page = desk.page
    desk.open("/settings?file=workspace.toml")
    box(page).fill("half")
    desk.go_to("Policies")
    page.go_back()
    expect(box(page)).to_have_value("half")
    page.get_by_role("button", name="Take back what I changed").click()
    expect(box(page)).to_have_value(TEXT)
    expect(box(page)).to_be_focused()


def test_an_added_operator_reads_and_does_not_edit(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, file: Path
) -> None:
    page = open_desk(sqlite_server, operator="maria").page
    page.goto(f"{sqlite_server.url}/settings")
    expect(page.locator(".settings-value").filter(has_text="timeout_seconds")).to_contain_text("300")
    expect(page.get_by_role("link", name="Edit")).to_have_count(0)
    expect(page.get_by_text("own operator edits them")).to_be_visible()


def test_nothing_serious_for_accessibility(desk: Desk, axe: Axe) -> None:
    page = desk.page
    desk.open("/settings")
    expect(page.locator(".settings-value").first).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = findings("settings", page, axe)
    desk.open("/settings?file=workspace.toml")
    box(page).fill(TEXT.replace("300", "0"))
    expect(page.locator("#settings-findings")).to_contain_text("Line 3")
    found += findings("settings with a fault", page, axe)

    assert found == []


def test_on_a_phone_nothing_is_wider_than_the_screen(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer, file: Path
) -> None:
    desk = open_desk(sqlite_server, **PHONE)
    for path in ("/settings", "/settings?file=workspace.toml"):
        desk.open(path)
        expect(desk.page.locator(".settings-value, .settings-area").first).to_be_visible()
        if "file" in path:
            box(desk.page).fill(TEXT + "# " + "long " * 60 + "\n")
            expect(desk.page.get_by_role("region", name="What changes")).to_be_visible()
        assert desk.page.evaluate("document.documentElement.scrollWidth") == 390
