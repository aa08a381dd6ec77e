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

Every start of an agent pays for this program: standard library only, little of it. `run_folder.py` speaks to it.
"""

import json
import os
import signal
import sys
import time
from typing import Any

from gemba import wire
from gemba.sessions.keeper_agent import PANE, PIPE, PTY, Agent, NotStarted, start_agent
from gemba.sessions.keeper_input import IN, OUT, Client, Listener, Watch
from gemba.sessions.process_tree import Kernel, descendants, send_signal, start_time
from gemba.sessions.transcript import Transcript

GRACE = 5.0  # seconds between SIGTERM and SIGKILL, for whoever does not say
_LEFT_GRACE = 2.0  # the same for what an agent leaves behind
_KILL_AGAIN = 0.05  # between two rounds of SIGKILL: what is killed may just have forked
_LONGEST_GRACE = 3600
_GIVE_UP = 10.0  # seconds after which what cannot be killed is left
_CHUNK = 65536
_DRAINED = 1 << 20  # bytes that a pipe can still hold when its writers are gone
_MOST_PENDING = 4 * 1024 * 1024  # bytes sent to an agent that does not read
_RESERVED = 4096  # bytes kept free for exit.json, so that a full disk cannot swallow it

_PASTE_ON, _PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"


class Keeper:
    """One run, from its agent's start to the end of the last process below it."""

    def __init__(self, spec: dict[str, Any], agent: Agent, watch: Watch) -> None:
        self._spec, self._agent, self._watch = spec, agent, watch
        self._mode: str = spec["mode"]
        self._transcript = None if self._mode == PANE else Transcript(".", spec["output_limit"])
        self._pending = bytearray()
        self._input_open = agent.input is not None
        self._pastes = False
        self._seen = b""  # the end of what was printed, where a sequence may be cut in two
        self._status: int | None = None
        self._alone = False
        self._outlived = False  # something below outlived the agent
        self._left = 0  # so much of it, when nobody had asked for the end
        self._ended_by: str | None = None
        self._told = False
        self._kill_at: float | None = None
        self._killing_since: float | None = None
        limit = spec["max_seconds"]
        self._time_is_up = None if limit is None else time.monotonic() + limit
        self._stopping: list[Client] = []
        if agent.output is not None:
            watch.add(agent.output, IN, self._read)
        if spec["stdin"] is not None and self._input_open:
            self._pending += spec["stdin"].encode("utf-8", "replace")
        self._mind_input()

    # -- until everything has ended

    def keep(self, signals: int) -> None:
        self._watch.add(signals, IN, lambda: self._hear(os.read(signals, 4096)))
        self._reap()
        while not (self._alone and self._status is not None):
            self._watch.wait(self._next_deadline())
            if not self._act_on_time():
                break
        for _ in range(_DRAINED // _CHUNK):
            self._read()
        if self._transcript:
            self._transcript.close()

    def ending(self) -> dict[str, object]:
        """What `exit.json` says."""
        status = 0 if self._status is None else self._status
        ended = self._status is not None
        return {
            "code": os.WEXITSTATUS(status) if ended and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if ended and os.WIFSIGNALED(status) else None,
            "cut": self._transcript.cut if self._transcript else False,
            "at": wire.timestamp(),
            "left": self._left,
            "ended_by": self._ended_by or "agent",
        }

    def answer_stopping(self) -> None:
        for client in self._stopping:
            client.answer(ok=True)

    def _hear(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGTERM:
                self._stop("signal", GRACE)
            elif number == signal.SIGHUP:
                self._stop("hangup", GRACE)
        self._reap()

    def _reap(self) -> None:
        """Without children nothing is left below us: orphans become our own."""
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
            elif pid == self._agent.pid:
                self._status = status
        if self._status is not None and not self._alone and not self._outlived:
            self._outlived = True
            if self._ended_by is None:
                self._left = len(descendants(os.getpid()))
            self._end_tree(_LEFT_GRACE)

    def _continue(self, pid: int, number: int) -> None:
        """Nobody sits at a shell that could wake an agent which its terminal stopped."""
        if self._mode == PANE and pid == self._agent.pid and number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
            try:
                os.tcsetpgrp(0, pid)
                os.killpg(pid, signal.SIGCONT)
            except OSError:  # the terminal is gone
                return

    # -- ending it

    def _stop(self, ended_by: str, grace: float) -> None:
        if self._status is None:
            self._ended_by = self._ended_by or ended_by
        self._end_tree(grace)

    def _end_tree(self, grace: float) -> None:
        kill_at = time.monotonic() + grace
        self._kill_at = kill_at if self._kill_at is None else min(self._kill_at, kill_at)
        if not self._told:
            self._told = True
            # A shell that a person types into ignores SIGTERM; a terminal that goes away ends it.
            self._signal_all(signal.SIGTERM, *(() if self._mode == PIPE else (signal.SIGHUP,)), signal.SIGCONT)

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
            self._signal_all(signal.SIGKILL)
            self._reap()
        return self._killing_since is None or now < self._killing_since + _GIVE_UP

    # -- what it prints and reads

    def _read(self) -> None:
        if self._agent.output is None or self._transcript is None:
            return
        try:
            data = os.read(self._agent.output, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # a terminal that nobody has open any more
            data = b""
        if not data:
            self._watch.drop(self._agent.output)
            self._input_open &= self._mode == PIPE
            return
        self._transcript.write(data)
        if self._mode == PTY:
            seen = self._seen + data
            on, off = seen.rfind(_PASTE_ON), seen.rfind(_PASTE_OFF)
            self._pastes = on > off if on != off else self._pastes
            self._seen = seen[1 - len(_PASTE_ON) :]

    def _mind_input(self) -> None:
        """Write when there is something to write; end the input when that was all."""
        fd = self._agent.input
        if fd is None or not self._input_open:
            return
        if self._mode == PTY:  # one file for both directions
            self._watch.add(fd, IN | OUT if self._pending else IN, self._exchange)
        elif self._pending:
            self._watch.add(fd, OUT, self._write)
        else:
            self._watch.drop(fd)
            if not self._spec["keep_stdin"]:
                self._close_input()

    def _exchange(self) -> None:
        self._read()
        self._write()

    def _write(self) -> None:
        if self._agent.input is None or not self._pending:
            return
        try:
            del self._pending[: os.write(self._agent.input, self._pending[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # the agent has closed it
            self._close_input()
            return
        if not self._pending:
            self._mind_input()

    def _close_input(self) -> None:
        self._input_open = False
        self._pending.clear()
        if self._mode == PIPE and self._agent.input is not None:
            self._watch.drop(self._agent.input)
            os.close(self._agent.input)

    # -- requests

    def handle(self, request: dict[str, Any], client: Client) -> None:
        match request:
            case {"op": "send", "text": str(text)}:
                fault = self._send(text, request.get("enter") is True, request.get("paste") is not False)
                client.answer(ok=fault is None, error=fault)
            case {"op": "interrupt"}:
                fault = self._interrupt()
                client.answer(ok=fault is None, error=fault)
            case {"op": "stop", "grace": int(grace) | float(grace)} if 0 <= grace <= _LONGEST_GRACE:
                self._stopping.append(client)
                self._stop("stop", grace)
            case {"op": "status"}:
                printed = self._transcript.printed if self._transcript else 0
                client.answer(ok=True, agent=self._agent.pid, printed=printed, pending=len(self._pending))
            case _:
                client.answer(ok=False, error="unknown request; allowed: send, interrupt, stop, status")

    def _send(self, text: str, enter: bool, paste: bool) -> str | None:
        """Why it cannot be sent; None when it is on its way."""
        if self._mode == PANE:
            return "a pane's keeper has no hand on its terminal: tmux types"
        if not self._input_open:
            return "the agent takes no input"
        data = text.encode("utf-8", "replace")
        if len(self._pending) + len(data) > _MOST_PENDING:
            return "the agent does not read what was sent before"
        if self._mode == PTY:
            data = data.replace(b"\n", b"\r")
            if paste and self._pastes:
                data = _PASTE_BEGIN + data + _PASTE_END
        self._pending += data + ((b"\r" if self._mode == PTY else b"\n") if enter else b"")
        self._mind_input()
        return None

    def _interrupt(self) -> str | None:
        try:
            if self._mode == PTY:
                return self._send("\x03", enter=False, paste=False)
            os.killpg(self._agent.pid if self._mode == PIPE else os.tcgetpgrp(0), signal.SIGINT)
        except OSError as error:
            return f"it cannot be interrupted: {error.strerror}"
        return None


# -- the folder -------------------------------------------------------------------------------------------------------


def _claim(run_id: str) -> dict[str, object]:
    """Take the run for this keeper; a second one finds it taken."""
    keeper: dict[str, object] = {"pid": os.getpid(), "started": start_time(os.getpid()), "run_id": run_id}
    partial = f".keeper-{os.getpid()}"
    _write(partial, keeper)
    try:
        os.link(partial, "keeper.json")
    except FileExistsError:
        sys.exit("another keeper has this run")
    finally:
        os.unlink(partial)
    return keeper


def _publish(keeper: dict[str, object], agent: Agent) -> None:
    _write(".keeper.json", keeper | {"agent": {"pid": agent.pid, "started": start_time(agent.pid)}})
    os.replace(".keeper.json", "keeper.json")


def _write(name: str, content: dict[str, object]) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write(json.dumps(content))


class _ExitFile:
    """`exit.json`, whose bytes on disk are taken before the agent can fill it."""

    def __init__(self) -> None:
        self._fd = os.open(".exit.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.write(self._fd, b" " * _RESERVED)

    def write(self, ending: dict[str, object]) -> None:
        os.pwrite(self._fd, json.dumps(ending).encode()[:_RESERVED], 0)
        os.fsync(self._fd)
        os.replace(".exit.json", "exit.json")
        wire.sync_folder(".")


def _not_started(fault: NotStarted) -> dict[str, object]:
    ending = {"code": fault.code, "signal": None, "cut": False, "at": wire.timestamp(), "left": 0}
    return {**ending, "ended_by": "start", "error": str(fault)}


def _listen_to_signals() -> int:
    """A file that becomes readable when one of ours arrives; its bytes are their numbers."""
    heard, tell = os.pipe()
    os.set_blocking(heard, False)
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    return heard


def _let_go() -> None:
    """Whoever started this keeper reads the end of its output as the end of the start."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def main(argv: list[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else argv
    os.chdir(given[-1])
    if "--detach" in given:
        if os.fork():
            os._exit(0)
        os.setsid()
    umask = os.umask(0o077)
    with open("spec.json", encoding="utf-8") as file:
        spec: dict[str, Any] = json.load(file)
    keeper = _claim(spec["run_id"])
    os.unlink("spec.json")
    exit_file, signals, kernel, watch = _ExitFile(), _listen_to_signals(), Kernel(), Watch()
    kernel.adopt_orphans()
    try:
        agent = start_agent(spec, kernel, umask)
    except NotStarted as fault:
        exit_file.write(_not_started(fault))
        return fault.code
    run = Keeper(spec, agent, watch)
    listener = Listener("input", watch, run.handle)
    _publish(keeper, agent)
    if spec["mode"] != PANE:
        _let_go()
    run.keep(signals)
    ending = run.ending()
    exit_file.write(ending)
    run.answer_stopping()
    listener.close()
    code, number = ending["code"], ending["signal"]
    return code if isinstance(code, int) else 128 + number if isinstance(number, int) else 1


if __name__ == "__main__":
    sys.exit(main())
