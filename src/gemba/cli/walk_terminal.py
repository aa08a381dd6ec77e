"""A walk at the terminal: one item, one key, one decision; `gemba walk` without a command.

Everything that is decided is stored before the next item is shown, so that a terminal that is closed, a process that is
killed or a server that goes away leaves the walk where it stood. Ctrl-C rests the walk. What agents wrote is shown as
text and drives nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import click
import msgspec

from gemba.cli.approval_found import asked_by
from gemba.cli.consult_text import lines_of_one as consult_lines
from gemba.cli.door import Door, open_door
from gemba.cli.keyboard import Keyboard
from gemba.cli.show import labelled, width
from gemba.cli.walk_found import (
    asked_in_full,
    finished,
    is_approval,
    is_over,
    last_event,
    perspectives_on,
    read_walk,
    walk_path,
)
from gemba.cli.walk_text import (
    Item,
    Walk,
    action_lines,
    active_item,
    agenda_lines,
    asked_lines,
    comment_lines,
    decided,
    item_lines,
    said_lines,
    to_go,
    totals_lines,
)
from gemba.errors import Conflict, GembaError
from gemba.text import fold, one_line, showable

_OVER = ("completed", "abandoned")
_ON_TABLE = "r ratify · 1-3 choose · m modify · x reject · d defer · h hand off · n next · p perspectives · ? all keys"
_NOTHING_LEFT = "e end the walk · a pull in what came · g go to one · t say · q rest and leave"
_HELP = (
    ("r", "ratify: do what is proposed and chosen"),
    ("1 2 3", "choose another of the proposed actions"),
    ("m", "modify: change the chosen action, then do it"),
    ("x", "reject, with a reason; an agent that asked is told"),
    ("d", "defer: then h an hour, t tomorrow, b the backlog (for work)"),
    ("h", "hand off to another persona, which proposes"),
    ("n", "next, and decide this one later"),
    ("g", "show the agenda, and go to a number of it"),
    ("p", "perspectives: a comment of each persona"),
    ("c", "the Project Manager's order of the epics"),
    ("t", "say something to the Project Manager"),
    ("a", "pull in what came to wait meanwhile"),
    ("s", "rest: the walk is paused until the next key"),
    ("e", "end the walk, with a summary"),
    ("q", "rest and leave; gemba walk goes on (Ctrl-C does the same)"),
)


def walk_here(folder: str | None, label: str) -> None:
    """Begin this operator's walk or go on with it, until it is over or they leave."""
    with contextlib.ExitStack() as doors:
        sitting = _Sitting(folder, doors)
        sitting.begin(label)
        with Keyboard() as keyboard:
            sitting.keyboard = keyboard
            try:
                sitting.go()
            except (KeyboardInterrupt, EOFError):
                sitting.rest()


class _Sitting:
    """What is shown and asked at one terminal; the walk itself is stored."""

    keyboard: Keyboard

    def __init__(self, folder: str | None, doors: contextlib.ExitStack) -> None:
        self._folder = folder
        self._doors = doors
        self.door: Door = doors.enter_context(open_door(folder))
        self.walk: Walk = {}
        self._selected = 1
        self._said = 0  # the last line of the transcript that was shown
        self._asked: dict[str, list[str]] = {}  # by item the comments that were asked for here

    # ---- begin, go on, rest, end -------------------------------------------------------------------------------------

    def begin(self, label: str) -> None:
        mine = self.door.get("/api/walks", limit=1)["hint"]["open_walk"]
        if mine is None:
            self.walk = self.door.post("/api/walks", {"label": label} if label else {})
            many = self.walk["items"]
            click.echo(f"{self._name()}: {many} thing{'' if many == 1 else 's'} to go through.")
        else:
            self._go_on(mine)
        self._said = len(self.walk["transcript"]) and self.walk["transcript"][-1]["number"]

    def _go_on(self, id: str) -> None:
        self.walk = read_walk(self.door, id)
        click.echo(f"{self._name()} goes on where it stood.")
        if self.walk["status"] == "paused":
            self.walk = self.door.post(walk_path(id, "resume"), {})
        if self.walk["synopsis"]:
            click.echo("\n".join(labelled("so far:", self.walk["synopsis"])))

    def _name(self) -> str:
        label = one_line(self.walk["label"], 40)
        return f"{self.walk['id']}{f' ({label})' if label else ''}"

    def go(self) -> None:
        shown: str | None = None
        while self.walk["status"] not in _OVER:
            item = active_item(self.walk)
            name = "" if item is None else item["id"]
            if name != shown:
                self._selected = 1
                self._show(item)
                shown = name
            try:
                if self._press(self.keyboard.key(), item):
                    shown = None
            except _Left:
                return
            except GembaError as error:
                lost = error.code == "server_unreachable"
                self._lost() if lost else self._refused(error)
                shown = None if lost or is_over(error) else shown
        self._finish()

    def _press(self, key: str, item: Item | None) -> bool:
        """Do what a key stands for; whether what is on the table has to be shown again."""
        anywhere = _ANYWHERE.get(key)
        if anywhere is not None:
            return anywhere(self)
        with_item = _WITH_ITEM.get(key)
        if with_item is not None and item is not None and item["framing"] is not None:
            return with_item(self, item)
        if key in ("1", "2", "3") and item is not None and item["framing"] is not None:
            return self._choose(int(key), item)
        return False

    def rest(self) -> None:
        """Pause the walk and say how it goes on; whatever is wrong, the walk is where it stood."""
        id = self.walk["id"]
        with contextlib.suppress(GembaError, KeyboardInterrupt):
            self.door.post(walk_path(id, "pause"), {})
        click.echo(f"\n{id} rests; gemba walk goes on with it.")

    def _leave(self) -> bool:
        self.rest()
        raise _Left

    def _finish(self) -> None:
        click.echo("\n".join(["", f"{self._name()} is {self.walk['status']}.", *totals_lines(self.walk["totals"])]))
        click.echo(f"Its summary: gemba walk show {self.walk['id']}")

    def _lost(self) -> None:
        """A server that went away: the same workspace without it, or with the next one."""
        click.echo("gemba: the server did not answer; going on without it", err=True)
        self._doors.close()
        self.door = self._doors.enter_context(open_door(self._folder))
        self._read()

    def _refused(self, error: GembaError) -> None:
        click.echo(click.style("\n".join(fold(f"✗ {error.plain}", width())), fg="red"))
        self._read()
        if self.walk["status"] == "paused":  # another surface rests it
            self._rest_here()

    def _read(self) -> None:
        self._take(read_walk(self.door, self.walk["id"]))

    def _take(self, walk: Walk) -> None:
        """The walk as it is now, with what it has to say itself; not what the operator asked for just now."""
        self.walk = walk
        for said in walk["transcript"]:
            if said["number"] > self._said and said["speaker"] == "walk" and not said["who"]:
                click.echo("\n".join(said_lines(said)))
        self._said = max([self._said, *(said["number"] for said in walk["transcript"])])

    # ---- what is shown -----------------------------------------------------------------------------------------------

    def _show(self, item: Item | None) -> None:
        click.echo()
        if item is None:
            click.echo("\n".join(["Nothing more is on the agenda.", *totals_lines(self.walk["totals"])]))
            self._keys(_NOTHING_LEFT)
            return
        click.echo("\n".join(item_lines(self.walk, item, self._selected, asked_in_full(self.door, item))))
        self._keys(_ON_TABLE)

    def _keys(self, words: str) -> None:
        """A key stays on the line of what it does."""
        whole = " · ".join(part.replace(" ", "\u00a0") for part in words.split(" · "))
        lines = [line.replace("\u00a0", " ") for line in fold(whole, width())]
        click.echo(click.style("\n".join(lines), fg="bright_black"))

    def _help(self) -> bool:
        click.echo("\n".join(line for keys, words in _HELP for line in labelled(f"{keys:<5}", words)))
        return False

    def _again(self) -> bool:
        self._read()
        return True

    # ---- decisions ---------------------------------------------------------------------------------------------------

    def _choose(self, number: int, item: Item) -> bool:
        if number <= len(item["framing"]["actions"]) and number != self._selected:
            self._selected = number
            click.echo("\n".join(action_lines(item, number)))
        return False

    def _decide(self, item: Item, kind: str, **more: Any) -> dict[str, Any]:
        body = {"kind": kind, **{name: value for name, value in more.items() if value is not None}}
        done: dict[str, Any] = self.door.post(walk_path(self.walk["id"], "decide", item["id"]), body)
        made = done["item"]["decision"]
        what = f": {one_line(made['action']['label'], 60)}" if made["action"] else ""
        click.echo(click.style(f"✓ {decided(done['item'])}", fg="green") + what)
        self._read()
        return done

    def _ratify(self, item: Item) -> bool:
        self._decide(item, "ratify", action=self._selected)
        return True

    def _modify(self, item: Item) -> bool:
        action = item["framing"]["actions"][self._selected - 1]
        edited = self._edited(item, action)
        if edited is None:
            return self._unchanged()
        self._decide(item, "modify", action=self._selected, edited=edited)
        return True

    def _edited(self, item: Item, action: dict[str, Any]) -> dict[str, Any] | None:
        """As the operator wants it: a reply in words, or the request as JSON; None when they think better of it."""
        if item["source"]["kind"] == "escalation" and "value" not in action["body"]:
            text = self.keyboard.line("Answer: ", self._words(item, action))
            return {"text": text} if text and text.strip() else None
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if editor:
            with self.keyboard.resting():
                whole = json.dumps({name: action[name] for name in ("verb", "path", "body")}, indent=2)
                written = click.edit(whole + "\n", extension=".json")
        else:
            body = json.dumps(action["body"])
            line = self.keyboard.line(f"{showable(action['verb'])} {showable(action['path'])}\nBody: ", body)
            written = None if not line or line == body else f'{{"body": {line}}}'
        return None if written is None else _as_object(written)

    def _words(self, item: Item, action: dict[str, Any]) -> str:
        """What the line begins with: the proposed text, or the one command that would run."""
        if is_approval(action):
            asked = asked_by(self.door, item["source"]["ref"])
            return str(asked[0]["command"]) if len(asked) == 1 else ""
        return str(action["body"].get("text") or "")

    def _reject(self, item: Item) -> bool:
        why = self.keyboard.line("Why not? ")
        if not why or not why.strip():
            return self._unchanged()
        self._decide(item, "reject", rationale=why)
        return True

    def _defer(self, item: Item) -> bool:
        is_work = item["source"]["kind"] in ("filed", "closed", "item")
        self._keys(f"until: h in an hour · t tomorrow{' · b the backlog' if is_work else ''} · any other key: not")
        until = {"h": None, "d": None, "t": _tomorrow(), "b": "backlog"}
        key = self.keyboard.key()
        if key not in until or (key == "b" and not is_work):
            return self._unchanged()
        self._decide(item, "defer", until=until[key])
        return True

    def _hand_off(self, item: Item) -> bool:
        able = [
            one for one in self.door.get("/api/personas")["personas"] if {"ask", "perspective"} & set(one["skills"])
        ]
        able = able[:9]
        for number, one in enumerate(able, 1):
            click.echo(
                "\n".join(labelled(f"{number}", f"{one['name']}, {one['role']}: {one['perspective']['statement']}"))
            )
        self._keys("hand off to: the number · any other key: not")
        key = self.keyboard.key()
        if not (key.isascii() and key.isdecimal() and 1 <= int(key) <= len(able)):
            return self._unchanged()
        seen = last_event(self.door)
        done = self._decide(item, "handoff", persona=able[int(key) - 1]["id"])
        self._tell_consult(done["item"]["decision"]["consult_id"], seen)
        return True

    def _unchanged(self) -> bool:
        click.echo("Nothing was decided.")
        return False

    # ---- the others --------------------------------------------------------------------------------------------------

    def _next(self) -> bool:
        self._take(self.door.post(walk_path(self.walk["id"], "turn"), {}))
        return True

    def _pull_in(self) -> bool:
        if not self.door.is_server:  # what came meanwhile is taken in where the workspace is opened
            self._doors.close()
            self.door = self._doors.enter_context(open_door(self._folder))
        before = self.walk["items"]
        self._take(self.door.post(walk_path(self.walk["id"], "agenda"), {}))
        click.echo(f"{self.walk['items'] - before} more on the agenda.")
        return active_item(self.walk) is not None

    def _go_to(self) -> bool:
        click.echo("\n".join(agenda_lines(self.walk)))
        given = self.keyboard.line("Go to number: ")
        number = int(given) if given and given.strip().isdecimal() and len(given) < 5 else 0
        if not 1 <= number <= len(self.walk["agenda"]):
            return False
        self._take(self.door.post(walk_path(self.walk["id"], "turn"), {"item": self.walk["agenda"][number - 1]["id"]}))
        return True

    def _say(self) -> bool:
        words = self.keyboard.line("You: ")
        if not words or not words.strip():
            return False
        seen, before = last_event(self.door), self._said
        self._take(self.door.post(walk_path(self.walk["id"], "turn"), {"message": words}))
        answers = [one for one in self.walk["transcript"] if one["number"] > before and one["speaker"] == "manager"]
        for said in answers:
            click.echo("\n".join(said_lines(said)))
            if said["consult_id"] is not None:
                self._tell_consult(said["consult_id"], seen)
        return False

    def _perspectives(self, item: Item) -> bool:
        """Ask everybody once; again, it shows what came since."""
        seen = last_event(self.door)
        if item["id"] not in self._asked:
            asked = self.door.post(walk_path(self.walk["id"], "perspectives"), {"item": item["id"]})
            self._asked[item["id"]] = [one["id"] for one in asked["consults"]]
            click.echo("\n".join(asked_lines(asked)))
        ids = self._asked[item["id"]]
        finished(self.door, ids, seen)
        said = perspectives_on(self.door, item["source"]["ref"], ids)
        for one in said:
            click.echo("\n".join(["", *comment_lines(one, item["source"]["ref"])]))
        if any(one["status"] == "running" for one in said):
            self._keys("some are still thinking: p shows what came")
        click.echo()
        self._keys(_ON_TABLE)
        return False

    def _order(self) -> bool:
        seen = last_event(self.door)
        asked = self.door.post(walk_path(self.walk["id"], "consult"), {"skill_id": "epic_order"})
        self._tell_consult(asked["id"], seen)
        return False

    def _tell_consult(self, id: str | None, seen: int) -> None:
        if id is None:
            return
        (found,) = finished(self.door, [id], seen)
        if found["skill_id"] == "perspective":
            ref = found["raw_request"]["raw_input"]["ref"]
            lines = [line for one in perspectives_on(self.door, ref, [id]) for line in comment_lines(one, ref)]
        else:
            lines = consult_lines(found, False)
        click.echo("\n".join(["", *lines]))
        if any(line.get("suggested_action") for line in found["validated_lines"]):
            self._keys(f"apply a line in another terminal: gemba consult apply {id[-6:]} NUMBER")
        self._read()

    def _rest_here(self) -> bool:
        id = self.walk["id"]
        if self.walk["status"] == "active":
            self.door.post(walk_path(id, "pause"), {})
        click.echo(f"{id} rests. Any key goes on, q leaves.")
        if self.keyboard.key() == "q":
            raise _Left
        self._take(self.door.post(walk_path(id, "resume"), {}))
        return True

    def _end(self) -> bool:
        left = to_go(self.walk)
        if left:
            self._keys(f"{left} {'is' if left == 1 else 'are'} left. End the walk? y yes · any other key: not")
        if not left or self.keyboard.key() == "y":
            self._take(self.door.post(walk_path(self.walk["id"], "end"), {}))
        return False


class _Left(Exception):
    """The operator leaves; the walk rests."""


_ANYWHERE: dict[str, Callable[[_Sitting], bool]] = {
    "n": _Sitting._next,
    "g": _Sitting._go_to,
    "t": _Sitting._say,
    "a": _Sitting._pull_in,
    "c": _Sitting._order,
    "s": _Sitting._rest_here,
    "e": _Sitting._end,
    "q": _Sitting._leave,
    "?": _Sitting._help,
    " ": _Sitting._again,
    "\n": _Sitting._again,
}
_WITH_ITEM: dict[str, Callable[[_Sitting, Item], bool]] = {
    "r": _Sitting._ratify,
    "m": _Sitting._modify,
    "x": _Sitting._reject,
    "d": _Sitting._defer,
    "h": _Sitting._hand_off,
    "p": _Sitting._perspectives,
}


def _tomorrow() -> str:
    """At nine on the operator's own clock."""
    now = datetime.now().astimezone()
    return (now + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0).isoformat()


def _as_object(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Conflict(f"this is no JSON: {error}; nothing was decided", code="malformed_json") from None
    if not isinstance(found, dict):
        raise Conflict("this is no JSON object; nothing was decided", code="malformed_json")
    return found
