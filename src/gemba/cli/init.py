"""`gemba init`: make a repository a workspace, tell what is there already, and what comes next.

Writes commented files and overwrites nothing. It finds out by itself which agents are installed and which work the
repository has; all that it asks, and only at a terminal, is whether to import that. What was imported before is known
by its ids: the same again changes nothing.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import click
import msgspec

from gemba import wire
from gemba.cli.bringing import Brought, bring
from gemba.cli.door import Door, open_door, server_socket
from gemba.cli.show import json_option, print_json
from gemba.cli.work_found import Source, find_work, with_known
from gemba.config import Settings, Workspace
from gemba.errors import GembaError, Unusable
from gemba.escalations.policy_check import checked_settings
from gemba.sessions.agents.file import sound_agents
from gemba.sessions.agents.installed import Client, find_clients
from gemba.text import one_line, showable, storable

_PAGE = 500
_WIDTH = 400
_TROUBLE_SHOWN = 5  # lines of each source; the command that is named tells all of them


@click.command()
@click.option(
    "--import/--no-import", "wanted", default=None, help="Import the work that is found, or do not; both ask nothing."
)
@click.option("-y", "--yes", is_flag=True, help="The same as --import.")
@json_option
@click.pass_obj
def command(folder: str | None, wanted: bool | None, yes: bool, as_json: bool) -> None:
    """Make this repository a workspace: write .gemba/ with commented settings. What is there stays as it is.

    It tells which agents are installed, and which work is there already: issues of the bd tracker in .beads, TODO
    files, checklists such as ROADMAP.md, at the top and in docs/. At a terminal it asks once whether to import that;
    without one, or with --json, it imports nothing unless --import says so. Importing again makes nothing twice.

    \b
    Example:
      cd my-project && gemba init
      gemba init --import --json
    """
    if yes and wanted is False:
        raise click.UsageError("--yes and --no-import contradict each other.")
    root = _root(Path(folder) if folder else Path.cwd())
    first = FirstRun(root, folder, make_workspace(root))
    if not as_json:
        first.show()
    offered = [source for source in first.sources if source.is_offered]
    if yes or wanted:
        first.bring_in([source for source in first.sources if source.can_be_imported], as_json)
    elif offered and wanted is None and not as_json and _at_terminal() and _agrees(offered):
        first.bring_in(offered, as_json)
    elif offered and not as_json:
        first.show_commands(offered)
    if as_json:
        print_json(first.document())
    elif first.problem is None:
        click.echo(f"Next: {showable(first.next_step())}")
    if first.problem is not None:
        if as_json:
            sys.exit(1)
        raise first.problem


class FirstRun:
    """What was found in a repository that was just made a workspace, and what was done there. `problem` is the first
    thing that has to be put right; everything else was done."""

    def __init__(self, root: Path, folder: str | None, written: list[str]) -> None:
        self.root = root
        self.folder = folder
        self.written = written
        self.workspace = Workspace(root)
        self.problem: GembaError | None = None
        self.sources: list[Source] = []
        self.clients: list[Client] = []
        self.agents_problem: str | None = None
        self._settings: Settings | None = None
        self._imported: dict[str, Brought] = {}
        self._look()

    def _look(self) -> None:
        try:
            sound = sound_agents(self.workspace)
            self.clients = find_clients(sound.agents.values(), self.root)
            fault = sound.fault or next(iter(sound.faulty.values()), None)
            self.agents_problem = None if fault is None else fault.plain
        except Unusable as error:
            self.agents_problem = error.plain
        try:
            self._settings = checked_settings(self.workspace)
            self.sources = find_work(self.root, self.workspace.work_prefix(self._settings))
            if any(source.is_offered for source in self.sources) and self._may_look():
                with open_door(str(self.root)) as door:
                    self.sources = with_known(self.sources, _ids(door))
        except GembaError as error:
            self.problem = error

    def _may_look(self) -> bool:
        """Whether work items are looked at. A database that nobody has made yet is not made for that; one elsewhere,
        which only the repository's own settings name, is not talked to before somebody wants something of it."""
        is_named = bool(os.environ.get("GEMBA_DATABASE_URL"))
        is_here = not (self._settings and self._settings.store.url) and self.workspace.database_file.exists()
        return is_named or is_here or self._server_runs()

    def _server_runs(self) -> bool:
        return server_socket(self.workspace) is not None

    def bring_in(self, sources: list[Source], quietly: bool) -> None:
        """Import them, one after the other; the first that cannot be is the problem, and ends it."""
        if not sources:
            return
        try:
            with open_door(str(self.root)) as door:
                for source in sources:
                    if source.work is not None and self._settings is not None:
                        names = ", ".join(Path(file).name for file in source.files)
                        brought = bring(door, source.work, names, self._settings, whole=source.kind == "md")
                        self._imported[source.name] = brought
                        if not quietly:
                            self._show_brought(source, brought)
        except GembaError as error:
            self.problem = error

    def show(self) -> None:
        wrote = f"wrote {', '.join(self.written)}" if self.written else "everything is there already"
        click.echo(f"{showable(str(self.root / '.gemba'))}: {wrote}")
        if (missing := self._without_commits()) is not None:
            click.echo(missing)
        click.echo(self._agents_line())
        if self.agents_problem is not None:
            click.echo(f"agents.toml: {one_line(self.agents_problem, _WIDTH)}")
        for source in self.sources:
            click.echo(f"{showable(source.name)}: {one_line(_told(source), _WIDTH)}")
            if source.is_too_large:
                click.echo(f"  to take it all the same: {showable(source.command(self.root, self.folder))}")

    def show_commands(self, offered: Iterable[Source]) -> None:
        click.echo(f"Nothing was imported. To do it, or `{showable(self._gemba('init', '--import'))}` for all of it:")
        for source in offered:
            click.echo(f"  {showable(source.command(self.root, self.folder))}")

    def _show_brought(self, source: Source, brought: Brought) -> None:
        trouble = brought.trouble()
        for line in trouble[:_TROUBLE_SHOWN]:
            click.echo(line)
        if len(trouble) > _TROUBLE_SHOWN:
            shown = showable(source.command(self.root, self.folder))
            click.echo(f"… and {len(trouble) - _TROUBLE_SHOWN:,} lines more, which `{shown}` tells.")
        click.echo(f"{showable(source.name)}: {brought.counted()}.")

    def _without_commits(self) -> str | None:
        alone = "sessions work in this folder itself, one at a time"
        if not (self.root / ".git").exists():
            return f"It is in no git repository: {alone}. After `git init` and a commit each has a worktree of its own."
        if wire.git_head(str(self.root))[0] is None:
            return f"Nothing is committed here yet: until then {alone}."
        return None

    def _agents_line(self) -> str:
        here = [_client_in_words(client) for client in self.clients if client.path is not None]
        missing = ", ".join(showable(client.program) for client in self.clients if client.path is None)
        if not here:
            return f"Agents: none is on PATH ({missing}); the built-in one needs no model: gemba agents"
        startable = [name for client in self.clients if client.path is not None for name in client.types]
        line = f"Agents: {', '.join(here)}" + (f"; not on PATH: {missing}" if missing else "")
        return line + (f'\n  gemba session start --agent {startable[0]} "…" gives one work' if startable else "")

    def next_step(self) -> str:
        return self._gemba("open" if self._server_runs() else "serve")

    def _gemba(self, *words: str) -> str:
        return shlex.join(["gemba", *([] if self.folder is None else ["-C", self.folder]), *words])

    def document(self) -> dict[str, Any]:
        """All of it, for programs."""
        sources = [source.view(self.root, self.folder) for source in self.sources]
        for source, view in zip(self.sources, sources, strict=True):
            if source.name in self._imported:
                view["imported"] = self._imported[source.name].document()
        return {
            "workspace": storable(str(self.root)),
            "written": self.written,
            "repository": (self.root / ".git").exists(),
            "commit": wire.git_head(str(self.root))[0],
            "agents": [_client_view(client) for client in self.clients],
            "agents_problem": self.agents_problem,
            "sources": sources,
            "problem": None if self.problem is None else self.problem.plain,
            "next": storable(self.next_step()),
        }


def make_workspace(root: Path) -> list[str]:
    """Write what is missing of a workspace's files; their names."""
    target = root / ".gemba"
    written: list[str] = []
    template = resources.files("gemba") / "template"
    try:
        _check_inside(root, [target, *(target / entry.name for entry in template.iterdir() if entry.is_dir())])
        target.mkdir(mode=0o755, exist_ok=True)
        _copy(template, target, "", written)
    except OSError as error:
        raise Unusable(f"{error.filename or target}: {error.strerror}", code="workspace_unwritable") from None
    return written


def _check_inside(root: Path, folders: Iterable[Path]) -> None:
    """Nothing is written beyond the repository, whatever somebody has put a link to into it."""
    real = os.path.realpath(root)
    for folder in folders:
        leads = os.path.realpath(folder)
        if not Path(leads).is_relative_to(real):
            message = f"{folder} leads out of the repository, to {leads}; allowed: a folder of the repository's own"
            raise Unusable(message, code="workspace_outside")


def _root(start: Path) -> Path:
    """The repository's top, so that one workspace serves all of it; without a repository, the folder itself."""
    start = start.resolve()
    if not start.is_dir():
        raise Unusable(f"{start} is not a folder", code="no_folder")
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir():
            kept = "where git keeps a repository" if folder.name == ".git" else "a bare git repository"
            raise Unusable(
                f"{folder} is {kept}, with no files to work on: run gemba init in a checkout of it", code="no_checkout"
            )
    return start


def _ids(door: Door) -> set[str]:
    """Of every work item."""
    found: set[str] = set()
    cursor: str | None = None
    while True:
        page = door.get("/api/work-items", limit=_PAGE, cursor=cursor)
        found.update(row["id"] for row in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def _at_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _agrees(offered: list[Source]) -> bool:
    many = sum(source.new for source in offered)
    what = "it as a work item" if many == 1 else f"these {many:,} as work items"
    return click.confirm(f"Import {what}?", default=True)


def _told(source: Source) -> str:
    if source.problem is not None:
        return f"left out: {source.problem}"
    one = "issue" if source.kind == "beads" else "entry"
    many = "issues" if source.kind == "beads" else "entries"
    told = f"{source.entries:,} {one if source.entries == 1 else many}, {source.open or 'none'} open"
    if source.known:
        told += f", {source.new:,} of them new" if source.new else "; all of them are work items already"
    bad = len(source.work.bad) if source.work else 0
    return told + (f"; {bad:,} {'line' if bad == 1 else 'lines'} cannot be read" if bad else "")


def _client_in_words(client: Client) -> str:
    told = showable(client.program) + (f" {client.version}" if client.version else "")
    why_not = "; ".join(f"{name}: {reason}" for name, reason in client.why_not.items())
    return told + (f" ({showable(why_not)})" if why_not else "")


def _client_view(client: Client) -> dict[str, Any]:
    path = None if client.path is None else storable(client.path)
    return {**msgspec.to_builtins(client), "program": storable(client.program), "path": path}


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
