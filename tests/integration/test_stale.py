"""Whether the code moved since an ask: by commit, branch and worktree, and by how much, from a real repository."""

import itertools
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gemba import git, wire
from gemba.escalations.stale import Figures
from tests.fixtures.api import Api

_LIMITS = itertools.count(100)


def run_git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, **files: str) -> str:
    for name, content in files.items():
        (folder / name).write_text(content)
        run_git(folder, "add", name)
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "more")
    return run_git(folder, "rev-parse", "HEAD")


def ask_at(api: Api, folder: Path, **payload: Any) -> str:
    """As `gemba-ask` does it in that folder."""
    head, branch, worktree = wire.git_place(str(folder))
    return api.ask(**{"cwd": str(folder), "commit": head, "branch": branch, "worktree": worktree, **payload})


def shown(api: Api, id: str) -> Any:
    """Of the one alone, once the list was seen to say the same without figures."""
    alone = api.get(f"/api/escalations/{id}")["stale"]
    # Another query each time: the same one may be answered as it was a second ago.
    rows = api.get(f"/api/escalations?limit={next(_LIMITS)}")["escalations"]
    (listed,) = (row["stale"] for row in rows if row["id"] == id)
    figures = dict.fromkeys(("files", "insertions", "deletions"))
    assert listed == (None if alone is None else {**alone, **figures})
    return alone


def test_nothing_is_said_while_nothing_moved(api: Api) -> None:
    (api.workspace / "a/b").mkdir(parents=True)
    assert shown(api, ask_at(api, api.workspace / "a/b")) is None


def test_a_commit_is_told_with_how_much_it_changed(api: Api) -> None:
    before = commit(api.workspace, one="1\n2\n3\n")
    id = ask_at(api, api.workspace)
    after = commit(api.workspace, one="1\n3\n", two="a\nb\n")

    assert shown(api, id) == {
        "commit": before,
        "head": after,
        "branch": "main",
        "head_branch": "main",
        "gone": False,
        "files": 2,
        "insertions": 2,
        "deletions": 1,
    }


def test_another_branch_on_the_same_commit_is_told(api: Api) -> None:
    id = ask_at(api, api.workspace)
    run_git(api.workspace, "switch", "-qc", "feature")

    told = shown(api, id)

    assert told["commit"] == told["head"]
    assert (told["branch"], told["head_branch"], told["files"]) == ("main", "feature", 0)


def test_a_branch_made_where_there_was_none_moves_nothing(api: Api) -> None:
    run_git(api.workspace, "checkout", "-q", "--detach")
    id = ask_at(api, api.workspace)
    run_git(api.workspace, "switch", "-qc", "feature")

    assert shown(api, id) is None


@pytest.mark.parametrize("inside", [True, False])
def test_a_worktree_that_is_no_more_is_told_even_inside_another_one(api: Api, tmp_path: Path, inside: bool) -> None:
    tree = (api.workspace / "trees/side") if inside else (tmp_path / "side")
    run_git(api.workspace, "worktree", "add", "-qb", "side", str(tree))
    id = ask_at(api, tree)
    assert shown(api, id) is None
    run_git(api.workspace, "worktree", "remove", str(tree))
    if inside:
        tree.mkdir()  # left behind by something that still writes there

    told = shown(api, id)

    assert (told["gone"], told["head"], told["head_branch"], told["branch"]) == (True, None, None, "side")
    assert told["files"] is None


def test_a_subfolder_that_is_gone_says_nothing_of_its_worktree(api: Api) -> None:
    folder = api.workspace / "build"
    folder.mkdir()
    id = ask_at(api, folder)
    folder.rmdir()

    assert shown(api, id) is None


def test_a_commit_that_no_longer_exists_has_no_figures(api: Api) -> None:
    id = ask_at(api, api.workspace, commit="0" * 40)

    told = shown(api, id)

    assert (told["commit"], told["gone"]) == ("0" * 40, False)
    assert (told["files"], told["insertions"], told["deletions"]) == (None, None, None)


@pytest.mark.parametrize("name", ["--output=x", "HEAD", "x" * 40, "main", ""])
def test_a_commit_that_is_none_is_never_given_to_git(workspace: Path, name: str) -> None:
    head = run_git(workspace, "rev-parse", "HEAD")

    assert git.diff_stat(str(workspace), name, head) is None
    assert git.diff_stat(str(workspace), head, name) is None
    assert [path.name for path in workspace.iterdir() if path.name[0] != "."] == []


def test_an_ask_of_another_home_says_nothing_of_the_folders_here(api: Api) -> None:
    id = ask_at(api, api.workspace, worktree="/another/machine")
    assert shown(api, id)["gone"]
    api.app.origin = "elsewhere"

    assert shown(api, id) is None


@pytest.mark.parametrize("worktree", ["a" * 300, "nul\0nul", "a/" * 2_000])
def test_a_worktree_that_is_no_path_breaks_no_list(api: Api, worktree: str) -> None:
    id = ask_at(api, api.workspace, worktree=f"{api.workspace}/{worktree}")

    answer = api.request("GET", "/api/escalations")

    assert answer.status == 200
    assert [item["id"] for item in answer.json["escalations"]] == [id]


def test_an_ask_that_does_not_know_its_worktree_is_judged_by_its_folder(api: Api) -> None:
    id = ask_at(api, api.workspace, worktree=None)
    assert shown(api, id) is None
    after = commit(api.workspace)

    assert shown(api, id)["head"] == after


@pytest.mark.parametrize("payload", [{"commit": None}, {"cwd": None, "worktree": None}])
def test_what_was_never_in_a_repository_is_never_stale(api: Api, payload: dict[str, Any]) -> None:
    id = ask_at(api, api.workspace, **payload)
    commit(api.workspace)

    assert shown(api, id) is None


def test_once_it_is_answered_it_no_longer_matters(api: Api) -> None:
    id = ask_at(api, api.workspace)
    commit(api.workspace)
    api.post(f"/api/escalations/{id}/respond", {"text": "yes"})

    assert api.get(f"/api/escalations/{id}")["stale"] is None


def test_a_list_starts_no_process(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = commit(api.workspace, one="1\n")
    id = ask_at(api, api.workspace)
    commit(api.workspace, one="2\n")
    ran = tmp_path / "ran"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(f"#!/bin/sh\necho >>'{ran}'\nexit 1\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    (row,) = api.get("/api/escalations")["escalations"]
    assert (row["stale"]["commit"], ran.exists()) == (before, False)
    for _ in range(3):
        assert api.get(f"/api/escalations/{id}")["stale"]["files"] is None
    assert ran.read_text() == "\n", "asked once, and remembered"


def test_those_who_ask_for_the_same_at_once_wait_for_one_git(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    go_on = threading.Event()

    def slow(folder: str, before: str, after: str) -> git.DiffStat:
        asked.append(folder)
        assert go_on.wait(30)
        return git.DiffStat(1, 2, 3)

    monkeypatch.setattr(git, "diff_stat", slow)
    figures = Figures(most=2)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(figures.between, "a", "b", "c") for _ in range(8)]
        go_on.set()
        assert {one.result() for one in waiting} == {git.DiffStat(1, 2, 3)}
    assert asked == ["a"]
    for folder in ("x", "y", "a"):  # only the last two are remembered
        figures.between(folder, "b", "c")
    assert asked == ["a", "x", "y", "a"]


def test_a_git_that_takes_too_long_tells_nothing(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    assert git.diff_stat(str(workspace), "0" * 40, "1" * 40, seconds=0.1) is None


def test_no_program_that_the_repository_names_is_run_for_the_figures(workspace: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\n")
    program.chmod(0o755)
    before = commit(workspace, **{".gitattributes": "*.txt diff=mine filter=mine\n", "a.txt": "1\n"})
    for name in ("diff.external", "diff.mine.command", "diff.mine.textconv", "filter.mine.smudge", "core.fsmonitor"):
        run_git(workspace, "config", name, str(program))
    after = commit(workspace, **{"a.txt": "2\n3\n"})
    run_git(workspace, "diff", before, after)
    assert ran.exists(), "the trap does not work"
    ran.unlink()

    assert git.diff_stat(str(workspace), before, after) == git.DiffStat(1, 2, 1)
    assert not ran.exists()
