"""Sections of project knowledge on both databases: applied all or none, with a history that can be taken back."""

import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select

from gemba.app import App
from gemba.errors import Conflict, Invalid, NotFound
from gemba.handoff import audit, contracts
from gemba.handoff.contracts import Applied, contract_changes
from gemba.handoff.entries import Update
from gemba.handoff.sections import Section
from tests.fixtures.api import Api
from tests.fixtures.handed import wish

SECTIONS = (Section("api", ("src/api/**",), ("architect",)), Section("ops", strict=True), Section("notes"))
TOML = """
[section.api]
paths = ["src/api/**"]
writers = ["architect"]

[section.ops]
strict = true

[section.notes]
"""
LIVE = {"load_balancer": {"ip": "34.102.136.180"}}


def apply(app: App, *updates: tuple[str, dict[str, Any]], source: str = "handoff-1", by: str = "a1b2c3") -> Applied:
    with app.database.transaction() as tx:
        return contracts.apply(tx, [Update(*update) for update in updates], SECTIONS, source=source, by=by)


def undo(app: App, name: str, revision: int) -> int:
    with app.database.transaction() as tx:
        return contracts.undo(tx, name, revision, by="operator")


def facts(app: App, sections: Sequence[Section] | None = None) -> dict[str, Any]:
    with app.database.read() as connection:
        return contracts.facts(connection, sections)


def value(app: App, name: str) -> Any:
    """The whole of a section, however long."""
    with app.database.read() as connection:
        row = contracts.find(connection, name)
    return None if row is None else json.loads(row.value)


def revisions(app: App) -> int:
    with app.database.read() as connection:
        return connection.execute(select(func.count()).select_from(contract_changes)).scalar_one()


def entries(app: App) -> list[tuple[str, str, str]]:
    with app.database.read() as connection:
        return [(entry.kind, entry.ref, entry.actor) for entry in audit.entries(connection)]


def is_as_written(app: App) -> bool:
    known = app.anchors.read()
    with app.database.read() as connection:
        return audit.check(connection, known) is None


@pytest.fixture
def declared(api: Api) -> Api:
    """The API of a workspace whose file declares the sections."""
    (api.workspace / ".gemba/context.toml").write_text(TOML)
    return api


# ---- applying -------------------------------------------------------------------------------------------------------


def test_updates_are_merged_into_their_sections_and_are_facts_then(app: App) -> None:
    first = apply(app, ("api", {"routes": ["/a"], "owner": "ops"}), ("notes", {"seen": True}))
    second = apply(app, ("api", {"routes": ["/b"]}))

    assert (first.contracts, second.contracts) == ([("api", 1), ("notes", 1)], [("api", 2)])
    assert facts(app) == {"api": {"routes": ["/a", "/b"], "owner": "ops"}, "notes": {"seen": True}}
    assert facts(app, SECTIONS[:1]) == {"api": {"routes": ["/a", "/b"], "owner": "ops"}}


def test_one_section_twice_is_merged_in_order_as_one_revision(app: App) -> None:
    applied = apply(
        app, ("api", {"port": 80, "tags": ["a"]}), ("notes", {"n": 1}), ("api", {"port": 443, "tags": ["b"]})
    )

    assert applied.contracts == [("api", 1), ("notes", 1)]
    assert facts(app)["api"] == {"port": 443, "tags": ["a", "b"]}


def test_what_changes_nothing_makes_no_revision_no_event_and_no_entry(app: App) -> None:
    apply(app, ("api", {"port": 80}))
    with app.database.read() as connection:
        before = connection.exec_driver_sql("select count(*) from events").scalar_one()

    assert apply(app, ("api", {"port": 80.0}), ("notes", {})).contracts == []
    assert apply(app).contracts == []
    with app.database.read() as connection:
        assert connection.exec_driver_sql("select count(*) from events").scalar_one() == before
    assert (revisions(app), entries(app)) == (1, [("context.applied", "api", "a1b2c3")])


REFUSED: dict[str, tuple[tuple[str, dict[str, Any]], str]] = {
    "a section that is not declared": (("elsewhere", {"a": 1}), "context_section"),
    "live state in a strict section": (("ops", LIVE), "live_state"),
    "a number beyond 64 bits": (("notes", {"n": 2**64}), "context_value"),
    "a number that is none in JSON": (("notes", {"n": float("inf")}), "context_value"),
    "too many levels": (("notes", msgspec.json.decode('{"a":' * 40 + "1" + "}" * 40)), "context_value"),
    "too many bytes": (("notes", {"text": "x" * 5_000_000}), "context_value"),
}


@pytest.mark.parametrize(("update", "code"), REFUSED.values(), ids=REFUSED)
def test_a_set_with_one_that_is_refused_changes_nothing_at_all(
    app: App, update: tuple[str, dict[str, Any]], code: str
) -> None:
    apply(app, ("api", {"port": 80}))
    both = [Update("api", {"port": 443}), Update(*update)]
    with app.database.transaction() as tx, pytest.raises(Invalid) as refused:
        contracts.apply(tx, both, SECTIONS, source="handoff-2", by="a1b2c3")
    # The transaction went on and was committed, as one that also stores the refusal would be.
    assert refused.value.code == code
    assert facts(app) == {"api": {"port": 80}}
    assert (revisions(app), len(entries(app))) == (1, 1)


def test_a_section_that_would_become_too_long_is_refused_with_all_the_others(app: App) -> None:
    apply(app, ("notes", {"one": "x" * 3_000_000}))
    with pytest.raises(Invalid, match="/notes: this has 6,0"):
        apply(app, ("api", {"port": 80}), ("notes", {"two": "x" * 3_000_000}))
    assert (list(facts(app)), revisions(app)) == (["notes"], 1)


def test_live_state_is_warned_of_where_a_section_is_not_strict(app: App) -> None:
    applied = apply(app, ("api", LIVE))

    assert applied.contracts == [("api", 1)]
    assert [(one["code"], one["pointer"]) for one in applied.warnings] == [("LIVE_STATE", "/api/load_balancer/ip")]


def test_a_type_conflict_is_told_where_it_is(app: App) -> None:
    apply(app, ("api", {"port": 80}))
    assert [(one["code"], one["pointer"]) for one in apply(app, ("api", {"port": "http"})).warnings] == [
        ("MERGE", "/api/port")
    ]


def test_text_that_no_database_takes_is_kept_as_it_can_be_and_is_the_same_again(app: App) -> None:
    given = ("notes", {"a\x00b": ["\ud800", {"\udfff": "fine"}]})
    apply(app, given)

    assert facts(app) == {"notes": {"a\ufffdb": ["\ufffd", {"\ufffd": "fine"}]}}
    assert apply(app, given).contracts == []


def test_a_payload_of_a_megabyte_is_applied_and_taken_back(app: App) -> None:
    payload = {"rows": [{"id": f"row-{n}", "text": "x" * 80} for n in range(10_000)]}
    assert len(msgspec.json.encode(payload)) > 1_000_000

    apply(app, ("notes", payload))
    apply(app, ("notes", {"rows": [{"id": "row-1", "text": "other"}]}))
    undo(app, "notes", 2)

    assert value(app, "notes") == payload


SEVERAL: dict[str, tuple[dict[str, Any], list[dict[str, Any]], Any]] = {
    "items of one list": (
        {"l": [f"x{n}" for n in range(4_000)]},
        [{"l": [f"y{n}"]} for n in range(4_000)],
        {"l": [f"{letter}{n}" for letter in "xy" for n in range(4_000)]},
    ),
    "keys": (
        {f"k{n}": n for n in range(4_000)},
        [{f"k{n}": {"a": [n]}} for n in range(4_000)],
        {f"k{n}": {"a": [n]} for n in range(4_000)},
    ),
    "objects of one list": (
        {"l": [{"id": n} for n in range(4_000)]},
        [{"l": [{"id": n, "at": n}]} for n in range(4_000)],
        {"l": [{"id": n, "at": n} for n in range(4_000)]},
    ),
}


@pytest.mark.parametrize(("before", "payloads", "after"), SEVERAL.values(), ids=SEVERAL)
def test_thousands_of_updates_of_one_section_are_one_small_revision_and_take_little_time(
    app: App, before: dict[str, Any], payloads: list[dict[str, Any]], after: Any
) -> None:
    apply(app, ("notes", before))
    start = time.process_time()
    applied = apply(app, *(("notes", payload) for payload in payloads))

    assert time.process_time() - start < 5  # one after the other they took minutes
    assert applied.contracts == [("notes", 2)]
    assert value(app, "notes") == after
    with app.database.read() as connection:
        lengths = select(func.length(contract_changes.c.changes), func.length(contract_changes.c.warnings))
        for changes, warnings in connection.execute(lengths):
            assert changes < 140_000
            assert warnings < 70_000
    undo(app, "notes", 2)
    assert value(app, "notes") == before


def test_a_few_updates_of_a_long_list_keep_only_what_they_brought(app: App) -> None:
    apply(app, ("notes", {"l": ["x" * 90 + str(n) for n in range(5_000)]}))
    apply(app, *(("notes", {"l": [f"y{n}"]}) for n in range(100)))

    with app.database.read() as connection:
        (row,) = contracts.change_rows(connection, "notes", [2])
    (change,) = contracts.changes_of(row).changes
    assert (change.before, change.after, change.shortened) == ([], [f"y{n}" for n in range(100)], True)


TOO_MANY: dict[str, list[dict[str, Any]]] = {
    "more than there may be": [{"n": number} for number in range(contracts.MOST_UPDATES + 1)],
    "of a list that each has to be merged into": [
        {"l": [{"id": f"x{number}" * 20, "name": "a"}, {"name": f"b{number}"}]} for number in range(3_000)
    ],
}


@pytest.mark.parametrize("payloads", TOO_MANY.values(), ids=TOO_MANY)
def test_updates_that_would_take_too_long_are_refused(app: App, payloads: list[dict[str, Any]]) -> None:
    start = time.process_time()
    with pytest.raises(Invalid, match="allowed: ") as refused:
        apply(app, *(("notes", payload) for payload in payloads))

    assert time.process_time() - start < 10
    assert (refused.value.code, (refused.value.pointer or "")[:6]) == ("context_updates", "/notes")
    assert revisions(app) == 0


def test_many_warnings_of_a_merge_are_counted_instead_of_listed(app: App) -> None:
    apply(app, ("notes", {f"k{n}": n for n in range(900)}))
    warnings = apply(app, ("notes", {f"k{n}": "text" for n in range(900)})).warnings

    assert len(warnings) == 201
    assert warnings[-1] == {"code": "MERGE", "pointer": "/notes", "message": "700 more like these are not listed"}


# ---- what agents are given ------------------------------------------------------------------------------------------


def test_sections_are_given_whole_as_long_as_there_is_room_those_of_the_task_first(app: App) -> None:
    long = {"text": "x" * 600_000}
    for name in ("api", "ops"):
        apply(app, (name, long))
    apply(app, ("notes", {"n": 1}))
    with app.database.read() as connection:
        usual, elsewhere = (contracts.facts(connection, SECTIONS, surfaces) for surfaces in ((), ["ops"]))

    def left_out(name: str) -> Any:
        return {"left_out": f"too long; read it with `gemba context show {name}`"}

    assert usual == {"api": long, "ops": left_out("ops"), "notes": {"n": 1}}
    assert elsewhere == {"api": left_out("api"), "ops": long, "notes": {"n": 1}}


def test_work_can_be_given_however_much_is_known(declared: Api) -> None:
    names = [f"s{number}" for number in range(5)]
    (declared.workspace / ".gemba/context.toml").write_text("".join(f"[section.{name}]\n" for name in names))
    with declared.app.database.transaction() as tx:
        sections = tx.surroundings["sections"]()
        long = {f"k{number}": "x" * 3_900 for number in range(1_000)}
        contracts.apply(tx, [Update(name, long) for name in names], sections, source="h", by="a1b2c3")

    made = declared.post("/api/dispatches", wish())
    known = made["envelope"]["project_knowledge"]["sections"]
    assert [list(known[name]) for name in names] == [["left_out"]] * 5
    answer = declared.request("GET", "/api/context")
    assert len(answer.body) < 10_000
    assert [(one["value"], one["length"] > 3_900_000) for one in answer.json["sections"]] == [(None, True)] * 5
    assert declared.get("/api/context/s3")["value"] == long


# ---- taking back ----------------------------------------------------------------------------------------------------


def test_undo_restores_exactly_what_was_before_by_a_new_revision(app: App) -> None:
    apply(app, ("api", {"port": 80, "tags": ["a", "a"], "deep": {"x": None}}))
    before = facts(app)
    apply(app, ("api", {"port": None, "tags": ["b"], "deep": {"y": 1}, "new": {}}))

    assert undo(app, "api", 2) == 3
    assert facts(app) == before
    assert revisions(app) == 3


def test_undone_again_and_again_a_section_walks_back_to_nothing(app: App) -> None:
    for number in range(3):
        apply(app, ("api", {f"key{number}": number}))
    for revision in (3, 2, 1):
        undo(app, "api", revision)

    assert facts(app) == {}
    apply(app, ("api", {"fresh": True}))
    assert facts(app) == {"api": {"fresh": True}}
    undo(app, "api", 7)
    assert facts(app) == {}


def test_an_undo_can_be_undone(app: App) -> None:
    apply(app, ("api", {"a": 1}))
    apply(app, ("api", {"b": 2}))
    undo(app, "api", 2)
    undo(app, "api", 3)

    assert facts(app) == {"api": {"a": 1, "b": 2}}
    undo(app, "api", 2)
    assert facts(app) == {"api": {"a": 1}}


def test_undo_is_refused_where_the_section_has_changed_since(app: App) -> None:
    apply(app, ("api", {"a": 1}))
    apply(app, ("api", {"b": 2}))
    with pytest.raises(Conflict, match="has changed since revision 1; allowed: to undo revision 2") as refused:
        undo(app, "api", 1)
    undo(app, "api", 2)
    with pytest.raises(Conflict, match="allowed: to undo revision 1 or 3"):
        undo(app, "api", 2)

    assert refused.value.allowed == [2]
    assert revisions(app) == 3


@pytest.mark.parametrize(("name", "revision"), [("api", 0), ("api", 2), ("api", -1), ("api", 2**70), ("notes", 1)])
def test_a_revision_that_there_is_not_cannot_be_undone(app: App, name: str, revision: int) -> None:
    apply(app, ("api", {"a": 1}))
    with pytest.raises(NotFound):
        undo(app, name, revision)
    assert revisions(app) == 1


# ---- several at once ------------------------------------------------------------------------------------------------


def test_concurrent_updates_lose_nothing(app: App) -> None:
    workers, each = 8, 5
    faults: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for number in range(each):
                names = ["api", "notes"] if worker % 2 else ["notes", "api"]
                apply(app, *((name, {"all": [f"{worker}.{number}"], f"w{worker}": number}) for name in names))
        except BaseException as error:  # noqa: BLE001 - told below, in the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    every = {f"{worker}.{number}" for worker in range(workers) for number in range(each)}
    for name in ("api", "notes"):
        found = facts(app)[name]
        assert set(found["all"]) == every
        assert [found[f"w{worker}"] for worker in range(workers)] == [each - 1] * workers
    assert revisions(app) == 2 * workers * each
    assert len(entries(app)) == 2 * workers * each
    assert is_as_written(app)


def test_of_two_who_undo_at_once_one_wins(app: App) -> None:
    apply(app, ("api", {"a": 1}))
    ends: list[str] = []

    def work() -> None:
        try:
            undo(app, "api", 1)
            ends.append("undone")
        except Conflict:
            ends.append("refused")

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(ends) == ["refused"] * 5 + ["undone"]
    assert (facts(app), revisions(app)) == ({}, 2)


# ---- what is told ---------------------------------------------------------------------------------------------------


def test_each_revision_is_an_entry_of_the_audit_log_that_its_history_can_be_held_against(app: App) -> None:
    apply(app, ("api", {"a": 1}), ("notes", {"n": 1}))
    undo(app, "api", 1)

    assert entries(app) == [
        ("context.applied", "api", "a1b2c3"),
        ("context.applied", "notes", "a1b2c3"),
        ("context.undone", "api", "operator"),
    ]
    with app.database.read() as connection:
        first, _, last = (json.loads(entry.body) for entry in audit.entries(connection))
    assert (first["revision"], first["source"], first["changed"]) == (1, "handoff-1", ["/a"])
    assert (last["undoes"], last["before"], last["after"]) == (1, first["after"], first["before"])
    assert is_as_written(app)


def test_what_is_rolled_back_leaves_nothing(app: App) -> None:
    def apply_and_fail() -> None:
        with app.database.transaction() as tx:
            contracts.apply(tx, [Update("api", {"a": 1})], SECTIONS, source="handoff-1", by="a1b2c3")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        apply_and_fail()
    assert (facts(app), revisions(app), entries(app)) == ({}, 0, [])


# ---- the API --------------------------------------------------------------------------------------------------------


def test_declared_sections_are_listed_in_the_order_of_the_file_whether_anything_is_known_or_not(declared: Api) -> None:
    declared.post("/api/context/notes", {"payload": {"n": 1}})

    found = declared.get("/api/context")["sections"]
    assert [(one["name"], one["revision"], one["strict"], one["value"]) for one in found] == [
        ("api", 0, False, {}),
        ("ops", 0, True, {}),
        ("notes", 1, False, {"n": 1}),
    ]
    assert (found[0]["paths"], found[0]["writers"], found[0]["changed_at"]) == (["src/api/**"], ["architect"], None)
    assert (found[2]["changed_by"], found[2]["source"], found[2]["standing"]) == ("operator", "operator", 1)
    assert declared.get("/api/context/notes") == found[2]


def test_a_section_that_is_no_longer_declared_is_shown_and_takes_nothing_but_an_undo(declared: Api) -> None:
    declared.post("/api/context/notes", {"payload": {"n": 1}})
    (declared.workspace / ".gemba/context.toml").write_text("[section.api]\n")

    assert declared.get("/api/context/notes")["declared"] is False
    assert declared.request("POST", "/api/context/notes", {"payload": {"n": 2}}).status == 422
    undone = declared.post("/api/context/notes/undo", {"revision": 1})
    assert (undone["section"]["revision"], undone["section"]["value"]) == (2, {})


def test_applying_tells_what_changed_and_what_to_look_at(declared: Api) -> None:
    declared.post("/api/context/api", {"payload": {"port": 80}})
    done = declared.post("/api/context/api", {"payload": {"port": 443, **LIVE}})

    assert done["section"]["value"] == {"port": 443, **LIVE}
    assert done["changes"] == [
        {"pointer": "/port", "kind": "overwritten", "before": 80, "after": 443},
        {"pointer": "/load_balancer", "kind": "added", "after": LIVE["load_balancer"]},
    ]
    assert [one["code"] for one in done["warnings"]] == ["LIVE_STATE"]
    assert done["section"]["warnings"] == done["warnings"]
    again = declared.post("/api/context/api", {"payload": {"port": 443}})
    assert (again["changes"], again["section"]["revision"]) == ([], 2)


def test_the_history_is_newest_first_page_by_page_with_what_undo_took_away(declared: Api) -> None:
    for number in range(3):
        declared.post("/api/context/api", {"payload": {"n": number}})
    declared.post("/api/context/api/undo", {"revision": 3})

    page = declared.get("/api/context/api/history?limit=3")
    rest = declared.get(f"/api/context/api/history?limit=3&cursor={page['next_cursor']}")
    assert [one["revision"] for one in page["revisions"] + rest["revisions"]] == [4, 3, 2, 1]
    assert (page["total"], rest["next_cursor"]) == (4, None)
    last = page["revisions"][0]
    assert (last["undoes"], last["by"]) == (3, "operator")
    assert last["changes"] == [{"pointer": "/n", "kind": "overwritten", "before": 2, "after": 1}]
    for revision in (2, 1):
        declared.post("/api/context/api/undo", {"revision": revision})
    gone = declared.get("/api/context/api/history?limit=1")["revisions"][0]
    assert gone["changes"] == [{"pointer": "/n", "kind": "removed", "before": 0}]
    assert declared.get("/api/context/notes/history") == {"revisions": [], "total": 0, "next_cursor": None}


BAD: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "not declared": ("/api/context/elsewhere", {"payload": {"a": 1}}, 422, "context_section"),
    "strict section": ("/api/context/ops", {"payload": LIVE}, 422, "live_state"),
    "strict by wish": ("/api/context/api", {"payload": LIVE, "strict": True}, 422, "live_state"),
    "no object": ("/api/context/api", {"payload": [1]}, 422, "wrong_type"),
    "no payload": ("/api/context/api", {}, 422, "missing_field"),
    "another field": ("/api/context/api", {"payload": {}, "force": True}, 422, "unknown_field"),
    "undo of nothing": ("/api/context/api/undo", {"revision": 1}, 404, "not_found"),
    "undo elsewhere": ("/api/context/elsewhere/undo", {"revision": 1}, 404, "not_found"),
}


@pytest.mark.parametrize(("path", "body", "status", "code"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_refused_with_nothing_changed(
    declared: Api, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    refused = declared.request("POST", path, body)

    assert (refused.status, refused.json["code"]) == (status, code)
    assert [one["revision"] for one in declared.get("/api/context")["sections"]] == [0, 0, 0]
    assert declared.get("/api/audit")["total"] == 0


@pytest.mark.parametrize("path", ["/api/context/elsewhere", "/api/context/elsewhere/history"])
def test_a_section_that_nobody_knows_is_not_found_and_those_there_are_are_named(declared: Api, path: str) -> None:
    refused = declared.request("GET", path)
    assert refused.status == 404
    assert "api, ops, notes" in refused.json["detail"]


def test_a_file_that_cannot_be_read_is_told_with_its_line(declared: Api) -> None:
    (declared.workspace / ".gemba/context.toml").write_text("[section.api]\npaths = 3\n")

    refused = declared.request("GET", "/api/context")
    assert refused.status == 422
    assert "context.toml:2" in refused.json["detail"]


def test_a_megabyte_comes_through_the_api(declared: Api) -> None:
    payload = {f"key-{n}": "x" * 88 for n in range(10_000)}
    assert 1_000_000 < len(json.dumps({"payload": payload}, separators=(",", ":"))) <= 1_048_576

    done = declared.post("/api/context/notes", {"payload": payload})
    assert done["section"]["value"] == payload
    assert 900 < len(done["changes"]) == 10_000 - done["unlisted"]


def test_pages_of_the_history_are_small_however_much_changed(declared: Api) -> None:
    for number in range(6):
        declared.post("/api/context/notes", {"payload": {f"{number}-{n}": "x" * 200 for n in range(1_000)}})

    cursor: str | None = ""
    seen: list[tuple[int, int]] = []
    while cursor is not None:
        answer = declared.request("GET", f"/api/context/notes/history?limit=100{cursor and '&cursor=' + cursor}")
        assert len(answer.body) < 500_000
        seen += [(one["revision"], len(one["changes"]) + one["unlisted"]) for one in answer.json["revisions"]]
        cursor = answer.json["next_cursor"]
    assert seen == [(revision, 1_000) for revision in (6, 5, 4, 3, 2, 1)]


def test_the_list_of_sections_has_values_as_long_as_there_is_room(declared: Api) -> None:
    names = [f"s{number}" for number in range(8)]
    (declared.workspace / ".gemba/context.toml").write_text("".join(f"[section.{name}]\n" for name in names))
    for name in names:
        declared.post(f"/api/context/{name}", {"payload": {"text": "x" * 200_000}})

    found = declared.get("/api/context")["sections"]
    assert [one["value"] is not None for one in found] == [True] * 5 + [False] * 3
    assert {one["length"] for one in found} == {200_011}


def test_readers_are_told_of_a_change_as_it_happens(declared: Api) -> None:
    stream = declared.events("?name=context.changed")
    declared.post("/api/context/api", {"payload": {"a": 1}})

    event = stream.next()["data"]
    assert (event["ref"], event["payload"]["revision"], event["payload"]["by"]) == ("api", 1, "operator")
