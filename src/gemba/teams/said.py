"""What an output envelope says, read without trust: any shape is taken, and what is no text says nothing. Pure.

Called by `seen.py`, and by `looking.py` for the files that it claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

_MOST_ITEMS = 1_000
_LONGEST = 4_000
_KEYS = ("command", "path", "file", "pattern", "description", "summary", "text", "name")  # of an item that is an object
_NOTHING = re.compile(r"\W*(?:none|nothing|no|n/?a|nil|null|empty|-|keine|ninguno)?\W*", re.IGNORECASE)
_OUTPUTS = ("key_outputs", "verbatim_outputs", "cross_layer_impacts")


class Said:
    def __init__(self, envelope: object) -> None:
        whole = _object(envelope)
        self._agent = _object(whole.get("agent_status"))
        self._evidence = _object(whole.get("evidence_report"))
        self._consolidation = _object(whole.get("consolidation_report"))
        self.verification = _object(self._evidence.get("verification"))
        self.summary = _text(whole.get("user_facing_summary"))

    @property
    def pending(self) -> list[str]:
        return _something(texts_in(self._agent.get("pending_steps")))

    @property
    def gaps(self) -> list[str]:
        of_both = (*texts_in(self._evidence.get("open_gaps")), *texts_in(self._consolidation.get("open_gaps")))
        return _something(of_both)

    @property
    def looked_at(self) -> list[str]:
        """Distinct files, patterns and commands that it says it went by."""
        listed = ("files_checked", "patterns_checked", "commands_run")
        return sorted({text for name in listed for text in _something(texts_in(self._evidence.get(name)))})

    @cached_property
    def commands(self) -> list[str]:
        ran = [*texts_in(self._evidence.get("commands_run")), _text(self.verification.get("command"))]
        return sorted(set(_something(ran)))

    @property
    def modified(self) -> list[str]:
        return _paths(self.verification.get("files_modified"))

    @property
    def produced(self) -> list[str]:
        return _paths(self.verification.get("files_produced"))

    @cached_property
    def claimed(self) -> frozenset[str]:
        """Every file that it says it wrote."""
        return frozenset((*self.modified, *self.produced, *_paths(self.verification.get("artifacts_written"))))

    @property
    def surveyed(self) -> str:
        """Why what was asked for is not done by this, and what it needs: what was made is a survey in its place."""
        return _text(_object(self.verification.get("details")).get("surveyed")).strip()

    @property
    def unchecked(self) -> list[str]:
        """Acceptance criteria of which it says itself that nothing has checked them."""
        return _something(texts_in(_object(self.verification.get("details")).get("unchecked")))

    @property
    def method(self) -> str:
        return _text(self.verification.get("verification_method"))

    @cached_property
    def words(self) -> str:
        """What it tells of its work in free words."""
        told = [text for name in _OUTPUTS for text in texts_in(self._evidence.get(name))]
        return "\n".join([*told, self.summary, _text(self.verification.get("details"))])

    def exit_code(self) -> int | None:
        code = self.verification.get("exit_code")
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    def result(self) -> str:
        return _text(self.verification.get("result")).strip().lower()


def texts_in(value: object) -> Iterator[str]:
    """The texts of a list, of an object among them what it names; a text alone is one."""
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    for item in items[:_MOST_ITEMS]:
        if isinstance(item, dict):
            item = next((item[key] for key in _KEYS if isinstance(item.get(key), str)), None)
        if isinstance(item, str):
            yield item[:_LONGEST]


def plain_path(path: str) -> str:
    return path.strip().removeprefix("./").rstrip("/")


def _paths(value: object) -> list[str]:
    return [path for text in texts_in(value) if (path := plain_path(text))]


def _something(texts: Any) -> list[str]:
    """Without those that say that there is nothing."""
    return [text.strip() for text in texts if not _NOTHING.fullmatch(text[:200])]


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""
