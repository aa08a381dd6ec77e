"""`gemba policy`: what happens to what nobody answers, what is wrong with it, and whether a channel reaches anybody.

Reads the settings itself: it needs neither a server nor the database, and says what the file means now. A running
server has read it when it started.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from gemba.cli.show import json_option, labelled, or_else, print_json, print_table
from gemba.config import ChannelSettings, Finding, Settings, Workspace, fitting_settings, open_workspace
from gemba.errors import Invalid, NotFound
from gemba.escalations.policy_check import checked_settings
from gemba.text import one_line, showable
from gemba.toml import Place, line_of, nearest, places, quoted

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from gemba.escalations.policy import Policies
    from gemba.escalations.policy_view import ChannelView, PolicyList, PolicyView

_TITLE = "Gemba: a test"
_BODY = "This is a test of the channel {name}. If you can read it, notifications of waiting questions reach you here."


class _Named(click.ParamType[str]):
    """A channel's name, completed from the file."""

    name = "channel"

    def shell_complete(self, ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            settings = checked_settings(_workspace(ctx.find_root().params.get("workspace")))
        except Exception:  # noqa: BLE001 - whatever is wrong, a shell's prompt is no place to say it
            return []
        return [CompletionItem(name) for name in settings.channels if name.startswith(incomplete)]


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show, check and test the policies: who is reminded when nobody answers, what expires, what an answer must pass.

    They stand in .gemba/workspace.toml; `gemba init` writes one with an example. Without a command it is `show`.

    \b
    Example:
      gemba policy
      gemba policy check
      gemba policy test phone
    """
    or_else(ctx, show, as_json)


@command.command(short_help="Show every policy and channel.")
@json_option
@click.pass_obj
def show(folder: str | None, as_json: bool) -> None:
    """Show every policy and channel, in the order in which they are tried.

    \b
    Example:
      gemba policy show
    """
    from gemba.escalations.policy_view import policies_view

    view = policies_view(_open(folder)[1])
    if as_json:
        print_json(view)
    else:
        _show(view)


@command.command(short_help="List everything that is wrong with them.")
@json_option
@click.pass_obj
def check(folder: str | None, as_json: bool) -> None:
    """List everything that is wrong with the settings, and what they name and cannot be used; exit 1 if there is any.

    Warnings tell what does less than it seems to, such as a second person where there is one operator; they are no
    fault.

    \b
    Example:
      gemba policy check --json
    """
    workspace = _workspace(folder)
    findings, warnings = find(workspace), warn(workspace)
    if as_json:
        print_json(
            {"file": str(workspace.settings_file), "ok": not findings, "findings": findings, "warnings": warnings}
        )
    else:
        for finding in warnings:
            click.echo(showable(f"{workspace.settings_file}:{finding.line}: warning: {finding.message}"))
        for finding in findings:
            click.echo(showable(f"{workspace.settings_file}:{finding.line}: {finding.message}"))
        if not findings:
            click.echo(f"{showable(str(workspace.settings_file))}: nothing is wrong")
    sys.exit(1 if findings else 0)


@command.command(short_help="Send a test notification.")
@click.argument("channel", type=_Named())
@json_option
@click.pass_obj
def test(folder: str | None, channel: str, as_json: bool) -> None:
    """Send a test notification to CHANNEL, or to everybody in that group; exit 1 if somebody was not reached.

    \b
    Example:
      gemba policy test phone
    """
    from gemba.escalations.notify import Sent, send

    policies = _open(folder)[1]
    if channel not in policies.channels:
        raise NotFound(f"no channel is called {quoted(channel)}{nearest(channel, policies.channels)}", code="not_found")
    targets = policies.urls([channel])
    only_page = targets.to_page and not targets.urls
    sent = Sent(True) if only_page else send(targets.urls, _TITLE, _BODY.format(name=channel))
    if as_json:
        print_json({"channel": channel, **msgspec.to_builtins(sent)})
    elif only_page:
        click.echo("page: shown by every page that is open; there is nothing to send")
    elif sent.reached:
        click.echo(f"sent to {', '.join(sent.reached)}: look whether it arrived")
    if not sent.ok and not as_json:
        click.echo(f"gemba: {showable(sent.problem or '')}", err=True)
    sys.exit(0 if sent.ok else 1)


def find(workspace: Workspace) -> list[Finding]:
    """Everything that is wrong: in the file, and with what it names, as things are."""
    faults: list[Finding] = []
    try:
        settings: Settings | None = checked_settings(workspace)
    except Invalid as error:
        faults = error.extra["findings"]
        settings = fitting_settings(workspace.settings_file.read_bytes())
    if settings is None:
        return faults
    told = {finding.line for finding in faults}
    unusable = [found for found in _placed(workspace, _unusable(settings, workspace)) if found.line not in told]
    return sorted(faults + unusable, key=lambda finding: finding.line)


def warn(workspace: Workspace) -> list[Finding]:
    """What does less than it seems to, in a file with nothing wrong in it."""
    from gemba.escalations.policy_check import warnings
    from gemba.operators import list_operators

    try:
        settings = checked_settings(workspace)
    except Invalid:
        return []
    operators = 1 + sum(listed.problem is None for listed in list_operators(workspace.operators_folder))
    found = [
        (place, f"policy {quoted(settings.policy[int(place[1])].name)}: {words}")
        for place, words in warnings(settings, operators)
    ]
    return _placed(workspace, found)


def _unusable(settings: Settings, workspace: Workspace) -> Iterator[tuple[Place, str]]:
    """Channels that reach nobody and checks that cannot be run, where they stand."""
    from gemba.escalations.notify import open_policies, problem_of

    for name, channel in open_policies(settings, workspace).channels.items():
        given = settings.channels.get(name, ChannelSettings())
        keys = [key for key in ("url", "url_env", "url_file") if getattr(given, key) is not None]
        problem = problem_of(channel) if len(keys) == 1 else None
        if problem is not None:
            yield ("channels", name, keys[0]), f"channel {quoted(name)}: {problem}"
    for number, policy in enumerate(settings.policy):
        check = policy.verify.check if policy.verify is not None else None
        if check and not _can_run(check[0], workspace.root):
            place = ("policy", number, "verify", "check")
            yield place, f"policy {quoted(policy.name)}: verify: {quoted(check[0])} cannot be run"


def _placed(workspace: Workspace, found: Iterable[tuple[Place, str]]) -> list[Finding]:
    lines = places(workspace.settings_file.read_text()) if (told := list(found)) else {}
    return [Finding(line_of(place, lines), message) for place, message in told]


def _can_run(program: str, root: Path) -> bool:
    """Whether a check's command is there, as it is found when it runs: in the workspace."""
    return "\0" not in program and shutil.which(str(root / program) if "/" in program else program) is not None


def _workspace(folder: str | None) -> Workspace:
    return open_workspace(None if folder is None else Path(folder))


def _open(folder: str | None) -> tuple[Workspace, Policies]:
    from gemba.escalations.notify import open_policies

    workspace = _workspace(folder)
    return workspace, open_policies(checked_settings(workspace), workspace)


# ---- for people ------------------------------------------------------------------------------------------------------


def _show(view: PolicyList) -> None:
    if not view.policies:
        click.echo(f"No policies: what nobody answers waits. They stand in {view.file}.\n")
    for number, policy in enumerate(view.policies, 1):
        click.echo(f"{number}. {click.style(policy.name, bold=True)}  {_applies(policy)}")
        for label, text in _effects(policy):
            click.echo("\n".join(labelled(label, text)))
        click.echo()
    rows = [(channel.name, channel.kind, _target(channel), channel.problem or "ok") for channel in view.channels]
    print_table(("CHANNEL", "KIND", "TARGET", "STATE"), rows)


def _applies(policy: PolicyView) -> str:
    kinds = ", ".join(policy.kinds) or "everything"
    return f"{kinds}, {policy.urgency} only" if policy.urgency else kinds


def _effects(policy: PolicyView) -> list[tuple[str, str]]:
    lines = []
    if policy.remind_after:
        again = f", again every {policy.repeat_every}" if policy.repeat_every else ""
        most = f", at most {policy.repeat_at_most} times more" if policy.repeat_at_most else ""
        then = f"; again: {', '.join(policy.then_notify)}" if policy.then_notify else ""
        who = f"{', '.join(policy.notify)}{then}"
        lines += [
            ("remind:", f"after {policy.remind_after}{again}{most}{', until somebody looks' if again else ', once'}"),
            ("notify:", who),
        ]
    if policy.expire_after:
        lines.append(("expire:", f"after {policy.expire_after}, {_default(policy)}"))
    if policy.verify is not None:
        check = f"by a check within {policy.verify.seconds}s: {' '.join(policy.verify.check)}"
        lines.append(("verify:", "by a second person" if policy.verify.person else check))
    return lines


def _default(policy: PolicyView) -> str:
    if policy.default_option is not None:
        return f"answered by default with option {policy.default_option}"
    if policy.default_answer is not None:
        return f"answered by default where there are no options: {one_line(policy.default_answer, 60)}"
    return "without an answer"


def _target(channel: ChannelView) -> str:
    if channel.kind == "group":
        return ", ".join(channel.members)
    return {"page": "the open page"}.get(channel.kind) or (f"{channel.target}://…" if channel.target else "unknown")
