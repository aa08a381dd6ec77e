"""From session logs to the store: tail, translate, and commit state, events and the logs' positions together.

A crash between two batches loses nothing and doubles nothing: what was committed includes how far the logs were
read, and a frame is taken once by its id however often its line is read. A log that is long does not keep the others
waiting; a frame that nothing can be made of does not keep the others out. Frames of other workspaces are left to
their own server. Called by `app.py` in a thread of its own, and by commands that work without a server.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft

from gemba import wire
from gemba.errors import Unusable
from gemba.event import Draft
from gemba.sessions import store
from gemba.sessions.frames import Frame, Unreadable, read_frame
from gemba.sessions.log import Chunk, Position, parse_name, read_log
from gemba.sessions.session import Prompt
from gemba.sessions.translator import translate
from gemba.store.database import REFUSALS, Database, Transaction, reason_of
from gemba.text import storable
from gemba.watch import FolderWatch

Projection = Callable[[Transaction, Sequence[Draft]], None]
Pending = dict[str, set[str]]  # names of logs by their stem, the one that waits longest first

_BATCH_LINES = 2_000
_BATCH_BYTES = 8 * 1024 * 1024
_RESCAN_SECONDS = 30.0
_RETRY_SECONDS = 1.0
_LONGEST_WORKSPACE = 500  # characters of a stray's; an index has no room for four times as many bytes

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

    def __init__(
        self, database: Database, sessions_folder: Path, origin: str, workspace: Path, projections: Iterable[Projection]
    ) -> None:
        self._database = database
        self._folder = sessions_folder
        self._origin = origin
        self._workspace = str(workspace)
        # A digest: a path may be longer than an index takes.
        self._reader = hashlib.sha256(f"{origin} {workspace}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._projections = (store.project, *projections)
        self._positions: dict[str, Position] | None = None
        self._pending: Pending | None = None  # None: every log may have something new
        self._alone = threading.Lock()  # one reads at a time: whoever follows, or whoever must know all that is there
        self.trouble: str | None = None
        self.closed_logs: dict[str, str] = {}  # those that cannot be read, and why
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Unusable(f"{self._folder}: {error.strerror}", code="home_unusable") from None

    def look_again(self) -> None:
        """Every log may have something new: whoever watches from now on was not watching before."""
        with self._alone:
            self._pending = None

    def follow(self, watch: FolderWatch) -> None:
        """One round: wait until a log may have grown, take in a batch. A failing database is tried again."""
        idle = self._pending is not None and not self._pending
        changed = watch.wait(_RESCAN_SECONDS if idle else _RETRY_SECONDS if self.trouble else 0)
        try:
            with self._alone:
                if changed is None or (idle and not changed):
                    self._pending = None
                elif self._pending is not None:
                    _add(self._pending, changed)
                self.take_batch()
            self.trouble = None
        except REFUSALS as error:
            reason = reason_of(error)
            if reason != self.trouble:  # said once, not at every attempt
                log.warning("frames wait in their logs: the database refuses them", reason=reason)
            self.trouble = reason

    def drain(self, *session_ids: str) -> int:
        """Take in everything that is new now, of these sessions or of all; how many frames that was."""
        with self._alone:
            if not session_ids:
                self._pending = self._every_log()
                return self._take_pending()
            later, self._pending = self._pending, self._logs_of(session_ids)
            try:
                taken = self._take_pending()
            except BaseException:
                self._pending = None  # how far it came nobody knows: every log is looked at again
                raise
            self._pending = later
            return taken

    def _take_pending(self) -> int:
        taken = 0
        while self._pending:
            taken += self.take_batch()
        return taken

    def take_batch(self) -> int:
        """Take in some of what is new; how many frames that was."""
        if self._pending is None:
            self._pending = self._every_log()
        batch = self._read_batch(self._pending)
        try:
            taken = self._commit(batch)
        except (OperationalError, InterfaceError, NoConnectionLeft):
            raise
        except Exception:
            log.exception("a batch could not be taken in; trying frame by frame")
            taken = self._commit(batch, frame_by_frame=True)
        _had_their_turn(self._pending, batch)
        return taken

    def forget_old(self, tx: Transaction, older_than: int) -> None:
        """Positions of logs that are gone, and ids of old frames that no log can bring back."""
        present = _names(self._folder)
        if present is None:  # not readable now is not gone
            return
        store.forget_positions(tx, self._reader, store.positions(tx.connection, self._reader).keys() - present)
        stems = {parsed.stem for parsed in map(parse_name, present) if parsed is not None}
        store.forget_frames(tx, self._origin, stems, older_than)
        store.forget_strays(tx, older_than)

    def _every_log(self) -> Pending:
        present = _names(self._folder) or set()
        self.closed_logs = {name: reason for name, reason in self.closed_logs.items() if name in present}
        return _add({}, present)

    def _logs_of(self, session_ids: Iterable[str]) -> Pending:
        stems = {wire.safe_id(id) for id in session_ids}
        return _add({}, (name for name in _names(self._folder) or () if _stem(name) in stems))

    def _read_batch(self, pending: Pending) -> dict[str, Chunk | None]:
        """The next lines of some logs, up to a batch's size; a log that is gone, or cannot be read, has None."""
        batch: dict[str, Chunk | None] = {}
        lines = size = 0
        for stem, names in pending.items():
            for name, chunk in self._read_stem(stem, names).items():
                batch[name] = chunk
                if chunk is not None:
                    lines += len(chunk.lines)
                    size += sum(map(len, chunk.lines))
            if lines >= _BATCH_LINES or size >= _BATCH_BYTES:
                break
        return batch

    def _read_stem(self, stem: str, names: set[str]) -> dict[str, Chunk | None]:
        """The next lines of a session's logs in the order they were written: what was rotated away comes first."""
        found: dict[str, Chunk | None] = {}
        for name in sorted(names, key=_rotation, reverse=True):
            chunk = self._read(name)
            known = self._known_positions().get(name)
            if chunk is not None and known is not None and chunk.position.inode != known.inode:
                siblings = {other for other in _names(self._folder) or () if _stem(other) == stem}
                earlier = {other for other in siblings if _rotation(other) > _rotation(name)} - found.keys()
                if earlier:
                    # It was rotated away a moment ago: what is unread of it goes before what is in its place.
                    names |= earlier
                    return found
            found[name] = chunk
            if chunk is not None and chunk.more:
                break
        return found

    def _read(self, name: str) -> Chunk | None:
        positions = self._known_positions()
        parsed = parse_name(name)
        earlier = parsed.earlier if parsed else ()
        try:
            chunk = read_log(self._folder / name, *(positions[one] for one in (name, *earlier) if one in positions))
        except OSError as error:
            if name not in self.closed_logs:
                log.warning("a session log cannot be read", log=name, reason=error.strerror)
            self.closed_logs[name] = error.strerror or str(error)
            return None
        self.closed_logs.pop(name, None)
        return chunk

    def _commit(self, batch: dict[str, Chunk | None], frame_by_frame: bool = False) -> int:
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
            new = store.take_new(tx, self._origin, found.mine)
            drafts = self._apply_singly(tx, new) if frame_by_frame else self._apply(tx, new)
            garbage = [Draft("frame_dropped", one._asdict()) for one in found.unreadable]
            for draft in garbage:
                tx.emit(draft)
            store.save_positions(tx, self._reader, moved)
            store.add_strays(tx, found.strays)
            store.count(
                tx,
                frames_ingested=len(new),
                frames_duplicate=len(found.mine) - len(new),
                frames_dropped=sum(draft.name == "frame_dropped" for draft in drafts),
                frames_unreadable=sum(one.lines for one in found.unreadable),
            )
        positions.update(moved)
        return len(new)

    def _apply(self, tx: Transaction, new: Sequence[Frame]) -> list[Draft]:
        """What the frames mean, told and carried out."""
        drafts = self._translate(tx, new) if new else []
        self.tell(tx, drafts)
        return drafts

    def tell(self, tx: Transaction, drafts: Sequence[Draft]) -> None:
        """Events, with all that follows from them; also of those that no frame brings."""
        for draft in drafts:
            tx.emit(draft)
        for project in self._projections:
            project(tx, drafts)

    def _apply_singly(self, tx: Transaction, new: Sequence[Frame]) -> list[Draft]:
        """The same one by one: a frame that fails is dropped, with the reason, and takes no other one with it."""
        drafts: list[Draft] = []
        for frame in new:
            told = len(tx.drafts)
            try:
                with tx.part():
                    drafts += self._apply(tx, [frame])
                    msgspec.json.encode([draft.payload for draft in tx.drafts[told:]])
            except (OperationalError, InterfaceError):
                raise
            except Exception as error:
                log.exception("a frame was dropped", event_id=frame.event_id)
                reason = {"hook": frame.hook, "reason": f"Gemba failed on it: {error.__class__.__name__}"}
                drafts.append(Draft("frame_dropped", reason, frame.session_id, frame.event_id))
                tx.emit(drafts[-1])
        return drafts

    def _translate(self, tx: Transaction, new: Sequence[Frame]) -> list[Draft]:
        facts = store.meet(tx, new, self._origin, self._workspace)
        before = {session_id: known.prompts for session_id, known in facts.items()}
        drafts: list[Draft] = []
        for frame in new:
            known = facts[frame.session_id]
            translation = translate(frame, known)
            drafts += translation.drafts
            said = [draft.payload["bead_id"] for draft in translation.drafts if draft.name == "session_state_reported"]
            item = next((item for item in said if item), known.bead_id)
            facts[frame.session_id] = msgspec.structs.replace(known, prompts=translation.prompts, bead_id=item)
        after: dict[str, tuple[Prompt, ...]] = {
            session_id: known.prompts for session_id, known in facts.items() if known.prompts != before[session_id]
        }
        store.save_prompts(tx, after)
        return drafts

    def _sort(self, batch: dict[str, Chunk | None]) -> Sorted:
        found = Sorted([], [], [])
        whose = functools.cache(self._whose)
        for name, chunk in batch.items():
            if chunk is None:
                continue
            stem = _stem(name)
            reasons: Counter[str] = Counter()
            if chunk.too_long:
                reasons["a line longer than a frame may be"] += chunk.too_long
            for line in chunk.lines:
                if not line.strip():
                    continue
                frame = read_frame(line)
                if isinstance(frame, Unreadable):
                    reasons[frame.reason] += 1
                elif (owner := whose(frame.workspace or "")) == "mine":
                    found.mine.append((stem, frame))
                elif owner == "nobody's":
                    found.strays.append((storable(frame.workspace or "")[:_LONGEST_WORKSPACE], name))
            if reasons:
                reason, _ = reasons.most_common(1)[0]
                found.unreadable.append(Garbage(name, reason[:500], reasons.total()))
        return found

    def _whose(self, workspace: str) -> Literal["mine", "another's", "nobody's"]:
        """By the path that a frame names, which may lead to the workspace through a link."""
        if workspace == self._workspace:
            return "mine"
        try:
            path = Path(workspace)
            if not path.is_absolute():
                return "nobody's"
            if str(path.resolve()) == self._workspace:
                return "mine"
            return "another's" if (path / ".gemba").is_dir() else "nobody's"
        except (OSError, RuntimeError, ValueError):  # a name too long, a loop of links, a NUL
            return "nobody's"

    def _known_positions(self) -> dict[str, Position]:
        if self._positions is None:
            with self._database.read() as connection:
                self._positions = store.positions(connection, self._reader)
        return self._positions


def _names(folder: Path) -> set[str] | None:
    """What is in the folder; nothing when it does not exist, None when that cannot be told."""
    try:
        return {entry.name for entry in folder.iterdir()}
    except FileNotFoundError:
        return set()
    except OSError:
        return None


def _add(pending: Pending, names: Iterable[str]) -> Pending:
    for name in sorted(names):
        if parse_name(name) is not None:
            pending.setdefault(_stem(name), set()).add(name)
    return pending


def _had_their_turn(pending: Pending, batch: dict[str, Chunk | None]) -> None:
    """Logs that are read to their end go; those that have more wait behind the others."""
    for name, chunk in batch.items():
        names = pending.pop(_stem(name))
        if chunk is None or not chunk.more:
            names.discard(name)
        if names:
            pending[_stem(name)] = names


def _stem(name: str) -> str:
    parsed = parse_name(name)
    return name if parsed is None else parsed.stem


def _rotation(name: str) -> int:
    parsed = parse_name(name)
    return 0 if parsed is None else parsed.rotation
