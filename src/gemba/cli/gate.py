"""The gate at the end of a turn: the verdict on what the agent said last, obeyed.

A turn is judged when it belongs to a dispatch, when it ends in a handoff, or when the hook is told to require one;
an ordinary turn of a person's own session passes. What has the right shape is handed over to the server, if the turn
is one of a dispatch and a server runs: it knows what status may follow, and compares what is claimed with the world.
What it refuses is sent back like what has the wrong shape. A turn that may end becomes a `GembaHandoff` frame, which is
all that there is without a server, or when that needs longer than the hook has: it concludes then by itself. After some
repairs in vain a turn is let go, and a person is asked. Whatever goes wrong here raises, and the bridge blocks.

Called by `gemba.cli.bridge` for Stop and SubagentStop, and for the prompt that starts a turn.
"""

from gemba.cli import refusals
from gemba.cli.hook_input import HookInput, HookSession, Payload
from gemba.handoff.given_file import dispatched_agent, input_envelope
from gemba.wire import Refused

_FENCE = "```agent_contract_handoff"
_SHOWN_TEXT = 4_000  # characters of a refused turn's end, where its block would stand
# A prompt that starts so was written by the client itself, not by a person.
_CLIENT_PROMPT = "<task-notification>"


class Turn:
    """Who ended a turn, with what words, and what was asked of them."""

    def __init__(self, event: str, given: HookInput, session: HookSession) -> None:
        self.event = event
        self.session = session
        self.text = _words_of(event, given)
        own_id = given.word("agent_id").strip() if event == "SubagentStop" else ""
        # The session's dispatch is that of its main agent: a subagent is its own affair, unless it has one itself.
        self.dispatch_id = "" if event == "SubagentStop" else session.dispatch_id
        self.envelope = input_envelope(session.home, self.dispatch_id or own_id)
        if not self.dispatch_id and self.envelope is not None:
            self.dispatch_id = own_id
        self.agent_id = own_id or dispatched_agent(self.envelope)
        # Subagents end while others of their session work: each is counted by itself.
        self.counted_as = own_id or self.dispatch_id or session.id

    def must_hand_off(self) -> bool:
        if self.dispatch_id:
            return True
        if _FENCE not in self.text:
            return False
        from gemba.handoff.block import find_block

        return find_block(self.text).blocks > 0

    def keep(self, document: object, **more: object) -> None:
        """The frame from which the server takes this turn's handoff."""
        ids: Payload = {"dispatch_id": self.dispatch_id, "agent_id": self.agent_id, "event": self.event}
        self.session.append("GembaHandoff", {**ids, "envelope": document, **more})


def judge_turn(event: str, given: HookInput, session: HookSession, until: float, *, require: bool) -> Payload | None:
    """What to tell the client: None lets the turn end. The server is waited for until then."""
    if given.payload is None:
        raise Refused("the client's input is no JSON object, so that nobody can tell how the turn ended")
    turn = Turn(event, given, session)
    if not require and not turn.must_hand_off():
        return None
    from gemba.handoff.verdict import read  # loaded here: an ordinary turn does without

    verdict, document = read(turn.text, turn.envelope)
    if not verdict.valid:
        from gemba.handoff.repair import repair_text

        return _refuse(
            turn, document, [*verdict.missing, *verdict.invalid], repair_text(verdict, dispatched_agent(turn.envelope))
        )
    if turn.dispatch_id:
        from gemba.cli.hand_in import refusal_of

        handed_in: Payload = {"envelope": document, "dispatch_id": turn.dispatch_id, "session_id": session.id}
        if refusal := refusal_of(session.workspace, handed_in, until):
            return _obey(turn, document, refusal)
    return _let_end(turn, document)


def _obey(turn: Turn, document: object, refusal: Payload) -> Payload | None:
    """What the server refuses is sent back as often as it says. A turn that was sent back often enough for other
    reasons is let go: the server hears that it ended, and asks a person."""
    from gemba.handoff.repair import next_step

    verdict, told = refusal.get("verdict"), str(refusal.get("told"))
    if isinstance(verdict, dict) and verdict.get("action") == "repair":
        if refusals.count(turn.session.home, turn.counted_as, [told], next_step) == "repair":
            return {"decision": "block", "reason": told}
        return _let_end(turn, document)
    refusals.forget(turn.session.home, turn.counted_as)
    return _let_go_as_blocked(str(refusal.get("refused_by")))


def _let_end(turn: Turn, document: object) -> Payload | None:
    try:
        turn.keep(document)
    except Refused as refused:
        reason = f"The handoff cannot be kept: {refused}. Send it again, shorter: long outputs belong in files."
        return _refuse(turn, None, ["BODY:body_size"], reason)
    refusals.forget(turn.session.home, turn.counted_as)
    return None


def start_turn(given: HookInput, session: HookSession) -> None:
    """A person's prompt: what was refused before does not count against the turn that follows."""
    if not given.word("prompt").startswith(_CLIENT_PROMPT):
        refusals.forget(session.home, session.dispatch_id or session.id)


def _refuse(turn: Turn, document: object, codes: list[str], reason: str) -> Payload:
    from gemba.handoff.repair import next_step

    if refusals.count(turn.session.home, turn.counted_as, codes, next_step) == "repair":
        return {"decision": "block", "reason": reason}
    end = turn.text[-_SHOWN_TEXT:]
    more = {"refused": True, "codes": codes, "text": end if end == turn.text else f"…{end}"}
    try:
        turn.keep(document, **more)
    except Refused:  # too long for a frame; its end is in there as text
        turn.keep(None, **more)
    refusals.forget(turn.session.home, turn.counted_as)
    return _let_go_as_blocked(", ".join(codes[:10]))


def _let_go_as_blocked(why: str) -> Payload:
    said = f"Gemba: the turn ended without a handoff that can be accepted ({why}); it counts as blocked"
    return {"systemMessage": said}


def _words_of(event: str, given: HookInput) -> str:
    said = (given.payload or {}).get("last_assistant_message")
    if isinstance(said, str):
        return said
    from gemba.cli.transcript import last_words

    if event == "SubagentStop" and not given.word("agent_transcript_path"):
        return last_words(given.word("transcript_path"), sidechain=True)
    return last_words(given.word("agent_transcript_path" if event == "SubagentStop" else "transcript_path"))
