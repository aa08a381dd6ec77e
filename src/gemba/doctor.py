"""What works and what does not, for the operator: each check has a status, what was found, and what to do.

Reads only; called by `gemba doctor` and by the page's Health screen.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Literal

import msgspec

import gemba
from gemba import clock
from gemba.app import App
from gemba.escalations import inbox
from gemba.escalations.notify import problem_of
from gemba.sessions import store as sessions
from gemba.store import events, migrate
from gemba.text import storable

Status = Literal["ok", "warn", "fail"]

_LITTLE_SPACE = 200 * 1024 * 1024


class Check(msgspec.Struct, frozen=True):
    id: str
    label: str
    status: Status
    detail: str
    hint: str | None = None


class Diagnosis(msgspec.Struct, frozen=True):
    """Every check, and the worst of them."""

    status: Status
    checks: list[Check]
    counters: dict[str, int]
    workspace: str
    version: str
    started_at: str | None


def diagnose(app: App) -> Diagnosis:
    with app.database.read() as connection:
        counters = {
            **inbox.counts(connection),
            "sessions_running": sessions.count_sessions(connection),
            "events": events.last_id(connection),
            **sessions.read_counters(connection),
        }
        strays = sessions.read_strays(connection)
    checks = [
        _database(app),
        _ingest(app),
        _folder("workspace", "Workspace folder", app.workspace.folder),
        _folder("home", "Session logs", app.home / "sessions"),
        _space(app),
        _private("token", "Access token", app.workspace.token_file),
        _frames(counters),
        _strays(strays),
        _replies(app, counters),
        _channels(app),
        _programs(),
    ]
    worst: Status = "fail" if any(c.status == "fail" for c in checks) else "ok"
    if worst == "ok" and any(c.status == "warn" for c in checks):
        worst = "warn"
    started = None if app.started_at is None else clock.rfc3339(app.started_at)
    return Diagnosis(worst, checks, counters, storable(app.workspace.root.name), gemba.__version__, started)


def _database(app: App) -> Check:
    kind = "SQLite" if app.database.is_sqlite else "PostgreSQL"
    return Check("database", "Database", "ok", f"{kind}, schema {migrate.head()}")


def _ingest(app: App) -> Check:
    if app.ingest.trouble is not None:
        return Check(
            "ingest",
            "Taking in frames",
            "fail",
            f"frames wait in their logs: {app.ingest.trouble}",
            "nothing is lost: they are taken in as soon as the database accepts them",
        )
    closed = dict(app.ingest.closed_logs)
    if closed:
        name, reason = next(iter(closed.items()))
        detail = f"{len(closed)} session logs cannot be read, among them {name}: {reason}"
        hint = "a log is a file that your user can read; it is looked at again every half minute"
        return Check("ingest", "Taking in frames", "warn", detail, hint)
    how = "following the session logs" if app.started_at is not None else "read when a command needs them"
    return Check("ingest", "Taking in frames", "ok", how)


def _folder(id: str, label: str, folder: Path) -> Check:
    if os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Check(id, label, "ok", str(folder))
    why = "cannot be read and written" if folder.exists() else "does not exist"
    return Check(id, label, "fail", f"{folder} {why}", "give your user access to it")


def _space(app: App) -> Check:
    try:
        free = shutil.disk_usage(app.workspace.folder).free
    except OSError as error:
        return Check("space", "Disk space", "fail", f"{app.workspace.folder}: {error.strerror}")
    shown = f"{free / 1024**3:.1f} GiB free"
    if free < _LITTLE_SPACE:
        return Check("space", "Disk space", "warn", shown, "make room: asks cannot be stored on a full disk")
    return Check("space", "Disk space", "ok", shown)


def _private(id: str, label: str, file: Path) -> Check:
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return Check(id, label, "ok", "none yet: `gemba serve` makes one")
    if stat.S_IMODE(mode) & 0o077:
        return Check(id, label, "warn", f"{file} can be read by others", f"chmod 600 {file}")
    return Check(id, label, "ok", "readable by you alone")


def _frames(counters: dict[str, int]) -> Check:
    dropped, unreadable = counters.get("frames_dropped", 0), counters.get("frames_unreadable", 0)
    detail = f"{counters.get('frames_ingested', 0)} taken in, {dropped} refused, {unreadable} unreadable lines"
    if dropped or unreadable:
        return Check("frames", "Frames", "warn", detail, "`frame_dropped` events say which and why")
    return Check("frames", "Frames", "ok", detail)


def _strays(strays: list[tuple[str, int, str]]) -> Check:
    if not strays:
        return Check("strays", "Frames of no workspace", "ok", "none")
    workspace, many, log = strays[0]
    total = sum(frames for _, frames, _ in strays)
    detail = f"{total} frames belong to no workspace; the last {many} name {workspace or 'none'!r} in {log}"
    hint = "set GEMBA_WORKSPACE for that agent, or start it below a folder that has .gemba/"
    return Check("strays", "Frames of no workspace", "warn", detail, hint)


def _replies(app: App, counters: dict[str, int]) -> Check:
    if app.reply_trouble is not None:
        hint = f"make room in {app.home / 'replies'}, or give your user access to it: they are tried again"
        return Check("replies", "Replies", "fail", app.reply_trouble, hint)
    many = counters["replies_undelivered"]
    if many:
        hint = "the agent reads it with `gemba-ask --resume ID`, or tell it yourself"
        return Check("replies", "Replies", "warn", f"{many} not read by their agents yet", hint)
    return Check("replies", "Replies", "ok", "all read, or on their way")


def _channels(app: App) -> Check:
    channels = [channel for channel in app.policies.channels.values() if channel.kind == "apprise"]
    problems = [f"{channel.name}: {problem}" for channel in channels if (problem := problem_of(channel)) is not None]
    if problems:
        hint = "`gemba policy check` says where each stands; a server reads it when it starts"
        return Check("channels", "Notifications", "warn", "; ".join(problems), hint)
    names = ", ".join(channel.name for channel in channels)
    return Check("channels", "Notifications", "ok", f"to {names}" if names else "to the open page alone")


def _programs() -> Check:
    missing = [name for name in ("git", "tmux") if shutil.which(name) is None]
    if missing:
        return Check(
            "programs", "Programs", "warn", f"not found: {', '.join(missing)}", "install them for all features"
        )
    return Check("programs", "Programs", "ok", "git and tmux are there")
