"""Work as others write it down: issues of the bd tracker, sheets, checklists, and the order in which they are taken."""

import json
from typing import Any

import pytest

from gemba.errors import Invalid
from gemba.work.interchange.checklist import read_checklist
from gemba.work.interchange.issue import STATES, WORDS, Link, read_issue
from gemba.work.interchange.lines import Work, read_lines
from gemba.work.interchange.order import in_order, pieces
from gemba.work.interchange.sheet import read_sheet
from gemba.work.item import Relation, State
from gemba.work.joining import decide


def line(id: str, *deps: tuple[str, str], **more: Any) -> str:
    links = [{"issue_id": id, "depends_on_id": other, "type": kind} for kind, other in deps]
    return json.dumps({"id": id, "title": id.upper(), "dependencies": links, **more})


def lines(*text: str) -> Work:
    return read_lines([("issues.jsonl", "\n".join(text))])


def ids(work: Work) -> list[str]:
    return [each.issue.id for each in work.issues]


def parents(work: Work) -> dict[str, str | None]:
    """Title by title."""
    titles = {each.issue.id: each.given["title"] for each in work.issues}
    return {
        each.given["title"]: next((titles[link.depends_on_id] for link in each.issue.links), None)
        for each in work.issues
    }


# ---- issues ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("open", "unstarted"),
        ("in_progress", "in_progress"),
        ("hooked", "in_progress"),
        ("closed", "done"),
        ("tombstone", "cancelled"),
        ("blocked", "deferred"),
        ("pinned", "deferred"),
        ("deferred", "deferred"),
        ("a word of their own", "deferred"),
        (None, "unstarted"),
    ],
)
def test_a_status_is_a_state_and_any_other_word_is_deferred(word: str | None, state: str) -> None:
    assert read_issue({"id": "a", "title": "A", "status": word}).values["state"] == state


@pytest.mark.parametrize("state", State)
def test_every_state_goes_out_as_a_word_that_comes_back_as_it(state: State) -> None:
    given = {"id": "a", "title": "A", "status": WORDS[state], "gemba": {"state": str(state)}}

    assert read_issue(given).values["state"] == state
    # Somebody moved it in the tracker: that word counts.
    moved = next(word for word in STATES if word != WORDS[state])
    assert read_issue({**given, "status": moved}).values["state"] == STATES[moved]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("id", "", "id: '' is not an id"),
        ("id", "../x", "id: '../x' is not an id"),
        ("id", 7, "id is 7; allowed: a text"),
        ("title", "  ", "title has 0 characters"),
        ("title", "x" * 501, "title has 501 characters"),
        ("title", None, "title has 0 characters"),
        ("description", ["x"], "description is ['x']; allowed: a text"),
        ("priority", 5, "priority is 5; allowed: 0 to 4"),
        ("priority", "1", "priority is '1'; allowed: 0 to 4"),
        ("priority", True, "priority is True; allowed: 0 to 4"),
        ("labels", "a,b", "labels is 'a,b'; allowed: a list of texts"),
        ("created_at", "yesterday", "created_at is 'yesterday'; allowed: a moment"),
        ("dependencies", {}, "dependencies is {}; allowed: a list"),
        ("dependencies", [{"type": "blocks"}], "dependencies/0/depends_on_id: '' is not an id"),
        ("dependencies", [{"issue_id": "b", "depends_on_id": "c"}], "dependencies/0/issue_id is 'b'; allowed: a, on"),
        ("gemba", {"state": "gone"}, 'gemba/state is "gone"; allowed: backlog, unstarted'),
    ],
)
def test_a_field_that_cannot_be_read_is_named_with_what_is_allowed(field: str, value: Any, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_issue({"id": "a", "title": "A", field: value})

    assert said in refused.value.message


def test_an_unknown_type_is_a_task_and_a_moment_that_says_never_is_not_said() -> None:
    issue = read_issue({"id": "a", "title": "A", "issue_type": "molecule", "created_at": "0001-01-01T00:00:00Z"})

    assert issue.values["kind"] == "task"
    assert issue.own["created_at"] is None
    assert issue.line == {"issue_type": "molecule", "created_at": "0001-01-01T00:00:00Z"}


def test_a_word_that_is_not_known_is_told_with_what_it_was_taken_as() -> None:
    deps = [
        {"issue_id": "a", "depends_on_id": other, "type": kind} for kind, other in (("waits-for", "b"), ("blocks", "c"))
    ]
    issue = read_issue({"id": "a", "title": "A", "status": "wontfix", "issue_type": "molecule", "dependencies": deps})

    assert [(each.field, each.found, each.taken_as) for each in issue.unknown] == [
        ("status", "wontfix", "deferred"),
        ("issue_type", "molecule", "task"),
        ("dependency type", "waits-for", "no relation"),
    ]


@pytest.mark.parametrize("status", [None, "open", "hooked", "tombstone", "blocked", "pinned", "deferred"])
def test_the_trackers_own_words_are_no_news(status: str | None) -> None:
    assert read_issue({"id": "a", "title": "A", "status": status, "issue_type": None}).unknown == ()


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        ("blocks", ("b", Relation.BLOCKS, "a")),
        ("parent-child", ("b", Relation.PARENT_CHILD, "a")),
        ("related", ("a", Relation.RELATES_TO, "b")),
        ("discovered-from", ("a", Relation.DISCOVERED_FROM, "b")),
        ("duplicates", ("a", Relation.DUPLICATES, "b")),
        ("supersedes", ("a", Relation.SUPERSEDES, "b")),
        ("waits-for", None),
    ],
)
def test_a_dependency_is_a_sentence_in_the_right_direction(kind: str, ends: Any) -> None:
    assert Link("a", kind, "b").ends == ends


# ---- lines -----------------------------------------------------------------------------------------------------------


def test_a_broken_line_is_named_by_its_number_and_stops_no_other() -> None:
    work = lines(line("a"), "{not json", "", "[1]", "<<<<<<< HEAD", line("b", priority=9), line("c"))

    assert ids(work) == ["a", "c"]
    assert [(bad.line, bad.reason[:36]) for bad in work.bad] == [
        (2, "it is not JSON: JSON is malformed: o"),
        (4, "it is not a JSON object"),
        (5, "it is the mark of a merge conflict"),
        (6, "priority is 9; allowed: 0 to 4"),
    ]


def test_an_id_that_stands_twice_counts_once_and_other_words_for_it_are_bad() -> None:
    work = lines(line("a"), line("b"), line("a"), line("b", priority=0))

    assert ids(work) == ["a", "b"]
    assert [(bad.line, bad.reason) for bad in work.bad] == [(4, "b stands on line 2 already, with other words")]


def test_dependencies_may_stand_in_a_file_of_their_own() -> None:
    dep = {"issue_id": "b", "depends_on_id": "a", "type": "blocks", "created_by": "ann"}
    work = read_lines([("issues.jsonl", line("a") + "\n" + line("b")), ("deps.jsonl", json.dumps(dep) + "\n{}\n")])

    assert work.apart == {"b": [dep]}
    assert [(bad.file, bad.line) for bad in work.bad] == [("deps.jsonl", 2)]


def test_bytes_that_are_no_utf8_make_their_line_bad_and_no_other() -> None:
    text = (line("a").encode() + b'\n{"id":"b","title":"\xff"}\n' + line("c").encode()).decode(errors="surrogateescape")

    assert (ids(read_lines([("x", text)])), [bad.line for bad in read_lines([("x", text)]).bad]) == (["a", "c"], [2])


def test_what_is_too_large_or_too_deep_to_keep_is_bad() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = [deep]

    work = lines(line("a", notes="x" * 200_001), line("b", x=deep), line("c", description="d" * 200_001), line("d"))

    assert ids(work) == ["d"]
    assert len(work.bad) == 3


# ---- order -----------------------------------------------------------------------------------------------------------


def test_what_others_depend_on_comes_first_and_circles_keep_the_order_of_the_file() -> None:
    work = lines(
        line("c", ("blocks", "b")), line("b", ("parent-child", "a")), line("x", ("blocks", "y")),
        line("a", ("related", "c")), line("y", ("blocks", "x")), line("z", ("blocks", "gone"), ("waits-for", "x")),
    )  # fmt: skip

    assert [each.issue.id for each in in_order(work.issues)] == ["a", "b", "c", "z", "x", "y"]


def test_a_checklist_is_brought_as_it_stands_however_deep_its_entries_are() -> None:
    text = "# Roadmap\n## Q1\n- [ ] one\n  - [ ] part\n- [ ] two\n## Q2\n- [ ] three\n"
    work = read_checklist("ROADMAP.md", text, "x")

    cut = list(pieces(work, 3, 10_000))

    titles = [each.issue.values["title"] for piece in cut for each in piece.issues]
    assert titles == ["Roadmap", "Q1", "one", "part", "two", "Q2", "three"]
    assert [place for piece in cut for place in piece.places] == list(range(7))


def test_pieces_have_all_in_order_and_none_is_larger_than_allowed_unless_it_is_one() -> None:
    work = lines(*(line(f"n{n}", description="x" * (10 if n else 900)) for n in range(20)))
    work.apart["elsewhere"] = [{"issue_id": "elsewhere", "depends_on_id": "n1", "type": "blocks"}]

    cut = list(pieces(work, 5, 500))

    assert [each.issue.id for piece in cut for each in piece.issues] == [f"n{n}" for n in range(20)]
    assert len(cut[0].issues) == 1
    assert max(len(piece.issues) for piece in cut) <= 5
    assert [id for piece in cut for id in piece.apart] == ["elsewhere"]


def test_relations_that_cannot_be_are_left_out_with_the_circle_and_the_rest_stands() -> None:
    links = {
        "a": [Link("a", "blocks", "c")],
        "b": [Link("b", "blocks", "a"), Link("b", "blocks", "b")],
        "c": [Link("c", "blocks", "b"), Link("c", "parent-child", "e"), Link("c", "parent-child", "f")],
        "e": [Link("e", "parent-child", "old"), Link("e", "blocks", "gone")],
        "d": [Link("d", "parent-child", "c"), Link("d", "blocks", "top"), Link("d", "related", "a")],
        "f": [],
    }

    joined = decide(links, {"old": "top", "top": None})

    assert joined.parents == {"c": "e", "e": "old", "d": "c"}
    assert joined.edges == [("c", "blocks", "a"), ("a", "blocks", "b"), ("d", "relates-to", "a")]
    told = {
        (each.issue_id, each.depends_on_id): (each.code, each.reason)
        for all_ in joined.left_out.values()
        for each in all_
    }
    assert told["c", "b"][1].endswith(
        "ever be ready: b is blocked by a, which is blocked by c, which would be blocked by b"
    )
    assert {ends: code for ends, (code, _) in told.items()} == {
        ("b", "b"): "self_relation",
        ("c", "b"): "cycle",
        ("c", "f"): "has_parent",
        ("e", "gone"): "unknown_item",
        ("d", "top"): "blocked_by_ancestor",
    }


# ---- sheets ----------------------------------------------------------------------------------------------------------


def test_a_sheet_has_its_columns_by_name_in_any_order_and_keeps_the_others() -> None:
    text = (
        "Priority,Title,ID,Labels,Blocked By,Parent,State,Estimate\n"
        'P1,"Build, then\nrest",x-1,"api; db, db",,x-9,staged,3d\n'
        "2,Query,x-2,,x-1,,closed,\n\n"
        ",Words,,,,,,\n"
    )
    work = read_sheet("plan.csv", "\ufeff" + text, "shop")

    first, second, third = (each.issue for each in work.issues)
    assert (first.id, first.values["title"], first.values["priority"]) == ("x-1", "Build, then rest", 1)
    assert (first.values["labels"], first.values["state"]) == (["api", "db"], "staged")
    assert (first.links, first.line["estimate"]) == ([Link("x-1", "parent-child", "x-9")], "3d")
    assert (second.links, second.values["state"]) == ([Link("x-2", "blocks", "x-1")], "done")
    assert third.id.startswith("shop-")
    assert [each.line for each in work.issues] == [2, 4, 6]
    assert not work.bad


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "one of them is title; found: nothing"),
        ("name of it,id\na,b\n", "one of them is title; found: name_of_it, id"),
        ("title,Kind,type\na,b,c\n", "two columns are called issue_type"),
    ],
)
def test_a_sheet_without_a_usable_header_is_refused_whole(text: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_sheet("plan.csv", text, "shop")

    assert said in refused.value.message


def test_rows_that_do_not_fit_are_named_and_the_others_stand() -> None:
    text = "title,priority,status\nA,7,\nB,,someday\n,1,\nC,1,,more\nD,1,In Progress\n"
    work = read_sheet("plan.csv", text, "shop")

    assert [each.given["title"] for each in work.issues] == ["D"]
    assert [(bad.line, bad.reason[:24]) for bad in work.bad] == [
        (2, "priority is '7'; allowed"),
        (3, "status is 'someday'; all"),
        (4, "title has 0 characters; "),
        (5, "the row has 4 cells, and"),
    ]
    broken = read_sheet("plan.csv", 'title\nA\n"B\n', "shop")
    assert (len(broken.issues), broken.bad[0].reason[:39]) == (1, "the sheet cannot be read any further: u")


# ---- checklists ------------------------------------------------------------------------------------------------------

CHECKLIST = """# Plan

Words about it.

## Search
- [x] Choose an index
- [ ] Build it
  Beside the catalogue.

  In one file.
  1. [ ] Names
\t* [-] Colours
- no entry

## M4 Launch
+ [X] Party
```
- [ ] code, no entry
# nor this
```
## Nothing below
"""


def test_a_checklist_has_parts_states_epics_and_milestones() -> None:
    work = read_checklist("TODO.md", CHECKLIST, "shop")

    facts = {each.given["title"]: each.issue.values for each in work.issues}
    assert parents(work) == {
        "Plan": None,
        "Search": "Plan",
        "Choose an index": "Search",
        "Build it": "Search",
        "Names": "Build it",
        "Colours": "Names",
        "M4 Launch": "Plan",
        "Party": "M4 Launch",
    }
    assert [facts[title]["state"] for title in ("Choose an index", "Build it", "Colours", "Party")] == [
        *("done", "unstarted", "cancelled", "done")
    ]
    assert [facts[title]["kind"] for title in ("Plan", "M4 Launch", "Party")] == ["epic", "milestone", "task"]
    assert facts["Build it"]["description"] == "Beside the catalogue.\n\nIn one file."


def test_an_entry_is_known_again_when_it_is_ticked_or_others_come_before_it() -> None:
    before = read_checklist("TODO.md", "- [ ] a\n- [ ] a\n  - [ ] b\n", "shop")
    after = read_checklist("docs/TODO.md", "- [ ] new\n- [x] a\n- [ ] a\n  - [x] b\n", "shop")

    assert set(ids(before)) < set(ids(after))
    assert len(set(ids(after))) == 4


def test_a_mark_that_says_nothing_is_bad() -> None:
    work = read_checklist("TODO.md", "- [?] a\n- [ ] b\n- [link](x)\n", "shop")

    assert (len(work.issues), work.bad[0][1:]) == (
        1,
        (1, "the mark is '?'; allowed: [ ] open, [x] done, [-] cancelled"),
    )


def test_a_plain_list_needs_no_boxes_and_a_todo_txt_no_list() -> None:
    text = "# Soon ##\n\n- a\n  * b\n     more of b\n* * *\n1. [x] c\n\nprose\n"
    plain = read_checklist("TODO", text, "shop", plain=True)
    lines = read_checklist("docs/todo.txt", "(B) 2026-01-02 Call Ann\n\nx (A) Call Bob\n", "shop", plain=True)

    assert [found.given["title"] for found in read_checklist("TODO", text, "shop").issues] == ["Soon", "c"]
    assert [(found.given["title"], found.given["status"]) for found in plain.issues] == [
        ("Soon", "open"),
        ("a", "open"),
        ("b", "open"),
        ("c", "closed"),
    ]
    assert [(found.given["title"], found.given["status"], found.given["priority"]) for found in lines.issues] == [
        ("Call Ann", "open", 1),
        ("Call Bob", "closed", 0),
    ]
    assert read_checklist("TODO", "prose\nand more\n", "shop", plain=True).issues == []


def test_a_checklist_that_is_made_to_take_long_is_read_at_once() -> None:
    deep = "".join(f"{' ' * depth}- [ ] {depth}\n" for depth in range(1_500))

    work = read_checklist("TODO.md", f"# a{' ' * 100_000}x\n{deep}", "shop")

    assert (len(work.issues), len(work.bad)) == (101, 1_400)
    assert work.bad[0].reason == "it stands within more than 100 others"
