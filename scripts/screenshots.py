"""Make the pictures of docs/images from the demo as it starts: `.venv/bin/python scripts/screenshots.py`.

The last is of the demo's team run, which is begun for it, where it waits for a person.

Needs what `make test` needs for its browser tests. Leaves nothing behind but the pictures.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from gemba.demo.developer import load_team_work

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# Three cards, and small enough for a README.
SIZE = {"width": 1280, "height": 1004}
LOW = {"width": 1280, "height": 720}
TEAM = {"width": 1280, "height": 840}
SCALE = 1.75


def main() -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    IMAGES.mkdir(parents=True, exist_ok=True)
    with demo() as told, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        for theme in THEMES:
            ending = "-dark.png" if theme == "dark" else ".png"
            with opened(browser, told["address"], theme) as page:
                picture(page, IMAGES / f"inbox{ending}")
                page.set_viewport_size(LOW)
                page.get_by_role("link", name="Board").first.click()
                expect(page.locator(".item-card").first).to_be_visible()
                picture(page, IMAGES / f"board{ending}")
                recommend(page)
                picture(page, IMAGES / f"coach{ending}")
        run_team(told)
        for theme in THEMES:
            ending = "-dark.png" if theme == "dark" else ".png"
            with opened(browser, told["address"], theme) as page:
                page.get_by_role("link", name="Floor").first.click()
                expect(page.get_by_role("region", name="Team runs")).to_be_visible()
                picture(page, IMAGES / f"floor{ending}")
                page.set_viewport_size(TEAM)
                page.get_by_role("link", name="Teams").first.click()
                page.get_by_role("link", name="Investigate how prices").first.click()
                expect(page.get_by_text("Decide", exact=True).first).to_be_visible()
                picture(page, IMAGES / f"team{ending}")
        browser.close()


def run_team(told: dict[str, str]) -> None:
    """The demo's team run, until only a person could let it go on."""
    gemba = [str(Path(sys.executable).with_name("gemba")), "-C", told["workspace"], "team"]
    env = {**os.environ, "GEMBA_HOME": told["home"]}
    subprocess.run([*gemba, "start", "--agent", "builtin", load_team_work().text], env=env, check=True)
    subprocess.run([*gemba, "watch", "--unattended"], env=env, check=False)  # ends with 1, since somebody is asked


def recommend(page: Page) -> None:
    """An order of the epics, asked for and answered, with nothing of it applied."""
    page.get_by_role("link", name="Coach").first.click()
    page.get_by_role("button", name="Recommend order…").click()
    page.get_by_role("button", name="Recommend an order of").click()
    expect(page.get_by_role("button", name="Apply all")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("Running", exact=True)).to_have_count(0)
    page.evaluate("window.scrollTo(0, 0)")


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
def opened(browser: Browser, address: str, theme: Literal["light", "dark"]) -> Iterator[Page]:
    with browser.new_context(
        viewport=SIZE,  # type: ignore[arg-type]
        device_scale_factor=SCALE,
        color_scheme=theme,
        reduced_motion="reduce",
        locale="en-GB",
    ) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator(".connection")).to_contain_text("Live")
        page.get_by_role("link", name="Inbox").first.click()
        expect(page.locator(".card").first).to_be_visible()
        page.evaluate("document.fonts.ready")
        yield page


def picture(page: Page, file: Path) -> None:
    page.screenshot(path=file)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
