"""`gemba consult`: ask a persona for advice, see its lines as they are judged, and apply them."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from gemba import typed
from gemba.cli.action_text import done_by, effect_of
from gemba.cli.complete import ids_of
from gemba.cli.consult_text import lines_of_list, lines_of_one
from gemba.cli.door import Door, act, find_id, item_path, open_door
from gemba.cli.handoff_text import read_bounded, shown_name
from gemba.cli.show import body_lines, json_option, or_else, print_items, print_json, tell
from gemba.text import showable
from gemba.toml import nearest

_LARGEST = 64 * 2**20
_BOARD = "/api/skills/epic_order/input"
_STATUSES = ("prepared", "running", "completed", "failed", "timed_out", "cancelled", "closed")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Ask a persona for advice, and apply what it suggests, line by line.

    Nothing is changed by a consult itself: each line that suggests something is applied by you, once. Without a command
    it is `list`.

    \b
    Example:
      gemba consult start
      gemba consult show 3fa9c1
      gemba consult apply 3fa9c1 1
    """
    or_else(ctx, show_list, as_json)


@command.command(short_help="Ask a persona for advice.")
@click.option("--persona", default="project-manager", show_default=True, help="Whom to ask; see `gemba persona`.")
@click.option("--skill", default="epic_order", show_default=True, help="What to ask for.")
@click.option(
    "--input",
    "given_in",
    metavar="FILE",
    help="The skill's input, as JSON; `-`: standard input. [epic_order: the board]",
)
@click.option("--guidance", metavar="WORDS", help="What it should mind.")
@click.option("--agent", metavar="TYPE", help="Which type of agent answers; see `gemba agents`.")
@click.option("--repository", metavar="NAME", help="For a persona whose scope is any.")
@click.option("--dry-run", is_flag=True, help="Make the prompt, and nothing else; it costs nothing.")
@json_option
@click.pass_obj
def start(folder: str | None, /, given_in: str | None, dry_run: bool, as_json: bool, **asked: str | None) -> None:
    """Ask a persona for one skill. Without --input, epic_order gets the epics of the board that are to be done.

    Where no model is at hand, epic_order, team_plan, perspective and walk_summary are answered by the built-in advisor;
    the other skills need one.

    \b
    Example:
      gemba consult start --guidance "billing first"
      gemba consult start --skill ask --input question.json --agent claude
      gemba consult start --dry-run
    """
    with open_door(folder) as door:
        if given_in is None and asked["skill"] != "epic_order":
            _refuse_unknown(door, asked["skill"] or "")
            raise click.UsageError(
                f"--input is needed: a FILE with the input of {asked['skill']}, or - for standard input."
            )
        given = door.get(_BOARD) if given_in is None else _from_file(given_in)
        body = {
            "persona_id": asked["persona"],
            "skill_id": asked["skill"],
            "raw_input": given,
            "spawn": not dry_run,
            "guidance": asked["guidance"],
            "agent_type": asked["agent"],
            "repository": asked["repository"],
        }
        made = door.post("/api/consults", {name: value for name, value in body.items() if value is not None})
        if not as_json:
            made = door.get(item_path("consults", made["id"]))
    if dry_run and not as_json:
        click.echo("\n".join([*body_lines(made["composed"]["text"]), ""]))
    tell(made, as_json, f"{made['status']} {made['id']}: gemba consult show {made['id']}")


def _refuse_unknown(door: Door, skill: str) -> None:
    known = [found["id"] for found in door.get("/api/skills")["skills"]]
    if skill not in known:
        raise click.UsageError(f"there is no skill {showable(skill)}{nearest(skill, known)}.".replace("?.", "?"))


@command.command("list", short_help="List consults, newest first.")
@click.option("--status", metavar="LIST", help=f"Only these, as a comma list: {', '.join(_STATUSES)}.")
@click.option("--persona", help="Only of this persona.")
@click.option("--skill", help="Only of this skill.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most this many.")
@json_option
@click.pass_obj
def show_list(
    folder: str | None,
    status: str | None = None,
    persona: str | None = None,
    skill: str | None = None,
    limit: int = 20,
    as_json: bool = False,
) -> None:
    """List consults: who was asked for what, how it ended, what it took.

    \b
    Example:
      gemba consult list --status running,completed --json
    """
    with open_door(folder) as door:
        page = door.get("/api/consults", status=status, persona_id=persona, skill_id=skill, limit=limit)
    if as_json:
        print_json(page)
        return
    print_items(page["consults"], lines_of_list)
    rest = f", the newest {len(page['consults'])} shown" if len(page["consults"]) < page["total"] else ""
    click.echo(f"{page['total']} in all{rest}." if page["total"] else "None yet. Ask with: gemba consult start")


@command.command(short_help="Show one with its lines.")
@click.argument("id", shell_complete=ids_of("consults"))
@click.option("--prompt", is_flag=True, help="Also what the persona was told.")
@json_option
@click.pass_obj
def show(folder: str | None, id: str, prompt: bool, as_json: bool) -> None:
    """Show the consult ID: its lines with their numbers, those that were refused, and what was applied.

    \b
    Example:
      gemba consult show 3fa9c1 --prompt
    """
    with open_door(folder) as door:
        found = door.get(item_path("consults", find_id(door, "consult", id)))
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(lines_of_one(found, prompt)))


@command.command(short_help="Carry out what a line suggests.")
@click.argument("id", shell_complete=ids_of("consults", status="running,completed"))
@click.argument("line", type=click.IntRange(0))
@click.option("--record-only", is_flag=True, help="Only record it: you did it by hand.")
@json_option
@click.pass_obj
def apply(folder: str | None, id: str, line: int, record_only: bool, as_json: bool) -> None:
    """Carry out what LINE of the consult ID suggests, once; `gemba consult show` has the numbers.

    \b
    Example:
      gemba consult apply 3fa9c1 1
    """
    done = act(folder, "consult", id, f"apply/{line}", {"record_only": record_only})
    action = done["line"]["suggested_action"]
    verb = "applied" if done["outcome"]["executed"] else "recorded"
    answer = done["outcome"]["answer"]
    title = answer.get("title") if isinstance(answer, dict) else None
    words = effect_of(action) if record_only else done_by(action, title)
    tell(done, as_json, f"{verb} {line} of {done['consult_id']}: {words}")


@command.command("take-back", short_help="Undo what an applied line did.")
@click.argument("id", shell_complete=ids_of("consults", status="running,completed"))
@click.argument("line", type=click.IntRange(0))
@json_option
@click.pass_obj
def take_back(folder: str | None, id: str, line: int, as_json: bool) -> None:
    """Undo what LINE of the consult ID did when it was applied; it can be applied again. What somebody changed since
    stays as it is.

    \b
    Example:
      gemba consult take-back 3fa9c1 1
    """
    done = act(folder, "consult", id, f"take-back/{line}", {})
    tell(done, as_json, f"took back {line} of {done['consult_id']}")


@command.command(short_help="Stop one that runs.")
@click.argument("id", shell_complete=ids_of("consults", status="running,prepared"))
@json_option
@click.pass_obj
def cancel(folder: str | None, id: str, as_json: bool) -> None:
    """Stop the consult ID and its session. The lines that came stay readable.

    \b
    Example:
      gemba consult cancel 3fa9c1
    """
    done = act(folder, "consult", id, "cancel", {}, status="running")
    tell(done, as_json, f"cancelled {done['id']}")


@command.command(short_help="Say that no more of it is applied.")
@click.argument("id", shell_complete=ids_of("consults", status="completed,prepared"))
@json_option
@click.pass_obj
def close(folder: str | None, id: str, as_json: bool) -> None:
    """Close the consult ID: nothing of it can be applied any more. It stays readable.

    \b
    Example:
      gemba consult close 3fa9c1
    """
    done = act(folder, "consult", id, "close", {}, status="completed")
    tell(done, as_json, f"closed {done['id']}")


def _from_file(name: str) -> dict[str, Any]:
    data = read_bounded(name, _LARGEST)
    try:
        return typed.decode(data, dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise click.UsageError(f"--input {shown_name(name)} is no JSON object: {error}") from None
