"""Answers that wait for a session as its next turn: those that nobody waited for, that came late, or from another one.

A turn is the file `<home>/turns/<safe session id>/<event id>.json`, put there in one step by the server. Each is
printed, then acknowledged by a `GembaReplyRead` frame, then removed: a call that dies in between prints it again the
next time, and none is lost. Of several calls at once each answer is printed by one.

Called by `gemba.cli.ask` for --next, and by `gemba.cli.bridge` where a client takes words for its agent.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gemba import replies, wire
from gemba.cli import agent
from gemba.cli.reply import acknowledge
from gemba.handoff.given_file import dispatched_agent, input_envelope
from gemba.replies import Reply
from gemba.speaker import Session, is_of_another
from gemba.wire import Refused

LONGEST_QUESTION = 300

_ENDED = {
    "answered": "Answered",
    "default": "Answered by default, by no person",
    "expired": "Expired, its time ran out before anybody answered",
    "declined": "Declined by the operator",
    "withdrawn": "Withdrawn",
    "overturned": "Overturned, the operator decided otherwise",
}


def show_next(command: agent.Command, as_json: bool) -> int:
    """Print what waits, oldest first; the exit code tells whether anything did."""
    session = _session()
    with _alone(session) as folder:
        return _nothing(command, as_json) if folder is None else _show_all(command, session, folder, as_json)


def _session() -> Session:
    """The session that this process belongs to. An agent that only knows its dispatch is known by the name that the
    dispatch gave it, as when it hands in its work."""
    if not os.environ.get("GEMBA_SESSION_ID", "").strip() and os.environ.get("GEMBA_DISPATCH_ID", "").strip():
        os.environ["GEMBA_SESSION_ID"] = _dispatched_agent(os.environ["GEMBA_DISPATCH_ID"].strip())
    return Session.from_environment()


def _dispatched_agent(dispatch_id: str) -> str:
    """The agent's name, "" where the dispatch tells none: then GEMBA_SESSION_ID is missed."""
    given = input_envelope(wire.home(), dispatch_id)
    if given is None:
        raise Refused(f"GEMBA_DISPATCH_ID {agent.shown(dispatch_id)}: no dispatch here has this id")
    return dispatched_agent(given)


@contextmanager
def handed_out(command: agent.Command, session: "replies.Reader") -> Iterator[list[str]]:
    """What waits, oldest first, in words; acknowledged once the block ends, unless it fails."""
    with _alone(session) as folder:
        found = [] if folder is None else _read(session, folder)[0]
        yield [_words(turn) for turn in found]
        for turn in found:
            acknowledge(command, session, turn)


@contextmanager
def _alone(session: "replies.Reader") -> Iterator[Path | None]:
    """The folder of a session's turns, for this call only; None when it has none."""
    folder = Path(wire.turns_folder(session.home, session.id))
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)


def _show_all(command: agent.Command, session: Session, folder: Path, as_json: bool) -> int:
    found, broken = _read(session, folder)
    for problem in broken:
        command.tell(f"warning: {problem}")
    for number, turn in enumerate(found):
        line = json.dumps(turn) if as_json else _words(turn)
        try:
            agent.say(f"\n{line}" if number and not as_json else line)
        except (OSError, Refused) as error:
            reason = agent.explain(error) if isinstance(error, OSError) else error
            raise Refused(f"stdout did not take the answer, which goes on waiting: {reason}") from None
        acknowledge(command, session, turn)
    if found:
        return 0
    return 1 if broken else _nothing(command, as_json)


def _nothing(command: agent.Command, as_json: bool) -> int:
    if as_json:
        agent.say('{"answers": []}')
    command.tell("no answer waits for you")
    return wire.NOTHING_WAITS


def _read(session: "replies.Reader", folder: Path) -> tuple[list[Reply], list[str]]:
    """This session's turns by the time they were given, and what is wrong with the files that are none."""
    found: list[Reply] = []
    broken: list[str] = []
    for path in sorted(folder.glob("[!.]*.json")):
        with suppress(FileNotFoundError):  # the server has just taken it back
            try:
                turn = replies.parse(wire.read_file(str(path), wire.MAX_REPLY), path.stem)
            except FileNotFoundError:
                raise
            except (OSError, replies.UnreadableReplyError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                broken.append(f"{agent.shown(str(path))} is no answer ({reason})")
                continue
            # Two sessions may share a folder, and two workspaces a session's name.
            mine = turn.get("session_id") == wire.valid_unicode(session.id)
            if mine and not is_of_another(session.workspace, turn.get("workspace")):
                found.append(turn)
    return sorted(found, key=lambda turn: str(turn.get("at"))), broken


def _words(turn: Reply) -> str:
    """What the agent reads: what it had asked, how that ended, and the answer."""
    outcome = str(turn["outcome"])
    late = " late" if turn.get("late") else ""
    asked = " ".join(str(turn.get("question", "")).split())
    shortened = asked if len(asked) <= LONGEST_QUESTION else asked[: LONGEST_QUESTION - 1] + "…"
    noun = "Assumption" if outcome == "overturned" else "Question"
    return f"{noun}: {shortened}\n{_ENDED[outcome]}{late}: {replies.words(turn) or '(no words)'}"
