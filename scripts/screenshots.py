"""Make the screenshots of docs/images from the demo as it starts: `make pictures`. With words, only those so called.

Each screen is a row of SCREENS: how to get there, and what has to be on it before it is taken. Those of RUNNING have
the demo's team run, which is begun for them, where it waits for a person.

Needs what `make test` needs for its browser tests. Leaves nothing behind but the pictures.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

from gemba.demo.developer import load_team_work

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SCALE = 1.75


class Screen(NamedTuple):
    """A picture's name, its size (by its height, three cards for a README), and the way to it from the inbox."""

    name: str
    height: int
    go: Callable[[Page], None]
    width: int = 1280


def main(*wanted: str) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    IMAGES.mkdir(parents=True, exist_ok=True)
    with demo() as told, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        alone, beside = ([one for one in screens if not wanted or one.name in wanted] for screens in (SCREENS, RUNNING))
        take(browser, told["address"], alone)
        if beside:
            run_team(told)
            take(browser, told["address"], beside)
        browser.close()


def take(browser: Browser, address: str, screens: Iterable[Screen]) -> None:
    for screen in screens:
        for theme in THEMES:
            with opened(browser, address, theme, screen) as page:
                screen.go(page)
                picture(page, IMAGES / f"{screen.name}{'-dark' if theme == 'dark' else ''}.png")


def stay(page: Page) -> None:
    """The inbox, where one is."""


def to(link: str, seen: str) -> Callable[[Page], None]:
    """A screen of the navigation, once something is on it."""

    def go(page: Page) -> None:
        page.get_by_role("link", name=link).first.click()
        expect(page.locator(seen).first).to_be_visible()

    return go


def to_approval(page: Page) -> None:
    """The card that asks for the approval of a command, at the top."""
    card = page.locator(".card").filter(has=page.get_by_role("button", name="Approve")).first
    card.evaluate("card => window.scrollTo(0, card.getBoundingClientRect().top + window.scrollY - 90)")


def to_floor(page: Page) -> None:
    page.get_by_role("link", name="Floor").first.click()
    expect(page.get_by_role("region", name="Team runs")).to_be_visible()


def to_walk(page: Page) -> None:
    """A walk, begun by the first who comes, with the first question on the table."""
    page.get_by_role("link", name="Walk", exact=True).first.click()
    start = page.get_by_role("button", name="Start the walk")
    ratify = page.get_by_role("button", name="Ratify")
    expect(start.or_(ratify)).to_be_visible()
    if start.is_visible():
        start.click()
    expect(ratify).to_be_visible()
    page.evaluate("document.activeElement.blur()")


def to_run(page: Page) -> None:
    page.get_by_role("link", name="Teams").first.click()
    page.get_by_role("link", name="Investigate how prices").first.click()
    expect(page.get_by_text("Decide", exact=True).first).to_be_visible()


def recommend(page: Page) -> None:
    """An order of the epics, asked for and answered, with nothing of it applied."""
    page.get_by_role("link", name="Coach").first.click()
    page.get_by_role("button", name="Recommend order…").click()
    page.get_by_role("button", name="Recommend an order of").click()
    expect(page.get_by_role("button", name="Apply all")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("Running", exact=True)).to_have_count(0)
    page.evaluate("window.scrollTo(0, 0)")


SCREENS = (
    Screen("inbox", 1004, stay),
    Screen("phone", 844, stay, width=390),
    Screen("approval", 640, to_approval),
    Screen("sessions", 720, to("Sessions", ".session-card")),
    Screen("personas", 720, to("Personas", ".card.persona")),
    Screen("board", 720, to("Board", ".item-card")),
    Screen("coach", 720, recommend),
)
# With the demo's team run, where it waits for a person.
RUNNING = (
    Screen("floor", 1070, to_floor),
    Screen("team", 840, to_run),
    Screen("walk", 760, to_walk),
)


def run_team(told: dict[str, str]) -> None:
    """The demo's team run, until only a person could let it go on."""
    gemba = [str(Path(sys.executable).with_name("gemba")), "-C", told["workspace"], "team"]
    env = {**os.environ, "GEMBA_HOME": told["home"]}
    subprocess.run([*gemba, "start", "--agent", "builtin", load_team_work().text], env=env, check=True)
    subprocess.run([*gemba, "watch", "--unattended"], env=env, check=False)  # ends with 1, since somebody is asked


@contextmanager
def demo() -> Iterator[dict[str, str]]:
    """Where a demo is in which nobody acts, so that every run shows the same."""
    command = [str(Path(sys.executable).with_name("gemba")), "demo", "--port", "0", "--no-agents", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(next(iter(process.stdout or ())))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


@contextmanager
def opened(browser: Browser, address: str, theme: Literal["light", "dark"], screen: Screen) -> Iterator[Page]:
    with browser.new_context(
        viewport={"width": screen.width, "height": screen.height},
        device_scale_factor=SCALE,
        color_scheme=theme,
        is_mobile=screen.width < 500,
        has_touch=screen.width < 500,
        reduced_motion="reduce",
        locale="en-GB",
    ) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator(".connection")).to_contain_text("Live")
        expect(page.locator(".brand-place")).to_be_visible()
        page.keyboard.press("g")  # to the inbox by its keys: they work at any width, wherever the page opens
        page.keyboard.press("i")
        page.evaluate("document.activeElement.blur()")  # or the heading would have a ring
        expect(page.locator(".card").first).to_be_visible()
        page.evaluate("document.fonts.ready")
        yield page


def picture(page: Page, file: Path) -> None:
    page.screenshot(path=file)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
