"""What a gate looks at, in real worktrees, with real commands: what an agent left is found, and no link is followed."""

import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemba.handoff.snapshot import take_snapshot
from gemba.handoff.world import GatePolicy, check_world
from gemba.teams import changes
from gemba.teams.changes import changes_since
from gemba.teams.gates import Dimension, judge
from gemba.teams.looking import LONGEST_ARTIFACT, Task, digest_of, look, run_commands
from gemba.teams.measuring import measure
from gemba.teams.reviewer import review
from gemba.teams.run import ProjectCommand
from gemba.teams.submitted import ChangedFile, KnownFile, Outside, Submitted, Upstream
from gemba.testing import retry_until
from tests.fixtures.submissions import GOAL, PAGE, good_work


def run_git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", "some work")
    return run_git(folder, "rev-parse", "HEAD")


class Floor:
    """A workspace, and a worktree of it in which a task works."""

    def __init__(self, workspace: Path) -> None:
        (workspace / "src").mkdir()
        (workspace / "src/upload.py").write_text("RETRY = True\n")
        (workspace / "src/old.py").write_text("OLD = 1\nOLDER = 2\n")
        (workspace / "web").mkdir()
        (workspace / "web/upload.ts").write_text("retry();\n" * 20)
        (workspace / ".gitignore").write_text("*.log\n.gemba/\n")
        self.workspace, self.base = workspace, commit(workspace)
        self.worktree = workspace / ".gemba/worktrees/one"
        run_git(workspace, "worktree", "add", "--quiet", "-b", "one", str(self.worktree))
        self.artifacts = self.worktree / ".gemba/artifacts"
        self.artifacts.mkdir(parents=True)

    def look(self, *commands: ProjectCommand, envelope: Any = None, **more: Any) -> Submitted:
        task = Task(id="IMPL-001", owner="developer", goal=GOAL, output="mixed", envelope=envelope or {}, **more)
        return look(task, self.worktree, self.base, commands)

    def changed(self) -> dict[str, ChangedFile]:
        return {each.path: each for each in self.look().changed}


@pytest.fixture
def floor(workspace: Path) -> Floor:
    return Floor(workspace)


# ---- what changed ----------------------------------------------------------------------------------------------------


def test_what_was_saved_is_looked_at_and_not_what_only_lies_there(floor: Floor) -> None:
    """As the block for an agent that Gemba puts into a file of instructions, and takes out again."""
    (floor.worktree / "src/upload.py").write_text("RETRY = True\nLIMIT = 5\n")
    (floor.worktree / "src/new.py").write_text("NEW = 1\n")
    saved = commit(floor.worktree)
    (floor.worktree / "src/old.py").write_text("OLD = 3\n")
    (floor.worktree / "CLAUDE.md").write_text("told\n")

    found = changes_since(floor.worktree, floor.base, saved)

    assert [(each.path, each.lines) for each in found.files] == [
        ("src/new.py", "NEW = 1"),
        ("src/upload.py", "LIMIT = 5"),
    ]
    assert (found.trouble, found.compared) == ([], True)
    assert changes_since(floor.worktree, saved, saved).files == []


def test_what_changed_since_the_task_began_is_found_committed_or_not(floor: Floor) -> None:
    (floor.worktree / "src/upload.py").write_text("RETRY = True\nLIMIT = 5\n")
    commit(floor.worktree)
    (floor.worktree / "src/old.py").unlink()
    (floor.worktree / "web/upload.ts").write_text("++count;\n" + "retry();\n" * 19)
    (floor.worktree / "ünï \n code.py").write_text("a = 1\nb = 2")
    (floor.worktree / "picture.png").write_bytes(b"\x89PNG\0\0")
    (floor.worktree / "made.log").write_text("ignored\n")
    (floor.artifacts / "IMPL-001-a.md").write_text("# it\n")

    assert floor.changed() == {
        "src/upload.py": ChangedFile("src/upload.py", 1, 0, "LIMIT = 5", "RETRY = True\nLIMIT = 5\n"),
        "src/old.py": ChangedFile("src/old.py", 0, 2, gone=True),
        "web/upload.ts": ChangedFile("web/upload.ts", 1, 1, "++count;", "++count;\n" + "retry();\n" * 19),
        "ünï \n code.py": ChangedFile("ünï \n code.py", 2, 0, "a = 1\nb = 2", "a = 1\nb = 2"),
        "picture.png": ChangedFile("picture.png", binary=True),
    }


def test_a_folder_that_is_a_part_of_its_worktree_has_paths_of_its_own(floor: Floor) -> None:
    (floor.worktree / "src/upload.py").write_text("RETRY = True\nLIMIT = 5\n")
    (floor.worktree / "src/new.py").write_text("NEW = 1\n")
    (floor.worktree / "web/upload.ts").write_text("++count;\n" + "retry();\n" * 19)
    (floor.worktree / "top.txt").write_text("top\n")

    found = changes_since(floor.worktree / "src", floor.base)

    assert {each.path: (each.lines, each.gone) for each in found.files} == {
        "upload.py": ("LIMIT = 5", False),
        "new.py": ("NEW = 1\n", False),
        "../web/upload.ts": ("++count;", False),
        "../top.txt": ("top\n", False),
    }
    assert found.trouble == []


def test_nothing_changed(floor: Floor) -> None:
    assert (floor.look().changed, floor.look().trouble) == ((), ())


def test_a_name_that_is_no_utf8_and_one_that_looks_like_a_pattern(floor: Floor) -> None:
    (floor.worktree / os.fsdecode(b"src/caf\xe9.py")).write_text("a = 1\n")
    (floor.worktree / "src/[a-z]*.py").write_text("b = 1\n")
    run_git(floor.worktree, "add", "--all")

    assert {path: each.lines for path, each in floor.changed().items()} == {
        "src/caf\\xe9.py": "a = 1",
        "src/[a-z]*.py": "b = 1",
    }


def test_a_symbolic_link_is_not_followed(floor: Floor, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (floor.worktree / "leak.txt").symlink_to(tmp_path / "secret.txt")
    (floor.artifacts / "IMPL-001-leak.md").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(floor.artifacts / "IMPL-001-pipe.md")
    os.mkfifo(floor.worktree / "pipe")

    work = floor.look()

    assert "secret\n" not in str(work)
    assert (work.artifacts, {each.path: each.text for each in work.changed}) == ((), {"leak.txt": ""})


def test_a_folder_of_artifacts_that_leads_elsewhere_is_not_read(floor: Floor, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/IMPL-001-a.md").write_text("# it")
    floor.artifacts.rmdir()
    floor.artifacts.symlink_to(tmp_path / "elsewhere")

    assert floor.look().artifacts == ()


def test_a_filter_and_a_driver_that_the_repository_names_are_not_run(floor: Floor, tmp_path: Path) -> None:
    for key in ("filter.evil.clean", "diff.evil.textconv", "diff.evil.command", "diff.external"):
        run_git(floor.worktree, "config", key, f"touch {tmp_path}/ran; cat")
    (floor.worktree / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    (floor.worktree / "src/upload.py").write_text("RETRY = False\n")

    assert floor.changed()["src/upload.py"].lines == "RETRY = False"
    assert not (tmp_path / "ran").exists()


def test_more_than_can_be_looked_at_is_told(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MOST_FILES", 3)
    monkeypatch.setattr(changes, "LONGEST_TEXT", 10)
    for number in range(5):
        (floor.worktree / f"file-{number}.py").write_text("x" * 100)

    work = floor.look()

    assert [len(each.text) for each in work.changed] == [10, 10, 10]
    assert work.trouble == ("5 files changed, the first 3 were looked at",)


@pytest.mark.parametrize("base", [None, "", "HEAD", "--output=x", "f" * 40])
def test_without_a_commit_to_compare_with_there_is_trouble_and_no_error(floor: Floor, base: str | None) -> None:
    files, trouble, compared = changes_since(floor.worktree, base)

    assert (files, len(trouble), compared) == ([], 1, False)


def test_a_folder_that_is_gone_is_trouble_and_no_error(tmp_path: Path) -> None:
    task = Task(id="IMPL-001", owner="developer", goal=GOAL, output="mixed", envelope={})

    assert look(task, tmp_path / "gone", "f" * 40).trouble != ()


# ---- artifacts and the files that they name --------------------------------------------------------------------------


def test_artifacts_are_the_tasks_own_and_what_it_was_given_is_compared(floor: Floor) -> None:
    (floor.artifacts / "IMPL-001-report.md").write_bytes(b"# it\n\xff\0")
    (floor.artifacts / "IMPL-0010-other.md").write_text("# not its own")
    (floor.artifacts / "RESEARCH-001-a.md").write_text("# as given")
    (floor.artifacts / "RESEARCH-002-b.md").write_text("# changed")

    given = {f"RESEARCH-00{n}-{name}.md": digest_of(b"# as given") for n, name in ((1, "a"), (2, "b"), (3, "c"))}
    work = floor.look(upstream=given)

    assert [(each.name, each.content, each.size) for each in work.artifacts] == [("IMPL-001-report.md", "# it\n��", 7)]
    assert [(each.name, each.now == each.given, each.now is None) for each in work.upstream] == [
        ("RESEARCH-001-a.md", True, False),
        ("RESEARCH-002-b.md", False, False),
        ("RESEARCH-003-c.md", False, True),
    ]


def test_a_large_artifact_is_cut_and_compared_whole(floor: Floor) -> None:
    content = b"x" * (LONGEST_ARTIFACT + 9)
    (floor.artifacts / "IMPL-001-large.md").write_bytes(content)

    (found,) = floor.look().artifacts

    assert (len(found.content), found.cut, found.digest) == (LONGEST_ARTIFACT, True, digest_of(content))


def test_files_that_the_work_names_are_looked_for_within_the_worktree(floor: Floor, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("secret")
    (floor.worktree / "src/deep").mkdir()
    (floor.worktree / "src/deep/limits.py").write_text("A = 1\nB = 2\n")
    (floor.worktree / "src/leak.py").symlink_to(tmp_path / "outside.py")
    page = "# It\n\n`src/upload.py:1`, `deep/limits.py`, `src/leak.py`, `src/none.py`, [a](IMPL-001-a.md)\n"
    (floor.artifacts / "IMPL-001-a.md").write_text(page)
    claims = {"evidence_report": {"verification": {"files_produced": ["made.log", "../../../outside.py", "\0", 7]}}}
    (floor.worktree / "made.log").write_text("ignored by git\n")

    assert floor.look(envelope=claims).known == (
        KnownFile("IMPL-001-a.md", 3),
        KnownFile("deep/limits.py", 2),
        KnownFile("made.log", 1),
        KnownFile("src/upload.py", 1),
    )


# ---- outside of the worktree -----------------------------------------------------------------------------------------


def test_what_changed_in_the_workspace_meanwhile_is_told_and_what_the_work_names_apart(floor: Floor) -> None:
    (floor.workspace / "README.md").write_text("an operator's own, from before")
    before = take_snapshot(floor.workspace)
    (floor.workspace / "src/upload.py").write_text("written from the worktree")
    (floor.workspace / "notes.txt").write_text("the operator writes notes")
    (floor.workspace / ".gemba/other.txt").write_text("of Gemba")
    (floor.worktree / "src/old.py").write_text("its own worktree\n")
    claims = {"evidence_report": {"commands_run": [f"sed -i s/a/b/ {floor.workspace}/src/upload.py"]}}
    task = Task(id="IMPL-001", owner="developer", goal=GOAL, output="mixed", envelope=claims)

    work = look(task, floor.worktree, floor.base, workspace=floor.workspace, before=before)

    assert work.outside == (Outside("notes.txt"), Outside("src/upload.py", named=True))


def test_what_an_operator_commits_meanwhile_is_not_told(floor: Floor) -> None:
    (floor.workspace / "README.md").write_text("begun")
    before = take_snapshot(floor.workspace)
    commit(floor.workspace)
    task = Task(id="IMPL-001", owner="developer", goal=GOAL, output="mixed", envelope={})

    assert look(task, floor.worktree, floor.base, workspace=floor.workspace, before=before).outside == ()


# ---- the project's commands ------------------------------------------------------------------------------------------


def test_commands_are_run_in_the_worktree_where_something_changed(floor: Floor) -> None:
    tests = ProjectCommand("tests", "pwd; echo wrong >&2; test -e new.py && exit 3", "depth")

    assert floor.look(tests).commands == ()

    (floor.worktree / "new.py").write_text("a = 1\n")
    (found,) = floor.look(tests).commands

    assert (found.dimension, found.code, found.words) == (Dimension.DEPTH, 3, "exit code 3")
    assert found.tail == f"{floor.worktree}\n\nwrong\n"


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    forks = "sleep 600 & echo $! > child; (sleep 600 & echo $! > grandchild); sleep 600"

    (found,) = run_commands(tmp_path, [ProjectCommand("tests", forks, seconds=1)])

    assert (found.code, found.words) == (None, "it had not ended after 1 s")
    for name in ("child", "grandchild"):
        pid = int((tmp_path / name).read_text())
        retry_until(lambda pid=pid: not _runs(pid))  # type: ignore[misc]  # a default binds the number


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_what_a_command_floods_is_bounded_and_cannot_drive_a_terminal(tmp_path: Path) -> None:
    flood = "head -c 30000000 /dev/zero | tr '\\0' 'x'; printf '\\033[2J'"

    (found,) = run_commands(tmp_path, [ProjectCommand("tests", flood)])

    assert (found.code, len(found.tail)) == (0, 4_000)
    assert "more than 1,000,000 bytes" in found.words


def test_commands_that_cannot_be_run_and_those_that_a_signal_ends_have_not_passed(tmp_path: Path) -> None:
    commands = [ProjectCommand("missing", "no-such-program-here"), ProjectCommand("killed", "kill -9 $$")]

    assert [each.code for each in run_commands(tmp_path, commands)] == [127, 137]
    assert run_commands(tmp_path / "gone", commands[:1])[0].code is None


def test_a_command_sees_no_variable_of_gembas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", "s")

    (found,) = run_commands(tmp_path, [ProjectCommand("env", 'test -z "$GEMBA_SESSION_ID"')], ["env"])

    assert (found.code, found.failed_before, found.is_to_blame) == (0, True, False)


# ---- the whole -------------------------------------------------------------------------------------------------------


def test_good_work_of_a_real_worktree_passes_its_gate(floor: Floor) -> None:
    dispatched = take_snapshot(floor.worktree)
    sample = good_work("mixed")
    (floor.worktree / "src/upload.py").write_text("RETRY = True\nLIMIT = 5\n\n\ndef retry(attempt): ...\n")
    (floor.worktree / "tests").mkdir()
    (floor.worktree / "tests/test_upload.py").write_text("def test_limit():\n    assert True\n")
    (floor.artifacts / "IMPL-002-report.md").write_text(PAGE)
    (floor.artifacts / "RESEARCH-001-clients.md").write_text("# Clients")
    envelope = msgspec.json.decode(
        msgspec.json.encode(sample.envelope).replace(b'"lines_before":1,"lines_after":4', b'"lines_before":null')
    )
    world = check_world(envelope, dispatched, None, GatePolicy(), floor.worktree)
    task = Task(
        id="IMPL-002",
        owner="developer",
        goal=sample.goal,
        output="mixed",
        envelope=envelope,
        acceptance=sample.acceptance,
        world=tuple(world),
        upstream={"RESEARCH-001-clients.md": digest_of(b"# Clients")},
        tasks=sample.tasks,
        names=sample.names,
    )

    work = look(task, floor.worktree, floor.base, [ProjectCommand("tests", "python3 -m compileall -q src tests")])
    gate = judge(measure(work), review(work), author="developer", attempt=1)

    assert (work.upstream[0], gate.score, gate.outcome) == (
        Upstream("RESEARCH-001-clients.md", *[digest_of(b"# Clients")] * 2),
        100,
        "passed",
    ), (gate, review(work))
