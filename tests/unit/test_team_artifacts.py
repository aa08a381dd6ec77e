"""Artifacts are taken from a worktree and laid into it without following anything that an agent left there."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gemba.errors import Unusable
from gemba.teams import artifacts
from gemba.teams.artifacts import LARGEST, MOST_ARTIFACTS, collect, lay_down
from gemba.teams.explorations import explore, is_stale
from gemba.teams.knowledge import Exploration
from gemba.teams.loaded import Loaded, LoadedArtifact
from tests.fixtures.team_knowledge import artifact, files_in, handed


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A worktree."""
    tree = tmp_path / "tree"
    tree.mkdir()
    return tree


def place_in(tree: Path) -> Path:
    place = tree / ".gemba" / "artifacts"
    place.mkdir(parents=True, exist_ok=True)
    return place


def upstream(name: str, content: str, version: int = 1) -> LoadedArtifact:
    made = artifact(name, content)
    return LoadedArtifact(name, made.task_id, version, made.digest, made.size, made.lines, content)


# ---- collecting ------------------------------------------------------------------------------------------------------


def test_a_tasks_own_artifacts_are_taken_in_order_of_their_names(tree: Path) -> None:
    place = place_in(tree)
    (place / "IMPL-001-b.md").write_text("# B\n\ntext")
    (place / "IMPL-001-a.md").write_text("# A\n")

    found = collect(tree, "IMPL-001")

    assert [(each.name, each.content, each.lines) for each in found.artifacts] == [
        ("IMPL-001-a.md", "# A\n", 1),
        ("IMPL-001-b.md", "# B\n\ntext", 3),
    ]
    assert found.artifacts[0] == artifact("IMPL-001-a.md", "# A\n")
    assert not found.remarks


def test_without_a_folder_there_are_none(tree: Path) -> None:
    assert collect(tree, "IMPL-001") == ([], [])
    assert collect(tree / "gone", "IMPL-001") == ([], [])


def test_bytes_that_no_database_takes_are_replaced(tree: Path) -> None:
    (place_in(tree) / "IMPL-001-a.md").write_bytes(b"a\xff\0b")

    assert [each.content for each in collect(tree, "IMPL-001").artifacts] == ["a\ufffd\ufffdb"]


@pytest.mark.parametrize("target", ["/etc/passwd", "IMPL-001-real.md", "nowhere"])
def test_a_link_is_not_followed_and_told(tree: Path, target: str) -> None:
    place = place_in(tree)
    (place / "IMPL-001-a.md").symlink_to(target)

    found = collect(tree, "IMPL-001")

    assert not found.artifacts
    assert found.remarks == [("IMPL-001-a.md", "it is a link")]


@pytest.mark.parametrize("level", [".gemba", ".gemba/artifacts"])
def test_a_folder_that_is_a_link_is_not_entered(tree: Path, tmp_path: Path, level: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "artifacts").mkdir(parents=True)
    (elsewhere / "IMPL-001-a.md").write_text("x")
    (elsewhere / "artifacts" / "IMPL-001-a.md").write_text("x")
    (tree / level).parent.mkdir(exist_ok=True)
    (tree / level).symlink_to(elsewhere)

    found = collect(tree, "IMPL-001")

    assert not found.artifacts
    assert len(found.remarks) == 1
    with pytest.raises(Unusable, match="IMPL-002"):
        lay_down(Loaded("IMPL-002", artifacts=(upstream("IMPL-001-a.md", "y"),)), tree)
    assert (elsewhere / "IMPL-001-a.md").read_text() == "x"
    assert (elsewhere / "artifacts" / "IMPL-001-a.md").read_text() == "x"


def test_pipes_folders_large_and_empty_files_are_told_and_not_taken(tree: Path) -> None:
    place = place_in(tree)
    os.mkfifo(place / "IMPL-001-pipe.md")
    (place / "IMPL-001-folder.md").mkdir()
    (place / "IMPL-001-large.md").write_bytes(b"x" * (LARGEST + 1))
    (place / "IMPL-001-empty.md").write_text(" \n")
    (place / "IMPL-001-good.md").write_bytes(b"x" * LARGEST)

    found = collect(tree, "IMPL-001")

    assert [each.name for each in found.artifacts] == ["IMPL-001-good.md"]
    assert {remark.name for remark in found.remarks} == {
        "IMPL-001-pipe.md",
        "IMPL-001-folder.md",
        "IMPL-001-large.md",
        "IMPL-001-empty.md",
    }


def test_names_of_no_artifact_and_of_other_tasks_are_told(tree: Path) -> None:
    place = place_in(tree)
    for name in ("notes.md", "IMPL-001-..md", "\x1b[31m.md", "IMPL-002-a.md"):
        (place / name).write_text("x")
    Path(os.fsdecode(os.fsencode(place) + b"/IMPL-001-\xff.md")).write_text("x")

    found = collect(tree, "IMPL-001")

    assert not found.artifacts
    assert len(found.remarks) == 5
    assert ("IMPL-002-a.md", "it is an artifact of IMPL-002, and was not laid down for this task") in found.remarks
    assert all(remark.name.isprintable() or "\x1b" in remark.name for remark in found.remarks)


def test_more_artifacts_than_a_task_may_have_are_left(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_in(tree)
    for number in range(MOST_ARTIFACTS + 1):
        (place / f"IMPL-001-{number:03}.md").write_text("x")

    found = collect(tree, "IMPL-001")

    assert len(found.artifacts) == MOST_ARTIFACTS
    assert [remark.name for remark in found.remarks] == [f"IMPL-001-{MOST_ARTIFACTS:03}.md"]
    monkeypatch.setattr(artifacts, "MOST_BYTES", 3)
    assert len(collect(tree, "IMPL-001").artifacts) == 3


# ---- laying down -----------------------------------------------------------------------------------------------------


def test_upstream_artifacts_lie_there_for_reading(tree: Path) -> None:
    loaded = Loaded("IMPL-001", artifacts=(upstream("DESIGN-001-a.md", "# Design\n"),))

    assert lay_down(loaded, tree) == loaded

    laid = tree / ".gemba" / "artifacts" / "DESIGN-001-a.md"
    assert laid.read_text() == "# Design\n"
    assert stat.S_IMODE(laid.stat().st_mode) == 0o444
    before = laid.stat()
    lay_down(loaded, tree)
    assert laid.stat() == before
    assert files_in(laid.parent) == {laid.name: b"# Design\n"}


def test_a_new_version_takes_the_place_of_what_was_laid(tree: Path) -> None:
    lay_down(Loaded("IMPL-001", artifacts=(upstream("DESIGN-001-a.md", "one"),)), tree)
    laid = tree / ".gemba" / "artifacts" / "DESIGN-001-a.md"
    laid.chmod(0o644)

    lay_down(Loaded("IMPL-001", artifacts=(upstream("DESIGN-001-a.md", "two", 2),)), tree)

    assert laid.read_text() == "two"
    assert stat.S_IMODE(laid.stat().st_mode) == 0o444


def test_a_link_in_the_place_of_an_artifact_is_replaced_and_not_written_through(tree: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (place_in(tree) / "DESIGN-001-a.md").symlink_to(victim)

    lay_down(Loaded("IMPL-001", artifacts=(upstream("DESIGN-001-a.md", "x"),)), tree)

    assert victim.read_text() == "mine"
    assert not (place_in(tree) / "DESIGN-001-a.md").is_symlink()


def test_a_name_that_is_no_artifacts_is_never_a_path(tree: Path) -> None:
    bad = LoadedArtifact("../../evil.md", "DESIGN-001", 1, "0", 1, 1, "x")

    with pytest.raises(Unusable):
        lay_down(Loaded("IMPL-001", artifacts=(bad,)), tree)
    assert not files_in(tree.parent)


def test_what_an_agent_does_to_others_artifacts_is_told(tree: Path) -> None:
    given = [upstream(f"DESIGN-001-{name}.md", "x") for name in ("same", "changed", "gone", "linked")]
    lay_down(Loaded("IMPL-001", artifacts=tuple(given)), tree)
    place = place_in(tree)
    for name in ("changed", "gone", "linked"):
        (place / f"DESIGN-001-{name}.md").unlink()
    (place / "DESIGN-001-changed.md").write_text("mine now")
    (place / "DESIGN-001-linked.md").symlink_to("/etc/passwd")

    found = collect(tree, "IMPL-001", {each.name: each.digest for each in given})

    assert found.remarks == [
        ("DESIGN-001-changed.md", "it is an artifact of DESIGN-001, and was changed"),
        ("DESIGN-001-linked.md", "it was laid down for this task and cannot be read: it is a link"),
        ("DESIGN-001-gone.md", "it was laid down for this task and is gone"),
    ]


# ---- explorations ----------------------------------------------------------------------------------------------------


def test_an_exploration_is_stale_when_a_file_that_it_read_changes(tree: Path) -> None:
    (tree / "src").mkdir()
    (tree / "src" / "a.py").write_text("a")
    (tree / "b.py").write_text("b")
    document = handed(
        ["Errors are one tree"], patterns_checked=["errors", "names"], files_checked=["src/a.py:1-20", "./b.py", "gone"]
    )

    found = explore(tree, document, "goal", "RESEARCH-001")

    assert [each.angle for each in found] == ["errors", "names"]
    assert {(*each.files,) for each in found} == {("b.py", "src/a.py")}
    assert found[0].summary == "Errors are one tree"
    assert not is_stale(found[0], tree)
    (tree / "b.py").write_text("c")
    assert is_stale(found[0], tree)
    (tree / "b.py").write_text("b")
    assert not is_stale(found[0], tree)
    (tree / "src" / "a.py").unlink()
    assert is_stale(found[0], tree)


def test_without_a_pattern_the_goal_is_the_angle_and_without_a_file_there_is_no_entry(tree: Path) -> None:
    (tree / "a.py").write_text("a")

    assert [each.angle for each in explore(tree, handed(files_checked=["a.py"]), "Look\nat it")] == ["Look at it"]
    assert explore(tree, handed(patterns_checked=["x"], files_checked=["gone.py"]), "goal") == []
    assert is_stale(Exploration("x", "", {}), tree)


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "link", "folder/x", ".git/config", "pipe", "a\0b", ""])
def test_paths_that_leave_the_worktree_are_not_read(tree: Path, path: str) -> None:
    (tree.parent / "outside").write_text("secret")
    (tree / "link").symlink_to(tree.parent / "outside")
    (tree.parent / "x").write_text("secret")
    (tree / "folder").symlink_to(tree.parent)
    (tree / ".git").mkdir()
    (tree / ".git" / "config").write_text("x")
    os.mkfifo(tree / "pipe")

    assert explore(tree, handed(files_checked=[path]), "goal") == []
    assert is_stale(Exploration("x", "", {path: "0"}), tree)


def test_only_fresh_explorations_reach_a_task(tree: Path) -> None:
    (tree / "a.py").write_text("a")
    (fresh,) = explore(tree, handed(files_checked=["a.py"]), "fresh")
    stale = Exploration("stale", "", {"a.py": "0" * 64})

    assert lay_down(Loaded("IMPL-001", explorations=(stale, fresh)), tree).explorations == (fresh,)


def test_many_that_lay_the_same_down_at_once_do_not_stand_in_each_others_way(tree: Path) -> None:
    """As when a task is begun by whoever ended the one before, and by whoever takes its claim over."""
    versions = [Loaded("IMPL-001", artifacts=(upstream("DESIGN-001-a.md", str(n) * 50_000),)) for n in range(2)]

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(lay_down, versions[number % 2], tree) for number in range(400)]:
            done.result()

    assert [file.name for file in (tree / ".gemba" / "artifacts").iterdir()] == ["DESIGN-001-a.md"]
