"""`gemba floor`: what needs you, what runs, what is next and what it cost, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from gemba.cli.door import open_door
from gemba.cli.show import age, json_option, labelled, print_json
from gemba.cli.sprint_text import share
from gemba.cli.team_text import DONE
from gemba.text import one_line, showable

# name → (one, several, the command that shows them)
_WAYS = {
    "blocking": ("ask stops an agent", "asks stop agents", "gemba inbox"),
    "advisory": ("ask can wait", "asks can wait", "gemba inbox"),
    "approvals": ("of these is a command to approve", "of these are commands to approve", "gemba approval"),
    "proposed": ("of these wants a second person", "of these want a second person", "gemba inbox"),
    "undelivered": ("answer did not arrive", "answers did not arrive", "gemba inbox"),
    "memories": ("suggestion to remember", "suggestions to remember", "gemba memory"),
    "advice": ("consult with advice to apply", "consults with advice to apply", "gemba consult list"),
    "plans": ("team run to start", "team runs to start", "gemba team"),
}
_FIRST_STEPS = (
    'gemba-ask --kind question --role coach --text "Tea or coffee?"   an agent asks',
    'gemba session start --agent builtin "run: make test"   an agent is started',
    "gemba import beads .beads/issues.jsonl   work is taken in (or csv, or md)",
)


@click.command()
@json_option
@click.pass_obj
def command(folder: str | None, as_json: bool) -> None:
    """Show the floor: what needs you and since when, what runs, what is next and why, what today cost.

    Each part says which command shows all of it.

    \b
    Example:
      gemba floor
      gemba floor --json | jq .needs.blocking
    """
    with open_door(folder) as door:
        found = door.get("/api/floor")
    if as_json:
        print_json(found)
        return
    if found["untouched"] and not found["needs"]["total"]:
        click.echo("Nothing is here yet. To begin:\n" + "\n".join(f"    {step}" for step in _FIRST_STEPS))
        return
    for title, lines in _parts(found):
        click.echo(click.style(title, bold=True))
        click.echo("\n".join(lines) + "\n")
    since = found["phase"]["changed_at"]
    click.echo(f"The project is in {found['phase']['phase']}{f', since {age(since)}' if since else ''}: gemba phase")


def _parts(found: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    needs, running, teams, ready = found["needs"], found["running"], found["teams"], found["ready"]
    waiting = [line for name in _WAYS for line in _need(name, needs[name])]
    yield f"Needs you: {needs['total'] or 'nothing'}", waiting or ["    Nobody waits for you."]
    more = f" ({running['needs_you']} waiting for you)" if running["needs_you"] else ""
    yield f"Running: {running['total']}{more}", _sessions(running)
    if teams["total"]:
        runs = [line for run in teams["runs"] for line in _run(run)]
        yield f"Team runs: {teams['total']}", runs + _rest(teams["total"] - len(teams["runs"]), "gemba team list")
    total = f"{'more than ' if ready['more'] else ''}{ready['total']}"
    yield f"Ready: {total}", _next(ready)
    yield "Today", _cost(found["cost"])


def _need(name: str, part: dict[str, Any]) -> list[str]:
    one, several, way = _WAYS[name]
    if part["many"] == 1:
        return labelled("1", f"{one}, for {age(part['oldest_at'])}: {way}")
    return (
        labelled(str(part["many"]), f"{several}, the oldest for {age(part['oldest_at'])}: {way}")
        if part["many"]
        else []
    )


def _sessions(running: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for one in running["sessions"]:
        title = one["run"] and one["run"]["title"]
        does = title or one["note"] or running["items"].get(one["bead_id"] or "") or one["agent_type"]
        needs = "needs you, " if one["needs_you"] else ""
        state = one["reported_state"] or one["lifecycle"]
        told = f"{needs}{state} for {age(one['first_seen_at'])}" + (f": {one_line(does, 80)}" if does else "")
        lines += labelled(f"{one_line(one['id'], 40)}", told, whole=False)
    lines += _rest(running["total"] - len(running["sessions"]), "gemba session list")
    if running["failed"]:
        lines += labelled("failed within a day:", f"{running['failed']}: gemba session list")
    return lines or ["    No agent is at work: gemba session start"]


def _run(run: dict[str, Any]) -> list[str]:
    done = sum(run["states"].get(state, 0) for state in DONE)
    waits = f", {run['waits_for_you']} waiting for you" if run["waits_for_you"] else ""
    told = f"{run['state']}, {done} of {run['tasks']} done{waits}: {one_line(run['text'], 80)}"
    return labelled(run["id"], told, whole=False)


def _next(ready: dict[str, Any]) -> list[str]:
    lines = [line for hold in ready["holds"] for line in labelled("held:", f"{hold['reason']}; {hold['lifted_by']}")]
    for item in ready["items"]:
        lines += labelled(f"{item['rank']}.", f"{item['id']}  {one_line(item['title'], 80)}", whole=False)
        lines += labelled("  ", "; ".join(item["reasons"]), whole=False)
    if not ready["items"]:
        return [*lines, "    Nothing is ready: gemba ready --explain"]
    return [*lines, "    All of it, for each session: gemba next"]


def _cost(cost: dict[str, Any]) -> list[str]:
    today, sprint, advisors = cost["today"], cost["sprint"], cost["advisors"]
    lines = ["    No turn has told what it took today."]
    if today is not None:
        price = today["cost_usd_micros"]
        dollars = "" if price is None else f", {'more than ' if today['unpriced'] else ''}${price / 1_000_000:.2f}"
        turns = "1 turn" if today["turns"] == 1 else f"{today['turns']:,} turns"
        lines = labelled("used:", f"{today['tokens']:,} tokens in {turns}{dollars}: gemba usage")
    if sprint is not None:
        told = f"{share(sprint)} of {sprint['token_budget']:,} tokens: gemba sprint show {showable(sprint['id'])}"
        lines += labelled(f"{one_line(sprint['title'], 40)}:", told)
    taken = advisors["spent_dollars"] + advisors["reserved_dollars"]
    if taken:
        lines += labelled("advice:", f"${taken:.2f} of ${advisors['day_dollars']:.2f}: gemba persona list")
    for rate in cost["rates"]:
        noun = rate["name"].partition("_")[0]
        lines += labelled("within the hour:", f"{rate['taken']:,} of {rate['most']:,} {noun}")
    return lines


def _rest(many: int, way: str) -> list[str]:
    return [f"    … and {many} more: {way}"] if many > 0 else []
