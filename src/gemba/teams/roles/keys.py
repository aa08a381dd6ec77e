"""The keys of a role-spec's front matter: all of them, no other, each with what fits. Pure; called by `validate`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from gemba.documents.finding import Fault
from gemba.documents.front_matter import FrontMatter, Pair, Value, known_pairs
from gemba.teams.roles.role_spec import (
    ERROR_MESSAGE,
    KEYS,
    MESSAGE_TYPES,
    OPTIONAL,
    PREFIX,
    ROLE,
    SPELLINGS,
    output_tag,
    success_message,
)
from gemba.toml import nearest, quoted


class Keys(NamedTuple):
    """What the front matter says; None, or nothing, where it says it not or wrongly."""

    role: str | None = None
    prefix: str | None = None
    inner_loop: bool | None = None
    cli_tools: tuple[str, ...] = ()


def read_keys(front: FrontMatter, agents: Collection[str] | None) -> tuple[Keys, list[Fault]]:
    """The keys, and everything wrong with them. Without `agents` none of cli_tools is unknown."""
    faults = list(front.faults)
    pairs = known_pairs(front.pairs, KEYS, faults, SPELLINGS)
    if front.body is not None and front.whole:
        missing = [key for key in KEYS if key not in pairs and key not in OPTIONAL]
        faults += [Fault("key-missing", 1, ", ".join(missing))] if missing else []
    reading = _Reading(pairs, faults)
    role, prefix = reading.word("role", ROLE), reading.word("prefix", PREFIX)
    reading.tag(role)
    reading.messages(prefix)
    return Keys(role, prefix, reading.inner_loop(), tuple(reading.tools(agents))), faults


class _Reading:
    def __init__(self, pairs: dict[str, Pair], faults: list[Fault]) -> None:
        self._pairs = pairs
        self._faults = faults

    def word(self, key: str, allowed: re.Pattern[str]) -> str | None:
        """A text that fits its rule."""
        found = self._text(key, self._pairs.get(key))
        if found is None:
            return None
        if allowed.fullmatch(found.text) is None:
            self._faults.append(Fault(f"{key}-malformed", found.line, quoted(found.text)))
            return None
        return found.text

    def inner_loop(self) -> bool | None:
        pair = self._pairs.get("inner_loop")
        if pair is None:
            return None
        if pair.value.kind == "true or false":
            return pair.value.text.lower() == "true"
        if not self._is_missing("inner_loop", pair):
            self._misfit("inner_loop", pair.value, "true or false")
        return None

    def tag(self, role: str | None) -> None:
        """`[role]` without quotes is a list of one for YAML, and means the same."""
        pair = self._pairs.get("output_tag")
        if pair is None or self._is_missing("output_tag", pair):
            return
        value = pair.value
        if value.kind == "a list" and len(value.items) == 1 and value.items[0].kind == "a text":
            text = value.items[0].text
            found = text if text.startswith("[") else output_tag(text)
        elif value.kind == "a text":
            found = value.text
        else:
            many = f"a list of {len(value.items)}" if value.kind == "a list" else value.kind
            self._misfit("output_tag", value._replace(kind=many), "a text, or a list of one")
            return
        if role is not None and found != output_tag(role):
            self._faults.append(Fault("output-tag", value.line, f"{quoted(found)}; allowed: {output_tag(role)}"))

    def messages(self, prefix: str | None) -> None:
        pair = self._pairs.get("message_types")
        if pair is None or self._is_missing("message_types", pair):
            return
        if pair.value.kind != "a table":
            self._misfit("message_types", pair.value, "a table with success and error")
            return
        inner = known_pairs(pair.value.pairs, MESSAGE_TYPES, self._faults)
        allowed = {"success": prefix and success_message(prefix), "error": ERROR_MESSAGE}
        missing = [f"message_types.{key}" for key in MESSAGE_TYPES if key not in inner]
        if missing:
            self._faults.append(Fault("key-missing", pair.line, ", ".join(missing)))
        for key in inner:
            value = self._text(f"message_types.{key}", inner[key])
            if value is not None and allowed[key] and value.text != allowed[key]:
                found = quoted(value.text) + (f"; allowed: {allowed[key]}" if key == "success" else "")
                self._faults.append(Fault(f"message-{key}", value.line, found))

    def tools(self, agents: Collection[str] | None) -> Iterator[str]:
        pair = self._pairs.get("cli_tools")
        if pair is None:
            return
        if pair.value.kind != "a list":
            self._misfit("cli_tools", pair.value, "a list of names")
            return
        seen: set[str] = set()
        for item in pair.value.items:
            if item.kind != "a text" or not item.text:
                self._misfit("an item of cli_tools", item, "a name")
            elif item.text in seen:
                self._faults.append(Fault("cli-tool-twice", item.line, quoted(item.text)))
            else:
                seen.add(item.text)
                if agents is not None and item.text not in agents:
                    near = nearest(item.text[:80], sorted(agents))
                    self._faults.append(Fault("cli-tool-unknown", item.line, quoted(item.text) + near))
                yield item.text

    def _text(self, key: str, pair: Pair | None) -> Value | None:
        if pair is None or self._is_missing(key, pair):
            return None
        if pair.value.kind != "a text":
            self._misfit(key, pair.value, "a text")
            return None
        return pair.value

    def _is_missing(self, key: str, pair: Pair) -> bool:
        empty = pair.value.kind == "nothing" or (pair.value.kind == "a text" and not pair.value.text)
        if empty:
            self._faults.append(Fault("key-missing", pair.line, key))
        return empty

    def _misfit(self, key: str, value: Value, allowed: str) -> None:
        self._faults.append(Fault("key-misfit", value.line, f"{key} is {value.kind}; allowed: {allowed}"))
