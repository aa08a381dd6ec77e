"""What tasks of a team leave for each other, on both databases: published once, loaded the same, recorded as loaded."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from gemba.errors import Invalid
from gemba.store.database import Database
from gemba.store.migrate import open_database
from gemba.teams import store
from gemba.teams.artifacts import collect, lay_down
from gemba.teams.explorations import explore
from gemba.teams.loaded import (
    ROOM_FOR_CHAIN,
    ROOM_FOR_EXPLORATIONS,
    ROOM_FOR_STATES,
    ROOM_FOR_WISDOM,
    Loaded,
    as_knowledge,
)
from gemba.teams.loading import load
from gemba.teams.publishing import LONGEST_FEEDBACK, add_wisdom, publish, take_message
from gemba.teams.tables import accumulators, artifacts, runs, transfers, wisdom
from gemba.teams.transfers import artifacts_given, record_transfers, transfers_of, who_knows_what
from tests.fixtures.team_knowledge import ROLES, RUN, artifact, decided, done, handed, plant, revise, role, task

GRAPH = {"RESEARCH-001": (), "DESIGN-001": ("RESEARCH-001",), "IMPL-001": ("DESIGN-001",), "TEST-001": ("IMPL-001",)}


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    """With a run of four tasks, one after the other."""
    with closing(open_database(database_url)) as opened:
        plant(opened, tmp_path, GRAPH)
        yield opened


def loaded_for(database: Database, id: str) -> Loaded:
    row = task(database, id)
    with database.read() as connection:
        return load(connection, store.get_run(connection, RUN), row)


def words(database: Database) -> list[tuple[str, str]]:
    with database.read() as connection:
        query = select(wisdom.c.kind, wisdom.c.words).where(wisdom.c.run_id == RUN).order_by(wisdom.c.number)
        return [(row.kind, row.words) for row in connection.execute(query)]


# ---- publishing ------------------------------------------------------------------------------------------------------


def test_a_task_gets_what_the_tasks_before_it_left(database: Database) -> None:
    document = handed(["Three tables"], open_gaps=["Nobody knows the load"]) | {
        "memorialize_suggestions": [decided("SQLite first", "no server")]
    }
    done(database, "DESIGN-001", document, artifact("DESIGN-001-schema.md", "# Schema\n"))

    loaded = loaded_for(database, "IMPL-001")

    assert as_knowledge(loaded) == {
        "upstream": [
            {
                "task": "DESIGN-001",
                "role": "designer",
                "goal": "Do DESIGN-001",
                "key_findings": ["Three tables"],
                "decisions": ["SQLite first (because: no server)"],
                "verification": "tested",
                "artifacts": [".gemba/artifacts/DESIGN-001-schema.md"],
            }
        ],
        "wisdom": [
            {"kind": "learnings", "words": "Three tables", "from": "designer", "task": "DESIGN-001"},
            {
                "kind": "decisions",
                "words": "SQLite first (because: no server)",
                "from": "designer",
                "task": "DESIGN-001",
            },
            {"kind": "issues", "words": "Nobody knows the load", "from": "designer", "task": "DESIGN-001"},
        ],
    }
    assert [each.content for each in loaded.artifacts] == ["# Schema\n"]
    assert loaded_for(database, "IMPL-001") == loaded


def test_a_revised_task_keeps_its_old_versions_and_gives_the_new_one(database: Database) -> None:
    done(database, "DESIGN-001", handed(["one"]), artifact("DESIGN-001-a.md", "1"), artifact("DESIGN-001-b.md", "1"))
    revise(database, "DESIGN-001")
    done(database, "DESIGN-001", handed(["two"]), artifact("DESIGN-001-a.md", "2"))

    loaded = loaded_for(database, "IMPL-001")

    assert [(each.name, each.version, each.content) for each in loaded.artifacts] == [("DESIGN-001-a.md", 2, "2")]
    with database.read() as connection:
        kept = connection.execute(select(artifacts.c.name, artifacts.c.version, artifacts.c.content)).all()
        entries = connection.execute(select(accumulators)).all()
    assert sorted(map(tuple, kept)) == [
        ("DESIGN-001-a.md", 1, "1"),
        ("DESIGN-001-a.md", 2, "2"),
        ("DESIGN-001-b.md", 1, "1"),
    ]
    assert [(row.version, json.loads(row.entry)["key_findings"]) for row in entries] == [(2, ["two"])]


def test_to_publish_the_same_again_changes_nothing(database: Database) -> None:
    document = handed(["one"], open_gaps=["gap"])
    first = done(database, "DESIGN-001", document, artifact("DESIGN-001-a.md", "1"), artifact("DESIGN-001-b.md", "1"))
    loaded = loaded_for(database, "IMPL-001")

    again = done(database, "DESIGN-001", document, artifact("DESIGN-001-a.md", "1"), artifact("DESIGN-001-b.md", "1"))

    assert (len(first.wisdom), again.wisdom) == (2, [])
    assert loaded_for(database, "IMPL-001") == loaded
    done(database, "DESIGN-001", document, artifact("DESIGN-001-a.md", "1"))
    assert [each.name for each in loaded_for(database, "IMPL-001").artifacts] == ["DESIGN-001-a.md"]


def test_what_is_refused_or_undone_leaves_nothing(database: Database) -> None:
    with pytest.raises(Invalid, match="no artifact of DESIGN-001"):
        done(database, "DESIGN-001", handed(["one"]), artifact("IMPL-001-a.md", "1"))

    assert words(database) == []
    assert not loaded_for(database, "IMPL-001").artifacts


def test_publishing_marks_the_folder_and_tells_of_it(database: Database) -> None:
    with database.transaction() as tx:
        tx.connection.execute(runs.update().values(unwritten=False))
    done(database, "DESIGN-001", handed(["one"]), artifact("DESIGN-001-a.md", "1"))

    with database.read() as connection:
        assert store.get_run(connection, RUN).unwritten


def test_tasks_that_end_at_once_give_no_number_of_wisdom_twice(database: Database, tmp_path: Path) -> None:
    other = plant(database, tmp_path, {f"IMPL-{number:03}": () for number in range(1, 9)}, run_id="team-00000000000a")

    def end(number: int) -> None:
        document = handed([f"{number}-{each}" for each in range(5)])
        done(database, f"IMPL-{number:03}", document, run_id=other)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(end, range(1, 9)))

    with database.read() as connection:
        numbers = connection.execute(select(wisdom.c.number).where(wisdom.c.run_id == other)).scalars().all()
    assert sorted(numbers) == [*range(1, 41)]


# ---- wisdom ----------------------------------------------------------------------------------------------------------


def test_feedback_is_a_decision_that_every_task_gets_once(database: Database) -> None:
    with database.transaction() as tx:
        first = add_wisdom(tx, RUN, "decisions", " Use tabs\0\nnot spaces ", "ann")
        assert add_wisdom(tx, RUN, "decisions", "Use tabs\ufffd\nnot spaces", "ben") == first

    assert [(each.words, each.author) for each in loaded_for(database, "TEST-001").wisdom] == [
        ("Use tabs\ufffd\nnot spaces", "ann")
    ]


@pytest.mark.parametrize(("kind", "said"), [("rumours", "x"), ("decisions", "  "), ("decisions", "x" * 4_001)])
def test_wisdom_that_is_none_is_refused(database: Database, kind: str, said: str) -> None:
    assert LONGEST_FEEDBACK == 4_000
    with pytest.raises(Invalid), database.transaction() as tx:
        add_wisdom(tx, RUN, kind, said, "ann")
    assert words(database) == []


def test_messages_bring_wisdom(database: Database) -> None:
    with database.transaction() as tx:
        assert take_message(tx, RUN, "blocker", "no access", {"task_id": "IMPL-001"}, author="developer") == [1]
        assert take_message(tx, RUN, "blocker", "no access", {"task_id": "IMPL-001"}, author="developer") == []
        assert take_message(tx, RUN, "progress", "half way", {}, author="developer") == []

    assert words(database) == [("issues", "no access")]


# ---- loading ---------------------------------------------------------------------------------------------------------


def test_what_the_role_names_is_loaded_from_further_upstream(database: Database) -> None:
    for id in GRAPH:
        done(database, id, handed([f"finding of {id}"]), artifact(f"{id}-a.md", id))

    # The tester's spec loads the design; the developer's names nothing beside what it waits for.
    assert [each.task_id for each in loaded_for(database, "TEST-001").states] == ["DESIGN-001", "IMPL-001"]
    assert [each.task_id for each in loaded_for(database, "IMPL-001").states] == ["DESIGN-001"]
    assert loaded_for(database, "RESEARCH-001").states == ()


def test_a_role_may_name_a_task(database: Database, tmp_path: Path) -> None:
    named = [role(prefix, loads=["RESEARCH-001", "state"]) for prefix in ROLES]
    other = plant(database, tmp_path, GRAPH, run_id="team-00000000000b", roles=named)
    row = task(database, "TEST-001", other)

    with database.read() as connection:
        assert [each.task_id for each in load(connection, store.get_run(connection, other), row).states] == [
            "RESEARCH-001",
            "IMPL-001",
        ]


def test_a_role_may_name_all_that_is_upstream(database: Database, tmp_path: Path) -> None:
    named = [role(prefix, loads=["artifacts of all upstream tasks"]) for prefix in ROLES]
    other = plant(database, tmp_path, GRAPH, run_id="team-00000000000d", roles=named)
    row = task(database, "TEST-001", other)

    with database.read() as connection:
        found = [each.task_id for each in load(connection, store.get_run(connection, other), row).states]
    assert found == ["RESEARCH-001", "DESIGN-001", "IMPL-001"]


def test_a_chain_passes_on_what_it_accumulated(database: Database, tmp_path: Path) -> None:
    chain = {f"IMPL-{number:03}": (f"IMPL-{number - 1:03}",) if number > 1 else () for number in range(1, 5)}
    other = plant(database, tmp_path, chain, run_id="team-00000000000c")
    for number in (1, 2, 4):
        done(database, f"IMPL-{number:03}", handed([f"step {number}"], summary=f"Done {number}"), run_id=other)
    row = task(database, "IMPL-003", other)

    with database.read() as connection:
        found = load(connection, store.get_run(connection, other), row)

    assert [(each.task_id, each.entry["key_findings"]) for each in found.chain] == [
        ("IMPL-001", ["step 1"]),
        ("IMPL-002", ["step 2"]),
    ]


def test_what_is_loaded_is_bounded_however_much_there_is(database: Database, tmp_path: Path) -> None:
    ids = [f"IMPL-{number:03}" for number in range(1, 121)]
    other = plant(database, tmp_path, {**dict.fromkeys(ids, ()), "TEST-001": ids}, run_id="team-00000000000d")
    long = [letter * 99 for letter in "abcde"]
    for id in ids:
        document = handed(
            [f"{id} {each}" for each in long], open_gaps=[f"{id} {number} " + "g" * 900 for number in range(5)]
        )
        done(database, id, document, artifact(f"{id}-a.md", id), run_id=other)
    row = task(database, "TEST-001", other)

    with database.read() as connection:
        found = load(connection, store.get_run(connection, other), row)
        assert load(connection, store.get_run(connection, other), row) == found

    size = len(json.dumps(as_knowledge(found)))
    assert size < ROOM_FOR_STATES + ROOM_FOR_CHAIN + ROOM_FOR_WISDOM + ROOM_FOR_EXPLORATIONS + 2_000
    assert len(found.artifacts) == 120
    assert found.left_out["upstream"] == 120 - len(found.states)
    assert found.left_out["wisdom"] > 0
    assert {each.kind for each in found.wisdom} >= {"issues"}  # which the tester's role-spec names


# ---- who knows what --------------------------------------------------------------------------------------------------


def test_who_knows_what_is_what_was_loaded(database: Database, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("a")
    (tree / "b.py").write_text("b")
    document = handed(["one"], files_checked=["a.py"], patterns_checked=["errors"])
    explored = [*explore(tree, document, "goal"), *explore(tree, handed(files_checked=["b.py"]), "other")]
    done(database, "DESIGN-001", document, artifact("DESIGN-001-a.md", "1"), explored=explored)
    (tree / "b.py").write_text("changed")
    row = task(database, "IMPL-001")

    reached = lay_down(loaded_for(database, "IMPL-001"), tree)
    with database.transaction() as tx:
        assert record_transfers(tx, RUN, row, reached) == len([*transfers_of(reached)])
        assert record_transfers(tx, RUN, row, reached) == 0

    with database.read() as connection:
        known = who_knows_what(connection, RUN)
        design, impl = known.tasks
        assert who_knows_what(connection, RUN, "IMPL-001").tasks == [impl]
        assert artifacts_given(connection, RUN, row) == {"DESIGN-001-a.md": artifact("DESIGN-001-a.md", "1").digest}
    assert [(each.channel, each.ref, each.source) for each in impl.got] == [*transfers_of(reached)]
    assert [(each.channel, each.ref) for each in impl.got] == [
        ("artifact", "DESIGN-001-a.md@1"),
        ("state", "DESIGN-001"),
        ("wisdom", "1"),
        ("wisdom", "2"),
        ("exploration", "errors"),
    ]
    assert (design.task_id, design.ref, design.wisdom, design.angles, design.accumulated, design.got) == (
        "DESIGN-001",
        "artifacts/DESIGN-001-a.md",
        [1, 2],
        ["errors", "other"],
        True,
        [],
    )
    assert not collect(tree, "IMPL-001", {"DESIGN-001-a.md": artifact("DESIGN-001-a.md", "1").digest}).remarks


def test_another_attempt_is_given_its_own(database: Database, tmp_path: Path) -> None:
    done(database, "DESIGN-001", handed(["one"]), artifact("DESIGN-001-a.md", "1"))
    reached = loaded_for(database, "IMPL-001")
    for _ in range(2):
        with database.transaction() as tx:
            record_transfers(tx, RUN, store.get_task(tx.connection, RUN, "IMPL-001"), reached)
        revise(database, "IMPL-001")

    with database.read() as connection:
        many = connection.execute(select(func.count()).select_from(transfers)).scalar_one()
        numbers = connection.execute(select(transfers.c.number).order_by(transfers.c.number)).scalars().all()
    assert many == 2 * len([*transfers_of(reached)])
    assert numbers == [*range(1, many + 1)]


def test_publish_wants_no_artifact_and_no_exploration(database: Database) -> None:
    with database.transaction() as tx:
        row = store.get_task(tx.connection, RUN, "DESIGN-001")
        published = publish(tx, RUN, row, handed(), [], reviewer="tester")

    assert published.state.ref is None
    assert (published.artifacts, published.wisdom, published.angles) == ([], [], [])
