"""Issues of another tracker taken in, taken in again, and given out, on both databases."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from gemba import clock
from gemba.store.database import Database
from gemba.store.migrate import open_database
from gemba.testing import effort
from gemba.work.exporting import issues_after
from gemba.work.history import Change, list_changes
from gemba.work.importing import Imported, ImportItems, import_items
from gemba.work.interchange.issue import LINKS, Link
from gemba.work.interchange.lines import read_lines
from gemba.work.interchange.order import pieces
from gemba.work.item import Kind, Relation
from gemba.work.items import WorkItem, get, view
from gemba.work.readiness import ready_items
from gemba.work.relating import OldRelation, add_relation, remove_relation
from gemba.work.relations import NewRelation
from gemba.work.store import ChangeItem, CreateItem, NewItem, change_item, create_item
from gemba.work.tables import changes, items, relations
from gemba.work.undoing import UndoChange, undo_change

REALISTIC = Path(__file__).parents[1] / "fixtures" / "beads" / "issues.jsonl"
NEWER = "2999-01-01T00:00:00Z"


class Plan:
    """A database with work in it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def take(self, *issues: dict[str, Any], prefer: Any = "newer", **apart: list[dict[str, Any]]) -> Imported:
        body = ImportItems(name="issues.jsonl", issues=copy.deepcopy(list(issues)), apart=apart, prefer=prefer)
        with self.database.transaction() as tx:
            return import_items(tx, body)

    def take_file(self, text: str, most: int = 2_000, apart: str = "") -> list[Imported]:
        """As the command does, in pieces; `apart` is a file of dependencies beside the issues."""
        work = read_lines([("issues.jsonl", text), *([("dependencies.jsonl", apart)] if apart else [])])
        assert not work.bad
        return [
            self.take(*(each.given for each in piece.issues), **piece.apart) for piece in pieces(work, most, 700_000)
        ]

    def item(self, id: str) -> WorkItem:
        with self.database.read() as connection:
            return view(connection, get(connection, id), clock.now())

    def links(self, id: str) -> set[tuple[str, str, str]]:
        return {(each.source, each.kind, each.target) for each in self.item(id).relations}

    def history(self, id: str) -> list[Change]:
        with self.database.read() as connection:
            return list_changes(connection, id, 50, None)[0]

    def ready(self) -> set[str]:
        with self.database.read() as connection:
            return {row.id for row in ready_items(connection, clock.now(), 500).rows}

    def issues(self, page: int = 500) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        after: str | None = ""
        while after is not None:
            with self.database.read() as connection:
                some, after = issues_after(connection, after, page)
            found |= {issue["id"]: issue for issue in some}
        return found

    def change(self, id: str, **fields: Any) -> None:
        with self.database.transaction() as tx:
            change_item(tx, ChangeItem(**fields), id=id)

    def changes(self) -> int:
        with self.database.read() as connection:
            return int(connection.execute(select(func.count()).select_from(changes)).scalar_one())

    def empty(self) -> None:
        with self.database.transaction() as tx:
            for table in (items, relations, changes):
                tx.connection.execute(delete(table))


@pytest.fixture
def plan(database_url: str) -> Iterator[Plan]:
    opened = open_database(database_url)
    opened.surroundings["work_prefix"] = "shop"
    yield Plan(opened)
    opened.close()


def issue(id: str, *deps: tuple[str, str], **more: Any) -> dict[str, Any]:
    links = [{"issue_id": id, "depends_on_id": other, "type": kind} for kind, other in deps]
    given = {
        "id": id,
        "title": id.upper(),
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "created_at": "2025-01-09T12:00:00Z",
        "updated_at": "2025-01-10T12:00:00Z",
        **more,
    }
    return {**given, "dependencies": links} if links else given


def outcomes(done: Imported) -> dict[str | None, str]:
    return {each.id: each.outcome for each in done.outcomes}


# ---- a realistic export ----------------------------------------------------------------------------------------------


def test_a_realistic_export_comes_in_means_the_same_going_out_and_a_second_time_changes_nothing(plan: Plan) -> None:
    text = REALISTIC.read_text()
    written = {each["id"]: each for each in map(json.loads, text.splitlines())}

    (done,) = plan.take_file(text)
    assert (len(done.outcomes), set(outcomes(done).values()), done.left_out) == (len(written), {"created"}, [])
    assert plan.issues(page=7) == written
    before = plan.changes()
    (again,) = plan.take_file(text)
    assert (again.outcomes, again.unchanged, plan.changes()) == ([], len(written), before)


def parted(text: str) -> tuple[str, str]:
    """An export whose dependencies stand on the issues' lines, as one that has them in a file of their own."""
    issues = [json.loads(line) for line in text.splitlines()]
    links = [link for each in issues for link in each.get("dependencies", ())]
    bare = [{name: value for name, value in each.items() if name != "dependencies"} for each in issues]
    return as_lines(bare), as_lines(links)


def as_lines(documents: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(each) + "\n" for each in documents)


@pytest.mark.parametrize("form", ["on the lines", "apart"])
def test_every_issue_dependency_label_and_comment_of_an_export_is_accounted_for(plan: Plan, form: str) -> None:
    text = REALISTIC.read_text()
    written = {each["id"]: each for each in map(json.loads, text.splitlines())}

    issues, apart = parted(text) if form == "apart" else (text, "")
    done = plan.take_file(issues, apart=apart)

    assert [each for piece in done for each in piece.left_out] == []
    assert plan.issues().keys() == written.keys()
    assert sum(len(each.get("comments", ())) for each in written.values()) >= 2
    assert {link["type"] for each in written.values() for link in each.get("dependencies", ())} >= LINKS.keys() - {
        "relates-to"
    }
    for id, each in written.items():
        item, out = plan.item(id), plan.issues()[id]
        assert (item.title, item.labels, item.priority) == (each["title"], each.get("labels", []), each["priority"])
        links = {Link(id, link["type"], link["depends_on_id"]) for link in each.get("dependencies", ())}
        assert {link.ends for link in links} - {None} <= plan.links(id)
        gone = {Link(id, link["type"], link["depends_on_id"]) for link in out.get("dependencies", ())}
        assert gone == links
        assert {name: value for name, value in out.items() if name != "dependencies"} == {
            name: value for name, value in each.items() if name != "dependencies"
        }
        assert out.get("comments") == each.get("comments")


def test_what_is_ready_after_an_import_is_what_the_tracker_says_is_ready(plan: Plan) -> None:
    text = REALISTIC.read_text()
    issues = {each["id"]: each for each in map(json.loads, text.splitlines())}

    def depends(id: str, kind: str) -> list[str]:
        return [dep["depends_on_id"] for dep in issues[id].get("dependencies", ()) if dep["type"] == kind]

    def is_blocked(id: str) -> bool:
        """The tracker's rule: by what is not closed, or with its parent."""
        if any(issues[other]["status"] not in ("closed", "tombstone") for other in depends(id, "blocks")):
            return True
        return any(is_blocked(parent) for parent in depends(id, "parent-child"))

    plan.take_file(text, most=4)

    expected = {id for id, each in issues.items() if each["status"] == "open" and not is_blocked(id)}
    assert plan.ready() == expected
    assert {"shop-k7", "shop-k7.2", "shop-t2", "shop-x3"} <= expected  # behind what is closed, or deleted
    assert not {"shop-a2.1", "shop-a2.3.1", "shop-v2", "shop-p1", "shop-q1"} & expected


def test_a_milestone_keeps_its_title_and_the_next_one_is_counted_behind_it(plan: Plan) -> None:
    plan.take_file(REALISTIC.read_text())
    plan.take(issue("m", title="M7 Later", issue_type="task"))
    plan.take(issue("m", title="M7 Later", issue_type="milestone"))

    with plan.database.transaction() as tx:
        made = create_item(tx, CreateItem(NewItem(title="Growth", kind=Kind.MILESTONE)))

    assert (plan.item("shop-l1").title, plan.item("shop-l1").kind, made.title) == (
        "M3 Launch",
        "milestone",
        "M8 Growth",
    )


def test_an_issue_has_its_past_and_what_gemba_has_no_field_for_is_kept(plan: Plan) -> None:
    plan.take_file(REALISTIC.read_text())
    closed, deleted, hooked = (plan.item(f"shop-{id}") for id in ("k7.1", "t1", "q1"))

    assert (closed.state, closed.close_reason, closed.assignee, closed.created_by) == (
        "done",
        "SQLite FTS5",
        "bo",
        "ann",
    )
    assert (closed.created_at, closed.closed_at) == ("2025-09-03T16:02:00.002469Z", "2025-10-04T00:02:11.500000Z")
    assert (deleted.state, deleted.closed_by, deleted.close_reason) == ("cancelled", "ann", "the same as q2")
    assert (hooked.state, hooked.claim, hooked.extras["beads"]["line"]["hook"]) == (
        "in_progress",
        None,
        "agent-7/turn-3",
    )
    (made,) = plan.history("shop-q1")
    assert (made.kind, made.cause.kind, made.cause.id) == ("created", "import", "issues.jsonl")


# ---- again, with changes ---------------------------------------------------------------------------------------------


def test_a_changed_line_changes_its_item_with_its_cause_and_can_be_undone(plan: Plan) -> None:
    plan.take(issue("a", labels=["x"]), issue("b", ("blocks", "a")))
    assert plan.ready() == {"a"}

    done = plan.take(
        issue("a", labels=["x"], status="closed", close_reason="merged", updated_at="2025-02-01T00:00:00Z"),
        issue("b", ("blocks", "a")),
    )

    assert (outcomes(done), done.unchanged) == ({"a": "changed"}, 1)
    assert {"state", "closed_at", "close_reason"} <= set(done.outcomes[0].fields)
    assert (plan.item("a").closed_at, plan.ready()) == ("2025-02-01T00:00:00.000000Z", {"b"})
    assert (plan.history("a")[0].cause.kind, plan.history("a")[0].before["state"]) == ("import", "unstarted")
    with plan.database.transaction() as tx:
        undo_change(tx, UndoChange(), id="a")
    assert (plan.item("a").state, plan.ready()) == ("unstarted", {"a"})


def test_what_was_changed_here_stays_when_the_same_file_comes_again(plan: Plan) -> None:
    given = [issue("a"), issue("b", ("blocks", "a"), ("related", "a"))]
    plan.take(*given)
    plan.change("b", title="Better words")
    with plan.database.transaction() as tx:
        remove_relation(tx, OldRelation(Relation.BLOCKS, source="a"), id="b")

    done = plan.take(*given)

    assert (done.outcomes, done.unchanged) == ([], 2)
    assert (plan.item("b").title, plan.links("b")) == ("Better words", {("b", "relates-to", "a")})
    out = plan.issues()["b"]
    assert (out["title"], [dep["type"] for dep in out["dependencies"]]) == ("Better words", ["related"])
    assert out["updated_at"] > "2026"


def test_a_line_older_than_a_change_made_here_is_kept_away_and_named_each_time(plan: Plan) -> None:
    plan.take(issue("a"))
    plan.change("a", title="Better words")
    older = issue("a", priority=0, updated_at="2025-02-01T00:00:00Z")

    for _ in range(2):
        done = plan.take(older)
        assert outcomes(done) == {"a": "kept"}
        assert "it was changed here at 20" in str(done.outcomes[0].reason)
        assert (plan.item("a").title, plan.item("a").priority) == ("Better words", 2)

    assert outcomes(plan.take(older, prefer="file")) == {"a": "changed"}
    assert (plan.item("a").title, plan.item("a").priority) == ("A", 0)
    assert plan.take(older).outcomes == []


def test_a_line_newer_than_a_change_made_here_is_taken_and_says_what_it_took_over(plan: Plan) -> None:
    plan.take(issue("a"))
    plan.change("a", title="Better words")

    done = plan.take(issue("a", priority=0, updated_at=NEWER))

    assert outcomes(done) == {"a": "changed"}
    assert "an undo gives back what was here" in str(done.outcomes[0].reason)
    assert plan.item("a").title == "A"
    assert plan.take(issue("a", priority=0, updated_at=NEWER)).unchanged == 1


def test_dependencies_are_compared_one_by_one_with_those_the_line_had(plan: Plan) -> None:
    others = [issue(id) for id in ("p", "q", "x", "y", "z")]
    plan.take(*others, issue("a", ("parent-child", "p"), ("blocks", "x"), ("blocks", "y")))
    with plan.database.transaction() as tx:
        add_relation(tx, NewRelation(Relation.BLOCKS, source="z"), id="a")  # made here
        remove_relation(tx, OldRelation(Relation.BLOCKS, source="y"), id="a")  # taken away here

    done = plan.take(issue("a", ("parent-child", "q"), ("blocks", "y"), ("related", "z"), updated_at=NEWER))

    assert set(done.outcomes[0].fields) == {"parent", "relations"}
    assert plan.links("a") == {("q", "parent-child", "a"), ("z", "blocks", "a"), ("a", "relates-to", "z")}
    assert outcomes(plan.take(issue("a", updated_at=NEWER))) == {"a": "changed"}
    assert (plan.links("a"), plan.item("a").parent) == ({("z", "blocks", "a")}, None)


def test_an_item_made_here_goes_out_and_comes_back_as_it_was(plan: Plan) -> None:
    with plan.database.transaction() as tx:
        above = create_item(tx, CreateItem(NewItem(title="Search", kind=Kind.EPIC)))
        made = create_item(
            tx, CreateItem(NewItem(title="Index", parent=above.id, targets=["src/**"], estimated_tokens=9, priority=0))
        )
    plan.change(made.id, state="review")
    plan.change(above.id, state="cancelled", close_reason="never")
    before, issues = plan.changes(), plan.issues()

    done = plan.take(*issues.values())
    assert (done.outcomes, done.unchanged, plan.changes()) == ([], 2, before)
    plan.empty()
    plan.take(*issues.values())
    again = plan.item(made.id)
    assert (again.state, again.targets, again.parent, again.estimated_tokens) == ("review", ["src/**"], above.id, 9)
    assert (plan.item(above.id).state, plan.item(above.id).close_reason) == ("cancelled", "never")
    assert plan.issues() == issues


def test_an_item_made_here_is_not_lost_to_a_file_that_has_its_id(plan: Plan) -> None:
    with plan.database.transaction() as tx:
        made = create_item(tx, CreateItem(NewItem(title="Index")))

    done = plan.take(issue(made.id))

    assert (outcomes(done), plan.item(made.id).title) == ({made.id: "kept"}, "Index")


# ---- what cannot be made ---------------------------------------------------------------------------------------------


def test_what_names_an_issue_that_is_not_there_waits_for_it_and_is_made_when_its_line_comes_again(plan: Plan) -> None:
    waiting = issue("a", ("blocks", "late"), ("parent-child", "later"))
    done = plan.take(waiting)
    assert [(each.depends_on_id, each.code) for each in done.left_out] == [
        ("late", "unknown_item"),
        ("later", "unknown_item"),
    ]
    assert plan.issues()["a"] == waiting  # and it goes out again all the same

    plan.take(issue("late"), issue("later"))
    done = plan.take(waiting)

    assert (done.left_out, done.outcomes[0].fields) == ([], ["parent", "relations"])
    assert plan.links("a") == {("late", "blocks", "a"), ("later", "parent-child", "a")}
    assert (plan.take(waiting).unchanged, plan.issues()["a"]) == (1, waiting)


@pytest.mark.parametrize("most", [1, 2, 100])
def test_a_circle_in_a_file_is_told_with_its_path_and_one_relation_of_it_left_out(plan: Plan, most: int) -> None:
    circle = [issue("a", ("blocks", "b")), issue("b", ("parent-child", "c")), issue("c", ("blocks", "a")), issue("d")]
    text = "\n".join(map(json.dumps, circle))

    plan.take_file(text, most)
    told = [each for done in plan.take_file(text, most) for each in done.left_out]

    (left_out,) = told
    assert left_out.code == "cycle"
    assert "that is a circle, in which nothing could ever be ready: " in left_out.reason
    assert all(id in left_out.reason for id in ("a", "b", "c"))
    made = plan.links("a") | plan.links("b") | plan.links("c")
    assert len(made) == 2
    assert plan.issues() == {each["id"]: each for each in circle}
    assert plan.take_file(text)[0].unchanged == 4


def test_dependencies_from_a_file_of_their_own_are_made_and_stay_when_the_issues_come_without_them(plan: Plan) -> None:
    dep = {"issue_id": "b", "depends_on_id": "a", "type": "blocks", "thread_id": "t1"}
    late = {"issue_id": "b", "depends_on_id": "c", "type": "related"}
    plan.take(issue("a"), issue("b"), issue("c"), b=[dep])
    assert plan.links("b") == {("a", "blocks", "b")}

    done = plan.take(b=[late], nobody=[{"issue_id": "nobody", "depends_on_id": "a", "type": "blocks"}])
    assert ([each.fields for each in done.outcomes], [each.issue_id for each in done.left_out]) == (
        [["relations"]],
        ["nobody"],
    )
    assert plan.take(issue("a"), issue("b"), issue("c"), b=[dep, late]).unchanged == 3
    plan.take(issue("b", priority=0))

    assert plan.links("b") == {("a", "blocks", "b"), ("b", "relates-to", "c")}
    assert plan.issues()["b"]["dependencies"] == [dep, late]


def test_a_bad_issue_is_refused_by_its_place_and_the_others_are_imported(plan: Plan) -> None:
    done = plan.take(issue("a"), {"id": "b"}, issue("c", priority=7), issue("a"), issue("d"))

    assert [(each.place, each.outcome) for each in done.outcomes] == [
        (0, "created"),
        (1, "refused"),
        (2, "refused"),
        (3, "refused"),
        (4, "created"),
    ]
    assert plan.ready() == {"a", "d"}


def test_unknown_words_are_told_by_their_place_when_their_line_is_taken_and_only_then(plan: Plan) -> None:
    odd = issue("b", ("waits-for", "a"), status="wontfix")
    apart = {"issue_id": "a", "depends_on_id": "b", "type": "tracks"}

    first = plan.take(issue("a"), odd, a=[apart])
    again = plan.take(issue("a"), odd, a=[apart])
    changed = plan.take(issue("a"), {**odd, "title": "Another", "updated_at": NEWER})
    later = plan.take(a=[apart, {**apart, "type": "until"}])

    told = [(each.place, each.id, each.field, each.found, each.taken_as) for each in first.unknown_words]
    assert told == [
        (0, "a", "dependency type", "tracks", "no relation"),
        (1, "b", "status", "wontfix", "deferred"),
        (1, "b", "dependency type", "waits-for", "no relation"),
    ]
    assert again.unknown_words == []
    assert [(each.place, each.found) for each in changed.unknown_words] == [(1, "wontfix"), (1, "waits-for")]
    assert [(each.place, each.id, each.found) for each in later.unknown_words] == [(-1, "a", "until")]
    assert plan.issues()["b"] == {**odd, "title": "Another", "updated_at": NEWER}


@pytest.mark.parametrize("kept", [7, {"line": 3}, {"line": {"dependencies": 5}}, {"left_out": [1]}, {"digest": None}])
def test_extras_that_somebody_wrote_over_break_neither_the_export_nor_an_import(plan: Plan, kept: Any) -> None:
    plan.take(issue("a"))
    plan.change("a", extras={"beads": kept})

    assert plan.issues()["a"]["title"] == "A"
    assert outcomes(plan.take(issue("a", title="New", updated_at=NEWER))) == {"a": "changed"}


def test_an_import_that_was_interrupted_is_completed_by_the_next(plan: Plan) -> None:
    text = REALISTIC.read_text()
    work = read_lines([("issues.jsonl", text)])
    first = next(iter(pieces(work, 9, 700_000)))
    plan.take(*(each.given for each in first.issues))

    done = plan.take_file(text, most=9)

    assert sum(each.unchanged for each in done) == 9
    assert plan.issues() == {each["id"]: each for each in map(json.loads, text.splitlines())}


# ---- whatever is written ---------------------------------------------------------------------------------------------

IDS = [f"bd-{n}" for n in range(6)]
_texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
_moments = st.sampled_from(["2025-01-09T12:00:00Z", "2025-03-01T08:00:00.123456789-08:00", "0001-01-01T00:00:00Z"])
_anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
_deps = st.lists(
    st.fixed_dictionaries(
        {
            "depends_on_id": st.sampled_from([*IDS, "bd-gone"]),
            "type": st.sampled_from(
                ["blocks", "parent-child", "related", "discovered-from", "duplicates", "supersedes", "waits-for", "odd"]
            ),
        },
        optional={"created_at": _moments, "metadata": _anything},
    ),
    max_size=4,
)


def _issues(id: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "id": st.just(id),
            "title": _texts.filter(lambda text: bool(text.strip())),
            "status": st.sampled_from(
                ["open", "in_progress", "hooked", "closed", "tombstone", "blocked", "deferred", "q"]
            ),
            "priority": st.integers(0, 4),
            "issue_type": st.sampled_from(["task", "bug", "epic", "milestone", "message", ""]),
            "created_at": st.sampled_from(["2025-01-09T12:00:00Z", "2025-03-01T08:00:00.123456789-08:00"]),
            "updated_at": st.sampled_from(["2025-01-09T12:00:00Z", "2025-03-01T08:00:00.123456789-08:00"]),
        },
        optional={
            "description": _texts,
            "design": _texts,
            "notes": _texts,
            "acceptance_criteria": _texts,
            "assignee": _texts | st.none(),
            "labels": st.lists(_texts, max_size=3),
            "created_by": _texts,
            "closed_at": _moments,
            "close_reason": _texts,
            "deleted_at": _moments,
            "comments": _anything,
            "gemba": st.none() | st.just({"targets": ["src/**"], "of another": 1}),
            "unheard_of": _anything,
            "dependencies": _deps.map(lambda deps: [{"issue_id": id, **dep} for dep in deps]),
        },
    )


def meaning(issue: dict[str, Any], also: set[str]) -> dict[str, Any]:
    """An issue without what is empty, and without a moment of closing that it did not say itself."""
    said = {name: value for name, value in issue.items() if value not in (None, "", [])}
    return {name: value for name, value in said.items() if name != "closed_at" or "closed_at" in also}


@settings(max_examples=effort(40, 2_000))
@given(issues=st.tuples(*(_issues(id) for id in IDS)), most=st.sampled_from([2, 100]))
def test_whatever_comes_in_goes_out_with_the_same_meaning(
    plan: Plan, issues: tuple[dict[str, Any], ...], most: int
) -> None:
    plan.empty()
    text = "\n".join(json.dumps(each) for each in issues)
    for _ in range(2):
        done = plan.take_file(text, most)
        assert not [each for part in done for each in part.outcomes if each.outcome in ("kept", "refused")]
    before = plan.changes()
    again = plan.take_file(text, most)

    assert (sum(each.unchanged for each in again), plan.changes()) == (len(IDS), before)
    written = plan.issues()
    for each in issues:
        also = {name for name, value in each.items() if value != "0001-01-01T00:00:00Z"}
        assert meaning(written[each["id"]], also) == meaning(each, also)
