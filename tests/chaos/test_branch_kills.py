"""`kill -9` at any moment while tasks' work is saved and merged, of Gemba's process alone or with its git.

Whoever is called again goes on: each task's work is on the run's branch once, and nothing of the workspace was touched.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gemba.sessions.worktrees import worktree
from gemba.teams.branches import open_branch, workspace_status
from gemba.testing import effort, seeds
from tests.fixtures.repositories import BRANCH, RUN, files, git, merges, text
from tests.fixtures.repositories import repository as repository

pytestmark = pytest.mark.chaos

# A task's work, saved and merged as the engine does it; whoever comes second finds what the first has done.
TASKS = """
import sys
from gemba.sessions.worktrees import worktree
from gemba.teams.branches import merge, save_work
workspace, branch, *tasks = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for task in tasks:
    saved = save_work(worktree.make(workspace, task), f"work of {task}")
    print(task, merge(workspace, branch, saved.commit, f"Merge {task}").commit, flush=True)
"""


def tasks_of(repository: Path, draw: random.Random, count: int) -> dict[str, str]:
    """Worktrees in which an agent has worked: a file of its own, a line of one that all share, a commit or not."""
    opened = open_branch(str(repository), RUN)
    assert opened is not None
    found = {}
    for number in range(count):
        made = worktree.make(str(repository), f"s-{number}", base=opened.base, into=opened.branch)
        path = Path(made.path)
        (path / f"of-{number}.py").write_text(f"{number}\n")
        lines = (path / "shared.py").read_text().splitlines()
        lines[number * 6] = f"by {number}"
        (path / "shared.py").write_text("\n".join(lines) + "\n")
        if draw.random() < 0.3:
            git(path, "add", "--all")
        if draw.random() < 0.3:
            git(path, "commit", "-q", "--all", "-m", "by the agent")
        if draw.random() < 0.2:
            git(path, "checkout", "-q", "--detach")
        found[f"s-{number}"] = f"of-{number}.py"
    return found


def descendants(pid: int) -> list[int]:
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
    return [pid for child in children for pid in (child, *descendants(child))]


def kill(process: subprocess.Popen[str], with_git: bool) -> None:
    """Its git goes first: one that has lost its parent is not found any more."""
    os.kill(process.pid, signal.SIGSTOP)
    gits = descendants(process.pid) if with_git else []
    for pid in gits:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.kill()
    process.communicate()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", seeds(short=2, full=40))
def test_work_that_is_saved_and_merged_is_neither_lost_nor_doubled(repository: Path, seed: int) -> None:
    draw = random.Random(seed)
    (repository / "shared.py").write_text("".join(f"line {number}\n" for number in range(60)))
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "shared")
    tasks = tasks_of(repository, draw, 8)
    base = git(repository, "rev-parse", BRANCH)
    (repository / "app.py").write_text("the operator's\n")
    before = workspace_status(str(repository))

    for _ in range(effort(short=6, full=25)):
        order = draw.sample(sorted(tasks), len(tasks))
        command = [sys.executable, "-c", TASKS, str(repository), BRANCH, *order]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            process.stdout.readline()
            process.stdin.write("\n")
            process.stdin.flush()
            time.sleep(draw.uniform(0, 0.35))  # there is no event for a moment in between
            kill(process, with_git=draw.random() < 0.7)
    last = subprocess.run(
        [sys.executable, "-c", TASKS, str(repository), BRANCH, *tasks],
        input="\n",
        capture_output=True,
        text=True,
        check=True,
    )

    tip = git(repository, "rev-parse", BRANCH)
    told = dict(line.split() for line in last.stdout.splitlines()[1:])
    assert sorted(merges(repository)[: len(tasks)]) == sorted(f"Merge {task}" for task in tasks)
    assert len(merges(repository)) == len(merges(repository, base)) + len(tasks)
    assert sorted(told) == sorted(tasks)
    for task, commit in told.items():
        assert git(repository, "show", "-s", "--format=%s", commit) == f"Merge {task}"
        own = git(repository, "log", "--format=%s", f"{base}..gemba/{task}").splitlines()
        assert own in (["by the agent"], [f"work of {task}"], [f"work of {task}", "by the agent"])
        made = worktree.find(str(repository), task)
        assert made is not None
        assert worktree.state(made).seal is None
    assert {*files(repository, tip)} == {*files(repository, base), *tasks.values()}
    shared = text(repository, tip, "shared.py").splitlines()
    assert [shared[number * 6] for number in range(len(tasks))] == [f"by {number}" for number in range(len(tasks))]
    assert workspace_status(str(repository)) == before
    git(repository, "fsck", "--strict", "--no-dangling")
    for task in tasks:
        worktree.release_of(str(repository), task)
    assert git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/gemba").split() == [BRANCH]
