"""What the built-in agent makes of a prompt, and that its contract passes the verdict whatever became of it."""

import json
from typing import Any

import pytest

from gemba.handoff.verdict import read
from gemba.sessions.builtin.contract import Changes, Told, contract
from gemba.sessions.builtin.steps import Outcome, Step, Task, steps_of, task_of


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
        ("verify: make 'a => b'", ("verify", "make 'a => b'", [])),
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


# ---- tasks of a team -------------------------------------------------------------------------------------------------

ARTIFACT = ".gemba/artifacts/IMPL-001-build.md"
VERIFIED = Outcome(Step("verify", "make test", []), "ok", "", 0)


@pytest.mark.parametrize(
    "line",
    [
        "task: no JSON",
        "task: []",
        "task: 3",
        "task:" + "[" * 99_999,
        'Task: {"id": "x"}',
        ' task: {"id": "x"}',
        "task",
    ],
)
def test_a_line_that_names_no_task_names_none(line: str) -> None:
    assert task_of(f"words\n{line}\n") is None
    assert steps_of(line) == []


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x.md", ".gemba/artifacts/../x.md", ".gemba/artifacts/", ".gemba/artifacts/.x", "x", 3],
)
def test_an_artifact_lies_in_its_folder_or_nowhere(path: object) -> None:
    found = task_of("task: " + json.dumps({"id": 3, "goal": ["x"], "acceptance": ["a", 3], "artifact": path}))

    assert found is not None
    assert (found.id, found.goal, found.acceptance, found.artifact) == ("", "", ["a"], "")
    assert found.environment("/w")["GEMBA_ARTIFACT"] == ""


def test_what_a_system_does_not_take_is_cut_from_the_environment() -> None:
    task = Task({"text": "\u00e9" * 200_000, "goal": "a\0b\ud800"})

    values = task.environment("/w")

    assert len(values["GEMBA_TASK_TEXT"].encode()) <= 100_000
    assert values["GEMBA_TASK_GOAL"] == "ab?"


@pytest.mark.parametrize("outcomes", [[], [RAN, VERIFIED], [FAILED, VERIFIED]], ids=["nothing", "done", "failed"])
def test_the_contract_of_a_task_tells_what_changed_and_what_was_found(outcomes: list[Outcome]) -> None:
    agent_id = "a0123456789abcdef"
    told = Told(
        {
            "key_outputs": ["x" * 300] * 9,
            "files_checked": ["a.py", 3, ""],
            "severity": {"high": 2, "low": True, "x": "y"},
            "summary": "Two things are bad.\n",
        }
    )
    changes = Changes(["new.py"], [{"path": "a.py", "lines_before": 1, "lines_after": 2}])
    task = Task({"id": "IMPL-001", "goal": "Build it", "artifact": ARTIFACT})

    document: dict[str, Any] = contract(agent_id, outcomes, consolidates=False, task=task, told=told, changes=changes)

    given: dict[str, Any] = {"metadata": {"agent_id": agent_id, "task_id": "IMPL-001"}}
    verdict, _ = read(f"```agent_contract_handoff\n{json.dumps(document)}\n```", given)
    assert (verdict.valid, verdict.findings) == (True, [])
    evidence = document["evidence_report"]
    assert [len(text) for text in evidence["key_outputs"]] == [99] * 5
    if verdict.plan_status == "COMPLETE":
        assert evidence["files_checked"] == ["a.py", "out.txt", ARTIFACT]
        assert evidence["verification"]["command"] == "make test"
        assert evidence["verification"]["files_produced"] == ["new.py"]
        assert evidence["verification"]["files_modified"] == changes.modified
        assert evidence["verification"]["details"] == {"severity": {"high": 2}}
        assert document["user_facing_summary"] == "Two things are bad."
    else:
        assert "verification" not in evidence
        assert evidence["open_gaps"]
