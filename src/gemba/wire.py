"""The wire between agents and Gemba: frames, their log, and the rules both ends of it share.

A frame is one JSON object a line in `<home>/sessions/<safe session id>.jsonl`. This module guarantees that an
appended frame is whole, on disk and on a line of its own, whatever other writers do or how they die; that no session
or event id names a file outside its folder; and that urgency and authority are decided in one place.

Called by `gemba-ask` and `gemba-state` (an agent pays for this import on every call: standard library only, and only
what the interpreter has loaded anyway, plus `fcntl`), by the tailer, the translator and the reply writer.
"""

import errno
import fcntl
import os
import stat
import time

KINDS = ("question", "blocker")
ASK_KINDS = (*KINDS, "assumption")
ROLES = ("coach", "manager")
MODES = ("dangerous", "balanced", "cautious")
DEFAULT_MODE = "balanced"
STATES = ("initializing", "ready", "working", "prompting", "stalled", "bead-done")

# How a waiting ask exits; 1 is every error. Only an assumption is overturned.
OUTCOME_EXIT = {"answered": 0, "default": 10, "expired": 11, "declined": 12, "withdrawn": 13, "overturned": 0}
NOTHING_WAITS = 14  # of --next

# Characters. The commands refuse what is longer, so that nobody finds an ask cut that was taken.
MAX_TEXT = 100_000
MAX_SESSION_ID = 512
MAX_ID = 256  # of a work item
MAX_TITLE = 500
MAX_OPTION = 2_000
MAX_NOTE = 2_000
MAX_OPTIONS = 50
MAX_SCHEMA = 65_536  # bytes of the schema for an answer
MAX_DEPTH = 32  # levels of a JSON document that is kept
MAX_REPLY = 16 * 1024 * 1024  # bytes of a reply's file
MAX_LINE = 4 * 1024 * 1024  # bytes of one frame, newline included

_URGENCY_BY_MODE: dict[str, dict[str, str | None]] = {
    "question": {"dangerous": None, "balanced": "advisory", "cautious": "blocking"},
    "blocker": {"dangerous": None, "balanced": "blocking", "cautious": "blocking"},
}
_URGENCY = {
    "permission_prompt": "blocking",
    "hitl_approval": "blocking",
    "approval": "blocking",
    "needs_input": "blocking",
    "blocked": "blocking",
    "gate_failure": "blocking",
    "budget_stop": "blocking",
    "purview_violation": "advisory",  # the caller raises it when its purview blocks
    "stalled": "advisory",
    "budget_warn": "advisory",
}

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._")
_LONGEST_SAFE_ID = 200  # a file name has 255 bytes, and a rotated log adds its suffixes
_SMALL = 65536  # bytes of any of git's one-line files
_HEX = frozenset(b"0123456789abcdef")

# Control characters are escaped in both their ranges, so that reading a log cannot drive a terminal, and so are the
# two separators that some readers take for a line end.
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)}
_ESCAPES |= {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


class Refused(Exception):
    """What was asked for cannot be done; the message is one readable line for whoever asked."""


# -- rules -------------------------------------------------------------------------------------------------------------


def urgency_of(kind: str, mode: str) -> str | None:
    """`advisory` or `blocking`; None when this kind raises no escalation in this mode."""
    by_mode = _URGENCY_BY_MODE.get(kind)
    if by_mode is None:
        return _URGENCY.get(kind)
    return by_mode[mode if mode in by_mode else DEFAULT_MODE]


def refusal(kind: str, role: str | None, mode: str) -> str | None:
    """Why this ask may not be made, or None when it may."""
    if kind == "blocker" and role == "coach":
        return "a coach never raises a blocker: use --kind question, or leave the blocker to a manager"
    if kind in KINDS and mode == "dangerous":
        return (
            f"no {kind} is taken in dangerous mode: decide yourself and record the decision with "
            '--kind assumption --text "the question" --chose "your decision"'
        )
    return None


# -- names -------------------------------------------------------------------------------------------------------------


def home() -> str:
    """The absolute folder that holds session logs and replies: GEMBA_HOME, else `~/.gemba`."""
    path = os.path.expanduser(os.environ.get("GEMBA_HOME") or "~/.gemba")
    if path.startswith("~"):
        raise Refused("no home folder is known: set GEMBA_HOME")
    return os.path.abspath(path)


def sessions_folder(home: str) -> str:
    return os.path.join(home, "sessions")


def replies_folder(home: str) -> str:
    return os.path.join(home, "replies")


def turns_folder(home: str, session_id: str) -> str:
    """Where the answers lie that this session finds as its next turn; those of another of the same safe id too."""
    return os.path.join(home, "turns", safe_id(session_id))


def envelope_path(home: str, dispatch_id: str, suffix: str = ".json") -> str:
    """Where the input envelope of a dispatch lies; as `.md`, what its agent is told of it."""
    return f"{home}/envelopes/{safe_id(dispatch_id)}{suffix}"


def given_path(home: str, session_id: str) -> str:
    """Where the id of the dispatch lies that a living session was given after the one it was started with."""
    return f"{home}/envelopes/{safe_id(session_id)}.dispatch"


def dispatch_of(home: str, session_id: str, started_with: str) -> str:
    """The dispatch that a session works on now: what it was given last, else what it was started with."""
    try:
        given = read_file(given_path(home, session_id), MAX_ID + MAX_SESSION_ID * 4).decode("utf-8", "replace")
    except OSError:
        return started_with
    dispatch, _, whose = given.partition(" ")
    return dispatch if dispatch and whose == session_id else started_with


def safe_id(session_id: str) -> str:
    """A file name for the session. Two sessions may share one: a frame carries the true id."""
    name = "".join([char if char in _SAFE else "_" for char in session_id[:_LONGEST_SAFE_ID]])
    return name if name.strip(".") else "_" * max(1, len(name))


def log_path(home: str, session_id: str) -> str:
    return os.path.join(sessions_folder(home), safe_id(session_id) + ".jsonl")


def valid_event_id(text: str) -> bool:
    return 1 <= len(text) <= 128 and _SAFE.issuperset(text) and bool(text.strip("."))


def reply_path(home: str, event_id: str) -> str:
    if not valid_event_id(event_id):
        raise Refused(f"{event_id[:128]!r} is no event id: 1 to 128 letters, digits, '-', '.' or '_', not dots alone")
    return os.path.join(replies_folder(home), event_id + ".json")


def new_event_id() -> str:
    """A UUID version 7; the 12 bits after the milliseconds continue the clock, so ids sort by when they were made."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    high = (milliseconds & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | (rest << 12) // 1_000_000
    low = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    digits = f"{high << 64 | low:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def timestamp(ns: int | None = None) -> str:
    """RFC 3339 in UTC with microseconds, of nanoseconds since 1970 or of now."""
    seconds, rest = divmod(time.time_ns() if ns is None else ns, 1_000_000_000)
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest // 1000:06}Z"


# -- surroundings ------------------------------------------------------------------------------------------------------


def find_workspace(cwd: str) -> str:
    """The real path of the workspace that `cwd` belongs to, "" when there is none.

    GEMBA_WORKSPACE names it, else it is found above.
    """
    named = os.environ.get("GEMBA_WORKSPACE")
    return os.path.realpath(os.path.join(cwd, named)) if named else workspace_above(cwd)


def workspace_above(folder: str) -> str:
    """The real path of the nearest folder with a `.gemba/`, from this one upwards, "" when there is none.

    A `.gemba` that is the home of the logs is no workspace by that alone, or everything below `~` would belong to one.
    One that is committed, and so lies in a session's worktree as well, makes that no workspace of its own.
    """
    logs = os.path.realpath(home())
    # Nobody knows the real path of a folder that was deleted under its agent.
    outside = folder and (os.path.realpath(folder).partition("/.gemba/worktrees/")[0] or "/")
    for place in _upwards(outside):
        marker = os.path.join(place, ".gemba")
        if not os.path.isdir(marker):
            continue
        if os.path.realpath(marker) != logs or os.path.isfile(os.path.join(marker, "workspace.toml")):
            return place
    return ""


def git_head(cwd: str) -> tuple[str | None, str | None]:
    """The commit and branch that `cwd` stands on, each None where there is none to tell."""
    return git_place(cwd)[:2]


def git_place(cwd: str) -> tuple[str | None, str | None, str | None]:
    """The commit, branch and worktree that `cwd` stands on and in, each None where there is none to tell.

    Read from git's own files: a git process would cost an ask several times what it takes. Never raises.
    """
    worktree = None
    try:
        for folder in _upwards(cwd):
            marker = os.path.join(folder, ".git")
            # An empty folder of this name is no repository: the sandboxes of some clients leave such behind.
            if os.path.lexists(marker) and (not os.path.isdir(marker) or os.listdir(marker)):
                worktree = folder
                return *_head_of(marker), folder
    except (OSError, ValueError):
        pass
    return None, None, worktree


def _upwards(folder: str) -> list[str]:
    """The folder and all above it, nearest first; none for ""."""
    folders = [os.path.realpath(folder)] if folder else []
    while folders and (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders


def _head_of(marker: str) -> tuple[str | None, str | None]:
    git_dir = marker
    if not os.path.isdir(marker):  # a worktree or submodule: a file that points to its folder
        prefix, _, target = os.fsdecode(read_file(marker, _SMALL)).partition(":")
        if prefix != "gitdir":
            return None, None
        git_dir = os.path.join(os.path.dirname(marker), target.strip())
    common_dir = git_dir
    if os.path.exists(os.path.join(git_dir, "commondir")):
        common_dir = os.path.join(git_dir, os.fsdecode(read_file(os.path.join(git_dir, "commondir"), _SMALL)).strip())

    head = read_file(os.path.join(git_dir, "HEAD"), _SMALL).strip()
    reference = _reference(head)
    if reference is None:
        return _commit(head), None
    prefix, _, branch = reference.partition("refs/heads/")
    name = valid_unicode(branch) if branch and not prefix else None
    for _ in range(5):  # a reference may stand for another; git itself follows five
        value = _look_up(reference, git_dir, common_dir)
        following = _reference(value)
        if following is None:
            return _commit(value), name
        reference = following
    return None, name


def _reference(value: bytes) -> str | None:
    """The name in `ref: NAME`, None when the value is no such thing or the name would leave the repository."""
    marker, _, name = os.fsdecode(value).partition(":")
    name = name.strip()
    if marker != "ref" or not name.startswith("refs/") or any(part[:1] in ("", ".") for part in name.split("/")):
        return None
    return name


def _look_up(reference: str, git_dir: str, common_dir: str) -> bytes:
    for folder in (git_dir, common_dir):
        try:
            return read_file(os.path.join(folder, reference), _SMALL).strip()
        except OSError:
            pass
    try:
        packed = b"\n" + read_file(os.path.join(common_dir, "packed-refs"), 64 * 1024 * 1024)
    except FileNotFoundError:
        return b""  # an unborn branch
    before, found, _ = packed.partition(b" " + os.fsencode(reference) + b"\n")
    return before.rpartition(b"\n")[2] if found else b""


def _commit(value: bytes) -> str | None:
    return value.decode() if len(value) in (40, 64) and _HEX.issuperset(value) else None


def read_file(path: str, limit: int) -> bytes:
    """A regular file's content. Never waits, as reading a pipe in its place would; OSError past the limit."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        chunks, size = [], 0
        while chunk := os.read(fd, 1 << 20):
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise OSError(errno.EFBIG, f"larger than {limit} bytes", path)
        return b"".join(chunks)
    finally:
        os.close(fd)


# -- frames ------------------------------------------------------------------------------------------------------------


def is_deeper(value: object, levels: int) -> bool:
    """Whether something in a JSON value lies below so many levels of objects and lists. Never recurses."""
    level = [value]
    for _ in range(levels):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return False
        level = below
    return True


def valid_unicode(text: str) -> str:
    """The text with U+FFFD for what is not Unicode: the lone surrogates that Python makes of undecodable arguments."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(["\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text])
    return text


def encode_frame(
    hook: str,
    payload: dict[str, object],
    *,
    session_id: str,
    workspace: str = "",
    agent_type: str = "",
    event_id: str | None = None,
    ts: str | None = None,
    payload_raw: str | None = None,
) -> bytes:
    """One line of JSON with its newline. `payload` holds what JSON can hold; Refused when the line is too long."""
    frame: dict[str, object] = {
        "ts": ts or timestamp(),
        "session_id": session_id,
        "workspace": workspace,
        "agent_type": agent_type,
        "hook": hook,
        "event_id": event_id or new_event_id(),
        "payload": payload,
    }
    if payload_raw is not None:
        frame["payload_raw"] = payload_raw
    line = encode_json(frame).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise Refused(f"the frame would take {len(line)} bytes; at most {MAX_LINE} are taken")
    return line


def encode_json(value: object) -> str:
    """Compact JSON on one line. The `json` module alone would take an ask half as long again as the rest of it."""
    if isinstance(value, str):
        return f'"{valid_unicode(value).translate(_ESCAPES)}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ",".join([f"{encode_json(str(key))}:{encode_json(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([encode_json(item) for item in value]) + "]"
    if isinstance(value, int) or (isinstance(value, float) and value - value == 0):
        return repr(value)
    raise TypeError(f"{value!r} has no place in JSON")


# -- the log -----------------------------------------------------------------------------------------------------------


def append_frame(home: str, session_id: str, line: bytes) -> None:
    """Append one encoded frame to the session's log; when this returns it is on disk.

    Any number of writers may append at once. A line that a killed writer left torn is ended first, so it spoils
    nothing but itself. When the line does not fit whole (OSError) nothing of it stays.
    """
    if line.find(b"\n") != len(line) - 1 or not 1 < len(line) <= MAX_LINE:
        raise Refused(f"a frame is one line of at most {MAX_LINE} bytes that ends in a newline")
    path = log_path(home, session_id)
    fd = open_locked(path)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        data = b"\n" + line if torn else line
        if size == 0:
            sync_folder(os.path.dirname(path))
        try:
            written = os.write(fd, data)
            if written != len(data):
                raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes fit", path)
            os.fsync(fd)
        except BaseException:
            os.ftruncate(fd, size)
            raise
    except OSError as error:
        error.filename = error.filename or path
        raise
    finally:
        os.close(fd)


def make_folder(home: str, folder: str) -> None:
    """The folder below the home, private to its user; what exists keeps its mode."""
    os.makedirs(home, 0o700, exist_ok=True)
    os.makedirs(folder, 0o700, exist_ok=True)


def open_locked(path: str) -> int:
    """The file, open to append and locked, and still the one that the path names: it may have been moved meanwhile."""
    while True:
        fd = _open_log(path)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            fcntl.flock(fd, fcntl.LOCK_EX)
            if _is_named(fd, path):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _open_log(path: str) -> int:
    # O_NONBLOCK: a device in the log's place, or outside Linux a pipe, could hang its writers before it is refused.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        folder = os.path.dirname(path)
        make_folder(os.path.dirname(folder), folder)
        return os.open(path, flags, 0o600)


def _is_named(fd: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def sync_folder(folder: str) -> None:
    """A new file outlives a power cut only once its folder is on disk too."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot sync a folder keeps it by itself
            raise
    finally:
        os.close(fd)
