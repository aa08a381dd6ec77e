"""`gemba answer`: the operator's reply, from the command line."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

import click
import msgspec

from gemba.cli.approval_found import commands_that_decide
from gemba.cli.complete import ids_of
from gemba.cli.door import Door, find_id, item_path, open_door, read_all
from gemba.cli.show import json_option, print_json, short_length
from gemba.errors import GembaError, Invalid, Unusable
from gemba.text import one_line, storable

_MOST_AT_ONCE = 200
_CHECK_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_DELIVERY = {
    "none": "",
    "pending": "The agent has not read it yet.",
    "delivered": "The agent has it.",
    "undelivered": "It is not delivered",
}
_VERIFIED_BY = {"check": "a check must pass it first", "person": "a second person must agree first: gemba confirm ID"}


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", state="unresolved"))
@click.argument("text", required=False)
@click.option("-o", "--option", type=int, metavar="N", help="Choose one of the options by its number.")
@click.option("--value", metavar="JSON", help="Answer with a value, where the ask has a schema for it.")
@click.option("--decision", type=click.Choice(["yes", "no", "modify"]), help="Answer a client's own prompt.")
@click.option("--action", help="Take one of a system card's actions.")
@click.option(
    "--hold", type=click.IntRange(0, 60), metavar="SECONDS", help="Send it only then; until then `gemba undo` works."
)
@click.option("--group", is_flag=True, help="Answer every like question that waits, the same to all.")
@json_option
@click.pass_obj
def command(
    folder: str | None,
    id: str,
    text: str | None,
    option: int | None,
    value: str | None,
    decision: str | None,
    action: str | None,
    hold: int | None,
    group: bool,
    as_json: bool,
) -> None:
    """Answer the escalation ID with TEXT (`-` reads standard input), one of its options, or a value.

    ID may be the end of the id, as `gemba inbox` shows it. What does not fit the ask's options or schema is refused,
    with what would.

    \b
    Example:
      gemba answer 3fa9c1 "use UTC everywhere"
      gemba answer 3fa9c1 --option 2 --hold 10
      gemba answer 3fa9c1 --value '{"port": 8080}'
      gemba answer 3fa9c1 "use UTC everywhere" --group
    """
    if text == "-":
        text = standard_input()
    given: dict[str, Any] = {"text": text, "option": option, "decision": decision, "action": action}
    body = {name: word for name, word in given.items() if word is not None}
    if value is not None:
        body["value"] = parsed_value(value)
    if not body:
        raise click.UsageError(_how_to_answer(folder, id))
    if hold:
        body["hold"] = hold
    with open_door(folder) as door:
        target = find_id(door, "escalation", id, state="unresolved")
        if group:
            _answer_group(door, target, body, as_json)
            return
        answered = _judged(door, _respond(door, target, body))
        if as_json:
            print_json(answered)
        else:
            _tell(answered, by_server=door.is_server)
    refused = answered["proposal"] is not None and answered["proposal"]["state"] == "refused"
    sys.exit(1 if refused else 0)


def _how_to_answer(folder: str | None, id: str) -> str:
    """What a command line without an answer lacks; of a request for approval, the commands that decide it."""
    with contextlib.suppress(GembaError), open_door(folder) as door:
        decided_with = commands_that_decide(door, find_id(door, "escalation", id, state="unresolved"))
        if decided_with is not None:
            return f"{decided_with}."
    return "what is the answer? Give TEXT, --option N, --value JSON, --decision or --action."


def _respond(door: Door, target: str, body: dict[str, Any]) -> dict[str, Any]:
    try:
        answered: dict[str, Any] = door.post(item_path("escalations", target, "respond"), body)
        return answered
    except Invalid as error:
        decided_with = commands_that_decide(door, target)
        if decided_with is None:
            raise
        where = {"pointer": error.pointer, "found": error.found, "allowed": error.allowed}
        raise Invalid(f"{error.message}; {decided_with}", code=error.code, **where) from None


def _judged(door: Door, answered: dict[str, Any]) -> dict[str, Any]:
    """The same after a moment for the check that a server makes, if there is one to wait for."""
    deadline = time.monotonic() + _CHECK_SECONDS
    while door.is_server and _is_being_checked(answered) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
        answered = door.get(item_path("escalations", answered["id"]))
    return answered


def _is_being_checked(item: dict[str, Any]) -> bool:
    proposal = item["proposal"]
    return proposal is not None and (proposal["verifier"], proposal["state"]) == ("check", "waiting")


def _answer_group(door: Door, target: str, body: dict[str, Any], as_json: bool) -> None:
    group_id = door.get(item_path("escalations", target))["group_id"]
    ids = [row["id"] for row in read_all(door, "escalations", state="unresolved", group=group_id)]
    ids = ids or [target]  # it was answered meanwhile: whoever did so is told
    answered: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for start in range(0, len(ids), _MOST_AT_ONCE):
        done = door.post("/api/escalations/respond", {**body, "ids": ids[start : start + _MOST_AT_ONCE]})
        answered += done["answered"]
        refused += done["refused"]
    if as_json:
        print_json({"answered": answered, "refused": refused})
    else:
        for one in answered:
            _tell(one, by_server=door.is_server)
        for one in refused:
            click.echo(f"not answered {one['id']}: {one_line(one['detail'], 200)}")
    sys.exit(0 if answered else 1)


def _tell(item: dict[str, Any], *, by_server: bool) -> None:
    if item["resolution"] is None:
        proposal = item["proposal"]
        if proposal["state"] == "refused":
            click.echo(f"not given {item['id']}: {one_line(proposal['note'] or 'it did not pass', 200)}")
            return
        click.echo(f"proposed for {item['id']}: {one_line(proposal['text'], 80)}")
        click.echo(f"It is not given yet: {_VERIFIED_BY[proposal['verifier']]}.")
        if proposal["verifier"] == "check" and not by_server:
            click.echo("No server runs that makes it: gemba serve starts one, gemba reject takes the answer back.")
        return
    click.echo(f"answered {item['id']}: {one_line(item['resolution']['text'], 80)}")
    if item["held_until"] is not None:
        when = "then" if by_server else "then, by a server or your next command"
        short = item["id"][-short_length([item["id"]]) :]
        click.echo(f"It is held back and sent {when}; take it back with: gemba undo {short}")
        return
    if item["late"]:
        click.echo("Its time had run out: the agent gets it as its next turn.")
    delivery, note = _DELIVERY[item["delivery"]], item["delivery_note"]
    if delivery:
        click.echo(f"{delivery}: {note}." if note else delivery)


def parsed_value(text: str) -> Any:
    try:
        return msgspec.json.decode(storable(text))
    except msgspec.MsgspecError as error:
        raise click.UsageError(
            f"--value is no JSON ({error}); a text in it wants its quotes: '\"like this\"'."
        ) from None


def standard_input() -> str:
    if sys.stdin is None:
        raise Unusable("standard input is closed", code="no_input")
    return sys.stdin.buffer.read().decode("utf-8", "replace")
