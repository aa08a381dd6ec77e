"""What the built-in advisor's order is worth, and what it costs: against the order of priorities, and a random one.

Projects are generated from seeds: epics with dependencies, sizes, paths, priorities that know nothing of these, and
escalations that hold some of them. Each order is worked through by the same floor: workers take the first epic of the
order that can begin, an operator answers escalations one after the other in the order of their epics. Two figures are
judged: how long epics stood blocked before they were free to begin, and how often two epics with a common path ran at
the same time. The advisor beats an order on a project when it is better in one figure and no worse in the other, or
when its two ratios multiply to less than 1.

The weights of the advisor were chosen on other seeds than those that are judged. With more workers than it imagines
an order decides less, and it wins less often: that is shown, and has no limit.

Then 10,000 epics with 30,000 dependencies are ranked, and half as many. Exits 1 past a limit. Run as
`python -m benchmarks.advisor [PROJECTS]`.
"""

from __future__ import annotations

import math
import random
import sys
import time
from heapq import heappop, heappush
from typing import Any, NamedTuple

import msgspec

from benchmarks._floor import any_round
from gemba.paths import share
from gemba.skills.advisor.advise import advise
from gemba.skills.consult.order_input import EpicOrderInput
from gemba.skills.consult.order_lines import OrderLine, OrderRecommendation
from gemba.skills.consult.order_rules import judge_order
from gemba.skills.consult.reading import read_input

PROJECTS = 200
FIRST = 1_000  # seed; the advisor's weights were chosen on those below 100
WORKERS = 4
OTHER_WORKERS = (2, 6, 8)  # shown, not judged: the advisor imagines five
LEAST_BEATEN = 0.9
SLOWEST = 2.0  # seconds
MOST_GROWTH = 2.6  # times, for twice the epics
ROUNDS = 3
_ANSWER = 2_000  # tokens of a worker's time that an answer takes


class Floor(NamedTuple):
    """How it went: time that epics stood blocked, pairs with a common path that ran at once, when all was done."""

    blocked: float
    conflicts: int
    makespan: float


def project(seed: int, size: int = 60, edges: int = 100, files: int = 60) -> dict[str, Any]:
    draw = random.Random(seed)
    epics: list[dict[str, Any]] = []
    for number in range(size):
        before = {
            f"e{draw.randrange(max(0, number - size // 2), number)}" for _ in range(min(number, edges // size + 1))
        }
        kept = [each for each in sorted(before) if draw.random() < edges / size / (edges // size + 1)]
        area = draw.randrange(max(1, files // 6))
        paths = [f"src/area{area}/part{draw.randrange(6)}.py" for _ in range(draw.randint(1, 3))]
        if draw.random() < 0.1:
            paths.append(f"src/area{draw.randrange(max(1, files // 6))}/**")
        epics.append(
            {
                "epic_id": f"e{number}",
                "title": f"Epic {number}",
                "ui_state": "unstarted",
                "current_rank": draw.randrange(5),
                "depends_on_epics": kept,
                "estimated_tokens": int(draw.lognormvariate(9, 0.8)) + 500,
                "file_space_signature": paths,
            }
        )
    held = draw.sample(range(size), max(1, size // 12))
    waiting = [{"id": f"q{number}", "kind": "question", "blocked_epic": f"e{number}"} for number in held]
    draw.shuffle(epics)
    return {"workspace": "w", "as_of": "2026-05-04T09:00:00Z", "candidate_epics": epics, "open_escalations": waiting}


def work(given: EpicOrderInput, order: list[str], workers: int = WORKERS) -> Floor:
    """Work an order through, with workers that look at nothing but the order and what is done."""
    epics = {epic.epic_id: epic for epic in given.candidate_epics}
    place = {id: number for number, id in enumerate(order)}
    missing = {id: set(epics[id].depends_on_epics or ()) for id in order}
    held = sorted({str(each.blocked_epic) for each in given.open_escalations or ()}, key=place.__getitem__)
    answers = {id: _ANSWER * number for number, id in enumerate(held, 1)}
    after: dict[str, list[str]] = {}
    for id, before in missing.items():
        for each in before:
            after.setdefault(each, []).append(id)
    free = [(place[id], id) for id in order if not missing[id] and id not in answers]
    free.sort()
    happens = [(float(moment), "answer", id) for id, moment in answers.items()]
    happens.sort()
    running: set[str] = set()
    blocked, conflicts, now = 0.0, 0, 0.0
    while True:
        while free and len(running) < workers:
            _, id = heappop(free)
            conflicts += sum(share(_paths(epics, id), _paths(epics, other)) for other in running)
            running.add(id)
            heappush(happens, (now + epics[id].tokens, "done", id))
        if not happens:
            return Floor(blocked, conflicts, now)
        now, what, id = heappop(happens)
        if what == "answer":
            answers.pop(id)
            if not missing[id]:
                blocked += now
                heappush(free, (place[id], id))
            continue
        running.discard(id)
        for each in after.get(id, ()):
            missing[each].discard(id)
            if not missing[each] and each not in answers:
                blocked += now
                heappush(free, (place[each], each))


def _paths(epics: dict[str, Any], id: str) -> list[str]:
    return epics[id].file_space_signature or []


def orders(given: EpicOrderInput, seed: int) -> dict[str, list[str]]:
    advised = [line.epic_id for line in advise(given) if isinstance(line, OrderRecommendation)]
    assert len(advised) == len(given.candidate_epics)
    drawn = [epic.epic_id for epic in given.candidate_epics]
    random.Random(-seed).shuffle(drawn)
    by_priority = sorted(given.candidate_epics, key=lambda epic: epic.current_rank or 0)
    return {"advisor": advised, "priority": [epic.epic_id for epic in by_priority], "random": drawn}


def beats(one: Floor, other: Floor) -> bool:
    sooner, calmer = one.blocked / max(other.blocked, 1), (one.conflicts + 1) / (other.conflicts + 1)
    if sooner <= 1 and calmer <= 1:
        return sooner < 1 or calmer < 1
    return sooner * calmer < 1


def compare(projects: int) -> bool:
    names = ("advisor", "priority", "random")
    results: dict[str, list[Floor]] = {name: [] for name in names}
    for seed in range(FIRST, FIRST + projects):
        given = read_input(project(seed), EpicOrderInput)
        for name, order in orders(given, seed).items():
            results[name].append(work(given, order))
    print(f"{projects} projects of 60 epics, {WORKERS} workers; medians of the ratios to the order of priorities")
    print(f"{'order':<12}{'blocked':>10}{'conflicts':>12}{'makespan':>11}{'beaten by the advisor':>25}")
    shares = {}
    for name in names:
        pairs = list(zip(results[name], results["priority"], strict=True))
        ratios = [
            _middle([own.blocked / max(1, other.blocked) for own, other in pairs]),
            _middle([(own.conflicts + 1) / (other.conflicts + 1) for own, other in pairs]),
            _middle([own.makespan / other.makespan for own, other in pairs]),
        ]
        won = sum(beats(own, other) for own, other in zip(results["advisor"], results[name], strict=True))
        shares[name] = won / projects
        told = f"{100 * shares[name]:>23.0f} %" if name != "advisor" else ""
        print(f"{name:<12}{ratios[0]:>10.2f}{ratios[1]:>12.2f}{ratios[2]:>11.2f}{told}")
    is_better = min(shares["priority"], shares["random"]) >= LEAST_BEATEN
    print(f"limit: {100 * LEAST_BEATEN:.0f} %  {'within' if is_better else 'TOO FEW'}")
    return is_better


def show_other_floors(projects: int) -> None:
    for workers in OTHER_WORKERS:
        won = 0
        for seed in range(FIRST, FIRST + projects):
            given = read_input(project(seed), EpicOrderInput)
            each = orders(given, seed)
            won += beats(work(given, each["advisor"], workers), work(given, each["priority"], workers))
        print(f"with {workers} workers the advisor beats priority on {100 * won / projects:.0f} %; no limit")


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def is_quick_enough() -> bool:
    """A large project and half of it, the best of a few rounds in processor time; every line is judged beside it."""
    seconds = {}
    for size in (5_000, 10_000):
        given = read_input(project(1, size, 3 * size, size), EpicOrderInput)
        best, lines = math.inf, list[OrderLine]()
        for _ in range(ROUNDS):
            begun = time.process_time()
            lines = advise(given)
            best = min(best, time.process_time() - begun)
        seconds[size] = best
        judge = judge_order(given)
        judge.receive_all(msgspec.to_builtins(line) for line in lines)
        assert not judge.line_errors
        assert judge.finish() == []
    growth = seconds[10_000] / seconds[5_000]
    is_within = seconds[10_000] <= SLOWEST and growth <= MOST_GROWTH
    verdict = "within" if is_within else "TOO SLOW"
    print(
        f"10,000 epics: {seconds[10_000]:.2f} s, {growth:.2f} times 5,000; limits {SLOWEST} s, {MOST_GROWTH}  {verdict}"
    )
    return is_within


def main(projects: int) -> int:
    is_better = compare(projects)
    show_other_floors(projects)
    verdicts = [is_better, any_round(lambda _: is_quick_enough())]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else PROJECTS))
