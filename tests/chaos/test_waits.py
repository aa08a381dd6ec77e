"""The wait survives: whoever dies between the ask and its answer, the asker gets one outcome, the one given."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba import wire
from tests.chaos.floor import Mortal
from tests.fixtures.servers import Answer, RunningServer, Stream

BLOCKER = ("--kind", "blocker", "--role", "manager", "--text", "Which port?")


def begin(process: "subprocess.Popen[str]") -> str:
    """The event id that a waiting ask tells first."""
    assert process.stderr is not None
    return process.stderr.readline().split()[0]


def end(process: "subprocess.Popen[str]") -> tuple[str, int]:
    printed, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors
    return printed, process.returncode


def respond(server: RunningServer, id: str, text: str = "8080") -> Any:
    return server.post(f"/api/escalations/{id}/respond", {"text": text})


def delivered(stream: Stream, id: str) -> None:
    while stream.until("escalation.delivered")["data"]["ref"] != id:
        pass


def acknowledgements(server: RunningServer, id: str) -> int:
    lines = [line for log in (server.home / "sessions").iterdir() for line in log.read_bytes().splitlines()]
    frames = [json.loads(line) for line in lines]
    return sum(frame["hook"] == "GembaReplyRead" and frame["payload"]["event_id"] == id for frame in frames)


# ---- the server dies --------------------------------------------------------------------------------------------


def test_an_ask_made_while_no_server_ran_is_answered_when_one_does(server: RunningServer) -> None:
    server.stop()
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    server.start()
    stream = server.events(after=0)
    stream.until("escalation_opened")
    respond(server, id)

    assert end(asker) == ("8080\n", 0)
    delivered(stream, id)
    assert acknowledgements(server, id) == 1


def test_a_wait_may_be_older_than_its_server_and_its_home(stopped_server: RunningServer) -> None:
    stopped_server.home.rmdir()
    asker = stopped_server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    stopped_server.start()
    stopped_server.events(after=0).until("escalation_opened")
    respond(stopped_server, id)

    assert end(asker) == ("8080\n", 0)


def test_a_wait_outlives_many_servers(server: RunningServer) -> None:
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    for _ in range(3):
        server.kill()
        server.start()
    server.events(after=0).until("escalation_opened")
    respond(server, id)

    assert end(asker) == ("8080\n", 0)


@pytest.mark.parametrize(
    "point",
    [
        "insert replies",
        "update confirmations",
        "reply opened",
        "reply synced",
        "reply replaced",
        "reply folder synced",
        "update replies",
    ],
)
def test_a_server_that_dies_between_the_answer_and_the_reply_loses_and_doubles_neither(
    stopped_server: RunningServer, tmp_path: Path, point: str
) -> None:
    server = stopped_server
    mortal = Mortal(server, tmp_path / "died-at")
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    confirm = wire.new_event_id()

    def decide() -> Answer:
        return mortal.request("POST", f"/api/escalations/{id}/respond", {"text": "8080"}, confirm)

    def decide_twice() -> list[Answer]:
        mortal.persist(lambda server: server.events(after=0).until("escalation_opened"))
        return [decide(), decide()]

    answers = mortal.die_during(point, 1, decide_twice)
    stream = server.events(after=0)

    assert end(asker) == ("8080\n", 0)
    delivered(stream, id)
    assert mortal.died_at() == [point]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    assert acknowledgements(server, id) == 1
    told = [event["event"] for event in everything(server)]
    assert (told.count("escalation.resolved"), told.count("escalation.delivered")) == (1, 1)


def everything(server: RunningServer) -> list[dict[str, Any]]:
    last = server.get("/api/escalations")["as_of"]
    stream = server.events(after=0)
    return [stream.next() for _ in range(last)]


@pytest.mark.parametrize("point", ["begin", "insert counters", "commit begins", "commit done"])
def test_a_server_that_dies_while_it_makes_its_database_starts_the_next_time(
    stopped_server: RunningServer, tmp_path: Path, point: str
) -> None:
    mortal = Mortal(stopped_server, tmp_path / "died-at")
    asker = stopped_server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    mortal.live_until(point, 1)
    stopped_server.start()
    stopped_server.events(after=0).until("escalation_opened")
    respond(stopped_server, id)

    assert mortal.died_at() == [point]
    assert end(asker) == ("8080\n", 0)


# ---- the asker dies ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before the answer", "after the answer"])
def test_an_asker_that_was_killed_takes_its_wait_up_again(server: RunningServer, moment: str) -> None:
    stream = server.events()
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    stream.until("escalation_opened")
    asker.kill()
    asker.communicate()
    if moment == "after the answer":
        respond(server, id)
    resumed = server.ask("--resume", id)
    if moment == "before the answer":
        respond(server, id)

    assert end(resumed) == ("8080\n", 0)
    delivered(stream, id)
    assert server.get("/api/escalations")["total"] == 1
    assert acknowledgements(server, id) == 1


def test_two_that_wait_for_the_same_answer_both_get_it_and_it_is_delivered_once(server: RunningServer) -> None:
    stream = server.events()
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    stream.until("escalation_opened")
    other = server.ask("--resume", id)
    respond(server, id)

    assert end(asker) == end(other) == ("8080\n", 0)
    delivered(stream, id)
    server.ask("--kind", "question", "--role", "coach", "--text", "Anything else?").communicate()
    stream.until("escalation_opened")
    assert [event["event"] for event in everything(server)].count("escalation.delivered") == 1


# ---- every outcome ----------------------------------------------------------------------------------------------

ENDS: dict[str, tuple[Callable[[RunningServer, str], object], str, int]] = {
    "answered": (respond, "8080", 0),
    "dismissed": (
        lambda server, id: server.post(f"/api/escalations/{id}/dismiss", {"text": "Decide yourself."}),
        "Decide yourself.",
        12,
    ),
    "withdrawn": (lambda server, id: end(server.ask("--withdraw", id)), "withdrawn by the asker", 13),
    "session over": (lambda server, id: server.append("SessionEnd", {"reason": "exit"}), "the session ended", 13),
    "typed in the pane": (lambda server, id: server.append("UserPromptSubmit", {"prompt": "8080"}), "8080", 0),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_wait_ends_with_the_outcome_and_its_exit_code(server: RunningServer, how: str) -> None:
    stream = server.events()
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    stream.until("escalation_opened")
    settle, text, code = ENDS[how]
    settle(server, id)

    assert end(asker) == (text + "\n", code)
    assert end(server.ask("--resume", id)) == (text + "\n", code)


# ---- delivery ---------------------------------------------------------------------------------------------------


def test_a_reply_that_nobody_reads_turns_undelivered_and_a_late_read_delivers_it(
    start_server: Callable[..., RunningServer], workspace: Path, database_url: str
) -> None:
    (workspace / ".gemba/workspace.toml").write_text("[reply]\nundelivered_after_seconds = 1\n")
    server = start_server(database_url)
    stream = server.events()
    printed, _ = end(server.ask(*BLOCKER))
    id = printed.split()[0]
    stream.until("escalation_opened")

    assert respond(server, id)["delivery"] == "pending"
    undelivered = stream.until("escalation.undelivered")
    assert "nobody has read it yet" in undelivered["data"]["payload"]["note"]
    found = server.get(f"/api/escalations/{id}")
    assert (found["delivery"], found["delivery_note"]) == ("undelivered", undelivered["data"]["payload"]["note"])

    assert end(server.ask("--resume", id)) == ("8080\n", 0)
    delivered(stream, id)
    found = server.get(f"/api/escalations/{id}")
    assert (found["delivery"], found["delivery_note"]) == ("delivered", None)


def test_a_reply_that_is_read_at_once_never_turns_undelivered(
    start_server: Callable[..., RunningServer], workspace: Path
) -> None:
    (workspace / ".gemba/workspace.toml").write_text("[reply]\nundelivered_after_seconds = 1\n")
    server = start_server()
    stream = server.events()
    asker = server.ask(*BLOCKER, "--wait")
    id = begin(asker)
    stream.until("escalation_opened")
    respond(server, id)
    end(asker)
    delivered(stream, id)
    # The next one that is late tells that the time of the first is over.
    late = end(server.ask(*BLOCKER))[0].split()[0]
    stream.until("escalation_opened")
    respond(server, late)

    assert stream.until("escalation.undelivered")["data"]["ref"] == late
    assert server.get(f"/api/escalations/{id}")["delivery"] == "delivered"
