"""`gemba session`: start agents, see them, stop them. Works through the running server or, without one, by itself."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

import click

from gemba.cli.answer import standard_input
from gemba.cli.complete import ids_of
from gemba.cli.door import Door, find_id, find_named, item_path, open_door
from gemba.cli.session_text import left, only_there, session_details, session_lines
from gemba.cli.show import json_option, or_else, print_json, tell
from gemba.errors import Conflict
from gemba.text import showable


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Start agents, see what they do, stop them. Alone it lists them.

    \b
    Example:
      gemba session start --agent builtin "run: make test"
      gemba session
      gemba session stop builtin-3fa9c1d2
    """
    or_else(ctx, show_list, as_json)


@command.command(short_help="Start an agent.")
@click.argument("task", default="")
@click.option("--agent", required=True, metavar="TYPE", help="Which one; gemba agents lists them.")
@click.option("--id", metavar="ID", help="Its name.  [default: one is made]")
@click.option("--title", metavar="TEXT", help="For the lists.  [default: the task's first line]")
@click.option("--role", type=click.Choice(["coach", "manager"]), help="What it may do: a coach raises no blocker.")
@click.option("--mode", type=click.Choice(["dangerous", "balanced", "cautious"]), help="Instead of its type's.")
@click.option("--bead", metavar="ID", help="The work item.")
@click.option("--dispatch", metavar="ID", help="The dispatch that it works on.")
@click.option("--here", is_flag=True, help="In the workspace itself, not in a worktree of its own.")
@json_option
@click.pass_obj
def start(
    folder: str | None,
    /,
    task: str,
    agent: str,
    here: bool,
    as_json: bool,
    bead: str | None,
    dispatch: str | None,
    **given: str | None,
) -> None:
    """Start an agent with TASK (`-`: standard input), in a git worktree and on a branch of its own.

    \b
    Example:
      gemba session start --agent claude "Make the tests pass" --role manager
      gemba session start --agent command - < task.md
    """
    body: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    body |= {"agent": agent, "task": standard_input() if task == "-" else task, "worktree": not here}
    if bead is not None:
        body["bead_id"] = bead
    with open_door(folder) as door:
        if dispatch is not None:
            body["dispatch_id"] = find_id(door, "dispatch", dispatch)
        made = door.post("/api/sessions", body)
        if not door.is_server:  # a server starts it by and by; without one that was tried at once
            made = door.get(item_path("sessions", made["id"]))
    if made["run"]["trouble"]:
        raise click.ClickException(f"session {made['id']} could not be started: {made['run']['trouble']}")
    tell(made, as_json, f"started {showable(made['id'])}; gemba session show {showable(made['id'])} tells how it goes")


@command.command("list", short_help="Show the sessions.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(folder: str | None, limit: int = 50, as_json: bool = False) -> None:
    """Show the sessions, the one heard of last first.

    \b
    Example:
      gemba session list --limit 10
    """
    with open_door(folder) as door:
        page = door.get("/api/sessions", limit=limit)
    if as_json:
        print_json(page)
        return
    for item in page["sessions"]:
        click.echo("\n".join(session_lines(item)) + "\n")
    click.echo(f"{len(page['sessions'])} shown." if page["sessions"] else "No agent was heard of yet.")


@command.command(short_help="Show one session.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@json_option
@click.pass_obj
def show(folder: str | None, id: str, as_json: bool) -> None:
    """Show the session ID: what it does, where, and how it ended.

    \b
    Example:
      gemba session show builtin-3fa9c1d2
    """
    with open_door(folder) as door:
        item = door.get(_path(door, id))
    if as_json:
        print_json(item)
    else:
        click.echo("\n".join(session_lines(item) + session_details(item)))


@command.command(short_help="Stop an agent.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@json_option
@click.pass_obj
def stop(folder: str | None, id: str, as_json: bool) -> None:
    """Stop the session ID and everything it started. Its worktree and its branch stay.

    \b
    Example:
      gemba session stop builtin-3fa9c1d2
    """
    with open_door(folder) as door:
        item = door.post(_path(door, id, "stop"), {})
    how = "is being stopped" if item["run"]["ended_at"] is None else "is over"
    tell(item, as_json, f"{showable(item['id'])} {how}")


@command.command(short_help="Let a session's worktree go.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@click.option("--shown", metavar="SEAL", help="You have seen what is only there, under this seal; it goes too.")
@json_option
@click.pass_obj
def release(folder: str | None, id: str, shown: str | None, as_json: bool) -> None:
    """Remove the worktree of the session ID, which is over, and its branch if all of it is merged.

    While files are not committed or commits not merged it lists them, with a seal, and refuses. Given that seal it
    removes the worktree all the same: the branch stays, and the files are kept under refs/gemba/released/.

    \b
    Example:
      gemba session release builtin-3fa9c1d2
      gemba session release builtin-3fa9c1d2 --shown 5d41402abc4b2a76
    """
    with open_door(folder) as door:
        id = find_named(door, "session", id)
        try:
            item = door.post(item_path("sessions", id, "release"), {} if shown is None else {"shown": shown})
        except Conflict as conflict:
            if conflict.code != "worktree_unsaved":
                raise
            found = door.get(item_path("sessions", id, "worktree"))
            if found["worktree"] is None:
                raise
            tell(found, as_json, "\n".join(only_there(found["worktree"])))
            how = f"gemba session release {showable(id)} --shown {found['worktree']['seal']}"
            raise click.ClickException(
                f"it stays; to let it go, with all of this kept in the repository: {how}"
            ) from None
    tell(item, as_json, "; ".join([f"the worktree of {showable(id)} is gone", *left(item["run"])]))


@command.command(short_help="Type a prompt to an agent.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@click.argument("text")
@json_option
@click.pass_obj
def send(folder: str | None, id: str, text: str, as_json: bool) -> None:
    """Type TEXT (`-`: standard input) to the session ID, as its next prompt.

    It waits while a dialog of the agent's client is open.

    \b
    Example:
      gemba session send claude-3fa9c1d2 "and write a test for it"
    """
    with open_door(folder) as door:
        made = door.post(_path(door, id, "send"), {"text": standard_input() if text == "-" else text})
    tell(made, as_json, f"it is typed to {showable(made['session_id'])} as soon as it can be")


@command.command(short_help="Interrupt an agent.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@json_option
@click.pass_obj
def interrupt(folder: str | None, id: str, as_json: bool) -> None:
    """Interrupt what the session ID does, as ^C does in a terminal.

    \b
    Example:
      gemba session interrupt claude-3fa9c1d2
    """
    with open_door(folder) as door:
        made = door.post(_path(door, id, "interrupt"), {})
    tell(made, as_json, f"{showable(made['session_id'])} is being interrupted")


@command.command(short_help="Show what an agent printed.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@click.option("--lines", type=click.IntRange(1, 5000), default=50, show_default=True, help="How many of the last.")
@json_option
@click.pass_obj
def logs(folder: str | None, id: str, lines: int, as_json: bool) -> None:
    """Show the end of what the session ID shows.

    \b
    Example:
      gemba session logs builtin-3fa9c1d2 --lines 200
    """
    with open_door(folder) as door:
        found = door.get(_path(door, id, "transcript"), lines=lines)
    if as_json:
        print_json(found)
    else:
        click.echo(showable(found["text"]))


@command.command(short_help="Look at an agent in its terminal.")
@click.argument("id", shell_complete=ids_of("sessions", whole=True))
@click.option("--print", "only_print", is_flag=True, help="Print the command that does it, as without a terminal.")
@json_option
@click.pass_obj
def attach(folder: str | None, id: str, only_print: bool, as_json: bool) -> None:
    """Look at the session ID in its terminal, and type there; Ctrl-b d leaves it as it is.

    \b
    Example:
      gemba session attach claude-3fa9c1d2
    """
    with open_door(folder) as door:
        found = door.get(_path(door, id, "transcript"), lines=1)
    if found["attach"] is None:
        name = showable(found["session_id"])
        raise click.ClickException(f"{name} has no terminal to look at; gemba session logs shows its words")
    if not (as_json or only_print) and sys.stdin.isatty() and sys.stdout.isatty():
        words = shlex.split(found["attach"])
        os.execvp(words[0], words)  # noqa: S606 - the point of it
    tell({"session_id": found["session_id"], "attach": found["attach"]}, as_json, found["attach"])


def _path(door: Door, given: str, verb: str = "") -> str:
    return item_path("sessions", find_named(door, "session", given), verb)
