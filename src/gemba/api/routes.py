"""What can be read over HTTP, as a table; what can be changed is `gemba.actions`. Handlers parse and render nothing.

`text/event-stream` and the page are not JSON and have modules of their own.
"""

from __future__ import annotations

import msgspec

import gemba
from gemba import clock
from gemba.action import Nothing
from gemba.api import (
    auto_reads,
    board_reads,
    consult_reads,
    escalation_reads,
    find_reads,
    floor_reads,
    handoff_reads,
    persona_reads,
    planning_reads,
    session_reads,
    setting_reads,
    skill_reads,
    sprint_reads,
    team_reads,
    walk_reads,
    work_reads,
)
from gemba.api.read import Read
from gemba.app import App
from gemba.doctor import Diagnosis, diagnose
from gemba.escalations.attention import Attention, AttentionQuery, measure
from gemba.escalations.policy_view import PolicyList, policies_view


class Health(msgspec.Struct, frozen=True):
    status: str


class Version(msgspec.Struct, frozen=True):
    version: str


class Me(msgspec.Struct, frozen=True):
    """Whose token it is."""

    operator: str


def health(_app: App, _query: Nothing) -> Health:
    return Health("ok")


def version(_app: App, _query: Nothing) -> Version:
    return Version(gemba.__version__)


def me(_app: App, _query: Nothing, *, operator: str) -> Me:
    return Me(operator)


def policies(app: App, _query: Nothing) -> PolicyList:
    return policies_view(app.policies)


def attention(app: App, query: AttentionQuery) -> Attention:
    with app.database.read() as connection:
        return measure(connection, query, app.settings.attention, clock.now())


def doctor(app: App, _query: Nothing) -> Diagnosis:
    return diagnose(app)


READS = (
    Read("/api/health", health, Nothing, Health, "Is the server up?", public=True),
    Read("/api/version", version, Nothing, Version, "Which version is it?", public=True),
    Read("/api/me", me, Nothing, Me, "Who am I here?", personal=True),
    *floor_reads.READS,
    *escalation_reads.READS,
    *handoff_reads.READS,
    *planning_reads.READS,
    *skill_reads.READS,
    *session_reads.READS,
    *work_reads.READS,
    *board_reads.READS,
    *sprint_reads.READS,
    *persona_reads.READS,
    *consult_reads.READS,
    *auto_reads.READS,
    *team_reads.READS,
    *walk_reads.READS,
    *find_reads.READS,
    *setting_reads.READS,
    Read("/api/policies", policies, Nothing, PolicyList, "What happens to what nobody answers, and whom to notify"),
    Read(
        "/api/attention",
        attention,
        AttentionQuery,
        Attention,
        "What the asks of the last days cost: times to see and to answer, agents that stood still",
        cached=True,
    ),
    Read("/api/doctor", doctor, Nothing, Diagnosis, "What works and what does not, with hints"),
)
