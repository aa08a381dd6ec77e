"""`gemba inbox`: what waits for the operator, once or live; or one of them, whole."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import click

from gemba.cli.approval_found import asked_by
from gemba.cli.approval_text import asked_lines
from gemba.cli.complete import ids_of
from gemba.cli.door import Door, find_id, item_path, open_door
from gemba.cli.show import escalation_lines, json_option, labelled, print_json, short_length, width
from gemba.errors import Unusable
from gemba.text import fold

_CHANGES = ",".join(
    (
        "escalation_opened",
        *(f"escalation.{change}" for change in ("reopened", "resolved", "dismissed", "expired", "withdrawn")),
    )
)

_SETTLED = "resolved,dismissed,expired,withdrawn"
_PAUSE_SECONDS = 0.5
_LINES_OF_COMMAND = 12  # in the list; `gemba inbox ID` shows the whole


@click.command()
@click.argument("id", required=False, shell_complete=ids_of("escalations", state="unresolved"))
@click.option("-w", "--watch", is_flag=True, help="Stay, and show what comes and what is settled, until Ctrl-C.")
@click.option("-a", "--all", "everything", is_flag=True, help="Behind it what is settled, the last settled first.")
@click.option("--session", metavar="ID", help="Only what one session asked.")
@click.option("--search", metavar="WORDS", help="What is settled and has these words, the last settled first.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def command(
    folder: str | None,
    id: str | None,
    watch: bool,
    everything: bool,
    session: str | None,
    search: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show what waits for you: blocking first, oldest first within. With an ID, that one alone and whole.

    With --json one object as /api/escalations answers; with --watch one escalation a line.

    \b
    Example:
      gemba inbox
      gemba inbox 3fa9c1
      gemba inbox --watch --json | jq .text
      gemba inbox --search 'database "port 5432"'
    """
    if search is not None:
        if id is not None or watch:
            raise click.UsageError("--search goes with --session, --limit and --json alone.")
        if not search.strip():
            raise click.UsageError("--search is empty: give words that are looked for.")
        _search(folder, search, session, limit, as_json)
    elif id is not None:
        if watch or everything or session:
            raise click.UsageError("an ID goes with --json alone.")
        _show_one(folder, id, as_json)
    elif watch:
        with contextlib.suppress(KeyboardInterrupt):
            _watch(folder, everything, session, limit, as_json)
    else:
        _list(folder, everything, session, limit, as_json)


def _show_one(folder: str | None, id: str, as_json: bool) -> None:
    with open_door(folder) as door:
        item = door.get(item_path("escalations", find_id(door, "escalation", id, state="unresolved")))
        asks = None if as_json else _asks(door, item)
    if as_json:
        print_json(item)
        return
    click.echo("\n".join(escalation_lines(item, whole=True, asks=asks)))
    if item["delivery_note"]:
        click.echo(f"    ({item['delivery_note']})")
    if item["resolution"] is None:
        click.echo(f"\nAnswer with: {_ways([item])}")


def _list(folder: str | None, everything: bool, session: str | None, limit: int, as_json: bool) -> None:
    with open_door(folder) as door:
        page = _page(door, everything, session, limit)
        if as_json:
            print_json(page)
            return
        _show(door, page["escalations"])
    click.echo(_summary(page, everything, session))


def _search(folder: str | None, words: str, session: str | None, limit: int, as_json: bool) -> None:
    with open_door(folder) as door:
        page = door.get("/api/escalations", q=words, session=session, order="recent", limit=limit)
        if as_json:
            print_json(page)
            return
        _show(door, page["escalations"])
    found, total = len(page["escalations"]), page["total"]
    rest = f", the last {found} shown" if found < total else ""
    click.echo(f"{total} found{rest}." if total else "Nothing that is settled has these words.")


def _watch(folder: str | None, everything: bool, session: str | None, limit: int, as_json: bool) -> None:
    """The list, then every change. A server that ends or starts meanwhile makes no difference."""
    with open_door(folder) as door:
        page = _page(door, everything, session, limit)
        _show_changes(door, page["escalations"], as_json)
    if not as_json:
        click.echo(f"{_summary(page, everything, session)}\nWatching; Ctrl-C ends it.\n")
    seen: int = page["as_of"]
    while True:
        with open_door(folder) as door:
            try:
                with contextlib.closing(door.events(seen, _CHANGES)) as events:
                    for event in events:
                        if event.get("ref") and session in (None, event["session_id"]):
                            _show_changes(door, [door.get(item_path("escalations", event["ref"]))], as_json)
                        seen = event.get("id", seen)
            except Unusable as error:
                if error.code != "server_unreachable":
                    raise
        click.echo("gemba: the server has ended; watching without it", err=True)
        time.sleep(_PAUSE_SECONDS)  # a server that ends its streams and goes on must not be asked without end


def _page(door: Door, everything: bool, session: str | None, limit: int) -> dict[str, Any]:
    """What waits; with everything, behind it what is settled, the last first."""
    page: dict[str, Any] = door.get("/api/escalations", state="unresolved", session=session, limit=limit)
    if not everything:
        return page
    room = limit - len(page["escalations"])
    rest = door.get("/api/escalations", state=_SETTLED, session=session, order="recent", limit=max(1, room))
    both = [*page["escalations"], *rest["escalations"][:room]]
    return {**page, "escalations": both, "total": page["total"] + rest["total"], "next_cursor": None}


def _show(door: Door, items: list[dict[str, Any]]) -> None:
    length = short_length(item["id"] for item in items)
    several = _has_several(items)
    for item in items:
        lines = escalation_lines(item, length=length, asks=_asks(door, item, _LINES_OF_COMMAND))
        if several and item["resolution"] is None:
            lines += labelled("answer:", " · ".join(_ways_of(item)).replace(" ID", f" {item['id'][-length:]}"))
        click.echo("\n".join(lines) + "\n")


def _has_several(items: list[dict[str, Any]]) -> bool:
    """Whether they are answered in different ways, so that each says in which."""
    return len({way for item in items if item["resolution"] is None for way in _ways_of(item)}) > 1


def _asks(door: Door, item: dict[str, Any], most: int | None = None) -> list[str] | None:
    """What a card that asks for approval is about, from the requests themselves: their facts and the exact commands."""
    asked = asked_by(door, item["id"]) if item["kind"] == "approval" else []
    return asked_lines(asked, most) if asked else None


def _show_changes(door: Door, items: list[dict[str, Any]], as_json: bool) -> None:
    if not as_json:
        _show(door, items)
        return
    for item in items:
        print_json(item)


def _summary(page: dict[str, Any], everything: bool, session: str | None) -> str:
    items, total = page["escalations"], page["total"]
    if not total:
        nobody = "Nothing was asked yet." if everything else "Nobody waits for you."
        return f"{nobody[:-1]} in session {session}." if session else nobody
    rest = f", {len(items)} of them shown" if len(items) < total else ""
    count = f"{total} in all{rest}." if everything else f"{total} wait{'s' if total == 1 else ''} for you{rest}."
    ways = _ways([item for item in items if item["resolution"] is None])
    return "\n".join([count, *fold(f"Answer with: {ways}", width())]) if ways and not _has_several(items) else count


def _ways(items: list[dict[str, Any]]) -> str:
    """How those on the list can be answered."""
    return " · ".join(dict.fromkeys(way for item in items for way in _ways_of(item)))


def _ways_of(item: dict[str, Any]) -> Iterator[str]:
    match item["channel"]:
        case "notification":
            yield "gemba answer ID --decision yes|no|modify"
        case "system":
            yield "gemba answer ID --action ACTION"
        case _:
            if item["kind"] == "approval":
                yield "gemba approval approve|edit|refuse ID"
            elif item["options"]:
                yield "gemba answer ID --option N"
            elif item["schema"] is not None:
                yield "gemba answer ID --value JSON"
            else:
                yield "gemba answer ID TEXT"
