"""`gemba handoff dispatch` and `gemba handoff dispatches`: work that is given to agents, and how far each got."""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from gemba import wire
from gemba.cli.answer import standard_input
from gemba.cli.complete import ids_of
from gemba.cli.door import find_id, item_path, open_door
from gemba.cli.show import age, body_lines, headline, json_option, labelled, local_time, print_items, print_json
from gemba.config import home, open_workspace
from gemba.text import showable, storable

_COLOURS = {
    "COMPLETE": "green",
    "BLOCKED": "red",
    "refused": "red",
    "NEEDS_INPUT": "yellow",
    "APPROVAL_REQUEST": "yellow",
}
_NOT_YET = "dispatched"  # no envelope came back so far
_LINES_OF_GOAL = 3  # in a list
_RECORDED = ("commands_run", "verification", "tool_calls")  # what a gate compares with a client's records
_NO_BRIDGE = "Its client has no hooks there: `gemba install-bridge` puts them in; without them, tell it its briefing."


@click.command(short_help="Give a piece of work to an agent.")
@click.argument("goal")
@click.option("--done-when", "acceptance_criteria", multiple=True, metavar="TEXT", help="What must be true at the end.")
@click.option("--target", "targets", multiple=True, metavar="GLOB", help="Files that it is about, such as 'docs/**'.")
@click.option("--scope", multiple=True, metavar="TEXT", help="What belongs to it.  [default: the targets]")
@click.option("--role", metavar="NAME", help="Who does it; context.toml says what this role may write.")
@click.option("--upstream", "upstream_roles", multiple=True, metavar="ROLE", help="A role whose work it builds on.")
@click.option("--reviews", metavar="ROLE", help="The role whose work it looks at.")
@click.option("--assisting", is_flag=True, help="Another agent has the lead.")
@click.option("--adjacent", "adjacent_agents", multiple=True, metavar="AGENT", help="Who works beside it.")
@click.option("--session", "session_id", metavar="ID", help="The session that will do it, where that is known.")
@click.option("--task", "task_id", metavar="ID", help="The team's task that it is.")
@click.option("--provider", default="claude", show_default=True, metavar="NAME", help="Whose client the agent runs in.")
@click.option("--folder", "worktree", metavar="FOLDER", help="Where to work.  [default: the workspace]")
@click.option("--gate", "gates", multiple=True, metavar="CHECK=NEED", help="Such as files_modified=require.")
@click.option("--with-logs", is_flag=True, help="Give it the memories of class log too.")
@json_option
@click.pass_obj
def dispatch(folder: str | None, /, goal: str, gates: tuple[str, ...], worktree: str | None, **wanted: Any) -> None:
    """Give a piece of work to an agent: its GOAL (`-` reads standard input), and what else is to be known.

    It gets an envelope of its own, and has to end its turn in a handoff for it. --gate says what becomes of a COMPLETE
    that does not pass a check: off, report or require; [handoff.gate] in workspace.toml has what is usual.

    \b
    Example:
      gemba handoff dispatch "Cut the start-up time in half" \\
        --target 'src/cli/**' --done-when "make bench passes" --gate files_modified=require
    """
    as_json = wanted.pop("as_json")
    lists = {name: [storable(text) for text in given] for name, given in wanted.items() if isinstance(given, tuple)}
    body = {name: given for name, given in wanted.items() if given is not None} | lists
    body |= {"goal": standard_input() if goal == "-" else goal, "gate": _gate(gates)}
    if worktree is not None:
        body["folder"] = os.path.abspath(worktree)  # noqa: PTH100 - the server resolves links, and says what is wrong
    with open_door(folder) as door:
        made: dict[str, Any] = door.post("/api/dispatches", body)
    if as_json:
        print_json(made)
        return
    root = open_workspace(None if folder is None else Path(folder)).root
    click.echo("\n".join([*_lines(made, made["id"]), *labelled("agent:", made["agent_id"]), *_files(made)]))
    click.echo(f"\nRun its agent with:\n    {_how_to_run(made, root)}")
    if shutil.which(made["provider"]) is None:
        click.echo(f"{showable(made['provider'])} is not on PATH: put the command of your agent in its place.")
    if not _has_bridge(made["folder"]):
        if made["provider"] == "claude":
            click.echo(_NO_BRIDGE)
        if recorded := [name for name in _RECORDED if made["policy"][name] == "require"]:
            click.echo(_warned(recorded))


@click.command(short_help="Show the work that was given to agents.")
@click.argument("id", required=False, shell_complete=ids_of("dispatches"))
@click.option("--session", metavar="ID", help="Only those of this session.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def dispatches(folder: str | None, id: str | None, session: str | None, limit: int, as_json: bool) -> None:
    """Show the work that was given to agents, newest first, and how far it got; or one by its ID, in full.

    \b
    Example:
      gemba handoff dispatches
      gemba handoff dispatches 3fa9c1 --json
    """
    with open_door(folder) as door:
        if id is not None:
            item = door.get(item_path("dispatches", find_id(door, "dispatch", id)))
            print_json(item) if as_json else click.echo("\n".join(_lines(item, item["id"]) + _details(item)))
            return
        page = door.get("/api/dispatches", limit=limit, session=session)
    if as_json:
        print_json(page)
        return
    print_items(page["dispatches"], partial(_lines, most=_LINES_OF_GOAL))
    click.echo(_summary(page))


def _warned(checks: list[str]) -> str:
    required = f"{checks[0]} is" if len(checks) == 1 else f"{' and '.join((', '.join(checks[:-1]), checks[-1]))} are"
    return (
        f"warning: {required} required, and only a client with Gemba's hooks records what it ran: a COMPLETE of any "
        "other agent is refused. rerun_verification=require works with every agent."
    )


def _gate(gates: tuple[str, ...]) -> dict[str, str]:
    pairs = [gate.partition("=") for gate in map(storable, gates)]
    for name, equals, need in pairs:
        if not (name and equals and need):
            shown = showable(f"{name}{equals}{need}")
            raise click.UsageError(f"--gate {shown} is not CHECK=NEED, such as files_modified=require.")
    return {name: need for name, _, need in pairs}


def _how_to_run(made: dict[str, Any], root: Path) -> str:
    """A line for a shell: the agent in its folder, with what its hooks need to know."""
    names = {"GEMBA_DISPATCH_ID": made["id"]}
    if made["session_id"]:
        names["GEMBA_SESSION_ID"] = made["session_id"]
    if wire.workspace_above(made["folder"]) != str(root):  # a worktree elsewhere
        names["GEMBA_WORKSPACE"] = str(root)
    setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in names.items())
    return showable(f"cd {shlex.quote(made['folder'])} && {setting} {made['provider']}")


def _has_bridge(folder: str) -> bool:
    """Whether the client's hooks call Gemba, as far as the settings in its folder tell."""
    for name in ("settings.json", "settings.local.json"):
        with suppress(OSError):
            if b"gemba-bridge" in Path(folder, ".claude", name).read_bytes():
                return True
    return False


def _files(made: dict[str, Any]) -> list[str]:
    path = Path(wire.envelope_path(str(home()), made["id"], ".md"))
    return labelled("briefing:", str(path)) if path.exists() else []


def _lines(item: dict[str, Any], id: str, most: int | None = None) -> list[str]:
    mark = item["status"] or ("refused" if item["repairs"] else _NOT_YET)
    turn = f"turn {item['turn']}" if item["turn"] > 1 else None
    facts = [
        item["role"],
        item["provider"],
        item["session_id"],
        item["task_id"],
        turn,
        f"{age(item['created_at'])} ago",
    ]
    return headline(mark, _COLOURS.get(mark, "cyan"), id, facts) + body_lines(item["goal"], most)


def _details(item: dict[str, Any]) -> list[str]:
    asked, routing = item["envelope"]["agent_contract_handoff"], item["envelope"]["surface_routing"]
    lines = labelled("agent:", item["agent_id"]) + labelled("in:", item["folder"])
    for label, texts in (
        ("done when:", asked["acceptance_criteria"]),
        ("scope:", asked["scope"]),
        ("surfaces:", routing["surfaces"]),
        ("may update:", item["envelope"]["write_permissions"]["writable_sections"]),
        ("required:", [name for name, need in item["policy"].items() if need == "require"]),
        ("refused for:", [", ".join(codes) for codes in item["repairs"]]),
    ):
        if texts:
            lines += labelled(label, "; ".join(texts))
    if item["accepted_id"]:
        lines += labelled("accepted:", item["accepted_id"])
    if item["completed_at"]:
        lines += labelled("complete:", local_time(item["completed_at"]))
    return lines + _files(item)


def _summary(page: dict[str, Any]) -> str:
    shown, total = len(page["dispatches"]), page["total"]
    if not total:
        return "No work was given to agents. Give some with: gemba handoff dispatch GOAL"
    return f"{total} in all" + (f", the newest {shown} shown." if shown < total else ".")
