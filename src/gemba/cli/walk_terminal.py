"""A walk at the terminal: one item, one key, one decision; `gemba walk` without a command.

Everything that is decided is stored before the next item is shown, so that a terminal that is closed, a process that is
killed or a server that goes away leaves the walk where it stood. Ctrl-C rests the walk. What agents wrote is shown as
text and drives nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import click

from gemba.cli.door import Door, open_door
from gemba.cli.keyboard import Keyboard
from gemba.cli.show import labelled
from gemba.cli.walk_found import (
    finished,
    is_over,
    last_decided,
    last_event,
    perspectives_on,
    read_walk,
    walk_path,
)
from gemba.cli.walk_given import edited_by, persona_of, reason_of, until_of
from gemba.cli.walk_screen import (
    name_of,
    show_comments,
    show_consult,
    show_decided,
    show_help,
    show_keys,
    show_refusal,
    show_said,
    show_table,
)
from gemba.cli.walk_text import (
    Item,
    Walk,
    action_lines,
    active_item,
    agenda_lines,
    asked_lines,
    decided,
    said_lines,
    to_go,
    totals_lines,
)
from gemba.errors import GembaError
from gemba.text import one_line

_OVER = ("completed", "abandoned")
_HOLD_SECONDS = 6  # in which an answer can be taken back, as on the page


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
    """What is asked at one terminal, and what each key does; the walk itself is stored."""

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
            click.echo(f"{name_of(self.walk)}: {many} thing{'' if many == 1 else 's'} to go through.")
        else:
            self._go_on(mine)
        self._said = len(self.walk["transcript"]) and self.walk["transcript"][-1]["number"]

    def _go_on(self, id: str) -> None:
        self.walk = read_walk(self.door, id)
        click.echo(f"{name_of(self.walk)} goes on where it stood.")
        if self.walk["status"] == "paused":
            self.walk = self.door.post(walk_path(id, "resume"), {})
        if self.walk["synopsis"]:
            click.echo("\n".join(labelled("so far:", self.walk["synopsis"])))

    def go(self) -> None:
        shown: str | None = None
        while self.walk["status"] not in _OVER:
            item = active_item(self.walk)
            name = "" if item is None else item["id"]
            if name != shown:
                self._selected = 1
                show_table(self.door, self.walk, item, self._selected)
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
        click.echo(
            "\n".join(["", f"{name_of(self.walk)} is {self.walk['status']}.", *totals_lines(self.walk["totals"])])
        )
        click.echo(f"Its summary: gemba walk show {self.walk['id']}")

    def _lost(self) -> None:
        """A server that went away: the same workspace without it, or with the next one."""
        click.echo("gemba: the server did not answer; going on without it", err=True)
        self._doors.close()
        self.door = self._doors.enter_context(open_door(self._folder))
        self._read()

    def _refused(self, error: GembaError) -> None:
        show_refusal(error)
        self._read()
        if self.walk["status"] == "paused":  # another surface rests it
            self._rest_here()

    def _read(self) -> None:
        self._take(read_walk(self.door, self.walk["id"]))

    def _take(self, walk: Walk) -> None:
        """The walk as it is now, with what it has to say itself."""
        self.walk = walk
        self._said = show_said(walk, self._said)

    def _help(self) -> bool:
        show_help()
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
        # Without a server nobody would send it once its time is up: then it goes out at once.
        held = {"hold": _HOLD_SECONDS} if self.door.is_server else {}
        body = {"kind": kind, **held, **{name: value for name, value in more.items() if value is not None}}
        done: dict[str, Any] = self.door.post(walk_path(self.walk["id"], "decide", item["id"]), body)
        show_decided(done["item"])
        self._read()
        return done

    def _ratify(self, item: Item) -> bool:
        self._decide(item, "ratify", action=self._selected)
        return True

    def _modify(self, item: Item) -> bool:
        action = item["framing"]["actions"][self._selected - 1]
        edited = edited_by(self.keyboard, self.door, item, action)
        if edited is None:
            return self._unchanged()
        self._decide(item, "modify", action=self._selected, edited=edited)
        return True

    def _reject(self, item: Item) -> bool:
        why = reason_of(self.keyboard)
        if why is None:
            return self._unchanged()
        self._decide(item, "reject", rationale=why)
        return True

    def _defer(self, item: Item) -> bool:
        until = until_of(self.keyboard, item)
        if until is None:
            return self._unchanged()
        self._decide(item, "defer", until=until.moment)
        return True

    def _hand_off(self, item: Item) -> bool:
        persona = persona_of(self.keyboard, self.door)
        if persona is None:
            return self._unchanged()
        seen = last_event(self.door)
        done = self._decide(item, "handoff", persona=persona)
        self._tell_consult(done["item"]["decision"]["consult_id"], seen)
        return True

    def _undo(self) -> bool:
        """Take the last decision back; pressed again, the one before it."""
        last = last_decided(self.walk)
        if last is None:
            click.echo("Nothing was decided that could be taken back.")
            return False
        self._take(self.door.post(walk_path(self.walk["id"], "take-back", last["id"]), {}))
        click.echo(f"↶ taken back: {decided(last)}: {one_line(last['topic'], 60)}")
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
        if item["source"]["kind"] == "topic":
            click.echo("Personas comment on what they can look at; a topic in words is not.")
            return False
        seen = last_event(self.door)
        if item["id"] not in self._asked:
            asked = self.door.post(walk_path(self.walk["id"], "perspectives"), {"item": item["id"]})
            self._asked[item["id"]] = [one["id"] for one in asked["consults"]]
            click.echo("\n".join(asked_lines(asked)))
        ids = self._asked[item["id"]]
        finished(self.door, ids, seen)
        show_comments(perspectives_on(self.door, item["source"]["ref"], ids), item["source"]["ref"])
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
        show_consult(self.door, found)
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
            show_keys(f"{left} {'is' if left == 1 else 'are'} left. End the walk? y yes · any other key: not")
        if not left or self.keyboard.key() == "y":
            self._take(self.door.post(walk_path(self.walk["id"], "end"), {}))
        return False


class _Left(Exception):
    """The operator leaves; the walk rests."""


_ANYWHERE: dict[str, Callable[[_Sitting], bool]] = {
    "n": _Sitting._next,
    "u": _Sitting._undo,
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
