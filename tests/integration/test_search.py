"""Search over what is settled: the same words find the same on both databases, and any input is words."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemba.errors import Invalid
from gemba.escalations import search
from gemba.store.database import Database
from gemba.store.migrate import open_database
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator, suffix

SETTLED = {
    "port": ("Which port should the server use?", "Use port 8080, not 80."),
    "path": ("Should I delete src/app/user_id.py?", "No, keep it."),
    "accent": ("Soll die Straße nach São Paulo führen?", "Café, bitte."),
    "japanese": ("データベースはどれを使いますか?", "ポストグレスを使ってください。"),
    "russian": ("Нужно ли удалить файл?", "Да"),
    "quotes": ('Is "title" -- OR 1=1 * a column?', "It's one; DROP TABLE users"),
    "long": ("word " * 19_000 + "haystack", "the needle"),
    "emoji": ("👍", "👎"),
}
# What is sought → what is found.
SOUGHT = {
    "port": ["port"],
    "PORT server": ["port"],
    "serv": ["port"],
    "serv port": [],
    "port serv": ["port"],
    "8080": ["port"],
    "80": ["port"],
    "keep": ["path"],
    "src/app": ["path"],
    "user_id": ["path"],
    "id user": ["path"],
    "id_user": [],
    "user id": ["path"],
    '"app user"': ["path"],
    '"user app"': [],
    '"user app': ["path"],
    "strasse": ["accent"],
    "STRASSE sao cafe": ["accent"],
    "São": ["accent"],
    "どれ": ["japanese"],
    "データ 使": ["japanese"],
    "れど": [],
    "удал": ["russian"],
    "ФАЙЛ нужно": ["russian"],
    "drop table": ["quotes"],
    "title OR 1": ["quotes"],
    "a NOT column": [],
    "NEAR(title column)": [],
    "1=1 --": ["quotes"],
    "tit*": ["quotes"],
    "it's": ["quotes"],
    "needle": ["long"],
    "word": ["long"],
    "x": [],
    "keep should": ["path"],
    '"it should"': [],
    "nothing": [],
}


@pytest.fixture
def ids(api: Api) -> dict[str, str]:
    """A settled escalation of each kind, and one that waits."""
    found: dict[str, str] = {}
    for name, (question, reply) in SETTLED.items():
        found[api.ask(question, title="Title" if name == "quotes" else None)] = name
        api.post(f"/api/escalations/{list(found)[-1]}/respond", {"text": reply})
    api.ask("Which port waits?")
    return found


def find(api: Api, words: str, **query: str) -> list[str]:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    page = api.get(f"/api/escalations?q={quote(words)}{more}")
    assert page["total"] == len(page["escalations"])
    return [row["id"] for row in page["escalations"]]


def test_words_of_title_question_and_reply_are_found_alike_on_both_databases(api: Api, ids: dict[str, str]) -> None:
    for words, names in SOUGHT.items():
        assert [ids[id] for id in find(api, words)] == names, words


def test_search_goes_with_the_other_filters(api: Api, ids: dict[str, str]) -> None:
    assert len(find(api, "port", state="resolved")) == 1
    assert find(api, "port", state="unresolved") == []
    assert find(api, "port", session="nobody") == []
    assert find(api, "port", order="recent") == find(api, "port")


@pytest.mark.parametrize("words", ["", "  ", "*", '""', '"', "-- ; '", "👍", "()", "_"])
def test_what_has_no_word_is_refused(api: Api, words: str) -> None:
    answer = api.request("GET", f"/api/escalations?q={quote(words)}")

    assert (answer.status, answer.json["code"], answer.json["pointer"]) == (422, "invalid_value", "/q")


def test_a_search_longer_than_anybody_types_is_refused(api: Api) -> None:
    answer = api.request("GET", f"/api/escalations?q={'a' * 501}")

    assert (answer.status, answer.json["code"]) == (422, "too_long")


def test_what_waits_again_is_not_found_and_what_is_answered_anew_is_found_by_that(api: Api) -> None:
    id = api.ask("Which colour?", "s-1")
    api.take("UserPromptSubmit", {"prompt": "crimson"}, "s-1")
    assert find(api, "crimson") == [id]

    api.post(f"/api/escalations/{id}/reopen", {})
    assert find(api, "crimson") == find(api, "colour") == []

    api.post(f"/api/escalations/{id}/respond", {"text": "azure"})
    assert find(api, "azure") == find(api, "colour") == [id]
    assert find(api, "crimson") == []


def test_declined_ones_are_found_by_the_reason(api: Api) -> None:
    id = api.ask("Which colour?")
    api.post(f"/api/escalations/{id}/dismiss", {"text": "that is a matter of taste"})

    assert find(api, "taste") == [id]


@pytest.fixture
def databases(sqlite_url: str, postgresql_url: str) -> Iterator[list[Database]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(contextlib.closing(open_database(url))) for url in (sqlite_url, postgresql_url)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(words=st.text(max_size=40) | st.text(alphabet="ab\"'*-():^&|!<>\\ ", max_size=20))
def test_no_input_is_taken_for_syntax(databases: list[Database], words: str) -> None:
    """Every search is answered, or refused because it has no word."""
    for database in databases:
        try:
            with database.read() as connection:
                assert connection.execute(search.matching(connection, words)).all() == []
        except Invalid:
            assert search.words_of(words) == []


def test_the_index_is_used(api: Api) -> None:
    with api.app.database.read() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        if not is_sqlite:
            connection.exec_driver_sql("set local enable_seqscan = off")  # the table is too small to want one
        sought: Any = search.matching(connection, "port").compile(connection)
        given: Any = tuple(sought.params.values()) if is_sqlite else sought.params
        explain = "explain query plan" if is_sqlite else "explain"
        plan = " ".join(str(row) for row in connection.exec_driver_sql(f"{explain} {sought}", given))

    assert ("VIRTUAL TABLE INDEX" if is_sqlite else "escalation_search_words") in plan


def test_settled_ones_are_searched_at_the_terminal(operator: Operator) -> None:
    id = operator.ask(text="Which colour?")
    operator.ok("answer", id, "azure")
    operator.ask(text="Which colour waits?")

    found = operator.ok("inbox", "--search", "colour azu")
    assert suffix(id) in found
    assert found.endswith("1 found.\n")
    assert [row["id"] for row in json.loads(operator.ok("inbox", "--search", "colour", "--json"))["escalations"]] == [
        id
    ]
    assert operator.ok("inbox", "--search", "crimson") == "Nothing that is settled has these words.\n"
    assert "there is no word in it" in operator.refused("inbox", "--search", "?!")
    assert "--search goes with" in operator.refused("inbox", "--search", "a", "--watch", code=2)
