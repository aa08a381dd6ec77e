"""Team runs for a terminal: one in a list, how one stands, one whole, and how it was planned.

Called by the commands of `gemba team`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from gemba import clock
from gemba.cli.show import age, body_lines, headline, labelled, local_time, width
from gemba.cli.team_found import short
from gemba.cli.team_picture import picture, state_mark
from gemba.text import fold, one_line, showable

Run = dict[str, Any]
Task = dict[str, Any]
COLOURS = {
    "planned": "bright_black",
    "running": "cyan",
    "paused": "yellow",
    "completed": "green",
    "completed_with_warnings": "yellow",
    "failed": "red",
    "cancelled": "bright_black",
}
AT_WORK = ("claimed", "running", "verifying")
NEEDS_PERSON = ("waiting", "partial_completion")
DONE = ("completed", "completed_with_warnings")
OPEN = ("planned", "running", "paused")
_BAR = 20
_MOST = 10  # tasks under one heading
_DECISIONS = (
    ("accept", "take it as it is"),
    ("retry", "do it once more"),
    ("revise", "have it done otherwise"),
    ("skip", "leave it out, and what needs it"),
)


# ---- a run -----------------------------------------------------------------------------------------------------------


def lines_of_list(run: Run) -> list[str]:
    facts = [_progress(run), _needs(run), cost_of(run), f"{age(run['created_at'])} ago"]
    lines = headline(run["state"], COLOURS[run["state"]], run["id"], [*facts, run["archived_at"] and "archived"])
    return [*lines, *_left(run), *body_lines(run["text"], 1)]


def lines_of_status(run: Run, waiting: Sequence[list[str]]) -> list[str]:
    """What is at work, what waits for a person (given, as lines a task), what failed and why, what comes next."""
    state = run["state"]
    lines = headline(state, COLOURS[state], run["id"], [_needs(run), _time(run), cost_of(run)])
    lines += [*_left(run), *body_lines(run["text"], 2)]
    lines += labelled("progress:", f"{_bar(run)} {_progress(run)}")
    if run["trouble"]:
        lines += labelled("trouble:" if state == "running" else "because:", run["trouble"])
    tasks = run["all_tasks"]
    lines += _section("at work", [_at_work(task) for task in tasks if task["state"] in AT_WORK])
    lines += _section("waits for you", waiting, "yellow")
    lost = [task for task in tasks if task["state"] in ("failed", "skipped") and state != "cancelled"]
    lines += _section("failed or left out", [_told(task) for task in lost], "red")
    warned = [task for task in tasks if task["state"] == "completed_with_warnings"]
    surveyed = [task for task in warned if task["surveyed"]]
    lines += _section("surveyed only", [_entry(task, task["surveyed"]) for task in surveyed], "yellow")
    lines += _section("done with warnings", [_told(task) for task in warned if not task["surveyed"]])
    if state in ("running", "paused"):
        lines += _section("comes next", [_next(task) for task in tasks if task["state"] == "pending"])
    return [*lines, *_ways_on(run)]


def _left(run: Run) -> list[str]:
    """What was not done of what was asked for, before anything else."""
    return [click.style(line, fg="yellow") for line in body_lines(run["left"])] if run["left"] else []


def _section(title: str, entries: Sequence[list[str]], colour: str | None = None) -> list[str]:
    if not entries:
        return []
    shown = [line for entry in entries[:_MOST] for line in entry]
    more = [f"    … and {len(entries) - _MOST} more"] if len(entries) > _MOST else []
    return ["", "  " + click.style(f"{title}:", fg=colour, bold=True), *shown, *more]


def _at_work(task: Task) -> list[str]:
    since = task["started_at"] or task["claimed_at"]
    facts = [
        task["state"],
        f"{task['owner']} ({task['agent']})",
        f"attempt {task['attempt']}" if task["attempt"] > 1 else None,
        f"version {task['version']}" if task["version"] > 1 else None,
        f"for {age(since)}" if since else None,
    ]
    return _entry(task, " · ".join(one_line(fact, 60) for fact in facts if fact))


def _told(task: Task) -> list[str]:
    score = "" if task["score"] is None else f"{task['score']:g} of 100; "
    told = task["reason"] or (_lowest(task) if task["gate"] else "no reason was told")
    return _entry(task, f"{task['state']}: {score}{told}")


def _lowest(task: Task) -> str:
    gate = task["gate"]
    low = next(each for each in gate["dimensions"] if each["dimension"] == gate["lowest"])
    return f"lowest: {gate['lowest']} with {low['score']:g}{_failed(task)}"


def _failed(task: Task) -> str:
    """The checks that failed, of all dimensions, in brackets."""
    names = [name for each in task["gate"]["dimensions"] for name in each["failed"]] if task["gate"] else []
    return f" (failed: {', '.join(names)})" if names else ""


def _next(task: Task) -> list[str]:
    if task["open_blockers"]:
        return _entry(task, f"after {', '.join(task['blocked_by'][:5])}")
    return _entry(task, f"can begin; {task['reason']}" if task["reason"] else "can begin")


def _entry(task: Task, words: str) -> list[str]:
    indent = 4 + 2 + len(task["id"]) + 2
    first, *rest = fold(words, max(20, width() - indent)) or [""]
    name = f"    {state_mark(task['state'])} {click.style(task['id'], bold=True)}  {first}"
    return [name.rstrip(), *(" " * indent + line for line in rest)]


def lines_of_wait(run: Run, task: Task, card: dict[str, Any] | None) -> list[str]:
    """What a task waits for, and the commands that let it go on; `card` is what was asked, if that is known."""
    name = f"{short(run['id'])} {task['id']}"
    if is_answered(task, card):
        return _entry(task, "answered; it goes on as soon as somebody takes it up")
    if task["state"] == "partial_completion" or task["waiting_for"] == "decision":
        told = task["reason"] or "a decision"
        lines = _entry(task, told)
        options = [] if card is None else card["options"]
        ways = [(verb, words) for verb, words in _DECISIONS if not options or verb in options]
        return [*lines, *_commands([(f"gemba team {verb} {name}{_quoted(verb)}", words) for verb, words in ways])]
    if card is None:
        return _entry(task, f"{task['waiting_for'] or 'a person'}: see gemba inbox")
    id = card["id"][-6:]
    lines = _entry(task, f"{task['waiting_for']}: {one_line(card['text'] or card['title'], 240)}")
    if card["kind"] == "approval":
        ways = [(f"gemba approval approve {id}", "let it run"), (f"gemba approval refuse {id} REASON", "do not")]
    elif card["options"]:
        ways = [(f"gemba answer {id} -o {at}", option) for at, option in enumerate(card["options"], 1)]
    else:
        ways = [(f'gemba answer {id} "…"', "answer it")]
    more = [(f"gemba inbox {id}", "see all of it"), (f"gemba team skip {name}", dict(_DECISIONS)["skip"])]
    return [*lines, *_commands([*ways, *more])]


def is_answered(task: Task, card: dict[str, Any] | None) -> bool:
    """Whether what a task waited for is decided, and only the engine has still to go on with it."""
    if card is None:
        return task["escalation_id"] is None
    return card["resolution"] is not None


def _quoted(verb: str) -> str:
    return ' "…"' if verb == "revise" else ""


def _commands(ways: Sequence[tuple[str, str]], indent: str = "        ") -> list[str]:
    """Commands to copy, each with what it does where there is room for that."""
    wide = max(len(way) for way, _ in ways)
    room = width() - len(indent) - wide - 2
    return [f"{indent}{way:<{wide}}  {one_line(words, room) if room > 8 else ''}".rstrip() for way, words in ways]


def _ways_on(run: Run) -> list[str]:
    """Where to look next, by the state of the run."""
    id, state = short(run["id"]), run["state"]
    ways = []
    if state == "planned":
        ways = [(f"gemba team start --planned {id}", "start it"), (f"gemba team cancel {id}", "drop it")]
    elif state == "paused":
        ways = [(f"gemba team resume {id}", "let it go on"), (f"gemba team cancel {id}", "end it")]
    elif state not in OPEN:
        ways = [(f"gemba team report {id}", "what came of it")]
        ways += [(f"gemba team accept {id} {task}", "take its survey for enough") for task in run["surveyed"][:3]]
    if state != "planned":
        ways.append((f"gemba team show {id} [TASK]", "all of it, or one task with its scores"))
    return ["", *_commands(ways, "  ")]


def lines_of_run(run: Run) -> list[str]:
    """All of a run: how it is to run, who takes part, every task."""
    lines = headline(run["state"], COLOURS[run["state"]], run["id"], [_progress(run), _time(run), cost_of(run)])
    lines += [*_left(run), *body_lines(run["text"], 20)]
    settings = run["settings"]
    how = f"agent {run['agent']}, {settings['max_parallel']} at once, reviewed by {settings['reviewer']}"
    lines += labelled("how:", f"{how}, then {settings['on_complete']}")
    for label, value in (("epic:", run["epic_id"]), ("branch:", run["branch"]), ("because:", run["trouble"])):
        if value:
            lines += labelled(label, value)
    commands = ", ".join(command["name"] for command in settings["commands"])
    lines += labelled("checks:", f"the project's {commands}") if commands else []
    lines += labelled("folder:", run["folder"])
    lines += labelled("begun:", f"{local_time(run['created_at'])} by {run['created_by']}")
    if run["ended_at"]:
        lines += labelled("ended:", local_time(run["ended_at"]))
    lines += ["", *_roles(run), "", *picture(run["all_tasks"], _in_picture, with_states=True)]
    return [*lines, *_ways_on(run)]


def _in_picture(task: Task) -> str:
    version = f", version {task['version']}" if task["version"] > 1 else ""
    score = "" if task["score"] is None else f" {task['score']:g}"
    waits = f" ({task['waiting_for']})" if task["waiting_for"] else ""
    return f"{task['state']}{waits}{score}{version}: {task['goal']}"


def _roles(run: Run) -> list[str]:
    lines = []
    for role in run["roles"]:
        joined = [name for name in role["capabilities"] if name != role["name"]]
        more = f", does also {', '.join(joined)}" if joined else ""
        lines += labelled(f"{role['name']}:", f"tasks {role['prefix']}-*{more}", whole=False)
    return lines


# ---- how it was planned ----------------------------------------------------------------------------------------------


def lines_of_plan(run: Run, *, proposed: bool) -> list[str]:
    """What the text was taken to ask for, and what is done for it. A plan that was proposed has no analysis to show."""
    lines = [] if proposed else _analysis(run["analysis"])
    if run["planned_by"] is not None:
        lines += [*said_of_planner(run["planned_by"]), ""]
    lines += [click.style("Roles", bold=True), *_roles(run), "", click.style("Tasks", bold=True)]
    return [*lines, *picture(run["all_tasks"], lambda task: f"{task['owner']}: {task['goal']}", with_states=False)]


def said_of_planner(planned_by: dict[str, Any]) -> list[str]:
    who = planned_by["agent"] or "the words of the text alone"
    note = f"; {planned_by['note']}" if planned_by["note"] else ""
    return labelled("planned by:", f"{who} (consult {planned_by['consult_id']}){note}")


def _analysis(analysis: dict[str, Any]) -> list[str]:
    lines = [click.style("What the text asks for", bold=True)]
    for found in analysis["capabilities"]:
        tier = "no tier" if found["tier"] is None else f"tier {found['tier']}"
        lines += labelled(f"{found['name']}:", f"{tier}; {found['reason']}")
    complexity = analysis["complexity"]
    lines += labelled("complexity:", f"{complexity['level']}: {complexity['reason']}")
    for merge in analysis["merges"]:
        lines += labelled(f"{merge['name']} joins {merge['into']}:", merge["reason"])
    return [*lines, ""]


# ---- words -----------------------------------------------------------------------------------------------------------


def next_step(run: Run, is_server: bool) -> str:
    """What lets a run go on that nobody works on; nothing where a server does."""
    if run["state"] != "running" or is_server:
        return ""
    return f"No server runs: it goes on with `gemba team watch {short(run['id'])}`, or `gemba serve`."


def stands_still(run: Run) -> bool:
    """Whether only a person lets a run go on: all that has not ended waits for one, or for what does."""
    if run["state"] != "running":
        return True
    for task in run["all_tasks"]:
        if task["state"] in AT_WORK or (task["state"] == "pending" and not task["open_blockers"]):
            return False
    return True


def cost_of(row: dict[str, Any]) -> str | None:
    if not row["tokens"] and row["cost_usd"] is None:
        return None
    cost = "cost unknown" if row["cost_usd"] is None else f"${row['cost_usd']:.2f}"
    return f"{cost}, {row['tokens']:,} tokens"


def _progress(run: Run) -> str:
    done = sum(run["states"].get(state, 0) for state in DONE)
    return f"{done} of {run['tasks']} tasks done"


def _needs(run: Run) -> str | None:
    return f"{run['waits_for_you']} wait{'s' if run['waits_for_you'] == 1 else ''} for you" if _is_asking(run) else None


def _is_asking(run: Run) -> bool:
    return bool(run["waits_for_you"]) and run["state"] in OPEN


def _bar(run: Run) -> str:
    """Done, at work or waiting for somebody, and still to come."""
    states, many = run["states"], max(1, run["tasks"])
    done = sum(states.get(state, 0) for state in DONE) * _BAR // many
    going = sum(states.get(state, 0) for state in (*AT_WORK, *NEEDS_PERSON))
    busy = min(_BAR - done, -(-going * _BAR // many))
    return f"[{'#' * done}{'>' * busy}{'.' * (_BAR - done - busy)}]"


def _time(run: Run) -> str | None:
    began = clock.parse(run["started_at"]) if run["started_at"] else None
    if began is None:
        return None
    ended = clock.parse(run["ended_at"]) if run["ended_at"] else None
    seconds = max(0, ((ended or clock.now()) - began) // clock.SECOND)
    took = f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
    return f"after {took}" if ended is not None else f"for {took}"


def said_of(run: Run) -> list[str]:
    """A run that just began, for people."""
    many = "1 task" if run["tasks"] == 1 else f"{run['tasks']} tasks"
    roles = ", ".join(showable(role["name"]) for role in run["roles"])
    began = "planned" if run["state"] == "planned" else "started"
    return fold(f"{began} {run['id']}: {many} for {roles}", width())
