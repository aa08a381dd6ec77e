"""What frames do to escalations, assumptions and sessions, on both databases: through real logs and the real ingest."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from gemba import clock, wire
from gemba.actions import ACTIONS
from gemba.app import App
from gemba.errors import Conflict
from gemba.escalations import inbox
from gemba.escalations.assumption import Assumption
from gemba.escalations.assumptions import list_assumptions
from gemba.escalations.escalation import Escalation
from gemba.escalations.store import escalations
from gemba.event import ALL, NAMES
from gemba.sessions import store as session_store
from gemba.sessions.session import SessionView
from gemba.store import events
from gemba.watch import FolderWatch

QUESTION = {"kind": "question", "role": "manager", "text": "Which port?", "mode": "balanced"}
BLOCKER = {"kind": "blocker", "role": "manager", "text": "The build is broken", "mode": "balanced"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}}


class Floor:
    """The app and the agents that write to it. Frames are taken in by `drain`, or by `say` at once."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._seconds = 0

    def write(self, hook: str, payload: dict[str, Any], session: str = "s1", **frame: Any) -> str:
        """One frame in its session's log, a second after the one before unless it says when (`ts`)."""
        self._seconds += 1
        event_id: str = frame.pop("event_id", None) or wire.new_event_id()
        document = {
            "ts": clock.rfc3339(clock.now() - clock.DAY + self._seconds * clock.SECOND),
            "session_id": session,
            "workspace": str(self.app.workspace.root),
            "agent_type": "claude",
            "hook": hook,
            "event_id": event_id,
            "payload": payload,
            **frame,
        }
        wire.append_frame(str(self.app.home), session, json.dumps(document).encode() + b"\n")
        return event_id

    def drain(self) -> int:
        return self.app.ingest.drain()

    def say(self, hook: str, payload: dict[str, Any] | None = None, session: str = "s1", **frame: Any) -> str:
        event_id = self.write(hook, payload or {}, session, **frame)
        self.drain()
        return event_id

    def ask(self, session: str = "s1", **changes: Any) -> str:
        return self.say("GembaAsk", {**QUESTION, **changes}, session)

    def type(self, text: str, session: str = "s1", **frame: Any) -> str:
        return self.say("UserPromptSubmit", {"prompt": text}, session, **frame)

    def get(self, id: str) -> Escalation:
        with self.app.database.read() as connection:
            return inbox.get_escalation(connection, id)

    def act(self, id: str, verb: str, **body: Any) -> Any:
        """What the operator's surfaces do: one action in one transaction, then the replies go out."""
        paths = [f"/api/{noun}/{{id}}/{verb}" for noun in ("escalations", "assumptions")]
        (action,) = (action for action in ACTIONS if action.path in paths)
        with self.app.database.transaction() as tx:
            result = action.verb(tx, action.body(**body), id=id)
        self.app.write_replies()
        return result

    def reply_file(self, id: str) -> dict[str, Any] | None:
        self.app.write_replies()
        try:
            reply: dict[str, Any] = json.loads(Path(wire.reply_path(str(self.app.home), id)).read_bytes())
        except FileNotFoundError:
            return None
        return reply

    def session(self, id: str = "s1") -> SessionView:
        with self.app.database.read() as connection:
            asks = inbox.asks_by_session(connection)
            return next(s for s in session_store.list_sessions(connection, 100, asks) if s.id == id)

    def assumption(self, id: str) -> Assumption:
        with self.app.database.read() as connection:
            found, _, _ = list_assumptions(connection, None, 100, None)
        return next(assumption for assumption in found if assumption.id == id)

    def unresolved(self) -> list[str]:
        with self.app.database.read() as connection:
            query = select(escalations.c.id).where(~escalations.c.resolved).order_by(escalations.c.opened_at)
            return list(connection.execute(query).scalars())

    def events(self, *names: str) -> list[Any]:
        with self.app.database.read() as connection:
            found = events.read_after(connection, 0, 10_000)
        return [event for event in found if not names or event.name in names]

    def counters(self) -> dict[str, int]:
        with self.app.database.read() as connection:
            return session_store.read_counters(connection)

    def open_directly(self, channel: str, kind: str, session: str = "s1") -> str:
        """An escalation that no frame opens: what the parts above raise."""
        id = wire.new_event_id()
        row = {
            "id": id,
            "session_id": session,
            "agent_type": "claude",
            "kind": kind,
            "channel": channel,
            "urgency": "blocking",
            "rank": 0,
            "state": "open",
            "resolved": False,
            "delivery": "none",
            "mode": "balanced",
            "text": "?",
            "options": '["retry"]',
            "waiting": False,
            "opened_at": 1,
            "changed_at": 1,
            "origin": self.app.origin,
        }
        with self.app.database.transaction() as tx:
            tx.connection.execute(insert(escalations).values(row))
        return id


@pytest.fixture
def floor(app: App) -> Iterator[Floor]:
    floor = Floor(app)
    yield floor
    assert {event.name for event in floor.events()} <= set(NAMES)


# ---- opening ----------------------------------------------------------------------------------------------------


def test_an_ask_is_on_the_list_with_all_it_said(floor: Floor) -> None:
    said: dict[str, Any] = {
        "title": "Port",
        "bead_id": "shop-1",
        "options": ["80", "81"],
        "cwd": "/nowhere",
        "commit": "c0ffee",
    }

    shown = floor.get(floor.ask(**said, branch="main", wait=True))

    assert (shown.state, shown.delivery, shown.urgency, shown.channel) == ("open", "none", "advisory", "tool_call")
    assert {name: getattr(shown, name) for name in said} == said
    assert (shown.branch, shown.waiting, shown.role, shown.resolution) == ("main", True, "manager", None)


def test_asks_and_their_events_are_stored_together(floor: Floor) -> None:
    id = floor.ask()

    (event,) = floor.events("escalation_opened")
    assert (event.ref, event.session_id) == (id, "s1")


def test_an_ask_from_a_clock_that_runs_ahead_counts_as_made_now(floor: Floor) -> None:
    ahead = floor.say("GembaAsk", QUESTION, ts="2999-01-01T00:00:00Z")

    moment = clock.parse(floor.get(ahead).opened_at)
    assert moment is not None
    assert moment <= clock.now()

    floor.type("80", ts="2999-01-01T00:00:01Z")

    assert floor.get(ahead).state == "resolved"


@pytest.mark.parametrize("ts", ["", "yesterday", "1969-01-01T00:00:00Z"])
def test_an_ask_without_a_usable_time_counts_as_made_now(floor: Floor, ts: str) -> None:
    before = clock.now()

    opened_at = clock.parse(floor.get(floor.say("GembaAsk", QUESTION, ts=ts)).opened_at)

    assert opened_at is not None
    assert before <= opened_at <= clock.now()


# ---- typing in the pane -----------------------------------------------------------------------------------------


def test_typing_answers_the_oldest_ask_of_the_session(floor: Floor) -> None:
    first, second = floor.ask(wait=True), floor.ask(kind="blocker")

    floor.type(" use 8080 \n")

    shown = floor.get(first)
    assert (shown.state, shown.delivery) == ("resolved", "delivered")
    assert shown.resolution is not None
    assert (shown.resolution.text, shown.resolution.by, shown.resolution.outcome) == ("use 8080", "pane", "answered")
    assert floor.unresolved() == [second]
    # One that waits learns it too.
    reply = floor.reply_file(first)
    assert reply is not None
    assert (reply["outcome"], reply["text"]) == ("answered", "use 8080")


def test_typing_answers_asks_and_the_clients_own_prompts_alike_by_age(floor: Floor) -> None:
    prompt = floor.say("Notification", {"notification_type": "elicitation_dialog", "message": "?"})
    ask = floor.ask()

    floor.type("yes")
    assert floor.unresolved() == [ask]

    floor.type("8080")
    assert floor.unresolved() == []
    assert floor.get(prompt).delivery == "delivered"


@pytest.mark.parametrize("verb", ["ack", "snooze"])
def test_what_was_seen_or_put_away_is_answered_by_typing_too(floor: Floor, verb: str) -> None:
    id = floor.ask()
    floor.act(id, verb, **({"seconds": 60} if verb == "snooze" else {}))

    floor.type("8080")

    shown = floor.get(id)
    assert (shown.state, shown.snoozed_until) == ("resolved", None)


def test_typing_answers_nothing_of_another_session(floor: Floor) -> None:
    other = floor.ask("s2")

    floor.type("8080", "s1")

    assert floor.unresolved() == [other]


def test_typing_answers_nothing_that_was_opened_after_it(floor: Floor) -> None:
    id = floor.ask()

    floor.type("something else", ts=clock.rfc3339(clock.now() - 2 * clock.DAY))

    assert floor.unresolved() == [id]


@pytest.mark.parametrize(("channel", "kind"), [("handoff", "approval"), ("system", "gate_failure")])
def test_typing_never_decides_what_the_system_or_a_handoff_asks(floor: Floor, channel: str, kind: str) -> None:
    older = floor.open_directly(channel, kind)
    ask = floor.ask()

    floor.type("yes")
    floor.type("yes")

    assert floor.unresolved() == [older]
    assert floor.get(ask).state == "resolved"


def test_a_prompt_of_the_clients_own_answers_nothing(floor: Floor) -> None:
    id = floor.ask()

    floor.type("<task-notification>done</task-notification>")

    assert floor.unresolved() == [id]


def test_a_prompt_is_an_event_even_when_it_answers_nothing(floor: Floor) -> None:
    floor.type("hello")

    assert len(floor.events()) == 1
    assert b"hello" in bytes(floor.events("user_message")[0].payload)


# ---- our own delivery -------------------------------------------------------------------------------------------


def test_a_prompt_that_is_our_own_reply_acknowledges_it_and_answers_nothing_else(floor: Floor) -> None:
    answered, other = floor.ask(), floor.ask()
    floor.act(answered, "respond", text="use 8080")

    floor.type("use 8080")

    assert floor.get(answered).delivery == "delivered"
    assert floor.unresolved() == [other]
    assert [event.ref for event in floor.events("escalation.delivered")] == [answered]


def test_the_same_words_again_are_no_delivery_any_more(floor: Floor) -> None:
    answered, other = floor.ask(), floor.ask()
    floor.act(answered, "respond", text="yes")

    floor.type("yes")
    floor.type("yes")

    assert floor.unresolved() == []
    resolution = floor.get(other).resolution
    assert resolution is not None
    assert resolution.by == "pane"


def test_the_words_of_another_sessions_reply_are_no_delivery(floor: Floor) -> None:
    other = floor.ask("s2")
    floor.act(other, "respond", text="yes")
    id = floor.ask("s1")

    floor.type("yes", "s1")

    assert floor.get(id).state == "resolved"
    assert floor.get(other).delivery == "pending"


def test_an_empty_prompt_is_no_delivery_of_a_refusal_without_words(floor: Floor) -> None:
    dismissed = floor.ask()
    floor.act(dismissed, "dismiss")

    floor.type("  ")

    assert floor.get(dismissed).delivery == "pending"


# ---- reopening --------------------------------------------------------------------------------------------------


def test_what_typing_resolved_can_be_opened_again_and_answered_anew(floor: Floor) -> None:
    id = floor.ask()
    floor.type("this was for something else")
    assert floor.reply_file(id) is not None

    reopened = floor.act(id, "reopen")

    assert (reopened.state, reopened.delivery, reopened.resolution) == ("open", "none", None)
    assert floor.reply_file(id) is None
    floor.act(id, "respond", text="8080")
    reply = floor.reply_file(id)
    assert reply is not None
    assert reply["text"] == "8080"


def test_what_was_opened_again_is_answered_by_the_next_words(floor: Floor) -> None:
    id = floor.ask()
    floor.type("one")
    floor.act(id, "reopen")

    floor.type("two")

    resolution = floor.get(id).resolution
    assert resolution is not None
    assert resolution.text == "two"


def test_what_the_operator_answered_cannot_be_opened_again(floor: Floor) -> None:
    id = floor.ask()
    floor.act(id, "respond", text="8080")

    with pytest.raises(Conflict, match="resolved by the operator") as refused:
        floor.act(id, "reopen")

    assert refused.value.code == "not_reopenable"
    assert floor.reply_file(id) is not None


# ---- permission dialogs -----------------------------------------------------------------------------------------


def test_a_dialog_told_of_twice_is_one_card_until_the_tool_ran(floor: Floor) -> None:
    id = floor.say("PermissionRequest", BASH)
    floor.say("Notification", {"notification_type": "permission_prompt", "message": "May I?"})
    assert floor.unresolved() == [id]

    floor.say("PostToolUse", BASH)

    shown = floor.get(id)
    assert shown.state == "resolved"
    assert shown.resolution is not None
    assert (shown.resolution.by, shown.resolution.text) == ("pane", "answered in the agent's window (the tool ran)")


def test_a_dialog_has_the_mode_of_its_session(floor: Floor) -> None:
    floor.ask(mode="cautious")

    id = floor.say("PermissionRequest", BASH)

    assert floor.get(id).mode == "cautious"


def test_open_dialogs_are_remembered_from_one_batch_to_the_next(floor: Floor) -> None:
    floor.write("PermissionRequest", BASH, event_id="dialog")
    floor.write("Stop", {})

    floor.drain()

    assert floor.get("dialog").state == "resolved"
    assert floor.unresolved() == []


def test_the_end_of_the_turn_leaves_no_dialog_waiting(floor: Floor) -> None:
    dialog, ask = floor.say("PermissionRequest", BASH), floor.ask()

    floor.say("Stop")

    assert floor.get(dialog).state == "resolved"
    assert floor.unresolved() == [ask]


def test_a_dialog_that_is_answered_here_counts_as_undelivered_until_it_is_closed(floor: Floor) -> None:
    id = floor.say("PermissionRequest", BASH)
    answered = floor.act(id, "respond", decision="yes")
    assert answered.delivery == "undelivered"

    floor.say("PostToolUse", BASH)

    shown = floor.get(id)
    assert (shown.delivery, shown.delivery_note) == ("delivered", None)
    assert shown.resolution is not None
    assert shown.resolution.by == "operator"


def test_a_dialog_for_a_call_that_was_refused_before_is_shown_again(floor: Floor) -> None:
    first = floor.say("PermissionRequest", BASH)
    floor.act(first, "respond", decision="no")

    second = floor.say("PermissionRequest", BASH)

    assert floor.unresolved() == [second]
    assert floor.get(first).delivery == "delivered"


def test_a_no_is_not_told_as_delivered_when_the_tool_ran_all_the_same(floor: Floor) -> None:
    id = floor.say("PermissionRequest", BASH)
    floor.act(id, "respond", decision="no")

    floor.say("PostToolUse", BASH)

    shown = floor.get(id)
    assert shown.delivery == "undelivered"
    assert shown.delivery_note is not None
    assert shown.delivery_note.startswith("the tool ran all the same")


def test_a_permission_that_was_declined_is_delivered_when_the_turn_went_on_without_it(floor: Floor) -> None:
    id = floor.say("PermissionRequest", BASH)
    declined = floor.act(id, "dismiss", text="no network please")
    assert declined.delivery == "undelivered"

    floor.say("Stop")

    assert (floor.get(id).delivery, floor.get(id).delivery_note) == ("delivered", None)


def test_a_yes_is_delivered_when_the_tool_ran(floor: Floor) -> None:
    id = floor.say("PermissionRequest", BASH)
    floor.act(id, "respond", decision="yes")

    floor.say("PostToolUse", BASH)

    assert floor.get(id).delivery == "delivered"


def test_a_client_s_own_question_goes_with_its_turn(floor: Floor) -> None:
    id = floor.say("Notification", {"notification_type": "elicitation_dialog", "message": "Which one?"})
    floor.say("Notification", {"notification_type": "permission_prompt", "message": "May I?"})
    assert len(floor.unresolved()) == 2

    floor.say("Stop")

    assert floor.unresolved() == []
    assert floor.get(id).state == "resolved"


def test_words_that_were_a_reply_before_may_answer_a_later_question(floor: Floor) -> None:
    first = floor.ask()
    floor.act(first, "respond", text="yes")
    second = floor.say("GembaAsk", QUESTION, ts=clock.rfc3339(clock.now()))

    floor.type("yes", ts=clock.rfc3339(clock.now()))

    assert floor.get(second).state == "resolved"
    assert floor.get(first).delivery == "pending"


def test_a_reply_that_was_read_stays_delivered_whatever_happens_to_its_file(floor: Floor) -> None:
    id = floor.ask()
    floor.type("8080")
    replies = floor.app.home / "replies"
    replies.write_text("in the way")

    floor.app.write_replies()

    assert floor.get(id).delivery == "delivered"


def test_an_overturned_assumption_is_undelivered_when_its_session_ends_before_it_was_read(floor: Floor) -> None:
    left = floor.say("GembaAsk", {**QUESTION, "kind": "assumption", "chose": "80"})
    other = floor.say("GembaAsk", {**QUESTION, "kind": "assumption", "chose": "80"}, "s2")
    floor.act(left, "overturn", text="81")
    floor.act(other, "overturn", text="81")

    floor.say("SessionEnd")

    assert (floor.assumption(left).delivery, floor.assumption(other).delivery) == ("undelivered", "pending")


# ---- the end of a session ---------------------------------------------------------------------------------------


def test_the_end_of_a_session_withdraws_what_it_asked(floor: Floor) -> None:
    ask, prompt = floor.ask(wait=True), floor.say("PermissionRequest", BASH)
    other = floor.ask("s2")

    floor.say("SessionEnd", {"reason": "exit"})

    assert floor.unresolved() == [other]
    for id in (ask, prompt):
        shown = floor.get(id)
        assert (shown.state, shown.delivery) == ("withdrawn", "none")
        assert shown.resolution is not None
        assert (shown.resolution.by, shown.resolution.outcome) == ("session", "withdrawn")
    reply = floor.reply_file(ask)
    assert reply is not None
    assert reply["outcome"] == "withdrawn"


@pytest.mark.parametrize(("channel", "kind"), [("handoff", "needs_input"), ("system", "gate_failure")])
def test_the_end_of_a_session_leaves_what_others_asked_about_it(floor: Floor, channel: str, kind: str) -> None:
    floor.say("SessionStart")
    id = floor.open_directly(channel, kind)

    floor.say("SessionEnd")

    assert floor.unresolved() == [id]


def test_a_reply_that_was_not_read_before_the_session_ended_is_undelivered(floor: Floor) -> None:
    id = floor.ask()
    floor.act(id, "respond", text="8080")

    floor.say("SessionEnd")

    shown = floor.get(id)
    assert (shown.state, shown.delivery) == ("resolved", "undelivered")
    assert shown.delivery_note == "the session ended before the reply was read"


def test_a_reply_that_is_read_late_is_delivered_after_all(floor: Floor) -> None:
    id = floor.ask()
    floor.act(id, "respond", text="8080")
    floor.say("SessionEnd")

    floor.say("GembaReplyRead", {"event_id": id})

    shown = floor.get(id)
    assert (shown.delivery, shown.delivery_note) == ("delivered", None)
    assert [event.name for event in floor.events("escalation.undelivered", "escalation.delivered")] == [
        "escalation.undelivered",
        "escalation.delivered",
    ]


# ---- replies and withdrawals ------------------------------------------------------------------------------------


def test_a_reply_counts_as_delivered_once_its_asker_has_read_it(floor: Floor) -> None:
    id = floor.ask()
    assert floor.act(id, "respond", text="8080").delivery == "pending"

    floor.say("GembaReplyRead", {"event_id": id}, "s2")
    assert floor.get(id).delivery == "pending"

    floor.say("GembaReplyRead", {"event_id": id})
    floor.say("GembaReplyRead", {"event_id": id})

    assert floor.get(id).delivery == "delivered"
    assert len(floor.events("escalation.delivered")) == 1


def test_reading_a_reply_that_does_not_exist_changes_nothing(floor: Floor) -> None:
    id = floor.ask()

    floor.say("GembaReplyRead", {"event_id": id})
    floor.say("GembaReplyRead", {"event_id": "nothing"})

    assert (floor.get(id).state, floor.get(id).delivery) == ("open", "none")


def test_an_asker_takes_its_own_ask_back_and_nobody_elses(floor: Floor) -> None:
    id = floor.ask()

    floor.say("GembaWithdraw", {"event_id": id}, "s2")
    assert floor.get(id).state == "open"

    floor.say("GembaWithdraw", {"event_id": id})
    shown = floor.get(id)
    assert shown.state == "withdrawn"
    assert shown.resolution is not None
    assert shown.resolution.by == "agent"


def test_an_answer_stays_when_the_ask_is_taken_back_after_it(floor: Floor) -> None:
    id = floor.ask()
    floor.act(id, "respond", text="8080")

    floor.say("GembaWithdraw", {"event_id": id})

    assert floor.get(id).state == "resolved"


# ---- assumptions ------------------------------------------------------------------------------------------------


def test_an_assumption_is_recorded_and_opens_nothing(floor: Floor) -> None:
    id = floor.ask(kind="assumption", chose="8080", mode="dangerous", bead_id="shop-1")

    recorded = floor.assumption(id)
    assert (recorded.text, recorded.chose, recorded.bead_id) == ("Which port?", "8080", "shop-1")
    assert (recorded.overturned, recorded.delivery) == (None, "none")
    assert floor.unresolved() == []


def test_overturning_an_assumption_reaches_the_agent_with_the_commits_since(floor: Floor, workspace: Path) -> None:
    commit, _ = wire.git_head(str(workspace))
    id = floor.ask(kind="assumption", chose="8080", cwd=str(workspace), commit=commit)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "-m", "listen on 8080"], cwd=workspace, check=True)

    overturned = floor.act(id, "overturn", text=" use 9090 ")

    assert (overturned.overturned.text, overturned.delivery) == ("use 9090", "pending")
    reply = floor.reply_file(id)
    assert reply is not None
    assert (reply["outcome"], reply["text"]) == ("overturned", "use 9090")
    (line,) = reply["commits"]
    assert line.endswith(" listen on 8080")

    floor.say("GembaReplyRead", {"event_id": id}, "s2")
    assert floor.assumption(id).delivery == "pending"
    floor.say("GembaReplyRead", {"event_id": id})
    assert floor.assumption(id).delivery == "delivered"
    assert [event.ref for event in floor.events("assumption.overturned", "assumption.delivered")] == [id, id]


def test_an_assumption_is_overturned_once(floor: Floor) -> None:
    id = floor.ask(kind="assumption", chose="8080")
    floor.act(id, "overturn", text="9090")

    with pytest.raises(Conflict, match="overturned already") as refused:
        floor.act(id, "overturn", text="7070")

    assert refused.value.extra["assumption"].overturned.text == "9090"


def test_an_overturn_that_cannot_be_written_is_shown_as_undelivered_and_told_once(floor: Floor) -> None:
    id = floor.ask(kind="assumption", chose="8080")
    (floor.app.home / "replies").write_text("in the way")

    floor.act(id, "overturn", text="9090")
    floor.app.write_replies()

    assert floor.assumption(id).delivery == "undelivered"
    assert len(floor.events("assumption.undelivered")) == 1


# ---- sessions ---------------------------------------------------------------------------------------------------


def test_a_session_is_met_at_its_first_frame(floor: Floor) -> None:
    floor.say("GembaState", {"state": "working", "bead_id": "shop-1", "note": "tests"})

    session = floor.session()

    assert (session.lifecycle, session.reported_state, session.note) == ("running", "working", "tests")
    assert (session.bead_id, session.agent_type, session.mode, session.role) == ("shop-1", "claude", "balanced", None)
    assert session.needs_you is False


def test_a_session_ends_and_may_begin_again(floor: Floor) -> None:
    floor.say("SessionStart")
    floor.say("SessionEnd")
    assert floor.session().lifecycle == "completed"

    floor.say("SessionStart", {"source": "resume"})
    assert floor.session().lifecycle == "running"


def test_a_session_keeps_its_item_until_another_is_named(floor: Floor) -> None:
    floor.say("GembaState", {"state": "working", "bead_id": "shop-1", "note": "tests"})
    floor.say("Notification", {"notification_type": "idle_prompt", "message": "waiting for input"})

    session = floor.session()
    assert (session.bead_id, session.reported_state, session.note) == ("shop-1", "prompting", "waiting for input")

    floor.say("GembaState", {"state": "working", "bead_id": "shop-2"})
    assert (floor.session().bead_id, floor.session().note) == ("shop-2", None)


@pytest.mark.parametrize("ask", [{"mode": "cautious"}, {"mode": "dangerous", "kind": "assumption", "chose": "x"}])
def test_a_session_has_the_mode_of_its_last_ask(floor: Floor, ask: dict[str, str]) -> None:
    floor.ask()
    floor.ask(**ask)

    assert floor.session().mode == ask["mode"]


def test_a_dropped_ask_does_not_change_the_sessions_mode(floor: Floor) -> None:
    floor.ask(mode="dangerous")

    assert floor.session().mode == "balanced"


def test_a_frame_without_an_agent_type_does_not_forget_it(floor: Floor) -> None:
    floor.write("SessionStart", {}, agent_type="codex")
    floor.write("Stop", {}, agent_type="")
    floor.drain()
    assert floor.session().agent_type == "codex"

    floor.say("Stop", agent_type=None)
    assert floor.session().agent_type == "codex"


def test_a_session_needs_you_while_it_prompts(floor: Floor) -> None:
    floor.say("GembaState", {"state": "prompting"})
    assert floor.session().needs_you is True

    floor.type("go on")
    assert (floor.session().needs_you, floor.session().reported_state) == (False, None)


def test_a_session_needs_you_while_something_of_it_blocks(floor: Floor) -> None:
    floor.ask()
    assert floor.session().needs_you is False

    id = floor.ask(kind="blocker")
    assert floor.session().needs_you is True

    floor.act(id, "snooze", seconds=60)
    assert floor.session().needs_you is True

    floor.act(id, "respond", text="go on")
    assert floor.session().needs_you is False


def test_a_session_that_is_over_does_not_need_you(floor: Floor) -> None:
    floor.say("GembaState", {"state": "prompting"})
    floor.ask(kind="blocker")

    floor.say("SessionEnd")

    assert floor.session().needs_you is False


def test_a_role_that_the_session_has_on_record_is_held_against_the_frame(floor: Floor) -> None:
    floor.say("SessionStart")
    with floor.app.database.transaction() as tx:
        tx.connection.execute(session_store.sessions.update().values(role="coach"))

    floor.ask(role="manager", kind="blocker")
    id = floor.ask(role="coach")

    assert floor.unresolved() == [id]
    assert floor.counters()["frames_dropped"] == 1


# ---- each frame once, in order ----------------------------------------------------------------------------------


def test_a_frame_is_taken_once_however_often_it_is_written(floor: Floor) -> None:
    id = floor.ask()

    floor.say("GembaAsk", QUESTION, event_id=id)
    floor.say("GembaAsk", QUESTION, session="s2", event_id=id)
    floor.write("GembaAsk", QUESTION, event_id="twice")
    floor.write("GembaAsk", {**QUESTION, "text": "another text"}, event_id="twice")
    floor.drain()

    assert sorted(floor.unresolved()) == sorted([id, "twice"])
    assert floor.get("twice").text == "Which port?"
    assert len(floor.events("escalation_opened")) == 2
    assert floor.counters() == {"frames_ingested": 2, "frames_duplicate": 3}


def test_a_log_that_is_read_again_changes_nothing(floor: Floor, app: App) -> None:
    id = floor.ask()
    floor.type("8080")
    log = Path(wire.log_path(str(app.home), "s1"))
    content = log.read_bytes()
    log.unlink()
    log.write_bytes(content)

    assert floor.drain() == 0

    assert floor.get(id).state == "resolved"
    assert len(floor.events()) == 3


def test_what_was_written_before_anybody_watched_is_taken_at_once(floor: Floor, app: App) -> None:
    class Impatient(FolderWatch):
        def wait(self, timeout: float | None) -> set[str] | None:
            assert timeout == 0
            return super().wait(timeout)

    floor.drain()
    id = floor.write("GembaAsk", QUESTION)

    with Impatient(str(app.home / "sessions")) as watch:
        app.ingest.look_again()
        app.ingest.follow(watch)

    assert floor.unresolved() == [id]


def test_what_was_written_between_two_runs_is_taken_at_once(floor: Floor, app: App) -> None:
    """The second begins where the first had read everything, with a watch that saw nothing of what came between."""

    async def run_until_asked(id: str) -> None:
        async with app.running() as hub, asyncio.timeout(20):  # all logs are looked at every 30 s in any case
            seen = hub.last
            while id not in floor.unresolved():
                await hub.wait_for(seen, ALL)
                seen = hub.last

    for session in ("s1", "s2"):
        asyncio.run(run_until_asked(floor.write("GembaAsk", QUESTION, session)))


def test_a_batch_is_applied_in_the_order_in_which_it_was_written(floor: Floor) -> None:
    floor.write("GembaAsk", QUESTION, event_id="first")
    floor.write("GembaAsk", BLOCKER, event_id="second")
    floor.write("UserPromptSubmit", {"prompt": "one"})
    floor.write("GembaAsk", QUESTION, event_id="third")
    floor.write("UserPromptSubmit", {"prompt": "two"})
    floor.write("GembaAsk", QUESTION, event_id="fourth")
    floor.write("GembaWithdraw", {"event_id": "fourth"})

    assert floor.drain() == 7

    assert floor.unresolved() == ["third"]
    assert [event.name for event in floor.events()] == [
        *("escalation_opened", "escalation_opened", "user_message", "escalation_opened", "user_message"),
        *("escalation_opened", "ask_withdrawn"),
        *("escalation.resolved", "escalation.resolved", "escalation.withdrawn"),
    ]


def test_a_session_that_ended_and_began_again_in_one_batch_keeps_its_new_ask(floor: Floor) -> None:
    floor.write("GembaAsk", QUESTION, event_id="old")
    floor.write("SessionEnd", {})
    floor.write("SessionStart", {})
    floor.write("GembaAsk", QUESTION, event_id="new")

    floor.drain()

    assert floor.unresolved() == ["new"]
    assert floor.session().lifecycle == "running"


def test_one_batch_or_many_come_to_the_same(floor: Floor) -> None:
    """The same story twice: frame by frame in one session, all at once in another."""
    story: list[tuple[str, dict[str, Any]]] = [
        ("SessionStart", {}),
        ("GembaAsk", QUESTION),
        ("PermissionRequest", BASH),
        ("Notification", {"notification_type": "permission_prompt"}),
        ("PostToolUse", BASH),
        ("GembaAsk", {**BLOCKER, "mode": "cautious"}),
        ("UserPromptSubmit", {"prompt": "go on"}),
        ("GembaState", {"state": "prompting", "bead_id": "shop-1"}),
        ("Stop", {}),
    ]
    for hook, payload in story:
        floor.say(hook, payload, "slow")
    for hook, payload in story:
        floor.write(hook, payload, "fast")
    floor.drain()

    def outcome(session: str) -> Any:
        with floor.app.database.read() as connection:
            query = select(escalations).where(escalations.c.session_id == session).order_by(escalations.c.opened_at)
            rows = [(row.kind, row.state, row.delivery, row.reply_text) for row in connection.execute(query)]
        shown = floor.session(session)
        told = sorted(event.name for event in floor.events() if event.session_id == session)
        return rows, told, (shown.mode, shown.reported_state, shown.bead_id, shown.needs_you, shown.lifecycle)

    assert outcome("fast") == outcome("slow")


# ---- what is refused --------------------------------------------------------------------------------------------


def test_a_dropped_frame_is_counted_and_visible_with_its_reason(floor: Floor) -> None:
    id = floor.ask(kind="blocker", role="coach")

    assert floor.unresolved() == []
    (event,) = floor.events()
    assert (event.name, event.ref) == ("frame_dropped", id)
    assert b"a coach never raises a blocker" in bytes(event.payload)
    assert floor.counters() == {"frames_ingested": 1, "frames_dropped": 1}


def test_lines_that_are_no_frames_are_counted_and_visible_and_hurt_no_neighbour(floor: Floor, app: App) -> None:
    before = floor.ask()
    with Path(wire.log_path(str(app.home), "s1")).open("ab") as log:
        log.write(b"not json\n{}\n\xff\xfe\n\n")
    after = floor.ask()

    assert floor.unresolved() == [before, after]
    (event,) = floor.events("frame_dropped")
    assert json.loads(bytes(event.payload)).items() >= {"log": "s1.jsonl", "lines": 3}.items()
    assert floor.counters() == {"frames_ingested": 2, "frames_unreadable": 3}


def test_hostile_text_is_stored_and_shown_as_text(floor: Floor) -> None:
    hostile = "'; drop table escalations; -- \0 \ud800 \x1b[2J <script>alert(1)</script> \u202e %s {} $1"

    id = floor.ask(text=hostile, title=hostile, options=[hostile], bead_id=hostile)
    floor.type(hostile)

    cleaned = hostile.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    shown = floor.get(id)
    assert (shown.text, shown.title, shown.options, shown.bead_id) == (cleaned, cleaned, [cleaned], cleaned)
    assert shown.resolution is not None
    assert shown.resolution.text == cleaned


def test_a_frame_of_another_workspace_is_left_to_it_and_one_of_none_is_counted(floor: Floor, tmp_path: Path) -> None:
    (tmp_path / "other" / ".gemba").mkdir(parents=True)

    floor.say("GembaAsk", QUESTION, workspace=str(tmp_path / "other"))
    floor.say("GembaAsk", QUESTION, workspace=str(tmp_path / "gone"))
    floor.say("GembaAsk", QUESTION, workspace="")

    assert floor.unresolved() == []
    with floor.app.database.read() as connection:
        strays = session_store.read_strays(connection, since=0)
    assert sorted((workspace, frames) for workspace, frames, _ in strays) == [("", 1), (str(tmp_path / "gone"), 1)]
