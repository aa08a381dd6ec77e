"""What `gemba session` says of a session: its lines in a list, its details, and what is only in its worktree."""

from __future__ import annotations

import signal
from typing import Any

from gemba.cli.show import age, headline, labelled, local_time
from gemba.text import showable

_COLOURS = {"running": "green", "starting": "yellow", "failed": "red", "lost": "red"}


def session_lines(item: dict[str, Any]) -> list[str]:
    state, run = item["lifecycle"], item["run"]
    says = item["reported_state"] if state in ("starting", "running") else None
    facts = [item["agent_type"], says, _needs(item), item["bead_id"], _ages(item), _used(item)]
    lines = headline(state, _COLOURS.get(state), item["id"], facts)
    if run and run["title"]:
        lines += labelled("task:", run["title"], whole=False)
    if run and run["branch"]:
        lines += labelled("branch:", ", ".join([run["branch"], *_unsaved(run)]), whole=False)
    return lines


def _needs(item: dict[str, Any]) -> str | None:
    """Whether somebody is wanted, and for how much: gemba inbox has it."""
    if not item["waiting"]:
        return "needs you" if item["needs_you"] else None
    asks = "1 ask waits" if item["waiting"] == 1 else f"{item['waiting']} asks wait"
    return f"needs you: {asks}" if item["needs_you"] else asks


def _ages(item: dict[str, Any]) -> str:
    return f"{age(item['first_seen_at'])} old, heard of {age(item['last_frame_at'])} ago"


def _used(item: dict[str, Any]) -> str | None:
    """Tokens in and out, and dollars; a dash for what is not known."""
    usage = item["usage"]
    if usage is None:
        return None
    cost = "-" if usage["cost_usd_micros"] is None else f"${usage['cost_usd_micros'] / 1_000_000:.2f}"
    return f"{_count(usage['tokens_in'])} in, {_count(usage['tokens_out'])} out, {cost}"


def _count(tokens: int | None) -> str:
    return "-" if tokens is None else f"{tokens:,}"


def _unsaved(run: dict[str, Any]) -> list[str]:
    """What was only in the worktree when it was looked at last."""
    if (seen := run["unsaved"]) is None:
        return []
    told = [f"{_many(seen['dirty'], 'file')} not committed"] if seen["dirty"] else []
    told += [f"{_many(seen['unmerged'], 'commit')} not merged"] if seen["unmerged"] else []
    return told or ["nothing that is only there"]


def only_there(tree: dict[str, Any]) -> list[str]:
    """Exactly what would be lost with a worktree."""
    lines = [f"only in {tree['path']}:"]
    for names, total, what in (
        (tree["files"], tree["dirty"], "file"),
        (tree["commits"], tree["unmerged"] or 0, "commit"),
    ):
        if total:
            state = "not committed" if what == "file" else f"not merged into {tree['base_branch'] or 'HEAD'}"
            more = [f"  … and {total - len(names)} more"] if total > len(names) else []
            lines += [f"{_many(total, what)} {state}:", *(f"  {name}" for name in names), *more]
    return [" ".join(showable(line).splitlines()) for line in lines]


def left(run: dict[str, Any]) -> list[str]:
    """What stays of a worktree that was released."""
    told = [f"its branch {run['branch']} stays"] if run["branch"] else []
    return told + ([f"what was not committed is kept as {run['kept_as']}"] if run["kept_as"] else [])


def session_details(item: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    run = item["run"]
    if run is None:
        return labelled("used:", _used(item) or "-") + labelled("run:", "somebody else started it")
    for label, name in (
        ("folder:", "folder"),
        ("dispatch:", "dispatch_id"),
        ("trouble:", "trouble"),
    ):
        if run[name]:
            lines += labelled(label, run[name])
    lines += labelled("used:", _used(item) or "-")
    if run["started_at"]:
        lines += labelled("started:", f"{local_time(run['started_at'])}, by {run['started_by']}")
    if run["unsaved"]:
        lines += labelled("worktree:", f"{', '.join(_unsaved(run))}; seen {age(run['unsaved']['seen_at'])} ago")
    if run["released_at"]:
        lines += labelled("worktree:", "; ".join([f"released {local_time(run['released_at'])}", *left(run)]))
    if run["cleared_at"]:
        lines += labelled("printed:", f"gone since {local_time(run['cleared_at'])}")
    if run["ended_at"]:
        lines += labelled("ended:", f"{local_time(run['ended_at'])}, {_ending(item)}")
    return lines


def _ending(item: dict[str, Any]) -> str:
    run, reason = item["run"], (item["close_reason"] or "").replace("_", " ")
    if run["signal"] is not None:
        return f"{reason}, by {signal.Signals(run['signal']).name}"
    return reason if run["code"] is None else f"{reason}, with code {run['code']}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
