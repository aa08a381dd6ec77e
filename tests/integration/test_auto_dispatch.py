"""Auto-dispatch from the switch to the review: what is started, for whom, what a crash leaves, how each start ends."""

import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import time_machine
from sqlalchemy import select

from gemba import wire
from gemba.app import App
from gemba.autodispatch.claiming import claim_next
from gemba.autodispatch.rounds import NEWS, SWITCH, Rounds
from gemba.autodispatch.start import ACTOR, AutoHold
from gemba.config import AutoSettings
from gemba.handoff import audit
from gemba.personas.consults import consults
from gemba.store import events
from gemba.testing import retry_until
from tests.fixtures import steady
from tests.fixtures.api import Api
from tests.fixtures.floor import Floor, git_init, stop_runs
from tests.fixtures.operator import Operator

AGENTS = f"""
[agent.hand]
command = ["{{python}}", "-m", "gemba.sessions.builtin"]
max_parallel = 2

[agent.steady]
command = ["{{python}}", "-P", "{Path(steady.__file__)}", "{{prompt}}"]
prompt = "argument"
terminal = "pty"

[agent.broken]
command = ["false"]
"""


@pytest.fixture
def floor(app: App, workspace: Path) -> Iterator[Floor]:
    (workspace / ".gemba" / "agents.toml").write_text(AGENTS)
    git_init(workspace)
    gate = app.database.surroundings["gate"]  # nothing runs by itself here, and what is claimed is compared by a flow
    off = msgspec.structs.replace(gate, **dict.fromkeys(gate.__struct_fields__, "off"))
    app.database.surroundings["gate"] = off
    yield Floor(app)
    stop_runs(app.home)


def add(api: Api, title: str, **facts: Any) -> str:
    answer = api.request("POST", "/api/work-items", {"item": {"title": title, "description": "run: true", **facts}})
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def switch(api: Api, *types: str, on: bool = True) -> None:
    for name in (None, *types):
        assert api.request("POST", "/api/auto/switch", {"on": on, "agent_type": name}).status == 200


def started(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/api/auto/starts")["starts"]
    return found


def item(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/work-items/{id}")
    return found


def holds(api: Api) -> list[str]:
    return [hold["kind"] for hold in api.get("/api/auto")["holds"] if hold["kind"] != "type_off"]


def told(app: App, *names: str) -> list[dict[str, Any]]:
    with app.database.read() as connection:
        found = events.read_after(connection, 0, 10_000)
    return [msgspec.json.decode(event.payload) for event in found if event.name in names]


def audited(app: App) -> list[str]:
    with app.database.read() as connection:
        return [entry.kind for entry in audit.entries(connection) if entry.kind.startswith("auto.")]


# ---- switches --------------------------------------------------------------------------------------------------------


def test_it_is_off_and_starts_nothing_until_both_switches_are_on(floor: Floor, api: Api) -> None:
    add(api, "Build it")

    rest = floor.app.rounds.round()

    assert (rest.until, rest.news, started(api), holds(api)) == (None, SWITCH, [], ["off"])
    switch(api)
    assert floor.app.rounds.round().news == NEWS
    assert (started(api), holds(api)) == ([], [])
    switch(api, "hand")
    floor.app.rounds.round()
    assert len(started(api)) == 1


def test_a_switch_is_stored_told_and_audited_once(app: App, api: Api) -> None:
    for _ in range(2):
        answer = api.request("POST", "/api/auto/switch", {"on": True, "agent_type": "builtin"})
        assert (answer.status, answer.json["on"], answer.json["changed_by"]) == (200, True, "operator")
    switch(api)
    switch(api, "builtin", on=False)

    found = api.get("/api/auto")

    assert found["switch"]["on"] is False
    assert [one["switch"]["on"] for one in found["types"] if one["agent_type"] == "builtin"] == [False]
    assert [(one["agent_type"], one["on"]) for one in told(app, "auto.switched")] == [
        ("builtin", True),
        (None, True),
        (None, False),
        ("builtin", False),
    ]
    assert audited(app) == ["auto.switched"] * 4


def test_an_unknown_type_and_a_request_without_a_confirm_id_change_nothing(app: App, api: Api) -> None:
    unknown = api.request("POST", "/api/auto/switch", {"on": True, "agent_type": "clodd"})
    bare = api.request("POST", "/api/auto/switch", {"on": True}, X_GEMBA_Confirm="")

    assert (unknown.status, bare.status) == (404, 428)
    assert told(app, "auto.switched") == []


def test_what_the_settings_say_is_the_default_and_the_operator_goes_before_it(floor: Floor, api: Api) -> None:
    file = floor.app.workspace.folder / "agents.toml"
    file.write_text(AGENTS.replace("max_parallel = 2", "max_parallel = 2\nauto_dispatch = true"))
    app = floor.app
    rounds = Rounds(app.database, app.workspace, app.home, app.origin, AutoSettings(enabled=True), app.ingest.drain)
    first, second = add(api, "One"), add(api, "Two")

    rounds.round()

    assert {start["item_id"] for start in started(api)} == {first, second}
    switch(api, "hand", on=False)
    add(api, "Three")
    rounds.round()
    assert len(started(api)) == 2


# ---- one start -------------------------------------------------------------------------------------------------------


def test_ready_work_is_claimed_given_with_its_reasons_and_goes_to_review_when_it_is_complete(
    floor: Floor, api: Api
) -> None:
    add(api, "Dear", priority=0)
    ordered = add(api, "Ordered", priority=4, user_order=1, acceptance="- it runs\n- it ends", targets=["src/a.py"])
    add(api, "Blocked by the cap", priority=4)
    switch(api, "hand")

    floor.app.rounds.round()

    last, first = started(api)
    assert (first["item_id"], first["state"], first["living"], first["agent_type"]) == (
        ordered,
        "started",
        False,
        "hand",
    )
    assert first["because"] == "hand has room: 0 of 2 run"
    assert first["reasons"][0] == {"kind": "ordered", "points": 0, "text": "you ordered it: place 1", "soft": False}
    assert last["title"] == "Dear"
    assert holds(api) == ["max_parallel"]
    found = item(api, ordered)
    assert (found["state"], found["claim"]["owner"]) == ("in_progress", first["session_id"])
    dispatch = api.get(f"/api/dispatches/{first['dispatch_id']}")
    assert (dispatch["task_id"], dispatch["session_id"]) == (ordered, first["session_id"])
    assert dispatch["envelope"]["agent_contract_handoff"]["acceptance_criteria"] == ["it runs", "it ends"]
    assert dispatch["folder"].endswith(f".gemba/worktrees/{first['session_id']}")
    (event,) = [one for one in told(floor.app, "auto.started") if one["item_id"] == ordered]
    assert event["reasons"] == first["reasons"]
    history = api.get(f"/api/work-items/{ordered}/history")["changes"]
    assert {(change["actor"], change["cause"]["id"]) for change in history if change["kind"] != "created"} == {
        (ACTOR, first["session_id"])
    }

    floor.ended(first["session_id"])
    floor.app.rounds.round()

    assert item(api, ordered)["state"] == "review"
    assert [start["state"] for start in started(api) if start["item_id"] == ordered] == ["done"]
    assert audited(floor.app)[2:4] == ["auto.claimed", "auto.claimed"]
    assert "auto.ended" in audited(floor.app)


def test_a_session_that_lives_is_given_the_next_item_as_a_dispatch_of_its_own(floor: Floor, api: Api) -> None:
    first = add(api, "One", description="run: echo one-is-done", priority=0)
    switch(api, "steady")
    floor.app.rounds.round()
    (start,) = started(api)
    session = start["session_id"]

    def over(id: str) -> bool:
        floor.app.ingest.drain()
        floor.app.keeping.keep()
        floor.app.rounds.round()
        return bool(item(api, id)["state"] == "review")

    retry_until(partial(over, first), timeout=60)
    second = add(api, "Two", description="run: echo two-is-done")
    retry_until(partial(over, second), timeout=60)

    last = started(api)[0]
    assert (last["session_id"], last["living"], last["state"]) == (session, True, "done")
    assert last["because"] == f"{session} is free: its last dispatch is complete"
    assert last["dispatch_id"] != start["dispatch_id"]
    both = [api.get(f"/api/dispatches/{id}")["status"] for id in (start["dispatch_id"], last["dispatch_id"])]
    assert both == ["COMPLETE", "COMPLETE"]
    assert len(api.get("/api/sessions")["sessions"]) == 1
    assert "two-is-done" in floor.app.keeping.transcript(session, 200).text


def test_a_session_of_a_persons_own_is_left_alone(floor: Floor, api: Api) -> None:
    mine = floor.start("run: true", "steady")
    floor.until(mine, "running")
    retry_until(lambda: _ready(floor, mine), timeout=60)
    add(api, "One")
    switch(api, "steady")

    floor.app.rounds.round()

    (start,) = started(api)
    assert (start["living"], start["session_id"] != mine) == (False, True)


def _ready(floor: Floor, id: str) -> bool:
    floor.app.ingest.drain()
    floor.app.keeping.keep()
    return bool(told(floor.app, "turn_ended"))


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def test_an_item_whose_agent_ends_without_it_is_free_again_and_waits_for_a_person(floor: Floor, api: Api) -> None:
    id = add(api, "One", state="staged")
    switch(api, "broken")
    floor.app.rounds.round()
    (start,) = started(api)

    floor.ended(start["session_id"])
    floor.app.rounds.round()

    (start,) = started(api)
    assert (start["state"], start["trouble"]) == (
        "failed",
        "its session ended (provider_exit), and its dispatch stands without a word",
    )
    found = item(api, id)
    assert (found["state"], found["claim"], found["ready"]) == ("staged", None, True)
    assert holds(api) == ["failing"]
    kept = {"item_id": id, "reason": f"its last automatic start came to nothing: {start['trouble']}"}
    assert api.get("/api/auto")["kept"] == [kept]
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=1), tick=True):
        floor.app.rounds.round()
        assert len(started(api)) == 1
        api.request("PATCH", f"/api/work-items/{id}", {"description": "run: something else"})
        floor.app.rounds.round()
        assert len(started(api)) == 2


def test_what_an_agent_said_last_counts_although_its_end_was_seen_before(floor: Floor, api: Api) -> None:
    id = add(api, "One")
    switch(api, "hand")
    floor.app.rounds.round()
    (start,) = started(api)

    def over() -> bool:  # no frame is taken in meanwhile
        floor.app.keeping.reconcile()
        view = floor.get(start["session_id"])
        return view.run is not None and view.run.ended_at is not None

    retry_until(over, timeout=60)
    floor.app.rounds.round()

    assert (item(api, id)["state"], started(api)[0]["state"]) == ("review", "done")


def test_what_an_agent_asked_before_it_ended_is_waited_for_and_then_the_item_is_free(floor: Floor, api: Api) -> None:
    id = add(api, "One", description="run: false")
    switch(api, "hand")
    floor.app.rounds.round()
    floor.ended(started(api)[0]["session_id"])

    floor.app.rounds.round()

    assert (started(api)[0]["state"], item(api, id)["state"]) == ("started", "in_progress")
    (card,) = api.get("/api/escalations")["escalations"]
    assert api.request("POST", f"/api/escalations/{card['id']}/respond", {"text": "leave it"}).status == 200
    floor.app.rounds.round()
    (start,) = started(api)
    assert (start["state"], item(api, id)["state"]) == ("failed", "unstarted")
    assert start["trouble"] == "its session ended (provider_exit), and its dispatch stands IN_PROGRESS"


def test_an_item_that_somebody_took_away_is_left_to_them(floor: Floor, api: Api) -> None:
    id = add(api, "One")
    switch(api, "steady")
    floor.app.rounds.round()

    api.request("PATCH", f"/api/work-items/{id}", {"state": "deferred"})
    floor.app.rounds.round()

    assert item(api, id)["state"] == "deferred"
    assert (started(api)[0]["state"], started(api)[0]["trouble"]) == ("left", "somebody made the item deferred")


def test_a_claim_that_ran_out_before_it_was_given_is_whoever_has_it_now(floor: Floor, api: Api) -> None:
    id = add(api, "One")
    switch(api, "hand")
    app = floor.app
    assert app.database.change(partial(claim_next, here=app.rounds.here()), ACTOR)
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=2), tick=True):
        assert api.request("POST", f"/api/work-items/{id}/claim", {"owner": "ann"}).status == 200

        app.rounds.round()

        (start,) = started(api)
        assert (start["state"], "is claimed by ann" in start["trouble"]) == ("refused", True)
        assert (item(api, id)["state"], item(api, id)["claim"]["owner"]) == ("unstarted", "ann")
        assert (app.workspace.folder / "worktrees" / start["session_id"]).exists() is False
        assert api.get("/api/sessions")["sessions"] == []


def test_what_was_claimed_and_not_given_is_given_by_the_next_round_also_when_it_is_off(floor: Floor, api: Api) -> None:
    id = add(api, "One")
    switch(api, "hand")
    app = floor.app
    app.database.change(partial(claim_next, here=app.rounds.here()), ACTOR)
    switch(api, "hand", on=False)

    app.rounds.round()
    app.rounds.round()

    assert (started(api)[0]["state"], item(api, id)["state"]) == ("started", "in_progress")
    assert len(api.get("/api/sessions")["sessions"]) == len(api.get("/api/dispatches")["dispatches"]) == 1


def test_rounds_that_run_at_once_start_an_item_once(floor: Floor, api: Api) -> None:
    ids = {add(api, f"Item {number}") for number in range(2)}
    switch(api, "hand")
    together = threading.Barrier(6)

    def run(_number: int) -> None:
        together.wait()
        floor.app.rounds.round()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, range(6)))

    assert {start["item_id"] for start in started(api)} == ids
    assert len(started(api)) == len(api.get("/api/dispatches")["dispatches"]) == 2


def test_a_hold_of_another_part_is_asked_for_and_told(floor: Floor, api: Api) -> None:
    app = floor.app
    stopped = AutoHold("sprint", "the sprint is stopped")
    switch(api, "hand")
    add(api, "One")
    given = (app.database, app.workspace, app.home, app.origin, AutoSettings(), app.ingest.drain)
    rounds = Rounds(*given, others=[lambda _connection, _now: [stopped]])

    rounds.round()

    assert started(api) == []


def test_without_a_repository_sessions_work_in_the_workspace_one_after_the_other(app: App, api: Api) -> None:
    (app.workspace.folder / "agents.toml").write_text(AGENTS)
    shutil.rmtree(app.workspace.root / ".git")
    for title in ("One", "Two"):
        add(api, title)
    switch(api, "hand")

    app.rounds.round()

    assert [start["state"] for start in started(api)] == ["started"]
    assert holds(api) == ["full"]


def test_a_claim_is_extended_for_as_long_as_its_session_lives(floor: Floor, api: Api) -> None:
    id = add(api, "One", description="blocker: May I?")
    switch(api, "steady")
    floor.app.rounds.round()
    before = item(api, id)["claim"]["expires_at"]
    floor.until(started(api)[0]["session_id"], "running")

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=50), tick=True):
        floor.app.rounds.round()

        assert item(api, id)["claim"]["expires_at"] > before
        assert started(api)[0]["state"] == "started"


# ---- nothing is ready ------------------------------------------------------------------------------------------------


def test_an_empty_ready_set_asks_the_project_manager_once_for_each_board(floor: Floor, api: Api) -> None:
    app = floor.app
    epic = add(api, "Search", kind="epic", state="backlog")
    other = add(api, "Mail", kind="epic", state="backlog")
    switch(api, "hand")

    for _ in range(3):
        app.rounds.round()

    assert api.get("/api/auto")["advice"]["trouble"] is not None  # nothing but a backlog: there is nothing to order
    assert len(told(app, "auto.asked")) == 1
    for id in (epic, other):
        api.request("PATCH", f"/api/work-items/{id}", {"state": "unstarted"})
        api.request("POST", f"/api/work-items/{id}/claim", {"owner": "ann"})
    for _ in range(3):
        app.rounds.round()
    asked = api.get("/api/auto")["advice"]
    assert (asked["trouble"], len(told(app, "auto.asked"))) == (None, 2)
    app.see_to_consults()
    found = api.get(f"/api/consults/{asked['consult_id']}")
    assert (found["status"], found["persona_id"], found["skill_id"]) == ("completed", "project-manager", "epic_order")
    assert (found["applied_idx"], item(api, epic)["user_order"]) == ([], None)


def test_without_a_budget_the_project_manager_is_not_asked_and_that_is_told(floor: Floor, api: Api) -> None:
    app = floor.app
    id = add(api, "Search", kind="epic")
    api.request("POST", f"/api/work-items/{id}/claim", {"owner": "ann"})
    pm = app.personas.by_id["project-manager"]
    poor = msgspec.structs.replace(pm, budget_policy=msgspec.structs.replace(pm.budget_policy, max_per_day_dollars=0.0))
    app.personas.by_id["project-manager"] = poor
    switch(api, "hand")

    app.rounds.round()
    app.rounds.round()

    (asked,) = told(app, "auto.asked")
    assert asked == {"consult_id": None, "trouble": "a day of PM may cost nothing, so no call is started"}
    with app.database.read() as connection:
        assert connection.execute(select(consults.c.id)).all() == []


# ---- the command -----------------------------------------------------------------------------------------------------


def test_the_command_switches_tells_what_holds_it_and_shows_every_reason(floor: Floor, api: Api) -> None:
    operator = Operator(floor.app.workspace.root, floor.app.home)
    id = add(api, "Build it", priority=0)
    assert "auto-dispatch is off (by default); 0 of 4 run." in operator.run("auto").stdout
    assert operator.run("auto", "on").stdout == (
        "auto-dispatch is on for the workspace; no type of agent is on: gemba auto on --agent TYPE\n"
    )
    assert operator.run("auto", "on", "--agent", "hand").stdout == "auto-dispatch is on for hand\n"
    assert operator.run("auto", "log").stdout == "Nothing was started by itself. Why: gemba auto status\n"

    floor.app.rounds.round()

    shown = operator.run("auto", "log").stdout
    assert (id in shown, "because: hand has room: 0 of 2 run" in shown, "+40 priority 0" in shown) == (True,) * 3
    assert json.loads(operator.run("auto", "log", "--json").stdout)["total"] == 1
    assert operator.run("auto", "off").stdout == "auto-dispatch is off for the workspace\n"
    assert wire.valid_event_id(started(api)[0]["id"])
