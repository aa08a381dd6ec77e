"""The workspace's own word on the class of commands: the rules of `.gemba/approvals.toml`.

A file without a fault costs a hook no more than tomllib; what tells the line of a fault is imported when there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gemba.handoff.commands import LEVELS, Level

if TYPE_CHECKING:
    import os

_CLASSES = tuple(level for level in LEVELS if level != "unknown")
_KEYS = ("program", "prefix", "class")


class RiskRule(NamedTuple):
    """The workspace's word on a program, written exactly so, when its first words are these."""

    program: str
    prefix: tuple[str, ...]
    level: Level


def workspace_rules(root: str | os.PathLike[str]) -> tuple[RiskRule, ...]:
    """The rules of the workspace in this folder."""
    return read_rules(f"{root}/.gemba/approvals.toml")


def read_rules(path: str | os.PathLike[str]) -> tuple[RiskRule, ...]:
    """The rules of an `approvals.toml`, none where there is no file.

    An Invalid names the line of the first fault and has all of them as `extra["findings"]`. What tells lines is
    imported only for a file that has some.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow
            raw = file.read()
    except FileNotFoundError:
        return ()
    except OSError as error:
        from gemba.errors import Unusable

        raise Unusable(f"{path}: {error.strerror}", code="approvals_unreadable") from None
    return parse_rules(raw, path)


def parse_rules(raw: bytes, path: str | os.PathLike[str]) -> tuple[RiskRule, ...]:
    """The same of a file's bytes."""
    import tomllib

    try:
        document = tomllib.loads(raw.decode())
    except (ValueError, RecursionError):
        from gemba.toml import NotToml, load

        try:
            load(raw)
        except NotToml as error:
            raise _refused(path, [(error.line, error.message)], "approvals_syntax") from None
        raise
    if faults := list(_faults(document)):
        from gemba.toml import line_of, places

        lines = places(raw.decode())
        findings = sorted((line_of(place, lines), words) for place, words in faults)
        raise _refused(path, findings, "approvals_invalid")
    rules = document.get("rule", ())
    return tuple(RiskRule(rule["program"], tuple(rule.get("prefix", ())), rule["class"]) for rule in rules)


def _faults(document: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Everything that no rule may say, with its place."""
    for key in document:
        if key != "rule":
            yield (key,), f"unknown key {key[:60]!a}; allowed: rules, each with a header [[rule]]"
    rules = document.get("rule", [])
    if not isinstance(rules, list):
        yield ("rule",), "rule is no list; allowed: rules, each with a header [[rule]]"
        return
    for number, rule in enumerate(rules):
        place: tuple[str | int, ...] = ("rule", number)
        if not isinstance(rule, dict):
            yield place, f"rule {number + 1} is no table; allowed: rules, each with a header [[rule]]"
        else:
            yield from (((*place, key), f"rule {number + 1}: {words}") for key, words in _faults_of_rule(rule))


def _faults_of_rule(rule: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key in rule:
        if key not in _KEYS:
            yield key, f"unknown key {key[:60]!a}; known: {', '.join(_KEYS)}"
    if not _is_word(rule.get("program")):
        yield "program", "program is missing or no program; allowed: a text, as it stands in the command"
    prefix = rule.get("prefix", [])
    if not isinstance(prefix, list) or not all(map(_is_word, prefix)):
        yield (
            "prefix",
            'prefix is no list of words; allowed: the first words after the program, such as ["run", "lint"]',
        )
    if rule.get("class") not in _CLASSES:
        yield "class", f"class is {ascii(rule.get('class'))[:60]}; allowed: {', '.join(_CLASSES)}"


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _refused(path: str | os.PathLike[str], findings: list[tuple[int, str]], code: str) -> Exception:
    from gemba.errors import Invalid

    (line, words), more = findings[0], len(findings) - 1
    rest = f" (and {more} more)" if more else ""
    return Invalid(f"{path}:{line}: {words}{rest}", code=code, findings=findings)
