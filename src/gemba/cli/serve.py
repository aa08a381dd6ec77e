"""`gemba serve`: the server of a workspace, in the foreground."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click
import structlog

from gemba.api.server import Bind, serve
from gemba.api.server_file import ServerFile, lock
from gemba.app import App
from gemba.cli.log import log_options, set_up_logging
from gemba.cli.show import json_option, print_json
from gemba.config import Settings, home, open_workspace
from gemba.escalations.policy_check import checked_settings
from gemba.skills.library import read_library
from gemba.threads import end_soon

_MOST_WARNINGS = 20

log = structlog.get_logger("gemba.serve")


@click.command()
@click.option("--host", help="Address to listen on (default 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one (default 4680).")
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Certificate (PEM).")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Its key (PEM).")
@click.option("--insecure-bind", is_flag=True, help="Listen beyond loopback without TLS, knowingly.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Another name this server is reached by.")
@log_options
@json_option
@click.pass_obj
def command(
    folder: str | None,
    host: str | None,
    port: int | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    insecure_bind: bool,
    allow_host: tuple[str, ...],
    verbose: bool,
    log_level: str | None,
    log_format: str | None,
    as_json: bool,
) -> None:
    """Run the server and the page until Ctrl-C. It listens on loopback and on a private socket in .gemba/.

    \b
    Example:
      gemba serve
      gemba serve --port 0 --json
      gemba serve --log-level info --log-format json 2>gemba.log
    """
    workspace = open_workspace(None if folder is None else Path(folder))
    settings = checked_settings(workspace)
    set_up_logging(verbose, log_level, log_format)
    bind = Bind(
        host=host or settings.server.host,
        port=settings.server.port if port is None else port,
        port_is_wish=port is None and settings.server == Settings().server,
        tls_cert=tls_cert,
        tls_key=tls_key,
        allow_plain=insecure_bind,
        hosts=allow_host,
    )
    bind.check()
    with lock(workspace), closing(App.open(workspace, settings, home())) as app:
        for channel in app.policies.channels.values():
            if channel.problem is not None:
                log.warning("a channel reaches nobody", channel=channel.name, problem=channel.problem)
        _warn_of_skills(app)
        serve(app, bind, _ready_json if as_json else _ready)
    end_soon()


def _warn_of_skills(app: App) -> None:
    wrong = [each for each in read_library(app.workspace.root).findings if each.severity != "note"]
    for each in wrong[:_MOST_WARNINGS]:
        log.warning("a skill has a fault", file=each.file, line=each.line, rule=each.rule, fault=each.message)
    if len(wrong) > _MOST_WARNINGS:
        log.warning("skills have more faults: `gemba skills lint` lists them", faults=len(wrong))


def page_address(told: ServerFile, token: str) -> str:
    """The token goes behind the `#`: a browser keeps that to itself."""
    return f"{told.url}/#token={token}"


def _ready(told: ServerFile, token: str) -> None:
    click.echo(f"Gemba is at {page_address(told, token)}\nCtrl-C ends it.")


def _ready_json(told: ServerFile, token: str) -> None:
    print_json({"url": told.url, "address": page_address(told, token), "socket": told.socket, "pid": told.pid})
