"""Reads an artifact as whoever gets it would: is there a heading, is there enough, does what it names exist?

Run after a program has written one, and again by whoever doubts it: it needs nothing but the file and the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_LEAST = 200  # characters
_LARGEST = 4 * 1024 * 1024
_LINK = re.compile(r"(?<!!)\[[^\]\n]{0,300}\]\(([^()\s:#]{1,400})(?:#[^()\s]*)?\)")
_NAMED = re.compile(r"`([\w./-]*/[\w.-]+\.[A-Za-z0-9]{1,8})(?::(\d+))?`")
_QUOTED = re.compile(r"^>.*$|^(`{3,}).*?^\1`*\s*$", re.MULTILINE | re.DOTALL)


def faults_of(path: Path, root: Path) -> list[str]:
    """What is wrong with an artifact, a sentence each."""
    try:
        text = path.read_bytes()[:_LARGEST].decode("utf-8", "replace")
    except OSError as error:
        return [f"it cannot be read: {error.strerror}"]
    return list(_faults(text, path, root))


def _faults(text: str, path: Path, root: Path) -> Iterator[str]:
    if not text.startswith("# "):
        yield "it does not begin with a heading"
    if len(text.strip()) < _LEAST:
        yield f"it has {len(text.strip())} characters; a reader wants {_LEAST} at least"
    own = _QUOTED.sub("", text)
    for target in dict.fromkeys(_LINK.findall(own)):
        if not (path.parent / target).exists() and not (root / target).exists():
            yield f"it links to {target}, which is not there"
    for name, line in dict.fromkeys(_NAMED.findall(own)):
        file = root / name
        if not file.is_file():
            yield f"it names {name}, which is not there"
        elif line and int(line) > file.read_bytes().count(b"\n") + 1:
            yield f"it names line {line} of {name}, which is shorter"
