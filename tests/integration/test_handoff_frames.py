"""Frames of the stop hooks and the check of what they claim, with the flows running, on both databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.escalations.escalation import Escalation
from gemba.handoff.handoffs import Handoff, list_handoffs
from tests.fixtures.flowing import FlowFloor
from tests.fixtures.handed import claiming
from tests.integration.test_handoff_flows import give, now, submit

OpenFloor = Callable[..., FlowFloor]


@pytest.fixture
def floor(open_floor: OpenFloor) -> FlowFloor:
    opened = open_floor()
    opened.start()
    return opened


def end_turn(floor: FlowFloor, dispatch: dict[str, Any], document: dict[str, Any]) -> None:
    ids = {"dispatch_id": dispatch["id"], "agent_id": dispatch["agent_id"]}
    floor.say("GembaHandoff", {**ids, "event": "Stop", "envelope": document})


def kept(floor: FlowFloor) -> list[Handoff]:
    """Newest first."""
    with floor.app.database.read() as connection:
        return list_handoffs(connection, 10, None)[0]


def blocked(floor: FlowFloor) -> list[Escalation]:
    return [floor.get(one.escalation_id) for one in kept(floor) if one.escalation_id is not None]


def test_what_the_world_refuses_after_the_turn_ended_is_a_persons(floor: FlowFloor) -> None:
    dispatch = give(floor, "files_produced")
    end_turn(floor, dispatch, claiming(dispatch, files_produced=["nope.txt"]))
    floor.commits.until(lambda: kept(floor)[0].state != "checking")

    (ended,) = kept(floor)
    assert (ended.state, ended.refused_by, ended.verdict.action) == ("refused", "world", "escalate")
    (waiting,) = blocked(floor)
    assert (waiting.kind, waiting.state, waiting.session_id) == ("blocked", "open", "s1")
    assert "nope.txt" in waiting.text
    assert now(floor, dispatch).status is None


def test_a_frame_that_comes_while_another_is_checked_is_judged_when_that_is_concluded(
    open_floor: OpenFloor, workspace: Path
) -> None:
    floor = open_floor()  # nothing is checked yet
    dispatch = give(floor, "files_produced", session_id="s1")
    (workspace / "real.txt").write_text("x")
    first = submit(floor, dispatch, claiming(dispatch, files_produced=["nope.txt"]))
    end_turn(floor, dispatch, claiming(dispatch, files_produced=["real.txt"]))
    assert [one.id for one in kept(floor)] == [first.id]

    floor.start()
    floor.commits.until(lambda: now(floor, dispatch).completed_at is not None)
    floor.until_nothing_is_wanted()

    second, before = kept(floor)
    assert (before.id, before.state, before.refused_by) == (first.id, "refused", "world")
    assert (second.state, second.source, second.session_id) == ("accepted", "hook", "s1")
    assert now(floor, dispatch).accepted_id == second.id
