"""What is done about runs, from what is wanted and what is there."""

import pytest

from gemba.sessions.backends.backend import EndedBy, Observation, Seen
from gemba.sessions.reconcile import Ending, Found, Plan, Run, plan
from gemba.sessions.session import Lifecycle

RUNNING = Observation(Seen.RUNNING)
STOPPED = Ending("s", Lifecycle.STOPPED, "operator_stop")


def only(run: Run | None, seen: Observation | None, run_id: str = "r") -> Plan:
    return plan([] if run is None else [run], {} if seen is None else {"s": Found(run_id, seen)})


def run(*, wanted: bool = True, started: bool = True) -> Run:
    return Run("s", "r", wanted, started)


NOTHING = Plan([], [], [], [])


@pytest.mark.parametrize(
    ("what", "seen", "run_id", "expected"),
    [
        (run(started=False), None, "r", Plan([], [], [], ["s"])),
        (run(started=False), RUNNING, "r", Plan([], [], ["s"], [])),
        (run(), RUNNING, "r", NOTHING),
        (run(), None, "r", Plan([], [Ending("s", Lifecycle.LOST, "killed")], [], [])),
        (run(wanted=False), RUNNING, "r", Plan(["s"], [], [], [])),
        (run(wanted=False, started=False), RUNNING, "r", Plan(["s"], [], ["s"], [])),
        (run(wanted=False, started=False), None, "r", Plan([], [STOPPED], [], [])),
        (run(wanted=False), None, "r", Plan([], [STOPPED], [], [])),
        (None, RUNNING, "r", Plan(["s"], [], [], [])),
        (None, Observation(Seen.EXITED, 0), "r", NOTHING),
        # An earlier run of the session is in the way of the one that is wanted, and goes first.
        (run(started=False), RUNNING, "another", Plan(["s"], [], [], ["s"])),
        (run(started=False), Observation(Seen.EXITED, 0), "another", Plan([], [], [], ["s"])),
    ],
)
def test_what_runs_becomes_what_is_wanted(
    what: Run | None, seen: Observation | None, run_id: str, expected: Plan
) -> None:
    assert only(what, seen, run_id) == expected


@pytest.mark.parametrize(
    ("seen", "to", "reason"),
    [
        (Observation(Seen.EXITED, 0, None, EndedBy.AGENT), "completed", "provider_exit"),
        (Observation(Seen.EXITED, 3, None, EndedBy.AGENT), "failed", "provider_exit"),
        (Observation(Seen.KILLED, None, 9, EndedBy.AGENT), "failed", "killed"),
        (Observation(Seen.KILLED), "failed", "killed"),
        (Observation(Seen.KILLED, None, 15, EndedBy.TIME), "failed", "time_limit"),
        (Observation(Seen.EXITED, None, None, EndedBy.START), "failed", "not_started"),
        (Observation(Seen.VANISHED), "lost", "pane_gone"),
        (Observation(Seen.SERVER_DIED), "lost", "terminal_died"),
        (Observation(Seen.KILLED, None, 15, EndedBy.STOP), "stopped", "operator_stop"),
    ],
)
def test_every_end_is_told_apart(seen: Observation, to: str, reason: str) -> None:
    (ended,) = only(run(), seen).ends
    assert (ended.to, ended.reason, ended.code, ended.signal) == (to, reason, seen.code, seen.signal)
    assert only(run(wanted=False), seen).ends == [STOPPED._replace(code=seen.code, signal=seen.signal)]
