"""The reply to an ask, on the command line: waiting for it, printing it, acknowledging it; and taking an ask back.

A wait ends with a reply or an error: its own timeout or a signal leave the question open. A reply is acknowledged by a
`GembaReplyRead` frame only after it was printed.

Called by `gemba.cli.ask` for --wait, --resume and --withdraw.
"""

import json
import os
import signal
from types import FrameType, TracebackType

from gemba import replies, wire
from gemba.cli import agent
from gemba.replies import Awaited, Reply
from gemba.speaker import Session
from gemba.watch import FolderWatch
from gemba.wire import Refused


class Wait:
    """A wait that is armed before anything is asked, so that neither a reply nor a signal falls in between."""

    def __init__(self, session: Session) -> None:
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

    def reply(self, event_id: str, seconds: float | None, as_json: bool) -> Reply:
        """The reply; Refused when none came in `seconds`, at a signal, or when its file stays unreadable. Whoever reads
        JSON then gets the id to go on with there."""
        try:
            return self._found(event_id, seconds)
        except Refused:
            if as_json:
                agent.say(wire.encode_json({"event_id": event_id, "outcome": "waiting"}))
            raise

    def _found(self, event_id: str, seconds: float | None) -> Reply:
        awaited = Awaited(self._home, event_id, seconds)
        while (found := awaited.look()) is None:
            if self._interrupted:
                raise Refused(f"interrupted; {replies.stays_open(event_id)}")
            self._watch.wait(awaited.pause)
        return found

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


def resume(command: agent.Command, event_id: str, seconds: float | None, as_json: bool) -> int:
    session = Session.from_environment()
    if not os.path.lexists(wire.reply_path(session.home, event_id)):
        replies.asked_kind(session, event_id)
    with Wait(session) as wait:
        found = wait.reply(event_id, seconds, as_json)
    code = deliver(command, session, found, as_json)
    agent.tell_of_turns(command, session)
    return code


def deliver(command: agent.Command, session: Session, reply: Reply, as_json: bool) -> int:
    """Print the reply, then acknowledge it; the exit code is its outcome."""
    try:
        agent.say(json.dumps(reply) if as_json else replies.words(reply))
    except (OSError, Refused) as error:
        reason = agent.explain(error) if isinstance(error, OSError) else error
        resumed = f"read it with: gemba-ask --resume {reply['event_id']}"
        raise Refused(f"stdout did not take the reply: {reason}; {resumed}") from None
    for remark in replies.remarks(reply):
        command.tell(remark)
    acknowledge(command, session, reply)
    return wire.OUTCOME_EXIT[str(reply["outcome"])]


def acknowledge(command: agent.Command, session: "replies.Reader", reply: Reply) -> None:
    """The agent has its reply: another exit code would make it ask again, so a failure is only told."""
    try:
        replies.acknowledge(session, reply)
    except OSError as error:
        command.tell(f"warning: the reply could not be acknowledged: {agent.explain(error)}")


def withdraw(command: agent.Command, event_id: str, as_json: bool) -> int:
    session = Session.from_environment()
    try:
        reply = replies.read_reply(session.home, event_id)
    except replies.UnreadableReplyError:
        reply = None
    if reply is not None and reply["outcome"] != "withdrawn":
        raise Refused(f"{event_id} has its reply already; read it with: gemba-ask --resume {event_id}")
    if reply is None:
        if replies.asked_kind(session, event_id) == "assumption":
            raise Refused(f"{event_id} is an assumption: nobody was asked, so nothing can be withdrawn")
        session.append("GembaWithdraw", {"event_id": event_id})
    agent.say_recorded(
        event_id, wire.encode_json({"event_id": event_id, "withdrawn": True}) if as_json else f"{event_id} withdrawn"
    )
    agent.tell_of_turns(command, session)
    return 0
