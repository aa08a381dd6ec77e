"""Which commands of an envelope are run again: what is known to be harmless, and no more than the gate requires."""

import pytest

from gemba.handoff.check import GatePolicy
from gemba.handoff.may_run import allowed_by
from gemba.handoff.risk import RiskRule

VERIFIED = {"evidence_report": {"verification": {"command": "./check.sh"}}}
REPORT = GatePolicy(rerun_verification="report", rerun_commands="report")
VERIFICATION = GatePolicy(rerun_verification="require", rerun_commands="report")
COMMANDS = GatePolicy(rerun_commands="require")


@pytest.mark.parametrize("policy", [REPORT, VERIFICATION, COMMANDS])
@pytest.mark.parametrize("command", ["pytest -q", "git status", "test -s x && ls"])
def test_what_reads_or_checks_is_run(policy: GatePolicy, command: str) -> None:
    assert allowed_by(policy, VERIFIED, ())(command) is None


@pytest.mark.parametrize("policy", [REPORT, VERIFICATION, COMMANDS])
@pytest.mark.parametrize("command", ["rm -rf build", "git push", "pytest -q > log", "ls; sudo reboot"])
def test_what_changes_state_is_never_run(policy: GatePolicy, command: str) -> None:
    assert (allowed_by(policy, VERIFIED, ())(command) or "").startswith("it changes state")


@pytest.mark.parametrize(
    ("policy", "command", "runs"),
    [
        (REPORT, "./check.sh", False),
        (VERIFICATION, "./check.sh", True),
        (VERIFICATION, "./other.sh", False),  # only the command of the check that is required
        (COMMANDS, "./other.sh", True),
    ],
)
def test_what_nobody_knows_is_run_where_the_gate_requires_just_that(
    policy: GatePolicy, command: str, runs: bool
) -> None:
    assert (allowed_by(policy, VERIFIED, ())(command) is None) == runs


@pytest.mark.parametrize("policy", [REPORT, COMMANDS])
@pytest.mark.parametrize("command", ["gemba-ask --text x", "cd x && gemba-state ready", "gemba  handoff submit -"])
def test_what_an_agent_told_gemba_is_not_told_again(policy: GatePolicy, command: str) -> None:
    assert allowed_by(policy, VERIFIED, ())(command) == "it tells Gemba something, which is told"
    assert allowed_by(policy, VERIFIED, ())("gemba handoff check out.md") is None


def test_a_rule_of_the_workspace_goes_before() -> None:
    rule = RiskRule("./check.sh", (), "T1")
    assert allowed_by(REPORT, VERIFIED, [rule])("./check.sh") is None
    forbidden = RiskRule("./check.sh", (), "T3")
    assert allowed_by(VERIFICATION, VERIFIED, [forbidden])("./check.sh") is not None


@pytest.mark.parametrize("envelope", [{}, {"evidence_report": []}, {"evidence_report": {"verification": "x"}}])
def test_any_envelope_will_do(envelope: dict[str, object]) -> None:
    assert allowed_by(VERIFICATION, envelope, ())("./check.sh") is not None
