"""The reply to an ask: waiting for it, printing it, acknowledging it; and taking an ask back.

A reply is the file `<home>/replies/<event id>.json`, put there in one step by the server. A wait ends with a reply
or an error and never makes one up: its own timeout, a signal or an unreadable file leave the question open. A reply
is acknowledged by a `GembaReplyRead` frame only after it was printed.

Called by `gemba.cli.ask` for --wait, --resume and --withdraw.
"""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType

from gemba import wire
from gemba.cli import agent
from gemba.watch import FolderWatch
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from gemba.cli.hook_input import HookSession

    Speaker = agent.Session | HookSession  # whoever reads for a session

Reply = dict[str, object]

GRACE_SECONDS = 1.0  # how long an unreadable reply may take to become readable
LOOK_SECONDS = 5.0  # not every file system announces what another machine or container changed

OUTCOMES = {
    "default": "answered by default: no person has answered",
    "expired": "expired: its time ran out before anybody answered; a late answer would wait in: gemba-ask --next",
    "declined": "declined: the operator dismissed it without an answer",
    "withdrawn": "withdrawn: it was taken back, or its session ended",
    "overturned": "overturned: the operator decided otherwise",
}
LATE = "answered late: the time for it had run out before"


class UnreadableReplyError(Exception):
    """The file is there and is no reply."""


def read_reply(home: str, event_id: str) -> Reply | None:
    """The reply to an event, None as long as there is none."""
    path = wire.reply_path(home, event_id)
    try:
        data = wire.read_file(path, wire.MAX_REPLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableReplyError(error.strerror) from None
    return parse(data, event_id)


def parse(data: bytes, event_id: str) -> Reply:
    """What a file says, if it is the reply to this event."""
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableReplyError("not JSON") from None
    if not isinstance(reply, dict) or reply.get("event_id") != event_id:
        raise UnreadableReplyError("not the reply to this event")
    if str(reply.get("outcome")) not in wire.OUTCOME_EXIT:
        raise UnreadableReplyError(f"outcome {agent.shown(str(reply.get('outcome')))} is unknown")
    if not isinstance(reply.get("text"), str):
        raise UnreadableReplyError("without a text")
    return reply


class Wait:
    """A wait that is armed before anything is asked, so that neither a reply nor a signal falls in between."""

    def __init__(self, session: agent.Session) -> None:
        self._home = session.home
        wire.make_folder(session.home, wire.replies_folder(session.home))
        self._watch = FolderWatch(wire.replies_folder(session.home))
        self._interrupted = False
        # A shell's background job has SIGINT ignored, and keeps it so.
        self._handlers = {
            number: signal.signal(number, self._interrupt)
            for number in (signal.SIGINT, signal.SIGTERM)
            if signal.getsignal(number) is not signal.SIG_IGN
        }

    def reply(self, event_id: str, seconds: float | None) -> Reply:
        """The reply; Refused when none came in `seconds`, at a signal, or when its file stays unreadable."""
        deadline = None if seconds is None else time.monotonic() + seconds
        unreadable_at: float | None = None
        while True:
            now = time.monotonic()
            overdue = deadline is not None and now >= deadline
            try:
                found = read_reply(self._home, event_id)
                unreadable_at = None
            except UnreadableReplyError as error:
                found = None
                unreadable_at = unreadable_at or now
                if overdue or now - unreadable_at >= GRACE_SECONDS:
                    path = wire.reply_path(self._home, event_id)
                    raise Refused(f"{agent.shown(path)} is no reply ({error}); {_stays_open(event_id)}") from None
            if found is not None:
                return found
            if self._interrupted:
                raise Refused(f"interrupted; {_stays_open(event_id)}")
            if overdue:
                raise Refused(f"nobody has answered yet; {_stays_open(event_id)}")
            step = GRACE_SECONDS if unreadable_at else LOOK_SECONDS
            self._watch.wait(step if deadline is None else min(step, deadline - now))

    def __enter__(self) -> "Wait":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._watch.close()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True
        self._watch.wake()


def _stays_open(event_id: str) -> str:
    """Never that it was declined: the answer is still to come, and these are the ways to it."""
    return (
        f"the question stays open, wait on with: gemba-ask --resume {event_id}; "
        "or go on, and look for the answer with: gemba-ask --next"
    )


def resume(command: agent.Command, event_id: str, seconds: float | None, as_json: bool) -> int:
    session = agent.Session()
    if not os.path.lexists(wire.reply_path(session.home, event_id)):
        asked_kind(session, event_id)
    with Wait(session) as wait:
        found = wait.reply(event_id, seconds)
    code = deliver(command, session, found, as_json)
    session.tell_of_turns(command)
    return code


def deliver(command: agent.Command, session: agent.Session, reply: Reply, as_json: bool) -> int:
    """Print the reply, then acknowledge it; the exit code is its outcome."""
    event_id, outcome = str(reply["event_id"]), str(reply["outcome"])
    try:
        agent.say(json.dumps(reply) if as_json else words(reply))
    except (OSError, Refused) as error:
        reason = agent.explain(error) if isinstance(error, OSError) else error
        raise Refused(f"stdout did not take the reply: {reason}; read it with: gemba-ask --resume {event_id}") from None
    if outcome in OUTCOMES:
        command.tell(f"{event_id} {OUTCOMES[outcome]}")
    if reply.get("late") is True:
        command.tell(f"{event_id} {LATE}")
    acknowledge(command, session, reply)
    return wire.OUTCOME_EXIT[outcome]


def acknowledge(command: agent.Command, session: "Speaker", reply: Reply) -> None:
    """Say that this reply was read, and not one that came in its place since. Then it is no turn any more."""
    event_id = str(reply["event_id"])
    try:
        session.append("GembaReplyRead", {"event_id": event_id, "at": str(reply.get("at", ""))})
    except OSError as error:
        # The agent has its reply: another exit code would make it ask again.
        command.tell(f"warning: the reply could not be acknowledged: {agent.explain(error)}")
        return
    with suppress(OSError):
        Path(wire.turns_folder(session.home, session.id), f"{event_id}.json").unlink()


def words(reply: Reply) -> str:
    """What the agent reads: the operator's words and, when they undo a decision, what was committed on it."""
    commits = reply.get("commits")
    if not isinstance(commits, list) or not commits:
        return str(reply["text"])
    return "\n".join([str(reply["text"]), "", "Committed since that decision:", *map(str, commits)])


def withdraw(command: agent.Command, event_id: str, as_json: bool) -> int:
    session = agent.Session()
    try:
        reply = read_reply(session.home, event_id)
    except UnreadableReplyError:
        reply = None
    if reply is not None and reply["outcome"] != "withdrawn":
        raise Refused(f"{event_id} has its reply already; read it with: gemba-ask --resume {event_id}")
    if reply is None:
        if asked_kind(session, event_id) == "assumption":
            raise Refused(f"{event_id} is an assumption: nobody was asked, so nothing can be withdrawn")
        session.append("GembaWithdraw", {"event_id": event_id})
    agent.say_recorded(
        event_id, wire.encode_json({"event_id": event_id, "withdrawn": True}) if as_json else f"{event_id} withdrawn"
    )
    session.tell_of_turns(command)
    return 0


def asked_kind(session: agent.Session, event_id: str) -> str:
    """The kind of this session's ask with that id, from its log or a rotated one; Refused when there is none."""
    needle = event_id.encode()
    for path in _logs(session):
        with path.open("rb") as log:
            for line in log:
                if needle in line and (kind := _kind(line, session.id, event_id)):
                    return kind
    raise Refused(f"session {agent.shown(session.id)} has asked nothing with the event id {event_id}")


def _logs(session: agent.Session) -> list[Path]:
    """The session's log and those rotated away from it (`….jsonl.1` and so on), as far as they are regular files."""
    log = Path(wire.log_path(session.home, session.id))
    named = [log, *(path for path in log.parent.glob(f"{log.name}.*") if path.suffix[1:].isdigit())]
    return [path for path in named if path.is_file()]


def _kind(line: bytes, session_id: str, event_id: str) -> str | None:
    try:
        frame = json.loads(line)
        if (frame["hook"], frame["event_id"]) != ("GembaAsk", event_id):
            return None
        return str(frame["payload"]["kind"]) if frame["session_id"] == wire.valid_unicode(session_id) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # a torn line, or nothing of ours
