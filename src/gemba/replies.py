"""Replies to asks, as their askers read them: found, put in words, acknowledged.

A reply is the file `<home>/replies/<event id>.json`, put there in one step by the server. A wait ends with a reply or
an error and never makes one up: its own end or an unreadable file leave the question open. Standard library only.

Called by `gemba.cli.reply` and `gemba.cli.turns`, and by the MCP tools.
"""

import json
import time
from contextlib import suppress
from pathlib import Path

from gemba import wire
from gemba.speaker import Session, shown
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from typing import Protocol

    class Reader(Protocol):
        """Whoever reads for a session."""

        home: str
        id: str
        workspace: str

        def append(self, hook: str, payload: dict[str, object]) -> object: ...


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
        raise UnreadableReplyError(f"outcome {shown(str(reply.get('outcome')))} is unknown")
    if not isinstance(reply.get("text"), str):
        raise UnreadableReplyError("without a text")
    return reply


class Awaited:
    """A reply that is waited for: `look` finds it or has nothing yet; `pause` is how long until the next look.

    It is looked for at once when its folder changes; watching that is the caller's.
    """

    def __init__(self, home: str, event_id: str, seconds: float | None) -> None:
        self.event_id = event_id
        self._home = home
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._unreadable_at: float | None = None

    def look(self) -> Reply | None:
        """Refused when nobody has answered in time, or when the file stays unreadable."""
        now = time.monotonic()
        overdue = self._deadline is not None and now >= self._deadline
        try:
            found = read_reply(self._home, self.event_id)
            self._unreadable_at = None
        except UnreadableReplyError as error:
            found = None
            self._unreadable_at = self._unreadable_at or now
            if overdue or now - self._unreadable_at >= GRACE_SECONDS:
                path = wire.reply_path(self._home, self.event_id)
                raise Refused(f"{shown(path)} is no reply ({error}); {stays_open(self.event_id)}") from None
        if found is None and overdue:
            raise Refused(f"nobody has answered yet; {stays_open(self.event_id)}")
        return found

    @property
    def pause(self) -> float:
        step = GRACE_SECONDS if self._unreadable_at else LOOK_SECONDS
        return step if self._deadline is None else max(0.0, min(step, self._deadline - time.monotonic()))


def stays_open(event_id: str) -> str:
    """Never that it was declined: the answer is still to come, and these are the ways to it."""
    return (
        f"the question stays open, wait on with: gemba-ask --resume {event_id}; "
        "or go on, and look for the answer with: gemba-ask --next"
    )


def words(reply: Reply) -> str:
    """What the agent reads: the operator's words and, when they undo a decision, what was committed on it."""
    commits = reply.get("commits")
    if not isinstance(commits, list) or not commits:
        return str(reply["text"])
    return "\n".join([str(reply["text"]), "", "Committed since that decision:", *map(str, commits)])


def remarks(reply: Reply) -> list[str]:
    """What there is to say of a reply beside its words."""
    event_id, outcome = str(reply["event_id"]), str(reply["outcome"])
    said = [f"{event_id} {OUTCOMES[outcome]}"] if outcome in OUTCOMES else []
    return [*said, f"{event_id} {LATE}"] if reply.get("late") is True else said


def acknowledge(session: "Reader", reply: Reply) -> None:
    """Say that this reply was read, and not one that came in its place since. Then it is no turn any more."""
    event_id = str(reply["event_id"])
    session.append("GembaReplyRead", {"event_id": event_id, "at": str(reply.get("at", ""))})
    with suppress(OSError):
        Path(wire.turns_folder(session.home, session.id), f"{event_id}.json").unlink()


def asked_kind(session: Session, event_id: str) -> str:
    """The kind of this session's ask with that id, from its log or a rotated one; Refused when there is none."""
    needle = event_id.encode()
    for path in _logs(session):
        with path.open("rb") as log:
            for line in log:
                if needle in line and (kind := _kind(line, session.id, event_id)):
                    return kind
    raise Refused(f"session {shown(session.id)} has asked nothing with the event id {event_id}")


def _logs(session: Session) -> list[Path]:
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
