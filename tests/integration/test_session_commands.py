"""`gemba session`, with a server and without: sessions by a part of their id, and starts that are refused."""

import json
import shutil
from pathlib import Path

import pytest

from gemba.testing import retry_until
from tests.fixtures.floor import git_init, stop_runs
from tests.fixtures.operator import Operator


def over(operator: Operator, id: str) -> None:
    retry_until(lambda: json.loads(operator.ok("session", "show", id, "--json"))["run"]["ended_at"], timeout=60)


def test_a_session_is_named_by_the_beginning_or_the_end_of_its_id(operator: Operator) -> None:
    for id in ("builtin-081549a8", "builtin-93c0ffee", "team/é task:1"):
        operator.say("SessionStart", {}, id)

    for given, id in (
        ("081549a8", "builtin-081549a8"),
        ("49a8", "builtin-081549a8"),
        ("builtin-93", "builtin-93c0ffee"),
        ("team/é task:1", "team/é task:1"),
        ("task:1", "team/é task:1"),
    ):
        assert json.loads(operator.ok("session", "show", given, "--json"))["id"] == id
    assert operator.refused("session", "stop", "builtin-") == "gemba: builtin- fits 2 sessions: give more of the id"
    assert "too little of an id" in operator.refused("session", "logs", "a8")
    assert "no session has an id that begins or ends with BUILTIN-08" in operator.refused(
        "session", "send", "BUILTIN-08", "x"
    )
    assert "somebody else" in operator.refused("session", "logs", "081549a8")
    assert "Gemba started has the id builtin-93c0ffee" in operator.refused("session", "interrupt", "c0ffee")


def test_a_session_that_is_over_says_nothing_of_itself(operator: Operator) -> None:
    operator.say("GembaState", {"state": "working"}, "mine")
    assert "· working ·" in operator.ok("session", "list")

    operator.say("SessionEnd", {}, "mine")

    assert "working" not in operator.ok("session", "list")
    assert json.loads(operator.ok("session", "show", "mine", "--json"))["reported_state"] == "working"


def test_without_a_server_a_start_that_fails_is_told_in_one_line(alone: Operator) -> None:
    shutil.rmtree(alone.workspace / ".git")  # where there is no repository, one session works at a time
    alone.ok("session", "start", "--agent", "builtin", "--id", "first", "run: sleep 1000")
    try:
        told = alone.refused("session", "start", "--agent", "builtin", "--id", "second", "run: true")
        assert told.startswith("gemba: session second could not be started: ")
        assert "first" in told
        assert json.loads(alone.ok("session", "show", "second", "--json"))["lifecycle"] == "failed"
    finally:
        stop_runs(alone.home)


def test_a_start_names_its_dispatch_by_a_part_of_its_id(operator: Operator, workspace: Path) -> None:
    git_init(workspace)
    dispatch = json.loads(operator.ok("handoff", "dispatch", "Cut it in half", "--json"))["id"]

    operator.ok("session", "start", "--agent", "builtin", "--id", "s", "--dispatch", dispatch[-8:], "run: true")

    over(operator, "s")
    assert json.loads(operator.ok("session", "show", "s", "--json"))["run"]["dispatch_id"] == dispatch
    refused = operator.refused("session", "start", "--agent", "builtin", "--dispatch", "nothing-like-it", "run: true")
    assert "no dispatch has an id that begins or ends with nothing-like-it" in refused


@pytest.mark.parametrize("id", ["a/b", "..", "a b"])
def test_a_start_with_an_id_that_no_path_takes_is_refused(alone: Operator, id: str) -> None:
    told = alone.refused("session", "start", "--agent", "builtin", "--id", id, "run: true")

    assert told == f"gemba: the id is {id!r}; allowed: 1 to 200 letters, digits, '-', '.' or '_', not dots alone"
