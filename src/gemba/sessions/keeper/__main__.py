"""The keeper: owns one agent's whole process tree, and outlives the server that asked for it.

`python -m gemba.sessions.keeper [--detach] RUN_FOLDER` starts what the folder's `spec.json` says, copies what it prints
to the transcript, and takes requests on the socket `input`, a line of JSON each:

    {"op": "send", "text": …, "enter": bool, "paste": bool}     type it; as a paste where the terminal asks for that
    {"op": "interrupt"}                                         what ^C does
    {"op": "stop", "grace": seconds}                            answered when everything is gone
    {"op": "status"}

It ends when the agent and everything below it has: what stays is told to end, then killed. `exit.json` is written
whole and synced before that, so that a keeper which is gone without one was killed; its agent dies with it. Its own
exit code is the agent's. SIGTERM and SIGHUP mean stop. Each run has one keeper: `keeper.json` is claimed before the
agent starts, and names the agent once it runs.

Every start of an agent pays for this program: standard library only, little of it.
`backends/run_folder.py` speaks to it.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without its enumerations
import os
import sys
import time

from gemba.sessions.keeper import folder
from gemba.sessions.keeper.agent import PANE, PIPE, PTY, Agent, NotStarted, start_agent
from gemba.sessions.keeper.input import IN, Client, Listener, Watch
from gemba.sessions.keeper.process_tree import Kernel, descendants, send_signal
from gemba.sessions.keeper.streams import Streams

TYPE_CHECKING = False  # a type checker takes it for true; loading `typing` takes as long as a bare interpreter's start
if TYPE_CHECKING:
    from typing import Any, NoReturn

GRACE = 5.0  # seconds between SIGTERM and SIGKILL, for whoever does not say
_LEFT_GRACE = 2.0  # the same for what an agent leaves behind
_LONGEST_GRACE = 3600.0
_KILL_AGAIN = 0.05  # between two rounds of SIGKILL: what is killed may just have forked
_GIVE_UP = 10.0  # seconds after which what cannot be killed is left
_STOPPED_BY_TERMINAL = (_signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU)


class Keeper:
    """One run, from its agent's start to the end of the last process below it."""

    def __init__(self, spec: "dict[str, Any]", agent: Agent, watch: Watch) -> None:
        self._mode: str = spec["mode"]
        self._agent, self._watch = agent.pid, watch
        self._streams = Streams(spec, agent, watch)
        self._stopping: list[Client] = []  # who waits for the end
        self._status: int | None = None  # the agent's, once it has ended
        self._alone = False  # nothing is left below
        self._left: int | None = None  # how much outlived an agent that nobody had told to end
        self._ended_by: str | None = None
        self._kill_at: float | None = None  # once everything was told to end
        self._killing_since: float | None = None
        limit = spec["max_seconds"]
        self._time_is_up = None if limit is None else time.monotonic() + limit

    def keep(self, signals: int) -> None:
        """Until everything has ended, or cannot be ended."""
        self._watch.add(signals, IN, lambda: self._hear(os.read(signals, 4096)))
        self._reap()
        while not (self._alone and self._status is not None):
            self._watch.wait(self._next_deadline())
            if not self._act_on_time():
                break
        self._streams.finish()

    def ending(self) -> dict[str, object]:
        """What `exit.json` says."""
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        return {
            "code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "cut": self._streams.cut,
            "left": self._left or 0,
            "ended_by": self._ended_by or "agent",
        }

    def exit_code(self) -> int:
        if self._status is None:
            return 1
        code = os.waitstatus_to_exitcode(self._status)
        return code if code >= 0 else 128 - code

    def answer_stopping(self) -> None:
        for client in self._stopping:
            client.answer(ok=True)

    # -- requests

    def handle(self, request: "dict[str, Any]", client: Client) -> None:
        match request:
            case {"op": "send", "text": str(text)}:
                enter, paste = request.get("enter") is True, request.get("paste") is not False
                _answer(client, self._streams.send(text, enter=enter, paste=paste))
            case {"op": "interrupt"}:
                _answer(client, self._interrupt())
            case {"op": "stop", "grace": int(grace) | float(grace)} if 0 <= grace <= _LONGEST_GRACE:
                self._stopping.append(client)
                self._stop("stop", grace)
            case {"op": "status"}:
                client.answer(ok=True, agent=self._agent, printed=self._streams.printed)
            case _:
                allowed = f"send with a text, interrupt, stop with a grace of 0 to {_LONGEST_GRACE:g} seconds, status"
                client.answer(ok=False, error=f"unknown request; allowed: {allowed}")

    def _interrupt(self) -> str | None:
        """Why it cannot be done; None when it is."""
        if self._mode == PTY:
            return self._streams.send("\x03", enter=False, paste=False)
        try:
            os.killpg(self._agent if self._mode == PIPE else os.tcgetpgrp(0), _signal.SIGINT)
        except OSError as error:
            return f"it cannot be interrupted: {error.strerror}"
        return None

    # -- what happens below

    def _hear(self, numbers: bytes) -> None:
        if _signal.SIGTERM in numbers:
            self._stop("signal", GRACE)
        if _signal.SIGHUP in numbers:
            self._stop("hangup", GRACE)
        self._reap()

    def _reap(self) -> None:
        """Without children nothing is left below: whatever loses its parent becomes a child of the keeper."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                self._alone = True
                break
            if pid == 0:
                break
            if os.WIFSTOPPED(status):
                self._continue(pid, os.WSTOPSIG(status))
            elif pid == self._agent:
                self._status = status
        if self._status is not None and self._left is None:
            self._left = 0 if self._alone or self._kill_at is not None else len(descendants(os.getpid()))
            if not self._alone:
                self._end_all(_LEFT_GRACE)

    def _continue(self, pid: int, number: int) -> None:
        """Nobody sits at a shell that could wake an agent which its terminal stopped."""
        if self._mode == PANE and pid == self._agent and number in _STOPPED_BY_TERMINAL:
            try:
                os.tcsetpgrp(0, pid)
                os.killpg(pid, _signal.SIGCONT)
            except OSError:  # the terminal is gone
                return

    # -- ending it

    def _stop(self, ended_by: str, grace: float) -> None:
        if self._status is None:
            self._ended_by = self._ended_by or ended_by
        self._end_all(grace)

    def _end_all(self, grace: float) -> None:
        kill_at = time.monotonic() + grace
        if self._kill_at is None:
            # A shell that a person types into ignores SIGTERM; a terminal that goes away ends it.
            hangup = () if self._mode == PIPE else (_signal.SIGHUP,)
            self._signal_all(_signal.SIGTERM, *hangup, _signal.SIGCONT)
        self._kill_at = kill_at if self._kill_at is None else min(self._kill_at, kill_at)

    def _signal_all(self, *numbers: int) -> None:
        for process in descendants(os.getpid()):
            for number in numbers:
                send_signal(process, number)

    def _next_deadline(self) -> float | None:
        deadlines = [moment for moment in (self._kill_at, self._time_is_up) if moment is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _act_on_time(self) -> bool:
        """Whether there is still something to wait for."""
        now = time.monotonic()
        if self._time_is_up is not None and now >= self._time_is_up:
            self._time_is_up = None
            self._stop("time", GRACE)
        if self._kill_at is not None and now >= self._kill_at:
            self._killing_since = self._killing_since or now
            self._kill_at = now + _KILL_AGAIN
            self._signal_all(_signal.SIGKILL)
            self._reap()
        return self._killing_since is None or now < self._killing_since + _GIVE_UP


def _answer(client: Client, fault: str | None) -> None:
    client.answer(ok=fault is None, error=fault)


def _listen_to_signals() -> int:
    """A file that becomes readable when a signal for the keeper arrives; its bytes are their numbers."""
    heard, tell = os.pipe()
    os.set_blocking(heard, False)
    os.set_blocking(tell, False)
    _signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(number, lambda *_: None)
    for number in (_signal.SIGINT, _signal.SIGQUIT, *_STOPPED_BY_TERMINAL):
        _signal.signal(number, _signal.SIG_IGN)
    return heard


def _let_go() -> None:
    """Whoever started this keeper takes the end of its output for the end of the start."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def _run(spec: "dict[str, Any]", umask: int) -> int:
    files = folder.RunFiles(folder.claim(spec["run_id"], spec["workspace"]))
    watch, kernel = Watch(), Kernel()
    listener = Listener("input", watch)
    signals = _listen_to_signals()
    kernel.adopt_orphans()
    try:
        agent = start_agent(spec, kernel, umask)
    except NotStarted as fault:
        files.has_ended(code=fault.code, signal=None, cut=False, left=0, ended_by="start", error=str(fault))
        listener.close()
        return fault.code
    run = Keeper(spec, agent, watch)
    listener.serve(run.handle)
    files.agent_runs(agent.pid)
    if spec["mode"] != PANE:
        _let_go()
    run.keep(signals)
    files.has_ended(**run.ending())
    run.answer_stopping()
    listener.close()
    return run.exit_code()


def main() -> "NoReturn":
    *flags, place = sys.argv[1:]
    os.chdir(place)
    if "--detach" in flags:
        if os.fork():
            os._exit(0)
        os.setsid()
    umask = os.umask(0o077)
    try:
        os._exit(_run(folder.read_spec(), umask))  # tidying up an interpreter takes longer than most of this
    except folder.Taken:
        sys.exit("another keeper has this run")
    except OSError as error:
        sys.exit(f"{error.filename or place}: {error.strerror}")


if __name__ == "__main__":
    main()
