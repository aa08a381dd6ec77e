"""Walks for a terminal: one in a list, the agenda, the item on the table with what is proposed, and what came of it."""

from __future__ import annotations

from typing import Any

import click

from gemba.cli.action_text import effect_of
from gemba.cli.show import age, body_lines, headline, labelled, local_time, width
from gemba.text import fold, one_line, showable

Walk = dict[str, Any]
Item = dict[str, Any]

COLOURS = {"active": "cyan", "paused": "yellow", "completed": "green", "abandoned": "bright_black"}
MARKS = {"queued": ("·", None), "active": ("▸", "cyan"), "decided": ("✓", "green"), "deferred": ("…", "yellow")}
_GONE = ("-", "bright_black")
_SOURCES = {
    "escalation": "asked",
    "team_task": "a team's task",
    "session": "a session that failed",
    "filed": "new work",
    "closed": "closed work",
    "memory": "to be remembered",
    "item": "work",
    "topic": "your topic",
}
DONE = {
    "ratify": "ratified",
    "modify": "changed and done",
    "reject": "rejected",
    "defer": "deferred",
    "handoff": "handed off",
}
_LONGEST_SUMMARY = 12  # lines
_MOST_REFS = 4


def active_item(walk: Walk) -> Item | None:
    """What is on the table."""
    return next((item for item in walk["agenda"] if item["id"] == walk["active_item"]), None)


def to_go(walk: Walk) -> int:
    """How many wait to be looked at; what was put off does not."""
    return sum(item["status"] in ("queued", "active") for item in walk["agenda"])


def lines_of_list(walk: Walk, id: str) -> list[str]:
    left = f"{walk['left']} of {walk['items']} left"
    facts = [walk["label"], left, walk["started_by"], f"{age(walk['started_at'])} ago"]
    return headline(walk["status"], COLOURS[walk["status"]], id, facts)


def lines_of_one(walk: Walk, *, with_transcript: bool = False) -> list[str]:
    """A walk whole: where it stands, its agenda, and what is on the table or came of it."""
    facts = [walk["label"], walk["started_by"], f"begun {local_time(walk['started_at'])}"]
    lines = headline(walk["status"], COLOURS[walk["status"]], walk["id"], facts)
    lines += ["", *agenda_lines(walk)] if walk["agenda"] else labelled("agenda:", "nothing")
    if with_transcript:
        lines += ["", *(line for said in walk["transcript"] for line in said_lines(said))]
    if walk["summary"] is not None:
        return [*lines, "", *fold(walk["summary"], width())]
    item = active_item(walk)
    if item is not None and walk["status"] in ("active", "paused"):
        lines += ["", *item_lines(walk, item)]
    return [*lines, "", *totals_lines(walk["totals"])]


def ended_lines(walk: Walk) -> list[str]:
    """What came of a walk that is over; its summary has the agenda."""
    facts = [walk["label"], walk["started_by"], f"begun {local_time(walk['started_at'])}"]
    return [*headline(walk["status"], COLOURS[walk["status"]], walk["id"], facts), "", *fold(walk["summary"], width())]


def agenda_lines(walk: Walk) -> list[str]:
    """Each item on one line, with the number by which commands know it."""
    wide = len(str(len(walk["agenda"])))
    return [_agenda_line(number, item, wide) for number, item in enumerate(walk["agenda"], 1)]


def _agenda_line(number: int, item: Item, wide: int) -> str:
    mark, colour = MARKS.get(item["status"], _GONE)
    how = f"  ({decided(item)})" if item["decision"] is not None else ""
    how = "  (settled elsewhere)" if item["settled"] or item["status"] == "dismissed" else how
    room = width() - wide - 4
    topic = one_line(item["topic"], max(20, room - len(how)))
    return f"{number:>{wide}}  {click.style(mark, fg=colour)} {topic}{click.style(how, fg='bright_black')}"


def decided(item: Item) -> str:
    """What was decided of an item, in a few words."""
    decision = item["decision"]
    to = f" to {showable(decision['persona_id'])}" if decision["persona_id"] else ""
    until = f" until {_until(decision['until'])}" if decision["until"] else ""
    is_no = decision["action"] is not None and decision["action"]["body"].get("decision") == "no"
    return f"{'refused' if is_no else DONE[decision['kind']]}{to}{until}"


def _until(moment: str) -> str:
    return showable(moment) if moment == "backlog" else local_time(moment)


def item_lines(walk: Walk, item: Item, selected: int = 1, asked: list[str] | None = None) -> list[str]:
    """The item on the table: how far the walk is, what it is about, and what is proposed. `asked`: what is asked in
    full, in the place of the summary."""
    number = next(place for place, each in enumerate(walk["agenda"], 1) if each["id"] == item["id"])
    source = item["source"]
    whose = f" by {one_line(source['worker'], 30)}" if source["worker"] else ""
    about = f"{_SOURCES.get(source['kind'], source['kind'])}{whose}, {age(item['since'])} ago"
    lines = [_rule(f"{number} of {len(walk['agenda'])} · {to_go(walk)} to go", about)]
    framing = item["framing"]
    sentence = item["topic"] if framing is None else framing["sentence"]
    lines += [click.style(line, bold=True) for line in fold(sentence, width())]
    if item["settled"]:
        lines += [click.style(line, fg="yellow") for line in labelled("settled elsewhere:", item["settled"])]
    if asked:
        lines += asked
    elif framing is not None and framing["summary"]:
        lines += body_lines(framing["summary"], _LONGEST_SUMMARY)
    if item["decision"] is not None:
        lines += labelled("so far:", decided(item))
    return lines if framing is None else [*lines, "", *action_lines(item, selected)]


def action_lines(item: Item, selected: int = 1) -> list[str]:
    """What is proposed, each with its number and, where it is no reply, what it does."""
    lines: list[str] = []
    for number, action in enumerate(item["framing"]["actions"], 1):
        chosen = number == selected
        first, *rest = fold(action["label"], width() - 6) or [""]
        mark = click.style("▸", fg="cyan") if chosen else " "
        lines += [f"  {mark} {number} {click.style(first, bold=chosen or None)}", *(f"      {line}" for line in rest)]
        if item["source"]["kind"] != "escalation":
            lines.append(click.style(f"      {one_line(effect_of(action), width() - 6)}", fg="bright_black"))
    return lines


def _rule(left: str, right: str) -> str:
    room = width() - len(left) - 8
    right = one_line(right, max(10, room))
    line = "─" * max(2, room - len(right))
    return f"── {click.style(left, fg='cyan', bold=True)} {line} {right} ──"


def totals_lines(totals: dict[str, Any]) -> list[str]:
    """What came of it so far, in a line or two."""
    kinds = ", ".join(f"{totals['decisions'][kind]} {DONE[kind]}" for kind in DONE if totals["decisions"].get(kind))
    facts = [
        f"{totals['decided']} of {totals['items']} decided" + (f" ({kinds})" if kinds else ""),
        f"{totals['deferred']} put off" if totals["deferred"] else None,
        f"{totals['dismissed']} settled elsewhere" if totals["dismissed"] else None,
        f"{totals['applied']} action{'' if totals['applied'] == 1 else 's'} done",
        f"work changed: {', '.join(totals['work_touched'][:5])}" if totals["work_touched"] else None,
        f"{totals['consults']} consults, {_cost(totals['dollars'])}" if totals["consults"] else None,
        _span(totals["seconds"]),
    ]
    return fold(" · ".join(fact for fact in facts if fact), width())


def _cost(dollars: float | None) -> str:
    return "cost unknown" if dollars is None else f"${dollars:.2f}"


def _span(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def said_lines(said: dict[str, Any]) -> list[str]:
    """A line of the transcript: who, and what."""
    who = {"manager": "PM", "walk": "walk"}.get(said["speaker"], said["who"] or "you")
    return labelled(click.unstyle(f"{one_line(who, 20)}:"), said["text"])


def comment_lines(one: dict[str, Any], ref: str) -> list[str]:
    """What a persona said of a thing: its sentence, then what that rests on, with links to all but the thing itself."""
    mark = "" if one["status"] == "completed" else one["status"]
    lines = headline(mark, "yellow", showable(one["persona_name"]), [one["model"]])
    lines += labelled("=>", one["summary"]) if one["summary"] else []
    told = [(finding["text"], [each for each in finding["refs"] if each != ref]) for finding in one["findings"]]
    for text, refs in told:
        if refs or len(told) > 1:  # what one finding says of the thing alone is in the sentence
            lines += labelled("-", f"{text} [{', '.join(refs[:_MOST_REFS])}]" if refs else text)
    return [*lines, *labelled("error:", one["error"])] if one["error"] else lines


def asked_lines(asked: dict[str, Any]) -> list[str]:
    """Who was asked for a perspective, and who was not."""
    names = ", ".join(one["persona_id"] for one in asked["consults"]) or "nobody"
    lines = labelled("asked:", names)
    for one in asked["skipped"]:
        lines += labelled(f"not {showable(one['persona_id'])}:", one["reason"])
    return lines


def hint_line(hint: dict[str, Any]) -> str:
    """What waits, and whether a walk is worth it."""
    if not hint["waiting"]:
        return "Nobody waits for you."
    waits = f"{hint['waiting']} wait{'s' if hint['waiting'] == 1 else ''} for you, {hint['blocking']} blocking."
    return f"{waits} {showable(hint['reason'])}: a walk is worth it." if hint["offer"] else waits
