"""A real Chromium, through Playwright: one a worker while it runs this folder's tests, a new profile for each page.

Playwright's synchronous interface keeps an event loop running in the thread that uses it, and a coroutine test cannot
start another beside it. So the browser lives no longer than this folder's tests, which use no coroutines of their own.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer

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
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Pages in profiles of their own, with the given settings; what a page throws and does not catch fails the test."""
    errors: list[str] = []
    with ExitStack() as profiles:

        def new(**settings: Any) -> Page:
            page = profiles.enter_context(browser.new_context(**settings)).new_page()
            page.set_default_timeout(10_000)
            page.on("pageerror", lambda error: errors.append(str(error)))
            return page

        yield new
    assert not errors, f"uncaught in the page: {errors}"


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page in a profile of its own."""
    return new_page()


@pytest.fixture
def open_desk(new_page: Callable[..., Page]) -> Iterator[Callable[..., Desk]]:
    """Opens a server's page as its operator does, in a profile with the given settings; `Desk` says what is watched.

    Answers go out at once, as an operator can have it, unless `undo` says for how many seconds they can be taken back.
    """
    opened: list[Desk] = []

    def open_(server: RunningServer, *, undo: int = 0, operator: str | None = None, **settings: Any) -> Desk:
        page = new_page(**settings)
        # The browser's own page, where nothing could be loaded, has no storage.
        page.add_init_script(f"try {{ localStorage.setItem('gemba.undo-seconds', '{undo}') }} catch {{}}")
        desk = Desk(page, server, operator)
        opened.append(desk)
        desk.open()
        return desk

    yield open_
    for desk in opened:
        assert desk.foreign_requests() == []
        assert desk.refused_by_policy == []


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    """The page of a fresh workspace, signed in and live."""
    return open_desk(sqlite_server)


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
