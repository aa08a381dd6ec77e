"""The demo's guide: what one is looking at, ticked off as one does it, and put away for good."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.desk import Desk
from tests.fixtures.servers import BIN

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@contextmanager
def running_demo(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A demo whose agents take their time, and its address."""
    command = [str(BIN / "gemba"), "demo", "--json", "--port", "0", "--pace", "0.2"]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[str]:
    with running_demo(tmp_path) as (_, address):
        yield address


def guide_of(page: Page) -> Locator:
    return page.get_by_role("complementary", name="What you are looking at")


def folded_of(page: Page) -> Locator:
    return page.get_by_role("banner").get_by_role("button", name="What you are looking at")


def card(page: Page, words: str) -> Locator:
    return page.locator(".card[data-escalation-id]").filter(has_text=words).first


def test_the_guide_ticks_off_what_is_done_and_can_be_put_away(
    demo: str, new_page: Callable[..., Page], axe: Callable[[Page], list[str]]
) -> None:
    page = new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.add_init_script("localStorage.setItem('gemba.undo-seconds', '0')")
    page.goto(demo)
    guide = guide_of(page)
    expect(guide).to_contain_text("0 of 4 done")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert axe(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})

    page.get_by_role("navigation").get_by_role("link", name="Inbox").click()
    card(page, "May a refund make").get_by_role("button", name="Yes, it is a credit").click()
    expect(guide.get_by_role("listitem").filter(has_text="Answer a question")).to_contain_text("(done)")
    page.locator(".card[data-escalation-id]").get_by_role("button", name="Approve", exact=True).first.click()
    expect(guide.get_by_role("listitem").filter(has_text="Approve a command")).to_contain_text("(done)")
    guide.get_by_role("link", name="Rank the work").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Coach")
    # Away from where one begins it is a button in the frame, and the screen has its room.
    expect(guide).to_have_count(0)
    expect(folded_of(page)).to_contain_text("2 of 4 done")
    page.get_by_role("button", name="Recommend order…").click()
    page.get_by_role("button", name="Recommend an order of").click()
    expect(folded_of(page)).to_contain_text("3 of 4 done")
    folded_of(page).press("Enter")
    guide.get_by_role("link", name="Watch the team finish").click()
    expect(page).to_have_url(re.compile("/teams/."))

    page.reload()
    folded = folded_of(page)
    expect(folded).to_contain_text("3 of 4 done")
    folded.press("Enter")
    expect(guide.get_by_role("listitem")).to_have_count(4)
    expect(guide.get_by_role("button", name="What you are looking at")).to_be_focused()
    page.keyboard.press("Enter")
    expect(folded).to_be_focused()
    folded.press("Enter")
    guide.get_by_role("button", name="Put the guide away").press("Enter")
    expect(guide).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".connection")).to_have_text("Connection: Live")
    expect(guide).to_have_count(0)
    expect(folded).to_have_count(0)


def test_the_board_keeps_its_width_beside_the_guide_folded_or_not(demo: str, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.goto(demo.replace("/#", "/board#"))
    lanes = page.locator(".lanes")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        room = page.locator("main").evaluate("node => node.clientWidth")
        for _fold in range(2):
            expect(lanes).to_be_visible()
            found = lanes.evaluate("node => node.getBoundingClientRect().width")
            assert found > room - 60, (width, found, room)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            page.get_by_role("button", name="What you are looking at").click()


def test_a_demo_that_has_ended_does_not_promise_that_it_goes_on(tmp_path: Path, new_page: Callable[..., Page]) -> None:
    with running_demo(tmp_path) as (process, address):
        page = new_page()
        page.goto(address)
        expect(page.locator(".connection")).to_have_text("Connection: Live")
        expect(guide_of(page)).to_be_visible()
        process.terminate()
        expect(page.get_by_role("alert")).to_contain_text("all that it had made is gone", timeout=30_000)
        expect(page.get_by_role("alert")).not_to_contain_text("gemba serve")


def test_there_is_no_guide_elsewhere(desk: Desk) -> None:
    expect(desk.page.locator(".brand-place")).to_have_text(desk.server.workspace.name)
    expect(guide_of(desk.page)).to_have_count(0)
