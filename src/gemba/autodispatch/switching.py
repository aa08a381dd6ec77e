"""The operator's switches: for the workspace, and for each type of agent; both have to be on.

What the settings say is the default, and a switch that was thrown goes before it. Throwing one is the row, an entry of
the audit log and an event, together; the same again is no change. Called by the surfaces, read where starts are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from gemba import clock
from gemba.action import Action, Id
from gemba.autodispatch.tables import switches
from gemba.event import Draft
from gemba.handoff import audit
from gemba.store.database import Transaction

WORKSPACE = ""  # the name of its own switch


class SwitchAuto(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """On or off; of the workspace, unless a type of agent is named."""

    on: bool
    agent_type: Id | None = None


class AutoSwitch(msgspec.Struct, frozen=True):
    """A switch: of the workspace where no type is named. Without a time it stands as the settings say."""

    agent_type: str | None
    on: bool
    changed_at: str | None = None
    changed_by: str | None = None


def prepare(surroundings: Mapping[str, Any], wanted: SwitchAuto) -> SwitchAuto:
    if wanted.agent_type is not None:
        surroundings["agent"](wanted.agent_type)  # NotFound says which there are
    return wanted


def switch_auto(tx: Transaction, wanted: SwitchAuto) -> AutoSwitch:
    workspace, name = str(tx.surroundings["workspace"]), wanted.agent_type or WORKSPACE
    row = read_switches(tx.connection, workspace).get(name)
    if row is not None and row.on == wanted.on:
        return view(row)
    made = {"workspace": workspace, "agent_type": name, "on": wanted.on, "at": tx.now, "by": tx.actor}
    tx.put(switches, [made])
    told = {"agent_type": wanted.agent_type, "on": wanted.on, "by": tx.actor}
    audit.record(tx, "auto.switched", name or "workspace", told)
    tx.emit(Draft("auto.switched", told, ref=name or None))
    return view(read_switches(tx.connection, workspace)[name])


ACTIONS = (
    Action(
        "/api/auto/switch",
        switch_auto,
        SwitchAuto,
        AutoSwitch,
        "Switch auto-dispatch on or off, for the workspace or for a type of agent",
        prepare=prepare,
    ),
)


def read_switches(connection: Connection, workspace: str) -> dict[str, Row[Any]]:
    """Those that somebody has thrown, by type; the workspace's own has the empty name."""
    query = select(switches).where(switches.c.workspace == workspace)
    return {row.agent_type: row for row in connection.execute(query)}


def is_on(thrown: Mapping[str, Row[Any]], name: str, usual: bool) -> bool:
    return bool(thrown[name].on) if name in thrown else usual


def view(row: Row[Any]) -> AutoSwitch:
    return AutoSwitch(row.agent_type or None, row.on, clock.rfc3339(row.at), row.by)
