"""`gemba walk` for scripts: each step of a walk as a command, with its document as JSON."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import click
import msgspec

from gemba import clock
from gemba.cli.complete import ids_of
from gemba.cli.door import Door, find_id, open_door
from gemba.cli.item_text import find_item as find_work
from gemba.cli.show import json_option, print_items, print_json, tell
from gemba.cli.walk_found import (
    NOW,
    asked_in_full,
    find_item,
    finished,
    last_decided,
    last_event,
    own_walk,
    perspectives_on,
    read_walk,
    shown_walk,
    walk_path,
)
from gemba.cli.walk_text import (
    Walk,
    active_item,
    asked_lines,
    comment_lines,
    decided,
    ended_lines,
    hint_line,
    item_lines,
    lines_of_list,
    lines_of_one,
    said_lines,
    totals_lines,
)
from gemba.errors import Invalid, NotFound
from gemba.text import one_line

_KINDS = ("ratify", "modify", "reject", "defer", "handoff")
_SPAN = re.compile(r"(\d{1,7})([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@click.command("list", short_help="List walks, newest first.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(folder: str | None, limit: int, as_json: bool) -> None:
    """List walks: how far each is, whose it is; and what waits for you now.

    \b
    Example:
      gemba walk list --json | jq '.hint.offer'
    """
    with open_door(folder) as door:
        page = door.get("/api/walks", limit=limit)
    if as_json:
        print_json(page)
        return
    print_items(page["walks"], lines_of_list)
    rest = f", the newest {len(page['walks'])} shown" if len(page["walks"]) < page["total"] else ""
    click.echo(f"{page['total']} in all{rest}. " * bool(page["total"]) + hint_line(page["hint"]))


@click.command(short_help="Show a walk: its agenda, what is on the table, what came of it.")
@click.argument("id", required=False, shell_complete=ids_of("walks"))
@click.option("--transcript", is_flag=True, help="Also what was said.")
@json_option
@click.pass_obj
def show(folder: str | None, id: str | None, transcript: bool, as_json: bool) -> None:
    """Show the walk ID; without one yours that is open, or else the newest.

    \b
    Example:
      gemba walk show --transcript
    """
    with open_door(folder) as door:
        found = shown_walk(door, id)
    print_json(found) if as_json else click.echo("\n".join(lines_of_one(found, with_transcript=transcript)))


@click.command(short_help="Begin a walk over everything that waits.")
@click.option("--label", metavar="WORDS", default="", help="What you call it.")
@json_option
@click.pass_obj
def start(folder: str | None, label: str, as_json: bool) -> None:
    """Begin your walk: the agenda fills itself with everything that waits, the most urgent first, and the first item is
    taken up. You have one walk at a time.

    \b
    Example:
      gemba walk start --label "Monday morning"
    """
    with open_door(folder) as door:
        _tell_walk(door, door.post("/api/walks", {"label": label}), as_json)


@click.command(short_help="Put something on the agenda.")
@click.argument("ref", required=False)
@click.option("--topic", metavar="WORDS", help="Something to talk about that is in no list.")
@click.option("--priority", type=click.IntRange(0, 9), help="0 goes first.")
@json_option
@click.pass_obj
def add(folder: str | None, ref: str | None, topic: str | None, priority: int | None, as_json: bool) -> None:
    """Put REF on the agenda of your walk: an escalation, a work item, a session, or RUN/TASK of a team. With neither
    REF nor --topic everything that came to wait since is pulled in.

    \b
    Example:
      gemba walk add 3fa9c1
      gemba walk add --topic "who is on call next week"
      gemba walk add
    """
    if ref is not None and topic is not None:
        raise click.UsageError("REF and --topic are two things; give one of them.")
    with open_door(folder) as door:
        id = own_walk(door)
        before = read_walk(door, id)["items"]
        body = {"ref": None if ref is None else _ref(door, ref), "topic": topic, "priority": priority}
        found = door.post(walk_path(id, "agenda"), {name: value for name, value in body.items() if value is not None})
    added = found["items"] - before
    tell(found, as_json, f"{added} added; {found['left']} of {found['items']} left")


@click.command("next", short_help="Take up the next item, or one of your choice.")
@click.argument("item", required=False)
@json_option
@click.pass_obj
def take_next(folder: str | None, item: str | None, as_json: bool) -> None:
    """Take up the next item of your walk; what was on the table stays in its place. ITEM is a number of the agenda, or
    enough of an id: that one is taken up, also one that you put off.

    \b
    Example:
      gemba walk next
      gemba walk next 7
    """
    with open_door(folder) as door:
        id = own_walk(door)
        body = {} if item is None else {"item": find_item(read_walk(door, id), item)["id"]}
        _tell_walk(door, door.post(walk_path(id, "turn"), body), as_json)


@click.command(short_help="Decide an item; the next one is taken up.")
@click.argument("item")
@click.argument("kind", type=click.Choice(_KINDS))
@click.option("--action", type=click.IntRange(1, 3), help="Which of the proposed actions.  [default: 1]")
@click.option("--text", metavar="WORDS", help="For modify: your own reply in words.")
@click.option("--edited", metavar="JSON", help="For modify: the request as you want it, of verb, path and body.")
@click.option("--why", metavar="WORDS", help="The reason; reject wants one.")
@click.option("--persona", metavar="ID", help="For handoff: to whom; see `gemba persona`.")
@click.option("--until", metavar="TIME", help="For defer: 30m, 2h, 1d, an RFC 3339 time, or backlog for work.")
@click.option(
    "--hold", type=click.IntRange(0, 60), metavar="SECONDS", help="Send an answer only then; until then undo works."
)
@json_option
@click.pass_obj
def decide(folder: str | None, /, item: str, kind: str, as_json: bool, **given: Any) -> None:
    """Decide ITEM of your walk: a number of the agenda, enough of an id, or `now` for the one on the table.

    \b
    ratify   do what is proposed
    modify   do it as you want it: --text or --edited
    reject   leave it, with --why; an agent that asked is told
    defer    later: --until
    handoff  --persona proposes something; the item stays

    \b
    Example:
      gemba walk decide now ratify --action 2
      gemba walk decide 3 modify --text "use 8080"
      gemba walk decide 4 reject --why "not before the release"
      gemba walk decide 5 defer --until backlog
    """
    body = {
        "kind": kind,
        "action": given["action"],
        "edited": _edited(given["text"], given["edited"]),
        "rationale": given["why"],
        "persona": given["persona"],
        "until": _until(given["until"]),
        "hold": given["hold"],
    }
    with open_door(folder) as door:
        id = own_walk(door)
        chosen = find_item(read_walk(door, id), item)["id"]
        asked = {name: value for name, value in body.items() if value is not None}
        done = door.post(walk_path(id, "decide", chosen), asked)
        if as_json:
            print_json(done)
            return
        click.echo(f"{decided(done['item'])}: {one_line(done['item']['topic'], 100)}")
        _tell_walk(door, read_walk(door, id), as_json)


@click.command(short_help="Take a decision back; it is on the table again.")
@click.argument("item", required=False)
@json_option
@click.pass_obj
def undo(folder: str | None, item: str | None, as_json: bool) -> None:
    """Take back what was decided of ITEM of your walk, or what was decided last, where its effect can be: an answer
    while it is held back (`decide --hold`), an approval until it is used, a change of work until it is changed again.
    The item is on the table again; what cannot be taken back says so, and nothing changes.

    \b
    Example:
      gemba walk undo
      gemba walk undo 3
    """
    with open_door(folder) as door:
        walk = read_walk(door, own_walk(door))
        meant = last_decided(walk) if item is None else find_item(walk, item)
        if meant is None:
            raise NotFound("nothing was decided on this walk", code="not_found")
        found = door.post(walk_path(walk["id"], "take-back", meant["id"]), {})
        if not as_json:
            click.echo(f"taken back: {decided(meant)}: {one_line(meant['topic'], 100)}")
        _tell_walk(door, found, as_json)


@click.command(short_help="Say something to the Project Manager.")
@click.argument("message")
@json_option
@click.pass_obj
def say(folder: str | None, message: str, as_json: bool) -> None:
    """Say MESSAGE on your walk. The Project Manager answers where a model is at hand; what was said is kept.

    \b
    Example:
      gemba walk say "what would it cost to wait until Friday?"
    """
    with open_door(folder) as door:
        id = own_walk(door)
        before = max((said["number"] for said in read_walk(door, id)["transcript"]), default=0)
        found = door.post(walk_path(id, "turn"), {"message": message})
    if as_json:
        print_json(found)
        return
    for said in found["transcript"]:
        if said["number"] > before and said["speaker"] != "operator":
            click.echo("\n".join(said_lines(said)))


@click.command(short_help="Ask every persona for a comment.")
@click.argument("item", required=False)
@click.option("--ref", metavar="ID", help="On a work item, an escalation, a handoff or RUN/TASK, outside of a walk.")
@json_option
@click.pass_obj
def perspectives(folder: str | None, item: str | None, ref: str | None, as_json: bool) -> None:
    """Ask every persona for one comment on ITEM of your walk, or on the one on the table. Each answers by its
    volunteer_mode; who was not asked is named with the reason.

    \b
    Example:
      gemba walk perspectives
      gemba walk perspectives --ref shop-7f3k
    """
    if item is not None and ref is not None:
        raise click.UsageError("ITEM and --ref are two things; give one of them.")
    with open_door(folder) as door:
        seen = last_event(door)
        if ref is not None:
            asked = door.post("/api/perspectives", {"ref": _ref(door, ref)})
        else:
            id = own_walk(door)
            body = {} if item is None else {"item": find_item(read_walk(door, id), item)["id"]}
            asked = door.post(walk_path(id, "perspectives"), body)
        if as_json:
            print_json(asked)
            return
        consults = [one["id"] for one in asked["consults"]]
        finished(door, consults, seen)
        said = perspectives_on(door, asked["ref"], consults)
    click.echo("\n".join(asked_lines(asked)))
    for one in said:
        click.echo("\n".join(["", *comment_lines(one, asked["ref"])]))


@click.command(short_help="Let your walk rest.")
@json_option
@click.pass_obj
def pause(folder: str | None, as_json: bool) -> None:
    """Let your walk rest. Nothing of it is lost: agenda, transcript and cost stay.

    \b
    Example:
      gemba walk pause
    """
    with open_door(folder) as door:
        found = _move(door, "pause", {})
    tell(found, as_json, f"{found['id']} rests, {found['left']} of {found['items']} left")


@click.command(short_help="Go on with your walk.")
@json_option
@click.pass_obj
def resume(folder: str | None, as_json: bool) -> None:
    """Go on with your walk where it stood. What was so far stands before your next message.

    \b
    Example:
      gemba walk resume
    """
    with open_door(folder) as door:
        _tell_walk(door, _move(door, "resume", {}), as_json)


@click.command(short_help="End your walk, with a summary.")
@click.option("--abandon", is_flag=True, help="It does not count as gone through.")
@json_option
@click.pass_obj
def end(folder: str | None, abandon: bool, as_json: bool) -> None:
    """End your walk and print its summary. What is left on the agenda waits as it did.

    \b
    Example:
      gemba walk end
    """
    with open_door(folder) as door:
        found = _move(door, "end", {"abandon": abandon})
    tell(found, as_json, "\n".join(ended_lines(found)))


def _move(door: Door, verb: str, body: dict[str, Any]) -> Walk:
    found: Walk = door.post(walk_path(own_walk(door), verb), body)
    return found


def _tell_walk(door: Door, walk: Walk, as_json: bool) -> None:
    """What is on the table now, and how to decide it."""
    if as_json:
        print_json(walk)
        return
    item = active_item(walk)
    if item is None:
        click.echo("\n".join(["Nothing more is on the agenda.", *totals_lines(walk["totals"])]))
        click.echo("End it with: gemba walk end")
        return
    click.echo("\n".join(item_lines(walk, item, asked=asked_in_full(door, item))))
    click.echo(f"\nDecide with: gemba walk decide {NOW} {'|'.join(_KINDS)}")


def _ref(door: Door, given: str) -> str:
    """By the end of an id where it is an escalation's or an item's; all else as it was given."""
    if re.fullmatch(r"[A-Za-z0-9._-]{1,128}", given):
        with contextlib.suppress(NotFound, Invalid):
            return find_work(door, given)
        with contextlib.suppress(NotFound, Invalid):
            return find_id(door, "escalation", given, state="unresolved")
    return given


def _edited(text: str | None, edited: str | None) -> dict[str, Any] | None:
    if text is not None and edited is not None:
        raise click.UsageError("--text and --edited are two ways to say it; give one of them.")
    if edited is None:
        return None if text is None else {"text": text}
    try:
        found = msgspec.json.decode(edited)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise click.UsageError(f"--edited is no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise click.UsageError("--edited is no JSON object, of verb, path and body.")
    return found


def _until(given: str | None) -> str | None:
    span = None if given is None else _SPAN.fullmatch(given)
    if span is None:
        return given
    return clock.rfc3339(clock.now() + int(span[1]) * _UNITS[span[2]] * clock.SECOND)
