"""One of the demo's agents: a process that works, asks with the real commands, and goes on with what it is told.

It speaks on stdout, one line at a time. When its stdin ends, whoever started it is gone: it ends then too, and what it
has started with it. Run by `gemba.demo.crew` as `python -m gemba.demo.agent NAME`, in the environment of a session.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gemba import wire
from gemba.demo import window
from gemba.demo.floor import commit_decision
from gemba.demo.session import Session
from gemba.demo.story import Ask, Assumption, Permission, Story, Turn, load_stories
from gemba.watch import FolderWatch

_LINE_SECONDS = (2.0, 5.0)  # between two lines of work
_TURN_SECONDS = (5.0, 12.0)  # between two turns
_PATIENCE_SECONDS = 45.0  # between two looks of an agent that has something open and goes on
_SLOWER, _SLOWEST = 1.6, 8.0  # each time all turns were lived through, so that a demo left alone calms down
_LONGEST_NOTE = 200


class Agent:
    """What an agent can do. Every ask and report is a process of its own, as with any agent."""

    def __init__(self, session: Session, pace: float, draw: random.Random) -> None:
        self._session = session
        self._story = session.story
        self._pace = pace
        self._draw = draw
        self._slowness = 1.0
        self._open: dict[str, Turn] = {}  # asks and assumptions that may still be answered while it works
        wire.make_folder(str(session.home), wire.replies_folder(str(session.home)))
        self._replies = FolderWatch(wire.replies_folder(str(session.home)))

    def take_up(self, left: Sequence[str]) -> None:
        """Go on where the past stopped: wait for what was asked, or remember that it may be answered."""
        turns = [turn for turn in self._story.turn if turn.minutes_ago is not None]
        for event_id, turn in zip(left, turns, strict=False):
            if isinstance(turn, Permission):
                self._decided(turn, event_id)
            elif isinstance(turn, Ask) and self._story.waits:
                self._say(f"Waiting for your answer: {turn.title}")
                self._react(turn, *_gemba_ask("--resume", event_id))
            else:
                self._open[event_id] = turn
        if isinstance(turns[-1], Ask) and not self._story.waits:
            self._go_on_meanwhile(turns[-1])

    def live(self) -> None:
        """Turn after turn, for ever."""
        for turn in self._turns():
            self._pause(_TURN_SECONDS)
            self._work(turn)
            if isinstance(turn, Permission):
                self._decided(turn, self._session.tool("PermissionRequest", turn))
            elif isinstance(turn, Assumption):
                self._decide_alone(turn)
            elif isinstance(turn, Ask):
                self._ask(turn)
            self._session.client("Stop", stop_hook_active=False)

    def _turns(self) -> Iterator[Turn]:
        """Those that have not happened yet first; then all of them again and again, each time in another order."""
        yield from (turn for turn in self._story.turn if turn.minutes_ago is None)
        while True:
            self._slowness = min(self._slowness * _SLOWER, _SLOWEST)
            yield from self._draw.sample(self._story.turn, len(self._story.turn))

    def _work(self, turn: Turn) -> None:
        self._session.tool("PreToolUse", turn)
        for line in turn.work:
            self._say(line)
            self._pause(_LINE_SECONDS)
        if not isinstance(turn, Permission):  # that command runs when it is allowed
            self._session.tool("PostToolUse", turn)
        self._report("working", turn.work[-1])

    def _ask(self, turn: Ask) -> None:
        given = ["--kind", turn.kind, "--role", self._story.role, "--bead", self._story.bead, "--title", turn.title]
        given += ["--text", turn.text.strip(), *(word for option in turn.options for word in ("--option", option))]
        if turn.schema is not None:
            given += ["--schema", self._write_schema(turn.schema)]
        if self._story.waits:
            self._say(f"Asking you: {turn.title}")
            if self._story.blocks(turn):
                self._report("prompting", turn.title)
            self._react(turn, *_gemba_ask(*given, "--wait"))
        else:
            self._open[_event_id(_gemba_ask(*given))] = turn
            self._say(f"Asking you: {turn.title}")
            self._go_on_meanwhile(turn)

    def _write_schema(self, schema: dict[str, object]) -> str:
        file = self._session.home / f"{self._session.id}-schema.json"
        file.write_bytes(msgspec.json.encode(schema))
        return str(file)

    def _go_on_meanwhile(self, turn: Ask) -> None:
        """An agent that does not wait still has one question open at most."""
        self._say(turn.meanwhile)
        self._report("working", turn.meanwhile)
        while self._open:
            self._pause((_PATIENCE_SECONDS, _PATIENCE_SECONDS))

    def _decide_alone(self, turn: Assumption) -> None:
        commit_decision(self._session.cwd, turn, self._story.name)
        self._say(f"Decided alone: {turn.text} {turn.chose}")
        given = ["--kind", "assumption", "--role", self._story.role, "--bead", self._story.bead]
        self._open[_event_id(_gemba_ask(*given, "--text", turn.text, "--chose", turn.chose))] = turn

    def _decided(self, turn: Permission, event_id: str) -> None:
        """The dialog of the agent's window: stands still until it is decided, then runs the command or does not."""
        self._say(f"Waiting for your permission: {turn.run}")
        resolution = window.wait_for_decision(self._session.workspace, event_id)
        if resolution["outcome"] == "answered":
            self._session.append("GembaReplyRead", {"event_id": event_id})
        allowed = resolution["decision"] == "yes"
        if allowed:
            self._session.tool("PostToolUse", turn)
        self._go_on(turn.answered if allowed else turn.declined, resolution["text"] or "no")

    def _react(self, turn: Turn, code: int, words: str) -> None:
        """Go on with exactly what was answered."""
        if code == 1:
            raise RuntimeError(words)
        answered = code in (wire.OUTCOME_EXIT["answered"], wire.OUTCOME_EXIT["default"])
        self._go_on(turn.answered if answered else turn.declined, words)

    def _go_on(self, template: str, answer: str) -> None:
        line = template.format(answer=answer)
        self._say(line)
        self._report("working", line)

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
                self._react(turn, *_gemba_ask("--resume", event_id))

    def _report(self, state: str, note: str) -> None:
        words = " ".join(note.split())
        cut = words if len(words) <= _LONGEST_NOTE else words[: _LONGEST_NOTE - 1] + "…"
        _run("gemba-state", state, "--bead", self._story.bead, "--note", cut or state)

    def _say(self, line: str) -> None:
        sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.flush()


def _gemba_ask(*arguments: str) -> tuple[int, str]:
    """Its exit code, and the words that go with it: the reply, or why there is none."""
    result = _run("gemba-ask", *arguments)
    words = result.stderr if result.returncode == 1 else result.stdout
    return result.returncode, words.decode("utf-8", "replace").removesuffix("\n")


def _event_id(recorded: tuple[int, str]) -> str:
    code, line = recorded
    if code != 0:
        raise RuntimeError(line)
    return line.split()[0]


def _run(*command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)


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
    agent = Agent(session, given.pace, random.Random(f"{given.seed}/{story.name}"))  # noqa: S311 - variation, no secret
    if given.left:
        agent.take_up(given.left)
    else:
        session.client("SessionStart", source="startup")
    agent.live()


if __name__ == "__main__":
    main()
