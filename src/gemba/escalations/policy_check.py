"""What is wrong with policies and channels although every value has its type. Pure: settings in, faults out.

A policy that passes reminds somebody, ends, can be reached, and does what each of its lines says; what depends on the
surroundings (a variable that is not set, a URL that apprise does not know) is a channel's problem, found by `notify`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from gemba import clock, wire
from gemba.config import (
    ChannelSettings,
    PolicySettings,
    Settings,
    VerifySettings,
    Workspace,
    parse_settings,
    read_settings,
)
from gemba.escalations.policy import KINDS, LONGEST, PAGE, PAIRS, duration_text, parse_duration
from gemba.toml import Absence, Fault, Place, nearest, quoted

MOST = 200  # channels, and policies: more is a file that nobody wrote
FASTEST_REPETITION = 10 * clock.SECOND
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAME_RULE = "letters, digits, - _ . and at most 64 of them"
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_KINDS_OF_CHANNEL = ("url", "url_env", "url_file", "members")


def checked_settings(workspace: Workspace) -> Settings:
    """The settings of a workspace, without a fault in types or in meaning."""
    return read_settings(workspace, faults)


def parse_checked(raw: bytes, path: Path | str) -> Settings:
    """The same of a file's bytes."""
    return parse_settings(raw, path, faults)


def faults(settings: Settings) -> Iterator[Fault]:
    """Everything that no type says, with its place in the file."""
    for key in ("channels", "policy"):
        if len(getattr(settings, key)) > MOST:
            yield Fault((key,), f"{key} has more than {MOST} entries; allowed: at most that many")
    for name, channel in settings.channels.items():
        yield from _channel(name, channel, settings.channels)
    yield from _circles(settings.channels)
    yield from _policies(settings)


def warnings(settings: Settings, operators: int) -> Iterator[Fault]:
    """What does less than its reader may think, although nothing is wrong with it."""
    for number, policy in enumerate(settings.policy):
        place: Place = ("policy", number)
        if policy.verify is not None and policy.verify.person and operators < 2:
            words = "this workspace has one operator, and nobody who could agree: gemba operator add NAME adds one"
            yield Fault((*place, "verify"), words)
        if policy.default_answer is not None and any(kind in wire.ASK_KINDS for kind, _ in _taken(policy)):
            words = "an ask with options gets no default_answer, unless it is one of them: it expires"
            yield Fault((*place, "default_answer"), f"{words}; default_option gives it one of its own")


# ---- channels --------------------------------------------------------------------------------------------------------


def _channel(name: str, channel: ChannelSettings, channels: Mapping[str, ChannelSettings]) -> Iterator[Fault]:
    place: Place = ("channels", name)
    if name == PAGE:
        yield Fault(place, f"{PAGE} is built in: it is the open page; allowed: another name")
    elif not _NAME.fullmatch(name):
        yield Fault(place, f"this name cannot be used; allowed: {_NAME_RULE}")
    given = [key for key in _KINDS_OF_CHANNEL if getattr(channel, key) is not None]
    if len(given) != 1:
        found = f"it has {' and '.join(given)}" if given else "it has none"
        where = (*place, given[1]) if given else (*place, "url")
        words = f"a channel has exactly one of {', '.join(_KINDS_OF_CHANNEL)}; {found}"
        yield Fault(where, words) if given else Absence(where, words)
    if channel.url is not None and channel.url.scheme is None:
        yield Fault((*place, "url"), "url is no URL; allowed: an apprise URL such as ntfy://host/topic")
    if channel.url_env is not None and not _ENVIRONMENT_NAME.fullmatch(channel.url_env):
        yield Fault(
            (*place, "url_env"), "url_env is no name; allowed: the name of the environment variable with the URL"
        )
    if channel.url_file is not None and (not channel.url_file.strip() or "://" in channel.url_file):
        yield Fault((*place, "url_file"), "url_file is no path; allowed: the path of the file with the URL")
    if channel.members is not None:
        yield from _names((*place, "members"), channel.members, channels)
        if not set(channel.members) - {name}:
            found = "only itself" if channel.members else "nobody"
            yield Fault((*place, "members"), f"the group has {found} in it; allowed: names of other channels")


def _names(place: Place, names: tuple[str, ...], channels: Mapping[str, ChannelSettings]) -> Iterator[Fault]:
    """Channels that do not exist, or are named twice."""
    for number, name in enumerate(names):
        if name != PAGE and name not in channels:
            known = [PAGE, *(known for known in channels if known != PAGE and _NAME.fullmatch(known))]
            yield Fault((*place, number), f"no channel is called {quoted(name)}{nearest(name, known)}")
        elif name in names[:number]:
            yield Fault((*place, number), f"{quoted(name)} stands in {place[-1]} twice")


def _circles(channels: Mapping[str, ChannelSettings]) -> Iterator[Fault]:
    """Groups that contain each other; one that has only itself was said to have nobody."""
    inside = {name: set(channel.members or ()) - {name} for name, channel in channels.items()}
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]  # graphlib goes from a member to its group
        shown = " → ".join(quoted(name) for name in circle)
        yield Fault(("channels", circle[0], "members"), f"groups contain each other: {shown}")


def _reaches_somebody(names: tuple[str, ...], channels: Mapping[str, ChannelSettings]) -> bool:
    opened: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in opened:
            continue
        opened.add(name)
        if name == PAGE or (name in channels and channels[name].members is None):
            return True
        if name in channels:
            waiting.extend(channels[name].members or ())
    return False


# ---- policies --------------------------------------------------------------------------------------------------------


def _policies(settings: Settings) -> Iterator[Fault]:
    taken: set[tuple[str, str]] = set()
    earlier: list[PolicySettings] = []
    for number, policy in enumerate(settings.policy):
        place: Place = ("policy", number)
        yield from _name(place, policy, earlier)
        yield from _kinds(place, policy)
        yield from _reach(place, policy, earlier, taken)
        yield from _times(place, policy)
        yield from _reminders(place, policy, settings.channels)
        yield from _default(place, policy)
        if policy.verify is not None:
            yield from _verify((*place, "verify"), policy.verify)
        if policy.remind_after is None and policy.expire_after is None and policy.verify is None:
            yield Absence(
                place, "this policy does nothing; allowed: at least one of remind_after, expire_after, verify"
            )
        taken |= _taken(policy)
        earlier.append(policy)


def _name(place: Place, policy: PolicySettings, earlier: list[PolicySettings]) -> Iterator[Fault]:
    if not _NAME.fullmatch(policy.name):
        found = quoted(policy.name) if policy.name.strip() else "empty"
        yield Fault((*place, "name"), f"name is {found}; allowed: {_NAME_RULE}")
    elif policy.name in (before.name for before in earlier):
        first = [before.name for before in earlier].index(policy.name) + 1
        yield Fault((*place, "name"), f"policy {first} has this name already; allowed: a name of its own")


def _kinds(place: Place, policy: PolicySettings) -> Iterator[Fault]:
    for number, kind in enumerate(policy.kinds):
        if kind not in KINDS:
            yield Fault((*place, "kinds", number), f"no escalation is of kind {quoted(kind)}{nearest(kind, KINDS)}")


def _taken(policy: PolicySettings) -> set[tuple[str, str]]:
    """The pairs of kind and urgency that a policy wants."""
    return {
        (kind, urgency)
        for kind, urgency in PAIRS
        if (not policy.kinds or kind in policy.kinds) and policy.urgency in (None, urgency)
    }


def _reach(
    place: Place, policy: PolicySettings, earlier: list[PolicySettings], taken: set[tuple[str, str]]
) -> Iterator[Fault]:
    wanted = _taken(policy)
    if not wanted:
        if all(kind in KINDS for kind in policy.kinds):
            kinds = ", ".join(policy.kinds)
            yield Fault((*place, "kinds"), f"it can never match: {kinds} is never {policy.urgency}")
    elif wanted <= taken:
        names = ", ".join(quoted(before.name) for before in earlier if _taken(before) & wanted)
        yield Absence(place, f"it can never match: {names} before it takes everything; the narrower one goes first")


def _times(place: Place, policy: PolicySettings) -> Iterator[Fault]:
    for key in ("remind_after", "repeat_every", "expire_after"):
        text = getattr(policy, key)
        if text is not None and parse_duration(text) is None:
            allowed = f"a duration such as 30s, 10m, 2h, 1d or 1h30m, from 1s to {duration_text(LONGEST)}"
            yield Fault((*place, key), f"{key} is {quoted(text)}; allowed: {allowed}")
    remind, expire = _time(policy.remind_after), _time(policy.expire_after)
    if remind is not None and expire is not None and expire <= remind:
        relation = "is" if expire == remind else "comes before"
        yield Fault(
            (*place, "expire_after"),
            f"expire_after ({policy.expire_after}) {relation} remind_after ({policy.remind_after}); "
            "allowed: a longer time, since nobody would be reminded",
        )


def _time(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


def _reminders(place: Place, policy: PolicySettings, channels: Mapping[str, ChannelSettings]) -> Iterator[Fault]:
    yield from _names((*place, "notify"), policy.notify, channels)
    yield from _names((*place, "then_notify"), policy.then_notify, channels)
    if policy.remind_after is None:
        for key in ("repeat_every", "notify"):
            if getattr(policy, key):
                yield Absence((*place, key), f"{key} without remind_after does nothing; allowed: with remind_after")
    elif not policy.notify:
        yield Absence((*place, "remind_after"), "remind_after reminds nobody; allowed: with notify, a list of channels")
    for key in ("notify", "then_notify"):
        names = getattr(policy, key)
        known = all(name == PAGE or name in channels for name in names)
        if names and known and not _reaches_somebody(names, channels):
            yield Absence((*place, key), f"{key} reaches nobody: its groups are empty")
    yield from _repetition(place, policy)


def _repetition(place: Place, policy: PolicySettings) -> Iterator[Fault]:
    if policy.repeat_every is None:
        for key in ("repeat_at_most", "then_notify"):
            if getattr(policy, key):
                yield Absence((*place, key), f"{key} without repeat_every does nothing; allowed: with repeat_every")
        return
    every = parse_duration(policy.repeat_every)
    if every is not None and every < FASTEST_REPETITION:
        fastest = duration_text(FASTEST_REPETITION)
        yield Fault((*place, "repeat_every"), f"repeat_every is {policy.repeat_every}; allowed: {fastest} or more")
    if policy.repeat_at_most is None and policy.expire_after is None:
        yield Absence(
            (*place, "repeat_every"), "repeat_every would never end; allowed: with repeat_at_most, or with expire_after"
        )
    remind, expire = _time(policy.remind_after), _time(policy.expire_after)
    if remind and expire and every and remind < expire <= remind + every:
        yield Fault(
            (*place, "repeat_every"),
            f"repeat_every ({policy.repeat_every}) never comes: expire_after ({policy.expire_after}) is before it",
        )


def _default(place: Place, policy: PolicySettings) -> Iterator[Fault]:
    given = [key for key in ("default_answer", "default_option") if getattr(policy, key) is not None]
    if len(given) == 2:
        yield Fault(
            (*place, "default_option"), "default_answer and default_option stand together; allowed: one of them"
        )
    if given and policy.expire_after is None:
        yield Absence((*place, given[0]), f"{given[0]} is never given; allowed: with expire_after, when it is")
    if given and policy.verify is not None and policy.verify.person:
        yield Fault((*place, given[0]), f"{given[0]} has no second person to confirm it; allowed: without verify")
    answer = policy.default_answer
    if answer is not None and not answer.strip():
        yield Fault((*place, "default_answer"), "default_answer is empty; allowed: a text")
    elif answer is not None and len(answer) > wire.MAX_TEXT:
        yield Fault((*place, "default_answer"), f"default_answer is too long; allowed: {wire.MAX_TEXT:,} characters")


def _verify(place: Place, verify: VerifySettings) -> Iterator[Fault]:
    if verify.check is not None and verify.person:
        yield Fault((*place, "person"), "check and person stand together; allowed: one of them")
    elif verify.check is None and not verify.person:
        yield Absence(place, 'verify has nothing to verify with; allowed: check = ["command"] or person = true')
    if verify.check is not None and (not verify.check or not verify.check[0].strip()):
        yield Fault((*place, "check"), "check is empty; allowed: a command and its arguments, as a list")
    if any("\0" in part for part in verify.check or ()):
        yield Fault((*place, "check"), "check has a NUL character; allowed: a command and its arguments, as a list")
