"""Reading JSON without the `json` module, whose loading takes as long as a bare interpreter's start.

The scanner is the one that `json` itself runs on. Called by the keeper alone; `wire.encode_json` is its counterpart.
"""

from _json import make_scanner


class _Plain:
    """What the scanner makes of the parts of a document."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


_scan = make_scanner(_Plain())  # type: ignore[arg-type]  # it takes whatever has these names


def decode_json(data: bytes) -> object:
    """The value in a document; ValueError when it is none."""
    text = data.decode().strip()
    try:
        value, end = _scan(text, 0)
    # SystemError: Python 3.11's scanner wants to raise an error of the module that is not loaded.
    except (StopIteration, RecursionError, SystemError):
        raise ValueError("no JSON value") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value
