"""What an import costs: 10,000 issues of the bd tracker, from the lines of a file to the last commit, and once more.

Lines are read, put into order and brought in pieces through the verb behind the API, on both kinds of database. The
first import has to make more than 5,000 items a second; the second, which finds nothing new, has to be no slower. What
was made is counted, and the export has to be as long as the file. A round past its limit is measured again on an empty
database, at most twice.

Exits 1 below a limit. Run as `python -m benchmarks.work_import [ISSUES]`.
"""

from __future__ import annotations

import json
import random
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks._floor import DATABASES, any_round, running_server
from gemba.collector import Paused
from gemba.config import Settings, Workspace
from gemba.store.database import Database, connect
from gemba.work.exporting import issues_after
from gemba.work.importing import MOST_ISSUES, ImportItems, import_items
from gemba.work.interchange.lines import read_lines
from gemba.work.interchange.order import pieces

ISSUES = 10_000
PER_SECOND = 5_000
PARTS = 25  # of an epic
BODY = 786_432  # bytes of a piece, as the command sends them


def main(many: int) -> int:
    text = written(many)
    print(f"{many:,} issues, {len(text) / 1e6:.1f} MB; at least {PER_SECOND:,} a second")
    print(f"{'database':<12}{'what':<14}{'seconds':>9}{'issues/s':>12}{'limit':>9}  verdict")
    fine = [any_round(partial(is_quick, database, text, many)) for database in DATABASES]
    return 0 if all(fine) else 1


def is_quick(database: str, text: str, many: int, _round: int) -> bool:
    """One round: the file into an empty database, and once more."""
    fine = True
    with running_server(database) as server:
        server.stop()
        workspace = Workspace(Path(server.workspace))
        store = connect(server.environment["GEMBA_DATABASE_URL"] or workspace.database_url(Settings()))
        store.surroundings["work_prefix"] = "bench"
        try:
            for what in ("first", "again"):
                seconds = brought(store, text, many if what == "first" else 0)
                rate = many / seconds
                fine = fine and rate >= PER_SECOND
                verdict = "within" if rate >= PER_SECOND else "TOO SLOW"
                print(f"{database:<12}{what:<14}{seconds:>9.2f}{rate:>12,.0f}{PER_SECOND:>9,}  {verdict}", flush=True)
            assert exported(store) == many
        finally:
            store.close()
            server.start()
    return fine


def brought(store: Database, text: str, new: int) -> float:
    """Seconds; asserts that so many were made."""
    begun = time.perf_counter()
    made = 0
    with Paused():  # as the command does
        work = read_lines([("issues.jsonl", text)])
        for piece in pieces(work, MOST_ISSUES, BODY):
            issues = [each.given for each in piece.issues]
            body = ImportItems(name="bench", issues=issues, apart=piece.apart, places=piece.places)
            with store.transaction() as tx:
                made += sum(each.outcome == "created" for each in import_items(tx, body).outcomes)
    seconds = time.perf_counter() - begun
    assert (made, work.bad) == (new, [])
    return seconds


def exported(store: Database) -> int:
    many, after = 0, ""
    while True:
        with store.read() as connection:
            page, following = issues_after(connection, after, 500)
        many += len(page)
        if following is None:
            return many
        after = following


def written(many: int) -> str:
    """Epics with parts that wait for two others each, in the order of their ids: half of what they name comes later."""
    draw = random.Random(0)
    names = [f"bench-{number:06}" for number in draw.sample(range(many), many)]
    lines: list[str] = []
    epic = ""
    for number, id in enumerate(names):
        kinds = {}
        if number % PARTS:
            kinds[epic] = "parent-child"
            for other in draw.sample(range(max(0, number - 400), number), min(2, number)):
                if other % PARTS:
                    kinds.setdefault(names[other], "blocks")
        else:
            epic = id
        made = "2025-01-09T12:00:00.123456789-08:00"
        lines.append(
            json.dumps(
                {
                    "id": id,
                    "title": f"Issue {number}",
                    "description": "What is to be done, in some words. " * 6,
                    "status": draw.choice(["open", "closed", "closed", "blocked", "in_progress"]),
                    "priority": number % 5,
                    "issue_type": "task" if number % PARTS else "epic",
                    "created_at": made,
                    "updated_at": made,
                    "labels": ["backend", f"team-{number % 7}"],
                    "dependencies": [
                        {"issue_id": id, "depends_on_id": other, "type": kind, "created_at": made, "created_by": "ann"}
                        for other, kind in kinds.items()
                    ],
                }
            )
        )
    return "\n".join(sorted(lines))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ISSUES))
