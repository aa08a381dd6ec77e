"""What a manager persona applies by itself: only what its file lists, each use recorded, revocable and undoable."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from gemba.app import App
from gemba.handoff import audit
from gemba.personas import acting, consults
from gemba.personas.persona import BudgetPolicy, MutationAuthority
from gemba.skills.consult.registry import SKILLS
from tests.fixtures.advisors import persona
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator
from tests.fixtures.plans import epic, order_input

ORDERS = ("PATCH /api/work-items/*",)


def grant(app: App, variety: str = "manager", **limits: Any) -> None:
    """The workspace's own persona `own`, with this authority."""
    listed = {"actions": ORDERS, "phases": ("ideation",), "max_per_consult": 9, **limits}
    made = msgspec.structs.replace(
        persona(),
        variety=variety,
        skills=tuple(SKILLS),
        budget_policy=BudgetPolicy(1.0, 10.0),
        mutation_authority=MutationAuthority(**listed) if limits.get("actions", ORDERS) is not None else None,
    )
    app.personas.by_id["own"] = made


def make_epics(api: Api, *titles: str) -> list[str]:
    made = [api.request("POST", "/api/work-items", {"item": {"title": each, "kind": "epic"}}) for each in titles]
    return [answer.json["id"] for answer in made]


def consulted(app: App, api: Api, *ids: str) -> dict[str, Any]:
    body = {"persona_id": "own", "skill_id": "epic_order", "raw_input": order_input(*map(epic, ids))}
    answer = api.request("POST", "/api/consults", body)
    assert answer.status == 201, answer
    app.see_to_consults()
    found: dict[str, Any] = api.get(f"/api/consults/{answer.json['id']}")
    assert found["status"] == "completed"
    return found


def orders(api: Api, ids: list[str]) -> list[int | None]:
    return [api.get(f"/api/work-items/{id}")["user_order"] for id in ids]


def audited(app: App, *kinds: str) -> list[dict[str, Any]]:
    with app.database.read() as connection:
        return [
            {**msgspec.json.decode(entry.body), "actor": entry.actor}
            for entry in audit.entries(connection)
            if entry.kind in kinds
        ]


def test_what_its_file_lists_is_applied_in_its_name_by_rule_and_recorded(app: App, api: Api) -> None:
    grant(app)
    ids = make_epics(api, "Base", "Roof")

    found = consulted(app, api, *ids)

    assert sorted(filter(None, orders(api, ids))) == [1, 2]
    assert found["applied_idx"] == [1, 2]
    assert {line["by"] for line in found["applied"]} == {"persona:own"}
    first, second = audited(app, "authority.used")
    assert (first["actor"], first["consult_id"], first["idx"], second["idx"]) == ("persona:own", found["id"], 1, 2)
    assert first["reasons"] == [
        f"PATCH {first['action']['path']} is allowed to Own by PATCH /api/work-items/*, in phase ideation"
    ]
    change = api.get(f"/api/work-items/{ids[0]}/history")["changes"][0]
    assert (change["actor"], change["cause"]) == ("persona:own", {"kind": "consult", "id": found["id"]})


def test_what_it_applied_is_undone_through_the_history_of_work(app: App, api: Api) -> None:
    grant(app)
    ids = make_epics(api, "Base")
    consulted(app, api, *ids)

    assert api.request("POST", f"/api/work-items/{ids[0]}/undo", {}).status == 200

    assert orders(api, ids) == [None]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"actions": ("POST /api/work-items",)}, "is none of its actions"),
        ({"phases": ("shipping",)}, "the phase is ideation; it may apply in: shipping"),
        ({"max_per_consult": 0}, "it has applied 0 in this consult; allowed: 0"),
    ],
)
def test_each_limit_leaves_the_line_to_a_person_and_says_why(
    app: App, api: Api, limits: dict[str, Any], reason: str
) -> None:
    grant(app, **limits)
    ids = make_epics(api, "Base")

    found = consulted(app, api, *ids)

    assert (found["applied_idx"], orders(api, ids)) == ([], [None])
    (entry,) = audited(app, "authority.refused")
    assert reason in entry["reasons"][0]
    assert audited(app, "authority.used") == []
    assert api.request("POST", f"/api/consults/{found['id']}/apply/1", {}).status == 200


def test_it_applies_no_more_lines_of_a_consult_than_its_file_says(app: App, api: Api) -> None:
    grant(app, max_per_consult=1)
    ids = make_epics(api, "Base", "Roof", "Door")

    found = consulted(app, api, *ids)

    assert found["applied_idx"] == [1]
    assert [entry["idx"] for entry in audited(app, "authority.refused")] == [2, 3]


def test_a_consult_that_cost_more_than_its_file_says_is_left_to_a_person(app: App, api: Api) -> None:
    grant(app, max_dollars=0.10)
    (api.workspace / ".gemba" / "agents.toml").write_text('[agent.scribe]\ncommand = ["cat"]\n')
    ids = make_epics(api, "Base")
    raw = order_input(epic(ids[0]))
    body = {"persona_id": "own", "skill_id": "epic_order", "raw_input": raw, "agent_type": "scribe"}
    id = api.request("POST", "/api/consults", body).json["id"]
    api.take("GembaUsage", {"input_tokens": 10, "output_tokens": 10, "cost_usd": 0.2}, id)
    answered(api, id, raw)
    app.see_to_consults()

    assert api.get(f"/api/consults/{id}")["applied_idx"] == []
    (entry,) = audited(app, "authority.refused")
    assert entry["reasons"] == ["the consult has cost 0.20 dollars; it may apply up to 0.10"]


def answered(api: Api, id: str, raw: dict[str, Any]) -> None:
    from gemba.skills.advisor.advise import advise
    from gemba.skills.consult.order_input import EpicOrderInput
    from gemba.skills.consult.reading import read_input

    lines = msgspec.to_builtins(advise(read_input(raw, EpicOrderInput)))
    api.take("GembaSkillOutput", {"skill_id": "epic_order", "lines": lines}, id)
    api.take("Stop", {}, id)


@pytest.mark.parametrize(("variety", "actions"), [("coach", ORDERS), ("manager", ()), ("manager", None)])
def test_a_coach_and_whoever_is_granted_nothing_apply_nothing(
    app: App, api: Api, variety: str, actions: tuple[str, ...] | None
) -> None:
    grant(app, variety, actions=actions)
    ids = make_epics(api, "Base")

    found = consulted(app, api, *ids)

    assert (found["applied_idx"], orders(api, ids)) == ([], [None])
    # Also where somebody would ask for it directly.
    with app.database.transaction() as tx:
        assert acting.apply_own_line(tx, found["id"], 1) is False
    assert orders(api, ids) == [None]


def test_what_the_advisor_answers_in_a_models_place_is_not_its_own(app: App, api: Api) -> None:
    grant(app)
    app.personas.by_id["own"] = msgspec.structs.replace(app.personas.by_id["own"], agent_type="codex")
    ids = make_epics(api, "Base")

    found = consulted(app, api, *ids)

    assert "the built-in advisor answered instead" in found["error"]
    assert (found["applied_idx"], orders(api, ids)) == ([], [None])


def test_authority_that_is_taken_back_is_used_no_more_and_can_be_given_again(app: App, api: Api) -> None:
    grant(app)
    ids = make_epics(api, "Base")
    for _ in range(2):
        taken = api.request("POST", "/api/personas/own/authority", {"revoked": True, "reason": "on leave"})
        assert (taken.status, taken.json["revoked"], taken.json["reason"]) == (200, True, "on leave")

    found = consulted(app, api, *ids)

    assert (found["applied_idx"], orders(api, ids)) == ([], [None])
    assert audited(app, "authority.refused")[0]["reasons"] == ["the authority of Own is revoked"]
    assert [entry["actor"] for entry in audited(app, "authority.revoked")] == ["operator"]
    assert api.get("/api/personas/own")["mutation_authority_state"]["revoked_by"] == "operator"
    assert api.request("POST", "/api/personas/own/authority", {"revoked": False}).json["revoked"] is False
    assert consulted(app, api, *ids)["applied_idx"] == [1]


def test_only_what_there_is_can_be_taken_back(api: Api) -> None:
    assert api.request("POST", "/api/personas/security/authority", {"revoked": True}).json["code"] == "no_authority"
    assert api.request("POST", "/api/personas/nobody/authority", {"revoked": True}).status == 404


def test_a_line_that_a_person_and_the_persona_apply_at_once_is_applied_once(app: App, api: Api) -> None:
    grant(app, max_per_consult=0)
    ids = make_epics(api, "Base")
    found = consulted(app, api, *ids)
    grant(app)
    together = threading.Barrier(8)

    def run(number: int) -> object:
        together.wait()
        if number % 2:
            return api.request("POST", f"/api/consults/{found['id']}/apply/1", {}).status == 200
        return app.database.change(lambda tx: acting.apply_own_line(tx, found["id"], 1))

    with ThreadPoolExecutor(8) as pool:
        assert sorted(map(bool, pool.map(run, range(8)))) == [False] * 7 + [True]
    with app.database.read() as connection:
        assert len(connection.execute(select(consults.applied)).all()) == 1
    assert orders(api, ids) == [1]


def test_the_command_takes_authority_back_and_shows_it(workspace: Path, home: Path) -> None:
    file = workspace / ".gemba" / "personas" / "clerk.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        'name = "Clerk"\nrole = "Clerk"\nvariety = "manager"\nsystem_prompt = "You order."\n'
        '[mutation_authority]\nactions = ["PATCH /api/work-items/*"]\nphases = ["building"]\n'
    )
    operator = Operator(workspace, home)

    assert operator.ok("persona", "revoke", "clerk", "too eager") == "clerk applies nothing by itself any more\n"
    assert "revoked by operator (too eager): PATCH /api/work-items/*" in operator.ok("persona", "show", "clerk")
    assert "applies by itself what" in operator.ok("persona", "restore", "clerk")
