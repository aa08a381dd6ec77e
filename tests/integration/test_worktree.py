"""A session's own worktree, with real git: made, mended, told and released, whatever the repository is like."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gemba.cli.init import make_workspace
from gemba.errors import Conflict, Unusable
from gemba.sessions.worktrees import worktree
from gemba.sessions.worktrees.place import name_of
from gemba.sessions.worktrees.worktree import Released, Worktree, find, make, release, state
from gemba.testing import retry_until
from tests.fixtures.disks import SmallDisk, may_mount

KILLED = """
import os, signal, sys
from pathlib import Path
from gemba.sessions.worktrees.place import find_repository
from gemba.sessions.worktrees import steps
repository = find_repository(Path(sys.argv[1]))
with steps.begun(repository.ground, sys.argv[2], steps.Base(repository.head, repository.branch)) as site:
    for step in getattr(steps, sys.argv[3])[: int(sys.argv[4])]:
        step(site)
    os.kill(os.getpid(), signal.SIGKILL)
"""
MADE = "import sys; from gemba.sessions.worktrees import worktree; worktree.make(sys.argv[1], sys.argv[2])"


def git(folder: Path | str, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return os.fsdecode(done.stdout).strip()


def commit(folder: Path | str, name: str, text: str = "text\n") -> str:
    Path(folder, name).write_text(text)
    git(folder, "add", "--", name)
    git(folder, "commit", "-q", "-m", f"add {name}")
    return git(folder, "rev-parse", "HEAD")


def listed(folder: Path | str) -> list[str]:
    return sorted(file.name for file in Path(folder).iterdir())


def branches(folder: Path) -> list[str]:
    return git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/gemba").split()


def known(folder: Path) -> list[str]:
    """The worktrees that git knows beside the main one."""
    lines = git(folder, "worktree", "list", "--porcelain").splitlines()
    return [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")][1:]


def assert_nothing_is_left(repository: Path) -> None:
    assert (branches(repository), known(repository)) == ([], [])
    assert listed(repository / ".gemba/worktrees") == [".gitignore"]
    assert listed(repository / ".git/gemba") == []


def refusal(call: Callable[[], object]) -> Conflict:
    with pytest.raises(Conflict) as caught:
        call()
    return caught.value


@pytest.fixture
def repository(workspace: Path) -> Path:
    """A workspace with a file on `main`."""
    commit(workspace, "app.py")
    return workspace


# -- making ------------------------------------------------------------------------------------------------------------


def test_a_session_gets_a_folder_and_a_branch_of_its_own_and_the_same_ones_again(repository: Path) -> None:
    (repository / "app.py").write_text("not committed\n")
    (repository / "new.py").write_text("not committed\n")
    head = git(repository, "rev-parse", "HEAD")

    made = make(str(repository), "s-1")

    path = str(repository / ".gemba/worktrees/s-1")
    assert made == Worktree("s-1", str(repository), path, path, "gemba/s-1", head, "main")
    assert listed(path) == [".git", "app.py"]
    assert Path(path, "app.py").read_text() == "text\n"
    assert git(path, "symbolic-ref", "--short", "HEAD") == "gemba/s-1"
    assert git(path, "status", "--porcelain") == ""
    commit(path, "work.py")
    Path(path, "open.py").write_text("in work\n")
    commit(repository, "later.py")
    assert make(str(repository), "s-1") == made == find(str(repository), "s-1")
    assert listed(path) == [".git", "app.py", "open.py", "work.py"]
    assert find(str(repository), "s-2") is None
    assert make(str(repository), "s-2").path != path
    # The workspace is as it was, and sees nothing of them.
    assert (repository / "app.py").read_text() == "not committed\n"
    assert git(repository, "status", "--porcelain").splitlines() == ["M app.py", "?? new.py"]


def test_what_init_writes_keeps_the_worktrees_out_of_the_repository(repository: Path) -> None:
    make_workspace(repository)
    git(repository, "add", ".gemba")
    git(repository, "commit", "-q", "-m", "settings")
    made = make(str(repository), "s-1")
    (Path(made.path).parent / ".gitignore").unlink()

    assert git(repository, "status", "--porcelain", "--untracked-files=all") == ""


@pytest.mark.parametrize("place", ["with space", "ünï-日本", "line\nbreak", os.fsdecode(b"latin-\xe9")])
def test_a_repository_in_any_path(repository: Path, place: str) -> None:
    moved = repository.with_name(place)
    repository.rename(moved)

    made = make(str(moved), "s-1")
    Path(made.path, os.fsdecode(b"n\xe4me")).write_text("x")

    assert (state(made).is_there, state(made).dirty) == (True, 1)
    assert "n\ufffdme" in str(refusal(lambda: release(made)))
    Path(made.path, os.fsdecode(b"n\xe4me")).unlink()
    release(made)
    assert_nothing_is_left(moved)


ODD_IDS = [
    "a..b",
    "a@{b",
    "@",
    "x.lock",
    "-x",
    ".",
    "..",
    ".hidden",
    "end.",
    "a/b",
    "a b",
    "ä",
    "\ud800",
    "a\nb",
    "",
    "a_b",
]
ODD_IDS += ["x" * 512, "x" * 511, "X", "x", "HEAD", "a" * 100, "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "ä+b"]


def test_session_ids_of_any_characters_have_names_of_their_own_that_git_takes(repository: Path) -> None:
    taken = [name_of("ä"), name_of("a..b")]  # a session may be called like the name of another
    ids = [*ODD_IDS, *taken]
    names = [name_of(id) for id in ids]

    assert len(set(names)) == len(ids)
    assert (name_of("s-1"), name_of("a_b"), name_of("0f3a-4.2")) == ("s-1", "a_b", "0f3a-4.2")
    for name in names:
        git(repository, "check-ref-format", f"refs/heads/gemba/{name}")
        assert len(name) <= 100
        assert not name.startswith(("-", "."))
    for id in ("a..b", "-x", "x.lock", "\ud800", ""):
        made = make(str(repository), id)
        assert made == make(str(repository), id) == find(str(repository), id)
        release(made)
    assert_nothing_is_left(repository)


def test_two_ids_that_had_one_name_would_not_share_a_worktree(repository: Path) -> None:
    make(str(repository), "s-1")
    record = repository / ".git/gemba/s-1.json"
    record.write_text(record.read_text().replace('"s-1"', '"another"'))

    assert refusal(lambda: make(str(repository), "s-1")).code == "worktree_taken"
    assert find(str(repository), "s-1") is None


def test_a_workspace_in_a_part_of_a_repository_starts_its_agents_in_that_part(repository: Path) -> None:
    part = repository / "web/app"
    (part / ".gemba").mkdir(parents=True)
    commit(part, "page.css")

    made = make(str(part), "s-1")

    assert (made.path, made.folder) == (f"{part}/.gemba/worktrees/s-1", f"{part}/.gemba/worktrees/s-1/web/app")
    assert listed(made.folder) == ["page.css"]
    assert git(repository, "status", "--porcelain", "--untracked-files=all") == ""
    # A part that is not committed yet is made; one that is a link to somewhere else is not followed.
    fresh = repository / "fresh"
    fresh.mkdir()
    assert listed(make(str(fresh), "s-2").folder) == []
    (repository / "web/app2").symlink_to("/")
    git(repository, "add", "web/app2")
    git(repository, "commit", "-q", "-m", "a link")
    (repository / "web/app2").unlink()
    (repository / "web/app2").mkdir()
    linked = make(str(repository / "web/app2"), "s-3")
    assert linked.folder == linked.path
    (repository / "app.py").unlink()
    (repository / "app.py/deep").mkdir(parents=True)
    in_a_file = make(str(repository / "app.py/deep"), "s-4")
    assert in_a_file.folder == in_a_file.path


def test_a_workspace_that_is_a_worktree_itself_gives_its_own_head(repository: Path, tmp_path: Path) -> None:
    side = tmp_path / "side"
    git(repository, "worktree", "add", "-q", "-b", "side", str(side))
    head = commit(side, "side.py")

    made = make(str(side), "s-1")

    assert (made.base, made.base_branch, made.workspace) == (head, "side", str(side))
    assert Path(made.path) == side / ".gemba/worktrees/s-1"
    assert "side.py" in listed(made.path)
    told = refusal(lambda: make(str(repository), "s-1"))
    assert (told.code, made.path in told.message) == ("branch_taken", True)
    assert release(made) == (None, None)
    assert make(str(repository), "s-1").base_branch == "main"


def test_a_detached_head_is_a_base(repository: Path) -> None:
    git(repository, "switch", "-q", "--detach")
    made = make(str(repository), "s-1")
    assert (made.base, made.base_branch) == (git(repository, "rev-parse", "HEAD"), None)
    commit(made.path, "work.py")
    assert "the workspace's HEAD does not have" in str(refusal(lambda: release(made)))
    git(repository, "merge", "-q", "gemba/s-1")

    assert state(made).merged is True
    release(made)
    assert_nothing_is_left(repository)


@pytest.mark.parametrize("place", ["inside", "beside"])
def test_a_bare_repository_has_worktrees_too(repository: Path, tmp_path: Path, place: str) -> None:
    bare = tmp_path / "bare/it.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    root = bare if place == "inside" else bare.parent
    if place == "beside":
        (root / ".git").write_text("gitdir: ./it.git\n")
    (root / ".gemba").mkdir()

    made = make(str(root), "s-1")

    assert listed(made.path) == [".git", "app.py"]
    assert (state(made).dirty, state(made).merged) == (0, True)
    assert release(made) == (None, None)
    assert branches(bare) == []


def test_a_repository_that_git_refuses_is_refused_and_not_taken_for_none(repository: Path, tmp_path: Path) -> None:
    (repository / ".git/HEAD").write_text("broken\n")
    with pytest.raises(Unusable, match="not a git repository"):
        make(str(repository), "s-1")
    with pytest.raises(Unusable, match="is not a folder"):
        make(str(tmp_path / "nowhere"), "s-1")
    assert not (repository / ".gemba/worktrees").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to another user")
def test_a_repository_of_another_user_is_refused_with_git_s_reason(repository: Path) -> None:
    for place in (repository, repository / ".git"):
        os.chown(place, 12345, 12345)
    with pytest.raises(Unusable, match="dubious ownership"):
        make(str(repository), "s-1")


def test_a_branch_that_is_in_the_way_of_all_is_named(repository: Path) -> None:
    git(repository, "branch", "gemba")
    with pytest.raises(Unusable, match="'refs/heads/gemba' exists"):
        make(str(repository), "s-1")
    git(repository, "branch", "-m", "gemba", "mine")
    make(str(repository), "s-1")


# -- without a repository ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["none", "no commits", "ignored"])
def test_without_a_commit_one_session_at_a_time_works_in_the_workspace(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "outer/place"
    (root / ".gemba").mkdir(parents=True)
    if kind == "no commits":
        git(root, "init", "-q", "-b", "main")
    if kind == "ignored":
        git(root.parent, "init", "-q")
        commit(root.parent, ".gitignore", "place\n")
    (root / "mine.txt").write_text("a person's\n")

    made = make(str(root), "one")

    assert made == Worktree("one", str(root), str(root), str(root), None, None, None)
    assert make(str(root), "one") == made == find(str(root), "one")
    told = refusal(lambda: make(str(root), "two"))
    assert (told.code, told.extra, "'one'" in told.message) == ("workspace_taken", {"session_id": "one"}, True)
    assert state(made).dirty == (1 if kind == "no commits" else 0)
    assert state(made).merged is None
    if kind == "no commits":  # what the session commits itself leaves it where it is
        commit(root, "first.txt")
        assert make(str(root), "one") == made
        assert make(str(root), "two").branch == "gemba/two"
    else:
        release(made)
        two = make(str(root), "two")
        release(made)
        assert refusal(lambda: make(str(root), "one")).code == "workspace_taken"
        assert make(str(root), "three", is_live=lambda id: id != "two").session_id == "three"
        release(two)
        assert find(str(root), "three") is not None
    assert (root / "mine.txt").read_text() == "a person's\n"


def test_of_many_sessions_one_gets_the_workspace(tmp_path: Path) -> None:
    def attempt(number: int) -> bool:
        try:
            return make(str(tmp_path), f"s-{number}").branch is None
        except Conflict:
            return False

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(attempt, range(20))) == 1


# -- state and release -------------------------------------------------------------------------------------------------


def test_what_is_only_in_a_worktree_is_told_and_keeps_it(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "origin.git"))
    git(repository, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repository, "fetch", "-q")
    commit(repository, ".gitignore", "*.log\n")
    made = make(str(repository), "s-1")
    path = Path(made.path)
    assert state(made) == worktree.State(True, 0, ahead=0, unmerged=0, unpushed=1)
    commit(path, "work.py")
    (path / "app.py").unlink()
    (path / "staged.py").write_text("x")
    git(path, "add", "staged.py")
    for number in range(30):
        (path / f"new-{number:02}.py").write_text("x")
    (path / "build.log").write_text("ignored")

    seen = state(made)

    assert (seen.dirty, len(seen.names), seen.names[0]) == (32, 20, "app.py")
    assert (seen.ahead, seen.unmerged, seen.merged, seen.unpushed, seen.locked) == (1, 1, False, 2, None)
    assert [line.partition(" ")[2] for line in seen.commits] == ["add work.py"]
    told = refusal(lambda: release(made))
    assert told.code == "worktree_unsaved"
    assert (told.extra["dirty"], told.extra["unmerged"]) == (32, 1)
    for part in ("32 files", "app.py, new-00.py", "…", "1 commits on gemba/s-1 that main does not have", "add work.py"):
        assert part in told.message
    assert not any(word in told.message for word in ("force", "--hard", "clean", "delete", "remove", "rm "))
    # Each reason alone keeps it.
    git(path, "reset", "-q", "--hard")
    git(path, "clean", "-q", "-f")
    assert "add work.py" in str(refusal(lambda: release(made)))
    git(repository, "merge", "-q", "gemba/s-1")
    (path / "last.py").write_text("x")
    assert "1 files that are not committed (last.py)" in str(refusal(lambda: release(made)))
    (path / "last.py").unlink()
    assert state(made).merged is True
    assert release(made) == release(made) == (None, None)
    assert_nothing_is_left(repository)
    assert state(made) == worktree.State(False, 0, ahead=0, unmerged=0)


def test_what_was_merged_at_the_remote_is_merged(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "origin.git"))
    git(repository, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repository, "fetch", "-q")
    git(repository, "branch", "-q", "--set-upstream-to=origin/main", "main")
    made = make(str(repository), "s-1")
    commit(made.path, "work.py")
    git(made.path, "push", "-q", "origin", "HEAD:main")

    assert (state(made).merged, state(made).unpushed) == (True, 0)
    assert release(made) == (None, None)


def test_commits_beside_the_branch_keep_the_worktree(repository: Path) -> None:
    made = make(str(repository), "s-1")
    git(made.path, "switch", "-q", "--detach")
    lone = commit(made.path, "lone.py")
    assert "add lone.py" in str(refusal(lambda: release(made)))
    git(made.path, "switch", "-q", "-c", "other")
    assert "add lone.py" in str(refusal(lambda: release(made)))
    git(repository, "merge", "-q", "other")

    assert release(made) == (None, None)
    assert git(repository, "rev-parse", "other") == lone, "a branch that the agent made is not ours to delete"


def test_a_file_that_git_was_told_to_overlook_keeps_the_worktree(repository: Path) -> None:
    made = make(str(repository), "s-1")
    git(made.path, "update-index", "--assume-unchanged", "app.py")
    Path(made.path, "app.py").write_text("mine\n")
    assert git(made.path, "status", "--porcelain") == ""

    assert "app.py" in str(refusal(lambda: release(made)))
    saved = release(made, force_by_person=True).saved
    assert git(repository, "show", f"{saved}:app.py") == "mine"


def test_what_a_person_forces_is_kept_in_the_repository(repository: Path) -> None:
    made = make(str(repository), "s-1")
    path = Path(made.path)
    tip = commit(path, "work.py")
    (path / "app.py").write_text("changed\n")
    (path / "deep").mkdir()
    (path / "deep/new.py").write_text("new\n")

    freed = release(made, force_by_person=True)

    assert freed == Released("gemba/s-1", "refs/gemba/released/s-1")
    assert (known(repository), path.exists()) == ([], False)
    assert git(repository, "rev-parse", "gemba/s-1") == tip == git(repository, "rev-parse", f"{freed.saved}^")
    assert git(repository, "show", f"{freed.saved}:app.py") == "changed"
    assert git(repository, "show", f"{freed.saved}:deep/new.py") == "new"
    # The same session finds its branch again, as it is; what is kept a second time keeps the first.
    assert make(str(repository), "s-1") == made
    assert (git(path, "rev-parse", "HEAD"), git(path, "status", "--porcelain")) == (tip, "")
    git(path, "switch", "-q", "--detach")
    lone = commit(path, "lone.py")
    first = git(repository, "rev-parse", str(freed.saved))
    assert release(made, force_by_person=True).saved == freed.saved
    assert git(repository, "log", "-1", "--format=%P", str(freed.saved)).split() == [lone, first]
    # Once the branch is merged, a release takes it too.
    git(repository, "merge", "-q", "gemba/s-1")
    assert release(made) == (None, None)
    assert_nothing_is_left(repository)


def test_a_repository_inside_a_worktree_is_never_lost_with_it(repository: Path) -> None:
    made = make(str(repository), "s-1")
    git(made.path, "init", "-q", "own")
    commit(Path(made.path, "own"), "mine.py")

    for forced in (False, True):
        assert "own/" in str(refusal(lambda forced=forced: release(made, forced)))  # type: ignore[misc]
    assert Path(made.path, "own/mine.py").exists()


def test_submodules_are_the_agent_s_and_what_is_only_there_keeps_the_worktree(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (key, value) in enumerate([("protocol.file.allow", "always")]):
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    git(tmp_path, "init", "-q", "-b", "main", "library")
    commit(tmp_path / "library", "code.c")
    git(repository, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(repository, "commit", "-q", "-m", "lib")
    made = make(str(repository), "s-1")
    inner = Path(made.path, "lib")
    assert listed(inner) == []
    assert release(made) == (None, None)

    make(str(repository), "s-1")
    git(made.path, "submodule", "--quiet", "update", "--init")
    assert state(made).dirty == 0
    (inner / "code.c").write_text("changed")
    assert state(made).names == ("lib/code.c",)
    lone = commit(inner, "new.c")
    assert state(made).names == ("lib", "lib/code.c", "lib (1 commits that no remote has)")
    git(inner, "reset", "-q", "--hard", "HEAD^")
    git(inner, "branch", "side", lone)
    git(made.path, "submodule", "--quiet", "deinit", "-f", "lib")
    for forced in (False, True):
        told = str(refusal(lambda forced=forced: release(made, forced)))  # type: ignore[misc]
        assert "lib (1 commits that no remote has)" in told
    git(repository / f".git/worktrees/{Path(made.path).name}/modules/lib", "push", "-q", "origin", "side")
    assert release(made) == (None, None)
    # And a workspace that is a submodule has worktrees of its own repository.
    (repository / "lib/.gemba").mkdir()
    inside = make(str(repository / "lib"), "s-2")
    assert listed(inside.path) == [".git", "code.c"]
    assert release(inside) == (None, None)


# -- by a person's hand ------------------------------------------------------------------------------------------------


def test_a_folder_that_was_deleted_by_hand_is_made_anew_from_its_branch(repository: Path) -> None:
    made = make(str(repository), "s-1")
    tip = commit(made.path, "work.py")
    git(repository, "worktree", "remove", "--force", made.path)
    assert make(str(repository), "s-1") == made
    assert git(made.path, "rev-parse", "HEAD") == tip

    subprocess.run(["rm", "-r", made.path], check=True)
    seen = state(made)
    assert (seen.is_there, seen.dirty, seen.unmerged) == (False, 0, 1)
    assert make(str(repository), "s-1") == made
    assert (known(repository), git(made.path, "status", "--porcelain")) == ([made.path], "")
    # What stood on no branch is not thrown away with the folder.
    git(made.path, "switch", "-q", "--detach")
    lone = commit(made.path, "lone.py")
    subprocess.run(["rm", "-r", made.path], check=True)
    assert lone in str(refusal(lambda: make(str(repository), "s-1")))
    assert "add lone.py" in str(refusal(lambda: release(made)))
    git(repository, "branch", "kept", lone)
    assert make(str(repository), "s-1") == made
    # A branch that is gone as well begins again where the workspace is.
    git(repository, "worktree", "remove", "--force", made.path)
    git(repository, "branch", "-D", "gemba/s-1")
    head = commit(repository, "later.py")
    assert make(str(repository), "s-1").base == head


def test_a_worktree_that_a_person_locked_stays(repository: Path) -> None:
    made = make(str(repository), "s-1")
    git(repository, "worktree", "lock", "--reason", "I look at it", made.path)
    assert make(str(repository), "s-1") == made
    assert state(made).locked == "I look at it"
    for forced in (False, True):
        assert "I look at it" in str(refusal(lambda forced=forced: release(made, forced)))  # type: ignore[misc]
    subprocess.run(["rm", "-r", made.path], check=True)
    assert "I look at it" in str(refusal(lambda: make(str(repository), "s-1")))
    git(repository, "worktree", "unlock", made.path)
    assert make(str(repository), "s-1") == made


def test_a_worktree_that_a_person_moved_is_theirs(repository: Path, tmp_path: Path) -> None:
    made = make(str(repository), "s-1")
    commit(made.path, "work.py")
    git(repository, "worktree", "move", made.path, str(tmp_path / "moved"))

    told = refusal(lambda: make(str(repository), "s-1"))
    assert (told.code, str(tmp_path / "moved") in told.message) == ("branch_taken", True)
    assert release(made) == ("gemba/s-1", None)
    assert listed(tmp_path / "moved") == [".git", "app.py", "work.py"]
    git(repository, "worktree", "move", str(tmp_path / "moved"), made.path)
    assert refusal(lambda: make(str(repository), "s-1")).code == "worktree_replaced"
    assert release(made) == ("gemba/s-1", None)
    assert listed(made.path) == [".git", "app.py", "work.py"]


def test_a_worktree_is_found_where_its_whole_repository_was_moved(repository: Path, tmp_path: Path) -> None:
    made = make(str(repository), "s-1")
    Path(made.path, "open.py").write_text("in work\n")
    moved = tmp_path / "moved"
    repository.rename(moved)

    again = make(str(moved), "s-1")

    assert again.path == str(moved / ".gemba/worktrees/s-1")
    assert git(again.path, "status", "--porcelain") == "?? open.py"
    assert known(moved) == [again.path]
    Path(again.path, ".git").unlink()
    assert refusal(lambda: release(again)).code == "worktree_replaced"
    make(str(moved), "s-1")
    assert state(again).names == ("open.py",)


@pytest.mark.parametrize("kind", ["file", "folder", "link", "repository", "without git"])
def test_something_else_in_its_place_is_left_alone(repository: Path, tmp_path: Path, kind: str) -> None:
    made = make(str(repository), "s-1")
    path, aside = Path(made.path), tmp_path / "aside"
    if kind == "without git":
        subprocess.run(["rm", "-r", repository / ".git/worktrees/s-1"], check=True)
    else:
        path.rename(aside)
    if kind == "file":
        path.write_text("mine")
    if kind == "link":
        path.symlink_to(aside)
    if kind in ("folder", "repository"):
        path.mkdir()
    if kind == "repository":
        git(path, "init", "-q")
    if kind == "folder":  # it is taken for the worktree, but what is gone from it counts
        make(str(repository), "s-1")
        assert state(made).names == ("app.py",)
    else:
        assert refusal(lambda: make(str(repository), "s-1")).code == "worktree_replaced"
        for forced in (False, True):
            told = refusal(lambda forced=forced: release(made, forced))  # type: ignore[misc]
            assert told.code == "worktree_replaced"
    assert os.path.lexists(path)


def test_a_branch_of_that_name_is_reused_when_it_is_ours_and_free_and_refused_otherwise(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "branch", "gemba/s-1")
    told = refusal(lambda: make(str(repository), "s-1"))
    assert (told.code, "gemba/s-1" in told.message) == ("branch_taken", True)
    assert branches(repository) == ["gemba/s-1"]
    git(repository, "branch", "-D", "gemba/s-1")

    made = make(str(repository), "s-1")
    tip = commit(made.path, "work.py")
    release(made, force_by_person=True)
    git(repository, "switch", "-q", "gemba/s-1")
    assert str(repository) in str(refusal(lambda: make(str(repository), "s-1")))
    git(repository, "switch", "-q", "main")
    git(repository, "worktree", "add", "-q", str(tmp_path / "look"), "gemba/s-1")
    assert str(tmp_path / "look") in str(refusal(lambda: make(str(repository), "s-1")))
    git(repository, "worktree", "remove", str(tmp_path / "look"))
    assert make(str(repository), "s-1") == made
    assert git(made.path, "rev-parse", "HEAD") == tip


# -- kills, full disks, many at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", range(6))
def test_a_kill_after_any_step_of_making_is_mended(repository: Path, steps: int) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(repository), "s-1", "MAKING", str(steps)])
    assert killed.returncode == -9

    made = make(str(repository), "s-1")

    assert listed(made.path) == [".git", "app.py"]
    assert git(made.path, "status", "--porcelain", "--branch") == "## gemba/s-1"
    assert known(repository) == [made.path]
    assert release(made) == (None, None)
    assert_nothing_is_left(repository)


def test_what_a_git_that_was_killed_holds_of_the_worktree_is_freed(repository: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(repository), "s-1", "MAKING", "1"])
    (repository / ".git/refs/heads/gemba").mkdir()
    (repository / ".git/refs/heads/gemba/s-1.lock").touch()
    (repository / ".git/worktrees/s-1").mkdir(parents=True)
    (repository / ".git/worktrees/s-1/locked").write_text("initializing\n")

    make(str(repository), "s-1")

    assert listed(repository / ".git/worktrees") == ["s-1"]
    assert listed(repository / ".git/refs/heads/gemba") == ["s-1"]


@pytest.mark.parametrize("steps", range(5))
@pytest.mark.parametrize("then", ["release", "make"])
def test_a_kill_after_any_step_of_leaving_is_mended(repository: Path, steps: int, then: str) -> None:
    made = make(str(repository), "s-1")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(repository), "s-1", "LEAVING", str(steps)])
    assert killed.returncode == -9

    if then == "make":
        assert make(str(repository), "s-1") == made
        assert git(made.path, "status", "--porcelain", "--branch") == "## gemba/s-1"
    assert release(made) == (None, None)
    assert_nothing_is_left(repository)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("git_too", [True, False])
def test_a_kill_in_the_middle_of_git_is_mended(repository: Path, git_too: bool) -> None:
    """Where git goes on without us, nobody begins before it has ended."""
    for number in range(4_000):
        (repository / f"file-{number:05}").write_text(f"{number}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "many")
    path = repository / ".gemba/worktrees/s-1"
    process = subprocess.Popen([sys.executable, "-c", MADE, str(repository), "s-1"])
    retry_until(lambda: path.is_dir() and len(listed(path)) > 50, every=0.001)
    gits = children(process.pid)
    process.kill()
    if git_too:
        for pid in gits:
            os.kill(pid, 9)
    process.wait()

    made = make(str(repository), "s-1")

    assert len(listed(made.path)) == 4_002
    assert git(made.path, "status", "--porcelain", "--branch") == "## gemba/s-1"
    assert known(repository) == [made.path]


@pytest.mark.skipif(not may_mount(), reason="only root may mount a small file system")
def test_a_full_disk_leaves_nothing_in_the_way(mounted: Path) -> None:
    root = mounted / "it"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".gemba").mkdir()
    for number in range(8):
        (root / f"large-{number}").write_text("text\n" * 40_000)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "large once checked out")
    (mounted / "part").write_bytes(bytes(600_000))
    disk = SmallDisk(mounted)
    disk.fill()
    for room in ("for nothing", "for a part of the files"):
        if room == "for a part of the files":
            (mounted / "part").unlink()
        with pytest.raises(Unusable, match="No space left on device"):
            make(str(root), "s-1")
        assert listed(root / ".git/gemba") == []
        assert (branches(root), known(root), find(str(root), "s-1")) == ([], [], None)
        assert not (root / ".gemba/worktrees/s-1").exists()
    disk.free()

    made = make(str(root), "s-1")

    assert state(made) == worktree.State(True, 0, ahead=0, unmerged=0)
    assert release(made) == (None, None)


def test_many_at_once_get_one_each_and_one_session_gets_one(repository: Path) -> None:
    with ThreadPoolExecutor(20) as pool:
        each = list(pool.map(lambda number: make(str(repository), f"s-{number}"), range(20)))
        same = list(pool.map(lambda _: make(str(repository), "one"), range(20)))

    assert len({made.path for made in each}) == 20
    assert len(set(same)) == 1
    assert sorted(known(repository)) == sorted([*(made.path for made in each), same[0].path])
    assert all(git(made.path, "status", "--porcelain") == "" for made in each)
    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(release, [*each, *same])) == {(None, None)}
    assert_nothing_is_left(repository)


def test_a_worktree_that_another_git_is_just_making_is_waited_for(repository: Path) -> None:
    half = repository / ".git/worktrees/half"
    half.mkdir(parents=True)
    (half / "gitdir").write_text(f"{repository}/half/.git\n")
    (half / "commondir").touch()

    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(make, str(repository), "s-1")
        retry_until((repository / ".git/gemba/s-1.lock").exists)
        shutil.rmtree(half)

    assert making.result().path in known(repository)


def test_no_program_that_the_repository_names_is_run(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\n")
    program.chmod(0o755)
    commit(repository, ".gitattributes", "*.bin filter=trap\n")
    commit(repository, "data.bin")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-commit"):
        (hooks / hook).symlink_to(program)
    for name in ("core.fsmonitor", "filter.trap.smudge", "filter.trap.clean", "core.pager", "gpg.program"):
        git(repository, "config", name, str(program))
    git(repository, "config", "filter.trap.required", "true")
    git(repository, "config", "core.hooksPath", str(hooks))
    git(repository, "worktree", "add", "-q", str(tmp_path / "trap"))
    assert ran.exists(), "the trap does not work"
    ran.unlink()

    made = make(str(repository), "s-1")
    Path(made.path, "data.bin").write_text("changed\n")
    assert state(made).names == ("data.bin",)
    assert release(made, force_by_person=True).saved is not None

    assert not ran.exists()
