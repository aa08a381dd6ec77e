"""The commands of an envelope, run once more in its folder, and their exit codes compared with what was claimed.

Such a command is an agent's own words. Each has a deadline and all together have one; none has a terminal or anything
to read, or sees a variable of Gemba's; its process group is gone afterwards. A program that has left its group on
purpose, as a daemon does, stays. Called by `world.py`, for gates that ask for it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gemba import clock, shell, wire
from gemba.errors import Unusable
from gemba.handoff.check import Answer, Check, check, ending
from gemba.handoff.evidence import Claim
from gemba.programs import path_with_programs
from gemba.text import one_line

# Why a command must not be run again; None when it may.
MayRun = Callable[[str], str | None]

_LONGEST_LINE = 200


class Limits(msgspec.Struct, frozen=True):
    """How much may be run again for one envelope."""

    seconds: float = 120.0  # of one command
    total_seconds: float = 600.0
    commands: int = 50
    output: int = 65_536  # bytes that are kept of what one prints


class Outcome(NamedTuple):
    """How a command ended; without a code it did not, or was not run, as the words say."""

    code: int | None
    words: str
    refused: bool = False  # by whoever says what may be run


class Reruns:
    """Runs the commands of one envelope, each of them once."""

    def __init__(self, folder: Path, limits: Limits, may_run: MayRun | None) -> None:
        self._folder, self._limits, self._may_run = folder, limits, may_run
        self._until = clock.elapsed() + round(limits.total_seconds * clock.SECOND)
        self._outcomes: dict[str, Outcome] = {}
        self._run = 0

    def check(self, name: str, claims: Iterable[Claim], *, must_run: bool) -> Iterator[Check]:
        """Claims that say how a command ended. `must_run`: one that may not be run has not passed."""
        for claim in claims:
            if claim.success is None:
                continue
            outcome = self._outcome(claim.command)
            expected = f"exit code {claim.exit_code}" if claim.exit_code is not None else _expected(claim)
            claimed = ending(claim.command, expected)
            if outcome.code is None:
                answer: Answer = "unknown" if outcome.refused and not must_run else "failed"
                yield check(name, claimed, outcome.words, answer)
            else:
                answer = "ok" if _agrees(claim, outcome.code) else "failed"
                yield check(name, claimed, f"exit code {outcome.code}", answer, outcome.words)

    def _outcome(self, command: str) -> Outcome:
        if command not in self._outcomes:
            self._outcomes[command] = self._execute(command)
        return self._outcomes[command]

    def _execute(self, command: str) -> Outcome:
        reason = None if self._may_run is None else self._may_run(command)
        if reason is not None:
            return Outcome(None, f"it was not run again: {reason}", refused=True)
        left = (self._until - clock.elapsed()) / clock.SECOND
        if self._run >= self._limits.commands or left <= 0:
            limits = f"{self._limits.commands} commands and {self._limits.total_seconds:g} s are allowed"
            return Outcome(None, f"it was not run again: {limits}")
        self._run += 1
        return _run(command, self._folder, min(left, self._limits.seconds), self._limits.output)


def _run(command: str, folder: Path, seconds: float, output: int) -> Outcome:
    line = [shutil.which("bash") or "sh", "-c", "--", command]
    env = {name: value for name, value in os.environ.items() if not name.startswith("GEMBA_")}
    # Behind all else, as its agent had it: our own programs are found also where only the path of gemba was given.
    env["PATH"] = path_with_programs(env.get("PATH", os.defpath), wire.home())
    try:
        result = shell.run(line, cwd=folder, env=env, timeout=seconds, limit=output)
    except Unusable as error:
        slow = error.code == "program_slow"
        return Outcome(None, f"it had not ended after {round(seconds, 1):g} s" if slow else "it cannot be run")
    # A shell says the same of a command that a signal has ended.
    code = result.code if result.code >= 0 else 128 - result.code
    return Outcome(code, _last_line(result.stdout) or _last_line(result.stderr))


def _last_line(printed: str) -> str:
    return next((one_line(line, _LONGEST_LINE) for line in reversed(printed.splitlines()) if line.strip()), "")


def _expected(claim: Claim) -> str:
    return "exit code 0" if claim.success else "another exit code than 0"


def _agrees(claim: Claim, code: int) -> bool:
    return code == claim.exit_code if claim.exit_code is not None else (code == 0) == claim.success
