"""What a server logs: a line for what matters, by ids and times, and not a word that anybody wrote."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemba.escalations.journal import LINES
from gemba.event import NAMES
from gemba.operators import add_operator
from gemba.testing import retry_until
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import BIN, RunningServer

StartServer = Callable[..., RunningServer]

CANARY = "c4n4ry"
POLICY = """
[reply]
undelivered_after_seconds = 1
[channels.phone]
url = "{url}"
[[policy]]
name = "all"
remind_after = "1s"
notify = ["phone"]
expire_after = "1h"
"""


def live_through_a_day(server: RunningServer, receiver: Receiver) -> tuple[str, str]:
    """Everything that can be logged of an ask, with a canary wherever somebody writes something; the two asks' ids."""
    words = {"text": f"text {CANARY}", "title": f"title {CANARY}", "options": [f"option {CANARY}", "other"]}
    stream = server.events(after=0)
    blocker = {"kind": "blocker", "role": "manager", "mode": "balanced"}
    answered = server.append("GembaAsk", {**blocker, **words, "note": CANARY, "bead_id": CANARY})
    receiver.wait_for(1)
    stream.until("escalation.notified")
    server.post(f"/api/escalations/{answered}/respond", {"option": 1})
    declined = server.append("GembaAsk", {**blocker, "text": CANARY})
    retry_until(lambda: server.request("GET", f"/api/escalations/{declined}").status == 200)
    server.post(f"/api/escalations/{declined}/dismiss", {"text": f"no {CANARY}"})
    server.append("GembaReplyRead", {"event_id": declined})
    stream.until("escalation.undelivered")
    server.append("GembaReplyRead", {"event_id": answered})
    server.append("GembaAsk", {"kind": CANARY, "text": CANARY})  # refused
    while stream.until("escalation.delivered")["data"]["ref"] != answered:
        pass
    server.request("GET", f"/api/escalations/{CANARY}?q={CANARY}", Authorization=f"Bearer {CANARY}")
    server.request("GET", f"/api/{CANARY}")
    server.request("POST", f"/api/escalations/{answered}/respond", {"text": CANARY})
    server.request("POST", f"/api/escalations/{answered}/ack", CANARY.encode())
    return answered, declined


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_at_info_every_ask_has_its_lines_and_nobody_s_words_are_in_them(
    log_format: str, workspace: Path, receiver: Receiver, start_server: StartServer, database_url: str
) -> None:
    (workspace / ".gemba/workspace.toml").write_text(POLICY.format(url=receiver.url_with(CANARY)))
    server = start_server(database_url, "--log-level", "info", "--log-format", log_format)
    token = add_operator(workspace / ".gemba/operators", "maria")
    server.request("GET", "/api/me", Authorization=f"Bearer {token}")

    answered, declined = live_through_a_day(server, receiver)
    code, log = server.stop()

    assert code == 0
    for secret in (CANARY, server.token, token):
        assert secret not in log
    lines = [parsed(line, log_format) for line in log.splitlines()]
    assert {line["level"] for line in lines} == {"info"}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", line["timestamp"]) for line in lines)
    of_answered = [line for line in lines if line["id"] == answered]
    assert [line["event"] for line in of_answered] == [
        *("ask opened", "ask reminded", "ask notified", "ask answered", "reply undelivered", "reply delivered"),
    ]
    for line in of_answered:
        assert (line["kind"], line["urgency"], line["session"]) == ("blocker", "blocking", "session-1")
        assert 0 <= float(line["seconds"]) < 60
    assert (of_answered[3]["by"], of_answered[3]["who"]) == ("operator", "operator")
    assert (of_answered[2]["channel"], of_answered[2]["ok"]) == ("phone", True if log_format == "json" else "True")
    assert [line["event"] for line in lines if line["id"] == declined][:2] == ["ask opened", "ask declined"]


def parsed(line: str, log_format: str) -> dict[str, Any]:
    if log_format == "json":
        document: dict[str, Any] = json.loads(line)
        return document
    return {name: value.strip("'") for name, value in re.findall(r"(\w+)=('[^']*'|\S+)", line)}


def test_at_debug_every_request_has_a_line_with_its_route_alone(start_server: StartServer) -> None:
    server = start_server("", "--log-level", "debug", "--log-format", "json")
    server.request("GET", f"/api/escalations/{CANARY}?q={CANARY}")
    server.request("GET", f"/api/escalations?session={CANARY}")
    _, log = server.stop()

    assert CANARY not in log
    requests = [line for line in map(json.loads, log.splitlines()) if line["event"] == "request"]
    assert [(line["route"], line["method"], line["status"]) for line in requests] == [
        ("/api/escalations/{id}", "GET", 422),
        ("/api/escalations", "GET", 200),
    ]


def test_a_server_that_is_asked_for_nothing_more_logs_nothing(start_server: StartServer) -> None:
    server = start_server()
    id = server.append("GembaAsk", {"kind": "question", "role": "coach", "mode": "balanced", "text": "Which?"})
    retry_until(lambda: server.request("GET", f"/api/escalations/{id}").status == 200)

    assert server.stop() == (0, "")


def test_format_and_level_may_come_from_the_environment(start_server: StartServer) -> None:
    server = start_server(running=False)
    server.environment |= {"GEMBA_LOG_FORMAT": "json", "GEMBA_LOG_LEVEL": "debug"}
    server.start()
    server.get("/api/health")
    _, log = server.stop()

    assert json.loads(log.splitlines()[0])["route"] == "/api/health"


def test_a_format_that_is_none_is_refused(start_server: StartServer) -> None:
    server = start_server(running=False)
    server.environment["GEMBA_LOG_FORMAT"] = "xml"
    failed = server.gemba("serve", "--port", "0")

    assert (failed.returncode, failed.stdout) == (2, "")
    assert "'xml' is not one of 'text', 'json'" in failed.stderr


def test_a_worker_logs_in_the_same_way(start_server: StartServer) -> None:
    client = start_server(running=False)
    worker = subprocess.Popen(
        [BIN / "gemba", "worker", "--json", "--log-level", "info", "--log-format", "json"],
        cwd=client.workspace,
        env=client.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stderr is not None
    assert json.loads(worker.stdout.readline())["pid"] == worker.pid
    id = client.append("GembaAsk", {"kind": "question", "role": "coach", "mode": "balanced", "text": CANARY})
    line = json.loads(worker.stderr.readline())
    worker.terminate()
    _, rest = worker.communicate(timeout=30)

    assert (line["event"], line["id"], worker.returncode, rest) == ("ask opened", id, 0, "")


def test_a_line_stands_for_events_that_exist() -> None:
    assert {"escalation_opened", "escalation.resolved", "escalation.delivered"} <= set(LINES) <= set(NAMES)
