"""What Prometheus scrapes: true figures on both databases, bounded labels, behind the token like everything else."""

from typing import Any

import pytest
import time_machine
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from gemba.api.metrics import Meter
from gemba.flows import wanted
from tests.fixtures.api import Api
from tests.fixtures.servers import RunningServer

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scrape(api: Any) -> Samples:
    answer = api.request("GET", "/metrics")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, frozenset(labels.items())))


def test_what_waits_is_counted_by_kind_and_urgency(api: Api) -> None:
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as time:
        assert value(scrape(api), "gemba_oldest_blocking_seconds") == 0
        first = api.ask(kind="blocker")
        time.shift(60)
        api.ask("Which host?", kind="blocker")
        api.ask("Which colour?")
        time.shift(30)
        before = scrape(api)
        api.post(f"/api/escalations/{first}/respond", {"text": "8080"})
        after = scrape(api)

    assert value(before, "gemba_escalations_unresolved", kind="blocker", urgency="blocking") == 2
    assert value(before, "gemba_escalations_unresolved", kind="question", urgency="advisory") == 1
    assert (value(before, "gemba_oldest_blocking_seconds"), value(after, "gemba_oldest_blocking_seconds")) == (90, 30)
    assert value(after, "gemba_escalations_unresolved", kind="blocker", urgency="blocking") == 1
    assert value(after, "gemba_flows_wanted") == 1  # the delivery of the reply


def test_frames_sessions_events_and_flows_are_counted(api: Api) -> None:
    api.ask(session="one")
    api.ask(session="two")
    api.ask(session="two", mode="dangerous")  # refused
    api.take("SessionEnd", {}, "two")
    with (api.home / "sessions/one.jsonl").open("ab") as log:
        log.write(b"no frame\n")
    api.app.ingest.drain()
    with api.app.database.transaction() as tx:
        wanted.want(tx, "deliver", [wanted.Call("some/1", {"id": "x"})])
        wanted.run_again(tx, "some/1", 1, "it failed")
    samples = scrape(api)

    assert value(samples, "gemba_frames_total", result="dropped") == 1
    assert value(samples, "gemba_frames_total", result="unreadable") == 1
    assert value(samples, "gemba_frames_total", result="ingested") == 4
    assert value(samples, "gemba_sessions", lifecycle="running") == 1
    assert value(samples, "gemba_sessions", lifecycle="completed") == 1
    assert value(samples, "gemba_events_total") == api.get("/api/escalations")["as_of"]
    assert (value(samples, "gemba_flows_wanted"), value(samples, "gemba_flows_troubled")) == (1, 1)
    assert value(samples, "gemba_notices_total", result="failed") == 0
    assert value(samples, "gemba_executors") == 0


def test_requests_are_counted_by_the_route_s_pattern_and_never_by_what_was_asked(api: Api) -> None:
    id = api.ask()
    for _ in range(3):
        api.get(f"/api/escalations/{id}")
    api.request("GET", "/api/escalations/no-such-id")
    api.request("GET", f"/api/nowhere/{id}")
    api.request("GET", "/api/escalations", Authorization="")
    api.request("GET", f"/page/{id}")
    api.request("BREW", "/api/health")
    samples = scrape(api)

    def many(route: str, status: str, method: str = "GET") -> float | None:
        return value(samples, "gemba_http_requests_total", route=route, method=method, status=status)

    assert (many("/api/escalations/{id}", "2xx"), many("/api/escalations/{id}", "4xx")) == (3, 1)
    assert many("none", "4xx") == 2  # the path that is none, and the request that was refused before it was looked at
    assert sum(many("page", status) or 0 for status in ("2xx", "5xx")) == 1
    assert many("/api/health", "4xx", "other") == 1
    assert value(samples, "gemba_http_request_seconds_count", route="/api/escalations/{id}") == 4
    assert value(samples, "gemba_http_request_seconds_bucket", route="/api/escalations/{id}", le="+Inf") == 4
    assert not [labels for _, labels in samples if id in str(labels)]


def test_open_streams_are_counted(api: Api) -> None:
    assert value(scrape(api), "gemba_streams_open") == 0
    streams = [api.events(), api.events()]
    assert value(scrape(api), "gemba_streams_open") == 2
    for stream in streams:
        stream.close()


def test_nothing_that_an_agent_wrote_is_a_label(api: Api) -> None:
    canary = "canary-9d2f"
    api.take(
        "GembaAsk",
        {"kind": "question", "role": "coach", "mode": "balanced", "text": canary, "title": canary, "bead_id": canary},
        canary,
        agent_type=canary,
    )

    assert canary not in api.request("GET", "/metrics").body.decode()


def test_the_scrape_wants_the_token(api: Api) -> None:
    assert api.request("GET", "/metrics", Authorization="").json["code"] == "token_missing"
    assert api.request("GET", "/%6detrics", Authorization="").json["code"] == "token_missing"
    assert api.request("GET", "/metrics", Authorization="Bearer wrong").json["code"] == "token_wrong"


def test_the_global_registry_knows_nothing_of_us(api: Api) -> None:
    scrape(api)

    assert [family.name for family in REGISTRY.collect() if family.name.startswith("gemba")] == []


def test_a_running_server_tells_when_it_started_and_of_itself(sqlite_server: RunningServer) -> None:
    samples = scrape(sqlite_server)

    started = value(samples, "gemba_start_time_seconds")
    assert started is not None
    assert started > 1.7e9
    assert (value(samples, "process_open_fds") or 0) > 3
    assert [dict(labels)["version"] for name, labels in samples if name == "gemba_info"] != []


@pytest.mark.parametrize(("seconds", "bucket"), [(0.0, 0), (0.001, 0), (0.0011, 1), (9.9, 12), (10.1, 13)])
def test_a_time_falls_into_the_first_bound_that_holds_it(
    seconds: float, bucket: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemba.api.metrics.perf_counter", lambda: seconds)
    meter = Meter()
    meter.count({"method": "GET"}, 200, 0.0, is_page=True)

    *counts, total = meter.seconds["page"]
    assert (counts.index(1), sum(counts), total) == (bucket, 1, seconds)
