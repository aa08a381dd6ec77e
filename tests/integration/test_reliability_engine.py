"""The durable engine's own tables, tampered with, lost or broken: no code runs, and what is wanted happens once."""

import base64
import os
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gemba.testing import retry_until
from tests.fixtures.past import engine_rows, rows
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import RunningServer

_PATIENCE = 20.0
_LONG = """
[flows]
lease_seconds = 2
[[policy]]
name = "long"
remind_after = "1h"
notify = ["page"]
expire_after = "2h"
"""


def ask(server: RunningServer) -> str:
    payload = {"kind": "question", "role": "coach", "mode": "balanced", "text": "Which port?"}
    return server.append("GembaAsk", payload)


def runs_begun(server: RunningServer) -> list[tuple[Any, ...]]:
    """Those that have a step behind them; a server listens before its engine has made its tables."""
    try:
        return engine_rows(server, "select distinct workflow_uuid from operation_outputs")
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        return []


def told(server: RunningServer, id: str) -> list[str]:
    return [name for (name,) in rows(server, f"select name from events where ref = '{id}' order by id")]


def watch_is_over(server: RunningServer) -> None:
    retry_until(lambda: not rows(server, "select * from flows where name = 'watch'"), timeout=2 * _PATIENCE)


# ---- tampered with --------------------------------------------------------------------------------------------------


class Bait:
    """What creates a file when somebody unpickles it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self._file),)


# Every place of which the engine reads something back.
TAMPERED = (
    ("update workflow_input set inputs = ?", "update workflow_status set serialization = 'py_pickle', inputs = ?"),
    ("update operation_outputs set serialization = 'py_pickle', output = ?",),
    ("update operation_outputs set serialization = 'py_pickle', output = null, error = ?",),
    ("update workflow_status set serialization = 'py_pickle', output = ?",),
)


def test_a_pickled_row_is_refused_and_its_flow_still_comes_to_its_end(
    stopped_server: RunningServer, tmp_path: Path
) -> None:
    server = stopped_server
    (server.workspace / ".gemba/workspace.toml").write_text(_LONG)
    server.start()
    ids = [ask(server) for _ in TAMPERED]
    retry_until(lambda: len(runs_begun(server)) == len(ids), timeout=_PATIENCE)
    server.kill()
    trap = tmp_path / "code ran"
    bait = base64.b64encode(pickle.dumps(Bait(trap))).decode()
    for id, statements in zip(ids, TAMPERED, strict=True):
        for statement in statements:
            engine_rows(server, f"{statement} where workflow_uuid like ?", (bait, f"%{id}%"))

    server.start()
    for id in ids:
        server.post(f"/api/escalations/{id}/respond", {"text": "8080"})
    # A run that cannot be read is given up, which is told, and begun anew.
    watch_is_over(server)

    for id in ids:
        assert told(server, id).count("escalation.resolved") == 1
    code, errors = server.stop()
    assert code == 0
    assert "the engine gave a flow up, it is run again" in errors
    assert "a flow failed and will be run again" in errors
    assert not trap.exists()


def test_the_bait_would_be_taken_by_whoever_unpickles(tmp_path: Path) -> None:
    trap = tmp_path / "code ran"

    pickle.loads(pickle.dumps(Bait(trap)))  # noqa: S301 - that is the point

    assert trap.exists()


def test_tables_that_a_killed_process_left_half_made_are_begun_anew(sqlite_server: RunningServer) -> None:
    server = sqlite_server
    server.stop()
    (server.workspace / ".gemba/workspace.toml").write_text(_LONG)
    for file in (server.workspace / ".gemba").glob("flows.db*"):
        file.unlink()
    engine_rows(server, "create table workflow_status (workflow_uuid text primary key)")

    server.start()
    id = ask(server)
    retry_until(lambda: runs_begun(server), timeout=_PATIENCE)
    server.post(f"/api/escalations/{id}/respond", {"text": "8080"})
    watch_is_over(server)

    code, errors = server.stop()
    assert code == 0
    assert "the record of the flows was unreadable and begins anew" in errors
    assert list((server.workspace / ".gemba").glob("flows.db.unreadable-*"))


def test_a_flow_may_see_any_number_of_restarts(sqlite_server: RunningServer) -> None:
    """The engine would give a run up after its hundredth."""
    server = sqlite_server
    server.stop()
    (server.workspace / ".gemba/workspace.toml").write_text(_LONG)
    server.start()
    id = ask(server)
    retry_until(lambda: runs_begun(server), timeout=_PATIENCE)
    server.kill()
    engine_rows(server, "update workflow_status set recovery_attempts = 1000")

    server.start()
    retry_until(
        lambda: engine_rows(server, "select recovery_attempts, status from workflow_status") == [(1001, "PENDING")],
        timeout=_PATIENCE,
    )
    server.post(f"/api/escalations/{id}/respond", {"text": "8080"})
    watch_is_over(server)

    code, errors = server.stop()
    assert code == 0
    assert "gave a flow up" not in errors


# ---- lost, broken ---------------------------------------------------------------------------------------------------

_SHORT = """
[flows]
lease_seconds = 2
[channels.hook]
url = "{hook}"
[[policy]]
name = "short"
remind_after = "1s"
notify = ["hook"]
expire_after = "6s"
default_answer = "8080"
"""


def forget_the_runs(server: RunningServer) -> None:
    """As if somebody had taken the engine's tables away between two runs."""
    if rows(server, "select 1") and "postgresql" in server.environment["GEMBA_DATABASE_URL"]:
        engine_rows(server, "drop schema gemba_flows cascade")
        return
    for file in (server.workspace / ".gemba").glob("flows.db*"):
        file.unlink()


def test_without_the_engines_tables_everything_that_is_wanted_still_happens_once(
    stopped_server: RunningServer, receiver: Receiver
) -> None:
    server = stopped_server
    (server.workspace / ".gemba/workspace.toml").write_text(_SHORT.format(hook=receiver.url))
    server.start()
    id = ask(server)
    server.events(after=0).until("escalation.notified")
    server.kill()
    forget_the_runs(server)

    server.start()
    server.events(after=0).until("escalation.resolved")
    watch_is_over(server)
    assert server.ask("--resume", id).communicate(timeout=_PATIENCE)[0] == "8080\n"
    retry_until(lambda: not rows(server, "select * from flows"), timeout=_PATIENCE)

    names = told(server, id)
    once = ("escalation_opened", "escalation.reminded", "escalation.notified", "escalation.resolved")
    assert {name: names.count(name) for name in once} == dict.fromkeys(once, 1)
    assert names.count("escalation.delivered") == 1
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("damage", ["no database", "broken pages"])
def test_a_broken_file_of_the_engine_is_put_aside_and_the_flows_begin_anew(
    start_server: Callable[..., RunningServer], workspace: Path, receiver: Receiver, damage: str
) -> None:
    (workspace / ".gemba/workspace.toml").write_text(_SHORT.format(hook=receiver.url))
    server = start_server("", running=False)
    server.start()
    id = ask(server)
    server.events(after=0).until("escalation.notified")
    server.stop()
    file = workspace / ".gemba/flows.db"
    garbage = spoil(file, damage)

    server.start()
    server.events(after=0).until("escalation.resolved")
    watch_is_over(server)
    code, errors = server.stop()

    assert code == 0
    (line,) = [line for line in errors.splitlines() if "unreadable" in line]
    (aside,) = [path for path in file.parent.glob("flows.db.unreadable-*") if not path.name.endswith(("-wal", "-shm"))]
    assert str(aside) in line
    assert aside.read_bytes() == garbage  # nothing was deleted
    assert "Traceback" not in errors
    assert told(server, id).count("escalation.reminded") == 1
    assert told(server, id).count("escalation.resolved") == 1
    assert len(receiver.requests) == 1


def spoil(file: Path, damage: str) -> bytes:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    for journal in file.parent.glob("flows.db-*"):
        journal.unlink()
    if damage == "no database":
        file.write_bytes(os.urandom(8_192))
    else:
        whole = file.read_bytes()
        file.write_bytes(whole[:4_096] + os.urandom(len(whole) - 4_096))
    return file.read_bytes()
