"""What `gemba-ask` and `gemba-state` share: flags from one table, the session they speak for, plain output.

Guarantees that every refusal and failure is one line on stderr and exit 1, and that nothing is imported beyond
`gemba.wire` and what the interpreter has loaded anyway: argparse alone would cost more than the whole call.
"""

import os
import sys
from _collections_abc import Callable  # `collections.abc` is the same, at the price of `collections`

from gemba import wire
from gemba.wire import Refused

Given = dict[str, list[str]]


class Flag:
    """One flag: a switch without `value`; an `optional` value may be left out; none has more than `most` characters."""

    def __init__(
        self,
        value: str,
        meaning: str,
        *,
        allowed: tuple[str, ...] = (),
        most: int = wire.MAX_TEXT,
        optional: bool = False,
        repeatable: bool = False,
    ) -> None:
        self.value = value
        self.meaning = meaning
        self.allowed = allowed
        self.most = most
        self.optional = optional
        self.repeatable = repeatable


COMMON_FLAGS = {
    "--json": Flag("", "print one JSON object"),
    "--help": Flag("", "print this help"),
    "--version": Flag("", "print the version"),
}


class Command:
    """A command's name, flags and help; `run` parses, calls the verb and turns what it raises into exit 1."""

    def __init__(self, name: str, usage: str, flags: dict[str, Flag], notes: str) -> None:
        self.name = name
        self.usage = usage
        self.flags = flags | COMMON_FLAGS
        self.notes = notes

    def run(self, verb: Callable[[Given, list[str]], int], argv: list[str] | None) -> int:
        try:
            given, leftover = parse(sys.argv[1:] if argv is None else argv, self.flags)
            if "--help" in given:
                say(self.help())
                return 0
            if "--version" in given:
                from gemba import __version__

                say(f"{self.name} {__version__}")
                return 0
            return verb(given, leftover)
        except Refused as refused:
            self.tell(str(refused))
        except OSError as error:
            self.tell(explain(error))
        except KeyboardInterrupt:
            self.tell("interrupted")
        return 1

    def tell(self, message: str) -> None:
        tell(f"{self.name}: {message}")

    def help(self) -> str:
        rows = []
        for name, flag in self.flags.items():
            value = "|".join(flag.allowed) or flag.value
            left = f"  {name} [{value}]" if flag.optional else f"  {name} {value}"
            rows.append(f"{left:<24} {flag.meaning}" if len(left) <= 24 else f"{left}\n{'':25}{flag.meaning}")
        return "\n".join([self.usage, "", *rows, "", self.notes])


def parse(argv: list[str], flags: dict[str, Flag]) -> tuple[Given, list[str]]:
    """The values given for each flag ("" for none) and what is left over; Refused for what the table does not hold."""
    given: Given = {}
    leftover: list[str] = []
    words = iter([*argv, None])
    word = next(words)
    while word is not None:
        following = next(words)
        if not word.startswith("-") or word == "-":
            leftover.append(word)
            word = following
            continue
        name, equals, value = word.partition("=")
        name = "--help" if name == "-h" else name
        flag = flags.get(name)
        if flag is None:
            raise Refused(f"unknown flag {shown(name)}; allowed: {' '.join(flags)}")
        if name in ("--help", "--version"):
            return {name: [""]}, []
        if name in given and not flag.repeatable:
            raise Refused(f"{name} is given twice")
        if equals and not flag.value:
            raise Refused(f"{name} takes no value, found {shown(value)}")
        if flag.value and not equals and _is_value(following, flag, flags):
            value, following = following or "", next(words)
        elif flag.value and not equals and not flag.optional:
            raise Refused(f"{name} needs a value; allowed: {', '.join(flag.allowed) or flag.value}")
        if flag.allowed and value not in flag.allowed:
            raise Refused(f"{name} {shown(value)} is unknown; allowed: {', '.join(flag.allowed)}")
        if flag.value and (equals or value or not flag.optional):
            checked(name, value, flag.most)
        given.setdefault(name, []).append(value)
        word = following
    return given, leftover


def _is_value(word: str | None, flag: Flag, flags: dict[str, Flag]) -> bool:
    """A flag in a value's place means that the value was forgotten; `--text=--kind` says that it is meant."""
    if word is None or word.partition("=")[0] in flags:
        return False
    return not (flag.optional and word.startswith("--"))


def checked(name: str, text: str, most: int) -> str:
    """The text, if it has something to say and not too much."""
    if not text.strip():
        raise Refused(f"{name} is empty; allowed: up to {most} characters")
    if len(text) > most:
        raise Refused(f"{name} has {len(text)} characters; allowed: up to {most}")
    return text


def value_of(given: Given, name: str) -> str:
    """The value of a flag that is given once, "" when it is not given."""
    return given.get(name, [""])[0]


class Session:
    """The session that this process speaks for, as its environment names it."""

    def __init__(self) -> None:
        self.id = os.environ.get("GEMBA_SESSION_ID", "")
        if not self.id.strip():
            raise Refused("GEMBA_SESSION_ID is not set: it names the session that this call belongs to")
        checked("GEMBA_SESSION_ID", self.id, wire.MAX_SESSION_ID)
        self.agent_type = os.environ.get("GEMBA_AGENT_TYPE", "")
        self.home = wire.home()
        try:
            self.cwd = os.getcwd()  # noqa: PTH109  pathlib costs a third of the whole call
        except OSError:  # the folder was deleted under the agent, which may ask all the same
            self.cwd = ""
        self.workspace = wire.find_workspace(self.cwd)

    def has_operator(self) -> bool:
        """Whether there is a workspace whose server would take this session's frames in."""
        return bool(self.workspace) and os.path.isdir(f"{self.workspace}/.gemba")  # noqa: PTH112  pathlib is slow

    def append(self, hook: str, payload: dict[str, object]) -> str:
        """Append one frame to the session's log, less what is empty in the payload; returns its event id."""
        event_id = wire.new_event_id()
        line = wire.encode_frame(
            hook,
            {key: value for key, value in payload.items() if value},
            session_id=self.id,
            workspace=self.workspace,
            agent_type=self.agent_type,
            event_id=event_id,
        )
        wire.append_frame(self.home, self.id, line)
        return event_id

    def tell_of_turns(self, command: Command) -> None:
        """Say that answers wait for this session as its next turn, if any do."""
        count = self._turns()
        if count:
            command.tell(f"{'1 answer waits' if count == 1 else f'{count} answers wait'} for you: gemba-ask --next")

    def _turns(self) -> int:
        folder = wire.turns_folder(self.home, self.id)
        try:
            names = os.listdir(folder)  # noqa: PTH208  pathlib is slow
        except OSError:
            return 0
        # Another session may have the same folder. Looked for, not parsed: `json` costs more than the whole call.
        mine = f'"session_id":{wire.encode_json(self.id)}'.encode()
        count = 0
        for name in names:
            if name.endswith(".json") and not name.startswith("."):
                try:
                    count += mine in wire.read_file(f"{folder}/{name}", wire.MAX_REPLY)
                except OSError:  # taken back, or nothing to read
                    continue
        return count


def interaction_mode(command: Command) -> str:
    mode = os.environ.get("GEMBA_INTERACTION_MODE", "")
    if not mode:
        command.tell(f"warning: GEMBA_INTERACTION_MODE is not set, going by {wire.DEFAULT_MODE}")
        return wire.DEFAULT_MODE
    if mode not in wire.MODES:
        raise Refused(f"GEMBA_INTERACTION_MODE {shown(mode)} is unknown; allowed: {', '.join(wire.MODES)}")
    return mode


def say(line: str) -> None:
    """One line on stdout, written when this returns; OSError or Refused when it could not be."""
    if sys.stdout is None:  # closed by the caller; by now its number may be another file's
        raise Refused("stdout is closed")
    _write(1, line)


def tell(line: str) -> None:
    """One line on stderr, if anybody listens there."""
    if sys.stderr is not None:
        try:  # noqa: SIM105  so does contextlib
            _write(2, line)
        except OSError:
            pass


def say_recorded(event_id: str, line: str) -> None:
    """What happened to a frame that is already in the log, and stays there if nobody can be told so."""
    try:
        say(line)
    except (OSError, Refused) as error:
        reason = explain(error) if isinstance(error, OSError) else str(error)
        raise Refused(f"{event_id} is recorded, but stdout could not be written: {reason}") from None


def explain(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{shown(error.filename)}: {reason}" if isinstance(error.filename, str) else reason


def shown(value: str) -> str:
    """The value as found, quoted, on one line and not by the page."""
    return repr(value if len(value) <= 200 else value[:199] + "…")


def _write(fd: int, line: str) -> None:
    # Not through sys.stdout: its encoding may not hold the text, and a full disk would show only when it is flushed.
    data = wire.valid_unicode(line).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]
