"""`kill -9` of the server inside its commit windows: nothing acknowledged is lost, nothing happens twice."""

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gemba.testing import seeds
from tests.chaos.doomed import POINTS
from tests.chaos.floor import Agent, Asked, Mortal, Operator, Sent, Somebody, Witness
from tests.fixtures.servers import RunningServer

KILLS = 5  # a round
_ENDS = {"escalation.resolved": "resolved", "escalation.dismissed": "dismissed", "escalation.withdrawn": "withdrawn"}


@pytest.mark.chaos
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", seeds(short=1, full=12))
def test_asks_and_answers_survive_a_server_that_is_killed_while_it_commits(
    server: RunningServer, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    mortal = Mortal(server, tmp_path / "died-at")
    agents = [Agent(server, f"agent-{number}", f"{seed} {number}") for number in range(6)]
    operators = [Operator(mortal, f"operator-{number}", f"{seed} {number}") for number in range(2)]
    witness = Witness(mortal)
    everybody: list[Somebody] = [*agents, *operators, witness]
    for somebody in everybody:
        somebody.start()

    for point in draw.sample(POINTS, KILLS):
        mortal.live_until(point, draw.randint(1, 8))
    mortal.live()
    end(agents)
    asked = [one for agent in agents for one in agent.asked]
    everything = {one.event_id for one in asked}
    witness.wait_for(lambda seen: everything <= {e["ref"] for e in seen if e["name"] == "escalation_opened"})
    end(operators)
    sent = [one for operator in operators for one in operator.sent]
    with_reader = {one.event_id for one in asked if one.code in (0, 12)}
    witness.wait_for(lambda seen: with_reader <= {e["ref"] for e in seen if e["name"] == "escalation.delivered"})
    found = every_escalation(server)
    for one in sent:
        check_replay(server, one)
    witness.ended.set()
    server.process.terminate()
    witness.join()
    assert server.stop() == (0, "")
    assert [trouble for somebody in everybody for trouble in somebody.trouble] == []

    check_kills(mortal.died_at())
    check_asks(asked, found)
    check_answers(sent, found)
    check_waits(asked, found, server.home)
    check_events(witness.seen, found)
    assert {path.name for path in (server.home / "replies").iterdir()} == {f"{id}.json" for id in found}
    if (database := tmp_path / "gemba.db").exists():
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]


def end(workers: Sequence[Somebody]) -> None:
    """Each after what it is at, or has left to do."""
    for somebody in workers:
        somebody.ended.set()
    for somebody in workers:
        somebody.join()


def every_escalation(server: RunningServer) -> dict[str, dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = server.get(f"/api/escalations?limit=100{cursor}")
        found += page["escalations"]
        if page["next_cursor"] is None:
            assert page["total"] == len(found)
            return {one["id"]: one for one in found}
        cursor = f"&cursor={quote(page['next_cursor'])}"


def check_kills(died_at: list[str]) -> None:
    """It died where it was meant to, nearly always, and at different places."""
    assert len(set(died_at)) >= KILLS - 1, died_at


def check_asks(asked: list[Asked], found: dict[str, dict[str, Any]]) -> None:
    """Every ask that was acknowledged is one escalation, and there is no other."""
    assert len(asked) > KILLS
    assert Counter(one["text"] for one in found.values()) == Counter(one.text for one in asked)
    assert {one.event_id: one.text for one in asked} == {id: one["text"] for id, one in found.items()}


def check_answers(sent: list[Sent], found: dict[str, dict[str, Any]]) -> None:
    """Every answer that was acknowledged is the stored one; all others were told who was first."""
    assert {one.answer.status for one in sent} <= {200, 409}
    for one in sent:
        id = one.path.split("/")[3]
        stored = found[id]["resolution"]["text"]
        if one.answer.status == 200:
            assert stored == one.body["text"]
        else:
            assert one.answer.json["code"] == "already_resolved"
            assert one.answer.json["escalation"]["resolution"]["text"] == stored != one.body["text"]
    taken = Counter(one.path.split("/")[3] for one in sent if one.answer.status == 200)
    assert set(taken.values()) == {1}
    assert {id for id, one in found.items() if one["resolution"]["by"] == "operator"} == set(taken)


def check_replay(server: RunningServer, sent: Sent) -> None:
    again = server.request("POST", sent.path, sent.body, X_GEMBA_Confirm=sent.confirm)
    assert again.status == sent.answer.status
    assert sent.answer.status != 200 or again.json == sent.answer.json


def check_waits(asked: list[Asked], found: dict[str, dict[str, Any]], home: Path) -> None:
    """Everybody who waited got one outcome, the stored one, and acknowledged it once."""
    codes = {"resolved": 0, "dismissed": 12, "withdrawn": 13}
    read = Counter(reply_read(home))
    for one in asked:
        escalation = found[one.event_id]
        if one.code is None:
            assert (escalation["delivery"], read[one.event_id]) == ("pending", 0)
            continue
        told = escalation["resolution"]["text"] + "\n"
        assert (one.printed, one.code) == (told, codes[escalation["state"]])
        assert one.killed_at in (None, "", told)
        assert escalation["delivery"] == ("none" if escalation["state"] == "withdrawn" else "delivered")
        assert read[one.event_id] == 1 or (one.killed_at == told and read[one.event_id] == 2)


def reply_read(home: Path) -> list[str]:
    frames = [json.loads(line) for log in (home / "sessions").iterdir() for line in log.read_bytes().splitlines()]
    return [frame["payload"]["event_id"] for frame in frames if frame["hook"] == "GembaReplyRead"]


def check_events(seen: list[dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    """The log has no gap and tells each thing once, and so it was read by one who came back after every death."""
    assert [event["id"] for event in seen] == list(range(1, len(seen) + 1))
    opened = Counter(event["ref"] for event in seen if event["name"] == "escalation_opened")
    ended = Counter((event["ref"], _ENDS[event["name"]]) for event in seen if event["name"] in _ENDS)
    delivered = Counter(event["ref"] for event in seen if event["name"] == "escalation.delivered")
    assert opened == Counter(found.keys())
    assert ended == Counter((id, one["state"]) for id, one in found.items())
    assert delivered == Counter(id for id, one in found.items() if one["delivery"] == "delivered")
