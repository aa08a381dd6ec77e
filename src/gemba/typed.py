"""Documents into their types, from any thread.

msgspec works out what a struct consists of when a type is first used, and puts the unfinished result where every
thread finds it: a second thread that reads the same type in that moment reads through a null pointer, and the process
is gone. So a type is prepared here, under a lock, before anybody uses it; `tests/unit/test_typed.py` holds that nobody
goes around this.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_lock = threading.RLock()
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Made once for each type; to be kept by whoever decodes often."""
    made = _decoders.get(kind)
    if made is None:
        with _lock:
            made = _decoders.setdefault(kind, msgspec.json.Decoder(kind))
    return made


def decode(data: bytes | str, kind: type[T]) -> T:
    return decoder(kind).decode(data)


def convert(
    document: Any, kind: type[T], *, strict: bool = True, dec_hook: Callable[[type, Any], Any] | None = None
) -> T:
    decoder(kind)
    return msgspec.convert(document, kind, strict=strict, dec_hook=dec_hook)
