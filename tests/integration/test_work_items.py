"""Work items over the API, on both databases: what is made, changed, related, claimed, undone, and refused."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
import time_machine
from sqlalchemy import update

from gemba.errors import Conflict
from gemba.sessions.store import sessions
from gemba.store.database import Transaction
from gemba.work.item import Cause, State
from gemba.work.items import WorkRow
from gemba.work.undoing import UndoChange, undo_change
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs

HOSTILE = "\x1b]0;gone\x07 \u202egnp.exe \0 <img src=x onerror=alert(1)> '; drop table work_items; --"


def make(api: Api, title: str = "Rate limits", **item: Any) -> dict[str, Any]:
    answer = api.request("POST", "/api/work-items", {"item": {"title": title, **item}})
    assert answer.status == 201, answer
    made: dict[str, Any] = answer.json
    return made


def attempt(api: Api, **item: Any) -> Any:
    return api.request("POST", "/api/work-items", {"item": item})


def change(api: Api, id: str, **fields: Any) -> dict[str, Any]:
    answer = api.request("PATCH", f"/api/work-items/{id}", fields)
    assert answer.status == 200, answer
    changed: dict[str, Any] = answer.json
    return changed


def relate(api: Api, source: str, kind: str, target: str) -> Any:
    return api.request("POST", f"/api/work-items/{source}/relations", {"kind": kind, "target": target})


def ready(api: Api) -> list[str]:
    return [row["id"] for row in api.get("/api/work-items/ready")["items"]]


def at_once(many: int, act: Callable[[int], Any]) -> list[Any]:
    """What each of so many got that all began together."""
    start = threading.Barrier(many)

    def run(number: int) -> Any:
        start.wait()
        return act(number)

    with ThreadPoolExecutor(many) as threads:
        return list(threads.map(run, range(many)))


# ---- making ---------------------------------------------------------------------------------------------------------


def test_a_new_item_is_an_unstarted_task_with_an_id_of_the_project_and_is_ready(api: Api, logs: Logs) -> None:
    made = make(api, "  Rate   limits\n on the API ", labels=["api", "api", "safety"], extras={"from": {"bd": 1}})

    assert made["id"].startswith(f"{api.app.database.surroundings['work_prefix']}-")
    assert (made["title"], made["kind"], made["state"]) == ("Rate limits on the API", "task", "unstarted")
    assert (made["priority"], made["labels"], made["version"]) == (2, ["api", "safety"], 1)
    assert (made["extras"], made["retro"], made["ratified"], made["ready"]) == ({"from": {"bd": 1}}, "none", None, True)
    assert (made["created_by"], made["closed_at"]) == ("operator", None)
    assert api.get(f"/api/work-items/{made['id']}") == made
    assert ready(api) == [made["id"]]
    (told,) = logs.told("item.created")
    assert told.ref == made["id"]


@pytest.mark.parametrize(
    ("item", "pointer"),
    [
        ({"title": " \n "}, "/item/title"),
        ({"title": "x" * 501}, "/item/title"),
        ({"title": "x", "description": "d" * 500_000}, "/item/description"),
        ({"title": "x", "priority": 5}, "/item/priority"),
        ({"title": "x", "kind": "story"}, "/item/kind"),
        ({"title": "x", "state": "done"}, "/item/state"),
        ({"title": "x", "parent": "shop-none"}, "/item/parent"),
        ({"title": "x", "labels": ["ok", ""]}, "/item/labels/1"),
        ({"title": "x", "colour": "red"}, "/item/colour"),
        ({"title": "x", "user_order": -1}, "/item/user_order"),
        ({"title": "x", "extras": {"a": "x" * 300_000}}, "/item/extras"),
        ({"title": "M7 Launch", "kind": "milestone"}, "/item/title"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place_and_makes_nothing(
    api: Api, item: dict[str, Any], pointer: str
) -> None:
    answer = attempt(api, **item)

    assert (answer.status, answer.json["pointer"]) == (422, pointer)
    assert api.get("/api/work-items")["total"] == 0


def test_any_text_is_kept_as_data(api: Api) -> None:
    made = make(api, HOSTILE, description=HOSTILE, labels=[HOSTILE], extras={HOSTILE: [HOSTILE]})

    assert "\0" not in made["title"]
    assert "<img src=x onerror=alert(1)>" in made["title"]
    assert api.get("/api/work-items?text=drop%20table")["items"][0]["id"] == made["id"]
    assert api.get("/api/work-items?text=%25")["total"] == 0


def test_lists_are_filtered_and_paged(api: Api) -> None:
    epic = make(api, "Search", kind="epic")
    parts = [make(api, f"Part {n}", parent=epic["id"], labels=["a", f"n{n}"], assignee="ann") for n in range(3)]
    change(api, parts[0]["id"], state="deferred")

    def listed(query: str) -> list[str]:
        return [row["title"] for row in api.get(f"/api/work-items?{query}")["items"]]

    assert listed("kind=epic") == ["Search"]
    assert listed(f"parent={epic['id']}") == ["Part 2", "Part 1", "Part 0"]
    assert listed("state=deferred,backlog") == ["Part 0"]
    assert listed("label=n1") == ["Part 1"]
    assert listed("label=n") == []
    assert listed("assignee=ann&limit=1") == ["Part 2"]
    assert listed("text=SEARCH") == ["Search"]
    assert listed(f"id={epic['id'][-4:]}") == ["Search"]
    first = api.get("/api/work-items?limit=3")
    rest = api.get(f"/api/work-items?limit=3&cursor={first['next_cursor']}")
    assert [row["title"] for row in first["items"] + rest["items"]] == ["Part 2", "Part 1", "Part 0", "Search"]
    assert (first["total"], rest["next_cursor"]) == (4, None)
    assert api.request("GET", "/api/work-items?state=open").status == 422


def test_milestones_are_numbered_without_gap_or_double_when_many_are_made_at_once(api: Api) -> None:
    made = at_once(20, lambda number: make(api, f"Goal {number}", kind="milestone")["title"])

    assert sorted(int(title.split()[0][1:]) for title in made) == list(range(1, 21))
    assert all(title.split(" ", 1)[1].startswith("Goal ") for title in made)


def test_a_milestone_keeps_its_number_whatever_it_is_called(api: Api) -> None:
    made = make(api, "Launch", kind="milestone")
    cancelled = change(api, made["id"], state="cancelled")

    assert (made["title"], cancelled["title"]) == ("M1 Launch", "M1 Launch")
    assert change(api, made["id"], title="Big launch")["title"] == "M1 Big launch"
    assert change(api, made["id"], title="M1 Small launch")["title"] == "M1 Small launch"
    assert api.request("PATCH", f"/api/work-items/{made['id']}", {"title": "M2 Launch"}).status == 422
    assert make(api, "Growth", kind="milestone")["title"] == "M2 Growth"
    assert make(api, "M4A files", kind="milestone")["title"] == "M3 M4A files"


# ---- changing -------------------------------------------------------------------------------------------------------


def test_only_what_is_named_changes_and_null_takes_away(api: Api, logs: Logs) -> None:
    made = make(api, description="Why", assignee="ann", estimated_tokens=500)

    changed = change(api, made["id"], priority=0, assignee=None, user_order=3)

    assert (changed["priority"], changed["assignee"], changed["user_order"]) == (0, None, 3)
    assert (changed["description"], changed["estimated_tokens"], changed["version"]) == ("Why", 500, 2)
    assert change(api, made["id"], priority=0)["version"] == 2
    (told,) = logs.told("item.changed")
    assert told.ref == made["id"]


def test_the_second_of_two_editors_sees_a_conflict_and_what_is_there(api: Api) -> None:
    made = make(api)
    change(api, made["id"], title="Mine", version=1)

    late = api.request("PATCH", f"/api/work-items/{made['id']}", {"title": "Theirs", "version": 1})

    assert (late.status, late.json["code"], late.json["item"]["title"]) == (409, "version_conflict", "Mine")
    assert api.get(f"/api/work-items/{made['id']}")["title"] == "Mine"


def test_of_many_who_edit_one_version_at_once_one_wins(api: Api) -> None:
    id = make(api)["id"]

    answers = at_once(
        10, lambda n: api.request("PATCH", f"/api/work-items/{id}", {"title": f"Title {n}", "version": 1}).status
    )

    assert sorted(answers) == [200] + [409] * 9
    assert api.get(f"/api/work-items/{id}")["version"] == 2


def test_a_move_that_the_table_does_not_have_is_refused_with_those_that_it_has(api: Api) -> None:
    made = make(api, state="backlog")

    refused = api.request("PATCH", f"/api/work-items/{made['id']}", {"state": "in_progress"})

    assert (refused.status, refused.json["code"]) == (409, "illegal_move")
    assert refused.json["allowed"] == ["unstarted", "staged", "done", "deferred", "cancelled"]


def test_closing_says_when_by_whom_and_why_and_reopening_forgets_it(api: Api) -> None:
    made = make(api)

    closed = change(api, made["id"], state="done", close_reason="merged")
    assert (closed["closed_by"], closed["close_reason"], closed["ready"]) == ("operator", "merged", False)
    assert closed["closed_at"] == closed["updated_at"]
    opened = change(api, made["id"], state="unstarted")
    assert (opened["closed_at"], opened["closed_by"], opened["close_reason"]) == (None, None, None)
    assert api.request("PATCH", f"/api/work-items/{made['id']}", {"close_reason": "why"}).status == 409


def test_closing_the_last_part_offers_to_close_the_whole_and_does_not_do_it(api: Api, logs: Logs) -> None:
    epic = make(api, "Search", kind="epic")
    first, second = (make(api, name, parent=epic["id"]) for name in ("Index", "Query"))

    assert change(api, first["id"], state="done")["offers"] == []
    offers = change(api, second["id"], state="cancelled")["offers"]

    assert offers == [{"action": "close", "item_id": epic["id"], "title": "Search"}]
    assert api.get(f"/api/work-items/{epic['id']}")["state"] == "unstarted"


def test_ratifying_is_dated_and_can_be_taken_back(api: Api) -> None:
    made = make(api)

    assert change(api, made["id"], ratified=True)["ratified"]["by"] == "operator"
    assert change(api, made["id"], ratified=False, retro="wanted")["ratified"] is None


def test_a_guard_holds_a_move_and_nothing_of_it_happens(api: Api) -> None:
    made = make(api)

    def guard(_tx: Transaction, item: WorkRow, target: State) -> None:
        if target is State.DONE:
            raise Conflict(f"{item.id} is held by Security", code="purview_violation")

    api.app.database.surroundings["transition_guards"].append(guard)
    held = api.request("PATCH", f"/api/work-items/{made['id']}", {"state": "done", "priority": 0})

    assert (held.status, held.json["code"]) == (409, "purview_violation")
    assert change(api, made["id"], state="review")["priority"] == 2


# ---- readiness ------------------------------------------------------------------------------------------------------


def test_what_is_blocked_or_part_of_what_is_blocked_is_not_ready_until_that_is_finished(api: Api) -> None:
    epic, blocker = make(api, "Epic", kind="epic"), make(api, "Blocker")
    child = make(api, "Child", parent=epic["id"])
    assert relate(api, blocker["id"], "blocks", epic["id"]).status == 200

    assert ready(api) == [blocker["id"]]
    told = api.get(f"/api/work-items/{child['id']}/explain")
    assert (told["ready"], [reason["kind"] for reason in told["reasons"]]) == (False, ["held"])
    assert told["reasons"][0]["items"] == [epic["id"], blocker["id"]]
    change(api, blocker["id"], state="deferred")
    assert ready(api) == []
    change(api, blocker["id"], state="done")
    assert ready(api) == [epic["id"], child["id"]]


def test_ready_is_ordered_by_the_operator_then_by_priority_then_by_age(api: Api) -> None:
    names = [("late", {}), ("urgent", {"priority": 0}), ("second", {"user_order": 2}), ("first", {"user_order": 1})]
    made = {name: make(api, name, **item)["id"] for name, item in names}

    assert ready(api) == [made[name] for name in ("first", "second", "urgent", "late")]
    page = api.get("/api/work-items/ready?limit=3")
    rest = api.get(f"/api/work-items/ready?limit=3&cursor={page['next_cursor']}")
    assert [row["title"] for row in rest["items"]] == ["late"]
    assert (page["total"], page["more"], rest["next_cursor"]) == (4, False, None)


def test_an_event_says_what_a_change_made_ready(api: Api, logs: Logs) -> None:
    stream = api.events("?name=item.changed")
    blocker, blocked = make(api, "Blocker"), make(api, "Blocked")
    relate(api, blocker["id"], "blocks", blocked["id"])
    assert stream.next()["data"]["payload"]["now_unready"] == [blocked["id"]]
    stream.next()

    change(api, blocker["id"], state="done")

    payload = stream.next()["data"]["payload"]
    assert (payload["now_ready"], payload["item"]["state"], payload["fields"][0]) == ([blocked["id"]], "done", "state")


@pytest.mark.parametrize("kind", ["blocks", "relates-to", "duplicates", "supersedes", "discovered-from"])
def test_a_relation_is_there_once_and_can_be_taken_away(api: Api, kind: str) -> None:
    one, other = make(api, "One")["id"], make(api, "Other")["id"]

    related = relate(api, one, kind, other).json["relations"]
    assert [(each["source"], each["kind"], each["target"]) for each in related] == [(one, kind, other)]
    assert relate(api, one, kind, other).json["code"] == "relation_exists"
    assert api.get(f"/api/work-items/{other}/relations")["relations"][0]["title"] == "One"
    assert relate(api, one, kind, one).status == 409
    assert relate(api, one, kind, "shop-none").status == 422
    gone = api.post(f"/api/work-items/{other}/relations/remove", {"kind": kind, "source": one})
    assert gone["relations"] == []
    again = api.request("POST", f"/api/work-items/{other}/relations/remove", {"kind": kind, "source": one})
    assert again.status == 404


def test_a_circle_is_refused_and_shown_whole(api: Api) -> None:
    a, b, c = (make(api, name)["id"] for name in "abc")
    relate(api, a, "blocks", b)
    relate(api, b, "blocks", c)

    refused = relate(api, c, "blocks", a)

    assert (refused.status, refused.json["code"], refused.json["found"]) == (409, "cycle", [c, b, a, c])
    assert f"{c} is blocked by {b}, which is blocked by {a}, which would be blocked by {c}" in refused.json["detail"]


def test_a_parent_cannot_lie_in_its_own_child(api: Api) -> None:
    top = make(api, "Top")["id"]
    middle = make(api, "Middle", parent=top)["id"]
    low = make(api, "Low", parent=middle)["id"]

    refused = api.request("PATCH", f"/api/work-items/{top}", {"parent": low})

    assert (refused.status, refused.json["code"], refused.json["found"]) == (409, "cycle", [low, middle, top, low])
    assert api.request("PATCH", f"/api/work-items/{top}", {"parent": top}).json["code"] == "cycle"


def test_what_could_never_be_ready_is_refused(api: Api) -> None:
    epic, other = make(api, "Epic", kind="epic")["id"], make(api, "Other")["id"]
    child = make(api, "Child", parent=epic)["id"]

    assert relate(api, child, "blocks", epic).json["code"] == "cycle"
    assert relate(api, epic, "blocks", child).json["code"] == "blocked_by_ancestor"
    relate(api, other, "blocks", epic)
    assert relate(api, child, "blocks", other).json["code"] == "cycle"
    relate(api, other, "blocks", child)
    moved = api.request("PATCH", f"/api/work-items/{epic}", {"parent": other})
    assert moved.json["code"] == "blocked_by_ancestor"


def test_two_who_would_close_a_circle_together_do_not(api: Api) -> None:
    for _ in range(5):
        a, b = make(api, "a")["id"], make(api, "b")["id"]
        ends = [(a, b), (b, a)]
        answers = at_once(2, lambda n, ends=ends: relate(api, ends[n][0], "blocks", ends[n][1]).status)  # type: ignore[misc]
        assert sorted(answers) == [200, 409]


def test_a_long_chain_is_closed_by_nobody(api: Api) -> None:
    chain = [make(api, f"Link {n}")["id"] for n in range(130)]
    for one, other in pairwise(chain):
        assert relate(api, one, "blocks", other).status == 200

    refused = relate(api, chain[-1], "blocks", chain[0])

    assert (refused.json["code"], len(refused.json["found"])) == ("cycle", 131)
    graph = api.get(f"/api/work-items/{chain[60]}/graph")
    assert (graph["critical_path"], len(graph["blast_radius"])) == (chain, 69)
    assert graph["unblocks"] == [chain[61]]
    relate(api, chain[0], "blocks", chain[61])
    assert api.get(f"/api/work-items/{chain[60]}/graph")["unblocks"] == []


# ---- claims ---------------------------------------------------------------------------------------------------------


def test_of_fifty_who_claim_at_once_one_gets_it(api: Api) -> None:
    id = make(api)["id"]

    answers = at_once(50, lambda n: api.request("POST", f"/api/work-items/{id}/claim", {"owner": f"worker-{n}"}))

    won = [answer for answer in answers if answer.status == 200]
    assert len(won) == 1
    assert {answer.json["code"] for answer in answers if answer.status != 200} == {"claimed"}
    assert api.get(f"/api/work-items/{id}")["claim"]["owner"] == won[0].json["claim"]["owner"]
    assert ready(api) == []


def test_a_claim_is_extended_by_its_owner_released_and_free_when_its_lease_is_over(api: Api) -> None:
    id = make(api)["id"]
    path = f"/api/work-items/{id}/claim"
    api.post(path, {"owner": "ann", "lease_seconds": 60})

    assert api.request("POST", path, {"owner": "ann"}).status == 409
    assert api.request("POST", f"{path}/extend", {"owner": "bob"}).status == 409
    extended = api.post(f"{path}/extend", {"owner": "ann", "lease_seconds": 120})
    assert extended["claim"]["expires_at"] > extended["claim"]["claimed_at"]
    assert extended["version"] == 1
    assert api.request("POST", f"{path}/release", {"owner": "bob"}).json["code"] == "claimed"
    assert api.post(f"{path}/release", {"owner": "ann"})["claim"] is None
    assert ready(api) == [id]
    api.post(path, {"owner": "ann", "lease_seconds": 1})
    with time_machine.travel("2126-01-01T00:00:00Z"):
        assert api.post(path, {"owner": "bob"})["claim"]["owner"] == "bob"
    kinds = [each["kind"] for each in api.get(f"/api/work-items/{id}/history")["changes"]]
    assert kinds == ["claimed", "claimed", "released", "claimed", "created"]


def test_what_is_blocked_is_claimed_by_whoever_says_that_they_know(api: Api) -> None:
    first, epic = make(api, "Index")["id"], make(api, "Search", kind="epic")["id"]
    part = make(api, "Query", parent=epic)["id"]
    relate(api, first, "blocks", epic)

    for id, why in ((epic, "it is blocked by"), (part, f"it is part of {epic}, which is blocked by")):
        refused = api.request("POST", f"/api/work-items/{id}/claim", {"owner": "ann"})
        assert (refused.status, refused.json["code"]) == (409, "blocked")
        assert refused.json["detail"] == f"{id} cannot be begun: {why} {first} (unstarted: Index)"
        assert first in refused.json["found"]
        assert api.get(f"/api/work-items/{id}")["claim"] is None
    assert api.post(f"/api/work-items/{part}/claim", {"owner": "ann", "even_blocked": True})["claim"]["owner"] == "ann"
    # Whoever works on it already goes on, also when something comes into its way.
    change(api, epic, state="in_progress")
    assert api.post(f"/api/work-items/{epic}/claim", {"owner": "ann"})["claim"]["owner"] == "ann"


def test_what_is_finished_is_claimed_by_nobody(api: Api) -> None:
    id = make(api)["id"]
    api.post(f"/api/work-items/{id}/claim", {})

    assert change(api, id, state="done")["claim"] is None
    assert api.request("POST", f"/api/work-items/{id}/claim", {}).json["code"] == "finished"


# ---- history --------------------------------------------------------------------------------------------------------


def test_every_change_is_kept_with_its_actor_and_undoing_walks_back(api: Api) -> None:
    id, other = make(api, "One", labels=["a"])["id"], make(api, "Other")["id"]
    change(api, id, title="Two", labels=["a", "b"])
    change(api, id, state="done", close_reason="merged")
    relate(api, id, "blocks", other)

    undone = api.post(f"/api/work-items/{id}/undo", {})
    assert undone["relations"] == []
    undone = api.post(f"/api/work-items/{id}/undo", {})
    assert (undone["state"], undone["closed_at"], undone["close_reason"]) == ("unstarted", None, None)
    undone = api.post(f"/api/work-items/{id}/undo", {})
    assert (undone["title"], undone["labels"]) == ("One", ["a"])
    nothing = api.request("POST", f"/api/work-items/{id}/undo", {})
    assert (nothing.status, nothing.json["code"]) == (409, "nothing_to_undo")
    history = api.get(f"/api/work-items/{id}/history")["changes"]
    assert [each["kind"] for each in history] == ["undone"] * 3 + ["related", "changed", "changed", "created"]
    assert (history[0]["before"]["title"], history[0]["after"]["title"]) == ("Two", "One")
    assert history[0]["cause"] == {"kind": "person", "id": "operator"}
    theirs = api.get(f"/api/work-items/{other}/history")["changes"]
    assert [(each["kind"], each["of"], each["undone"]) for each in theirs] == [
        ("undone", id, False),
        ("related", id, True),
        ("created", None, False),
    ]


def test_an_undo_that_would_close_a_circle_by_now_is_refused_and_changes_nothing(api: Api) -> None:
    top = make(api, "Top")["id"]
    low = make(api, "Low", parent=top)["id"]
    change(api, low, parent=None)
    change(api, top, parent=low)

    refused = api.request("POST", f"/api/work-items/{low}/undo", {})

    assert (refused.status, refused.json["code"]) == (409, "no_longer_applies")
    assert "that is a circle" in refused.json["detail"]
    assert api.get(f"/api/work-items/{low}")["parent"] is None


def test_a_relation_is_undone_where_it_was_made(api: Api) -> None:
    a, b = make(api, "a")["id"], make(api, "b")["id"]
    relate(api, a, "blocks", b)

    refused = api.request("POST", f"/api/work-items/{b}/undo", {})

    assert (refused.json["code"], refused.json["found"]) == ("made_elsewhere", a)
    assert api.post(f"/api/work-items/{a}/undo", {})["relations"] == []
    assert ready(api) == [a, b]


def test_a_change_says_what_it_followed_from(api: Api) -> None:
    id = make(api)["id"]
    change(api, id, priority=0)
    with api.app.database.transaction("ann") as tx:
        tx.cause = Cause("walk", "walk-1")
        undo_change(tx, UndoChange(), id=id)

    last = api.get(f"/api/work-items/{id}/history")["changes"][0]
    assert (last["actor"], last["cause"]) == ("ann", {"kind": "walk", "id": "walk-1"})


# ---- agents ---------------------------------------------------------------------------------------------------------


def report(api: Api, id: str, session: str = "session-1") -> None:
    api.take("GembaState", {"state": "bead-done", "bead_id": id, "note": ""}, session)


def test_bead_done_is_a_word_that_is_looked_at_and_never_done(api: Api) -> None:
    id = make(api)["id"]
    report(api, id)
    found = api.get(f"/api/work-items/{id}")
    assert (found["state"], found["updated_by"]) == ("review", "session-1")
    change(api, id, state="done")
    report(api, id)
    report(api, "shop-none")

    assert api.get(f"/api/work-items/{id}")["state"] == "done"
    causes = [each["cause"] for each in api.get(f"/api/work-items/{id}/history")["changes"]]
    assert causes[1] == {"kind": "run", "id": "session-1"}


def test_a_coach_moves_no_item_and_gets_none(api: Api) -> None:
    id = make(api)["id"]
    report(api, "shop-none", "coach-1")
    with api.app.database.transaction() as tx:
        tx.connection.execute(update(sessions).where(sessions.c.id == "coach-1").values(role="coach"))

    report(api, id, "coach-1")
    claimed = api.request("POST", f"/api/work-items/{id}/claim", {"owner": "coach-1"})

    assert api.get(f"/api/work-items/{id}")["state"] == "unstarted"
    assert (claimed.status, claimed.json["code"]) == (409, "coach")
