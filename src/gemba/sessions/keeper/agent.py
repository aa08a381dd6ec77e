"""How a keeper starts its agent: a fork, streams or a terminal of its own, and an exec whose failure is told.

The agent dies with its keeper, however that dies, and begins as if a shell had started it: default signals, the umask
of whoever asked, no open files but its own. Standard library only; called by `keeper.py` alone.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without its enumerations
import os

from gemba.sessions.keeper.process_tree import Kernel

TYPE_CHECKING = False  # a type checker takes it for true; loading `typing` takes as long as a bare interpreter's start
if TYPE_CHECKING:
    from typing import Any, NoReturn

PTY, PIPE, PANE = "pty", "pipe", "pane"

# What the keeper or its interpreter set otherwise, and what a server may have been started with.
_RESET = ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM", "SIGCHLD", "SIGPIPE", "SIGXFSZ", "SIGTTIN", "SIGTTOU", "SIGTSTP")


class NotStarted(Exception):
    """The agent's program could not be run; the message says why, `code` is what a shell would exit with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Agent:
    """A running agent: where the keeper reads what it prints, and writes what it reads, if that is not in a pane."""

    def __init__(self, pid: int, output: int | None, input: int | None) -> None:  # noqa: A002 - its standard input
        self.pid = pid
        self.output = output
        self.input = input


class _Streams:
    """The ends of what lies between keeper and agent; a pane has none, since the agent has the keeper's terminal."""

    def __init__(self, output: int | None, input: int | None, of_agent: tuple[int, ...]) -> None:  # noqa: A002
        self.output = output
        self.input = input
        self.of_agent = of_agent


def start_agent(spec: "dict[str, Any]", kernel: Kernel, umask: int) -> Agent:
    streams = _streams(spec)
    told, tell = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_agent(spec, streams, kernel, keeper, umask, tell)
    for end in (tell, *set(streams.of_agent)):
        os.close(end)
    fault = _read_all(told)
    if fault:
        os.waitpid(pid, 0)
        code, _, message = fault.decode("utf-8", "replace").partition(" ")
        raise NotStarted(message, int(code))
    for ours in (streams.output, streams.input):
        if ours is not None:
            os.set_blocking(ours, False)
    return Agent(pid, streams.output, streams.input)


def _streams(spec: "dict[str, Any]") -> _Streams:
    if spec["mode"] == PANE:
        return _Streams(None, None, ())
    if spec["mode"] == PTY:
        import termios

        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (spec["rows"], spec["columns"]))
        return _Streams(ours, ours, (theirs,))
    output, printed = os.pipe()
    if spec["stdin"] is None and not spec["keep_stdin"]:
        return _Streams(output, None, (os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), printed))
    given, ours = os.pipe()
    return _Streams(output, ours, (given, printed))


def _become_agent(
    spec: "dict[str, Any]", streams: _Streams, kernel: Kernel, keeper: int, umask: int, tell: int
) -> "NoReturn":
    """In the child; never returns. Until the exec succeeds whatever goes wrong is told on the pipe."""
    code, place = 126, spec["cwd"]
    try:
        kernel.die_with_parent(keeper)
        kernel.number(spec["number"])
        _take_streams(streams)
        os.umask(umask)
        os.chdir(spec["cwd"])
        place = spec["command"][0]
        for name in _RESET:
            _signal.signal(getattr(_signal, name), _signal.SIG_DFL)
        _signal.set_wakeup_fd(-1)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        os.execvpe(place, spec["command"], spec["env"])  # noqa: S606 - the point of it
    except BaseException as error:  # noqa: BLE001 - the child has nobody else to tell
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            code = 127
        reason = error.strerror if isinstance(error, OSError) else str(error)
        shown = place if place.isprintable() else ascii(place)
        os.write(tell, f"{code} {shown}: {reason}".encode("utf-8", "replace")[:4000])
    finally:
        os._exit(code)


def _take_streams(streams: _Streams) -> None:
    if not streams.of_agent:  # a pane: its own group, in front of the terminal that the keeper was started in
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
    elif len(streams.of_agent) == 1:
        os.login_tty(streams.of_agent[0])
    else:
        given, printed = streams.of_agent
        os.setsid()
        for end, number in ((given, 0), (printed, 1), (printed, 2)):
            os.dup2(end, number)


def _read_all(fd: int) -> bytes:
    data = b""
    try:
        while chunk := os.read(fd, 4096):
            data += chunk
        return data
    finally:
        os.close(fd)
