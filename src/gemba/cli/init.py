"""`gemba init`: make a repository a workspace. Writes commented files, overwrites nothing, asks nothing."""

from __future__ import annotations

import os
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from gemba.cli.show import json_option, print_json
from gemba.errors import Unusable


@click.command()
@json_option
@click.pass_obj
def command(folder: str | None, as_json: bool) -> None:
    """Make this repository a workspace: write .gemba/ with commented settings. What is there stays as it is.

    \b
    Example:
      cd my-project && gemba init
    """
    root = _root(Path(folder) if folder else Path.cwd())
    written = make_workspace(root)
    if as_json:
        print_json({"workspace": str(root), "written": written})
        return
    click.echo(f"{root / '.gemba'}: {'wrote ' + ', '.join(written) if written else 'everything is there already'}")
    click.echo("Next: gemba serve")


def make_workspace(root: Path) -> list[str]:
    """Write what is missing of a workspace's files; their names."""
    target = root / ".gemba"
    written: list[str] = []
    try:
        target.mkdir(mode=0o755, exist_ok=True)
        _copy(resources.files("gemba") / "template", target, "", written)
    except OSError as error:
        raise Unusable(f"{error.filename or target}: {error.strerror}", code="workspace_unwritable") from None
    return written


def _root(start: Path) -> Path:
    """The repository's top, so that one workspace serves all of it; without a repository, the folder itself."""
    start = start.resolve()
    if not start.is_dir():
        raise Unusable(f"{start} is not a folder", code="no_folder")
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def _copy(source: Traversable, target: Path, prefix: str, written: list[str]) -> None:
    for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
        name = ".gitignore" if entry.name == "gitignore" else entry.name
        if entry.is_dir():
            (target / name).mkdir(exist_ok=True)
            _copy(entry, target / name, f"{prefix}{name}/", written)
        elif _write_new(target / name, entry.read_bytes()):
            written.append(prefix + name)


def _write_new(file: Path, data: bytes) -> bool:
    """False when something is there; a file that could not be written whole is not left behind."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return False
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
    except OSError:
        file.unlink(missing_ok=True)
        raise
    return True
