"""A floor whose policies are at work: asks that are reminded of, expire, get a default, or an answer that is checked.

What each agent and operator was told is compared in the end with what the store, the event log, the agents' logs and
the receiver of the notifications say.
"""

import json
import random
import re
import stat
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from gemba import wire
from gemba.testing import retry_until
from tests.chaos.floor import PATIENCE, Mortal, Sent, Somebody
from tests.chaos.test_kills import every_escalation, reply_read
from tests.fixtures.past import engine_rows, rows
from tests.fixtures.receiver import Receiver
from tests.fixtures.servers import RunningServer

LEASE = 2
DEFAULT = "Take the smaller one."
SAME = "Tabs or spaces?"
RULE = "Tabs."

# An advisory question gets its default, a blocking one may be answered or expires, an answer to a blocker is checked.
_SETTINGS = """
[flows]
lease_seconds = {lease}
[reply]
undelivered_after_seconds = 3600
[channels.hook]
url = "{hook}"
[[policy]]
name = "default"
kinds = ["question"]
urgency = "advisory"
remind_after = "1s"
repeat_every = "1s"
repeat_at_most = 1
notify = ["hook"]
expire_after = "4s"
default_answer = "{default}"
[[policy]]
name = "expires"
kinds = ["question"]
urgency = "blocking"
remind_after = "1s"
repeat_every = "2s"
notify = ["hook"]
expire_after = "6s"
[[policy]]
name = "checked"
kinds = ["blocker"]
verify = {{ check = ["./check-answer"], seconds = 20 }}
"""
# Passes whatever is a complete document, and takes a moment, so that somebody can die meanwhile.
_CHECK = """#!/bin/sh
given=$(cat)
sleep 0.1
case "$given" in
  *'"answer"'*) exit 0 ;;
  *) echo "nothing was given"; exit 1 ;;
esac
"""


def set_up(workspace: Path, hook: str) -> None:
    settings = _SETTINGS.format(lease=LEASE, hook=hook, default=DEFAULT)
    (workspace / ".gemba/workspace.toml").write_text(settings)
    check = workspace / "check-answer"
    check.write_text(_CHECK)
    check.chmod(check.stat().st_mode | stat.S_IXUSR)


# ---- who works there ------------------------------------------------------------------------------------------------


class Ask(NamedTuple):
    """One ask with its wait: which policy it falls under, what it printed, how it ended."""

    text: str
    policy: str
    event_id: str
    printed: str
    code: int


class PatientAgent(Somebody):
    """Asks and waits, one after the other, under each of the policies; now and then what all of them ask."""

    WAYS: ClassVar = {
        "default": ("question", "balanced"),
        "expires": ("question", "cautious"),
        "checked": ("blocker", "balanced"),
    }

    def __init__(self, server: RunningServer, name: str, seed: str) -> None:
        super().__init__(name)
        self._server = server
        self._draw = random.Random(seed)
        self.asked: list[Ask] = []
        self.turns: dict[str, str] = {}  # what was answered after it had waited in vain

    def work(self) -> None:
        while not self.ended.is_set():
            policy = self._draw.choice(tuple(self.WAYS))
            same = policy == "expires" and self._draw.random() < 0.5
            text = SAME if same else f"{self.name} asks {wire.new_event_id()}"
            self.asked.append(self._ask(text, policy))

    def _ask(self, text: str, policy: str) -> Ask:
        kind, mode = self.WAYS[policy]
        arguments = ("--kind", kind, "--role", "manager", "--text", text, "--wait")
        process = self._server.ask(*arguments, session=self.name, GEMBA_INTERACTION_MODE=mode)
        assert process.stderr is not None
        event_id = process.stderr.readline().split()[0]
        try:
            printed, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return Ask(text, policy, event_id, printed, process.returncode)

    def take_turns(self, ids: set[str]) -> bool:
        """Look for late answers, as an agent does before it goes on; True when it has those."""
        if not ids <= self.turns.keys():
            printed, _ = self._server.ask("--next", "--json", session=self.name).communicate(timeout=PATIENCE)
            self.turns |= {turn["event_id"]: turn["text"] for turn in map(json.loads, printed.splitlines())}
        return ids <= self.turns.keys()


class BusyOperator(Somebody):
    """Answers what is blocking: every blocker, and about half of the questions; makes a rule for what all ask."""

    def __init__(self, mortal: Mortal, name: str) -> None:
        super().__init__(name)
        self._mortal = mortal
        self._looked_at: set[str] = set()
        self.sent: list[Sent] = []
        self.rules: list[Sent] = []

    def work(self) -> None:
        while not self.ended.is_set():
            path = "/api/escalations?state=unresolved&urgency=blocking&limit=50"
            found = self._mortal.request("GET", path)
            assert found.status == 200, found
            for one in found.json["escalations"]:
                if one["id"] not in self._looked_at:
                    self._looked_at.add(one["id"])
                    self._look_at(one)
            self.ended.wait(0.05)

    def _look_at(self, one: dict[str, Any]) -> None:
        if one["text"] == SAME and not self.rules:
            self.rules.append(self._send("/api/rules", {"escalation_id": one["id"], "text": RULE}))
        if one["kind"] == "blocker" or int(one["id"][-1], 16) % 2:
            words = f"{self.name} says {wire.new_event_id()}"
            self.sent.append(self._send(f"/api/escalations/{one['id']}/respond", {"text": words}))

    def _send(self, path: str, body: dict[str, str]) -> Sent:
        confirm = wire.new_event_id()
        return Sent(path, body, confirm, self._mortal.request("POST", path, body, confirm))


def take_late_answers(server: RunningServer, agents: list[PatientAgent]) -> None:
    """An operator may answer what expired a moment ago: the answer is its agent's next turn."""
    found = every_escalation(server)
    for agent in agents:
        late = {one.event_id for one in agent.asked if found[one.event_id]["late"]}
        retry_until(lambda agent=agent, late=late: agent.take_turns(late), timeout=PATIENCE, every=0.2)  # type: ignore[misc]


# ---- what has to be true in the end ---------------------------------------------------------------------------------


def all_done(server: RunningServer) -> None:
    """Every flow that was wanted is over."""
    try:
        retry_until(lambda: not rows(server, "select * from flows"), timeout=PATIENCE, every=0.2)
    except AssertionError as error:
        unfinished = "select workflow_uuid, status, executor_id from workflow_status where status <> 'SUCCESS'"
        raise AssertionError(
            f"left: {rows(server, 'select id, run, started, trouble from flows')}; "
            f"runs: {engine_rows(server, unfinished)}; executors: {rows(server, 'select * from executors')}"
        ) from error


def check_opened_once(asked: list[Ask], found: dict[str, dict[str, Any]]) -> None:
    assert {one.event_id: one.text for one in asked} == {id: one["text"] for id, one in found.items()}
    assert len({one.event_id for one in asked}) == len(asked)


def check_ends(agents: list[PatientAgent], sent: list[Sent], found: dict[str, dict[str, Any]]) -> None:
    """Each has the one end that its policy, its operator or a rule gave it, and its agent was told that one."""
    turns = {id: text for agent in agents for id, text in agent.turns.items()}
    assert turns == {id: one["resolution"]["text"] for id, one in found.items() if one["late"]}
    answers: dict[str, set[str]] = {}
    for one in sent:
        assert one.answer.status in (200, 409), one
        if one.answer.status == 200:
            answers.setdefault(one.path.split("/")[3], set()).add(one.body["text"])
    for ask in (one for agent in agents for one in agent.asked):
        escalation = found[ask.event_id]
        end = escalation["resolution"]
        if escalation["late"]:
            assert (ask.printed, ask.code, end["by"]) == ("nobody answered in time\n", 11, "operator"), ask
            assert (answers[ask.event_id], escalation["delivery"]) == ({end["text"]}, "delivered"), ask
            continue
        told = {"operator": 0, "rule": 0, "policy": 10 if ask.policy == "default" else 11}[end["by"]]
        assert (ask.printed, ask.code, escalation["delivery"]) == (end["text"] + "\n", told, "delivered"), ask
        if end["by"] == "operator":
            assert answers[ask.event_id] == {end["text"]}
        elif end["by"] == "policy":
            assert ask.event_id not in answers
            assert ask.policy != "checked"
            assert end["text"] == (DEFAULT if ask.policy == "default" else "nobody answered in time")
        else:
            assert (ask.text, end["text"]) == (SAME, RULE)


def check_told_once(seen: list[dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    """The log has no gap; each opening, end, delivery and reminder stands in it once, the reminders in order; the end
    and the delivery of what was answered late twice.
    """
    assert [event["id"] for event in seen] == list(range(1, len(seen) + 1))
    ends = ("resolved", "dismissed", "expired", "withdrawn")
    every = Counter(found.keys())
    assert Counter(event["ref"] for event in seen if event["name"] == "escalation_opened") == every
    ended = every + Counter(id for id, one in found.items() if one["late"])
    assert Counter(event["ref"] for event in seen if event["name"] in {f"escalation.{end}" for end in ends}) == ended
    assert Counter(event["ref"] for event in seen if event["name"] == "escalation.delivered") == ended
    for id, one in found.items():
        numbers = [e["payload"]["number"] for e in seen if e["name"] == "escalation.reminded" and e["ref"] == id]
        assert numbers == list(range(1, one["reminders"] + 1)), (id, numbers)


def check_read_once(home: Path, found: dict[str, dict[str, Any]]) -> None:
    read = Counter(reply_read(home))
    assert {id: min(times, 2) for id, times in read.items()} == {id: 1 + one["late"] for id, one in found.items()}


def check_notified(receiver: Receiver, seen: list[dict[str, Any]], kills: int, *, all_sent: bool = True) -> None:
    """Told of every reminder at least once, and more than once at most as often as somebody died."""
    reminded = Counter((e["ref"], e["payload"]["number"]) for e in seen if e["name"] == "escalation.reminded")
    noted = Counter((e["ref"], e["payload"]["number"]) for e in seen if e["name"] == "escalation.notified")
    came = Counter(map(_identity, receiver.requests))
    assert set(came) <= set(reminded)
    assert set(noted) <= set(came)
    assert set(noted.values()) <= {1}
    if all_sent:
        # Of one that was answered at that moment nobody needs to hear any more.
        ended = {e["ref"]: e["id"] for e in seen if e["name"] in ("escalation.resolved", "escalation.expired")}
        begun = {(e["ref"], e["payload"]["number"]): e["id"] for e in seen if e["name"] == "escalation.reminded"}
        missed = {key for key in set(reminded) - set(came) if begun[key] < ended.get(key[0], 0) - _SOON}
        assert missed == set()
    assert max(came.values(), default=0) <= 1 + kills
    assert sum(came.values()) - len(came) <= kills * _AT_ONCE


_AT_ONCE = 4  # notifications that are on their way out at a time: one for each agent
_SOON = 40  # events: how far behind its reminder a notification may be when its ask ends


def _identity(request: Any) -> tuple[str, int]:
    """Which reminder a notification is about: its ask's id, and its number."""
    id = re.search(r", id (\S+)$", request.document["message"], re.MULTILINE)
    number = re.search(r"^\w+ \w+ \((\d+)\): ", request.document["title"])
    assert id is not None, request
    return id[1], int(number[1]) if number else 1


def check_rule(server: RunningServer, rules: list[Sent], found: dict[str, dict[str, Any]]) -> None:
    """A rule was made once, however often its maker had to ask for it, and counts each of its uses once."""
    stored = server.get("/api/rules")["rules"]
    made = [one.answer.json["id"] for one in rules if one.answer.status == 200]
    assert [rule["id"] for rule in stored] == made
    used = Counter(one["resolution"]["rule_id"] for one in found.values() if one["resolution"]["by"] == "rule")
    assert {rule["id"]: rule["uses"] for rule in stored if rule["uses"]} == dict(used)


def frames(home: Path, hook: str) -> list[dict[str, Any]]:
    lines = [line for log in (home / "sessions").iterdir() for line in log.read_bytes().splitlines()]
    return [frame for frame in map(json.loads, lines) if frame["hook"] == hook]
