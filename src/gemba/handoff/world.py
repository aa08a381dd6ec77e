"""What an envelope that says COMPLETE claims, compared with the world before it is believed.

Files are looked for and compared with the dispatch's snapshot, commands with the recorded tool uses, and run again if a
gate asks for that; the state of the tree is told. An envelope is data: whatever it holds, nothing here raises, and
nothing outside the folder is read. Called by the gate of a dispatch, with `take_snapshot` of its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from gemba import git
from gemba.handoff.check import Answer, Check, GatePolicy, check, claims_in, ending, refusals
from gemba.handoff.claimed_files import ClaimedFiles
from gemba.handoff.evidence import Claim, Record, ToolUse, claim_of, count_calls, match, tool_use_of, whole_number
from gemba.handoff.rerun import Limits, MayRun, Reruns
from gemba.handoff.snapshot import Reading, Snapshot, key_of, take_snapshot

__all__ = [
    "NOT_RECORDED",
    "Check",
    "GatePolicy",
    "Limits",
    "Snapshot",
    "ToolUse",
    "check_world",
    "refusals",
    "take_snapshot",
    "tool_use_of",
]

_MOST_NAMED = 5  # files in a sentence
_NO_COMMAND = "it names no command"
_NOTHING = "nothing"
_NOT_AGAIN = "nothing that could be run again"
_NAME_IT = "name the command that verifies it"
NOT_RECORDED = "the client records no tool uses"


def check_world(
    envelope: dict[str, Any],
    snapshot: Snapshot,
    tool_uses: Sequence[ToolUse] | None,
    policy: GatePolicy,
    folder: str | Path,
    *,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    may_run: MayRun | None = None,
) -> list[Check]:
    """Every check that a policy wants of an envelope that says COMPLETE; none of another.

    `tool_uses` None: the client records none. `may_run` says why a command must not be run again, if it must not.
    """
    status = _object(_object(envelope).get("agent_status")).get("plan_status")
    if not isinstance(status, str) or status.strip().upper() != "COMPLETE":
        return []
    evidence = _object(_object(envelope).get("evidence_report"))
    verification = _object(evidence.get("verification"))
    files = ClaimedFiles(Path(folder), snapshot, verification)
    commands = _Commands(evidence.get("commands_run"), verification, tool_uses, policy)
    tree = _Tree(str(folder), snapshot)
    reruns = Reruns(Path(folder), limits, may_run)
    # In this order: what is run again may change the files.
    kinds: dict[str, Callable[[], Iterable[Check]]] = {
        "files_produced": lambda: files.existing("files_produced"),
        "artifacts_written": lambda: files.existing("artifacts_written"),
        "files_modified": files.modified,
        "line_counts": files.line_counts,
        "commands_run": commands.recorded,
        "verification": commands.verification_recorded,
        "tool_calls": commands.counted,
        "uncommitted": tree.uncommitted,
        "unpushed": tree.unpushed,
        "rerun_verification": lambda: commands.verification_run_again(reruns),
        "rerun_commands": lambda: commands.run_again(reruns),
    }
    return [line for name, made in kinds.items() if getattr(policy, name) != "off" for line in made()]


class _Commands:
    """The commands that an envelope says were run, beside what the client has recorded."""

    def __init__(
        self, ran: object, verification: dict[str, Any], tool_uses: Sequence[ToolUse] | None, policy: GatePolicy
    ) -> None:
        self._policy = policy
        self._ran, self._faults = claims_in("commands_run", ran)
        self._claims = [claim_of(item) for item in self._ran]
        self._verifying = verification.get("command")
        self._verified = _verified(verification)
        self._tool_uses = tool_uses
        self._record = None if tool_uses is None else Record(tool_uses)

    def recorded(self) -> Iterator[Check]:
        for item, claim in zip(self._ran, self._claims, strict=True):
            yield self._match("commands_run", item, claim)
        yield from self._faults
        if not self._ran and not self._faults and self._is_required("commands_run"):
            yield check("commands_run", _NOTHING, self._counted_calls(), "failed", "name the commands that you ran")

    def verification_recorded(self) -> Iterator[Check]:
        if self._verifying is not None:
            yield self._match("verification", self._verifying, self._verified)
        elif self._is_required("verification"):
            yield check("verification", _NOTHING, self._counted_calls(), "failed", _NAME_IT)

    def counted(self) -> Iterator[Check]:
        """That something was done at all."""
        if self._tool_uses is None:
            yield self._not_recorded("tool_calls", "COMPLETE")
        else:
            many = count_calls(self._tool_uses)
            yield check("tool_calls", "COMPLETE", self._counted_calls(), "ok" if many else "failed")

    def verification_run_again(self, reruns: Reruns) -> Iterator[Check]:
        if self._verified is not None:
            yield from reruns.check("rerun_verification", [self._verified], must_run=True)
        elif self._verifying is None:
            is_required = self._is_required("rerun_verification")
            answer: Answer = "failed" if is_required else "unknown"
            yield check("rerun_verification", _NOTHING, _NOT_AGAIN, answer, _NAME_IT if is_required else "")
        else:
            yield check("rerun_verification", self._verifying, _NO_COMMAND, "failed")

    def run_again(self, reruns: Reruns) -> list[Check]:
        lines = list(reruns.check("rerun_commands", filter(None, self._claims), must_run=False))
        if not lines and self._is_required("rerun_commands"):
            claimed = "no command with its result" if self._ran else _NOTHING
            lines.append(check("rerun_commands", claimed, _NOT_AGAIN, "failed", "say how the commands ended"))
        return lines

    def _not_recorded(self, name: str, claimed: str) -> Check:
        """Nobody can tell: a gate that requires it does not believe it."""
        return check(name, claimed, NOT_RECORDED, "failed" if self._is_required(name) else "unknown")

    def _is_required(self, name: str) -> bool:
        """Then nothing claimed is no way past it."""
        return bool(getattr(self._policy, name) == "require")

    def _counted_calls(self) -> str:
        return NOT_RECORDED if self._tool_uses is None else f"{count_calls(self._tool_uses):,} tool calls"

    def _match(self, name: str, item: object, claim: Claim | None) -> Check:
        if claim is None:
            return check(name, item, _NO_COMMAND, "failed")
        claimed = claim.command if claim.result is None else ending(claim.command, claim.result)
        if self._record is None:
            return self._not_recorded(name, claimed)
        found = match(claim, self._record)
        return check(name, claimed, found.found, found.verdict, found.note)


def _verified(verification: dict[str, Any]) -> Claim | None:
    """The command of a verification, which must have passed: with its own exit code, else with 0."""
    command, code = verification.get("command"), whole_number(verification.get("exit_code"))
    if not isinstance(command, str) or not command.strip():
        return None
    return Claim(command, "pass", code, code == 0 if code is not None else True)


class _Tree:
    """What a dispatch leaves in its folder that is not committed, or not pushed."""

    def __init__(self, folder: str, snapshot: Snapshot) -> None:
        self._folder, self._snapshot = folder, snapshot

    @cached_property
    def _now(self) -> git.Tree | None:
        return git.tree(self._folder)

    def uncommitted(self) -> Iterator[Check]:
        """Nothing but what was so already when the dispatch began."""
        if self._now is None:
            yield self._no_tree("uncommitted")
            return
        reading = Reading()
        left = [path for path in self._now.changed if not self._was_so(path, reading)]
        known = len(self._now.changed) - len(left)
        note = f"{known:,} that were so when the dispatch began are not counted" if known else ""
        named = ", ".join([*map(key_of, left[:_MOST_NAMED]), *(["…"] if len(left) > _MOST_NAMED else [])])
        found = f"{len(left):,} uncommitted files{': ' if left else ''}{named}"
        yield check("uncommitted", "COMPLETE", found, "failed" if left else "ok", note)

    def unpushed(self) -> Iterator[Check]:
        if self._now is None:
            yield self._no_tree("unpushed")
        elif (many := git.unpushed(self._folder, self._now)) is None:
            yield check("unpushed", "COMPLETE", "no remote is known", "unknown")
        else:
            yield check("unpushed", "COMPLETE", f"{many:,} unpushed commits", "failed" if many else "ok")

    def _was_so(self, path: str, reading: Reading) -> bool:
        if key_of(path) not in self._snapshot.files:
            return False
        before, now = self._snapshot.files[key_of(path)], reading.state(Path(self._folder, path))
        return before is now if before is None or now is None else now.same_as(before) is True

    def _no_tree(self, name: str) -> Check:
        if self._snapshot.repository:
            return check(name, "COMPLETE", "the repository cannot be read any more", "failed")
        return check(name, "COMPLETE", "no repository", "unknown")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
