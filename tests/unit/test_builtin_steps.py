"""What the built-in agent makes of a prompt, and that its contract passes the verdict whatever became of it."""

import json
from typing import Any

import pytest

from gemba.handoff.verdict import read
from gemba.sessions.builtin.contract import contract
from gemba.sessions.builtin.steps import Outcome, Step, steps_of


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("ask: Which port?", ("ask", "Which port?", [])),
        ("  - Ask: Which port? [80 | 8080]", ("ask", "Which port?", ["80", "8080"])),
        ("ask: [sic]", ("ask", "[sic]", [])),
        ("ask: Is a[0] right?", ("ask", "Is a[0] right?", [])),
        ("blocker: May I: yes or no?", ("blocker", "May I: yes or no?", [])),
        ("run: make test", ("run", "make test", [])),
        ("run: make report => out/report.txt, log", ("run", "make report", ["out/report.txt", "log"])),
        ("RUN: echo 'a => b' => c", ("run", "echo 'a => b'", ["c"])),
        ("run: => c", ("run", "=> c", [])),
    ],
)
def test_a_line_that_says_what_to_do_is_a_step(line: str, step: tuple[str, str, list[str]]) -> None:
    [found] = steps_of(f"Some words before it.\r\n{line}\nand: some behind\n")

    assert (found.word, found.text, found.choices) == step


@pytest.mark.parametrize(
    "prompt", ["", "\n", "Do it well.", "run:", "ask :", "please run: it", "https://example.com", ": x"]
)
def test_other_words_are_none(prompt: str) -> None:
    assert steps_of(prompt) == []


ASKED = Outcome(Step("ask", "Which port?", []), "Which port? 80")
UNANSWERED = Outcome(Step("ask", "Which port?", []), "", "Which port? (expired)")
RAN = Outcome(Step("run", "make", ["out.txt"]), "done\n```\n\x1b[31m", "", 0)
FAILED = Outcome(Step("run", "make", []), "x" * 10_000, "make: exit code 2", 2)


@pytest.mark.parametrize("task", [False, True])
@pytest.mark.parametrize("outcomes", [[], [ASKED], [RAN], [ASKED, RAN], [FAILED, RAN, UNANSWERED]])
def test_every_contract_is_accepted_by_the_verdict(outcomes: list[Outcome], task: bool) -> None:
    agent_id = "a0123456789abcdef"
    given: dict[str, Any] = {
        "metadata": {"agent_id": agent_id, **({"task_id": "t1"} if task else {})},
        "agent_contract_handoff": {"consolidation_required": task},
    }

    document = contract(agent_id, outcomes, consolidates=task)

    verdict, found = read(f"```agent_contract_handoff\n{json.dumps(document)}\n```", given)
    assert (verdict.valid, verdict.missing, verdict.invalid, found) == (True, [], [], document)
    wanted = "NEEDS_INPUT" if not outcomes else "BLOCKED" if outcomes[0] is FAILED else "COMPLETE"
    assert verdict.plan_status == wanted
    assert not verdict.findings
