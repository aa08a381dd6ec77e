"""What a session's agent is told before its task, and the block of its instructions file that says so.

The block stands between two lines of comment. Whatever else the file has is its user's and stays byte for byte, while
the block is put in, renewed and taken out, also when the user edits around it meanwhile: the block goes in front of
the text, where nothing of it has to be changed for that, and carries all that is needed to take it out again.

Pure. `preamble_file` reads and writes the files; `launch` decides what goes into a file and what into a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gemba import wire
from gemba.text import storable

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_BOM = b"\xef\xbb\xbf"
_MARK = "<!-- gemba:"
_BEGIN = re.compile(rb"<!-- gemba:begin ([A-Za-z0-9._-]{1,200}) -->")
_END = b"<!-- gemba:end -->"
_STAYS = "<!-- Gemba takes this block out when the session ends. What you write around it stays. -->"
_GOES = (
    "<!-- Gemba made this file, and takes it away when the session ends. What you write around this block stays. -->"
)
# Clients may leave comments out of what their agents read, and the task would seem to go on in the user's text.
_OVER = "Here ends what this session is told.\n\n---"


class Knowledge(NamedTuple):
    """A piece of what is known of the project or the task."""

    title: str
    text: str


# ---- what is said ----------------------------------------------------------------------------------------------------


def manners(profile: str, mode: str) -> str | None:
    """What an interaction profile says under the heading of a mode; None when it has no such heading."""
    found: list[str] | None = None
    level = 0
    for line, heading in _headed_lines(profile):
        if heading is not None and found is not None and heading[0] <= level:
            break
        if found is not None:
            found.append(line)
        elif heading is not None and heading[1].casefold() == mode:
            found, level = [], heading[0]
    return None if found is None else "\n".join(found).strip()


def line_of_mode(profile: str, mode: str) -> int | None:
    """The line of the heading of a mode, if it has one."""
    for number, (_, heading) in enumerate(_headed_lines(profile), 1):
        if heading is not None and heading[1].casefold() == mode:
            return number
    return None


def _headed_lines(text: str) -> Iterator[tuple[str, tuple[int, str] | None]]:
    """Each line, with the level and the words of the heading that it is; in a fenced block none is one."""
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        heading = None if fence or opened else _HEADING.fullmatch(line)
        yield line, None if heading is None else (len(heading[1]), heading[2])
        if not fence and opened:
            fence = opened[1]
        elif fence and opened and opened[1].startswith(fence) and not line.strip(f" {fence[0]}\t"):
            fence = ""


def compose(session_id: str, mode: str, role: str | None, manners: str, known: Iterable[Knowledge] = ()) -> str:
    """The preamble: who the agent is here, how it reaches the operator, what is known. The task comes behind it."""
    who = f"You are session `{session_id}`" + (f", with the role `{role}`" if role else "")
    parts = ["# Working with the operator", f"{who}, in mode `{mode}`."]
    parts.append(manners.replace("--role ROLE", f"--role {role}") if role else manners)
    parts += [f"## {piece.title}\n\n{piece.text.strip()}" for piece in known if piece.text.strip()]
    return storable("\n\n".join(part for part in parts if part))


def with_task(preamble: str, task: str) -> str:
    """The preamble in front of a task; either may be empty."""
    if not (preamble and task.strip()):
        return preamble or task
    return f"{preamble}\n\n# Task\n\n{task}"


# ---- where it stands -------------------------------------------------------------------------------------------------


class Broken(Exception):
    """A block whose last line is gone: where it ends nobody can tell. Has the line in which it begins."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Block(NamedTuple):
    start: int
    stop: int  # behind its own line end
    safe_id: str
    made: bool  # the file was made for it


def put(text: bytes | None, session_id: str, body: str) -> bytes:
    """A file's bytes (None: there is no file) with the session's block saying `body`, and no second one of it.

    A block of another session is left alone. Broken when the session has a block whose end is gone.
    """
    blocks = _blocks(text or b"")
    own = _own(blocks, [session_id], text or b"")
    left = _without(text or b"", own)
    alone = not _without(text or b"", [block for block in blocks if block.stop])
    made = text is None or any(block.made for block in (blocks if alone else own))
    at = own[0].start if own else len(_BOM) if left.startswith(_BOM) else 0
    block = _block_text(wire.safe_id(session_id), body, made).encode()
    end_of_line = b"\r\n" if re.match(rb"[^\n]*\r\n", left) else b"\n"
    return left[:at] + block.replace(b"\n", end_of_line) + left[at:]


def take_out(text: bytes, session_ids: Iterable[str]) -> bytes | None:
    """A file's bytes without the blocks of these sessions; None when the file was made for them and nothing is left.

    Broken when one of them has a block whose end is gone.
    """
    own = _own(_blocks(text), session_ids, text)
    left = _without(text, own)
    return None if not left and any(block.made for block in own) else left


def sessions_in(text: bytes) -> list[str]:
    """The safe ids of the sessions that have a block in a file, in its order."""
    return list(dict.fromkeys(block.safe_id for block in _blocks(text)))


def _block_text(safe_id: str, body: str, made: bool) -> str:
    said = "\n".join(storable(body).splitlines()).replace(_MARK, _MARK.replace(":", " :"))
    return f"{_MARK}begin {safe_id} -->\n{_GOES if made else _STAYS}\n\n{said}\n\n{_OVER}\n\n{_END.decode()}\n"


def _blocks(text: bytes) -> list[_Block]:
    """Every block of a file; one without an end, because it is gone or the next begins before it, has no `stop`."""
    begins = list(_BEGIN.finditer(text))
    limits = [begin.start() for begin in begins[1:]] + [len(text)]
    found = []
    for begin, limit in zip(begins, limits, strict=False):
        end = text.find(_END, begin.end(), limit)
        inside = text[begin.end() : end].lstrip()
        stop = 0 if end < 0 else _behind_line_end(text, end + len(_END))
        found.append(_Block(begin.start(), stop, begin[1].decode(), inside.startswith(_GOES.encode())))
    return found


def _behind_line_end(text: bytes, at: int) -> int:
    return at + next((len(end) for end in (b"\r\n", b"\n") if text.startswith(end, at)), 0)


def _own(blocks: Sequence[_Block], session_ids: Iterable[str], text: bytes) -> list[_Block]:
    names = {wire.safe_id(session_id) for session_id in session_ids}
    own = [block for block in blocks if block.safe_id in names]
    for block in own:
        if not block.stop:
            raise Broken(text.count(b"\n", 0, block.start) + 1)
    return own


def _without(text: bytes, blocks: Iterable[_Block]) -> bytes:
    kept, at = [], 0
    for block in blocks:
        kept.append(text[at : block.start])
        at = block.stop
    return b"".join([*kept, text[at:]])
