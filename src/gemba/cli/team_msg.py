"""`gemba team msg`: the messages on the bus of a team run: posted, read, acknowledged, and what they add up to.

Where it runs in an agent's session (GEMBA_SESSION_ID) it speaks for that: who an agent is in a run the run knows.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

import click
import msgspec

from gemba import typed
from gemba.cli.door import Door, open_door
from gemba.cli.show import body_lines, headline, json_option, labelled, local_time, print_json, print_table, tell
from gemba.cli.team_found import find_run, is_part_of_run
from gemba.errors import Invalid, Unusable
from gemba.text import one_line, showable, storable

_AT_ONCE = 500
_Message = dict[str, Any]

_type = click.option("--type", "kind", help="What it is, such as progress or state_update; any word is taken.")
_from = click.option("--from", "sender", help="Who says it; you, or who your session is, unless you say it.")
_data = click.option("--data", metavar="JSON", help="An object with what its type has.")


@click.group()
def command() -> None:
    """Messages on the bus of a team run. RUN is its id, or enough of it.

    \b
    Example:
      gemba team msg log team-3fa9c1d2e4b5 --type progress "half of it is done"
      gemba team msg list team-3fa9c1d2e4b5 --to tester --since 12
      gemba team msg get-state team-3fa9c1d2e4b5 IMPL-001
    """


@command.command(short_help="Post a message, or many.")
@click.argument("run")
@click.argument("summary", required=False)
@_type
@_from
@click.option("--to", "recipient", help="To whom: a role, a task or all; coordinator unless you say it.")
@_data
@click.option("--lines", type=click.File("rb"), metavar="FILE", help="Messages as JSON, one a line; - for stdin.")
@json_option
@click.pass_obj
def log(
    folder: str | None,
    /,
    run: str,
    summary: str | None,
    kind: str | None,
    sender: str | None,
    recipient: str | None,
    data: str | None,
    lines: Any,
    as_json: bool,
) -> None:
    """Post a message with this SUMMARY on the bus of RUN, or with --lines many: 500 at a time, each 500 all or none.

    \b
    Example:
      gemba team msg log team-3fa9c1d2e4b5 --type progress "half of it is done"
      gemba team msg log team-3fa9c1d2e4b5 --type state_update "login works" \\
        --data '{"task_id": "IMPL-001", "key_findings": ["tokens expire"]}'
      gemba team msg log team-3fa9c1d2e4b5 --lines - <messages.jsonl
    """
    if lines is not None:
        if any(given is not None for given in (summary, kind, sender, recipient, data)):
            raise click.UsageError("With --lines every message says itself what it is.")
        _log_lines(folder, run, _messages_in(lines.read()), as_json)
        return
    if summary is None or kind is None:
        raise click.UsageError(f"Missing {'argument SUMMARY' if summary is None else 'option --type'}.")
    body = {"type": kind, "summary": summary, "from": sender, "to": recipient, "data": _object(data)}
    posted = _post(folder, run, "", body)
    tell(posted, as_json, _told(posted))


@command.command(short_help="Post a message to everybody.")
@click.argument("run")
@click.argument("summary")
@click.option("--type", "kind", required=True, help="What it is; any word is taken.")
@_from
@_data
@json_option
@click.pass_obj
def broadcast(
    folder: str | None, run: str, summary: str, kind: str, sender: str | None, data: str | None, as_json: bool
) -> None:
    """Post a message with this SUMMARY to everybody in RUN.

    \b
    Example:
      gemba team msg broadcast team-3fa9c1d2e4b5 --type notice "the API is frozen now"
    """
    body = {"type": kind, "summary": summary, "from": sender, "data": _object(data)}
    posted = _post(folder, run, "/broadcast", body)
    tell(posted, as_json, _told(posted))


@command.command("list", short_help="Show messages.")
@click.argument("run")
@click.option("--from", "sender", help="Only of this sender.")
@click.option("--to", "recipient", help="Only for this recipient: to it, or to all.")
@click.option("--type", "kind", help="Only of this type; several as a comma list.")
@click.option("--since", type=click.IntRange(0), help="Only after the message of this number.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(
    folder: str | None,
    run: str,
    sender: str | None,
    recipient: str | None,
    kind: str | None,
    since: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show the latest messages of RUN, or with --since the first ones after a message.

    \b
    Example:
      gemba team msg list team-3fa9c1d2e4b5 --to tester --since 12
      gemba team msg list team-3fa9c1d2e4b5 --type blocker,error --json
    """
    query = {"from": sender, "to": recipient, "type": kind, "since": since, "limit": limit}
    with open_door(folder) as door:
        page = door.get(_path(door, run), **query)
    if as_json:
        print_json(page)
        return
    for message in page["messages"]:
        click.echo("\n".join(_lines(message)))
    shown = len(page["messages"])
    where = "after these" if since is not None else "before these"
    rest = f"; more {where}" if page["more"] else ""
    click.echo(f"{shown} shown; the last message of the run is {page['last']}{rest}." if page["last"] else "None yet.")


@command.command(short_help="Show one message whole.")
@click.argument("run")
@click.argument("number", type=click.IntRange(1))
@json_option
@click.pass_obj
def read(folder: str | None, run: str, number: int, as_json: bool) -> None:
    """Show the message NUMBER of RUN with its data.

    \b
    Example:
      gemba team msg read team-3fa9c1d2e4b5 12
    """
    with open_door(folder) as door:
        message = door.get(f"{_path(door, run)}/{number}")
    if as_json:
        print_json(message)
        return
    data = msgspec.json.format(msgspec.json.encode(message["data"]), indent=2).decode()
    click.echo("\n".join([*_lines(message), *(body_lines(data) if message["data"] else [])]))


@command.command(short_help="Show who has read how much.")
@click.argument("run")
@json_option
@click.pass_obj
def status(folder: str | None, run: str, as_json: bool) -> None:
    """Show who in RUN has read how much, and what each said last.

    \b
    Example:
      gemba team msg status team-3fa9c1d2e4b5
    """
    with open_door(folder) as door:
        found = door.get(f"{_path(door, run)}/status")
    if as_json:
        print_json(found)
        return
    rows = [(one_line(each["name"], 40), each["unread"], each["seen"]) for each in found["recipients"]]
    print_table(("recipient", "unread", "read up to"), rows)
    if found["senders"]:
        click.echo()
        said = [(each["name"], each["messages"], each["last"]) for each in found["senders"]]
        print_table(
            ("sender", "messages", "said last"),
            [
                (one_line(name, 40), many, one_line(f"{last['id']} {last['type']}: {last['summary']}", 200))
                for name, many, last in said
            ],
        )


@command.command("get-state", short_help="Show what was reported of tasks.")
@click.argument("run")
@click.argument("task", required=False)
@click.option("--after", help="Only tasks after this one, by their ids.")
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def get_state(folder: str | None, run: str, task: str | None, after: str | None, limit: int, as_json: bool) -> None:
    """Show what was reported of the tasks of RUN, or of one TASK: all its updates merged.

    \b
    Example:
      gemba team msg get-state team-3fa9c1d2e4b5
      gemba team msg get-state team-3fa9c1d2e4b5 IMPL-001 --json
    """
    with open_door(folder) as door:
        page = door.get(f"{_path(door, run)}/state", task_id=task, after=after, limit=limit)
    if as_json:
        print_json(page)
        return
    for state in page["states"]:
        facts = [state["verification"], f"message {state['message_id']}", local_time(state["ts"])]
        lines = headline("", None, showable(state["task_id"]), facts)
        for label, values in (
            ("ref:", [state["ref"]] if state["ref"] else []),
            ("found:", state["key_findings"]),
            ("decided:", [f"{each['decision']} ({each['reason']})" for each in state["decisions"]]),
            ("modified:", state["files_modified"]),
        ):
            for value in values:
                lines += labelled(label, value)
        click.echo("\n".join(lines) + "\n")
    more = " There are more: --after the last one." if page["more"] else ""
    click.echo(f"{len(page['states'])} shown.{more}" if page["states"] else "Nothing was reported yet.")


@command.command(short_help="Say how far you have read.")
@click.argument("run")
@click.option("--as", "recipient", metavar="NAME", help="Who has read; you unless you say it.")
@click.option("--up-to", type=click.IntRange(0), metavar="NUMBER", help="Up to this message; the last one otherwise.")
@json_option
@click.pass_obj
def ack(folder: str | None, run: str, recipient: str | None, up_to: int | None, as_json: bool) -> None:
    """Say that the messages of RUN were read. What was acknowledged before stays so.

    \b
    Example:
      gemba team msg ack team-3fa9c1d2e4b5 --as tester --up-to 12
    """
    cursor = _post(folder, run, "/ack", {"recipient": recipient, "up_to": up_to})
    words = f"{showable(cursor['name'])} has read up to {cursor['seen']}; {cursor['unread']} unread"
    tell(cursor, as_json, words)


def _path(door: Door, run: str) -> str:
    """A part of an id is looked up. Never a path of its own: whatever else it is, it stands between two slashes."""
    id = find_run(door, run) if is_part_of_run(run) else run
    return f"/api/teams/{quote(storable(id), safe='')}/messages"


def _post(folder: str | None, run: str, verb: str, body: dict[str, Any]) -> Any:
    with open_door(folder) as door:
        return door.post(f"{_path(door, run)}{verb}", _spoken(body))


def _spoken(body: dict[str, Any]) -> dict[str, Any]:
    """The body, less what was not given, for the session that this is called in."""
    given = {"session_id": os.environ.get("GEMBA_SESSION_ID", "").strip() or None, **body}
    return {name: value for name, value in given.items() if value is not None}


def _log_lines(folder: str | None, run: str, messages: list[_Message], as_json: bool) -> None:
    """What is too much for once goes in parts. Of one that is refused nothing is posted, of those before it all."""
    unknown: set[str] = set()
    first = last = 0
    with open_door(folder) as door:
        for start in range(0, len(messages), _AT_ONCE):
            part = messages[start : start + _AT_ONCE]
            try:
                posted = door.post(_path(door, run), _spoken({"messages": part}))
            except Invalid as error:
                before = f"of {len(messages)} messages {start} are posted; then " if start else ""
                raise Invalid(f"{before}{error.message}", code=error.code, pointer=error.pointer) from None
            first, last = first or posted["first"], posted["last"]
            unknown |= set(posted["unknown_types"])
    whole = {"run_id": run, "first": first, "last": last, "unknown_types": sorted(unknown)}
    tell({**whole, "count": len(messages)}, as_json, f"{len(messages)} posted, up to message {last}{_marks(whole)}")


def _messages_in(data: bytes) -> list[_Message]:
    found: list[_Message] = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                found.append(typed.decode(line, dict[str, Any]))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise Invalid(f"line {number} is no message: {error}", code="malformed_json") from None
    if not found:
        raise Unusable("there is no message in it; one is a JSON object on a line", code="no_input")
    return found


def _object(data: str | None) -> _Message | None:
    if data is None:
        return None
    try:
        return typed.decode(storable(data), dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise click.UsageError(f"--data is no JSON object ({error}).") from None


def _told(posted: dict[str, Any]) -> str:
    return f"message {posted['last']}{_marks(posted)}"


def _marks(posted: dict[str, Any]) -> str:
    unknown = ", ".join(posted["unknown_types"])
    return f" (no schema is known for {one_line(unknown, 80)})" if unknown else ""


def _lines(message: _Message) -> list[str]:
    kind = showable(message["type"]) + ("" if message["known"] else " (unknown type)")
    way = f"{message['from']} → {message['to']}"
    lines = headline("", None, str(message["id"]), [kind, way, local_time(message["ts"])])
    return [*lines, *body_lines(message["summary"])]
