"""How quick the page is and stays: its first load, and what it takes from a key to the next paint with 5,000 items,
200 sessions and 50 events a second arriving; and whether the tab's memory stays as it is meanwhile.

A real Chromium shows the page of a real server on loopback. The first load is from an empty cache to what can be read,
the best of three; its script is counted as it is sent, compressed. An interaction is a key pressed on one of several
screens, timed by the browser's own account of events. Memory is what is left after a collection, every half minute.
Exits 1 past a limit. Run as `python -m benchmarks.page_life [MINUTES]`; the long form has 30.
"""

from __future__ import annotations

import gzip
import shutil
import statistics
import sys
import threading
import time
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks._floor import running_server
from tests.browser.desk import Desk
from tests.browser.work import fill
from tests.fixtures.servers import RunningServer

ITEMS, SESSIONS, EVENTS_A_SECOND = 5_000, 200, 50
MINUTES = 2
LOADS = 3
LOAD_LIMIT_MS = 1_000
SCRIPT_LIMIT_KB = 200
PAINT_LIMIT_MS = 100
MOST_GROWTH = 1.25  # of the last third of the samples over the first
SCREENS = ("/board", "/sessions", "/inbox", "/coach", "/answered")
KEYS = ("j", "j", "k", "j", "?", "Escape")

_ARGUMENTS = ["--disable-gpu", "--no-sandbox", "--enable-precise-memory-info"]
_SAMPLE_SECONDS = 30.0
_OBSERVE = """
window.__durations = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (entry.name === "keydown") window.__durations.push(entry.duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true });
"""


def main(minutes: float) -> int:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with running_server("SQLite") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        loads, script = zip(*(_first_load(browser, server) for _ in range(LOADS)), strict=True)
        fill(server, ITEMS)
        _fill_sessions(server)
        with _Arriving(server):
            pressed, durations, memory = _live(browser, server, minutes)
        browser.close()
    slow = sorted(durations)
    # What took less than a frame is not told by the browser.
    p95 = 0.0 if len(slow) < pressed / 20 else slow[-max(1, pressed // 20)]
    third = max(1, len(memory) // 3)
    growth = statistics.mean(memory[-third:]) / statistics.mean(memory[:third])
    rows = (
        ("first load", f"{min(loads):,.0f} ms", f"{LOAD_LIMIT_MS:,} ms", min(loads) < LOAD_LIMIT_MS),
        ("script, compressed", f"{max(script):,.0f} kB", f"{SCRIPT_LIMIT_KB} kB", max(script) < SCRIPT_LIMIT_KB),
        (f"key to paint, p95 of {pressed:,}", f"{p95:,.0f} ms", f"{PAINT_LIMIT_MS} ms", p95 < PAINT_LIMIT_MS),
        (f"memory, {minutes:g} min", f"{memory[-1]:,.1f} MB, {growth:.2f}x", f"{MOST_GROWTH}x", growth < MOST_GROWTH),
    )
    print(f"{'':<32}{'measured':>18}{'limit':>12}  verdict")
    for name, found, limit, within in rows:
        print(f"{name:<32}{found:>18}{limit:>12}  {'within' if within else 'PAST IT'}")
    return 0 if all(within for *_, within in rows) else 1


def _first_load(browser: Browser, server: RunningServer) -> tuple[float, float]:
    """Milliseconds until something can be read, and kilobytes of script."""
    context = browser.new_context()
    page = context.new_page()
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(_compressed(answer)) if answer.url.endswith(".js") else None)
    began = time.monotonic()
    Desk(page, server).open("/")
    page.get_by_role("heading", level=1).wait_for()
    took = (time.monotonic() - began) * 1_000
    context.close()
    return took, sum(sizes) / 1_000


def _compressed(answer: Any) -> int:
    return len(gzip.compress(answer.body(), 6))


def _fill_sessions(server: RunningServer) -> None:
    for number in range(SESSIONS):
        server.append("SessionStart", {"source": "startup"}, f"session-{number}")


class _Arriving:
    """Events that keep coming: asks and states of the sessions, as many a second."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        number = 0
        while not self._over.wait(1 / EVENTS_A_SECOND):
            session = f"session-{number % SESSIONS}"
            if number % 50 == 0:
                ask = {
                    "kind": "question",
                    "role": "manager",
                    "mode": "balanced",
                    "text": f"Shall I go on with {number}?",
                }
                self._server.append("GembaAsk", ask, session)
            else:
                self._server.append("GembaState", {"state": "working", "note": f"step {number}"}, session)
            number += 1


def _live(browser: Browser, server: RunningServer, minutes: float) -> tuple[int, list[float], list[float]]:
    page = browser.new_page()
    desk = Desk(page, server)
    page.add_init_script(_OBSERVE)
    desk.open("/")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    pressed, memory, end, sample = 0, [], time.monotonic() + minutes * 60, 0.0
    while time.monotonic() < end:
        for screen in SCREENS:
            pressed += _use(page, screen)
        if time.monotonic() >= sample:
            memory.append(_memory(devtools))
            sample = time.monotonic() + min(_SAMPLE_SECONDS, minutes * 60 / 6)
    durations: list[float] = page.evaluate("window.__durations")
    return pressed, durations, memory


def _use(page: Page, screen: str) -> int:
    page.evaluate(
        "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }", screen
    )
    page.get_by_role("heading", level=1).wait_for()
    for key in KEYS:
        page.keyboard.press(key)
    return len(KEYS)


def _memory(devtools: CDPSession) -> float:
    devtools.send("HeapProfiler.collectGarbage")
    found = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    return float(found["JSHeapUsedSize"]) / 1e6


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES))
