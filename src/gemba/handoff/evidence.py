"""The commands that an envelope says were run, beside the tool uses that the client has recorded. Pure and total.

A recorded shell line is known as a whole and by its parts, so that `pytest -q` is found in `cd web && pytest -q 2>&1`.
How a part ended is told only where the line's own end tells it. Time is linear in what was recorded and claimed.
Called by `world.py`, for an envelope that says COMPLETE.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from gemba.handoff.check import Answer
from gemba.handoff.line_parts import normal_form, take_apart
from gemba.text import storable

_LONGEST_RESULT = 2_000  # characters of a claimed result, or of a client's error, that are read
_MOST_RUNS = 100  # of one command, the last ones: those that a claim is compared with
_MOST_CUTS = 8  # lengths at which events have cut a command
# How events mark a text that was too long for them.
_CUT = re.compile(r"… \(cut: [\d,]+ characters; [^()]*\)$")
_EXIT_KEYS = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?:\s+with)?(?:\s+non-zero)?(?:[\s_]+(?:status|code))*|return\s*code|rc)\s*[:=(]?\s*(-?\d{1,9})\b",
    re.IGNORECASE,
)
_NOTHING_WRONG = re.compile(
    r"\b(?:no|0|zero|without)(?:\s+any)?\s+(?:fail\w*|errors?|problems?|issues?)\b", re.IGNORECASE
)
_MANY_WRONG = re.compile(r"\b[1-9]\d{0,8}\s+(?:fail\w*|errors?)\b", re.IGNORECASE)
_WRONG = re.compile(r"\b(?:fail(?:ed|s|ure|ures|ing)?|errors?|not ok|broken)\b", re.IGNORECASE)
_RIGHT = re.compile(r"\b(?:pass(?:ed|es|ing)?|ok|success(?:ful|fully)?|succeeded|green|clean)\b", re.IGNORECASE)
# What comes after one of these in its line may not have been run.
_LEAVING = frozenset({"exit", "exec", "return"})
# How the contract is handed in: no work of the agent.
_SUBMISSION = re.compile(r"\bgemba handoff (?:submit|check|template|explain|schema)\b")


class ToolUse(NamedTuple):
    """One recorded frame of a tool's use. `failed`: a client that has an event of its own for that has told it."""

    tool: str
    phase: Literal["pre", "post", "failed"]
    command: str | None = None
    exit_code: int | None = None
    background: bool = False
    call: str | None = None


class Claim(NamedTuple):
    """A command that an envelope says was run. `success`: whether it says that it went well; None: it does not say."""

    command: str
    result: str | None = None
    exit_code: int | None = None
    success: bool | None = None


class Match(NamedTuple):
    """What the record says of a claim."""

    verdict: Answer
    found: str
    note: str = ""


class Run(NamedTuple):
    """How a command ended, as far as that is known. Not `alone`: as one of several of a line, which tells no more."""

    ended: bool
    success: bool | None = None
    code: int | None = None
    alone: bool = True


# ---- frames ----------------------------------------------------------------------------------------------------------


def tool_use_of(payload: object) -> ToolUse:
    """A `tool_use` event's payload, whatever a client has put there."""
    told = _object(payload)
    given, response = _object(told.get("tool_input")), told.get("tool_response")
    failed = told.get("phase") == "failed" or told.get("hook_event_name") == "PostToolUseFailure"
    phase: Literal["pre", "post", "failed"] = "failed" if failed else "post" if told.get("phase") == "post" else "pre"
    if phase == "post" and _says_error(_object(response)):
        phase = "failed"
    return ToolUse(
        tool=_text(told.get("tool_name")) or "",
        phase=phase,
        command=_command(given.get("command", given.get("cmd"))),
        exit_code=None if phase == "pre" else _told_exit(response, told.get("error")),
        # A call that takes too long is put there by the client itself, and told with the task that it became. An exit
        # code of null is that of a command of which its client does not tell how it ended.
        background=given.get("run_in_background") is True
        or "backgroundTaskId" in _object(response)
        or _object(response).get("exit_code", 0) is None,
        call=_text(told.get("tool_use_id")),
    )


def count_calls(uses: Iterable[ToolUse]) -> int:
    """How many tools were used, less those that only hand the contract in."""
    begun = ended = 0
    for use in uses:
        if not use.tool.endswith("submit_handoff") and not _SUBMISSION.search(use.command or ""):
            begun += use.phase == "pre"
            ended += use.phase != "pre"
    return max(begun, ended)  # a client may tell of only one of the two


def _command(value: object) -> str | None:
    """A shell line; a program's list of arguments as one, and the line alone when that program is a shell."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return None
    is_shell = len(value) == 3 and value[0].endswith("sh") and re.fullmatch(r"-[a-z]*c", value[1])
    return value[2] if is_shell else shlex.join(value)


def _says_error(response: dict[str, Any]) -> bool:
    return any(response.get(key) is True for key in ("is_error", "isError", "interrupted"))


def _told_exit(response: object, error: object) -> int | None:
    inside = _object(response)
    for told in (inside, _object(inside.get("metadata"))):
        for key in _EXIT_KEYS:
            if (code := whole_number(told.get(key))) is not None:
                return code
    words = error if isinstance(error, str) else response if isinstance(response, str) else ""
    start = " ".join(words[:_LONGEST_RESULT].split())
    found = _EXIT.match(start.removeprefix("Error: ").removeprefix("Command "))
    return int(found[1]) if found else None


def whole_number(value: object) -> int | None:
    """An integer, however it was written; no truth value."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"\s*-?[0-9]{1,12}\s*", value) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


# ---- claims ----------------------------------------------------------------------------------------------------------


def claim_of(item: object) -> Claim | None:
    """An item of commands_run; None when it names no command."""
    told = item if isinstance(item, dict) else {"command": item}
    command = _text(told.get("command"))
    if command is None or not command.strip():
        return None
    result = told.get("result")
    words, said, success = _read_result(result)
    places = (told, result) if isinstance(result, dict) else (told,)
    codes = (whole_number(place.get(key)) for place in places for key in _EXIT_KEYS)
    code = next((code for code in codes if code is not None), said)
    return Claim(command, words, code, code == 0 if code is not None else success)


def _read_result(result: object) -> tuple[str | None, int | None, bool | None]:
    """Its words, the exit code that they name, and whether they say that it went well."""
    if isinstance(result, dict):
        return _read_result(next((result[key] for key in ("result", "status") if _text(result.get(key))), "an object"))
    if isinstance(result, str):
        words = " ".join(result[:_LONGEST_RESULT].split())
        found = _EXIT.search(words)
        return words or None, int(found[1]) if found else None, _went_well(words)
    if isinstance(result, bool):
        return str(result).lower(), None, result
    if whole_number(result) == 0:
        return "0", 0, True
    # Another number may be anything, such as what the command printed.
    return None if result is None else "a list" if isinstance(result, list) else "a number", None, None


def _went_well(words: str) -> bool | None:
    """What a person would read from it; None in doubt."""
    if _MANY_WRONG.search(words):
        return False
    rest, without = _NOTHING_WRONG.subn("", words)
    wrong, right = _WRONG.search(rest), without or _RIGHT.search(rest)
    return None if bool(wrong) == bool(right) else bool(right)


# ---- the record ------------------------------------------------------------------------------------------------------


class Record:
    """Every command that was recorded, in order, by its normal form and by the forms of its parts."""

    def __init__(self, uses: Sequence[ToolUse]) -> None:
        self.tells_ends = any(use.phase != "pre" for use in uses)
        self._cut_at: set[int] = set()
        runs: list[tuple[str, Run]] = []
        begun: dict[str, int] = {}  # by call where a client names it, else by command
        for use in uses:
            if use.command is None:
                continue
            key = use.call or use.command
            if use.phase == "pre":
                begun[key] = len(runs)
                runs.append((use.command, Run(ended=False)))
            elif (place := begun.pop(key, None)) is not None:
                runs[place] = (use.command, _run(use))
            else:
                runs.append((use.command, _run(use)))
        self.commands = len(runs)
        self._known: dict[str, list[Run]] = {}
        self._parts: dict[str, list[Run]] = {}
        for command, run in runs:
            self._keep(command, run)

    def find(self, command: str) -> list[Run]:
        """Every run of a command, oldest first: alone or as a part of a line, else of the very line."""
        line = storable(command)
        parts = take_apart(line)
        if len(parts) == 1 and (found := self._parts.get(parts[0].form)):
            return found
        cuts = (line[:length] for length in sorted(self._cut_at)[:_MOST_CUTS] if length < len(line))
        return next((found for known in (line, *cuts) if (found := self._known.get(normal_form(known)))), [])

    def _keep(self, command: str, run: Run) -> None:
        line = storable(command)
        if cut := _CUT.search(line[-200:]):
            line = line[: len(line) - len(cut[0])]
            self._cut_at.add(len(line))
        self._known.setdefault(normal_form(line), []).append(run)
        for form, part in _runs_of_parts(line, run).items():
            self._parts.setdefault(form, []).append(part)


def match(claim: Claim, record: Record) -> Match:
    """Whether the record bears a claim out: a success must be how it ended last, a failure how it ended once."""
    runs = record.find(claim.command)[-_MOST_RUNS:]
    if not runs:
        many = f"not among the {record.commands} recorded commands" if record.commands else "no command was recorded"
        if claim.result is None and claim.success is None:
            return Match("unknown", many, "no result was claimed")
        return Match("failed", many)
    judged = [_compare(claim, run, tells_ends=record.tells_ends) for run in runs]
    if claim.success is False:
        return next((found for found in judged if found.verdict == "ok"), judged[-1])
    return next((found for found in reversed(judged) if found.verdict != "unknown"), judged[-1])


def _compare(claim: Claim, run: Run, *, tells_ends: bool) -> Match:
    if not run.ended:
        # Clients tell of an end with an event that some of them send only when all went well.
        contradicts = claim.success is True and tells_ends and run.alone
        return Match("failed" if contradicts else "unknown", "it was begun, no end of it was recorded")
    if run.success is None:
        note = "how it ended is not recorded" if run.alone else "how this part of its line ended is not recorded"
        return Match("unknown" if claim.success is not None else "ok", "it was run", note)
    found = f"exit code {run.code}" if run.code is not None else "ended well" if run.success else "failed"
    if claim.exit_code is not None and run.code is not None:
        return Match("ok" if claim.exit_code == run.code else "failed", found)
    agrees = claim.success is None or claim.success == run.success
    return Match("ok" if agrees else "failed", found, "" if run.code is not None else "the client tells no exit code")


def _run(use: ToolUse) -> Run:
    if use.background:
        return Run(ended=True)
    if use.exit_code is not None:
        return Run(ended=True, success=use.exit_code == 0, code=use.exit_code)
    return Run(ended=True, success=use.phase != "failed")


def _runs_of_parts(line: str, run: Run) -> dict[str, Run]:
    """Each command of a line with how it ended, as far as the line's own end tells that."""
    parts = take_apart(line)
    left_at = next((place for place, part in enumerate(parts) if part.form.partition(" ")[0] in _LEAVING), len(parts))
    whole = left_at == len(parts) > 0 and not parts[-1].separator
    parts = parts[:left_at]
    untold = Run(run.ended, alone=whole and len(parts) < 2)
    surely = len(parts) - 1  # from here on each command went well, if the line did
    while surely > 0 and parts[surely - 1].separator == "&&":
        surely -= 1
    runs: dict[str, Run] = {}
    before: set[str] = set()
    for place, (form, separator) in enumerate(parts):
        if run.success:
            known = whole and place >= surely and not before & {"||", "(", ")"}
        else:
            known = whole and place == len(parts) - 1 and before <= {";", "\n", "&", "|", "|&"}
        runs[form] = run if known else untold
        before.add(separator)
    runs.pop("", None)
    return runs
