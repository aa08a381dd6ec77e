"""An escalation's states, pair by pair, and what an operator's answer means on each channel."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba import wire
from gemba.errors import Conflict, Invalid
from gemba.escalations.escalation import MACHINE, RANK, UNRESOLVED, Channel, Reply, Respond, State, Urgency, judge
from gemba.event import NAMES

# The whole table once more, as a reader of the documentation would write it down.
MOVES = {
    "open": {
        "acknowledged": "acknowledged",
        "snoozed": "snoozed",
        "resolved": "resolved",
        "dismissed": "dismissed",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "acknowledged": {
        "acknowledged": "acknowledged",
        "snoozed": "snoozed",
        "reopened": "open",
        "resolved": "resolved",
        "dismissed": "dismissed",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "snoozed": {
        "acknowledged": "acknowledged",
        "snoozed": "snoozed",
        "reopened": "open",
        "resolved": "resolved",
        "dismissed": "dismissed",
        "expired": "expired",
        "withdrawn": "withdrawn",
    },
    "resolved": {"reopened": "open"},
    "dismissed": {},
    "expired": {},
    "withdrawn": {},
}
EVENTS = sorted({event for moves in MOVES.values() for event in moves})


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", State)
def test_every_state_allows_its_events_and_refuses_the_others(state: State, event: str) -> None:
    if event in MOVES[state]:
        assert MACHINE.after(state, event) == MOVES[state][event]
    else:
        with pytest.raises(Conflict, match=f"the escalation is {state}: it cannot be {event}") as refused:
            MACHINE.after(state, event)
        assert sorted(refused.value.allowed) == sorted(MOVES[state])


def test_the_table_has_no_other_events() -> None:
    assert {event for _, event in MACHINE.table} == set(EVENTS)


def test_an_unresolved_escalation_can_go_into_every_state() -> None:
    for state in UNRESOLVED:
        others = {target for (source, _), target in MACHINE.table.items() if source == state}
        assert others >= set(State) - set(UNRESOLVED)


def test_what_is_settled_stays_settled_unless_it_is_opened_again() -> None:
    settled = [pair for pair in MACHINE.table if pair[0] not in UNRESOLVED]

    assert settled == [(State.RESOLVED, "reopened")]


@pytest.mark.parametrize("event", EVENTS)
def test_every_move_has_its_event(event: str) -> None:
    assert f"escalation.{event}" in NAMES


def test_blocking_comes_first() -> None:
    assert sorted(Urgency, key=RANK.__getitem__) == [Urgency.BLOCKING, Urgency.ADVISORY]


# ---- answers ----------------------------------------------------------------------------------------------------

OPTIONS = ["red", "green"]
PARTS: dict[str, list[Any]] = {
    "text": [None, "", " \n", "some words"],
    "option": [None, 0, 1, 2, 3, -1],
    "decision": [None, "yes", "no", "modify"],
    "action": [None, "", "red", "blue"],
}
ANSWERS = [Respond(*parts) for parts in itertools.product(*PARTS.values())]


def expected(channel: Channel, answer: Respond) -> Reply | None:
    """The reply that an answer means, None when it does not fit."""
    text = (answer.text or "").strip()
    given = {name for name in PARTS if getattr(answer, name) is not None}
    if channel is Channel.NOTIFICATION:
        if not given <= {"decision", "text"} or answer.decision is None or (answer.decision == "modify" and not text):
            return None
        return Reply("answered", text or answer.decision, "operator", decision=answer.decision)
    if channel is Channel.SYSTEM:
        fits = given <= {"action", "text"} and answer.action in OPTIONS
        return Reply("answered", text, "operator", action=answer.action) if fits else None
    if given == {"option"} and answer.option in (1, 2):
        return Reply("answered", OPTIONS[answer.option - 1], "operator", option=answer.option)
    return Reply("answered", text, "operator") if given == {"text"} and text else None


@pytest.mark.parametrize("channel", Channel)
def test_every_answer_means_what_its_channel_makes_of_it(channel: Channel) -> None:
    for answer in ANSWERS:
        reply = expected(channel, answer)
        if reply is not None:
            assert judge(channel, OPTIONS, answer) == reply
        else:
            with pytest.raises(Invalid, match=r"\w") as refused:
                judge(channel, OPTIONS, answer)
            assert refused.value.pointer in ("/text", "/option", "/decision", "/action"), answer
            assert refused.value.allowed is not None, answer


@pytest.mark.parametrize(
    ("channel", "answer", "code", "pointer", "message"),
    [
        (Channel.TOOL_CALL, Respond(), "missing_field", "/text", "text is missing"),
        (Channel.TOOL_CALL, Respond(option=3), "invalid_value", "/option", "option is 3; allowed: 1 to 2"),
        (Channel.TOOL_CALL, Respond(text="x", option=1), "unexpected_field", "/text", "a text or an option"),
        (Channel.TOOL_CALL, Respond(decision="yes"), "unexpected_field", "/decision", "does not fit here"),
        (Channel.HANDOFF, Respond(action="retry"), "unexpected_field", "/action", "does not fit here"),
        (Channel.NOTIFICATION, Respond(text="x"), "missing_field", "/decision", "decision is missing"),
        (Channel.NOTIFICATION, Respond(decision="modify"), "missing_field", "/text", "text is missing"),
        (Channel.NOTIFICATION, Respond(option=1), "unexpected_field", "/option", "answered with a decision"),
        (Channel.SYSTEM, Respond(text="x"), "invalid_value", "/action", "this card offers red, green"),
        (Channel.SYSTEM, Respond(action="stop"), "invalid_value", "/action", "this card offers red, green"),
        (Channel.SYSTEM, Respond(decision="no"), "unexpected_field", "/decision", "one of its actions"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_what_does(
    channel: Channel, answer: Respond, code: str, pointer: str, message: str
) -> None:
    with pytest.raises(Invalid, match=message) as refused:
        judge(channel, OPTIONS, answer)

    assert (refused.value.code, refused.value.pointer) == (code, pointer)


def test_an_option_of_a_question_without_options_is_refused_with_what_to_do() -> None:
    with pytest.raises(Invalid, match="no options, answer with a text"):
        judge(Channel.TOOL_CALL, [], Respond(option=1))


@pytest.mark.parametrize("channel", Channel)
def test_a_text_may_be_so_long_and_no_longer(channel: Channel) -> None:
    extra: dict[str, Any] = {Channel.NOTIFICATION: {"decision": "no"}, Channel.SYSTEM: {"action": "red"}}.get(
        channel, {}
    )
    longest = "x" * wire.MAX_TEXT

    assert judge(channel, OPTIONS, Respond(text=longest, **extra)).text == longest
    with pytest.raises(Invalid, match="100,001 characters") as refused:
        judge(channel, OPTIONS, Respond(text=longest + "x", **extra))
    assert (refused.value.code, refused.value.pointer) == ("too_long", "/text")


@given(st.text(st.characters(), min_size=1))
def test_a_reply_is_the_operators_words_as_they_can_be_stored(text: str) -> None:
    try:
        reply = judge(Channel.TOOL_CALL, [], Respond(text=text))
    except Invalid:
        assert not text.strip()
    else:
        reply.text.encode()
        assert "\0" not in reply.text
        assert reply.text == reply.text.strip()
