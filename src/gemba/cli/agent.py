"""What `gemba-ask` and `gemba-state` share: flags from one table, the session they speak for, plain output.

Guarantees that every refusal and failure is one line on stderr and exit 1, and that nothing is imported beyond
`gemba.wire` and what the interpreter has loaded anyway: argparse alone would cost more than the whole call.
"""

import os
import sys
from _collections_abc import Callable  # `collections.abc` is the same, at the price of `collections`

from gemba import wire
from gemba.speaker import Session, told_of_turns
from gemba.speaker import checked as checked
from gemba.speaker import explain as explain
from gemba.speaker import shown as shown
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


def value_of(given: Given, name: str) -> str:
    """The value of a flag that is given once, "" when it is not given."""
    return given.get(name, [""])[0]


def interaction_mode(command: Command, session: Session) -> str:
    mode = session.interaction_mode()
    if not session.mode:
        command.tell(f"warning: GEMBA_INTERACTION_MODE is not set, going by {mode}")
    return mode


def tell_of_turns(command: Command, session: Session) -> None:
    """Say that answers wait for this session as its next turn, if any do."""
    if count := session.turns():
        command.tell(told_of_turns(count))


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


def _write(fd: int, line: str) -> None:
    # Not through sys.stdout: its encoding may not hold the text, and a full disk would show only when it is flushed.
    data = wire.valid_unicode(line).encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]
