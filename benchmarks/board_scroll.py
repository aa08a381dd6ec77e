"""How smoothly the board scrolls with 5,000 items, beside a bare list of as many lines in the same browser.

A real Chromium shows the page of a real server. A column and a list without anything are scrolled in turn, frame by
frame; the frames that did not come in time are counted, and the processor time that the page took for each. Exits 1
when in its best round the board drops more than the bare list did and 2 of 100 frames beyond, or works more than 5
times as much. Run as `python -m benchmarks.board_scroll [ROUNDS]`.
"""

from __future__ import annotations

import shutil
import sys

from playwright.sync_api import sync_playwright

from benchmarks._floor import running_server
from tests.browser.desk import Desk
from tests.browser.scrolling import FRAMES, MOST_WORK, Scrolled, scroll, scroll_bare
from tests.browser.work import fill, lane

ITEMS = 5_000
ROUNDS = 5
MOST_MORE = FRAMES // 50

_ARGUMENTS = ["--disable-gpu", "--no-sandbox"]


def main(rounds: int) -> int:
    print(f"{ITEMS:,} items in one column; {FRAMES} frames a round; the best of {rounds} rounds counts")
    print(f"{'round':<8}{'bare dropped':>14}{'board dropped':>15}{'bare ms':>9}{'board ms':>10}{'ratio':>8}")
    found = measured(rounds)
    for number, (bare, board) in enumerate(found, 1):
        work = f"{bare.busy:>9.1f}{board.busy:>10.1f}{board.busy / bare.busy:>7.1f}x"
        print(f"{number:<8}{bare.dropped:>14}{board.dropped:>15}{work}")
    more = min(board.dropped - bare.dropped for bare, board in found)
    verdict = "within" if more <= MOST_MORE else "TOO MANY"
    print(f"frames that the board dropped beyond the bare list: {more}; limit {MOST_MORE}: {verdict}")
    ratio = min(board.busy / bare.busy for bare, board in found)
    print(f"work for a frame: {ratio:.1f}x; limit {MOST_WORK}x: {'within' if ratio <= MOST_WORK else 'TOO MUCH'}")
    return 0 if more <= MOST_MORE and ratio <= MOST_WORK else 1


def measured(rounds: int) -> list[tuple[Scrolled, Scrolled]]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with running_server("SQLite") as server, sync_playwright() as playwright:
        fill(server, ITEMS)
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        desk = Desk(browser.new_page(), server)
        desk.open("/board")
        lane(desk, "unstarted").locator(".item-card").first.wait_for()
        column = ".lane[data-state='unstarted'] .lane-cards"
        found = [(scroll_bare(desk.page, ITEMS), scroll(desk.page, column)) for _ in range(rounds)]
        browser.close()
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
