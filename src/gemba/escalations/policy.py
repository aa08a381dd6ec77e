"""Policies: what happens to an escalation that nobody answers, and what an answer must pass before it is delivered.

Pure: the types, durations, which policy an escalation falls under, and what is due next. Times are microseconds, as
everywhere inside. A `Policy` is plain data: a durable flow keeps the one it began with, whatever the file says later.
What may be wrong with a policy is in `policy_check.py`; who resolves a channel's URL is `notify.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, get_args

import msgspec

from gemba import clock, wire
from gemba.config import ChannelSettings, PolicySettings, Secret, Settings
from gemba.escalations.escalation import Kind, Urgency

KINDS: tuple[str, ...] = get_args(Kind)
PAGE = "page"  # the channel that every workspace has: the open page itself

MINUTE, HOUR = 60 * clock.SECOND, 3_600 * clock.SECOND
LONGEST = 365 * clock.DAY
_UNITS = {"d": clock.DAY, "h": HOUR, "m": MINUTE, "s": clock.SECOND}
_DURATION = re.compile("".join(rf"(?:(?P<{unit}>[0-9]{{1,12}}){unit})?" for unit in _UNITS))

ChannelKind = Literal["page", "apprise", "group"]


class Verify(msgspec.Struct, frozen=True):
    """What an answer must pass before it is delivered: a command that exits 0, or a second person."""

    check: tuple[str, ...] = ()
    seconds: int = 30
    person: bool = False


class Due(msgspec.Struct, frozen=True):
    """The next thing that a policy wants: a reminder, by its number from 1 and to whom, or the end."""

    what: Literal["remind", "expire"]
    at: int
    number: int = 0
    notify: tuple[str, ...] = ()


class Policy(msgspec.Struct, frozen=True):
    """One policy. No urgency: both; no kinds: all of them."""

    name: str
    urgency: Urgency | None = None
    kinds: tuple[str, ...] = ()
    remind_after: int | None = None
    repeat_every: int | None = None
    repeat_at_most: int | None = None
    notify: tuple[str, ...] = ()
    then_notify: tuple[str, ...] = ()
    expire_after: int | None = None
    default_answer: str | None = None
    default_option: int | None = None
    verify: Verify | None = None

    def takes(self, kind: str, urgency: str) -> bool:
        return (not self.kinds or kind in self.kinds) and self.urgency in (None, urgency)

    def expires_at(self, since: int) -> int | None:
        return None if self.expire_after is None else since + self.expire_after

    def plan(self, since: int, reminders: int = 0, reminded_at: int | None = None, *, seen: bool = False) -> Due | None:
        """What is due next for an escalation that waits since then and had so many reminders; None: nothing more.

        Once somebody has seen it nobody is reminded, and it still expires. A repetition counts from the reminder
        before it, so that a server that was down, or a clock that jumped, makes one reminder and not a burst.
        """
        end = self.expires_at(since)
        at = None if seen else self._reminder_at(since, reminders, reminded_at)
        if at is not None and (end is None or at < end):
            again = reminders > 0 and self.then_notify
            return Due("remind", at, reminders + 1, self.then_notify if again else self.notify)
        return None if end is None else Due("expire", end)

    def _reminder_at(self, since: int, reminders: int, reminded_at: int | None) -> int | None:
        if self.remind_after is None:
            return None
        if reminders == 0:
            return since + self.remind_after
        if self.repeat_every is None or (self.repeat_at_most is not None and reminders > self.repeat_at_most):
            return None
        before = since + self.remind_after + (reminders - 1) * self.repeat_every if reminded_at is None else reminded_at
        return before + self.repeat_every


class Channel(msgspec.Struct, frozen=True):
    """A way to reach somebody. `problem`: why it cannot be used as things are, without a word of its URL."""

    name: str
    kind: ChannelKind
    url: Secret | None = None
    members: tuple[str, ...] = ()
    problem: str | None = None


class Urls(NamedTuple):
    """The channels with a URL behind some names, each once, and whether the page is among them."""

    urls: tuple[Channel, ...]
    to_page: bool


class Policies(msgspec.Struct, frozen=True):
    """Every policy in the order in which they are tried, and every channel by its name, `page` included."""

    policies: tuple[Policy, ...] = ()
    channels: dict[str, Channel] = msgspec.field(default_factory=lambda: {PAGE: Channel(PAGE, "page")})

    def match(self, kind: str, urgency: str) -> Policy | None:
        """The first policy that takes it."""
        return next((policy for policy in self.policies if policy.takes(kind, urgency)), None)

    def urls(self, names: Iterable[str]) -> Urls:
        """Everybody behind these channels, groups opened. A name that is gone from the file reaches nobody."""
        reached = {channel.name: channel for channel in self._behind(names, set())}
        to_page = reached.pop(PAGE, None) is not None
        return Urls(tuple(reached.values()), to_page)

    def _behind(self, names: Iterable[str], opened: set[str]) -> Iterator[Channel]:
        for name in names:
            channel = self.channels.get(name)
            if channel is None or name in opened:
                continue
            opened.add(name)
            if channel.kind == "group":
                yield from self._behind(channel.members, opened)
            else:
                yield channel


def policies_of(settings: Settings, resolve: Callable[[ChannelSettings], tuple[Secret | None, str | None]]) -> Policies:
    """The policies of settings without faults; `resolve` finds a channel's URL, or says why there is none."""
    channels = {PAGE: Channel(PAGE, "page")}
    for name, given in settings.channels.items():
        if given.members is not None:
            channels[name] = Channel(name, "group", members=given.members)
        else:
            url, problem = resolve(given)
            channels[name] = Channel(name, "apprise", url, problem=problem)
    return Policies(tuple(map(_policy, settings.policy)), channels)


def _policy(given: PolicySettings) -> Policy:
    verify = given.verify
    return Policy(
        name=given.name,
        urgency=None if given.urgency is None else Urgency(given.urgency),
        kinds=given.kinds,
        remind_after=_time(given.remind_after),
        repeat_every=_time(given.repeat_every),
        repeat_at_most=given.repeat_at_most,
        notify=given.notify,
        then_notify=given.then_notify,
        expire_after=_time(given.expire_after),
        default_answer=given.default_answer,
        default_option=given.default_option,
        verify=None if verify is None else Verify(verify.check or (), verify.seconds, verify.person),
    )


def _time(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


def parse_duration(text: str) -> int | None:
    """Microseconds of `30s`, `10m`, `2h`, `1d`, `1h30m`; None when it is none, or nothing, or beyond a year."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        return None
    total = sum(int(found[unit] or 0) * size for unit, size in _UNITS.items())
    return total if 0 < total <= LONGEST else None


def duration_text(microseconds: int) -> str:
    """The shortest way to write a duration of whole seconds: `90s` is `1m30s`."""
    rest, parts = microseconds, []
    for unit, size in _UNITS.items():
        many, rest = divmod(rest, size)
        if many:
            parts.append(f"{many}{unit}")
    return "".join(parts) or "0s"


def urgencies_of(kind: str) -> frozenset[str]:
    """The urgencies that an escalation of this kind can have."""
    if kind == "purview_violation":  # its purview decides
        return frozenset(Urgency)
    return frozenset(found for mode in wire.MODES if (found := wire.urgency_of(kind, mode)) is not None)


# Every pair of kind and urgency that there can be.
PAIRS = frozenset((kind, urgency) for kind in KINDS for urgency in urgencies_of(kind))
