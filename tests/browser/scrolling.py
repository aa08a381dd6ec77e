"""How smoothly a long list scrolls in the browser, beside a bare one of the same length on the same page."""

from itertools import pairwise
from typing import NamedTuple

from playwright.sync_api import CDPSession, Page

FRAMES = 240
PIXELS = 130  # a frame: nearly 8,000 a second, faster than anybody reads
MOST_WORK = 5.0  # times that of a bare list, which leaves most of a frame free

# Scrolls a box frame by frame; tells when each frame came, and how many tasks held up the page meanwhile.
_SCROLL = """
async ([selector, frames, pixels]) => {
  const box = document.querySelector(selector);
  box.scrollTop = 0;
  await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  let held = 0;
  const observer = new PerformanceObserver(list => { held += list.getEntries().length; });
  observer.observe({ type: "longtask" });
  const came = [];
  await new Promise(resolve => {
    const step = now => {
      came.push(now);
      box.scrollTop += pixels;
      if (came.length > frames) resolve();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  await new Promise(resolve => setTimeout(resolve));
  observer.disconnect();
  return { came, held, scrolled: box.scrollTop };
}
"""
_BARE = """
many => {
  const box = document.createElement("div");
  box.id = "bare-list";
  box.style.cssText = "position: fixed; inset: 0 auto 0 0; width: 240px; overflow-y: auto; background: Canvas";
  for (let row = 0; row < many; row++) {
    const line = box.appendChild(document.createElement("div"));
    line.style.height = "136px";
    line.textContent = `Item ${row} of a plan that has very many of them`;
  }
  document.body.append(box);
}
"""


class Scrolled(NamedTuple):
    dropped: int  # frames that did not come when it was their time
    held: int  # tasks that held up the page for more than 50 ms
    pixels: int
    busy: float  # milliseconds of processor time that the page's thread took for a frame


def scroll(page: Page, selector: str) -> Scrolled:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _processor_seconds(session)
    found = page.evaluate(_SCROLL, [selector, FRAMES, PIXELS])
    busy = (_processor_seconds(session) - before) * 1_000 / FRAMES
    session.detach()
    came: list[float] = found["came"]
    steps = [later - earlier for earlier, later in pairwise(came)]
    frame = sorted(steps)[len(steps) // 4]  # what one takes where nothing is late
    dropped = sum(max(0, round(step / frame) - 1) for step in steps)
    return Scrolled(dropped, found["held"], found["scrolled"], busy)


def scroll_bare(page: Page, many: int) -> Scrolled:
    """A list without anything, drawn whole by the browser."""
    page.evaluate(_BARE, many)
    found = scroll(page, "#bare-list")
    page.evaluate("document.querySelector('#bare-list').remove()")
    return found


def _processor_seconds(session: CDPSession) -> float:
    """What the page's thread has worked so far, whatever else the machine does."""
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])
