"""A team run while its server, its workers and its database are killed: a drawn graph, who kills, who watches, and what
has to be true in the end.

Each task tells of itself in a file of its own outside of the repository, when it begins and when its work is done, and
makes a file in its worktree. It goes on only when its share of the deaths was died: so they come all over the run.
"""

import json
import random
import subprocess
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gemba.sessions.backends.backend import run_folder
from gemba.sessions.backends.run_folder import read_keeper
from gemba.testing import retry_until
from tests.chaos.floor import Somebody
from tests.fixtures.cluster import Cluster
from tests.fixtures.floor import stop_runs
from tests.fixtures.past import rows
from tests.fixtures.servers import RunningServer
from tests.fixtures.team_floor import OVER, PREFIXES, plan, task
from tests.fixtures.workers import RunningWorker

LEASES = "[teams]\nlease_seconds = 3\n[flows]\nlease_seconds = 2\n"
PATIENCE = 60.0
_MOST_ATTEMPTS = 6  # that are looked for
_GLANCE = 0.3


def drawn_graph(draw: random.Random, many: int, deep: int) -> dict[str, list[str]]:
    """What each task waits for, in graph order: a line that is so deep, and others that hang from it."""
    ids, numbers = [], Counter[str]()
    for _ in range(many):
        prefix = draw.choice(sorted(PREFIXES))
        numbers[prefix] += 1
        ids.append(f"{prefix}-{numbers[prefix]:03}")
    line, others = ids[:deep], ids[deep:]
    graph = {id: line[at - 1 : at] if at else [] for at, id in enumerate(line)}
    for id in others:
        at = draw.randrange(deep - 1)
        before = [*graph, *([] if at else [""])][: at + 1]
        graph[id] = sorted({each for each in draw.sample(before, min(len(before), draw.randint(0, 2))) if each})
    return graph


class Story:
    """The files in which the tasks of a run tell of themselves, and those that they wait for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def task(self, id: str, blockers: Sequence[str], share: int, seconds: float) -> dict[str, Any]:
        told, gate = self.folder / id, self.folder / f"after-{share}"
        wait = f"until test -e {gate}; do sleep 0.05; done"
        line = f"echo begun >> {told}; {wait}; sleep {seconds:.2f}; echo {id} > made-{id}.txt; echo done >> {told}"
        return task(id, *blockers, first=line)

    def after(self, deaths: int) -> None:
        (self.folder / f"after-{deaths}").touch()

    def told(self, id: str) -> list[str]:
        file = self.folder / id
        return file.read_text().splitlines() if file.exists() else []


class Watcher(Somebody):
    """Looks how many agents of one task live at once."""

    def __init__(self, server: RunningServer, run_id: str, ids: Sequence[str]) -> None:
        super().__init__("watcher")
        self._server = server
        self._run_id = run_id
        self._ids = ids
        self.most = 0

    def living(self) -> dict[str, list[str]]:
        """The sessions of each task whose keeper lives."""
        found = defaultdict(list)
        for id in self._ids:
            for number in range(1, _MOST_ATTEMPTS + 1):
                session = f"{self._run_id}.{id}.{number}"
                keeper = read_keeper(run_folder(self._server.home, self._server.workspace, session))
                if keeper is not None and keeper.lives:
                    found[id].append(session)
        return found

    def work(self) -> None:
        while not self.ended.wait(_GLANCE):
            living = self.living()
            self.most = max([self.most, *map(len, living.values())])
            # One that was seen in two looks at once has not just ended while we looked.
            twice = {id: sessions for id, sessions in living.items() if len(sessions) > 1}
            if twice and (again := {id: s for id, s in self.living().items() if len(s) > 1}):
                self.trouble.append(f"{twice}, then {again}")


class Mortals:
    """The processes of one workspace and, where it has one, its PostgreSQL; each dies and comes back."""

    def __init__(
        self, server: RunningServer, workers: Sequence[RunningWorker], cluster: Cluster | None, draw: random.Random
    ) -> None:
        self.server = server
        self._workers = workers
        self._cluster = cluster
        self._draw = draw
        self.deaths = Counter[str]()
        self.errors = ""

    def start(self) -> None:
        self.server.start()
        for worker in self._workers:
            assert worker.start()

    def die(self) -> None:
        """One or several of them at once, and back again after a moment."""
        names = ["server", *(f"worker {at}" for at in range(len(self._workers)))]
        weights = [1] * len(names)
        if self._cluster is not None:
            names, weights = [*names, "database"], [*weights, 1]
        first = self._draw.choices(names, weights)
        victims = {*first, *(self._draw.sample(names, 2) if self._draw.random() < 0.2 else ())}
        for victim in sorted(victims):
            self._kill(victim)
        threading.Event().wait(self._draw.uniform(0, 1))
        for victim in sorted(victims):  # the database first: nobody starts without it
            self._bring_back(victim)
        self.deaths.update(victims)

    def _kill(self, victim: str) -> None:
        if victim == "database" and self._cluster is not None:
            self._cluster.stop("immediate")
        elif victim == "server":
            self.server.process.kill()
            self.errors += self.server.process.communicate()[1].decode()
        else:
            self._workers[int(victim.split()[1])].kill()

    def _bring_back(self, victim: str) -> None:
        if victim == "database" and self._cluster is not None:
            self._cluster.start()
        elif victim == "server":
            self.server.start()
        else:
            assert self._workers[int(victim.split()[1])].start()

    def stop(self) -> str:
        """All in order; what they said in all their lives."""
        for worker in self._workers:
            assert worker.stop() == 0, worker.errors
            self.errors += worker.errors
        code, errors = self.server.stop()
        assert code == 0, errors
        return self.errors + errors

    def end(self) -> None:
        """However it went: nothing of it lives on."""
        living: list[RunningServer | RunningWorker] = [*self._workers, self.server]
        for one in living:
            if one.is_running:
                one.process.kill()
                one.process.communicate()
        stop_runs(self.server.home)


def begin(server: RunningServer, tasks: Sequence[dict[str, Any]], **settings: Any) -> str:
    body = {"text": "Do all of this", "plan": plan(*tasks), "settings": settings or None}
    answer = server.request("POST", "/api/teams", body)
    assert answer.status == 201, answer
    id: str = answer.json["id"]
    return id


def state_of(server: RunningServer, run_id: str) -> str:
    ((state,),) = rows(server, f"select state from team_runs where id = '{run_id}'")
    return str(state)


def until_over(server: RunningServer, run_id: str, patience: float = PATIENCE) -> str:
    """The state in which it ends; what keeps it is told when it does not, and time begins anew with each move."""
    moves = -1
    while True:
        found = len(moves_of(server, run_id))
        if found == moves:
            raise AssertionError(f"nothing moved for {patience:g} s\n{standing(server, run_id)}")
        moves = found
        try:
            retry_until(lambda: state_of(server, run_id) in OVER, timeout=patience, every=0.2)
        except AssertionError:
            continue
        return state_of(server, run_id)


def standing(server: RunningServer, run_id: str) -> str:
    columns = "id, state, waiting_for, errors, fence, executor, reason"
    open_ = f"select {columns} from team_tasks where run_id = '{run_id}' and state not in ('completed', 'pending')"
    flows = "select id, run, started, trouble from flows where substr(name, 1, 5) = 'team.'"
    return "\n".join(str(row) for row in (*rows(server, open_), *rows(server, flows)))


class Move(NamedTuple):
    id: int
    task: str
    event: str
    to: str


def moves_of(server: RunningServer, run_id: str) -> list[Move]:
    query = "select id, payload from events where name = 'team.task_changed' order by id"
    told = ((id, json.loads(payload)) for id, payload in rows(server, query))
    return [Move(id, said["task_id"], said["event"], said["state"]) for id, said in told if said["run_id"] == run_id]


# ---- what has to be true in the end ----------------------------------------------------------------------------------


def check_tasks(server: RunningServer, run_id: str, graph: dict[str, list[str]], *, attempts: bool = True) -> None:
    """Each is done, by one attempt if that is to be looked at, and nothing that it waits for was open when it began."""
    found = rows(server, f"select id, state, errors, merged from team_tasks where run_id = '{run_id}'")
    states = {id: (state, errors) for id, state, errors, _ in found}
    assert states == dict.fromkeys(graph, ("completed", 0)), _other_than_passed(server, run_id)
    assert all(merged for *_, merged in found)
    if attempts:
        made = rows(server, f"select task_id, outcome from team_attempts where run_id = '{run_id}'")
        assert sorted(made) == sorted((id, "passed") for id in graph)
    moves = moves_of(server, run_id)
    passed = [move.task for move in moves if move.event == "passed"]
    assert sorted(passed) == sorted(graph)
    ends = {move.task: move.id for move in moves if move.event == "passed"}
    begun = [move for move in moves if move.event in ("claimed", "started")]
    too_soon = [(move, before) for move in begun for before in graph[move.task] if ends[before] > move.id]
    assert too_soon == []
    assert [move for move in moves if move.id > ends[move.task]] == []


def _other_than_passed(server: RunningServer, run_id: str) -> str:
    """What is known of attempts that did not pass, and of their sessions."""
    query = f"select * from team_attempts where run_id = '{run_id}' and outcome <> 'passed'"
    failed = rows(server, query)
    told = rows(
        server, f"select id, payload from events where name = 'team.task_changed' and payload like '%{run_id}%'"
    )
    errors = [payload for _, payload in told if '"event":"passed"' not in payload][-20:]
    return "\n".join(str(row) for row in (*failed, *errors))


def check_messages(server: RunningServer, run_id: str, graph: dict[str, list[str]]) -> None:
    """Gapless, and each once that the engine sends."""
    query = f"select id, type, summary, data from team_messages where run_id = '{run_id}' order by id"
    found = rows(server, query)
    ((last,),) = rows(server, f"select messages from team_runs where id = '{run_id}'")
    assert [id for id, *_ in found] == list(range(1, last + 1))
    told = Counter((kind, json.loads(data).get("task_id")) for _, kind, _, data in found)
    expected: Counter[tuple[str, str | None]] = Counter({("progress", None): 2})
    expected.update((f"{id.rpartition('-')[0].lower()}_complete", id) for id in graph)
    expected.update(("state_update", id) for id in graph)
    expected.update(("task_unblocked", id) for id, before in graph.items() if before)
    assert told == expected, (told - expected, expected - told)
    summaries = [summary for _, _, summary, _ in found]
    assert (summaries[0], summaries[-1]) == (f"planned {len(graph)} tasks", "the run is completed")


def check_branch(workspace: Path, run_id: str, graph: dict[str, list[str]]) -> None:
    """The work of each task was merged once, and is there."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=workspace, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    branch = f"gemba/{run_id}"
    merges = git("log", "--first-parent", "--merges", "--format=%s", branch)
    assert sorted(each.partition(":")[0] for each in merges) == sorted(graph)
    assert sorted(git("ls-tree", "--name-only", branch)) == sorted(f"made-{id}.txt" for id in graph)
    for id in graph:
        assert git("show", f"{branch}:made-{id}.txt") == [id]
    assert git("status", "--porcelain", "--", ".", ":!.gemba") == []
    assert git("fsck", "--connectivity-only", "--no-dangling", "--no-progress") == []


def check_nothing_is_left(
    server: RunningServer, run_id: str, living: Callable[[], dict[str, list[str]]], *, trees: bool = True
) -> None:
    retry_until(lambda: not living(), timeout=PATIENCE)
    retry_until(lambda: not rows(server, "select id from flows where substr(name, 1, 5) = 'team.'"), timeout=PATIENCE)
    alive = f"select session_id from runs where ended_at is null and substr(session_id, 1, {len(run_id)}) = '{run_id}'"
    retry_until(lambda: not rows(server, alive), timeout=PATIENCE)
    worktrees = server.workspace / ".gemba" / "worktrees"
    if trees:
        retry_until(lambda: not [*worktrees.glob(f"{run_id}*")], timeout=PATIENCE)
    assert not [*(server.workspace / ".git").rglob("index.lock")]
