"""What is computed of a submission at its gate: every row that its output is asked, and the project's own commands.

Pure and deterministic; any submission is taken, in time linear in its size, and none raises. A check that has nothing
to look at is not made. `gates.py` alone makes a score of them. Called by the engine, with what `looking.py` saw.
"""

from __future__ import annotations

from gemba.handoff.check import shown
from gemba.teams.gates import COMMAND, ComputedCheck, Dimension
from gemba.teams.measures import accuracy, completeness, consistency, depth
from gemba.teams.measures.row import Row
from gemba.teams.seen import Seen
from gemba.teams.submitted import CommandResult, Submitted

ROWS: tuple[Row, ...] = (*completeness.ROWS, *consistency.ROWS, *accuracy.ROWS, *depth.ROWS)


def measure(work: Submitted) -> list[ComputedCheck]:
    """Every check that can be made of this work, in the order of the rows."""
    seen = Seen(work)
    asked = (row for row in ROWS if work.output in row.outputs)
    found = [(row, row.look(seen)) for row in asked]
    checks = [
        ComputedCheck(row.dimension, row.name, it.passed, shown(it.evidence)) for row, it in found if it is not None
    ]
    commands = sorted(work.commands, key=lambda each: (each.name, repr(each)))
    told = [each for each in commands if each.code == 0 or each.is_to_blame]
    if seen.said.surveyed:  # what passes beside it makes nothing of what was asked for
        told = [each for each in told if each.dimension is not Dimension.COMPLETENESS]
    return checks + [_command(each) for each in told]


def _command(result: CommandResult) -> ComputedCheck:
    last = next((line for line in reversed(result.tail.splitlines()) if line.strip()), "")
    evidence = f"{result.words}: {last.strip()}" if last and result.code != 0 else result.words
    return ComputedCheck(result.dimension, COMMAND + shown(result.name, 80), result.code == 0, shown(evidence))
