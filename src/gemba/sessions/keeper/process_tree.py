"""Processes as the kernel tells of them: who started whom, when, and with which environment.

What a run starts is known again by two marks that every process inherits: a variable of its environment, and a number
that stands as its limit of file locks, which no kernel has counted for twenty years. The second one stays with a
process that clears its environment, leaves its session and its parents.

A process is named by its id *and* its start time, so that one which got a dead process's id is never taken for it.
Read from `/proc`: Linux only. Called by the keeper (whose start an agent pays for: standard library only, little of
it), by `run_folder.py` and `sweep.py` of the backends.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without its enumerations
import os
import select

Process = tuple[int, int]  # its id, and when it started

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_RLIMIT_LOCKS = 10
_DEAD = (b"Z", b"X", b"x")  # ended, and perhaps not yet reaped by whoever started it


def start_time(pid: int) -> int | None:
    """When the living process with this id started, in ticks since the machine did; None when there is none."""
    facts = _facts(pid)
    return facts[1] if facts else None


def descendants(pid: int) -> list[Process]:
    """Every living process below this one, nearest first."""
    children: dict[int, list[Process]] = {}
    for found in _pids():
        if facts := _facts(found):
            children.setdefault(facts[0], []).append((found, facts[1]))
    below: list[Process] = list(children.get(pid, ()))
    for child, _ in below:
        below.extend(children.get(child, ()))
    return below


def marked(mark: str, number: int | None = None) -> list[Process]:
    """Every living process of this user, but this one, that has `mark` (NAME=value) in its environment, or this number
    for its limit."""
    import resource

    wanted, found, user = os.fsencode(mark), [], os.getuid()
    for pid in _pids():
        try:
            if pid == os.getpid() or os.stat(f"/proc/{pid}").st_uid != user:
                continue
            started = start_time(pid)
            if started is None:
                continue
            is_numbered = number is not None and resource.prlimit(pid, _RLIMIT_LOCKS)[0] == number
            if is_numbered or wanted in _read(f"/proc/{pid}/environ").split(b"\0"):
                found.append((pid, started))
        except OSError:  # it ended meanwhile, or may not be looked at
            continue
    return found


def send_signal(process: Process, number: int) -> None:
    """Signal exactly this process; nothing when it has ended, or is another user's."""
    with _Handle(process) as handle:
        if handle is not None:
            try:  # noqa: SIM105 - contextlib costs the keeper's start
                _signal.pidfd_send_signal(handle, number)
            except (ProcessLookupError, PermissionError):
                pass


def wait_ended(process: Process, seconds: float) -> bool:
    """Wait for its end; whether it has ended."""
    with _Handle(process) as handle:
        if handle is None:
            return True
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(int(seconds * 1000) + 1))


class _Handle:
    """With a handle of exactly this process, None when it has ended."""

    def __init__(self, process: Process) -> None:
        self._pid, self._started = process
        self._fd: int | None = None

    def __enter__(self) -> int | None:
        try:
            self._fd = os.pidfd_open(self._pid)
        except ProcessLookupError:
            return None
        # The handle was opened before this look: if the look finds the same process, so did the handle.
        return self._fd if start_time(self._pid) == self._started else None

    def __exit__(self, *_: object) -> None:
        if self._fd is not None:
            os.close(self._fd)


class Kernel:
    """What a keeper asks of the kernel for what is below it. Made once, before any fork."""

    def __init__(self) -> None:
        import ctypes
        import resource  # noqa: F401 - loaded before the fork

        self._errno = ctypes.get_errno
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl

    def adopt_orphans(self) -> None:
        """From now on whatever is below this process stays so when its own parent ends."""
        self._call(_PR_SET_CHILD_SUBREAPER, 1)

    def die_with_parent(self, parent: int) -> None:
        """In a new child: the kernel kills it when its parent dies, however that dies."""
        self._call(_PR_SET_PDEATHSIG, _signal.SIGKILL)
        if os.getppid() != parent:  # it was too late
            os._exit(1)

    def number(self, number: int) -> None:
        """In a new child: it, and what it starts, is known by this number. Where that is not to be, by its environment
        alone."""
        import resource

        try:
            hard = resource.getrlimit(_RLIMIT_LOCKS)[1]
            resource.setrlimit(_RLIMIT_LOCKS, (number, hard))
        except (OSError, ValueError):
            return

    def _call(self, option: int, value: int) -> None:
        if self._prctl(option, value, 0, 0, 0) != 0:
            raise OSError(self._errno(), os.strerror(self._errno()))


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _facts(pid: int) -> tuple[int, int] | None:
    """(parent, start time) of a living process."""
    try:
        # The name, in parentheses, may hold anything; what follows it does not.
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return None
    if not fields or fields[0] in _DEAD:
        return None
    return int(fields[1]), int(fields[19])


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        chunks = []
        while chunk := os.read(fd, 65536):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)
