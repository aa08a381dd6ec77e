"""A real Chromium, through Playwright: one a worker while it runs this folder's tests, a new profile for each test.

Playwright's synchronous interface keeps an event loop running in the thread that uses it, and a coroutine test cannot
start another beside it. So the browser lives no longer than this folder's tests, which use no coroutines of their own.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web/node_modules/axe-core/axe.min.js"

_ARGUMENTS = [
    "--disable-gpu",
    # Nothing but the server under test is to be reached, and nothing else is to be tried.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's Chromium; without one, the browser that Playwright was told to install."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a profile of its own; an exception that the page does not catch fails the test."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
    assert not errors, f"uncaught in the page: {errors}"


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """What axe-core finds critical or serious on a page as it is now: one line each, none when all is well."""
    return _serious_violations


def _serious_violations(page: Page) -> list[str]:
    # Through the debugger: the page's content security policy, which refuses foreign script, stays in force.
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": AXE.read_text()})
    answer = session.send(
        "Runtime.evaluate", {"expression": "axe.run(document)", "awaitPromise": True, "returnByValue": True}
    )
    session.detach()
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['html']}"
        for violation in answer["result"]["value"]["violations"]
        if violation["impact"] in ("critical", "serious")
        for node in violation["nodes"]
    ]
