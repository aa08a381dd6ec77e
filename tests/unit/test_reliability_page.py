"""docs/reliability.md promises by naming tests: each of them is there, and so is everything its commands name."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reliability.md").read_text()
AXES = (
    "Durability",
    "Idempotency",
    "Typed input and output",
    "Channels",
    "Verification before resuming",
    "Operator tooling",
)
SECTIONS = (*AXES, "Team runs")
NAMED = sorted(set(re.findall(r"`(tests/[a-z_/]+\.py)::(test_\w+)`", PAGE)))


def sections() -> dict[str, str]:
    return {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}


def function(file: str, name: str) -> ast.FunctionDef | None:
    body = ast.parse((ROOT / file).read_text()).body
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def is_chaos(file: str, name: str) -> bool:
    """Does `make chaos` choose it?"""
    found = function(file, name)
    return found is not None and "pytest.mark.chaos" in map(ast.unparse, found.decorator_list)


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_every_test_that_is_named_exists(file: str, name: str) -> None:
    assert function(file, name) is not None


@pytest.mark.parametrize("axis", SECTIONS)
def test_each_axis_has_its_claim_its_tests_and_its_limits(axis: str) -> None:
    text = sections()[axis]

    assert "**Claim.**" in text
    assert "**Out of scope.**" in text
    assert len(re.findall(r"::test_", text)) >= 5


def test_there_are_the_six_axes_and_team_runs() -> None:
    assert tuple(sections()) == SECTIONS


@pytest.mark.parametrize("axis", SECTIONS)
def test_the_commands_of_an_axis_run_every_test_that_it_names(axis: str) -> None:
    text = sections()[axis]
    commands = "\n".join(re.findall(r"```\n(.*?)```", text, re.DOTALL)).splitlines()
    run: dict[bool, list[str]] = {True: [], False: []}
    for command in commands:
        run[command.startswith("make chaos")] += re.findall(r"tests/[\w/.]+", command)

    assert [path for paths in run.values() for path in paths if not (ROOT / path).exists()] == []
    for file, name in re.findall(r"`(tests/[a-z_/]+\.py)::(test_\w+)`", text):
        in_full = is_chaos(file, name) and any(file.startswith(path) for path in run[True])
        assert in_full or any(file.startswith(path) for path in run[False]), name
