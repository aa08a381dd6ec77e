"""A run's branch with real git: opened, merged into without a working tree, brought home, its worktrees let go."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gemba.errors import Conflict, Invalid, NotFound, Unusable
from gemba.sessions.worktrees import worktree
from gemba.sessions.worktrees.steps import Base
from gemba.sessions.worktrees.worktree import Worktree
from gemba.teams.branches import (
    ChangedFile,
    Conflicts,
    Merged,
    bring_home,
    changed_files,
    let_go,
    merge,
    open_branch,
    prepare_artifacts,
    save_work,
    workspace_status,
    written_since,
)
from gemba.teams.branches.three_way import lost
from tests.fixtures.repositories import BRANCH, RUN, commit, files, git, merges, text
from tests.fixtures.repositories import repository as repository

KILLED = """
import os, signal, sys
from pathlib import Path
from gemba.sessions.worktrees.place import find_repository
from gemba.sessions.worktrees import steps
repository = find_repository(Path(sys.argv[1]))
with steps.begun(repository.ground, sys.argv[2], steps.Base(sys.argv[4], sys.argv[5], True)) as site:
    for step in steps.MAKING[: int(sys.argv[3])]:
        step(site)
    os.kill(os.getpid(), signal.SIGKILL)
"""
MERGING = """
import sys
from gemba.teams.branches import merge
print("ready", flush=True)
for line in sys.stdin:
    print(merge(sys.argv[1], sys.argv[2], line.strip(), f"Merge {line}").commit, flush=True)
"""


def refusal(call: Callable[[], object]) -> Conflict:
    with pytest.raises(Conflict) as caught:
        call()
    return caught.value


def open_run(repository: Path) -> str:
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    return opened.base


def work(repository: Path, session_id: str, base: str, **content: str | None) -> str:
    """A task's saved commit, in which these files (with `_` for a dot) have another text, or are gone."""
    made = worktree.make(str(repository), session_id, base=base, into=BRANCH)
    for name, words in content.items():
        file = Path(made.path, name.replace("_", "."))
        file.unlink() if words is None else file.write_text(words)
    return str(save_work(made, f"work of {session_id}").commit)


def merged(repository: Path, commit: str, message: str = "merge") -> str:
    done = merge(str(repository), BRANCH, commit, message)
    assert isinstance(done, Merged)
    return done.commit


def tip(repository: Path) -> str:
    return git(repository, "rev-parse", BRANCH)


# -- opening -----------------------------------------------------------------------------------------------------------


def test_a_run_s_branch_is_made_once_at_what_is_checked_out(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")

    assert open_branch(str(repository), RUN) == (BRANCH, head)
    later = commit(repository, "later.py")
    merged(repository, work(repository, "s-1", later, x_py="x"))
    assert open_branch(str(repository), RUN) == (BRANCH, head)
    assert git(repository, "symbolic-ref", "--short", "HEAD") == "main"


def test_without_a_repository_or_a_commit_there_is_no_branch(tmp_path: Path) -> None:
    assert open_branch(str(tmp_path), RUN) is None
    git(tmp_path, "init", "-q")
    assert open_branch(str(tmp_path), RUN) is None
    with pytest.raises(Invalid, match="no id of a team run"):
        open_branch(str(tmp_path), "../x")
    with pytest.raises(Unusable, match="is not a folder"):
        open_branch(str(tmp_path / "nowhere"), RUN)


def test_a_branch_of_somebody_else_is_not_taken(repository: Path) -> None:
    git(repository, "branch", BRANCH)

    assert refusal(lambda: open_branch(str(repository), RUN)).code == "branch_taken"
    git(repository, "branch", "-m", BRANCH, "mine")
    assert open_branch(str(repository), RUN) is not None
    # Nor does a session get it.
    assert refusal(lambda: worktree.make(str(repository), RUN)).code == "branch_taken"


@pytest.mark.parametrize("made", ["record", "branch"])
def test_a_kill_in_the_middle_of_opening_is_made_up_for(repository: Path, made: str) -> None:
    base = open_run(repository)
    record = repository / f".git/gemba/runs/{RUN}.json"
    record.write_text(record.read_text().replace("true", "false"))
    if made == "record":
        git(repository, "update-ref", "-d", f"refs/heads/{BRANCH}")
        git(repository, "update-ref", "-d", f"refs/gemba/runs/{RUN}")
    commit(repository, "later.py")

    assert open_branch(str(repository), RUN) == (BRANCH, base)
    assert tip(repository) == base


# -- worktrees from a given commit -------------------------------------------------------------------------------------


def test_a_worktree_is_made_from_a_given_commit_and_found_again_without_it(repository: Path) -> None:
    base = open_run(repository)
    first = merged(repository, work(repository, "s-1", base, app_py="one\n"))
    commit(repository, "later.py")

    made = worktree.make(str(repository), "s-2", base=first, into=BRANCH)

    assert (made.base, made.base_branch, made.pinned) == (first, BRANCH, True)
    assert Path(made.path, "app.py").read_text() == "one\n"
    assert not Path(made.path, "later.py").exists()
    assert worktree.make(str(repository), "s-2") == made == worktree.find(str(repository), "s-2")
    with pytest.raises(Invalid, match="no commit"):
        worktree.make(str(repository), "s-3", base="--all", into=BRANCH)
    with pytest.raises(Invalid, match="no commit"):
        worktree.make(str(repository), "s-3", base="0" * 40, into=BRANCH)


@pytest.mark.parametrize("steps", range(6))
def test_a_kill_while_it_is_made_keeps_the_given_commit(repository: Path, steps: int) -> None:
    base = open_run(repository)
    commit(repository, "later.py")
    arguments = [str(repository), "s-1", str(steps), base, BRANCH]
    assert subprocess.run([sys.executable, "-c", KILLED, *arguments]).returncode == -9

    given, into = (base, BRANCH) if not steps else (None, None)
    made = worktree.make(str(repository), "s-1", base=given, into=into)

    assert Base(str(made.base), made.base_branch, made.pinned) == (base, BRANCH, True)
    assert git(made.path, "rev-parse", "HEAD") == base


def test_work_counts_as_merged_once_it_is_on_the_run_s_branch(repository: Path) -> None:
    base = open_run(repository)
    saved = work(repository, "s-1", base, app_py="one\n")
    made = worktree.find(str(repository), "s-1")
    assert made is not None
    assert worktree.state(made).unmerged == 1
    assert refusal(lambda: worktree.release(made)).code == "worktree_unsaved"

    merged(repository, saved)

    assert worktree.state(made).merged is True
    assert worktree.release(made) == (None, None)
    assert git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/gemba").split() == [BRANCH]


def test_what_an_earlier_attempt_left_is_not_lost_with_the_worktree_that_goes_on_from_it(repository: Path) -> None:
    base = open_run(repository)
    saved = work(repository, "s-1", base, app_py="one\n")
    worktree.release_of(str(repository), "s-1", worktree.state(worktree.make(str(repository), "s-1")).seal)
    made = worktree.make(str(repository), "s-2", base=saved, into=BRANCH)

    assert worktree.state(made).unmerged == 1
    assert refusal(lambda: worktree.release(made)).code == "worktree_unsaved"


# -- merging -----------------------------------------------------------------------------------------------------------


def test_commits_are_merged_one_by_one_and_never_twice(repository: Path) -> None:
    base = open_run(repository)
    (repository / "app.py").write_text("not committed\n")
    git(repository, "add", "app.py")
    (repository / "b.py").write_text("not even staged\n")
    before, head = workspace_status(str(repository)), git(repository, "rev-parse", "HEAD")
    one = work(repository, "s-1", base, app_py="one\n", new_py="new\n")
    two = work(repository, "s-2", base, b_py="two\n", c_py=None)

    first, second = merged(repository, one, "Merge IMPL-001"), merged(repository, two, "Merge IMPL-002")

    assert tip(repository) == second
    assert git(repository, "show", "-s", "--format=%P", second).split() == [first, two]
    assert merges(repository)[:2] == ["Merge IMPL-002", "Merge IMPL-001"]
    assert files(repository, second) == ["app.py", "b.py", "new.py"]
    assert [text(repository, second, name) for name in ("app.py", "b.py")] == ["one\n", "two\n"]
    assert [merged(repository, one), merged(repository, two), merged(repository, base)] == [first, second, base]
    assert tip(repository) == second
    # The workspace, its branch and its index are as they were.
    assert (workspace_status(str(repository)), git(repository, "rev-parse", "HEAD")) == (before, head)
    assert git(repository, "status", "--porcelain").splitlines() == ["M  app.py", " M b.py"]


def test_a_conflict_is_told_and_nothing_moves(repository: Path) -> None:
    base = open_run(repository)
    first = merged(repository, work(repository, "s-1", base, app_py="one\n", b_py=None))
    two = work(repository, "s-2", base, app_py="two\n", b_py="two\n", c_py="two\n")

    assert merge(str(repository), BRANCH, two, "two") == Conflicts(("app.py", "b.py"), first)
    assert tip(repository) == first
    # Whoever resolves it makes a commit that has both.
    made = worktree.make(str(repository), "s-3", base=first, into=BRANCH)
    subprocess.run(["git", "merge", "-q", two], cwd=made.path, capture_output=True)
    Path(made.path, "app.py").write_text("both\n")
    Path(made.path, "b.py").write_text("both\n")
    git(made.path, "add", ".")
    done = merged(repository, str(save_work(made, "resolved").commit))
    assert [text(repository, done, name) for name in ("app.py", "b.py", "c.py")] == ["both\n", "both\n", "two\n"]
    assert merged(repository, two) == done


def test_a_rename_takes_along_what_the_other_side_changed(repository: Path) -> None:
    base = open_run(repository)
    lines = text(repository, base, "app.py")
    merged(repository, work(repository, "s-1", base, app_py=lines.replace("app.py 3\n", "changed\n")))
    two = worktree.make(str(repository), "s-2", base=base, into=BRANCH)
    Path(two.path, "app.py").rename(Path(two.path, "renamed.py"))

    done = merged(repository, str(save_work(two, "renamed").commit))

    assert files(repository, done) == ["b.py", "c.py", "renamed.py"]
    assert "changed\n" in text(repository, done, "renamed.py")


def test_the_check_finds_what_a_merge_lost_of_either_side() -> None:
    a, b, gone = ("100644", "a"), ("100644", "b"), ("000000", "0")
    assert lost({"ours": a}, {"theirs": b}, {"theirs": b}) == []
    assert lost({"ours": a}, {"theirs": b}, {}) == ["theirs"]
    assert lost({"ours": a}, {"theirs": b}, {"theirs": a}) == ["theirs"]
    assert lost({"ours": a}, {"theirs": gone}, {}) == ["theirs"]
    assert lost({"ours": a}, {"theirs": b}, {"theirs": b, "ours": gone}) == ["ours"]
    assert lost({"both": a}, {"both": b}, {"both": b}) == []
    # A new name has what the other side did to the old one; a file that was dropped is lost all the same.
    assert lost({"old": a}, {"old": gone, "new": b}, {"old": gone, "new": a}) == []
    assert lost({"old": a}, {"old": gone, "new": b}, {"old": gone}) == ["new"]


def test_an_older_git_merges_in_a_tree_of_its_own(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = repository / "web"
    commit(repository, "web/page.css", "".join(f"line {number}\n" for number in range(20)))
    base = open_run(repository)
    lines = text(repository, base, "web/page.css")
    one = work(repository, "s-1", base, app_py="one\n", b_py=None)
    made = worktree.make(str(repository), "s-2", base=base, into=BRANCH)
    Path(made.path, "web/page.css").write_text(lines.replace("line 1\n", "first\n"))
    two = str(save_work(made, "two").commit)
    again = worktree.make(str(repository), "s-3", base=base, into=BRANCH)
    Path(again.path, "web/page.css").write_text(lines.replace("line 19\n", "last\n"))
    three = str(save_work(again, "three").commit)
    four = work(repository, "s-4", base, app_py="four\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    refused = 'case " $* " in *" --write-tree "*) echo "usage: git merge-tree" >&2; exit 129;; esac'
    (programs / "git").write_text(f'#!/bin/sh\n{refused}\nexec {shutil.which("git")} "$@"\n')
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    merged(repository, one)
    merged(repository, two)
    last = merged(repository, three)

    assert files(repository, last) == ["app.py", "c.py", "web/page.css"]
    assert text(repository, last, "web/page.css").startswith("line 0\nfirst\n")
    assert text(repository, last, "web/page.css").endswith("last\n")
    assert merge(str(repository), BRANCH, four, "four") == Conflicts(("app.py",), last)
    assert merge(str(part), BRANCH, four, "four") == Conflicts(("../app.py",), last)
    assert sorted(file.name for file in (repository / ".git/gemba").glob("merging-*")) == []


def test_a_workspace_in_a_part_of_a_repository_is_told_paths_from_there(repository: Path) -> None:
    part = repository / "web"
    commit(repository, "web/page.css")
    base = open_run(part)
    made = worktree.make(str(part), "s-1", base=base, into=BRANCH)
    prepare_artifacts(made)
    Path(made.folder, ".gemba/artifacts/IMPL-001-x.md").write_text("x\n")
    Path(made.folder, "page.css").write_text("one\n")
    Path(made.path, "app.py").write_text("one\n")
    one = str(save_work(made, "one").commit)
    other = worktree.make(str(part), "s-2", base=base, into=BRANCH)
    Path(other.folder, "page.css").write_text("two\n")
    Path(other.path, "app.py").write_text("two\n")
    two = str(save_work(other, "two").commit)

    first = merge(str(part), BRANCH, one, "one")

    assert isinstance(first, Merged)
    assert merge(str(part), BRANCH, two, "two") == Conflicts(("../app.py", "page.css"), first.commit)
    changed = changed_files(str(part), base, one)
    assert changed == [ChangedFile("../app.py", 1, 20, False), ChangedFile("page.css", 1, 1, False)]
    (repository / "app.py").write_text("the operator's\n")
    refused = refusal(lambda: bring_home(str(part), BRANCH))
    assert (refused.code, refused.extra["files"]) == ("workspace_dirty", ["../app.py"])
    git(repository, "checkout", "-q", "app.py")
    assert bring_home(str(part), BRANCH) == first
    assert (part / "page.css").read_text() == "one\n"


def test_a_workspace_without_a_branch_checked_out_is_a_base_too(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    base = open_run(repository)

    done = merged(repository, work(repository, "s-1", base, app_py="one\n"))

    assert git(repository, "rev-parse", "HEAD") == base
    refused = refusal(lambda: bring_home(str(repository), BRANCH))
    assert refused.code == "workspace_detached"
    git(repository, "checkout", "-q", "main")
    assert bring_home(str(repository), BRANCH) == Merged(done)


def test_a_run_s_branch_that_is_set_back_or_deleted_is_put_back(repository: Path) -> None:
    base = open_run(repository)
    one = merged(repository, work(repository, "s-1", base, app_py="one\n"))
    two = work(repository, "s-2", base, b_py="two\n")

    git(repository, "branch", "-f", BRANCH, base)
    done = merged(repository, two)
    assert git(repository, "show", "-s", "--format=%P", done).split() == [one, two]
    git(repository, "branch", "-D", BRANCH)
    assert merged(repository, two) == done
    assert tip(repository) == done
    # What a person commits on it stays; what took its place is refused.
    person = git(repository, "commit-tree", "-p", done, "-m", "by hand", f"{done}^{{tree}}")
    git(repository, "branch", "-f", BRANCH, person)
    last = merged(repository, work(repository, "s-3", base, c_py="three\n"))
    assert "by hand" in merges(repository)
    git(repository, "branch", "-f", BRANCH, git(repository, "commit-tree", "-p", base, "-m", "x", f"{base}^{{tree}}"))
    refused = refusal(lambda: merge(str(repository), BRANCH, one, "x"))
    assert (refused.code, refused.extra["kept"]) == ("branch_rewritten", last)


def test_a_branch_that_the_workspace_has_checked_out_is_left_alone(repository: Path) -> None:
    base = open_run(repository)
    one = work(repository, "s-1", base, app_py="one\n")
    git(repository, "checkout", "-q", BRANCH)

    assert refusal(lambda: merge(str(repository), BRANCH, one, "one")).code == "branch_checked_out"
    assert tip(repository) == base


def test_what_cannot_be_merged_is_refused_by_name(repository: Path, tmp_path: Path) -> None:
    base = open_run(repository)
    alone = git(repository, "commit-tree", "-m", "alone", f"{base}^{{tree}}")

    assert refusal(lambda: merge(str(repository), BRANCH, alone, "x")).code == "unrelated_commit"
    assert refusal(lambda: merge(str(repository), "gemba/team-000000000000", base, "x")).code == "branch_gone"
    for branch in ("main", "gemba/../x", "gemba/a b", "-d"):
        with pytest.raises(Invalid, match="no branch of a team run"):
            merge(str(repository), branch, base, "x")
    with pytest.raises(Invalid, match="is no commit"):
        merge(str(repository), BRANCH, "HEAD", "x")
    with pytest.raises(Unusable, match="0000"):
        merge(str(repository), BRANCH, "0" * 40, "x")
    with pytest.raises(NotFound):
        merge(str(tmp_path.parent), BRANCH, base, "x")


def test_a_lock_that_a_killed_git_left_on_the_run_s_branch_is_cleared(repository: Path) -> None:
    base = open_run(repository)
    lock = repository / f".git/refs/heads/{BRANCH}.lock"
    lock.touch()

    merged(repository, work(repository, "s-1", base, app_py="one\n"))

    assert not lock.exists()


def test_references_that_git_has_packed_are_found(repository: Path) -> None:
    base = open_run(repository)
    one = work(repository, "s-1", base, app_py="one\n")
    git(repository, "pack-refs", "--all")

    first = merged(repository, one)
    git(repository, "pack-refs", "--all")
    git(repository, "gc", "-q")

    assert merged(repository, one) == first
    assert open_branch(str(repository), RUN) == (BRANCH, base)


@contextlib.contextmanager
def merger(repository: Path) -> Iterator[Callable[[str], Callable[[], str]]]:
    """A process that merges: given a commit it begins, and what it gives back waits for the merge."""
    command = [sys.executable, "-c", MERGING, str(repository), BRANCH]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        stdout.readline()

        def begin(commit: str) -> Callable[[], str]:
            stdin.write(f"{commit}\n")
            stdin.flush()
            return lambda: stdout.readline().strip()

        yield begin


def test_of_merges_at_once_from_two_processes_each_is_kept_once(repository: Path) -> None:
    base = open_run(repository)
    with merger(repository) as one, merger(repository) as two:
        for number in range(20):
            start = tip(repository)
            trees = [_tree_with(repository, start, f"{side}-{number}.py") for side in ("a", "b")]
            commits = [git(repository, "commit-tree", "-p", start, "-m", "work", tree) for tree in trees]
            waits = [begin(commit) for begin, commit in zip((one, two), commits, strict=True)]
            told = [wait() for wait in waits]
            assert [merged(repository, commit) for commit in commits] == told
    assert len(merges(repository)) == len(merges(repository, base)) + 40
    assert len(files(repository, tip(repository))) == len(files(repository, base)) + 40


def _tree_with(repository: Path, commit: str, name: str) -> str:
    """A tree like a commit's with one more file."""
    listed = git(repository, "ls-tree", commit)
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=repository, input=name.encode(), capture_output=True, check=True
    ).stdout.decode()
    lines = f"{listed}\n100644 blob {blob.strip()}\t{name}\n".encode()
    made = subprocess.run(["git", "mktree"], cwd=repository, input=lines, capture_output=True, check=True)
    return made.stdout.decode().strip()


# -- coming home -------------------------------------------------------------------------------------------------------


def test_a_run_comes_home_as_a_fast_forward_or_a_merge_and_once(repository: Path) -> None:
    base = open_run(repository)
    first = merged(repository, work(repository, "s-1", base, app_py="one\n"))
    (repository / "c.py").write_text("the operator's, in work\n")
    (repository / "untracked.py").write_text("the operator's\n")

    assert bring_home(str(repository), BRANCH) == Merged(first) == bring_home(str(repository), BRANCH)
    assert git(repository, "rev-parse", "main") == first
    own = commit(repository, "own.py")
    merged(repository, work(repository, "s-2", base, b_py="two\n"))
    done = bring_home(str(repository), BRANCH, "Merge the team's work")
    assert isinstance(done, Merged)
    assert git(repository, "show", "-s", "--format=%P %s", "main").split(" ", 2) == [
        own,
        tip(repository),
        "Merge the team's work",
    ]
    assert bring_home(str(repository), BRANCH) == done
    assert [(repository / name).read_text() for name in ("app.py", "b.py")] == ["one\n", "two\n"]
    assert git(repository, "status", "--porcelain").splitlines() == ["M c.py", "?? untracked.py"]


def test_what_the_operator_has_in_work_is_never_overwritten(repository: Path) -> None:
    base = open_run(repository)
    merged(repository, work(repository, "s-1", base, app_py="one\n", new_py="new\n"))
    (repository / "app.py").write_text("the operator's\n")
    (repository / "new.py").write_text("the operator's\n")

    refused = refusal(lambda: bring_home(str(repository), BRANCH))

    assert (refused.code, refused.extra["files"]) == ("workspace_dirty", ["app.py", "new.py"])
    assert "commit or move them" in refused.message
    assert git(repository, "rev-parse", "main") == base
    assert (repository / "app.py").read_text() == (repository / "new.py").read_text() == "the operator's\n"


def test_an_ignored_file_of_the_operator_s_is_never_overwritten(repository: Path) -> None:
    commit(repository, ".gitignore", "*.env\n")
    base = open_run(repository)
    made = worktree.make(str(repository), "s-1", base=base, into=BRANCH)
    commit(made.path, "x.env", "the agent's\n")
    merged(repository, str(save_work(made, "work").commit))
    (repository / "x.env").write_text("the operator's\n")

    refused = refusal(lambda: bring_home(str(repository), BRANCH))
    assert (refused.code, refused.extra["files"]) == ("workspace_dirty", ["x.env"])
    assert (repository / "x.env").read_text() == "the operator's\n"


def test_what_lies_where_a_folder_is_to_come_or_holds_the_index_is_left_alone(repository: Path) -> None:
    base = open_run(repository)
    made = worktree.make(str(repository), "s-1", base=base, into=BRANCH)
    done = merged(repository, commit(made.path, "part/deep.py"))
    (repository / "part").write_text("the operator's\n")
    assert refusal(lambda: bring_home(str(repository), BRANCH)).code == "workspace_dirty"
    assert (repository / "part").read_text() == "the operator's\n"
    (repository / "part").unlink()
    (repository / ".git/index.lock").touch()
    assert refusal(lambda: bring_home(str(repository), BRANCH)).code == "workspace_dirty"
    (repository / ".git/index.lock").unlink()
    assert bring_home(str(repository), BRANCH) == Merged(done)


def test_a_run_that_does_not_merge_with_the_workspace_names_the_files(repository: Path) -> None:
    base = open_run(repository)
    merged(repository, work(repository, "s-1", base, app_py="one\n"))
    own = commit(repository, "app.py", "the operator's\n")

    assert bring_home(str(repository), BRANCH) == Conflicts(("app.py",), own)
    assert git(repository, "rev-parse", "HEAD") == own
    assert git(repository, "status", "--porcelain") == ""


def test_a_workspace_in_the_middle_of_something_is_left_alone(repository: Path) -> None:
    base = open_run(repository)
    merged(repository, work(repository, "s-1", base, app_py="one\n"))
    git(repository, "checkout", "-q", "-b", "side")
    commit(repository, "b.py", "side\n")
    git(repository, "checkout", "-q", "main")
    commit(repository, "b.py", "main\n")
    subprocess.run(["git", "merge", "-q", "side"], cwd=repository, capture_output=True)

    assert refusal(lambda: bring_home(str(repository), BRANCH)).code == "workspace_unfinished"


def test_a_kill_before_the_branch_followed_its_files_is_made_up_for(repository: Path) -> None:
    base = open_run(repository)
    done = merged(repository, work(repository, "s-1", base, app_py="one\n", new_py="new\n"))
    git(repository, "read-tree", "-m", "-u", base, done)

    assert bring_home(str(repository), BRANCH) == Merged(done)
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "rev-parse", "main") == done


# -- looking and letting go --------------------------------------------------------------------------------------------


def test_changed_files_count_lines(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    (repository / "data.bin").write_bytes(b"\0\1\2")
    (repository / "b.py").unlink()
    (repository / "app.py").write_text("one\ntwo\n")
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "-m", "change")

    expected = [("app.py", 2, 20, False), ("b.py", 0, 20, False), ("data.bin", 0, 0, True)]
    assert changed_files(str(repository), base, git(repository, "rev-parse", "HEAD")) == expected
    assert changed_files(str(repository), base, base) == []


def test_writing_into_the_workspace_itself_is_noticed(repository: Path, tmp_path: Path) -> None:
    (repository / "mine.py").write_text("in work\n")
    before = workspace_status(str(repository))
    assert before is not None
    base = open_run(repository)
    merged(repository, work(repository, "s-1", base, app_py="one\n"))
    (repository / ".gemba/note").write_text("ours\n")
    assert workspace_status(str(repository)) == before

    (repository / "mine.py").write_text("otherwise\n")
    (repository / "b.py").write_text("otherwise\n")
    now = workspace_status(str(repository))
    assert now is not None
    assert now.digest != before.digest
    assert written_since(before, now) == ["b.py", "mine.py"]
    commit(repository, "d.py")
    later = workspace_status(str(repository))
    assert later is not None
    assert written_since(now, later) == ["HEAD"]
    assert workspace_status(str(tmp_path / "..")) is None


def digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def with_artifact(repository: Path) -> Worktree:
    base = open_run(repository)
    made = worktree.make(str(repository), "s-1", base=base, into=BRANCH)
    prepare_artifacts(made)
    Path(made.path, ".gemba/artifacts/IMPL-001-x.md").write_text("x\n")
    merged(repository, work(repository, "s-1", base, app_py="one\n"))
    return made


def test_what_ignores_artifacts_is_written_though_somebody_was_killed_before_he_could(repository: Path) -> None:
    made = worktree.make(str(repository), "s-1", base=open_run(repository), into=BRANCH)
    (folder := Path(made.path, ".gemba/artifacts")).mkdir(parents=True)
    (folder / ".gitignore").touch()

    prepare_artifacts(made)

    (folder / "IMPL-001-x.md").write_text("x\n")
    assert git(made.path, "status", "--porcelain") == ""
    (folder / ".gitignore").write_text("*.md\n")
    prepare_artifacts(made)
    assert (folder / ".gitignore").read_text() == "*.md\n"


def test_a_worktree_goes_with_the_artifacts_that_the_database_has(repository: Path) -> None:
    made = with_artifact(repository)

    assert let_go(str(repository), "s-1", {"IMPL-001-x.md": digest("x\n")}) == (None, None)
    assert not Path(made.path).exists()
    assert let_go(str(repository), "s-1", {}) == (None, None)
    assert refusal(lambda: save_work(made, "too late")).code == "worktree_replaced"
    assert not (repository / ".git/gemba/s-1.lock").exists()


@pytest.mark.parametrize("known", [{}, {"IMPL-001-x.md": digest("another\n")}])
def test_an_artifact_that_is_nowhere_else_keeps_the_worktree(repository: Path, known: dict[str, str]) -> None:
    made = with_artifact(repository)

    refused = refusal(lambda: let_go(str(repository), "s-1", known))

    assert (refused.code, refused.extra["files"]) == ("artifacts_unsaved", ["IMPL-001-x.md"])
    assert Path(made.path, ".gemba/artifacts/IMPL-001-x.md").exists()


def test_a_link_in_the_place_of_the_artifacts_is_not_followed(repository: Path, tmp_path: Path) -> None:
    made = with_artifact(repository)
    shutil.rmtree(Path(made.path, ".gemba"))
    Path(made.path, ".gemba").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/artifacts").mkdir(parents=True)
    (tmp_path / "elsewhere/artifacts/IMPL-001-x.md").write_text("x\n")

    with pytest.raises(Unusable, match="a link lies in its place"):
        let_go(str(repository), "s-1", {"IMPL-001-x.md": digest("x\n")})
    with pytest.raises(Unusable, match="a link lies in its place"):
        prepare_artifacts(made)
    assert (tmp_path / "elsewhere/artifacts/IMPL-001-x.md").exists()


def test_the_workspace_itself_is_given_back(tmp_path: Path) -> None:
    worktree.make(str(tmp_path), "s-1")

    assert let_go(str(tmp_path), "s-1", {}) == (None, None)
    assert worktree.make(str(tmp_path), "s-2").branch is None


def test_what_is_not_merged_keeps_the_worktree(repository: Path) -> None:
    made = with_artifact(repository)
    Path(made.path, "more.py").write_text("more\n")
    save_work(made, "more")

    refused = refusal(lambda: let_go(str(repository), "s-1", {"IMPL-001-x.md": digest("x\n")}))
    assert refused.code == "worktree_unsaved"
