"""An output envelope as it is kept, and the hash by which the same one is known again. Pure and total, linear.

Whatever JSON an agent sent, what is kept of it can be stored, sent and read by everybody: text without what no database
takes, numbers that every reader holds, no more levels than a frame has. The verdict is given on what was sent.
"""

from __future__ import annotations

import sys
from typing import Any

from gemba.handoff.seal import digest
from gemba.text import storable
from gemba.wire import MAX_DEPTH

_LARGEST_WHOLE = 2**63 - 1
_CUT = "… (cut: nested too deeply)"


def kept(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return _CUT
    if isinstance(value, dict):
        return {storable(str(key)): kept(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [kept(item, depth + 1) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_WHOLE else _finite(float("inf") if value > 0 else float("-inf"))
    return _finite(value) if isinstance(value, float) else storable(str(value))


def content_hash(document: dict[str, Any] | None, text: str) -> str:
    """Of an envelope as it is kept, whatever order its keys came in; of the text where there is none."""
    if document is None:
        return digest("turn", {"text": storable(text)})
    return digest("envelope", {"document": document})


def _finite(number: float) -> float:
    """Infinity and no number at all are not JSON."""
    if number != number:
        return 0.0
    return max(-sys.float_info.max, min(sys.float_info.max, number))
