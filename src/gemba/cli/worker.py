"""`gemba worker`: what a server does all the time, without the server. For more machines on one database."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from gemba.app import App
from gemba.cli.log import log_options, set_up_logging
from gemba.cli.show import json_option, print_json
from gemba.config import home, open_workspace
from gemba.escalations.policy_check import checked_settings
from gemba.threads import end_soon


@click.command()
@log_options
@json_option
@click.pass_obj
def command(folder: str | None, verbose: bool, log_level: str | None, log_format: str | None, as_json: bool) -> None:
    """Run the flows of a workspace until Ctrl-C: take in frames, remind, expire, deliver. No page, no port.

    With PostgreSQL, one on each machine whose agents ask; beside a server it also takes over what that one leaves.

    \b
    Example:
      gemba worker
    """
    workspace = open_workspace(None if folder is None else Path(folder))
    settings = checked_settings(workspace)
    set_up_logging(verbose, log_level, log_format)

    def ready() -> None:
        if as_json:
            print_json({"pid": os.getpid(), "workspace": str(workspace.root)})
        else:
            click.echo(f"Working for {workspace.root}\nCtrl-C ends it.")

    with closing(App.open(workspace, settings, home())) as app:
        asyncio.run(_work(app, ready))
    end_soon()


async def _work(app: App, ready: Callable[[], None]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with app.running():
        ready()
        await ended.wait()
