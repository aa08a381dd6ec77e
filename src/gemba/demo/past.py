"""What has happened before the demo begins: asks that are open for a while, decisions taken alone and their commits.

Written as frames with earlier times, so that they take the same way into the store as everything else. Dispatches and
requests for approval have no frames: those are made by the verbs of the API, as of an earlier moment.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from gemba import clock, wire
from gemba.app import App
from gemba.demo.floor import commit_change
from gemba.demo.session import Session
from gemba.demo.story import Approval, Ask, Assignment, Assumption, Permission, Turn
from gemba.escalations import approvals
from gemba.handoff import dispatching
from gemba.handoff.risk import classify, workspace_rules

_EARLIER = 2 * 24 * 60  # minutes
_STARTED_BEFORE = 15  # minutes between a session's start and the first that is known of it
_MINUTE = 60 * clock.SECOND


def write_past(sessions: Iterable[Session]) -> dict[str, list[str]]:
    """What each agent left open: the event ids of its asks and assumptions by its name, oldest first."""
    turns = [
        (turn.minutes_ago, session, turn)
        for session in sessions
        for turn in session.story.turn
        if turn.minutes_ago is not None
    ]
    left: dict[str, list[str]] = {}
    for ago, session, turn in sorted(turns, key=lambda entry: -entry[0]):
        if session.story.name not in left:
            session.client("SessionStart", ago + _STARTED_BEFORE, source="startup")
        left.setdefault(session.story.name, []).append(_happened(session, turn, ago))
    return left


def write_earlier(sessions: Iterable[Session]) -> None:
    """Sessions of the day before yesterday, which asked and were told what to do in their windows."""
    for session in sessions:
        asked = [turn for turn in session.story.turn if isinstance(turn, Ask) and turn.answered_before]
        for ago, turn in enumerate(asked, _EARLIER):
            session.client("SessionStart", ago + 3, source="startup")
            session.append("GembaAsk", _asked(session, turn), ago + 2)
            session.client("UserPromptSubmit", ago + 1, prompt=turn.answered_before)
            session.client("SessionEnd", ago, reason="other")


def write_dispatches(app: App, sessions: Iterable[Session]) -> dict[str, str]:
    """The dispatches of the agents that were given work, by their names, with the requests that are open in them."""
    made: dict[str, str] = {}
    for session in sessions:
        if session.story.assignment is not None:
            made[session.story.name] = _dispatch(app, session, session.story.assignment)
    return made


def _dispatch(app: App, session: Session, given: Assignment) -> str:
    story = session.story
    requested = [(turn, turn.minutes_ago) for turn in story.turn if isinstance(turn, Approval) and turn.minutes_ago]
    wanted = dispatching.NewDispatch(
        goal=given.goal,
        acceptance_criteria=tuple(given.acceptance_criteria),
        targets=tuple(given.targets),
        role=story.name,
        session_id=session.id,
        provider=story.name,
        task_id=story.bead,
        folder=str(session.cwd),
    )
    prepared = dispatching.prepare(app.database.surroundings, wanted)
    with app.database.transaction() as tx:
        now = tx.now
        tx.now = now - (max((ago for _, ago in requested), default=0) + _STARTED_BEFORE) * _MINUTE
        id = dispatching.create_dispatch(tx, prepared).id
        for turn, ago in requested:
            tx.now = now - ago * _MINUTE
            approvals.request(tx, _requested(session, turn, id))
    return id


def _requested(session: Session, turn: Approval, dispatch_id: str) -> approvals.Request:
    """What the hook of the agent's client asks for: the same call finds it again."""
    risk = classify(turn.run, workspace_rules(session.workspace))
    return approvals.Request(
        command=turn.run,
        cwd=str(session.cwd),
        tool="Bash",
        risk=risk.level,
        reason=risk.reason,
        session_id=session.id,
        requester=dispatch_id,
    )


def _happened(session: Session, turn: Turn, ago: int) -> str:
    state = "prompting" if session.story.blocks(turn) else "working"
    session.append("GembaState", {"state": state, "bead_id": session.story.bead, "note": turn.work[-1]}, ago)
    if isinstance(turn, Approval):
        commit_change(session.cwd, turn, session.story.name, time.time() - 60 * (ago + 1))
        return session.tool("PreToolUse", turn, ago)
    session.tool("PreToolUse", turn, ago + 1)
    if isinstance(turn, Permission):
        asked = session.tool("PermissionRequest", turn, ago)
        # A client tells of its dialog a second time; it stays one escalation.
        session.client("Notification", ago - 0.1, notification_type="permission_prompt", message="May I use Bash?")
        return asked
    session.tool("PostToolUse", turn, ago + 0.5)
    if isinstance(turn, Assumption):
        commit_change(session.cwd, turn, session.story.name, time.time() - 60 * ago)
    return session.append("GembaAsk", _asked(session, turn), ago)


def _asked(session: Session, turn: Turn) -> dict[str, object]:
    """What `gemba-ask` would have written there and then."""
    commit, branch = wire.git_head(str(session.cwd))
    story = session.story
    given: dict[str, object] = {
        "role": story.role,
        "mode": story.mode,
        "bead_id": story.bead,
        "cwd": str(session.cwd),
        "commit": commit,
        "branch": branch,
    }
    if isinstance(turn, Ask):
        given |= {"kind": turn.kind, "title": turn.title, "text": turn.text.strip(), "options": turn.options}
        given["schema"] = turn.schema
        given["wait"] = story.waits
    elif isinstance(turn, Assumption):
        given |= {"kind": "assumption", "text": turn.text, "chose": turn.chose}
    return {key: value for key, value in given.items() if value}
