"""A hundred mixed things that wait, cleared on a walk by keyboard: the machine's time in all, and the keys a decision.

A real Chromium shows the page of a real server on loopback. A script presses the key for `ratify` as soon as the next
item stands on the table with what is proposed for it, until nothing is left: asks with options, with a schema and in
words, clients' dialogs, commands to be approved, new work. In the end the server is asked whether each was decided.
Exits 1 past a limit. Run as `python -m benchmarks.walk_keys [ITEMS]`.
"""

from __future__ import annotations

import shutil
import sys
import time

from playwright.sync_api import Page, sync_playwright

from benchmarks._floor import any_round, running_server
from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_walk import begin
from tests.fixtures.servers import RunningServer

ITEMS = 100
LIMIT_SECONDS = 10.0
MOST_KEYS = 2

_ARGUMENTS = ["--disable-gpu", "--no-sandbox"]
_ASK = {"kind": "blocker", "role": "manager", "mode": "balanced"}
# What is on the table, once something is proposed for it, or that nothing is.
_STANDS = """(before) => {
  const title = document.querySelector(".walk-table h2")?.textContent ?? "";
  const proposed = document.querySelector(".walk-table [role=radio], .walk-table input[type=radio]") !== null;
  return proposed && title !== before ? title : document.querySelector(".walk-table") === null && "";
}"""


def main(many: int) -> int:
    print(f"{'items':>6}{'keys each':>11}{'took':>9}{'limit':>8}{'each':>9}  verdict")
    return 0 if any_round(lambda _: _round(many)) else 1


def _round(many: int) -> bool:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with running_server("SQLite") as server, sync_playwright() as playwright:
        _fill(server, many)
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        desk = Desk(browser.new_page(), server)
        desk.open("/inbox")
        walk = begin(desk)
        began = time.monotonic()
        pressed = _press_through(desk.page, many)
        took = time.monotonic() - began
        retry_until(lambda: _is_decided(server, walk, many), timeout=30)
        browser.close()
    within = took < LIMIT_SECONDS and pressed <= MOST_KEYS * many
    each, keys = f"{took / many * 1_000:.0f} ms", f"{pressed / many:.2f}"
    verdict = "within" if within else "PAST IT"
    print(f"{many:>6}{keys:>11}{took:>7.1f} s{LIMIT_SECONDS:>6.0f} s{each:>9}  {verdict}", flush=True)
    return within


def _fill(server: RunningServer, many: int) -> None:
    for number in range(many):
        text, session = f"Which way at number {number}?", f"agent-{number}"
        match number % 6:
            case 0:
                server.append("GembaAsk", {**_ASK, "text": text, "options": ["left", "right"]}, session)
            case 1:
                server.append("GembaAsk", {**_ASK, "text": text}, session)
            case 2:
                server.append("GembaAsk", {**_ASK, "text": text, "schema": {"type": "boolean"}}, session)
            case 3:
                command = {"tool_name": "Bash", "tool_input": {"command": f"make {number}"}}
                server.append("PermissionRequest", command, session)
            case 4:
                wanted = {"command": f"make {number}", "cwd": "/srv", "tool": "Bash", "requester": session}
                server.post("/api/approvals", {**wanted, "session_id": session})
            case _:
                server.request("POST", "/api/work-items", {"item": {"title": text}})
    waiting = sum(number % 6 != 5 for number in range(many))
    retry_until(lambda: server.get("/api/escalations?state=unresolved")["total"] == waiting, timeout=60)


def _press_through(page: Page, many: int) -> int:
    pressed, before = 0, ""
    while pressed <= MOST_KEYS * many:
        before = page.wait_for_function(_STANDS, arg=before, timeout=30_000, polling="raf").json_value() or ""
        if not before:
            break
        page.keyboard.press("r")
        pressed += 1
        if pressed == many:
            break
    return pressed


def _is_decided(server: RunningServer, walk: str, many: int) -> bool:
    return bool(server.get(f"/api/walks/{walk}")["totals"]["decided"] == many)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS))
