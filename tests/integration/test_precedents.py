"""Like asks are grouped as they come, and what was answered to one is offered to the next, on both databases."""

import itertools
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from sqlalchemy import event, func, select

from gemba.app import App
from gemba.escalations import inbox, likeness, precedents
from gemba.escalations.store import escalations
from tests.fixtures.api import Api
from tests.fixtures.logs import Logs


def one(api: Api, id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/escalations/{id}")
    return found


def groups(api: Api) -> list[set[str]]:
    """The ids of each group, the oldest first."""
    found: dict[str, set[str]] = {}
    for row in api.get("/api/escalations?limit=500")["escalations"]:
        found.setdefault(row["group_id"], set()).add(row["id"])
    return list(found.values())


def answer(api: Api, id: str, **body: Any) -> None:
    api.post(f"/api/escalations/{id}/respond", body)


# ---- groups --------------------------------------------------------------------------------------------------------


def test_like_asks_of_several_sessions_are_one_group_named_by_the_first(api: Api) -> None:
    first = api.ask("Which database should I use for orders?", "s-1")
    second = api.ask("For orders, what database should we use?", "s-2")
    other = api.ask("Which cache should I use for orders?", "s-2")

    assert groups(api) == [{first, second}, {other}]
    assert (one(api, second)["group_id"], one(api, second)["group_size"]) == (first, 2)
    assert [row["id"] for row in api.get(f"/api/escalations?group={first}")["escalations"]] == [first, second]
    assert api.get("/api/escalations?group=nobody")["escalations"] == []


def test_asks_that_come_in_one_batch_are_grouped_like_those_that_come_apart(logs: Logs) -> None:
    texts = ["Should I delete src/a.py?", "Should I delete src/b.py?", "May I remove src/a.py?", "Which port?"]
    logs.take(*(logs.ask(text) for text in texts))

    query = select(escalations.c.group_id, func.count()).group_by(escalations.c.group_id)
    with logs.app.database.read() as connection:
        assert sorted(size for _, size in connection.execute(query)) == [1, 1, 2]


def test_kind_options_and_what_is_not_an_ask_keep_apart(api: Api) -> None:
    api.ask("Which one?", options=["a", "b"])
    api.ask("Which one?", options=["a", "c"])
    api.ask("Which one?", kind="blocker")
    api.permission("s-1")
    api.permission("s-2")

    assert [len(group) for group in groups(api)] == [1, 1, 1, 1, 1]


def test_a_group_takes_new_asks_as_long_as_somebody_in_it_waits(api: Api) -> None:
    first, second = api.ask(session="s-1"), api.ask(session="s-2")
    answer(api, first, text="8080")
    third = api.ask(session="s-3")
    assert one(api, third)["group_id"] == first
    assert one(api, third)["group_size"] == 2

    for id in (second, third):
        answer(api, id, text="8080")
    fourth = api.ask(session="s-4")
    assert (one(api, fourth)["group_id"], one(api, fourth)["group_size"]) == (fourth, 1)


def test_an_ask_that_joins_while_the_first_is_answered_waits_in_its_group(api: Api) -> None:
    first = api.ask(session="s-1")
    row = {"channel": "tool_call", "kind": "question", "title": None, "text": "Which port?", "options": "[]"}
    joining: list[dict[str, Any]] = [{**row, "id": "joins", "opened_at": 1}]
    answering = threading.Thread(target=lambda: answer(api, first, text="8080"))
    with api.app.database.transaction() as tx:
        precedents.assign(tx, joining)
        answering.start()
        if not api.app.database.is_sqlite:  # which answers when we are done
            answering.join()
    answering.join()

    assert joining[0]["group_id"] == first
    assert one(api, first)["state"] == "resolved"
    assert one(api, api.ask(session="s-2"))["precedent"]["escalation_id"] == first


def test_an_id_that_comes_again_with_another_text_takes_nobody_with_it(api: Api) -> None:
    row = {"channel": "tool_call", "kind": "question", "title": None, "options": "[]", "id": "same", "opened_at": 1}
    for text in ("Should I delete the production database?", "Should I delete the production databases of old?") * 2:
        with api.app.database.transaction() as tx:
            precedents.assign(tx, [{**row, "text": text}])

    with api.app.database.read() as connection:
        assert set(connection.execute(select(precedents.likes.c.ref)).scalars()) == {"same"}


def test_what_is_read_twice_is_grouped_once(logs: Logs) -> None:
    line = logs.ask("Which port?")
    logs.take(line, log="a.jsonl")
    logs.take(line, log="a.jsonl")
    logs.take(logs.ask("Which port?"))

    with logs.app.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(escalations)).scalar_one() == 2
        assert len(set(connection.execute(select(escalations.c.group_id)).scalars())) == 1


def test_a_question_asked_often_is_stored_once_for_looking_up(logs: Logs) -> None:
    logs.take(*(logs.ask("Which database should I use?") for _ in range(50)))
    logs.take(*(logs.ask("Which database should I use?") for _ in range(50)))

    with logs.app.database.read() as connection:
        assert len(set(connection.execute(select(precedents.likes.c.ref)).scalars())) == 1


def test_a_batch_is_grouped_with_one_look(app: App, logs: Logs) -> None:
    logs.take(logs.ask("Which database should I use?"))
    statements: list[str] = []

    @event.listens_for(app.database.engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "likes" in statement:
            statements.append(statement.split()[0].lower())

    logs.take(*(logs.ask(f"Which database should I use on port {number}?") for number in range(100)))

    assert statements == ["select", "insert"]


def test_two_that_ingest_at_once_lose_no_ask_and_no_group_is_wrong(api: Api) -> None:
    """On PostgreSQL two processes may begin two groups of one question; each ask is in one, with like ones only."""
    texts = [f"Should I delete part {number}?" for number in range(20)]
    at_once = threading.Barrier(2)

    def take(session: str) -> None:
        rows: list[dict[str, Any]] = [
            {
                "id": f"{session}-{number}",
                "channel": "tool_call",
                "kind": "question",
                "title": None,
                "text": text,
                "options": "[]",
                "opened_at": number,
            }
            for number, text in enumerate(texts if session == "a" else reversed(texts))
        ]
        at_once.wait()
        with api.app.database.transaction() as tx:
            precedents.assign(tx, rows)
        assigned[session] = {row["text"]: row["like_key"] for row in rows}

    assigned: dict[str, dict[str, str]] = {}
    threads = [threading.Thread(target=take, args=(session,)) for session in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert assigned["a"] == assigned["b"]
    assert len(set(assigned["a"].values())) == 20


# ---- what an agent cannot make expensive ---------------------------------------------------------------------------


def copies(count: int) -> list[str]:
    """Questions of the same words, no two of which are the same question."""
    places = ("amber", "birch", "cedar", "ebony", "hazel", "larch", "maple")
    orders = itertools.islice(itertools.permutations(places), count)
    return ["Copy from {} to {} before {} after {} with {} into {} over {}?".format(*order) for order in orders]


def services(count: int) -> list[str]:
    """Questions that differ in one long word with the same beginning, which is no typing error."""
    letters = itertools.islice(itertools.product("abcdefgh", repeat=4), count)
    return [f"May I restart service{''.join(letter * 2 for letter in one)}?" for one in letters]


def ask_rows(texts: Iterable[str], prefix: str = "ask") -> list[dict[str, Any]]:
    row = {"channel": "tool_call", "kind": "question", "title": None, "options": "[]"}
    return [
        {**row, "id": f"{prefix}-{number:05}", "text": text, "opened_at": number} for number, text in enumerate(texts)
    ]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often texts are read and compared."""
    done: Counter[str] = Counter()
    is_like, read = likeness.is_like, likeness.form

    def counted_like(a: likeness.Form, b: likeness.Form) -> bool:
        done["compared"] += 1
        done["words"] += len(a.words) + len(b.words)
        return is_like(a, b)

    def counted_form(*said: Any) -> likeness.Form:
        done["read"] += 1
        return read(*said)

    monkeypatch.setattr(precedents, "is_like", counted_like)
    monkeypatch.setattr(likeness, "form", counted_form)
    return done


@pytest.mark.parametrize("texts", [copies, services])
def test_grouping_a_batch_takes_work_in_proportion_whatever_its_words(texts: Any, app: App, work: Counter[str]) -> None:
    taken: dict[int, Counter[str]] = {}
    for count in (500, 1_000):
        work.clear()
        rows = ask_rows(texts(count), f"of-{count}")
        with app.database.transaction() as tx:
            precedents.assign(tx, rows)
        taken[count] = work.copy()
        assert len({row["group_id"] for row in rows}) == count

    assert 500 <= taken[500]["compared"] <= 500 * 50
    assert taken[1_000]["compared"] <= 3 * taken[500]["compared"]
    assert taken[1_000]["words"] <= 3 * taken[500]["words"]
    assert taken[1_000]["read"] <= 3 * taken[500]["read"]


def test_a_long_text_is_compared_with_fewer(app: App, work: Counter[str]) -> None:
    texts = [f"{text} {'Look at every line of the file. ' * 60}" for text in copies(200)]
    with app.database.transaction() as tx:
        precedents.assign(tx, ask_rows(texts))

    assert 199 <= work["compared"] < 200 * 10
    assert work["words"] < 200 * 2_000


def test_what_waits_already_is_looked_up_in_part_however_much_it_is(logs: Logs, work: Counter[str]) -> None:
    texts = copies(601)
    taken = []
    for start, end in ((0, 200), (200, 600)):
        logs.take(*(logs.ask(text) for text in texts[start:end]))
        work.clear()
        with logs.app.database.transaction() as tx:
            precedents.assign(tx, ask_rows(texts[600:]))
            tx.connection.rollback()
        taken.append(work.copy())

    assert taken[0]["compared"] == taken[1]["compared"] == 50
    assert taken[0]["read"] == taken[1]["read"] == 51


@pytest.mark.parametrize("apart", [False, True])
def test_the_same_words_are_one_group_among_however_many(apart: bool, logs: Logs) -> None:
    texts = copies(150)
    batches = [texts, texts] if apart else [texts * 2]
    for batch in batches:
        logs.take(*(logs.ask(text) for text in batch))

    query = select(escalations.c.group_id, func.count()).group_by(escalations.c.group_id)
    with logs.app.database.read() as connection:
        assert [size for _, size in connection.execute(query)] == [2] * 150
        bands = connection.execute(select(func.count()).select_from(precedents.likes)).scalar_one()
    logs.take(*(logs.ask(text) for text in texts))
    with logs.app.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(precedents.likes)).scalar_one() == bands


def test_precedents_of_a_page_take_work_in_proportion_and_those_of_the_same_words_are_found(
    api: Api, logs: Logs, work: Counter[str]
) -> None:
    texts = copies(200)
    taken: dict[int, Counter[str]] = {}
    for count in (100, 200):
        first = 0 if count == 100 else 100
        logs.take(*(logs.ask(text) for text in texts[first:count]))
        with api.app.database.read() as connection:
            waiting = connection.execute(select(escalations.c.id).where(~escalations.c.resolved)).scalars().all()
        api.post("/api/escalations/respond", {"ids": waiting, "text": "yes"})
        logs.take(*(logs.ask(text) for text in texts[:count]))
        with api.app.database.read() as connection:
            rows = connection.execute(select(escalations).where(~escalations.c.resolved)).all()
            work.clear()
            best = precedents.best_for(connection, rows)
            taken[count] = work.copy()
            said = {row.id: row.text for row in rows}
            assert {id: precedent.text for id, precedent in best.items()} == said
            assert precedents.for_one(connection, rows[0].id)[0].text == rows[0].text
        api.post("/api/escalations/respond", {"ids": [row.id for row in rows], "text": "yes"})

    assert taken[100]["compared"] <= 100 * 51
    assert taken[200]["compared"] <= 3 * taken[100]["compared"]
    assert taken[200]["read"] <= 3 * taken[100]["read"]


# ---- precedents ----------------------------------------------------------------------------------------------------


def test_an_earlier_answer_is_offered_with_its_source_and_why(api: Api) -> None:
    earlier = api.ask("Which database should I use for orders?", "s-1")
    answer(api, earlier, text="PostgreSQL")
    later = api.ask("For orders, what database should we use?", "s-2")

    precedent = one(api, later)["precedent"]
    assert precedent == {
        "escalation_id": earlier,
        "session_id": "s-1",
        "text": "Which database should I use for orders?",
        "answer": {"text": "PostgreSQL", "option": None, "value": None},
        "by": "operator",
        "who": "operator",
        "at": one(api, earlier)["resolution"]["at"],
        "score": 0.95,
        "why": "the same words in another order: orders, what, database",
    }
    assert api.get("/api/escalations?state=open")["escalations"][0]["precedent"] == precedent
    assert api.get(f"/api/escalations/{later}/precedents") == {"precedents": [precedent]}
    assert one(api, later)["state"] == "open"
    assert one(api, earlier)["precedent"] is None


def test_precedents_are_the_newest_three(api: Api) -> None:
    ids = [api.ask(session=f"s-{number}") for number in range(5)]
    for number, id in enumerate(ids):
        answer(api, id, text=f"{number}")
    last = api.ask(session="s-9")

    found = api.get(f"/api/escalations/{last}/precedents")["precedents"]
    assert [row["answer"]["text"] for row in found] == ["4", "3", "2"]
    assert one(api, last)["precedent"]["answer"]["text"] == "4"


def test_what_was_declined_withdrawn_or_answered_to_another_question_is_no_precedent(api: Api) -> None:
    declined, withdrawn = api.ask(session="s-1"), api.ask(session="s-2")
    api.post(f"/api/escalations/{declined}/dismiss", {"text": "no"})
    api.take("SessionEnd", {}, "s-2")
    answer(api, api.ask("Which host?", "s-3"), text="localhost")

    assert one(api, withdrawn)["state"] == "withdrawn"
    assert one(api, api.ask(session="s-4"))["precedent"] is None


def test_an_answer_typed_in_the_pane_is_a_precedent_and_one_that_is_taken_back_is_none(api: Api) -> None:
    typed = api.ask(session="s-1")
    api.take("UserPromptSubmit", {"prompt": "use 8080"}, "s-1")
    later = api.ask(session="s-2")
    precedent = one(api, later)["precedent"]
    assert (precedent["by"], precedent["answer"]["text"]) == ("pane", "use 8080")

    api.post(f"/api/escalations/{typed}/reopen", {})
    assert one(api, later)["precedent"] is None


def test_the_option_of_a_precedent_is_the_one_of_this_ask(api: Api) -> None:
    earlier = api.ask("Which store?", options=["Redis", "memory", "disk"])
    answer(api, earlier, option=1)
    later = api.ask("Which store?", options=["disk", "memory", "redis"])

    assert one(api, later)["precedent"]["answer"] == {"text": "Redis", "option": 3, "value": None}


def test_a_typed_answer_is_offered_as_the_value_it_is(api: Api) -> None:
    schema = {"type": "integer"}
    answer(api, api.ask("How many?", schema=schema), value=3)

    assert one(api, api.ask("How many?", schema=schema))["precedent"]["answer"]["value"] == 3
    assert one(api, api.ask("How many?", schema={"type": "number"}))["precedent"] is None


def test_precedents_of_a_whole_page_take_one_query(api: Api) -> None:
    for number in range(20):
        answer(api, api.ask(f"Which database for part {number}?"), text="this")
        api.ask(f"Which database for part {number}?", f"s-{number}")
    statements: list[str] = []

    @event.listens_for(api.app.database.engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "likes" in statement:
            statements.append(statement)

    with api.app.database.read() as connection:
        page = inbox.list_escalations(connection, inbox.Wanted(inbox.parse_states("unresolved")), 50)

    assert len(page.escalations) == 20
    assert all(item.precedent is not None for item in page.escalations)
    assert len(statements) == 1


def test_precedents_of_nobody_are_not_found(api: Api) -> None:
    assert api.request("GET", "/api/escalations/nobody/precedents").status == 404
