"""What lies in a run's folder, file by file, made of the rows: the same rows are the same bytes.

Text of agents and people is data: in JSON it is a string, in Markdown it stands indented, where no heading, fence or
markup of it means anything. A name that could be no plain name of a file makes no file. Reads only; called by
`folder.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from gemba import clock
from gemba.errors import Invalid
from gemba.teams import consensus, store
from gemba.teams.consensus import MOST_RATINGS, Rating
from gemba.teams.knowledge import KINDS, TASK_ID, artifact_task
from gemba.teams.loading import current_artifacts
from gemba.teams.roles.role_spec import ROLE
from gemba.teams.tables import artifacts, explorations, messages, ratings, wisdom
from gemba.text import showable, storable

MESSAGES = "messages.jsonl"
MANIFEST = "manifest.json"
_PAGE = 1_000
_UNNAMED = re.compile(r"[^\w.@-]+")
_SESSION = ("id", "state", "text", "epic_id", "agent", "branch", "base", "trouble", "report", "created_by")
_MOMENTS = ("created_at", "started_at", "ended_at", "archived_at")
_TASK = ("id", "owner", "prefix", "goal", "chain", "inner_loop", "state", "waiting_for", "version", "attempt", "errors")
_TASK_AFTER = ("session_id", "dispatch_id", "commit_hash", "merged", "score", "reason", "lost_for", "revises")


class Stored(NamedTuple):
    """An artifact in the database, whose content is read only where it has to be written."""

    name: str
    version: int


class Wanted(NamedTuple):
    """A file of the folder: where it lies, what its digest and size are, and what is in it."""

    path: tuple[str, ...]
    digest: str
    size: int
    content: bytes | Stored


class Contents(NamedTuple):
    """All files but the messages; `outdated` are files of earlier states that are in this one no more."""

    files: list[Wanted]
    outdated: list[tuple[str, ...]]


def contents_of(connection: Connection, run: Row[Any]) -> Contents:
    made = [
        _made(_json(_session(connection, run)), "team-session.json"),
        _made(_json(_decoded(run.analysis)), "task-analysis.json"),
        *(_made(spec, "role-specs", f"{name}.md") for name, spec in _role_specs(run)),
        *_wisdom(connection, run.id),
        _made(_json(_explorations(connection, run.id)), "explorations", "cache-index.json"),
        *_discussions(connection, run.id),
    ]
    stored, outdated = _artifacts(connection, run.id)
    return Contents([*made, *stored], outdated)


def _made(text: str, *path: str) -> Wanted:
    data = storable(text).encode()
    return Wanted(path, hashlib.sha256(data).hexdigest(), len(data), data)


# ---- JSON ------------------------------------------------------------------------------------------------------------


def _session(connection: Connection, run: Row[Any]) -> dict[str, Any]:
    found = run._mapping
    roles = [{key: value for key, value in role.items() if key != "spec"} for role in _decoded(run.roles)]
    return {
        **{name: found[name] for name in _SESSION},
        **{name: clock.told(found[name]) for name in _MOMENTS},
        "settings": _decoded(run.settings),
        "roles": roles,
        "messages": run.messages,
        "tasks": [_task(row) for row in store.all_tasks(connection, run.id)],
    }


def _task(row: Row[Any]) -> dict[str, Any]:
    found = row._mapping
    return {
        **{name: found[name] for name in _TASK},
        "blocked_by": _decoded(row.blocked_by),
        "given": _decoded(row.given),
        "words": _decoded(row.words),
        **{name: found[name] for name in _TASK_AFTER},
        "started_at": clock.told(row.started_at),
        "ended_at": clock.told(row.ended_at),
    }


def _explorations(connection: Connection, run_id: str) -> dict[str, Any]:
    mine = select(explorations).where(explorations.c.run_id == run_id)
    found = sorted(connection.execute(mine), key=lambda row: str(row.angle))  # databases sort texts in their own ways
    return {
        row.angle: {
            "task": row.task_id,
            "summary": row.summary,
            "files": _decoded(row.files),
            "at": clock.rfc3339(row.at),
        }
        for row in found
    }


def message_lines(connection: Connection, run_id: str, after: int, up_to: int) -> list[bytes]:
    """The next messages after a number, a line each; none when there are no more."""
    between = (messages.c.id > after, messages.c.id <= up_to)
    mine = select(messages).where(messages.c.run_id == run_id, *between).order_by(messages.c.id).limit(_PAGE)
    return [_message(row) for row in connection.execute(mine)]


def _message(row: Row[Any]) -> bytes:
    told = {
        "id": row.id,
        "ts": clock.rfc3339(row.at),
        "from": row.sender,
        "to": row.recipient,
        "type": row.type,
        "known": bool(row.known),
        "summary": row.summary,
        "data": _decoded(row.data),
    }
    return msgspec.json.encode(told) + b"\n"


def manifest(run: Row[Any], files: Iterable[Wanted]) -> Wanted:
    listed = {"/".join(each.path): {"sha256": each.digest, "size": each.size} for each in files}
    told = {"run": run.id, "archived_at": clock.told(run.archived_at), "files": dict(sorted(listed.items()))}
    return _made(_json(told), MANIFEST)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _decoded(text: str) -> Any:
    return msgspec.json.decode(text)


# ---- Markdown --------------------------------------------------------------------------------------------------------


def _role_specs(run: Row[Any]) -> Iterator[tuple[str, str]]:
    for role in _decoded(run.roles):
        name, spec = role.get("name", ""), role.get("spec")
        if ROLE.fullmatch(name) and isinstance(spec, str):
            yield name, spec


def _wisdom(connection: Connection, run_id: str) -> Iterator[Wanted]:
    mine = select(wisdom).where(wisdom.c.run_id == run_id).order_by(wisdom.c.number)
    by_kind: dict[str, list[str]] = {kind: [f"# {kind.capitalize()}"] for kind in KINDS}
    for row in connection.execute(mine):
        source = "" if row.task_id is None else f", {_plain(row.task_id)}"
        title = f"## {row.number}. {_plain(row.author)}{source}, {clock.rfc3339(row.at)}"
        by_kind[row.kind] += [title, _indented(row.words)]
    for kind, parts in by_kind.items():
        yield _made("\n\n".join(parts) + "\n", "wisdom", f"{kind}.md")


def _discussions(connection: Connection, run_id: str) -> Iterator[Wanted]:
    mine = select(ratings).where(ratings.c.run_id == run_id)
    by_task: dict[str, dict[int, list[Row[Any]]]] = {}
    found = connection.execute(mine.order_by(ratings.c.at)).all()
    for row in sorted(found, key=lambda each: (each.task_id, each.version, each.at, each.reviewer)):
        by_task.setdefault(row.task_id, {}).setdefault(row.version, []).append(row)
    for task_id, versions in by_task.items():
        if TASK_ID.fullmatch(task_id):
            parts = [f"# Discussion of {task_id}", *(part for each in versions.items() for part in _version(*each))]
            yield _made("\n\n".join(parts) + "\n", "discussions", f"{task_id}.md")


def _version(version: int, given: Sequence[Row[Any]]) -> Iterator[str]:
    yield f"## Version {version}"
    for row in given:
        critical = ", with a critical issue" if row.critical else ""
        yield f"### {_plain(row.reviewer)}: {row.rating} of 5{critical}, {clock.rfc3339(row.at)}"
        if row.note.strip():
            yield _indented(row.note)
    rated = [Rating(row.reviewer, row.rating, bool(row.critical), row.note) for row in given[:MOST_RATINGS]]
    try:
        verdict = consensus.agree(rated)
    except Invalid as error:
        yield f"No consensus: {_plain(error.message)}."
        return
    reached = "reached" if verdict.reached else "not reached"
    yield f"Consensus {reached}: severity {verdict.severity}, mean {verdict.mean:g}; {verdict.reason}."


def _plain(name: str) -> str:
    """A name within a heading of ours."""
    return _UNNAMED.sub("_", name)[:80] or "_"


def _indented(words: str) -> str:
    """Text as it was written, as a block in which nothing means anything."""
    return "\n".join(f"    {line}".rstrip() for line in showable(storable(words)).splitlines()) or "    "


# ---- artifacts -------------------------------------------------------------------------------------------------------


def _artifacts(connection: Connection, run_id: str) -> tuple[list[Wanted], list[tuple[str, ...]]]:
    """The latest version of each task's by its name, earlier versions beside them, and what only those had."""
    columns = [column for column in artifacts.c if column.name != "content"]
    mine = select(*columns).where(artifacts.c.run_id == run_id)
    found = [row for row in connection.execute(mine) if artifact_task(row.name) is not None]
    current = {(row.name, row.version) for row in current_artifacts(connection, run_id)}
    files = []
    for row in sorted(found, key=lambda each: (each.name, each.version)):
        latest = (row.name, row.version) in current
        path = ("artifacts", row.name) if latest else ("artifacts", "versions", str(row.version), row.name)
        files.append(Wanted(path, row.digest, row.size, Stored(row.name, row.version)))
    gone = {row.name for row in found} - {name for name, _ in current}
    return files, [("artifacts", name) for name in sorted(gone)]
