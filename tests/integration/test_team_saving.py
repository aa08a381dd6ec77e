"""What an agent left in its worktree becomes a commit, with real git, whatever the agent did there."""

import os
import subprocess
from pathlib import Path

import pytest

from gemba.errors import Conflict
from gemba.sessions.agents.preamble_file import put_block, take_out_block
from gemba.sessions.worktrees import worktree
from gemba.sessions.worktrees.worktree import Worktree
from gemba.teams.branches import LeftOut, merge, open_branch, prepare_artifacts, save_work
from gemba.teams.branches.merging import Merged
from tests.fixtures.repositories import BRANCH, RUN, commit, files, git, text
from tests.fixtures.repositories import repository as repository


@pytest.fixture
def task(repository: Path) -> Worktree:
    """A task's worktree, made from the tip of its run's branch."""
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    return worktree.make(str(repository), "s-1", base=opened.base, into=opened.branch)


def refusal(task: Worktree) -> Conflict:
    with pytest.raises(Conflict) as caught:
        save_work(task, "work")
    return caught.value


def is_clean(task: Worktree) -> bool:
    return git(task.path, "status", "--porcelain") == ""


def test_all_that_is_there_is_saved_once_and_the_agent_finds_it_committed(task: Worktree) -> None:
    path = Path(task.path)
    commit(path, "committed.py")
    (path / "app.py").write_text("changed\n")
    (path / "b.py").unlink()
    (path / "new").mkdir()
    (path / "new/ünï\n.py").write_text("untracked\n")
    (path / "staged.py").write_text("staged\n")
    git(path, "add", "staged.py")
    (path / "c.py").rename(path / "d.py")
    (path / "c.py").mkdir()
    (path / "c.py/inside").write_text("a folder in the place of a file\n")
    (path / ".gitignore").write_text("*.log\n")
    (path / "x.log").write_text("ignored\n")
    (path / "link").symlink_to("/etc/passwd")

    saved = save_work(task, "IMPL-001: what was done")

    assert saved.changed
    assert saved.left_out == ()
    expected = [".gitignore", "app.py", "c.py/inside", "committed.py", "d.py", "link", "new/ünï\n.py", "staged.py"]
    assert files(path, str(saved.commit)) == expected
    assert is_clean(task)
    assert git(path, "rev-parse", str(task.branch)) == saved.commit == git(path, "rev-parse", "HEAD")
    assert git(path, "log", "-1", "--format=%an %ae %cn %s") == "Gemba gemba@localhost Gemba IMPL-001: what was done"
    assert save_work(task, "again") == saved
    assert (path / "x.log").exists()


def test_nothing_done_is_no_commit(task: Worktree) -> None:
    assert save_work(task, "nothing") == (task.base, False, ())
    os.utime(Path(task.path, "app.py"))
    assert save_work(task, "touched") == (task.base, False, ())


def test_what_the_agent_committed_itself_counts_as_changed_without_another_commit(task: Worktree) -> None:
    own = commit(task.path, "own.py")

    assert save_work(task, "work") == (own, True, ())


def test_artifacts_never_get_into_a_commit(task: Worktree) -> None:
    path = Path(task.path)
    prepare_artifacts(task)
    prepare_artifacts(task)
    (path / ".gemba/artifacts/IMPL-001-notes.md").write_text("notes\n")
    (path / "work.py").write_text("work\n")
    git(path, "add", "--all")

    assert files(path, str(save_work(task, "work").commit)) == ["app.py", "b.py", "c.py", "work.py"]
    assert (path / ".gemba/artifacts/IMPL-001-notes.md").exists()


@pytest.mark.parametrize("how", ["there", "staged", "committed", "committed and deleted"])
def test_artifacts_that_the_agent_took_along_are_taken_out(task: Worktree, how: str) -> None:
    path = Path(task.path)
    artifact = path / ".gemba/artifacts/IMPL-001-notes.md"
    artifact.parent.mkdir(parents=True)
    artifact.write_text("notes of nobody else\n")
    (path / "work.py").write_text("work\n")
    if how != "there":
        git(path, "add", "-f", str(artifact))
    if how.startswith("committed"):
        git(path, "commit", "-q", "-m", "mine")
    if how == "committed and deleted":
        git(path, "rm", "-q", "--cached", str(artifact))
        git(path, "commit", "-q", "-m", "gone again")

    saved = save_work(task, "work")

    assert files(path, str(saved.commit)) == ["app.py", "b.py", "c.py", "work.py"]
    assert artifact.read_text() == "notes of nobody else\n"
    assert save_work(task, "work") == saved
    history = git(path, "log", "--format=%H", f"{task.base}..{saved.commit}", "--", ".gemba")
    assert history == ""


def test_what_the_project_itself_has_among_artifacts_stays_as_it_is(repository: Path) -> None:
    commit(repository, ".gemba/artifacts/kept.md", "the project's\n")
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    task = worktree.make(str(repository), "s-1", base=opened.base, into=opened.branch)
    path = Path(task.path)
    assert save_work(task, "nothing") == (task.base, False, ())
    (path / ".gemba/artifacts/kept.md").write_text("the agent's\n")
    git(path, "add", "--all")
    (path / "work.py").write_text("work\n")

    saved = save_work(task, "work")

    assert text(path, str(saved.commit), ".gemba/artifacts/kept.md") == "the project's\n"
    assert "work.py" in files(path, str(saved.commit))


def test_an_agent_cannot_have_other_files_than_its_worktree_s_committed(
    task: Worktree, repository: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").write_text("the operator's\n")
    git(repository, "config", "extensions.worktreeConfig", "true")
    git(task.path, "config", "--worktree", "core.worktree", str(elsewhere))
    Path(task.path, "work.py").write_text("work\n")

    assert files(repository, str(save_work(task, "work").commit)) == ["app.py", "b.py", "c.py", "work.py"]


BEGIN = "<!-- gemba:begin"


@pytest.mark.parametrize("how", ["there", "staged", "committed"])
def test_the_block_of_an_instructions_file_never_gets_into_a_commit(repository: Path, how: str) -> None:
    commit(repository, "CLAUDE.md", "# Ours\n")
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    task = worktree.make(str(repository), "s-1", base=opened.base, into=opened.branch)
    path = Path(task.path)
    put_block(path / "CLAUDE.md", "s-1", "told")
    put_block(path / "AGENTS.md", "s-1", "told")
    (path / "work.py").write_text("work\n")
    if how != "there":
        git(path, "add", "--all")
    if how == "committed":
        git(path, "commit", "-q", "-m", "mine")

    saved = save_work(task, "work")

    assert files(path, str(saved.commit)) == ["CLAUDE.md", "app.py", "b.py", "c.py", "work.py"]
    assert text(path, str(saved.commit), "CLAUDE.md") == "# Ours\n"
    assert BEGIN in (path / "CLAUDE.md").read_text()
    assert git(path, "log", "-p", "-S", BEGIN, f"{task.base}..{saved.commit}") == ""
    assert save_work(task, "work") == saved
    # What the agent writes around it is committed, what only stands there is not.
    (path / "CLAUDE.md").write_text((path / "CLAUDE.md").read_text() + "more\n")
    later = save_work(task, "more")
    assert text(path, str(later.commit), "CLAUDE.md") == "# Ours\nmore\n"
    take_out_block(path / "CLAUDE.md", "s-1")
    take_out_block(path / "AGENTS.md", "s-1")
    assert is_clean(task)
    assert save_work(task, "more") == later


def test_the_block_of_any_session_of_its_run_never_gets_into_a_commit(repository: Path) -> None:
    """Sessions that follow each other on one task share its worktree, which has the task's name."""
    task = worktree.make(str(repository), f"{RUN}.IMPL-001")
    path = Path(task.path)
    put_block(path / "CLAUDE.md", f"{RUN}.IMPL-001.1", "told")
    put_block(path / "CLAUDE.md", f"{RUN}.IMPL-001.2", "told again")
    (path / "work.py").write_text("work\n")

    assert files(path, str(save_work(task, "work").commit)) == ["app.py", "b.py", "c.py", "work.py"]


def test_an_ignored_instructions_file_stays_ignored(task: Worktree) -> None:
    path = Path(task.path)
    (path / ".gitignore").write_text("CLAUDE.md\n")
    (path / "CLAUDE.md").write_text("mine alone\n")
    put_block(path / "CLAUDE.md", "s-1", "told")

    assert files(path, str(save_work(task, "work").commit)) == [".gitignore", "app.py", "b.py", "c.py"]


def test_a_large_file_is_left_out_and_named(task: Worktree) -> None:
    path = Path(task.path)
    with (path / "large.bin").open("wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    with (path / "app.py").open("wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    (path / "small.py").write_text("x\n")

    saved = save_work(task, "work")

    assert saved.left_out == (LeftOut("app.py", "large"), LeftOut("large.bin", "large"))
    assert text(path, str(saved.commit), "app.py").startswith("app.py 0\n")
    assert "small.py" in files(path, str(saved.commit))


def test_a_repository_inside_and_what_is_no_file_are_left_out_and_named(task: Worktree) -> None:
    path = Path(task.path)
    git(path, "init", "-q", "inner")
    commit(path / "inner", "deep.py")
    (path / "app.py").unlink()
    os.mkfifo(path / "app.py")
    (path / "work.py").write_text("x\n")

    saved = save_work(task, "work")

    assert sorted(saved.left_out) == [LeftOut("app.py", "no_file"), LeftOut("inner/", "repository")]
    assert files(path, str(saved.commit)) == ["app.py", "b.py", "c.py", "work.py"]


def test_what_git_was_told_to_overlook_is_saved_all_the_same(task: Worktree) -> None:
    path = Path(task.path)
    git(path, "update-index", "--assume-unchanged", "app.py")
    git(path, "update-index", "--skip-worktree", "b.py", "c.py")
    (path / "app.py").write_text("hidden\n")
    (path / "b.py").write_text("hidden too\n")
    (path / "c.py").unlink()  # as in a sparse checkout

    saved = str(save_work(task, "work").commit)

    assert [text(path, saved, name)[:10] for name in ("app.py", "b.py", "c.py")] == [
        "hidden\n",
        "hidden too",
        "c.py 0\nc.p",
    ]


def test_no_hook_filter_or_signature_is_used(task: Worktree, repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    trap = f"touch {ran}; exit 1"
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in (
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
        "post-merge",
    ):
        (hooks / hook).write_text(f"#!/bin/sh\n{trap}\n")
        (hooks / hook).chmod(0o755)
    settings = {
        "filter.f.clean": trap,
        "filter.f.smudge": trap,
        "filter.f.required": "true",
        "merge.m.driver": trap,
        "diff.d.command": trap,
        "diff.d.textconv": trap,
        "commit.gpgSign": "true",
        "gpg.program": str(hooks / "pre-commit"),
        "core.fsmonitor": str(hooks / "pre-commit"),
        "core.editor": trap,
        "core.autocrlf": "true",
        "core.safecrlf": "true",
    }
    for name, value in settings.items():
        git(repository, "config", name, value)
    path = Path(task.path)
    (repository / ".gitattributes").write_text("*.py merge=m\n")
    (path / ".gitattributes").write_text("*.txt filter=f\n*.py merge=m diff=d\n")
    (path / "a.txt").write_bytes(b"one\r\ntwo\n")
    (path / "app.py").write_bytes((path / "app.py").read_bytes() + b"end\r\n")
    other = worktree.make(str(repository), "s-2", base=task.base, into=BRANCH)
    Path(other.path, "app.py").write_bytes(b"first\n" + Path(other.path, "app.py").read_bytes())

    saved, second = save_work(task, "work"), save_work(other, "work")

    assert isinstance(merge(str(repository), BRANCH, str(saved.commit), "one"), Merged)
    merged = merge(str(repository), BRANCH, str(second.commit), "two")
    assert isinstance(merged, Merged)
    assert not ran.exists()
    done = subprocess.run(["git", "cat-file", "blob", f"{merged.commit}:app.py"], cwd=repository, capture_output=True)
    assert done.stdout.startswith(b"first\n")
    assert done.stdout.endswith(b"19\nend\n")
    assert "gpgsig" not in git(repository, "cat-file", "commit", merged.commit)


# -- an agent that went elsewhere --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["detached", "branched"])
def test_work_that_went_on_from_the_branch_becomes_the_branch(task: Worktree, how: str) -> None:
    path = Path(task.path)
    git(path, "checkout", "-q", *(["--detach"] if how == "detached" else ["-b", "feature"]))
    own = commit(path, "one.py")
    (path / "two.py").write_text("x\n")

    saved = save_work(task, "work")

    assert files(path, str(saved.commit)) == ["app.py", "b.py", "c.py", "one.py", "two.py"]
    assert git(path, "symbolic-ref", "--short", "HEAD") == task.branch
    assert is_clean(task)
    if how == "branched":
        assert git(path, "rev-parse", "feature") == own
    assert save_work(task, "work") == saved


def test_an_older_commit_that_is_only_looked_at_hides_nothing(task: Worktree) -> None:
    path = Path(task.path)
    own = commit(path, "one.py")
    git(path, "checkout", "-q", "--detach", str(task.base))

    assert save_work(task, "work") == (own, True, ())
    assert save_work(task, "work") == (own, True, ())


def test_work_beside_the_branch_is_merged_with_it_or_refused_with_both_kept(task: Worktree) -> None:
    path = Path(task.path)
    commit(path, "one.py")
    git(path, "checkout", "-q", "--detach", str(task.base))
    (path / "two.py").write_text("x\n")

    saved = save_work(task, "work")

    assert files(path, str(saved.commit)) == ["app.py", "b.py", "c.py", "one.py", "two.py"]
    assert git(path, "rev-parse", str(task.branch)) == saved.commit
    assert save_work(task, "work") == saved
    (path / "one.py").write_text("another\n")
    assert (refusal(task).code, (path / "one.py").read_text()) == ("work_diverged", "another\n")
    assert git(path, "rev-parse", str(task.branch)) == saved.commit
    assert git(path, "show", "HEAD:one.py") == "another"


def test_a_branch_that_moved_under_the_agent_is_not_taken_back_by_its_work(task: Worktree, repository: Path) -> None:
    """The agent checked the run's branch out itself, and another task was merged meanwhile."""
    path = Path(task.path)
    git(path, "checkout", "-q", BRANCH)
    (path / "two.py").write_text("x\n")
    other = worktree.make(str(repository), "s-2", base=task.base, into=BRANCH)
    Path(other.path, "b.py").write_text("of another task\n")
    merged = merge(str(repository), BRANCH, str(save_work(other, "other").commit), "other")

    saved = save_work(task, "work")

    assert files(path, str(saved.commit)) == ["app.py", "b.py", "c.py", "two.py"]
    both = merge(str(repository), BRANCH, str(saved.commit), "both")
    assert isinstance(merged, Merged)
    assert isinstance(both, Merged)
    assert text(repository, both.commit, "b.py") == "of another task\n"


def test_an_unfinished_merge_is_refused_and_a_resolved_one_is_committed_with_both_parents(task: Worktree) -> None:
    path = Path(task.path)
    git(path, "checkout", "-q", "-b", "side")
    side = commit(path, "app.py", "side\n")
    git(path, "checkout", "-q", str(task.branch))
    own = commit(path, "app.py", "own\n")
    subprocess.run(["git", "merge", "-q", "side"], cwd=path, capture_output=True)

    refused = refusal(task)

    assert (refused.code, refused.extra["files"]) == ("work_unmerged", ["app.py"])
    assert git(path, "rev-parse", "HEAD") == own
    (path / "app.py").write_text("both\n")
    git(path, "add", "app.py")
    saved = save_work(task, "resolved")
    assert git(path, "show", "-s", "--format=%P", str(saved.commit)).split() == [own, side]
    assert is_clean(task)
    assert not Path(git(path, "rev-parse", "--git-path", "MERGE_HEAD")).exists()


def test_an_unfinished_rebase_is_refused_and_nothing_is_touched(task: Worktree) -> None:
    path = Path(task.path)
    git(path, "checkout", "-q", "-b", "side")
    commit(path, "app.py", "side\n")
    git(path, "checkout", "-q", str(task.branch))
    commit(path, "app.py", "own\n")
    subprocess.run(["git", "rebase", "-q", "side"], cwd=path, capture_output=True)
    before = git(path, "status", "--porcelain")

    assert refusal(task).code == "work_unfinished"
    assert git(path, "status", "--porcelain") == before
    git(path, "rebase", "--abort")
    assert save_work(task, "work").changed


def test_a_branch_without_a_commit_is_refused(task: Worktree) -> None:
    git(task.path, "checkout", "-q", "--orphan", "fresh")

    assert refusal(task).code == "work_elsewhere"


def test_another_repository_in_its_place_is_refused(task: Worktree, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "evil")
    Path(task.path, ".git").write_text(f"gitdir: {tmp_path}/evil/.git\n")

    assert refusal(task).code == "worktree_replaced"


def test_a_lock_of_the_agents_git_does_not_stop_it_and_one_of_ours_is_cleared(task: Worktree) -> None:
    path = Path(task.path)
    lock = Path(git(path, "rev-parse", "--git-path", "index.lock"))
    lock.touch()
    (path / "one.py").write_text("x\n")
    first = save_work(task, "work")
    assert "one.py" in files(path, str(first.commit))
    assert lock.exists()

    lock.write_text("gemba\n")
    (path / "two.py").write_text("x\n")
    save_work(task, "work")

    assert not lock.exists()
    assert is_clean(task)


def test_a_lock_that_a_killed_git_left_on_the_branch_is_cleared(task: Worktree, repository: Path) -> None:
    lock = repository / ".git/refs/heads/gemba/s-1.lock"
    lock.touch()
    Path(task.path, "one.py").write_text("x\n")

    assert save_work(task, "work").changed
    assert not lock.exists()


def test_a_submodule_s_new_commit_is_saved_and_what_is_only_there_is_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "library")
    commit(tmp_path / "library", "lib.py")
    allowed = ("-c", "protocol.file.allow=always")
    git(repository, *allowed, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(repository, "commit", "-q", "-m", "a submodule")
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    task = worktree.make(str(repository), "s-1", base=opened.base, into=opened.branch)
    path = Path(task.path)
    assert not save_work(task, "nothing").changed
    git(path, *allowed, "submodule", "--quiet", "update", "--init")
    inside = commit(path / "lib", "more.py")
    (path / "lib/lib.py").write_text("not committed\n")

    saved = save_work(task, "work")

    assert git(path, "rev-parse", f"{saved.commit}:lib") == inside
    assert [left.why for left in saved.left_out] == ["submodule", "submodule"]
    assert saved.left_out[0].path == "lib/lib.py"


def test_the_workspace_itself_is_never_committed(tmp_path: Path) -> None:
    held = worktree.make(str(tmp_path), "s-1")

    assert save_work(held, "work") == (None, False, ())


def test_a_repository_with_longer_hashes_is_saved_and_merged_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "long")
    repository = tmp_path / "long"
    commit(repository, "app.py")
    commit(repository, "b.py")
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    task = worktree.make(str(repository), "s-1", base=opened.base, into=opened.branch)
    Path(task.path, "app.py").write_text("changed\n")
    Path(task.path, "b.py").unlink()
    git(task.path, "checkout", "-q", "--detach")
    git(task.path, "branch", "-D", str(task.branch))

    saved = save_work(task, "work")

    merged = merge(str(repository), BRANCH, str(saved.commit), "work")
    assert isinstance(merged, Merged)
    assert files(repository, merged.commit) == ["app.py"]
