"""`gemba install-bridge`: put Gemba's hooks into the settings of Claude Code, and take them out again."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import click

from gemba import wire
from gemba.cli import hook_settings
from gemba.cli.json_text import Malformed
from gemba.cli.show import json_option, print_json
from gemba.errors import Invalid, Unusable
from gemba.sessions.agents.claude_hooks import Hook, bridge_program, wanted_hooks

_FILES = {"project": "settings.json", "local": "settings.local.json", "user": "settings.json"}
_LARGEST = 16 * 1024 * 1024
_BOM = "\ufeff"


@click.command()
@click.option("--remove", is_flag=True, help="Take the hooks out again.")
@click.option("--require", is_flag=True, help="Every turn has to end in a handoff, not those of dispatches alone.")
@click.option("--approvals", is_flag=True, help="Commands that change something wait for you; needs gemba serve.")
@click.option(
    "--scope",
    type=click.Choice(list(_FILES)),
    default="project",
    show_default=True,
    help="Whose settings: the project's, yours in this project, or yours everywhere.",
)
@json_option
@click.pass_obj
def command(folder: str | None, remove: bool, require: bool, approvals: bool, scope: str, as_json: bool) -> None:
    """Let Claude Code tell Gemba what its agents do, and hold a turn to its handoff.

    Adds hooks to .claude/settings.json (local: .claude/settings.local.json; user: the same file in your home) and
    changes nothing else in it. Run again it changes nothing, or only the flags. The hooks name the path of gemba on
    this machine: where the project's settings are shared, use --scope local.

    \b
    Example:
      gemba install-bridge
      gemba install-bridge --require --approvals --scope local
      gemba install-bridge --remove
    """
    if remove and (require or approvals):
        raise click.UsageError("--remove takes everything out; --require and --approvals do not go with it.")
    root, path = _settings_file(folder, scope)
    wanted = None if remove else wanted_hooks(bridge_program(), require=require, approvals=approvals)
    change = _carry_out(root, path, wanted)
    if as_json:
        did = {"did": "remove" if remove else "install", "changed": change.is_one, "events": change.events}
        print_json({"settings": str(path), "scope": scope, **did})
        return
    click.echo(f"{path}: {_in_words(change, remove)}")
    if not remove and change.is_one:
        click.echo("Sessions that run already take them up when they are started anew.")
    if not remove and hook_settings.are_switched_off(change.text):
        click.echo("disableAllHooks is true in these settings: as long as it is, none of them runs.")


class _Change(NamedTuple):
    """What became of the settings: their text, and the events at which there are hooks of ours, or were."""

    is_one: bool
    text: str | None
    events: list[str]


def _carry_out(root: Path, path: Path, wanted: dict[str, Hook] | None) -> _Change:
    """Put these hooks in, or with None take all of ours out."""
    with _locked(path, make=wanted is not None):
        before = _read(path)
        bom = _BOM if (before or "").startswith(_BOM) else ""
        text = None if before is None else before.removeprefix(_BOM)
        try:
            events = hook_settings.our_events(text) if wanted is None else list(wanted)
            after = hook_settings.take_out(text) if wanted is None else hook_settings.put_in(text, wanted)
        except Malformed as error:
            place = f"{path}:{error.line}:{error.column}"
            raise Invalid(f"{place}: {error.message}; nothing was changed", code="settings_syntax") from None
        if after != text:
            _write(root, path, None if after is None else bom + after)
    return _Change(after != text, after, events)


def _in_words(change: _Change, remove: bool) -> str:
    if remove:
        return "took out the hooks of Gemba" if change.is_one else "has no hooks of Gemba; nothing was changed"
    if not change.is_one:
        return "has the hooks already; nothing was changed"
    return f"put in hooks at {', '.join(change.events)}"


# -- where -------------------------------------------------------------------------------------------------------------


def _settings_file(folder: str | None, scope: str) -> tuple[Path, Path]:
    """The folder that must not be left, and the file, behind whatever links lead to it."""
    if scope == "user":
        named = os.environ.get("CLAUDE_CONFIG_DIR")
        root = Path(named) if named else Path.home()
        file = (root if named else root / ".claude") / _FILES[scope]
    else:
        root = _project(Path(folder) if folder else Path.cwd())
        file = root / ".claude" / _FILES[scope]
    root = root.resolve()
    try:
        found = file.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        raise Unusable(f"{file} leads nowhere: it is a link to itself", code="settings_unusable") from None
    if not found.is_relative_to(root):
        raise Unusable(f"{file} is a link to {found}, outside of {root}; nothing was changed", code="settings_outside")
    return root, found


def _project(start: Path) -> Path:
    """The folder in which the client is started: the nearest with settings of its own, else the repository's top."""
    start = start.resolve()
    if not start.is_dir():
        raise Unusable(f"{start} is not a folder", code="no_folder")
    if (start / ".claude").is_dir():
        return start
    marks = (".git", ".gemba")
    return next((above for above in (start, *start.parents) if any((above / mark).exists() for mark in marks)), start)


# -- the file ----------------------------------------------------------------------------------------------------------


@contextmanager
def _locked(path: Path, *, make: bool) -> Iterator[None]:
    """One at a time: two that read before either writes would lose what one of them did."""
    if make:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    try:
        lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield  # no folder, so nothing to take out
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _read(path: Path) -> str | None:
    try:
        data = wire.read_file(str(path), _LARGEST)
    except FileNotFoundError:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"{path}:{line}:{column}: this is not UTF-8; nothing was changed"
        raise Invalid(message, code="settings_syntax") from None


def _write(root: Path, path: Path, text: str | None) -> None:
    """In one step, with the mode and owner that the file has; without text there is no file any more."""
    if text is None:
        path.unlink()
        wire.sync_folder(str(path.parent))
        return
    # Looked at once more: a link may have been put in the way meanwhile.
    if not path.parent.resolve().is_relative_to(root):
        raise Unusable(f"{path.parent} leads outside of {root}; nothing was changed", code="settings_outside")
    descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            _keep_mode(descriptor, path)
            os.fsync(descriptor)
        Path(partial).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(partial).unlink()
        raise
    wire.sync_folder(str(path.parent))


def _keep_mode(descriptor: int, path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        os.fchmod(descriptor, 0o666 & ~mask)
        return
    with suppress(PermissionError):  # a file of another user becomes ours, as it does in an editor
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
