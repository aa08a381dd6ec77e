"""Memories on both databases: offered once, decided once by a person, given to later envelopes."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection, event

from gemba.app import App
from gemba.handoff import audit, memories
from gemba.handoff.envelope import MOST_QUOTED, memory_for
from gemba.handoff.memory import LONGEST_BODY, LONGEST_SLUG, MEMORY, MOST_SUGGESTIONS, MemoryState
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs
from tests.fixtures.remembered import SOURCE, suggest

PORT = {"description": "The proxy's port", "body": "8000 is taken by the proxy", "rationale": "it cost an hour"}
DECISIONS: dict[str, dict[str, Any]] = {"accept": {}, "reject": {"reason": "not true"}, "reopen": {}}
ENDS = {"accept": "accepted", "reject": "rejected", "reopen": "reopened"}
HOSTILE = "\x1b]0;gone\x07 \u202egnp.exe \0 \ud800 <img src=x onerror=alert(1)> '; drop table memories; --"


def one(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/memories/{id}")
    return found


def listed(api: Api, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/api/memories?{query}")["memories"]
    return found


def decide(api: Api, id: str, verb: str, **body: Any) -> dict[str, Any]:
    done: dict[str, Any] = api.post(f"/api/memories/{id}/{verb}", body or DECISIONS[verb])
    return done


def attempt(api: Api, id: str, verb: str, **body: Any) -> Any:
    return api.request("POST", f"/api/memories/{id}/{verb}", body or DECISIONS[verb])


def kept(app: App) -> list[str]:
    with app.database.read() as connection:
        return [memory.slug for memory in memories.remembered(connection)]


def at_once(many: int, act: Callable[[int], Any]) -> list[Any]:
    """What each of so many got that all began together."""
    start = threading.Barrier(many)

    def run(number: int) -> Any:
        start.wait()
        return act(number)

    with ThreadPoolExecutor(many) as threads:
        return list(threads.map(run, range(many)))


# ---- offering -------------------------------------------------------------------------------------------------------


def test_a_suggestion_waits_with_its_source_and_surfaces_until_a_person_decides(api: Api, logs: Logs) -> None:
    (id,) = suggest(api.app, PORT, surfaces=("api", "web"))

    found = one(api, id)
    assert (found["state"], found["slug"], found["type"], found["class"]) == (
        "suggested",
        "the-proxys-port",
        "atom",
        "thread",
    )
    assert {name: found[name] for name in PORT} == PORT
    assert (found["source"], found["surfaces"], found["warnings"]) == (SOURCE, ["api", "web"], [])
    assert (found["decided_at"], found["decided_by"]) == (None, None)
    assert listed(api, "state=suggested") == [found]
    assert kept(api.app) == []
    assert [told.ref for told in logs.told("memory.suggested")] == [id]


def test_both_kinds_of_suggestions_are_offered_in_their_order_and_what_is_none_is_not(api: Api) -> None:
    entries: list[Any] = [
        {**PORT, "slug": "Proxy Port"},
        {"description": "no body"},
        {**PORT, "type": 7},
        "always use UTC",
    ]
    suggest(api.app, *entries, "  ", source="handoff-2")

    assert [(found["slug"], found["body"]) for found in reversed(listed(api))] == [
        ("proxy-port", PORT["body"]),
        ("always-use-utc", "always use UTC"),
    ]


@pytest.mark.parametrize("texts", [None, {}, "text", 5, [None, 5, {}, []]])
def test_fields_of_another_type_offer_nothing(api: Api, texts: Any) -> None:
    document = {"memory_suggestions": texts, "memorialize_suggestions": texts}
    with api.app.database.transaction() as tx:
        assert memories.suggest(tx, document, source=SOURCE, surfaces=()) == []
    assert listed(api) == []


@pytest.mark.parametrize("verb", [None, "accept", "reject"])
def test_the_same_suggestion_is_never_offered_twice_whatever_became_of_it(api: Api, verb: str | None) -> None:
    (id,) = suggest(api.app, PORT)
    if verb is not None:
        decide(api, id, verb)
    before = listed(api)

    again = {**PORT, "body": "8000  is taken\nby the proxy ", "class": "anchor", "slug": "other", "rationale": "anew"}
    assert suggest(api.app, PORT, again, source="handoff-2", surfaces=("web",)) == []
    assert listed(api) == before


def test_the_same_suggestion_twice_in_one_envelope_is_offered_once(api: Api) -> None:
    assert len(suggest(api.app, PORT, PORT, "use UTC", "use UTC")) == 2


def test_what_says_something_else_is_another_suggestion(api: Api) -> None:
    others = ({**PORT, "body": "8001 is taken by the proxy"}, {**PORT, "description": "another port"})
    assert len(suggest(api.app, PORT, *others)) == 3


def test_the_same_suggestion_of_many_turns_at_once_is_offered_once(app: App) -> None:
    found = at_once(8, lambda number: suggest(app, PORT, "use UTC", source=f"handoff-{number}"))

    assert sum(map(len, found)) == 2


def test_a_type_or_class_that_nobody_knows_is_kept_with_a_warning(api: Api) -> None:
    (id,) = suggest(api.app, {**PORT, "type": "Hunch", "class": "forever"})

    found = one(api, id)
    assert (found["type"], found["class"]) == ("Hunch", "forever")
    assert [warning.split(";")[0] for warning in found["warnings"]] == [
        "type is 'Hunch', which is none of atom, decision, negative",
        "class is 'forever', which is none of anchor, thread, log",
    ]
    assert decide(api, id, "accept")["class"] == "forever"
    with api.app.database.read() as connection:
        assert memories.remembered(connection)[0].class_ == "forever"
    assert decide(api, id, "reopen")["warnings"] == found["warnings"]
    assert decide(api, id, "accept", **{"type": "atom", "class": "log"})["warnings"] == []


def test_hostile_text_is_kept_as_text_and_makes_a_safe_name(api: Api) -> None:
    entry = {"description": HOSTILE, "body": HOSTILE, "slug": "../../etc/passwd\0", "type": HOSTILE, "class": HOSTILE}
    (id,) = suggest(api.app, entry, source=SOURCE, surfaces=(HOSTILE,))

    found = decide(api, id, "accept")
    safe = HOSTILE.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert (found["slug"], found["body"], found["surfaces"]) == ("etc-passwd", safe, [safe])
    assert len(found["type"]) <= 40
    assert listed(api, "class=%27%3B%20drop%20table%20memories") == []
    assert len(listed(api)) == 1


def test_a_body_that_is_too_long_is_cut_where_the_person_sees_it(api: Api) -> None:
    long = "word " * 1_000_000
    (id,) = suggest(api.app, {"description": long, "body": long, "rationale": long, "slug": long, "class": long})

    found = one(api, id)
    assert len(found["body"]) == len(found["rationale"]) == LONGEST_BODY
    assert found["body"].endswith("\n… (cut here: 4,999,999 characters were suggested)")
    assert len(found["description"]) == 500
    assert len(found["slug"]) <= LONGEST_SLUG
    assert f"a prompt takes {MOST_QUOTED:,}" in found["warnings"][-1]


def test_two_long_bodies_that_differ_behind_the_cut_are_two_suggestions(api: Api) -> None:
    bodies = ("x" * LONGEST_BODY + "a", "x" * LONGEST_BODY + "b")
    assert len(suggest(api.app, *({**PORT, "body": body} for body in bodies))) == 2


def test_an_envelope_offers_no_more_than_a_person_can_decide(api: Api) -> None:
    assert len(suggest(api.app, *(f"number {number}" for number in range(5_000)))) == MOST_SUGGESTIONS


# ---- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "slug"),
    [
        ("Don't use port 8000!", "dont-use-port-8000"),
        ("Größe über alles", "grosse-uber-alles"),
        ("a" * 100, "a" * 40),
        ("word " * 40, "word-" * 7 + "word"),
        ("..", None),
        ("日本語", None),
    ],
)
def test_a_name_is_made_of_the_description(api: Api, description: str, slug: str | None) -> None:
    (id,) = suggest(api.app, {"description": description, "body": "b"})
    (same,) = suggest(api.app, {"description": description, "body": "c"})

    found = one(api, id)["slug"]
    if slug is not None:
        assert found == one(api, same)["slug"] == slug
    else:
        assert found.startswith("memory-")
        assert found != one(api, same)["slug"]


def test_a_name_in_use_gets_a_number_and_one_that_is_free_again_does_not(api: Api) -> None:
    first, second, third = suggest(api.app, *({**PORT, "body": f"body {number}"} for number in range(3)))

    assert [decide(api, id, "accept")["slug"] for id in (first, second)] == ["the-proxys-port", "the-proxys-port-2"]
    decide(api, first, "reopen")
    assert decide(api, third, "accept")["slug"] == "the-proxys-port"
    assert decide(api, first, "accept")["slug"] == "the-proxys-port-3"


def test_a_long_name_in_use_stays_within_its_length(api: Api) -> None:
    ids = suggest(api.app, *({**PORT, "slug": "a" * 90, "body": f"body {number}"} for number in range(12)))

    slugs = [decide(api, id, "accept")["slug"] for id in ids]
    assert len(set(slugs)) == 12
    assert max(map(len, slugs)) == LONGEST_SLUG


def test_a_name_that_the_operator_chose_is_taken_or_refused_never_changed(api: Api) -> None:
    first, second = suggest(api.app, PORT, "use UTC")
    assert decide(api, first, "accept", slug="port")["slug"] == "port"

    refused = attempt(api, second, "accept", slug="port")
    assert (refused.status, refused.json["code"], refused.json["pointer"]) == (409, "slug_taken", "/slug")
    assert refused.json["memory"]["id"] == first
    assert one(api, second)["state"] == "suggested"


def test_twenty_accepted_at_once_with_one_name_get_twenty_names(api: Api) -> None:
    ids = suggest(api.app, *({**PORT, "body": f"body {number}"} for number in range(20)))

    slugs = at_once(20, lambda number: decide(api, ids[number], "accept")["slug"])
    assert len(set(slugs)) == 20


# ---- deciding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_decision_is_recorded_with_who_and_when(api: Api, logs: Logs, verb: str) -> None:
    (id,) = suggest(api.app, PORT)

    found = decide(api, id, verb)

    assert (found["state"], found["decided_by"]) == (ENDS[verb], "operator")
    assert found["decided_at"] >= found["created_at"]
    assert found["decision_reason"] == DECISIONS[verb].get("reason", "")
    assert one(api, id) == found
    assert kept(api.app) == (["the-proxys-port"] if verb == "accept" else [])
    (told,) = logs.told(f"memory.{ENDS[verb]}")
    assert (told.ref, msgspec.json.decode(told.payload)["by"]) == (id, "operator")
    with api.app.database.read() as connection:
        (entry,) = audit.entries(connection)
    assert (entry.kind, entry.ref, entry.actor) == (f"memory.{ENDS[verb]}", id, "operator")


def test_what_is_edited_is_remembered_as_edited_and_the_record_has_what_was_suggested(api: Api) -> None:
    (id,) = suggest(api.app, {**PORT, "class": "log"}, surfaces=("api",))
    edits = {
        "slug": "proxy",
        "type": "decision",
        "class": "anchor",
        "body": " 8000: proxy\n",
        "surfaces": ["web", "ops"],
    }

    found = decide(api, id, "accept", **edits)

    assert {name: found[name] for name in edits} == {**edits, "body": "8000: proxy"}
    with api.app.database.read() as connection:
        (memory,) = memories.remembered(connection)
        (entry,) = audit.entries(connection)
    assert (memory.slug, memory.body, memory.type, memory.class_, memory.source, memory.surfaces) == (
        "proxy",
        "8000: proxy",
        "decision",
        "anchor",
        SOURCE,
        ("web", "ops"),
    )
    assert msgspec.json.decode(entry.body)["suggested"] == {
        "slug": "the-proxys-port",
        "type": "atom",
        "class": "log",
        "body": PORT["body"],
        "surfaces": ["api"],
    }


@pytest.mark.parametrize(
    ("edit", "pointer"),
    [
        ({"slug": "Not Safe"}, "/slug"),
        ({"slug": ""}, "/slug"),
        ({"slug": "a" * 65}, "/slug"),
        ({"slug": "../x"}, "/slug"),
        ({"type": "hunch"}, "/type"),
        ({"class": "forever"}, "/class"),
        ({"body": " \n"}, "/body"),
        ({"body": "x" * (LONGEST_BODY + 1)}, "/body"),
        ({"surfaces": [""]}, "/surfaces/0"),
        ({"surfaces": "api"}, "/surfaces"),
        ({"description": "another"}, "/description"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_and_nothing_changes(api: Api, edit: dict[str, Any], pointer: str) -> None:
    (id,) = suggest(api.app, PORT)
    before = one(api, id)

    refused = attempt(api, id, "accept", **edit)

    assert (refused.status, refused.json["pointer"]) == (422, pointer)
    assert one(api, id) == before
    with api.app.database.read() as connection:
        assert audit.count(connection) == 0


@pytest.mark.parametrize("state", MemoryState)
@pytest.mark.parametrize("verb", DECISIONS)
def test_every_state_and_decision(api: Api, state: MemoryState, verb: str) -> None:
    (id,) = suggest(api.app, PORT)
    for name, end in ENDS.items():
        if end == state:
            decide(api, id, name)

    found = attempt(api, id, verb)

    if MEMORY.allows(state, ENDS[verb]):
        assert (found.status, found.json["state"]) == (200, MEMORY.table[state, ENDS[verb]])
    else:
        assert (found.status, found.json["code"]) == (409, "illegal_move")
        assert found.json["allowed"] == MEMORY.events_from(state)
        assert one(api, id)["state"] == state


def test_of_operators_who_decide_at_once_one_wins(api: Api, logs: Logs) -> None:
    (id,) = suggest(api.app, PORT)

    found = at_once(20, lambda number: attempt(api, id, "accept" if number % 2 else "reject"))

    assert sorted(answer.status for answer in found) == [200] + [409] * 19
    (winner,) = (answer.json["state"] for answer in found if answer.status == 200)
    assert one(api, id)["state"] == winner
    assert len(logs.told("memory.accepted", "memory.rejected")) == 1
    with api.app.database.read() as connection:
        assert audit.count(connection) == 1


def test_a_decision_that_is_taken_back_waits_again_as_it_was_edited(api: Api, logs: Logs) -> None:
    (id,) = suggest(api.app, PORT)
    decide(api, id, "accept", slug="port", body="8000: proxy")

    found = decide(api, id, "reopen")

    assert (found["state"], found["slug"], found["body"]) == ("suggested", "port", "8000: proxy")
    assert (found["decided_at"], found["decided_by"], found["decision_reason"]) == (None, None, None)
    assert kept(api.app) == []
    assert suggest(api.app, PORT) == []
    assert len(logs.told("memory.reopened")) == 1


def test_an_id_that_names_nothing_is_not_found(api: Api) -> None:
    assert api.request("GET", "/api/memories/nothing").status == 404
    assert {attempt(api, "nothing", verb).status for verb in DECISIONS} == {404}


# ---- reading --------------------------------------------------------------------------------------------------------


def test_what_is_remembered_reaches_envelopes_by_class_and_surface(api: Api) -> None:
    entries = ({"description": name, "body": name, "class": name} for name in ("anchor", "thread", "log"))
    for id in suggest(api.app, *entries, surfaces=("api",)):
        decide(api, id, "accept")
    with api.app.database.read() as connection:
        known = memories.remembered(connection)

    assert [memory.slug for memory in memory_for(["api"], known)] == ["anchor", "thread"]
    assert [memory.slug for memory in memory_for(["web"], known)] == ["anchor"]
    assert [memory.slug for memory in memory_for(["web"], known, with_logs=True)] == ["anchor", "log"]


def test_a_list_is_chosen_by_state_and_class_and_read_page_by_page(api: Api) -> None:
    ids = suggest(
        api.app, *({**PORT, "body": f"b{number}", "class": ("log", "anchor")[number % 2]} for number in range(9))
    )
    for id in ids[:3]:
        decide(api, id, "reject")

    assert {found["id"] for found in listed(api, "state=rejected,accepted")} == set(ids[:3])
    assert {found["id"] for found in listed(api, "class=anchor&state=suggested")} == {ids[3], ids[5], ids[7]}
    pages = pages_of(api, 4)
    assert [page["total"] for page in pages] == [9, 9, 9]
    assert [found["id"] for page in pages for found in page["memories"]] == sorted(ids, reverse=True)


def pages_of(api: Api, limit: int) -> list[dict[str, Any]]:
    pages = [api.get(f"/api/memories?limit={limit}")]
    while pages[-1]["next_cursor"] is not None:
        pages.append(api.get(f"/api/memories?limit={limit}&cursor={pages[-1]['next_cursor']}"))
    return pages


@pytest.mark.parametrize("query", ["state=waiting", "limit=0", "cursor=x", "klass=log"])
def test_a_query_that_does_not_fit_is_refused(api: Api, query: str) -> None:
    assert api.request("GET", f"/api/memories?{query}").status == 422


def test_ten_thousand_suggestions_are_listed_by_an_index(api: Api) -> None:
    for start in range(0, 10_000, MOST_SUGGESTIONS):
        suggest(api.app, *(f"number {number}" for number in range(start, start + MOST_SUGGESTIONS)))
    asked: list[tuple[str, Any]] = []
    keep = lambda _c, _cursor, statement, parameters, *_: asked.append((statement, parameters))  # noqa: E731
    event.listen(api.app.database.engine, "before_cursor_execute", keep)
    first = api.get("/api/memories?state=suggested&limit=200")
    assert len(listed(api, f"state=suggested&limit=200&cursor={first['next_cursor']}")) == 200
    assert len(listed(api, "class=thread&limit=10")) == len(listed(api, "limit=10")) == 10
    event.remove(api.app.database.engine, "before_cursor_execute", keep)

    assert first["total"] == 10_000
    pages = [query for query in asked if "ORDER BY memories.created_at" in query[0]]
    assert len(pages) == 4
    with api.app.database.transaction() as tx:
        tx.connection.exec_driver_sql("analyze memories")
        for statement, parameters in pages:
            plan = plan_of(tx.connection, statement, parameters)
            assert "memories_by_" in plan, plan
            assert "sort" not in plan.lower(), plan
            assert "temp b-tree" not in plan.lower(), plan


def plan_of(connection: Connection, statement: str, parameters: Any) -> str:
    explain = "explain query plan" if connection.dialect.name == "sqlite" else "explain"
    return "\n".join(str(row) for row in connection.exec_driver_sql(f"{explain} {statement}", parameters))
