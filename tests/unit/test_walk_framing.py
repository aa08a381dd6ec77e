"""What the built-in project manager proposes: replies that the ask takes, the best first, and the same for the same."""

from typing import Any

import pytest

from gemba.escalations.answer import judge
from gemba.escalations.escalation import Answer, Channel, Delivery, Escalation, Precedent, Respond, State, Urgency
from gemba.walks.framing import (
    ItemFacts,
    MemoryFacts,
    SessionFacts,
    TaskFacts,
    frame_closed,
    frame_escalation,
    frame_filed,
    frame_memory,
    frame_session,
    frame_task,
    frame_topic,
)


def escalation(**fields: Any) -> Escalation:
    known: dict[str, Any] = dict.fromkeys(Escalation.__struct_fields__)
    known |= {
        "id": "e/1",
        "session_id": "claude-1",
        "agent_type": "claude",
        "kind": "question",
        "channel": Channel.TOOL_CALL,
        "urgency": Urgency.BLOCKING,
        "state": State.OPEN,
        "delivery": Delivery.NONE,
        "text": "Which port?",
        "options": [],
        "waiting": False,
    }
    return Escalation(**{**known, **fields})


def before(text: str = "9090", value: Any = None) -> Precedent:
    return Precedent(
        "e0", "claude-0", "Which port?", Answer(text, None, value), "operator", None, "then", 1.0, "the same words"
    )


ASKED = {
    "words": escalation(),
    "words, answered before": escalation(precedent=before()),
    "options": escalation(options=["8080", "9090", "7070", "6060"]),
    "options, answered before": escalation(options=["8080", "9090"], precedent=before()),
    "an enum": escalation(schema={"enum": ["a", "b", "c", "d"]}),
    "yes or no": escalation(schema={"type": "boolean"}),
    "a default": escalation(schema={"type": "integer", "minimum": 1, "default": 5}),
    "a client's dialog": escalation(channel=Channel.NOTIFICATION, kind="permission_prompt"),
    "a stall": escalation(channel=Channel.SYSTEM, kind="stalled", options=["wait", "interrupt", "stop"]),
    "a gate": escalation(channel=Channel.SYSTEM, kind="gate_failure", options=["accept", "retry", "revise", "skip"]),
    "a purview": escalation(channel=Channel.SYSTEM, kind="purview_violation", options=["fixed", "override"]),
    "the end of a turn": escalation(channel=Channel.HANDOFF, kind="needs_input", options=["x", "y"]),
}


@pytest.mark.parametrize("name", ASKED)
def test_every_proposed_reply_is_one_that_the_ask_takes(name: str) -> None:
    one = ASKED[name]

    framing = frame_escalation(one, [])

    assert 1 <= len(framing.actions) <= 3
    for action in framing.actions:
        assert (action.verb, action.path) == ("POST", "/api/escalations/e%2F1/respond")
        judge(one.channel, one.options, one.schema, Respond(**action.body))
    assert frame_escalation(one, []) == framing


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("words, answered before", {"text": "9090"}),
        ("options", {"option": 1}),
        ("options, answered before", {"text": "9090"}),
        ("a default", {"value": 5}),
        ("a client's dialog", {"decision": "yes"}),
        ("a gate", {"action": "retry"}),
        ("a purview", {"action": "fixed"}),
    ],
)
def test_the_best_is_proposed_first(name: str, first: dict[str, Any]) -> None:
    assert frame_escalation(ASKED[name], []).actions[0].body == first


def test_an_answer_from_before_that_no_longer_fits_is_not_proposed() -> None:
    one = escalation(schema={"type": "integer", "default": 3}, precedent=before("nine", "nine"))

    assert [action.body for action in frame_escalation(one, []).actions] == [{"value": 3}]


def test_where_nothing_fits_it_is_put_off_rather_than_guessed() -> None:
    one = escalation(schema={"type": "object", "required": ["port"]})

    (action,) = frame_escalation(one, []).actions

    assert action.path == "/api/escalations/e%2F1/snooze"


ITEM = ItemFacts("shop-1", "bug", "The till hangs", "Since Monday.", "unstarted", 2, "claude-1", 3, None, None)


def test_new_work_is_agreed_to_put_back_or_cancelled() -> None:
    actions = frame_filed(ITEM).actions

    assert [action.body for action in actions] == [
        {"ratified": True},
        {"state": "backlog", "ratified": True},
        {"state": "cancelled", "close_reason": "not agreed to"},
    ]
    assert {action.path for action in actions} == {"/api/work-items/shop-1"}


def test_closed_work_is_looked_back_at() -> None:
    done, follow = frame_closed(ITEM._replace(closed_by="tom", close_reason="restarted it")).actions

    assert done.body == {"retro": "done"}
    assert follow.body["relations"] == [{"kind": "discovered-from", "target": "shop-1"}]


@pytest.mark.parametrize(("can", "paths"), [(["retry", "skip"], ["retry", "skip"]), ([], ["pause"])])
def test_a_task_is_offered_what_its_state_allows(can: list[str], paths: list[str]) -> None:
    framing = frame_task(TaskFacts("run-1", "IMPL-001", "Mend it", "developer", "partial_completion", None, can))

    assert [action.path.rpartition("/")[2] for action in framing.actions] == paths


def test_a_session_that_gemba_did_not_start_cannot_be_started_again() -> None:
    facts = SessionFacts("claude-9", "claude", "lost", "gone", None, "", "")

    assert [action.path for action in frame_session(facts).actions] == ["/api/work-items"]
    again = frame_session(facts._replace(agent="claude", task="Mend it", title="Mend it"))
    assert again.actions[0].body == {"agent": "claude", "task": "Mend it", "title": "Mend it"}


@pytest.mark.parametrize(("class_", "bodies"), [("thread", [{}, {"class": "anchor"}, {}]), ("anchor", [{}, {}])])
def test_what_is_to_be_remembered_is_kept_or_not_and_made_an_anchor_where_it_is_none(
    class_: str, bodies: list[dict[str, str]]
) -> None:
    framing = frame_memory(MemoryFacts("m/1", "twice", "atom", class_, "It runs twice", "See the log.", ""))

    assert [action.body for action in framing.actions] == bodies
    assert framing.actions[0].path == "/api/memories/m%2F1/accept"
    assert framing.actions[-1].path == "/api/memories/m%2F1/reject"
    assert framing.summary == "See the log."


def test_a_topic_can_be_filed() -> None:
    assert frame_topic("Where are we going?").actions[0].body["item"]["title"] == "Where are we going?"
