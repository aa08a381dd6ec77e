"""The contract in which a turn of the built-in agent ends: what was run, what came of it, what changed.

Pure and total: what a program told of itself is bounded and taken for text. Every start of a built-in session pays for
this import: standard library only, little of it.
"""

from gemba.sessions.builtin.steps import Outcome, Task

_LONGEST_OUTPUT = 2_000  # characters of a command's output
_LONGEST_FINDING = 99  # characters; what is told to other tasks is short
_MOST_FINDINGS = 5
_MOST_TOLD = 200  # items of one list that a program tells
_LONGEST_TOLD = 400
_HOW_TO = "A: give me a line `run: COMMAND => FILE`. B: give me a line `ask: QUESTION`."
_TASK_HOW_TO = (
    "I follow commands, and there is none for {id}: no program invents code. A: answer with a line `run: COMMAND`, "
    "which I run in the worktree of the task. B: skip the task. "
    "For all tasks of its kind, declare a command in .gemba/team.toml."
)
_UNDECLARED = "no command is declared for it; .gemba/team.toml can declare one for all tasks of its kind"
_READS = "gemba-program check "


class Told:
    """What a program told of its work in the file that $GEMBA_EVIDENCE names. Anything else than text is dropped.
    `surveyed`: what was asked for is not done by it, and why; `unchecked`: criteria that nothing has checked."""

    def __init__(self, document: object = None) -> None:
        told = document if isinstance(document, dict) else {}
        self.files_checked = _texts(told.get("files_checked"))
        self.patterns_checked = _texts(told.get("patterns_checked"))
        self.findings = [_cut(text, _LONGEST_FINDING) for text in _texts(told.get("key_outputs"))[:_MOST_FINDINGS]]
        self.impacts = _texts(told.get("cross_layer_impacts"))
        self.gaps = _texts(told.get("open_gaps"))
        self.surveyed = _cut(" ".join(_texts([told.get("surveyed")])), _LONGEST_TOLD)
        self.unchecked = _texts(told.get("unchecked"))
        self.summary = _cut(" ".join(_texts([told.get("summary")])), _LONGEST_TOLD)
        counts = told.get("severity")
        self.severity = {
            _cut(name, 40): many
            for name, many in list(counts.items() if isinstance(counts, dict) else ())[:20]
            if isinstance(name, str) and isinstance(many, int) and not isinstance(many, bool)
        }


class Changes:
    """What a turn changed in its folder: paths of new files, and of changed ones with their lines before and after."""

    def __init__(self, produced: list[str], modified: list[dict[str, object]]) -> None:
        self.produced = produced
        self.modified = modified


def contract(
    agent_id: str,
    outcomes: list[Outcome],
    *,
    consolidates: bool,
    task: Task | None = None,
    told: Told | None = None,
    changes: Changes | None = None,
) -> dict[str, object]:
    """The output envelope of a turn in which this was done."""
    told = told or Told()
    gaps = [outcome.gap for outcome in outcomes if outcome.gap]
    if not outcomes:
        status, next_action = "NEEDS_INPUT", _HOW_TO if task is None else _TASK_HOW_TO.format(id=task.id)
        gaps = [f"{task.id}: {_UNDECLARED}"] if task is not None else []
    elif gaps:
        status, next_action = "BLOCKED", "look at what is missing, then tell me what to do instead"
    else:
        status, next_action = "COMPLETE", "nothing"
    is_complete = status == "COMPLETE"
    evidence = _evidence(outcomes, gaps, task, told)
    if is_complete:
        evidence["verification"] = _verification(outcomes, task, told, changes)
    document: dict[str, object] = {
        "agent_status": {
            "plan_status": status,
            "agent_id": agent_id,
            "pending_steps": [outcome.step.text for outcome in outcomes if outcome.gap],
            "next_action": next_action,
        },
        "evidence_report": evidence,
    }
    if consolidates:
        document["consolidation_report"] = {
            "ownership_assessment": "owned_here",
            "confirmed_findings": told.findings or [outcome.said for outcome in outcomes if not outcome.gap],
            "suspected_findings": [],
            "conflicts": [],
            "open_gaps": gaps + _left(told),
            "next_best_agent": "none",
        }
    if is_complete and (summary := _summary(outcomes, task, told)):
        document["user_facing_summary"] = summary
    return document


def _evidence(outcomes: list[Outcome], gaps: list[str], task: Task | None, told: Told) -> dict[str, object]:
    ran = _ran(outcomes)
    answers = [outcome.said for outcome in outcomes if outcome.code is None and not outcome.gap]
    return {
        "patterns_checked": told.patterns_checked,
        "files_checked": list(dict.fromkeys([*told.files_checked, *_written(outcomes, task)])),
        "commands_run": [{"command": run.step.text, "result": f"exit code {run.code}"} for run in ran],
        "key_outputs": told.findings + answers,
        "verbatim_outputs": [outcome.said[-_LONGEST_OUTPUT:] for outcome in ran if outcome.said],
        "cross_layer_impacts": told.impacts,
        "open_gaps": gaps + _left(told),
    }


def _left(told: Told) -> list[str]:
    """What a program says is open, that what was asked for is first of all."""
    return [f"What was asked for is not done: {told.surveyed}", *told.gaps] if told.surveyed else told.gaps


def _verification(outcomes: list[Outcome], task: Task | None, told: Told, changes: Changes | None) -> dict[str, object]:
    found: dict[str, object] = {
        "result": "pass",
        "verification_method": "read",
        "artifacts_written": _written(outcomes, task),
    }
    if ran := _ran(outcomes):
        last = next((run for run in reversed(ran) if run.step.word == "verify"), ran[-1])
        method = "read" if last.step.text.startswith(_READS) else "test"
        found |= {"verification_method": method, "command": last.step.text, "exit_code": 0}
    if changes is not None and changes.produced:
        found["files_produced"] = changes.produced
    if changes is not None and changes.modified:
        found["files_modified"] = changes.modified
    known = {"severity": told.severity, "surveyed": told.surveyed, "unchecked": told.unchecked}
    if details := {name: value for name, value in known.items() if value}:
        found["details"] = details
    return found


def _summary(outcomes: list[Outcome], task: Task | None, told: Told) -> str:
    if told.summary or task is None:
        return told.summary
    ran = _ran(outcomes)
    words = f"{len(ran)} command{'' if len(ran) == 1 else 's'} went well"
    name = task.artifact.rpartition("/")[2]  # where it lies when it is read is the run's to say
    return f"{task.id}: {words}; {name} has what came out." if name else f"{task.id}: {words}."


def _ran(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.code is not None]


def _written(outcomes: list[Outcome], task: Task | None) -> list[str]:
    named = [name for outcome in _ran(outcomes) if not outcome.gap for name in outcome.step.choices]
    return list(dict.fromkeys([*named, task.artifact] if task is not None and task.artifact and outcomes else named))


def _texts(value: object) -> list[str]:
    items = value[:_MOST_TOLD] if isinstance(value, list) else []
    return [_cut(item, _LONGEST_TOLD) for item in items if isinstance(item, str) and item.strip()]


def _cut(text: str, most: int) -> str:
    line = " ".join("".join([char if char.isprintable() else " " for char in text]).split())
    return line if len(line) <= most else line[: most - 1] + "…"
