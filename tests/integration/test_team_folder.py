"""The folder of a team run is what its rows are, byte for byte, whatever was killed, edited or said in between."""

import asyncio
import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from gemba.errors import Conflict, Invalid, NotFound
from gemba.store.database import Database
from gemba.store.hub import Hub
from gemba.store.migrate import open_database
from gemba.teams import store
from gemba.teams.archive import ArchiveRun, archive, bring_back
from gemba.teams.folder import Folders, folder_of, runs_to_write
from gemba.teams.knowledge import KINDS, Exploration
from gemba.teams.publishing import add_wisdom
from gemba.teams.tables import ratings, runs
from gemba.testing import seeds
from tests.fixtures.team_knowledge import ORIGIN, RUN, Spoken, artifact, done, files_in, handed, plant, revise, say

GRAPH = {"DESIGN-001": (), "IMPL-001": ("DESIGN-001",)}
HOSTILE = "# Heading\n```\n</script><img src=x onerror=y>\n> quote\n---\n\x1b]0;x\x07\u202e\nSetext\n===\0"


def drawn(short: int, full: int) -> list[int]:
    """Steps at which a writer dies."""
    return [random.Random(seed).randint(1, 80) for seed in seeds(short=short, full=full)]


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with closing(open_database(database_url)) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / ".gemba").mkdir(parents=True)
    return root


def fill(database: Database, root: Path, run_id: str = RUN) -> Path:
    """A run with something in every channel; its folder."""
    plant(database, root, GRAPH, run_id=run_id)
    explored = [Exploration("errors", "one tree", {"a.py": "0" * 64})]
    document = handed(["one"], open_gaps=["gap"])
    parts = (artifact("DESIGN-001-a.md", "# One\n"), artifact("DESIGN-001-old.md", "old\n"))
    done(database, "DESIGN-001", document, *parts, explored=explored, run_id=run_id)
    revise(database, "DESIGN-001", run_id)
    done(database, "DESIGN-001", document, artifact("DESIGN-001-a.md", "# Two\n"), run_id=run_id)
    say(database, *(Spoken("designer", f"step {number}", number) for number in range(3)), run_id=run_id)
    rate(database, "DESIGN-001", "tester", 2, "too thin", run_id)
    rate(database, "DESIGN-001", "developer", 4, "", run_id)
    return folder_of(root, run_id)


def rate(database: Database, task_id: str, reviewer: str, rating: int, note: str, run_id: str = RUN) -> None:
    with database.transaction() as tx:
        row = {"run_id": run_id, "task_id": task_id, "version": 1, "reviewer": reviewer, "rating": rating}
        tx.connection.execute(insert(ratings), row | {"critical": False, "note": note, "at": tx.now})
        store.change_run(tx, run_id)


def write(database: Database, root: Path) -> Folders:
    folders = Folders(database, root, ORIGIN)
    folders.write()
    assert folders.trouble is None
    return folders


def behind(database: Database, root: Path) -> int:
    with database.read() as connection:
        return runs_to_write(connection, root, ORIGIN)


def end(database: Database, run_id: str = RUN) -> None:
    with database.transaction() as tx:
        store.change_run(tx, run_id, state="completed")


def put_away(database: Database, *, remove: bool = False, run_id: str = RUN) -> None:
    with database.transaction() as tx:
        archive(tx, ArchiveRun(remove), id=run_id)


# ---- what lies there -------------------------------------------------------------------------------------------------


def test_the_folder_has_everything_that_the_rows_have(database: Database, root: Path) -> None:
    folder = fill(database, root)

    write(database, root)

    found = files_in(folder)
    assert [*found] == sorted(
        [
            "artifacts/DESIGN-001-a.md",
            "artifacts/versions/1/DESIGN-001-a.md",
            "artifacts/versions/1/DESIGN-001-old.md",
            "discussions/DESIGN-001.md",
            "explorations/cache-index.json",
            "messages.jsonl",
            *(f"role-specs/{name}.md" for name in ("designer", "developer", "researcher", "tester")),
            "task-analysis.json",
            "team-session.json",
            *(f"wisdom/{kind}.md" for kind in KINDS),
        ]
    )
    session = json.loads(found["team-session.json"])
    assert (session["id"], session["state"], [each["id"] for each in session["tasks"]]) == (RUN, "running", [*GRAPH])
    assert (session["tasks"][0]["version"], session["tasks"][1]["blocked_by"]) == (2, ["DESIGN-001"])
    assert "spec" not in session["roles"][0]
    assert found["artifacts/DESIGN-001-a.md"] == b"# Two\n"
    assert found["artifacts/versions/1/DESIGN-001-a.md"] == b"# One\n"
    assert found["role-specs/designer.md"].startswith(b"---\nrole: ")
    assert [json.loads(line)["summary"] for line in found["messages.jsonl"].splitlines()] == [
        *["DESIGN-001 reports"] * 2,
        "step 0",
        "step 1",
        "step 2",
    ]
    assert json.loads(found["explorations/cache-index.json"])["errors"]["files"] == {"a.py": "0" * 64}
    assert b"Consensus reached: severity MEDIUM, mean 3; a reviewer gives 2." in found["discussions/DESIGN-001.md"]
    assert b"    too thin\n" in found["discussions/DESIGN-001.md"]
    assert b"    gap\n" in found["wisdom/issues.md"]
    assert behind(database, root) == 0


def test_the_same_state_is_the_same_bytes(database: Database, root: Path) -> None:
    folder = fill(database, root)
    write(database, root)
    first = files_in(folder)
    shutil.rmtree(folder)
    with database.transaction() as tx:
        store.change_run(tx, RUN)

    write(database, root)

    assert files_in(folder) == first


def test_what_is_deleted_or_edited_is_written_again_and_the_rest_is_left_alone(database: Database, root: Path) -> None:
    folder = fill(database, root)
    folders = write(database, root)
    first = files_in(folder)
    untouched = (folder / "wisdom" / "issues.md").stat()
    (folder / "artifacts" / "DESIGN-001-a.md").unlink()
    (folder / "team-session.json").write_bytes(b"x" * len(first["team-session.json"]))
    (folder / "messages.jsonl").write_text("{}")
    (folder / "notes.txt").write_text("mine")
    with database.transaction() as tx:
        store.change_run(tx, RUN)

    folders.write()

    assert files_in(folder) == first | {"notes.txt": b"mine"}
    assert (folder / "wisdom" / "issues.md").stat() == untouched


def test_an_artifact_that_a_new_version_has_no_more_is_gone_from_its_place(database: Database, root: Path) -> None:
    plant(database, root, GRAPH)
    done(database, "DESIGN-001", handed(), artifact("DESIGN-001-a.md", "1"), artifact("DESIGN-001-b.md", "1"))
    folders = write(database, root)
    folder = folder_of(root, RUN)
    assert (folder / "artifacts" / "DESIGN-001-b.md").exists()
    revise(database, "DESIGN-001")
    done(database, "DESIGN-001", handed(), artifact("DESIGN-001-a.md", "2"))

    folders.write()

    assert [*files_in(folder / "artifacts")] == [
        "DESIGN-001-a.md",
        "versions/1/DESIGN-001-a.md",
        "versions/1/DESIGN-001-b.md",
    ]


def test_messages_are_appended_as_long_as_their_file_is_as_it_was_left(database: Database, root: Path) -> None:
    folder = fill(database, root)
    folders = write(database, root)
    file = folder / "messages.jsonl"
    before, inode = file.read_bytes(), file.stat().st_ino

    say(database, *(Spoken("tester", f"more {number}") for number in range(2_500)))
    folders.write()

    assert file.read_bytes().startswith(before)
    assert file.stat().st_ino == inode
    assert [json.loads(line)["id"] for line in file.read_bytes().splitlines()] == [*range(1, 2_506)]
    with file.open("ab") as torn:
        torn.write(b'{"id": 99')
    say(database, Spoken("tester", "last"))
    folders.write()
    assert [json.loads(line)["id"] for line in file.read_bytes().splitlines()] == [*range(1, 2_507)]


def test_a_change_while_it_is_written_is_written_next(
    database: Database, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(database, root)
    folders = Folders(database, root, ORIGIN)
    plain = Folders._write_messages

    def interrupted(self: Folders, *args: object) -> None:
        plain(self, *args)  # type: ignore[arg-type]
        monkeypatch.undo()
        with database.transaction() as tx:
            add_wisdom(tx, RUN, "decisions", "changed meanwhile", "ann")

    monkeypatch.setattr(Folders, "_write_messages", interrupted)
    folders.write()
    assert b"changed meanwhile" not in (folder / "wisdom" / "decisions.md").read_bytes()
    assert behind(database, root) == 1

    folders.write()

    assert b"changed meanwhile" in (folder / "wisdom" / "decisions.md").read_bytes()
    assert behind(database, root) == 0


def test_runs_of_other_workspaces_and_homes_are_not_written_here(database: Database, root: Path) -> None:
    plant(database, root / "other", GRAPH, run_id="team-00000000000a")
    plant(database, root, GRAPH, run_id="team-00000000000b", origin="there")

    write(database, root)

    assert not [*(root / ".gemba").rglob("team-*")]


# ---- hostile content -------------------------------------------------------------------------------------------------


def test_agents_text_stays_data_in_every_file(database: Database, root: Path) -> None:
    plant(database, root, GRAPH, text=HOSTILE.replace("\0", ""))
    with database.transaction() as tx:
        add_wisdom(tx, RUN, "learnings", HOSTILE, "ann\n# evil `x`", "IMPL-001")
    rate(database, "IMPL-001", "a\n## b", 3, HOSTILE.replace("\0", ""))
    rate(database, "../../evil", "ann", 3, "x")
    say(database, Spoken("x", HOSTILE.replace("\0", "")))

    write(database, root)

    folder = folder_of(root, RUN)
    for name in ("wisdom/learnings.md", "discussions/IMPL-001.md"):
        text = (folder / name).read_text()
        ours = [line for line in text.splitlines() if line and not line.startswith("    ")]
        assert all(line.startswith(("# ", "## ", "### ", "Consensus ")) for line in ours), ours
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "<img" in text
    assert len((folder / "messages.jsonl").read_bytes().splitlines()) == 1
    json.loads((folder / "team-session.json").read_text())
    assert not [*root.rglob("evil*")]
    assert [*files_in(folder / "discussions")] == ["IMPL-001.md"]


def test_roles_whose_names_are_no_files_make_none(database: Database, root: Path) -> None:
    plant(database, root, GRAPH, roles=[{"name": "../../x", "spec": "evil"}, {"name": "ok", "spec": "good"}])

    write(database, root)

    assert files_in(folder_of(root, RUN) / "role-specs") == {"ok.md": b"good"}


@pytest.mark.parametrize("level", ["teams", f"teams/{RUN}", f"teams/{RUN}/wisdom"])
def test_a_link_in_the_folders_place_is_not_written_through(
    database: Database, root: Path, tmp_path: Path, level: str
) -> None:
    fill(database, root)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = root / ".gemba" / level
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    folders = Folders(database, root, ORIGIN)

    folders.write()

    assert folders.trouble is not None
    assert not [*elsewhere.iterdir()]
    assert behind(database, root) == 1
    link.unlink()
    write(database, root)
    assert behind(database, root) == 0


def test_a_file_that_is_a_link_is_replaced_and_its_target_left(database: Database, root: Path, tmp_path: Path) -> None:
    folder = fill(database, root)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (folder / "wisdom").mkdir(parents=True)
    for name in ("messages.jsonl", "team-session.json", "wisdom/issues.md"):
        (folder / name).symlink_to(victim)

    write(database, root)

    assert victim.read_text() == "mine"
    assert len(files_in(folder)) > 10


@pytest.mark.parametrize("id", ["../x", "team-0123456789ab/..", "team-0123456789AB", "", "team-0123456789ab\n"])
def test_a_run_id_is_checked_before_it_is_a_path(database: Database, root: Path, id: str) -> None:
    with pytest.raises(Invalid):
        folder_of(root, id)
    with pytest.raises(Invalid), database.transaction() as tx:
        archive(tx, ArchiveRun(), id=id)


# ---- kills -----------------------------------------------------------------------------------------------------------


def killed_at(database_url: str, root: Path, n: int) -> bool:
    """Whether the writer died at that step; else it came to its end."""
    command = [sys.executable, "-m", "tests.fixtures.doomed_folders", database_url, str(root), ORIGIN, str(n)]
    code = subprocess.run(command, cwd=Path(__file__).parents[2], check=False).returncode
    assert code in (0, -9)
    return code == -9


@pytest.mark.parametrize("n", [1, 3, 4, 20, 44, *drawn(short=1, full=60)])
def test_a_writer_that_is_killed_leaves_whole_files_and_the_next_one_ends_it(
    sqlite_url: str, root: Path, n: int
) -> None:
    with closing(open_database(sqlite_url)) as database:
        folder = fill(database, root)

    killed = killed_at(sqlite_url, root, n)

    whole = {name: data for name, data in files_in(folder).items() if ".partial" not in name}
    with closing(open_database(sqlite_url)) as database:
        assert behind(database, root) == (1 if killed else 0)
        write(database, root)
        assert behind(database, root) == 0
        final = files_in(folder)
        assert not [name for name in final if ".partial" in name]
        assert whole.items() <= final.items()
        shutil.rmtree(folder)
        with database.transaction() as tx:
            store.change_run(tx, RUN)
        write(database, root)
        assert files_in(folder) == final


@pytest.mark.parametrize("n", [5, 48, 50, 52, 54, 62, *drawn(short=1, full=60)])
def test_a_removal_that_is_killed_is_ended_and_takes_nothing_else(sqlite_url: str, root: Path, n: int) -> None:
    with closing(open_database(sqlite_url)) as database:
        folder = fill(database, root)
        end(database)
        put_away(database, remove=True)

    killed_at(sqlite_url, root, n)
    (folder / "artifacts").mkdir(parents=True, exist_ok=True)
    (folder / "artifacts" / "mine.txt").write_text("mine")

    with closing(open_database(sqlite_url)) as database:
        with database.transaction() as tx:
            store.change_run(tx, RUN)
        write(database, root)
    found = files_in(folder)
    assert [*found] == ["artifacts/mine.txt", "manifest.json"]
    assert len(json.loads(found["manifest.json"])["files"]) == 16


# ---- archive ---------------------------------------------------------------------------------------------------------


def test_an_archive_has_the_digest_of_every_file_and_removes_nothing(database: Database, root: Path) -> None:
    folder = fill(database, root)
    end(database)

    put_away(database)
    write(database, root)

    found = files_in(folder)
    told = json.loads(found.pop("manifest.json"))
    assert told["run"] == RUN
    assert told["files"] == {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)} for name, data in found.items()
    }


def test_a_removal_spares_what_was_edited_or_added(database: Database, root: Path) -> None:
    folder = fill(database, root)
    end(database)
    put_away(database)
    folders = write(database, root)
    folders._write_all = lambda *_: None  # type: ignore[method-assign]  # somebody edits between writing and removing
    (folder / "wisdom" / "issues.md").write_text("mine")
    (folder / "added.md").write_text("mine")

    put_away(database, remove=True)
    folders.write()

    assert [*files_in(folder)] == ["added.md", "manifest.json", "wisdom/issues.md"]
    with database.read() as connection:
        names = connection.execute(select(runs.c.archived_at, runs.c.folder_removed)).one()
    assert names.folder_removed
    assert names.archived_at


def test_a_run_that_is_not_over_is_not_archived(database: Database, root: Path) -> None:
    plant(database, root, GRAPH)

    with pytest.raises(Conflict, match="running"):
        put_away(database)
    with pytest.raises(NotFound):
        put_away(database, run_id="team-00000000000f")


def test_to_archive_twice_keeps_the_first_time(database: Database, root: Path) -> None:
    plant(database, root, GRAPH, state="failed")
    with database.transaction() as tx:
        first = archive(tx, ArchiveRun(), id=RUN)
    with database.transaction() as tx:
        again = archive(tx, ArchiveRun(remove=True), id=RUN)

    assert (first.removed, again.removed, again.archived_at) == (False, True, first.archived_at)
    assert again.folder == f".gemba/teams/{RUN}"


def test_a_run_that_is_brought_back_has_its_folder_again(database: Database, root: Path) -> None:
    folder = fill(database, root)
    first = [*files_in(folder)]
    write(database, root)
    first = [*files_in(folder)]
    end(database)
    put_away(database, remove=True)
    folders = write(database, root)
    assert [*files_in(folder)] == ["manifest.json"]

    with database.transaction() as tx:
        bring_back(tx, RUN)
    folders.write()

    assert [*files_in(folder)] == first


# ---- when ------------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_folder_follows_events_and_catches_up_at_the_start(database: Database, root: Path) -> None:
    folder = fill(database, root)
    hub = Hub(database)
    await hub.start()
    database.on_commit.append(hub.tell)
    folders = Folders(database, root, ORIGIN)
    tasks = [asyncio.create_task(hub.run()), asyncio.create_task(folders.keep(hub))]

    async def until(name: str, words: bytes) -> None:
        async with asyncio.timeout(20):
            while not (folder / name).exists() or words not in (folder / name).read_bytes():  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    await until("wisdom/issues.md", b"gap")
    await asyncio.to_thread(feedback, database, "from a person")
    await until("wisdom/decisions.md", b"from a person")
    # A task that moves tells of it and does not touch the run's row.
    await asyncio.to_thread(move, database)
    await until("team-session.json", b'"state": "claimed"')
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    database.on_commit.remove(hub.tell)


def feedback(database: Database, said: str) -> None:
    with database.transaction() as tx:
        add_wisdom(tx, RUN, "decisions", said, "ann")


def move(database: Database) -> None:
    with database.transaction() as tx:
        tx.connection.execute(update(runs).values(unwritten=False))
        store.move_task(tx, store.lock_task(tx, RUN, "IMPL-001"), "claimed")
