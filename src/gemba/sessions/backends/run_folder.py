"""A run's folder, from the server's side: prepare it for a start, read what became of it, reach its keeper.

Of two starts of one run one wins, however late the other one comes: a lock is held while one is under way, and a run
that has had a keeper is not started again, nor is another one in its folder while that lives. What a killed keeper left
behind is ended before anything new starts. Called by the backends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gemba
from gemba.errors import Conflict, Unusable
from gemba.sessions.backends.backend import EndedBy, Observation, RunFolder, Seen, Start
from gemba.sessions.backends.run_lock import held
from gemba.sessions.backends.sweep import number_of, sweep
from gemba.sessions.keeper import transcript
from gemba.sessions.keeper.process_tree import Process, send_signal, start_time, wait_ended
from gemba.watch import FolderWatch

START_SECONDS = 20.0  # until a keeper has started its agent, on a busy machine
_LITTLE_ROOM = 65536  # bytes; a keeper writes a few pages
_GLANCE = 0.1  # between two looks whether a keeper has ended without a word
_ANSWER_SECONDS = 5.0
_END_SECONDS = 15.0  # on top of the grace, until a keeper that was told to stop is taken for stuck
_RUN = "import sys; sys.path.append(sys.argv.pop(1)); from {} import main; sys.exit(main())"


class Keeper(NamedTuple):
    """Who keeps a run. `agent_runs` once the agent was started; no `workspace` where nobody has said which."""

    process: Process
    run_id: str
    agent_runs: bool
    workspace: str

    @property
    def lives(self) -> bool:
        return start_time(self.process[0]) == self.process[1]


class Ending(NamedTuple):
    """How a run came to an orderly end."""

    code: int | None
    signal: int | None
    cut: bool
    at: str
    left: int  # processes that outlived the agent and were ended by its keeper
    ended_by: EndedBy
    error: str | None


def keeper_command(run: RunFolder, *, detached: bool) -> list[str]:
    """The keeper of this run."""
    return own_program("gemba.sessions.keeper.__main__", *(["--detach"] if detached else []), str(run.path))


def own_program(module: str, *given: str) -> list[str]:
    """`main` of a module, isolated from its surroundings, without site packages: quick to start, stdlib only."""
    package = str(Path(gemba.__file__).parents[1])
    return [sys.executable, "-I", "-S", "-c", _RUN.format(module), package, *given]


# -- starting ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def starting(start: Start, mode: str) -> Iterator[RunFolder]:
    """A folder ready for `keeper_command`: start that inside, then `wait_started`. Conflict when the run lives."""
    run = RunFolder(start.session_id, Path(start.folder))
    try:
        with held(run):
            _refuse_started(run, start.run_id)
            _clear(run)
            try:
                for name, what in start.files.items():
                    _put(run.path / name, what)
                _write_private(run.spec, json.dumps(_spec(start, mode)))
                yield run
            finally:
                run.spec.unlink(missing_ok=True)
                if not run.keeper.exists():  # no keeper came so far as to take the run: nothing of it stays
                    shutil.rmtree(run.path, ignore_errors=True)
    except OSError as error:
        reason = f"{error.filename or run.path}: {error.strerror}"
        raise Unusable(f"session {run.session_id} cannot be started: {reason}", code="run_unusable") from error


def wait_started(run: RunFolder, run_id: str, keeper: Process) -> None:
    """Wait until the agent runs; Unusable with the reason when it does not, once its keeper is gone."""
    deadline = time.monotonic() + START_SECONDS
    try:
        with FolderWatch(str(run.path)) as watch:
            while start_time(keeper[0]) == keeper[1] and time.monotonic() < deadline:
                if _has_started(run, run_id):
                    return
                watch.wait(_GLANCE)
        check_started(run, run_id)
    except Unusable:
        wait_ended(keeper, _ANSWER_SECONDS)
        raise


def check_started(run: RunFolder, run_id: str, heard: str = "") -> None:
    """The same for whoever knows that the start is over; `heard` is what the keeper said at last."""
    if not _has_started(run, run_id):
        reason = f"its keeper did not start{': ' if heard else ''}{heard}{_lack_of_room(run)}"
        raise Unusable(f"session {run.session_id}: {reason}", code="keeper_missing")


def _lack_of_room(run: RunFolder) -> str:
    """What a keeper in a pane has nobody to tell."""
    place = run.path if run.path.exists() else run.path.parent
    return f"; {os.strerror(errno.ENOSPC)}" if shutil.disk_usage(place).free < _LITTLE_ROOM else ""


def _has_started(run: RunFolder, run_id: str) -> bool:
    keeper = read_keeper(run)
    if keeper is None or keeper.run_id != run_id:
        return False
    if keeper.agent_runs:
        return True
    ending = read_ending(run)
    if ending is None:
        return False
    wait_ended(keeper.process, _ANSWER_SECONDS)
    raise Unusable(f"session {run.session_id} cannot be started: {ending.error}", code="agent_not_started")


def _refuse_started(run: RunFolder, run_id: str) -> None:
    keeper = read_keeper(run)
    if keeper is None:
        return
    if keeper.lives:
        raise Conflict(f"session {run.session_id} runs already", code="run_lives")
    if keeper.run_id == run_id:  # another process started it meanwhile, and its agent has ended since
        raise Conflict(f"session {run.session_id} was started already, and has ended", code="run_over")
    if read_ending(run) is None:
        sweep(run.session_id, keeper.run_id)


def _clear(run: RunFolder) -> None:
    """What an earlier run left. `keeper.json` goes last: without it nobody would know what to sweep."""
    transcript.remove(str(run.path))
    for file in (run.input, run.exit, run.keeper):
        file.unlink(missing_ok=True)


def _spec(start: Start, mode: str) -> dict[str, Any]:
    return {
        "run_id": start.run_id,
        "number": number_of(start.run_id),
        "workspace": start.workspace,
        "command": start.command,
        "env": start.environment(),
        "cwd": start.cwd,
        "mode": mode,
        "stdin": start.stdin,
        "keep_stdin": start.keep_stdin,
        "output_limit": start.output_limit,
        "rows": start.rows,
        "columns": start.columns,
        "max_seconds": start.max_seconds,
    }


def _put(path: Path, what: str | Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(what, str):
        _write_private(path, what)
    elif path.is_symlink() or not path.exists():  # what an earlier run of the client put in its place stays
        path.unlink(missing_ok=True)
        path.symlink_to(what)


def _write_private(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}")
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
    partial.rename(path)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_keeper(run: RunFolder) -> Keeper | None:
    found = _read(run.keeper) or {}
    try:
        process = found["pid"], found["started"]
        return Keeper(process, found["run_id"], "agent" in found, found.get("workspace", ""))
    except KeyError:
        return None


def read_ending(run: RunFolder) -> Ending | None:
    found = _read(run.exit)
    try:
        facts = (found["code"], found["signal"], found["cut"], found["at"], found["left"]) if found else None
        return Ending(*facts, EndedBy(found["ended_by"]), found.get("error")) if found and facts else None
    except (KeyError, ValueError):
        return None


def observe_kept(run: RunFolder) -> Observation:
    """What the keeper and its files tell. The look at the keeper comes first: it writes the ending before it goes."""
    keeper = read_keeper(run)
    if keeper is not None and keeper.lives:
        return Observation(Seen.RUNNING)
    ending = read_ending(run)
    if ending is None:
        return Observation(Seen.KILLED)
    seen = Seen.KILLED if ending.signal is not None else Seen.EXITED
    return Observation(seen, ending.code, ending.signal, ending.ended_by)


def _read(path: Path) -> dict[str, Any] | None:
    """A JSON object, None when there is none."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


# -- the keeper -------------------------------------------------------------------------------------------------------


def ask_keeper(run: RunFolder, **request: object) -> dict[str, Any]:
    """One request and its answer; Conflict when the keeper refuses it or is gone."""
    try:
        answer = _exchange(run, request)
    except TimeoutError:
        raise Unusable(f"session {run.session_id}: its keeper does not answer", code="keeper_silent") from None
    except (OSError, ValueError):
        raise Conflict(f"session {run.session_id} does not run", code="run_over") from None
    if not answer.get("ok"):
        raise Conflict(f"session {run.session_id}: {answer.get('error')}", code="run_refuses")
    return answer


def stop_kept(run: RunFolder, grace: float) -> None:
    """Everything of the run is gone when this returns."""
    keeper = read_keeper(run)
    if keeper is None:
        return
    if keeper.lives:
        with contextlib.suppress(OSError):  # it is about to end
            _tell(run, {"op": "stop", "grace": grace}).close()
        if not wait_ended(keeper.process, grace + _END_SECONDS):
            send_signal(keeper.process, signal.SIGKILL)
            wait_ended(keeper.process, _END_SECONDS)
    if read_ending(run) is None:
        sweep(run.session_id, keeper.run_id)


def _exchange(run: RunFolder, request: dict[str, object]) -> dict[str, Any]:
    with _tell(run, request) as connection, connection.makefile("rb") as answers:
        answer: dict[str, Any] = json.loads(answers.readline())
        return answer


def _tell(run: RunFolder, request: dict[str, object]) -> socket.socket:
    """A connection on which the request was sent."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_ANSWER_SECONDS)
        folder = os.open(run.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # a socket's path has at most 107 bytes; this one is short whatever the folder's is
            connection.connect(f"/proc/self/fd/{folder}/input")
        finally:
            os.close(folder)
        connection.sendall(json.dumps(request).encode() + b"\n")
    except BaseException:
        connection.close()
        raise
    return connection
