"""`gemba open`: the page of the running server, signed in."""

from __future__ import annotations

import html
import os
import sys
import webbrowser
from pathlib import Path

import click

from gemba.api.server_file import read_server_file
from gemba.cli.door import acting_operator, server_socket
from gemba.cli.serve import page_address
from gemba.cli.show import json_option, print_json
from gemba.config import Workspace, open_workspace
from gemba.errors import Unusable
from gemba.operators import read_token


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the address and open nothing.")
@json_option
@click.pass_obj
def command(folder: str | None, only_print: bool, as_json: bool) -> None:
    """Open the page in your browser, and print its address (it holds your token: keep it to yourself).

    \b
    Example:
      gemba open --print
    """
    workspace = open_workspace(None if folder is None else Path(folder))
    told = read_server_file(workspace)
    if told is None or server_socket(workspace) is None:
        raise Unusable("no server runs for this workspace; `gemba serve` starts one", code="not_running")
    _, token = acting_operator(workspace)
    address = page_address(told, token or read_token(workspace.token_file))
    if as_json:
        print_json({"address": address, "url": told.url})
        return
    click.echo(address)
    if not only_print and sys.stdout.isatty():
        webbrowser.open(_doorstep(workspace, address).as_uri())


def _doorstep(workspace: Workspace, address: str) -> Path:
    """A private file that leads to the page: given to the browser itself, the token would stand in its argv."""
    file = workspace.folder / "open.html"
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        quoted = html.escape(address, quote=True)
        stream.write(
            f'<!doctype html><meta http-equiv="refresh" content="0;url={quoted}"><a href="{quoted}">Gemba</a>\n'
        )
    return file
