"""`/metrics`: figures for Prometheus. What the database knows is counted at the scrape; what only this process knows,
its requests and streams, is counted as it happens, in plain numbers that cost a request next to nothing.

No label has a value that an agent, an operator or a client could choose: kinds, states, route patterns, and no more.
The one place that knows prometheus-client; its global registry is not used.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter

import structlog
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

import gemba
from gemba import clock
from gemba.app import App
from gemba.escalations.census import Census, take_census
from gemba.sessions.session import Lifecycle

PATH = "/metrics"

PAGE, NOWHERE = "page", "none"  # instead of a route's pattern: the page's files; what no route is for, or was refused
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NOTICES = {True: "sent", False: "failed", None: "unknown"}


class Meter:
    """Requests by route, method and class of status; and by route how long they took until the answer began."""

    begin = staticmethod(perf_counter)

    def __init__(self) -> None:
        log = structlog.get_logger("gemba.http").bind()
        # Asked once, not at every request; and where nobody has set a log up, nobody wants to read of each.
        wanted = structlog.is_configured() and log.is_enabled_for(logging.DEBUG)
        self._tell = log.debug if wanted else None
        self.requests: dict[tuple[str, str, int], int] = {}
        self.seconds: dict[str, list[float]] = {}  # a count for each bound and one beyond, then the sum

    def count(self, scope: Scope, status: int, begun: float, is_page: bool) -> None:
        """An answer begins. The router has said in the scope which route it is."""
        route: str = PAGE if is_page else getattr(scope.get("route"), "path", NOWHERE)
        method = scope["method"]
        key = (route, method if method in _METHODS else "other", status // 100)
        self.requests[key] = self.requests.get(key, 0) + 1
        took = perf_counter() - begun
        if self._tell is not None:
            self._tell("request", route=route, method=key[1], status=status, seconds=round(took, 4))
        counts = self.seconds.get(route)
        if counts is None:
            counts = self.seconds[route] = [0] * (len(_BOUNDS) + 1) + [0.0]
        counts[bisect_left(_BOUNDS, took)] += 1
        counts[-1] += took


class Metrics(Collector):
    """Everything there is to scrape."""

    def __init__(self, app: App, meter: Meter, open_streams: Callable[[], int]) -> None:
        self._app = app
        self._meter = meter
        self._open_streams = open_streams
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    async def respond(self, _request: Request) -> Response:
        body = await asyncio.to_thread(generate_latest, self._registry)
        return Response(body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    def describe(self) -> list[Metric]:
        """Nothing beforehand: to be registered must not read the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        with self._app.database.read() as connection:
            census = take_census(connection)
        yield _gauge("gemba_info", "The version that runs.", ("version",), {(gemba.__version__,): 1})
        started_at = (self._app.started_at or 0) / clock.SECOND
        yield _gauge("gemba_start_time_seconds", "When this server started.", (), {(): started_at})
        yield from _of_database(census)
        yield from self._of_process()

    def _of_process(self) -> Iterator[Metric]:
        yield _gauge("gemba_streams_open", "Event streams that are open.", (), {(): self._open_streams()})
        requests = CounterMetricFamily(
            "gemba_http_requests", "Requests that were answered.", labels=("route", "method", "status")
        )
        # Copies: the event loop goes on counting.
        for (route, method, status), many in sorted(self._meter.requests.copy().items()):
            requests.add_metric((route, method, f"{status}xx"), many)
        yield requests
        seconds = HistogramMetricFamily(
            "gemba_http_request_seconds", "From a request to the beginning of its answer.", labels=("route",)
        )
        for route, measured in sorted(self._meter.seconds.copy().items()):
            *counts, total = measured.copy()
            seconds.add_metric((route,), list(_cumulated(counts)), total)
        yield seconds


def _of_database(census: Census) -> Iterator[Metric]:
    yield _gauge("gemba_escalations_unresolved", "What waits for an operator.", ("kind", "urgency"), census.unresolved)
    oldest = census.oldest_blocking_at
    waited = 0.0 if oldest is None else max(0, clock.now() - oldest) / clock.SECOND
    yield _gauge(
        "gemba_oldest_blocking_seconds", "How long the oldest blocking escalation has waited.", (), {(): waited}
    )
    yield _gauge("gemba_replies_undelivered", "Replies that no agent has read.", (), {(): census.undelivered})
    yield _counter("gemba_events", "The sequence of the last event.", (), {(): census.events})
    yield _counter(
        "gemba_frames",
        "Lines of session logs, by what became of them.",
        ("result",),
        {(name,): census.frames.get(name, 0) for name in ("ingested", "dropped", "unreadable")},
    )
    yield _counter(
        "gemba_notices",
        "Notifications, by what became of them.",
        ("result",),
        {(name,): census.notices.get(ok, 0) for ok, name in _NOTICES.items()},
    )
    yield _gauge(
        "gemba_sessions",
        "Sessions by lifecycle.",
        ("lifecycle",),
        {(state.value,): census.sessions.get(state, 0) for state in Lifecycle},
    )
    yield _gauge("gemba_flows_wanted", "Durable flows that are not over.", (), {(): census.flows_wanted})
    yield _gauge("gemba_flows_troubled", "Those of them whose last run failed.", (), {(): census.flows_troubled})
    yield _gauge("gemba_executors", "Processes that run flows.", (), {(): census.executors})


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for given, value in sorted(values.items()):
        family.add_metric(given, value)
    return family


def _counter(name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for given, value in sorted(values.items()):
        family.add_metric(given, value)
    return family


def _cumulated(counts: list[float]) -> Iterator[tuple[str, float]]:
    so_far = 0.0
    for bound, many in zip((*map(str, _BOUNDS), "+Inf"), counts, strict=True):
        so_far += many
        yield bound, so_far
