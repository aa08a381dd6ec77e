"""`gemba reroute`: send a reply that did not arrive another way."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.complete import ids_of
from gemba.cli.door import act
from gemba.cli.show import json_option, tell

_TOLD = {
    "asker": "sent once more to the session that asked",
    "session": "sent to session {}, as its next turn",
    "hand": "counts as delivered: you told it yourself",
}


@click.command()
@click.argument("id", shell_complete=ids_of("escalations", delivery="undelivered"))
@click.option(
    "--to",
    type=click.Choice(list(_TOLD)),
    required=True,
    help="Once more to the asker, to another session, or nowhere: you told it by hand.",
)
@click.option("--session", metavar="ID", help="The session whose next turn it shall be; with --to session.")
@json_option
@click.pass_obj
def command(folder: str | None, id: str, to: str, session: str | None, as_json: bool) -> None:
    """Send the reply to the escalation ID, which was not delivered, another way.

    \b
    Example:
      gemba reroute 3fa9c1 --to asker
      gemba reroute 3fa9c1 --to session --session importer-2
      gemba reroute 3fa9c1 --to hand
    """
    if (to == "session") != (session is not None):
        raise click.UsageError("--to session and --session ID go together.")
    body: dict[str, Any] = {"to": to} if session is None else {"to": to, "session_id": session}
    rerouted = act(folder, "escalation", id, "reroute", body, delivery="undelivered")
    tell(rerouted, as_json, f"{rerouted['id']}: {_TOLD[to].format(session)}")
