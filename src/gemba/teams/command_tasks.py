"""Tasks that programs do: which one a task gets that the built-in worker runs, and the prompt that tells it so. Pure.

What the plan declares goes before what the workspace declares, that before the programs that are shipped; a developer
has none of those, since no program invents code, and asks. A prompt is a line of JSON with all that the task says, and
lines with what is run. So nothing that a goal or a text has in it can become a line that is followed: JSON without
anything but ASCII has no end of line. Called by whoever starts a run, by the engine before each turn, and by
`plan_check` for what is no command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gemba.teams.capabilities import GENERAL, Capability, shipped
from gemba.teams.plan import CommandTask, DeclaredCommand, Output, Plan, PlanRole, PlanTask, prefix_of
from gemba.teams.run import BUILTIN

ARTIFACTS = ".gemba/artifacts"
PROGRAM = "gemba-program"
READS = f"{PROGRAM} check"  # a verification; behind it stands the artifact
DEFAULT_ARTIFACT = "report.md"
# What each capability's program writes. A developer has none.
SHIPPED = {
    "researcher": "survey.md",
    "planner": "steps.md",
    "designer": "outline.md",
    "writer": "report.md",
    "analyst": "findings.md",
    "tester": "test-report.md",
    "general": "survey.md",
}
LONGEST_TEXT = 30_000  # characters of a run's text that a program is told; its environment has to hold them
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}\.md")
_NAME_RULE = "letters, digits, - and _, and .md at the end, as in report.md"
# Whatever ends a line for somebody, and what a prompt loses on its way.
_NOT_IN_A_LINE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# What makes of an answer more than words.
_FOLLOWED = re.compile(r"^\s*(?:- )?(?:run|ask|blocker|verify)\s*:", re.IGNORECASE | re.MULTILINE)
_LINE_RULE = "one line without control characters; more of them belong into a script"


# ---- what is no command ----------------------------------------------------------------------------------------------


class CommandFault(msgspec.Struct, frozen=True):
    """A field of a command that cannot be run as it stands."""

    field: str
    found: str
    allowed: str


def command_faults(command: CommandTask) -> Iterator[CommandFault]:
    """What is wrong with a declared command, whoever declares it."""
    for field, line in (("run", command.run), ("verify", command.verify)):
        if line is not None and (not line.strip() or _NOT_IN_A_LINE.search(line)):
            yield CommandFault(field, line, _LINE_RULE)
    if not _NAME.fullmatch(command.artifact):
        yield CommandFault("artifact", command.artifact, _NAME_RULE)


# ---- who runs what ---------------------------------------------------------------------------------------------------


def with_programs(plan: Plan, declared: Mapping[str, DeclaredCommand], agent: str) -> Plan:
    """The plan in which each task of the built-in worker has its command, if there is one for it. `declared` is what
    the workspace says, by capability; `agent` runs what names no other. A task with a command of its own is run by the
    built-in worker, unless it names who else; its gate looks at the artifact, unless the plan or the workspace says
    otherwise."""
    roles = {role.name: role for role in plan.roles}
    return Plan(plan.roles, tuple(_with_program(task, roles.get(task.owner), declared, agent) for task in plan.tasks))


def _with_program(
    task: PlanTask, role: PlanRole | None, declared: Mapping[str, DeclaredCommand], agent: str
) -> PlanTask:
    options, command = task.options, task.options.command
    runner = options.agent or (BUILTIN if command is not None else agent)
    if runner != BUILTIN:
        return task
    usual: Output = "artifact"
    if command is None:
        name = capability_of(task, role)
        own = declared.get(name)
        command, usual = (own.command, own.output or usual) if own is not None else (shipped_command(name), usual)
    output = options.output or (None if command is None else usual)
    changed = msgspec.structs.replace(options, agent=BUILTIN, command=command, output=output)
    return msgspec.structs.replace(task, options=changed)


def shipped_command(capability: str) -> CommandTask | None:
    """The program that comes with Gemba for a capability, and what reads its artifact afterwards."""
    name = SHIPPED.get(capability)
    return None if name is None else CommandTask(f"{PROGRAM} {capability}", name, READS)


def capability_of(task: PlanTask, role: PlanRole | None) -> str:
    """What a task asks for: by its goal, as an analysis writes it; else by its role's name, capabilities or prefix."""
    known: tuple[Capability, ...] = (*shipped().capabilities, GENERAL)
    names = [each.name for each in known]
    if found := next((each.name for each in known if each.goal == task.goal), None):
        return found
    if task.owner in names:
        return task.owner
    if role is not None and (found := next((name for name in role.capabilities if name in names), None)):
        return found
    prefix = prefix_of(task.id)
    return next((each.name for each in known if each.prefix == prefix), GENERAL.name)


# ---- what it is told -------------------------------------------------------------------------------------------------


def artifact_path(task_id: str, name: str) -> str:
    """Where a task's artifact lies in its worktree."""
    return f"{ARTIFACTS}/{task_id}-{name}"


def prompt_of(task: PlanTask, *, text: str = "", notes: Sequence[str] = (), answer: str = "") -> str:
    """The lines that the built-in agent follows: the task itself, its command with the artifact, its verification.

    `text` is what the run was started with, `notes` what was said of the work since (feedback, a gate's reasons).
    `answer` is an operator's, to what the agent asked for: its lines are followed in place of the task's command. One
    without a line to follow says that the command can be run again."""
    command = task.options.command
    artifact = artifact_path(task.id, command.artifact if command is not None else DEFAULT_ARTIFACT)
    told = {
        "id": task.id,
        "owner": task.owner,
        "goal": task.goal,
        "text": text[:LONGEST_TEXT],
        "acceptance": list(task.options.acceptance),
        "targets": list(task.options.targets),
        "notes": list(notes),
        "artifact": artifact,
    }
    lines = [f"task: {json.dumps(told, ensure_ascii=True)}"]
    if answer.strip() and (command is None or _FOLLOWED.search(answer)):
        lines.append(answer)
    elif command is not None:
        lines.append(f"run: {command.run} => {artifact}")
    if command is not None and command.verify is not None:
        lines.append(f"verify: {command.verify}" + (f" {artifact}" if command.verify == READS else ""))
    return "\n".join(lines)
