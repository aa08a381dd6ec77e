"""What happens to an escalation in time, as durable flows: reminders and expiry, deliveries, checks of answers.

Each step looks at what is there before it does something, so that a flow that is taken up again after a crash, or run
from its beginning once more, does nothing twice. A notification alone cannot be looked up where it went: its row is
written with the reminder, and a flow of its own sends it until the row says that it was. So it is never lost, it is
sent again only when the process dies between the two, and a channel that does not answer holds nobody up.

Time is counted from the moment at which a flow became necessary, by a clock that nobody can set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, Row, update

from gemba import clock, shell, typed
from gemba.errors import Unusable
from gemba.escalations import delivery, granting, verifier
from gemba.escalations.answer import judge_default
from gemba.escalations.escalation import Channel, Reply, State
from gemba.escalations.notices import end_notice, notice_of, tell
from gemba.escalations.notify import Notice, Sent, send
from gemba.escalations.policy import Policies
from gemba.escalations.store import escalations, find, get_locked, options_of, policy_of, schema_of, settle
from gemba.event import Draft, Filter
from gemba.store.database import Transaction
from gemba.text import one_line

if TYPE_CHECKING:
    from gemba.flows.engine import Flow
    from gemba.flows.launch import FlowFunction

# The events with which a flow may have become necessary.
NEWS = Filter(
    frozenset(
        f"escalation.{end}"
        for end in (
            *("resolved", "dismissed", "expired", "reopened"),
            *("proposed", "rerouted", "reminded"),
        )
    )
    | {"escalation_opened", "assumption.overturned"}
)

_TIME_RAN_OUT = "nobody answered in time"
_SENDINGS = 4
_PAUSE = 15 * clock.SECOND  # after a notification that failed; twice as long each time
_LONGEST_NOTE = 300


class EscalationFlows:
    """The flows of escalations in one workspace."""

    def __init__(self, policies: Policies, root: Path, undelivered_after: int, page: Callable[[], str | None]) -> None:
        self._policies = policies
        self._root = root
        self._undelivered_after = undelivered_after
        self._page = page

    @property
    def table(self) -> Mapping[str, FlowFunction]:
        return {"watch": self.watch, "notify": self.notify, "deliver": self.deliver, "verify": self.verify}

    async def watch(self, flow: Flow, id: str, since: int) -> None:
        """Remind of it and end it, as its policy says, until it is resolved."""
        flow.now(since)
        while (due := await flow.look(next_due, id, since)) is not None:
            timing = {"since": since, "due": due["at"], "known": due["known"]}
            if await flow.until(id, _is_otherwise, id, since, due, **timing):
                continue  # seen, snoozed, woken or resolved: what comes next may be something else
            if due["what"] == "expire":
                question = await flow.look(check_of_default, id, since)
                refusal = None if question is None else await flow.call(self._check, question)
                await flow.change(expire, id, since, refusal)
            else:
                channels = [channel.name for channel in self._policies.urls(due["notify"]).urls]
                await flow.change(remind, id, since, due["number"], flow.now(since), channels)

    async def notify(self, flow: Flow, notice_id: str) -> None:
        """Tell one channel of one reminder, some times if that fails, as long as it waits."""
        pause = _PAUSE
        for _ in range(_SENDINGS):
            notice = await flow.look(notice_of, notice_id)
            if notice is None:
                return
            sent = await flow.call(self._send, notice["told"], notice["channel"])
            tried_at = await flow.change(end_notice, notice_id, sent["ok"], sent["problem"])
            id = notice["told"]["id"]
            if sent["ok"] or await flow.until(id, _is_settled, id, since=tried_at, due=tried_at + pause):
                return
            pause *= 2

    def _send(self, notice: dict[str, Any], channel: str) -> dict[str, Any]:
        told = typed.convert({**notice, "page": self._page()}, Notice)
        reached = self._policies.urls([channel]).urls
        sent = send(reached, told.title, told.body) if reached else Sent(ok=False, problem="the channel is gone")
        return {"ok": sent.ok, "problem": sent.problem}

    async def deliver(self, flow: Flow, id: str, since: int) -> None:
        """See to a reply until it is read: hold it back, send it, say when nobody reads it, and try again."""
        sent_at, wait = since, self._undelivered_after
        held = await flow.look(delivery.held_until, id)
        if held is not None:
            if await flow.until(id, _has_arrived, id, since, since=since, due=held):
                return
            await flow.change(delivery.release, id, since)
            sent_at = held
        if await flow.until(id, _has_arrived, id, since, since=sent_at, due=sent_at + wait):
            return
        if not await flow.change(delivery.give_up_waiting, id, since):
            return
        for attempt in range(2, delivery.ATTEMPTS + 1):
            due = await flow.change(delivery.plan_attempt, id, since, attempt)
            if due is None:
                return
            planned = due - delivery.pause_before(attempt)
            if await flow.until(id, _has_arrived, id, since, since=planned, due=due):
                return
            if not await flow.change(delivery.try_again, id, since, attempt):
                return

    async def verify(self, flow: Flow, id: str, at: str) -> None:
        """Have a command check a proposed answer; whatever goes wrong with it, the answer is not given."""
        question = await flow.look(check_of, id, at)
        if question is not None:
            refusal = await flow.call(self._check, question)
            await flow.change(conclude, id, at, refusal)

    def _check(self, question: dict[str, Any]) -> str | None:
        """None when it passed, else why not. It may run a second time for the same answer, after a crash."""
        given = msgspec.json.encode(question["given"])
        try:
            result = shell.run(question["command"], cwd=self._root, timeout=question["seconds"], given=given)
        except Unusable as error:
            return f"the check could not be made: {error.message}"
        if result.code == 0:
            return None
        words = (result.stdout.strip() or result.stderr.strip()).splitlines()
        return one_line(words[0], _LONGEST_NOTE) if words else f"the check ended with exit code {result.code}"


# ---- steps: each looks before it acts ------------------------------------------------------------------------------


def next_due(connection: Connection, id: str, since: int) -> dict[str, Any] | None:
    """What the policy wants next of an escalation that waits, and a moment that has passed already."""
    row = _watched(connection, id, since)
    if row is None:
        return None
    policy, so_far = policy_of(row), (since, row.reminders, row.reminded_at)
    due = policy.plan(*so_far, seen=row.state != State.OPEN)
    if due is None and policy.plan(*so_far) is None:
        return None
    # Nothing is due of one that was seen, but it may be once it is shown again.
    # As it comes back from the engine's record, in which there are no tuples.
    told = {"what": "rest", "at": None} if due is None else msgspec.json.decode(msgspec.json.encode(due))
    return {**told, "known": row.reminded_at or since}


def remind(tx: Transaction, id: str, since: int, number: int, at: int, channels: list[str]) -> None:
    """Count a reminder, once, and have these channels told of it. `at` is counted from `since`, as are all times."""
    row = get_locked(tx, id)
    if row.resolved or row.state != State.OPEN or row.watched_since != since or row.reminders != number - 1:
        return
    counted = {"reminders": number, "reminded_at": at}
    tx.connection.execute(update(escalations).where(escalations.c.id == id).values(counted))
    tell(tx, row, since, number, channels)
    tx.emit(Draft("escalation.reminded", {"number": number, "kind": row.kind}, row.session_id, id))


def expire(tx: Transaction, id: str, since: int, refusal: str | None) -> None:
    """Its time ran out: the policy's answer if it has one that fits and passed, else no answer, which is no refusal."""
    row = get_locked(tx, id)
    if row.resolved or row.watched_since != since:
        return
    if row.kind == granting.KIND:  # which no policy grants
        granting.expire(tx, row)
        return
    default = _default(row) if refusal is None else None
    if default is None:
        settle(tx, row, "expired", Reply("expired", _TIME_RAN_OUT, "policy"))
    else:
        settle(tx, row, "resolved", default)


def check_of_default(connection: Connection, id: str, since: int) -> dict[str, Any] | None:
    """How the policy's own answer is judged that is about to be given; None when there is none, or no check."""
    row = _watched(connection, id, since)
    if row is None:
        return None
    default = _default(row)
    return None if default is None else _check_question(row, default.text, default.option, default.value, "policy")


def _default(row: Row[Any]) -> Reply | None:
    """The policy's answer, if it has one and it fits the ask. No second person can confirm it."""
    policy = policy_of(row)
    if policy.verify is not None and policy.verify.person:
        return None
    answer, option = policy.default_answer, policy.default_option
    return judge_default(Channel(row.channel), options_of(row), schema_of(row), answer, option)


def check_of(connection: Connection, id: str, at: str) -> dict[str, Any] | None:
    """The command that judges a proposed answer, and what it is given on stdin; None when nothing waits for it."""
    row = find(connection, id)
    proposal = None if row is None else verifier.waiting_proposal(row, at)
    if row is None or proposal is None:
        return None
    return _check_question(row, proposal.text, proposal.option, proposal.value, proposal.by)


def _check_question(row: Row[Any], text: str, option: int | None, value: Any, by: str) -> dict[str, Any] | None:
    verify = policy_of(row).verify
    if verify is None or not verify.check:
        return None
    asked = {"id": row.id, "kind": row.kind, "session_id": row.session_id, "title": row.title, "text": row.text}
    typed = {"options": options_of(row), "schema": schema_of(row)}
    answer = {"text": text, "option": option, "value": None if value is msgspec.UNSET else value, "by": by}
    given = {**asked, **typed, "answer": answer}
    return {"command": list(verify.check), "seconds": verify.seconds, "given": given}


def conclude(tx: Transaction, id: str, at: str, refusal: str | None) -> None:
    row = get_locked(tx, id)
    proposal = verifier.waiting_proposal(row, at)
    if proposal is None:
        return
    if refusal is None:
        verifier.give(tx, row, proposal)
    else:
        verifier.refuse(tx, row, proposal, refusal)


def _watched(connection: Connection, id: str, since: int) -> Row[Any] | None:
    """The escalation, as long as it waits and this is the watch over it."""
    row = find(connection, id)
    return None if row is None or row.resolved or row.watched_since != since else row


def _is_otherwise(connection: Connection, id: str, since: int, due: dict[str, Any]) -> bool:
    return next_due(connection, id, since) != due


def _has_arrived(connection: Connection, id: str, since: int) -> bool:
    return not delivery.on_its_way(connection, id, since)


def _is_settled(connection: Connection, id: str) -> bool:
    row = find(connection, id)
    return row is None or bool(row.resolved)
