"""The traits that every role has, because the engine does: one block with a stamp, the same in each role-spec.

A block is copied to the letter or not at all: `judge_block` says what is wrong with one, whether it was changed by hand
or comes from another version. Its lines do not count as its author's. Pure; called by the generator and the validator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

_TRAITS = """\
### Traits

- **Accuracy**: what you report is compared with the files. One that you call new exists and has content, one that you
  call changed differs from before, an artifact lies in the folder of artifacts. Report only what you have looked at.
- **Feedback contract**: `evidence_report.verification` says how you verified (`verification_method`) and what you wrote
  (`artifacts_written`), always; `files_produced` names new files, `files_modified` changed ones with their line counts.
- **Quality gate**: completeness, consistency, accuracy and depth count a quarter each, and somebody else scores them.
  From 80 the work is done, from 60 done with warnings; below that it comes back to you, at most twice.
- **Error protocol**: when a way fails, take another one. After two more attempts say what failed and what you tried.
  A verification is never left out, and a failure never called a success.
"""
_OPENING = "<!-- gemba traits"
_BEGIN = _OPENING + ": generated, not to be edited, sha256 {stamp} -->"
_END = "<!-- end of gemba traits -->"
_STAMP = re.compile(r"sha256 ([0-9a-f]{1,64})\b")


class Block(NamedTuple):
    """A block that was found: the numbers of its first and last line in a list, and its lines. One that does not end
    has its first line alone.
    """

    first: int
    last: int
    lines: Sequence[str]

    @property
    def ends(self) -> bool:
        return self.last > self.first


def traits_block() -> str:
    """The block as it stands in a role-spec."""
    return f"{_BEGIN.format(stamp=_stamp_of(_TRAITS))}\n{_TRAITS}{_END}\n"


def find_blocks(lines: Sequence[str]) -> Iterator[Block]:
    first: int | None = None
    for number, line in enumerate(lines):
        if line.lstrip().startswith(_OPENING):
            if first is not None:
                yield Block(first, first, [lines[first]])
            first = number
        elif first is not None and line.strip() == _END:
            yield Block(first, number, lines[first : number + 1])
            first = None
    if first is not None:
        yield Block(first, first, [lines[first]])


def judge_block(block: Block) -> tuple[str, str] | None:
    """The rule that a block breaks, and what was found; None for one that is right."""
    text = "\n".join(block.lines) + "\n"
    if text == traits_block():
        return None
    if not block.ends:
        return "traits-changed", f"no line {_END} follows"
    written, known = _STAMP.search(block.lines[0]), _stamp_of(_TRAITS)
    stamp = _stamp_of("".join(f"{line}\n" for line in block.lines[1:-1]))
    if written is None:
        return "traits-changed", "its first line has no stamp"
    if written[1] != stamp:
        return "traits-changed", f"the stamp is {written[1][:16]}, its lines have {stamp}"
    return (
        "traits-outdated",
        f"the stamp is {stamp}, not {known}" if stamp != known else "its first or last line differs",
    )


def _stamp_of(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
