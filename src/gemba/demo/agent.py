"""One of the demo's agents: a process that works, asks with the real commands, and goes on with what it is told.

It speaks on stdout, one line at a time. When its stdin ends, whoever started it is gone: it ends then too, and what it
has started with it. Run by `gemba.demo.crew` as `python -m gemba.demo.agent NAME`, in the environment of a session.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gemba import wire
from gemba.demo.commands import Decision, ask, claim, may_end, may_run, recorded, report
from gemba.demo.contract import Ending, agent_id_of, first_fault, headline, last_words
from gemba.demo.dispatched import Dispatched
from gemba.demo.floor import commit_change
from gemba.demo.server import Server
from gemba.demo.session import Session
from gemba.demo.story import Approval, Ask, Assumption, Handoff, Input, Permission, Story, Turn, load_stories
from gemba.watch import FolderWatch

_LINE_SECONDS = (2.0, 5.0)  # between two lines of work
_TURN_SECONDS = (5.0, 12.0)  # between two turns
_PATIENCE_SECONDS = 45.0  # between two looks of an agent that has something open and goes on
_SLOWER, _SLOWEST = 1.6, 8.0  # each time all turns were lived through, so that a demo left alone calms down
_LONGEST_NOTE = 200
_NOTHING_LEFT = "Nothing is left to decide; looking at what you say to the decisions so far"
_RAN_ANOTHER = "Ran what you wrote: {ran}"


class Agent:
    """What an agent can do. Every ask, report and hook is a process of its own, as with any agent."""

    def __init__(self, session: Session, pace: float, draw: random.Random, dispatch: Dispatched | None) -> None:
        self._session = session
        self._story = session.story
        self._pace = pace
        self._draw = draw
        self._dispatch = dispatch
        self._item = session.story.bead
        self._server = Server(session.workspace)
        self._agent_id = dispatch.agent_id if dispatch else agent_id_of(session.id)
        self._slowness = 1.0
        self._has_slipped = False
        self._taken_up: list[Turn] = []  # where an earlier run of this agent stopped
        self._open: dict[str, Turn] = {}  # asks and assumptions that may still be answered while it works
        wire.make_folder(str(session.home), wire.replies_folder(str(session.home)))
        self._replies = FolderWatch(wire.replies_folder(str(session.home)))

    def take_up(self, left: Sequence[str]) -> None:
        """Go on where the past stopped: wait for what was asked, or remember that it may be answered."""
        turns = [turn for turn in self._story.turn if turn.minutes_ago is not None]
        for event_id, turn in zip(left, turns, strict=False):
            if isinstance(turn, Permission):
                self._end(turn, self._decided(turn, event_id))
            elif isinstance(turn, Ask) and self._story.waits:
                self._say(f"Waiting for your answer: {turn.title}")
                self._end(turn, self._react(turn, *ask("--resume", event_id)))
            elif isinstance(turn, Approval):
                self._end(turn, self._request(turn))
            else:
                self._open[event_id] = turn
        if isinstance(turns[-1], Ask) and not self._story.waits:
            self._go_on_meanwhile(turns[-1])

    def take_up_dispatch(self) -> None:
        """Find again what an earlier run of this agent has left open in its dispatch."""
        if self._dispatch is None:
            return
        requested = self._dispatch.open_requests()
        for turn in self._story.turn:
            if isinstance(turn, Approval) and turn.run in requested:
                self._taken_up.append(turn)
                self._end(turn, self._request(turn))
            elif isinstance(turn, Input) and (asked := self._dispatch.open_choice()):
                self._taken_up.append(turn)
                self._choose(turn, asked)

    def live(self) -> None:
        """Turn after turn, for ever."""
        for turn in self._turns():
            self._pause(_TURN_SECONDS)
            if self._dispatch:
                self._dispatch.begin_turn()
            self._work(turn)
            self._end(turn, self._do(turn))

    def _turns(self) -> Iterator[Turn]:
        """Those that have not happened yet first; then, again and again, commands that need a permission each time.
        What was asked, approved or decided once it does not ask again; one that has nothing else left waits."""
        yield from (turn for turn in self._story.turn if turn.minutes_ago is None and turn not in self._taken_up)
        again = [turn for turn in self._story.turn if isinstance(turn, Permission)]
        if not again:
            self._say(_NOTHING_LEFT)
            self._report("ready", _NOTHING_LEFT)  # it works on nothing, so nobody finds it stuck
        while True:
            self._slowness = min(self._slowness * _SLOWER, _SLOWEST)
            yield from self._draw.sample(again, len(again))
            if not again:
                self._pause((_PATIENCE_SECONDS, _PATIENCE_SECONDS))

    def _work(self, turn: Turn) -> None:
        if not isinstance(turn, Approval):  # the hook tells of that command itself
            self._session.tool("PreToolUse", turn)
        for line in turn.work:
            self._say(line)
            self._pause(_LINE_SECONDS)
        if isinstance(turn, Approval):
            commit_change(self._session.cwd, turn, self._story.name)
        elif not isinstance(turn, Permission):  # that command runs when it is allowed
            self._session.tool("PostToolUse", turn)
        self._report("working", turn.work[-1])

    def _do(self, turn: Turn) -> Ending:
        """What a turn is about; how it went."""
        match turn:
            case Permission():
                return self._decided(turn, self._session.tool("PermissionRequest", turn))
            case Approval():
                return self._request(turn)
            case Assumption():
                self._decide_alone(turn)
            case Ask():
                return self._ask(turn)
        return Ending(turn.work[-1], "", turn.run)

    def _ask(self, turn: Ask) -> Ending:
        given = ["--kind", turn.kind, "--role", self._story.role, "--bead", self._item, "--title", turn.title]
        given += ["--text", turn.text.strip(), *(word for option in turn.options for word in ("--option", option))]
        if turn.schema is not None:
            given += ["--schema", self._write_schema(turn.schema)]
        if self._story.waits:
            self._say(f"Asking you: {turn.title}")
            if self._story.blocks(turn):
                self._report("prompting", turn.title)
            return self._react(turn, *ask(*given, "--wait"))
        self._open[recorded(ask(*given))] = turn
        self._say(f"Asking you: {turn.title}")
        return self._go_on_meanwhile(turn)

    def _write_schema(self, schema: dict[str, object]) -> str:
        file = self._session.home / f"{self._session.id}-schema.json"
        file.write_bytes(msgspec.json.encode(schema))
        return str(file)

    def _go_on_meanwhile(self, turn: Ask) -> Ending:
        """An agent that does not wait still has one question open at most."""
        self._say(turn.meanwhile)
        self._report("working", turn.meanwhile)
        while self._open:
            self._pause((_PATIENCE_SECONDS, _PATIENCE_SECONDS))
        return Ending(turn.meanwhile, "", turn.run)

    def _decide_alone(self, turn: Assumption) -> None:
        commit_change(self._session.cwd, turn, self._story.name)
        self._say(f"Decided alone: {turn.text} {turn.chose}")
        given = ["--kind", "assumption", "--role", self._story.role, "--bead", self._item]
        self._open[recorded(ask(*given, "--text", turn.text, "--chose", turn.chose))] = turn

    def _decided(self, turn: Permission, event_id: str) -> Ending:
        """The dialog of the agent's window: stands still until it is decided, then runs the command or does not."""
        self._say(f"Waiting for your permission: {turn.run}")
        resolution = self._resolution(event_id)
        allowed = resolution["decision"] == "yes"
        if allowed:
            self._session.tool("PostToolUse", turn)
        return self._go_on(turn, resolution["text"] or "no", turn.run if allowed else None)

    def _request(self, turn: Approval) -> Ending:
        """The client's hook holds the command back until the operator has decided it."""
        self._say(f"Waiting for your approval: {turn.run}")
        self._report("prompting", turn.run)
        command, decision = turn.run, self._decision(turn.run)
        if decision.instead:
            command = decision.instead
            self._say(f"Told to run this instead: {command}")
            decision = self._decision(command)
        if decision.allowed:
            self._session.command("PostToolUse", command)
        return self._go_on(turn, decision.reason, command if decision.allowed else None)

    def _decision(self, command: str) -> Decision:
        """Whoever comes back with the same command finds its answer."""
        while (decision := may_run(self._session, command)).is_open:
            self._pause(_LINE_SECONDS)
        return decision

    def _end(self, turn: Turn, ending: Ending) -> None:
        """End the turn, and with it the work on an item if it was the last for that."""
        if turn.handoff is None:
            self._session.client("Stop", stop_hook_active=False)
        else:
            self._hand_off(turn, turn.handoff, ending)
        if turn.finishes:
            self._finish_item()

    def _hand_off(self, turn: Turn, handoff: Handoff, ending: Ending) -> None:
        """End the turn in a handoff. One that is sent back is mended."""
        if handoff.check:
            self._session.command("PreToolUse", handoff.check)
            self._session.command("PostToolUse", handoff.check)
        if handoff.slip and not self._has_slipped:
            self._has_slipped = True
            wrong = may_end(self._session, last_words(turn, ending, self._agent_id, handoff.slip))
            self._say(f"Handoff sent back: {first_fault(wrong)}")
            self._pause(_LINE_SECONDS)
        if wrong := may_end(self._session, last_words(turn, ending, self._agent_id)):
            raise RuntimeError(wrong)
        self._say(f"Handed off, {headline(turn, handoff, ending)}")
        asked = self._dispatch.asked_by_handoff() if self._dispatch else None
        if asked and isinstance(turn, Input):
            self._choose(turn, asked)

    def _finish_item(self) -> None:
        """Hand the item in, for somebody to look at, and take the next one that is ready."""
        self._say(f"Handed in {self._item}, for you to look at")
        self._report("bead-done", f"{self._item} can be looked at")
        for id in self._story.then:
            if self._server.is_ready(id) and claim(id):
                self._server.begin_item(id)
                self._item = id
                self._say(f"Took {id}")
                return

    def _choose(self, turn: Input, asked: str) -> None:
        """The turn is over; a person's choice starts the next one."""
        self._say(f"Waiting for your choice: {turn.handoff.next_action}")
        self._report("prompting", turn.handoff.next_action)
        resolution = self._resolution(asked)
        answered = resolution["outcome"] in ("answered", "default")
        self._go_on(turn, resolution["text"], turn.run if answered else None)

    def _resolution(self, event_id: str) -> dict[str, Any]:
        """How an escalation ended that no command of ours waits for."""
        resolution = self._server.wait_for_decision(event_id)
        if resolution["outcome"] in ("answered", "default", "declined"):
            self._session.append("GembaReplyRead", {"event_id": event_id})
        return resolution

    def _react(self, turn: Turn, code: int, words: str) -> Ending:
        """Go on with exactly what was answered."""
        if code == 1:
            raise RuntimeError(words)
        answered = code in (wire.OUTCOME_EXIT["answered"], wire.OUTCOME_EXIT["default"])
        return self._go_on(turn, words, turn.run if answered else None)

    def _go_on(self, turn: Turn, answer: str, ran: str | None) -> Ending:
        """`ran` is None when it was refused; a command that the operator wrote is told as it is."""
        template = turn.declined if ran is None else turn.answered if ran == turn.run else _RAN_ANOTHER
        line = template.format(answer=answer, ran=ran)
        self._say(line)
        self._report("working", line)
        return Ending(line, answer, ran)

    def _pause(self, seconds: tuple[float, float]) -> None:
        """Work for a while; a reply to something open is taken up at once."""
        deadline = time.monotonic() + self._draw.uniform(*seconds) * self._slowness / self._pace
        while True:
            had_open = bool(self._open)
            self._take_up_replies()
            left = deadline - time.monotonic()
            if left <= 0 or (had_open and not self._open):
                return
            self._replies.wait(left)

    def _take_up_replies(self) -> None:
        for event_id, turn in list(self._open.items()):
            if Path(wire.reply_path(str(self._session.home), event_id)).exists():
                del self._open[event_id]
                self._react(turn, *ask("--resume", event_id))

    def _report(self, state: str, note: str) -> None:
        words = " ".join(note.split())
        cut = words if len(words) <= _LONGEST_NOTE else words[: _LONGEST_NOTE - 1] + "…"
        report(state, "--bead", self._item, "--note", cut or state)

    def _say(self, line: str) -> None:
        sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.flush()


def _end_with_stdin() -> None:
    """Wait for the end of stdin, then end this whole process group."""
    while os.read(0, 4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m gemba.demo.agent", description=__doc__.splitlines()[0])
    stories = load_stories()
    parser.add_argument("name", choices=sorted(stories))
    parser.add_argument("--pace", type=float, default=1.0)
    parser.add_argument("--seed", default="")
    parser.add_argument("--left", nargs="*", default=[], metavar="EVENT_ID", help="what this session left open before")
    given = parser.parse_args(argv)
    if os.getpgrp() == os.getpid():  # never end a group that belongs to somebody else
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    story: Story = stories[given.name]
    workspace = Path(os.environ["GEMBA_WORKSPACE"])
    session = Session(os.environ["GEMBA_SESSION_ID"], story, Path(wire.home()), workspace, Path.cwd())
    dispatch_id = os.environ.get("GEMBA_DISPATCH_ID")
    dispatch = Dispatched(dispatch_id, session.home, Server(workspace)) if dispatch_id else None
    draw = random.Random(f"{given.seed}/{story.name}")  # noqa: S311 - variation, no secret
    agent = Agent(session, given.pace, draw, dispatch)
    if given.left:
        agent.take_up(given.left)
    else:
        session.client("SessionStart", source="startup")
        agent.take_up_dispatch()
    agent.live()


if __name__ == "__main__":
    main()
