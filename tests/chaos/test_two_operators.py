"""Two operators answer the same ask at the same moment, again and again: one wins, the other sees the first answer."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gemba.operators import add_operator
from gemba.testing import effort, retry_until
from tests.fixtures.past import rows
from tests.fixtures.servers import Answer, Client, RunningServer

TIMES = effort(50, 1_000)
NAMES = ("maria", "tom")


def server_beside(start_server: Callable[..., RunningServer], server: RunningServer, folder: Path) -> RunningServer:
    """A second server process on the same database, as another machine would have one."""
    (folder / "workspace/.gemba").mkdir(parents=True)
    (folder / "home").mkdir()
    other = start_server(server.environment["GEMBA_DATABASE_URL"], running=False)
    other.workspace, other.home = folder / "workspace", folder / "home"
    other.environment |= {"GEMBA_HOME": str(other.home), "GEMBA_WORKSPACE": str(other.workspace)}
    other.start()
    return other


def operator_at(server: RunningServer, name: str) -> Client:
    """Somebody with a token of their own."""
    client = Client(server.workspace, server.home)
    client.url = server.url
    client.token = add_operator(server.workspace / ".gemba/operators", name)
    return client


def ask(server: RunningServer, many: int) -> list[str]:
    payload = {"kind": "blocker", "role": "manager", "mode": "balanced"}
    ids = [server.append("GembaAsk", {**payload, "text": f"Which port is number {n}?"}) for n in range(many)]
    retry_until(lambda: rows(server, "select count(*) from escalations") == [(many,)], timeout=60)
    return ids


@pytest.mark.chaos
@pytest.mark.timeout(600)
def test_of_two_that_answer_at_once_one_wins_and_the_other_sees_the_first_answer(
    start_server: Callable[..., RunningServer], database_url: str, tmp_path: Path
) -> None:
    first = start_server(database_url)
    second = first
    if not database_url.startswith("sqlite"):
        second = server_beside(start_server, first, tmp_path / "another machine")
    people = [operator_at(server, name) for server, name in zip((first, second), NAMES, strict=True)]
    at_once = threading.Barrier(2)
    won: Counter[str] = Counter()

    def answer(person: int, id: str) -> Answer:
        at_once.wait(30)
        body = {"text": f"{NAMES[person]} says {id}"}
        return people[person].request("POST", f"/api/escalations/{id}/respond", body)

    ids = ask(first, TIMES)
    with ThreadPoolExecutor(2) as threads:
        for id in ids:
            answers = list(threads.map(answer, range(2), (id, id)))
            winner = check(answers, id)
            won[winner] += 1

    assert sum(won.values()) == TIMES
    found = rows(first, "select ref, count(*) from events where name = 'escalation.resolved' group by ref")
    assert dict(found) == dict.fromkeys(ids, 1)


def check(answers: list[Answer], id: str) -> str:
    """Who won; the other was told so, with what the winner said."""
    assert sorted(answer.status for answer in answers) == [200, 409], answers
    (taken,) = (answer.json for answer in answers if answer.status == 200)
    (refused,) = (answer.json for answer in answers if answer.status == 409)
    winner = str(taken["resolution"]["who"])
    assert taken["resolution"]["text"] == f"{winner} says {id}"
    assert answers[NAMES.index(winner)].status == 200
    assert refused["code"] == "already_resolved"
    assert same(refused["escalation"]["resolution"]) == same(taken["resolution"])
    assert taken["resolution"]["text"] in refused["detail"]
    return winner


def same(resolution: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(resolution[key] for key in ("text", "who", "by", "at"))
