"""Policies and channels as the operator sees them: what the file says, and which channels can be used as things are."""

from __future__ import annotations

import msgspec

from gemba.escalations.notify import problem_of
from gemba.escalations.policy import Channel, ChannelKind, Policies, Policy, Verify, duration_text


class PolicyView(msgspec.Struct, frozen=True):
    """A policy as its file writes it: times as durations."""

    name: str
    urgency: str | None
    kinds: tuple[str, ...]
    remind_after: str | None
    repeat_every: str | None
    repeat_at_most: int | None
    notify: tuple[str, ...]
    then_notify: tuple[str, ...]
    expire_after: str | None
    default_answer: str | None
    default_option: int | None
    verify: Verify | None


class ChannelView(msgspec.Struct, frozen=True):
    """A channel. Of its URL only the scheme is ever shown."""

    name: str
    kind: ChannelKind
    target: str | None
    members: tuple[str, ...]
    ok: bool
    problem: str | None


class PolicyList(msgspec.Struct, frozen=True):
    """The policies in the order in which they are tried, every channel, and the file that they stand in."""

    policies: list[PolicyView]
    channels: list[ChannelView]
    file: str


def policies_view(policies: Policies, file: str = ".gemba/workspace.toml") -> PolicyList:
    return PolicyList(
        [_policy(policy) for policy in policies.policies],
        [_channel(channel) for channel in policies.channels.values()],
        file,
    )


def _policy(policy: Policy) -> PolicyView:
    return PolicyView(
        policy.name,
        policy.urgency,
        policy.kinds,
        _text(policy.remind_after),
        _text(policy.repeat_every),
        policy.repeat_at_most,
        policy.notify,
        policy.then_notify,
        _text(policy.expire_after),
        policy.default_answer,
        policy.default_option,
        policy.verify,
    )


def _channel(channel: Channel) -> ChannelView:
    problem = problem_of(channel)
    target = None if channel.url is None else channel.url.scheme
    return ChannelView(channel.name, channel.kind, target, channel.members, problem is None, problem)


def _text(duration: int | None) -> str | None:
    return None if duration is None else duration_text(duration)
