"""The board over the API, on both databases: columns in their order, in pages, filtered, and what each card says."""

from typing import Any

import pytest
import time_machine

from gemba.errors import Conflict
from gemba.work.item import MOVES, State, check_move
from tests.fixtures.api import Api
from tests.integration.test_work_items import HOSTILE, change, make, relate


def board(api: Api, query: str = "") -> dict[str, Any]:
    answer: dict[str, Any] = api.get(f"/api/board{query and '?' + query}")
    return answer


def ids(answer: dict[str, Any], state: str) -> list[str]:
    return [card["id"] for card in column(answer, state)["cards"]]


def column(answer: dict[str, Any], state: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in answer["columns"] if each["state"] == state)
    return found


def card(answer: dict[str, Any], id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for one in answer["columns"] for each in one["cards"] if each["id"] == id)
    return found


def test_every_state_has_its_column_also_the_empty_ones(api: Api) -> None:
    a = make(api, "A")["id"]
    change(api, a, state="in_progress")
    make(api, "B")

    answer = board(api)

    assert [each["state"] for each in answer["columns"]] == [str(state) for state in State]
    assert {each["state"]: each["total"] for each in answer["columns"] if each["total"]} == {
        "in_progress": 1,
        "unstarted": 1,
    }
    assert ids(answer, "in_progress") == [a]


def test_open_columns_stand_as_they_should_be_done_and_closed_ones_by_their_last_change(api: Api) -> None:
    with time_machine.travel("2026-01-01T00:00:00Z") as now:
        low, first = make(api, "low", priority=4)["id"], make(api, "first")["id"]
        now.shift(60)
        second, urgent = make(api, "second")["id"], make(api, "urgent", priority=0)["id"]
        ordered = make(api, "ordered", priority=4, user_order=3)["id"]
        closed = [make(api, f"closed {number}", priority=number)["id"] for number in range(3)]
        for id in (closed[1], closed[2], closed[0]):
            now.shift(60)
            change(api, id, state="done")

        answer = board(api)

    assert ids(answer, "unstarted") == [ordered, urgent, first, second, low]
    assert ids(answer, "done") == [closed[0], closed[2], closed[1]]


@pytest.mark.parametrize("state", ["unstarted", "done"])
def test_a_column_is_read_in_pages_that_lose_and_double_nothing(api: Api, state: str) -> None:
    made = [make(api, f"Item {number}", priority=number % 3)["id"] for number in range(7)]
    if state == "done":
        for id in made:
            change(api, id, state="done")
    whole = ids(board(api), state)

    answer, found = board(api, "limit=3"), []
    while True:
        page = column(answer, state)
        found += [each["id"] for each in page["cards"]]
        assert page["total"] == 7
        if page["next_cursor"] is None:
            break
        answer = board(api, f"limit=3&state={state}&cursor={page['next_cursor']}")

    assert found == whole
    assert sorted(found) == sorted(made)


def test_a_blocked_card_says_by_what_and_one_below_it_which_of_its_wholes_is(api: Api) -> None:
    epic, blocker = make(api, "Epic", kind="epic")["id"], make(api, "Blocker")["id"]
    part = make(api, "Part", parent=epic)["id"]
    deep = make(api, "Deep", parent=part)["id"]
    other = make(api, "Other")["id"]
    for target in (epic, other):
        assert relate(api, blocker, "blocks", target).status == 200

    answer = board(api)

    assert card(answer, epic)["blocked_by"] == [blocker]
    assert card(answer, other)["blocked_by"] == [blocker]
    assert card(answer, part) | {"blocked_by": [], "held_by": [epic], "ready": False} == card(answer, part)
    assert card(answer, deep)["held_by"] == [epic]
    assert card(answer, blocker)["ready"] is True
    assert answer["names"] == {epic: "Epic", blocker: "Blocker", part: "Part"}

    change(api, blocker, state="done")
    answer = board(api)
    assert [card(answer, id)["blocked_by"] + card(answer, id)["held_by"] for id in (epic, part, deep, other)] == [
        []
    ] * 4


def test_the_filters_choose_among_all_columns_and_count_what_they_chose(api: Api) -> None:
    epic = make(api, "Search", kind="epic")["id"]
    index = make(api, "Build the index", parent=epic, labels=["area:search"], assignee="ann")["id"]
    answers = make(api, "Answer queries", parent=epic, kind="feature")["id"]
    assert relate(api, index, "blocks", answers).status == 200
    bug = make(api, "100% wrong", kind="bug", labels=["x"])["id"]
    api.post(f"/api/work-items/{bug}/claim", {"owner": "ses-1"})

    def found(query: str) -> set[str]:
        answer = board(api, query)
        shown = {each["id"] for one in answer["columns"] for each in one["cards"]}
        assert sum(one["total"] for one in answer["columns"]) == len(shown)
        return shown

    assert found("kind=bug,feature") == {bug, answers}
    assert found("label=area:search") == {index}
    assert found("label=area") == set()
    assert found(f"parent={epic}") == {index, answers}
    assert found("assignee=ann") == {index}
    assert found("text=QUERIES") == {answers}
    assert found("text=100%25") == {bug}
    assert found("ready=true") == {epic, index}
    assert found("blocked=true") == {answers}
    assert found(f"ready=true&parent={epic}") == {index}


def test_only_what_is_asked_for_is_read_and_what_no_longer_fits_is_not_among_it(api: Api) -> None:
    a, b, c = (make(api, title)["id"] for title in ("One", "Two", "Xylophone"))
    change(api, b, state="staged")

    answer = board(api, f"ids={a},{b},gone&limit=1")
    assert (ids(answer, "unstarted"), ids(answer, "staged")) == ([a], [b])
    assert column(answer, "unstarted")["total"] == 2

    assert ids(board(api, f"ids={a},{c}&text=xylo"), "unstarted") == [c]
    only = board(api, "state=staged")
    assert (ids(only, "unstarted"), column(only, "unstarted")["total"], ids(only, "staged")) == ([], 2, [b])


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("state=nowhere", "/state"),
        ("kind=whim", "/kind"),
        ("cursor=WzEsMiwzLCJhIl0=", "/state"),
        ("state=staged,done&cursor=WzEsMiwzLCJhIl0=", "/state"),
        ("state=done&cursor=WzEsMiwzLCJhIl0=", "/cursor"),
        ("state=staged&cursor=WzEsImEiXQ==", "/cursor"),
        ("state=staged&cursor=nothing", "/cursor"),
        ("ids=" + ",".join(f"id-{number}" for number in range(201)), "/ids"),
        ("limit=501", "/limit"),
        ("text=a%00b", "/text"),
        ("ids=a%00b", "/ids"),
    ],
)
def test_a_query_that_does_not_fit_is_refused_with_its_place(api: Api, query: str, pointer: str) -> None:
    refused = api.request("GET", f"/api/board?{query}")
    assert (refused.status, refused.json["pointer"]) == (422, pointer), refused


def test_hostile_words_are_words(api: Api) -> None:
    made = make(api, HOSTILE, labels=["'; --"], assignee=HOSTILE[:100])
    answer = board(api)
    assert card(answer, made["id"])["title"] == made["title"]
    assert ids(board(api, "label=';%20--"), "unstarted") == [made["id"]]
    assert ids(board(api, "text=drop%20table"), "unstarted") == [made["id"]]


def test_the_moves_are_those_that_a_change_may_make(api: Api) -> None:
    moves = api.get("/api/board/moves")["moves"]
    for source in State:
        for target in State:
            allowed = str(target) in moves[source]
            assert allowed == (target in MOVES[source])
            if source is target:
                continue
            try:
                check_move(source, target)
            except Conflict:
                assert not allowed
            else:
                assert allowed


def test_only_the_change_that_is_meant_is_undone(api: Api) -> None:
    a, b = make(api, "A")["id"], make(api, "B")["id"]
    moved = change(api, a, state="review")
    assert relate(api, a, "blocks", b).status == 200

    refused = api.request("POST", f"/api/work-items/{a}/undo", {"number": moved["changes"]})

    assert (refused.status, refused.json["code"]) == (409, "changed_since")
    assert refused.json["item"]["state"] == "review"
    assert len(api.get(f"/api/work-items/{a}")["relations"]) == 1
    assert api.post(f"/api/work-items/{a}/undo", {})["relations"] == []
    again = api.post(f"/api/work-items/{a}/undo", {"number": moved["changes"]})
    assert again["state"] == "unstarted"
