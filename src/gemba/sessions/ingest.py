"""From session logs to the store: tail, translate, and commit state, events and the logs' positions together.

A crash between two batches loses nothing and doubles nothing: what was committed includes how far the logs were
read, and a frame is taken once by its id however often its line is read. Frames of other workspaces are left to
their own server. Called by `app.py` in a thread of its own, and by commands that work without a server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import structlog
from sqlalchemy.exc import DBAPIError

from gemba import clock
from gemba.errors import Unusable
from gemba.event import Draft
from gemba.sessions import store
from gemba.sessions.frames import Frame, Unreadable, read_frame
from gemba.sessions.log import Chunk, Position, read_log, stem_of
from gemba.sessions.session import Facts, Prompt
from gemba.sessions.translator import translate
from gemba.store.database import Database, Transaction
from gemba.watch import FolderWatch

Projection = Callable[[Transaction, Sequence[Draft]], None]

_BATCH_LINES = 2_000
_BATCH_BYTES = 8 * 1024 * 1024
_RESCAN_SECONDS = 30.0
_RETRY_SECONDS = 1.0

log = structlog.get_logger("gemba.ingest")


class Garbage(NamedTuple):
    """Lines of a log that are no frames: how many, and the commonest reason."""

    log: str
    reason: str
    lines: int


class Sorted(NamedTuple):
    """A batch by whose it is."""

    mine: list[tuple[str, Frame]]  # with their log's stem
    strays: list[tuple[str, str]]  # (workspace as written, log)
    unreadable: list[Garbage]


class Ingest:
    """Follows every log of a home for one workspace. Projections run in the ingesting transaction, in order."""

    def __init__(self, database: Database, sessions_folder: Path, workspace: Path, projections: Iterable[Projection]):
        self._database = database
        self._folder = sessions_folder
        self._workspace = str(workspace)
        self._projections = (store.project, *projections)
        self._positions: dict[str, Position] | None = None
        self._pending: set[str] | None = None  # None: every log may have something new
        self.trouble: str | None = None
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unusable(f"{self._folder}: {error.strerror}", code="home_unusable") from None

    def follow(self, watch: FolderWatch) -> None:
        """One round: wait until a log may have grown, take in what is new. A failing database is tried again."""
        nothing_left = self._pending is not None and not self._pending
        changed = watch.wait(_RESCAN_SECONDS if nothing_left else _RETRY_SECONDS if self.trouble else 0)
        self._note(changed if changed or not nothing_left else None)
        try:
            self._take_pending()
            self.trouble = None
        except DBAPIError as error:
            self.trouble = str(error.orig).strip()
            log.warning("frames wait in their logs: the database refused them", reason=self.trouble)

    def drain(self) -> int:
        """Take in everything that is new now; how many frames that was."""
        self._pending = None
        return self._take_pending()

    def _take_pending(self) -> int:
        if self._pending is None:
            self._pending = {name for name in _names(self._folder) if stem_of(name) is not None}
        taken = 0
        while self._pending:
            batch = self._read_batch(self._pending)
            taken += self._commit(batch)
            self._pending -= {name for name, chunk in batch.items() if chunk is None or not chunk.more}
        return taken

    def forget_old(self, tx: Transaction, keep_days: int) -> None:
        present = _names(self._folder)
        stems = {stem for stem in map(stem_of, present) if stem is not None}
        store.forget_logs(tx, present, stems, tx.now - keep_days * clock.DAY)

    def _note(self, changed: set[str] | None) -> None:
        if changed is None:
            self._pending = None
        elif self._pending is not None:
            self._pending |= {name for name in changed if stem_of(name) is not None}

    def _read_batch(self, names: set[str]) -> dict[str, Chunk | None]:
        """The next lines of some logs, up to a batch's size; a log that is gone has None."""
        positions = self._known_positions()
        batch: dict[str, Chunk | None] = {}
        lines = size = 0
        for name in sorted(names):
            chunk = read_log(self._folder / name, positions.get(name, Position()))
            batch[name] = chunk
            if chunk is not None:
                lines += len(chunk.lines)
                size += sum(map(len, chunk.lines))
            if lines >= _BATCH_LINES or size >= _BATCH_BYTES:
                break
        return batch

    def _commit(self, batch: dict[str, Chunk | None]) -> int:
        positions = self._known_positions()
        moved = {
            name: chunk.position
            for name, chunk in batch.items()
            if chunk is not None and chunk.position != positions.get(name)
        }
        if not moved:
            return 0
        found = self._sort(batch)
        with self._database.transaction() as tx:
            new = store.take_new(tx, found.mine)
            drafts = self._translate(tx, new) if new else []
            drafts += [Draft("frame_dropped", garbage._asdict()) for garbage in found.unreadable]
            for draft in drafts:
                tx.emit(draft)
            for project in self._projections:
                project(tx, drafts)
            store.save_positions(tx, moved)
            store.add_strays(tx, found.strays)
            store.count(
                tx,
                frames_ingested=len(new),
                frames_duplicate=len(found.mine) - len(new),
                frames_dropped=sum(draft.name == "frame_dropped" and draft.ref is not None for draft in drafts),
                frames_unreadable=sum(garbage.lines for garbage in found.unreadable),
            )
        positions.update(moved)
        return len(new)

    def _translate(self, tx: Transaction, new: Sequence[Frame]) -> list[Draft]:
        facts = store.meet(tx, new)
        before = {session_id: known.prompts for session_id, known in facts.items()}
        drafts: list[Draft] = []
        for frame in new:
            known = facts[frame.session_id]
            translation = translate(frame, known)
            drafts += translation.drafts
            facts[frame.session_id] = Facts(known.role, translation.prompts)
        after: dict[str, tuple[Prompt, ...]] = {
            session_id: known.prompts for session_id, known in facts.items() if known.prompts != before[session_id]
        }
        store.save_prompts(tx, after)
        return drafts

    def _sort(self, batch: dict[str, Chunk | None]) -> Sorted:
        found = Sorted([], [], [])
        for name, chunk in batch.items():
            if chunk is None:
                continue
            stem = stem_of(name) or name
            reasons: Counter[str] = Counter()
            if chunk.too_long:
                reasons["a line longer than a frame may be"] += chunk.too_long
            for line in chunk.lines:
                if not line.strip():
                    continue
                frame = read_frame(line)
                if isinstance(frame, Unreadable):
                    reasons[frame.reason] += 1
                elif self._is_mine(frame.workspace):
                    found.mine.append((stem, frame))
                elif not _is_workspace(frame.workspace):
                    found.strays.append((_shown(frame.workspace), name))
            if reasons:
                reason, _ = reasons.most_common(1)[0]
                found.unreadable.append(Garbage(name, reason[:500], reasons.total()))
        return found

    def _is_mine(self, workspace: str | None) -> bool:
        return workspace == self._workspace or (bool(workspace) and _real(workspace) == self._workspace)

    def _known_positions(self) -> dict[str, Position]:
        if self._positions is None:
            with self._database.read() as connection:
                self._positions = store.positions(connection)
        return self._positions


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _real(workspace: str | None) -> str:
    try:
        return str(Path(workspace).resolve()) if workspace and Path(workspace).is_absolute() else ""
    except (OSError, RuntimeError, ValueError):
        return ""


def _is_workspace(workspace: str | None) -> bool:
    try:
        return bool(workspace) and (Path(workspace or "") / ".gemba").is_dir()
    except (OSError, ValueError):
        return False


def _shown(workspace: str | None) -> str:
    return (workspace or "").encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:1000]
