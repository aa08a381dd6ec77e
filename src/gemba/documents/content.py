"""The bytes of a file as text, or the fault that they are none. Pure; called by the linters."""

from __future__ import annotations

from gemba.documents.finding import Fault


def text_of(data: bytes, most_bytes: int) -> str | Fault:
    """The text with lines that end in \\n alone, without a byte order mark."""
    if len(data) > most_bytes:
        return Fault("file-unreadable", 1, f"larger than {most_bytes} bytes")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return Fault("file-not-text", data.count(b"\n", 0, error.start) + 1, f"byte {data[error.start]:#04x}")
    if "\0" in text:
        return Fault("file-not-text", text.count("\n", 0, text.index("\0")) + 1, "a NUL character")
    return text
