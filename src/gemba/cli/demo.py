"""`gemba demo`: the whole loop in a minute, in a temporary workspace with built-in agents. Leaves nothing behind."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import click

from gemba.api.server import Bind, serve
from gemba.api.server_file import ServerFile, lock
from gemba.app import App
from gemba.cli.init import make_workspace
from gemba.cli.log import set_up_logging
from gemba.cli.serve import page_address
from gemba.cli.show import json_option, print_json
from gemba.config import Settings, Workspace
from gemba.demo.crew import Crew, session_of
from gemba.demo.floor import Floor, make_floor
from gemba.demo.past import write_dispatches, write_earlier, write_past
from gemba.demo.planned import load_work, write_finished, write_work
from gemba.demo.story import load_project, load_stories
from gemba.demo.team import begin_team, end_sessions
from gemba.errors import Unusable
from gemba.escalations.policy_check import checked_settings
from gemba.text import showable

_PATIENCE_SECONDS, _GLANCE_SECONDS = 10.0, 0.05
_WELCOME = """\
Gemba demo: agents work on a small project, and most of them wait for you.

  The page     {address}
  Or here      export GEMBA_HOME={home}
               {gemba} -C {workspace} inbox
               {gemba} -C {workspace} answer ID TEXT
               {gemba} -C {workspace} approval approve ID
               {gemba} -C {workspace} consult start    in which order to take on what is planned
               {gemba} -C {workspace} consult apply ID LINE
               {gemba} -C {workspace} team             a team run, and what it waits for

  Answer something and watch what its agent says next. On the page, ? shows the keys.
  Teams shows a run that works beside them: soon one of its tasks misses its gate, and asks you.
  Ctrl-C ends the demo and removes everything it has made.
"""


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one (default 4680).")
@click.option("--pace", type=click.FloatRange(0.1, 1000), default=1.0, show_default=True, help="How fast agents work.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another number tells the stories differently.")
@click.option("--no-agents", is_flag=True, help="Only the workspace and what was asked in it before; no team run.")
@json_option
@click.pass_obj
def command(folder: str | None, port: int | None, pace: float, seed: int, no_agents: bool, as_json: bool) -> None:
    """Try Gemba without an agent or a key of your own: built-in agents ask, wait, and go on with your answer; a team
    run changes the project's code, and its gates judge it.

    It works in a temporary folder and removes it in the end. With --json it prints one object that says where it
    is, then one a line that an agent says.

    \b
    Example:
      gemba demo
      gemba demo --pace 3
    """
    if folder is not None:
        raise click.UsageError("the demo makes a workspace of its own: leave -C out")
    # Somebody's own database, session or repository is none of the demo's business.
    for name in [name for name in os.environ if name.startswith(("GEMBA_", "GIT_"))]:
        del os.environ[name]
    set_up_logging()
    ending = Ending()
    with temporary_floor(ending) as floor:
        run(floor, ending, Screen(as_json), bind_to(port), Tempo(pace, seed, not no_agents))


def run(floor: Floor, ending: Ending, screen: Screen, bind: Bind, tempo: Tempo) -> None:
    """Make the workspace and its past, then serve it with its agents until a signal comes."""
    stories, project, work = load_stories(), load_project(), load_work()
    make_floor(floor, project.commit, stories.values())
    os.environ["TMPDIR"] = str(floor.scratch)  # what agents leave there when they are ended goes with the rest
    make_workspace(floor.workspace)
    workspace = Workspace(floor.workspace)
    for name, text in project.settings.items():
        with (workspace.folder / name).open("a") as settings:
            settings.write(text.replace("{python}", shlex.quote(sys.executable)))
    earlier, sessions = ({name: session_of(floor, story, life) for name, story in stories.items()} for life in (0, 1))
    write_finished(work.item, earlier)
    write_earlier(earlier.values())
    left = write_past(sessions.values())
    crew = Crew(floor, pace=tempo.pace, seed=tempo.seed, tell=screen.tell)

    def ready(told: ServerFile, token: str) -> None:
        screen.welcome(floor, page_address(told, token))
        if tempo.agents:
            crew.start(stories.values(), left, dispatches)

    with lock(workspace), closing(App.open(workspace, checked_settings(workspace), floor.home)) as app:
        app.is_demo = tempo.agents
        write_work(app, work, sessions)
        dispatches = write_dispatches(app, sessions.values())
        if tempo.agents and shutil.which("git"):  # its tasks work in branches
            begin_team(app)
        try:
            serve(app, bind, ready)
        finally:
            ending.hold()
            crew.stop()
            end_sessions(app)


class Tempo(NamedTuple):
    """How the agents live, if they do."""

    pace: float
    seed: int
    agents: bool


class Ending:
    """What Ctrl-C, SIGTERM and a closed terminal do: end the demo with exit 0, but never while they are held.

    They are held at first, and while everything is cleaned up. While the server runs it has the signals itself.
    """

    def __init__(self) -> None:
        self._held = True
        self._asked_for = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)

    def hold(self) -> None:
        self._held = True

    def release(self) -> None:
        self._held = False
        if self._asked_for:
            sys.exit(0)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._asked_for = True
        if not self._held:
            self._held = True
            sys.exit(0)


class Screen:
    """The demo's stdout. When nobody can read it any more, the demo ends."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()
        self._lost = False

    def welcome(self, floor: Floor, address: str) -> None:
        if self._as_json:
            self._show({"address": address, "workspace": str(floor.workspace), "home": str(floor.home)})
        else:
            places = {"workspace": shlex.quote(str(floor.workspace)), "home": shlex.quote(str(floor.home))}
            self._show(_WELCOME.format(address=address, gemba=_own_name(), **places))

    def tell(self, name: str, line: str) -> None:
        """One line of an agent; whatever is in it, it cannot drive the terminal."""
        if self._as_json:
            self._show({"agent": name, "text": line})
        else:
            self._show(f"{click.style(f'{name:>9}', bold=True)} │ {showable(line)}")

    def _show(self, what: str | dict[str, str]) -> None:
        with self._lock:
            if self._lost:
                return
            try:
                if isinstance(what, str):
                    click.echo(what)
                else:
                    print_json(what)
            except OSError:
                self._lost = True
                # What is still buffered goes nowhere, instead of failing once more at exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), sys.stdout.fileno())
                os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def temporary_floor(ending: Ending) -> Iterator[Floor]:
    """A folder of its own, removed with all that is in it. No signal falls between its making and its removal."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="gemba-demo-")).resolve()
    except OSError as error:
        raise Unusable(f"{error.filename}: {error.strerror}", code="folder_unusable") from None
    try:
        ending.release()
        yield Floor(folder)
    except OSError as error:
        raise Unusable(f"{error.filename or folder}: {error.strerror}", code="folder_unusable") from None
    finally:
        ending.hold()
        _remove(folder)


def _remove(folder: Path) -> None:
    """All of it; what something that just ends still writes into it is removed as well."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_GLANCE_SECONDS if folder.exists() else 0)


def bind_to(port: int | None) -> Bind:
    """Loopback; without a wish of the user's own another port will do as well."""
    return Bind(host="127.0.0.1", port=Settings().server.port if port is None else port, port_is_wish=port is None)


def _own_name() -> str:
    """`gemba` if that is what a shell would find, else the path by which this was called."""
    found = shutil.which("gemba")
    return "gemba" if found and Path(found).resolve() == Path(sys.argv[0]).resolve() else shlex.quote(sys.argv[0])
