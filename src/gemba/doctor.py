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
from gemba.errors import GembaError
from gemba.escalations import inbox
from gemba.escalations.notices import FailedNotices, failed_notices
from gemba.escalations.notify import problem_of
from gemba.escalations.policy_check import checked_settings
from gemba.flows import wanted
from gemba.flows.executors import living
from gemba.handoff.audit_verdict import judge as judge_audit
from gemba.handoff.risk_rules import workspace_rules
from gemba.handoff.sections import read_sections
from gemba.sessions import store as sessions
from gemba.sessions import unknown_runs
from gemba.sessions.agents.agent import usable
from gemba.sessions.agents.file import read_agents
from gemba.skills.library import read_library
from gemba.store import events, migrate
from gemba.text import storable

Status = Literal["ok", "warn", "fail"]

_LITTLE_SPACE = 200 * 1024 * 1024
_LATELY = clock.DAY
_SILENT_LEASES = 4  # clocks of several machines differ, and one that is dead is forgotten after a lease


class Check(msgspec.Struct, frozen=True):
    id: str
    label: str
    status: Status
    detail: str
    hint: str | None = None


class Executor(msgspec.Struct, frozen=True):
    """A process that runs flows."""

    id: str
    where: str  # host and process
    heard_at: str


class Diagnosis(msgspec.Struct, frozen=True):
    """Every check, and the worst of them; `demo`: agents of `gemba demo` live in the workspace."""

    status: Status
    checks: list[Check]
    counters: dict[str, int]
    workspace: str
    version: str
    started_at: str | None
    executors: list[Executor] = []
    demo: bool = False


def diagnose(app: App) -> Diagnosis:
    with app.database.read() as connection:
        counters = {
            **inbox.counts(connection),
            "sessions_running": sessions.count_at_work(connection, clock.now()),
            "events": events.last_id(connection),
            **sessions.read_counters(connection),
            **wanted.counts(connection),
        }
        strays = sessions.read_strays(connection, clock.now() - clock.DAY)
        running = living(connection)
        troubled = wanted.troubled(connection)
        failed = failed_notices(connection, since=clock.now() - _LATELY)
    counters |= {"executors": len(running), "notifications_failed": failed.many}
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
        _executors(app, running, counters["flows_wanted"]),
        _flows(counters["flows_wanted"], troubled),
        _policies(app),
        _risk_rules(app),
        _context(app),
        _agents(app),
        _unknown_runs(app),
        _skills(app),
        _personas(app),
        _audit(app),
        _channels(app),
        _notifications(failed),
        _programs(),
    ]
    worst: Status = "fail" if any(c.status == "fail" for c in checks) else "ok"
    if worst == "ok" and any(c.status == "warn" for c in checks):
        worst = "warn"
    started = clock.told(app.started_at)
    executors = [Executor(id, where, clock.rfc3339(at)) for id, where, at in running]
    name = storable(app.workspace.root.name)
    return Diagnosis(worst, checks, counters, name, gemba.__version__, started, executors, app.is_demo)


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
        return Check("strays", "Frames of no workspace", "ok", "none in the last day")
    workspace, _, log = strays[0]
    total = sum(frames for _, frames, _ in strays)
    belong = "1 frame belongs" if total == 1 else f"{total} frames belong"
    detail = f"{belong} to no workspace; the last names {workspace or 'none'!r} in {log}"
    hint = (
        "set GEMBA_WORKSPACE for that agent, or start it below a folder that has .gemba/; "
        "this goes away when a day has passed without another"
    )
    return Check("strays", "Frames of no workspace", "warn", detail, hint)


def _replies(app: App, counters: dict[str, int]) -> Check:
    if app.reply_trouble is not None:
        hint = f"make room in {app.home / 'replies'}, or give your user access to it: they are tried again"
        return Check("replies", "Replies", "fail", app.reply_trouble, hint)
    many = counters["replies_undelivered"]
    if many:
        hint = "the inbox has each of them under Not delivered, with why, and with the ways on"
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


def _executors(app: App, running: list[tuple[str, str, int]], wanted_flows: int) -> Check:
    label = "Running flows"
    if not running:
        if not wanted_flows:
            return Check("executors", label, "ok", "nobody, and nothing waits for it")
        hint = "`gemba serve` or `gemba worker` does: reminders, expiries and deliveries wait until then"
        return Check("executors", label, "warn", f"nobody, and {wanted_flows} wait for it", hint)
    now, lease = clock.now(), app.settings.flows.lease_seconds * clock.SECOND
    shown = ", ".join(f"{id} ({where}, heard {max(now - at, 0) // clock.SECOND} s ago)" for id, where, at in running)
    silent = [id for id, _, at in running if now - at > _SILENT_LEASES * lease]
    if silent:
        hint = "its flows are taken over as soon as another one runs: `gemba serve` or `gemba worker`"
        return Check("executors", label, "warn", f"{len(running)} known, {len(silent)} silent: {shown}", hint)
    return Check("executors", label, "ok", f"{len(running)} at work: {shown}")


def _flows(many: int, troubled: list[tuple[str, str]]) -> Check:
    if not troubled:
        return Check("flows", "Flows", "ok", f"{many} wait for their moment" if many else "none")
    id, trouble = troubled[0]
    detail = f"{len(troubled)} of {many} failed and are run again, among them {id}: {trouble}"
    hint = f"the log of `gemba serve` says why under that id; `gemba inbox {id.split('/')[1][-6:]}` shows the ask"
    return Check("flows", "Flows", "warn", detail, hint)


def _policies(app: App) -> Check:
    label, file = "Policies", app.workspace.settings_file.name
    try:
        now = checked_settings(app.workspace)
    except GembaError as error:
        hint = f"`gemba policy check` lists everything; what was read at the start is used until {file} is right"
        return Check("policies", label, "fail", error.message, hint)
    if (now.policy, now.channels) != (app.settings.policy, app.settings.channels):
        return Check("policies", label, "warn", f"{file} was changed after the start", "restart to have it used")
    missing = [policy.name for policy in now.policy if policy.verify and not _can_be_run(app, policy.verify.check)]
    if missing:
        detail = f"the check of {', '.join(missing)} cannot be run: no answer passes it"
        return Check("policies", label, "fail", detail, f"put the program there, or name another one in {file}")
    many = len(now.policy)
    return Check("policies", label, "ok", f"{many} in use" if many else "none: what nobody answers waits")


def _risk_rules(app: App) -> Check:
    label = "Risk rules"
    try:
        many = len(workspace_rules(app.workspace.root))
    except GembaError as error:
        hint = "until it is right, hooks that ask for approval let no command through"
        return Check("risk_rules", label, "fail", error.message, hint)
    return Check("risk_rules", label, "ok", f"{many} of your own" if many else "none of your own")


def _context(app: App) -> Check:
    label = "Project knowledge"
    try:
        many = len(read_sections(app.workspace))
    except GembaError as error:
        hint = "until it is right no work is dispatched, and no update of a section is taken"
        return Check("context", label, "fail", error.message, hint)
    detail = f"{many} section{'' if many == 1 else 's'} in context.toml" if many else "no sections in context.toml"
    return Check("context", label, "ok", detail)


def _agents(app: App) -> Check:
    label = "Agent types"
    try:
        found = read_agents(app.workspace).values()
    except GembaError as error:
        hint = "until it is right no session of such a type is started; what is running goes on"
        return Check("agents", label, "fail", error.message, hint)
    states = [(agent, usable(agent, app.workspace.root)) for agent in found]
    can = ", ".join(agent.name for agent, why_not in states if why_not is None)
    cannot = ", ".join(f"{agent.name} ({why_not})" for agent, why_not in states if why_not is not None)
    detail = f"usable: {can or 'none'}" + (f"; not usable: {cannot}" if cannot else "")
    if any(why_not is not None and agent.origin != "shipped" for agent, why_not in states):
        return Check("agents", label, "warn", detail, "your agents.toml names one that cannot be used here")
    return Check("agents", label, "ok", detail)


def _unknown_runs(app: App) -> Check:
    label = "Runs of no session"
    found = unknown_runs.find(app.database, app.home, app.workspace.root)
    if not found:
        return Check("unknown_runs", label, "ok", "none")
    detail = f"{len(found)} live though the database has none of them, among them {found[0].path}"
    return Check("unknown_runs", label, "warn", detail, "`gemba serve` ends them when it starts")


def _personas(app: App) -> Check:
    many, faults = len(app.personas.by_id), app.personas.faults
    if not faults:
        return Check("personas", "Personas", "ok", f"{many} can be consulted")
    first = faults[0]
    files = len({fault.file for fault in faults})
    detail = f"{files} {'file has' if files == 1 else 'files have'} a fault: {first.file}:{first.line}: {first.message}"
    hint = "`gemba persona list` has all of them; files are read when a server starts"
    return Check("personas", "Personas", "warn", detail, hint)


def _skills(app: App) -> Check:
    label = "Agent skills"
    skills, findings = read_library(app.workspace.root)
    wrong = [each for each in findings if each.severity != "note"]
    if wrong:
        first, rest = wrong[0], f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        hint = "`gemba skills lint` lists everything; a skill with an error is not used"
        return Check("skills", label, "warn", f"{first.file}:{first.line}: {first.message}{rest}", hint)
    own = sum(skill.source == "workspace" for skill in skills.values())
    return Check("skills", label, "ok", f"{len(skills) - own} bundled, {own or 'none'} of your own")


def _audit(app: App) -> Check:
    """Its end alone, since that is asked often; `gemba audit verify` reads all of it."""
    label = "Audit log"
    try:
        known = app.anchors.read()
    except OSError as error:
        hint = "give your user access to it: without anchors a log that was cut off or written anew looks whole"
        return Check("audit", label, "warn", f"{app.anchors.file}: {error.strerror}", hint)
    with app.database.read() as connection:
        found = judge_audit(connection, known, app.anchors, tail=True)
    if not found.ok:
        return Check("audit", label, "fail", f"entry {found.number} is bad ({found.what}): {found.detail}", found.hint)
    if found.entries and not known.anchors:
        hint = "from the next entry on there are anchors again; `gemba audit verify` checks what the entries say"
        return Check("audit", label, "warn", f"{found.entries} entries, and nothing remembered of them", hint)
    return Check("audit", label, "ok", f"{found.entries} entries, and the end is as it was written")


def _can_be_run(app: App, command: tuple[str, ...] | None) -> bool:
    if not command:
        return True
    program = command[0] if os.sep not in command[0] else str(app.workspace.root / command[0])
    return shutil.which(program) is not None


def _notifications(failed: FailedNotices) -> Check:
    if not failed.many:
        return Check("notifications", "Notifications lately", "ok", "none failed in the last day")
    detail = f"{failed.many} did not arrive in the last day; the last: {failed.last}"
    hint = "`gemba policy test NAME` tries a channel; the asks themselves wait in the inbox"
    return Check("notifications", "Notifications lately", "warn", detail, hint)


def _programs() -> Check:
    missing = [name for name in ("git", "tmux") if shutil.which(name) is None]
    if missing:
        return Check(
            "programs", "Programs", "warn", f"not found: {', '.join(missing)}", "install them for all features"
        )
    return Check("programs", "Programs", "ok", "git and tmux are there")
