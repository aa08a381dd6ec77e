"""`gemba agents`: what a person and a program are told of the types of agents, without a server."""

import json
from pathlib import Path

import pytest

from tests.fixtures.operator import Operator

OWN = """
[agent.own]
description = "Ours"
command = ["./own", "two words", "{prompt}"]
prompt = "argument"
interaction_mode = "cautious"
environment = { KEY = "$HOME", TOKEN = "geheim", WRAPPED = "$$geheim" }
limits = { max_seconds = 60 }
"""


@pytest.fixture
def own(alone: Operator) -> Path:
    """A workspace with a type of its own, whose program is there."""
    program = alone.workspace / "own"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (alone.workspace / ".gemba" / "agents.toml").write_text(OWN)
    return program


def test_the_list_says_which_types_can_be_used_and_why_not_the_others(alone: Operator, own: Path) -> None:
    nowhere = {"PATH": str(alone.workspace)}

    lines = alone.ok("agents", **nowhere).splitlines()

    assert lines[0].split() == ["NAME", "BACKEND", "MODE", "STATE"]
    rows = {line.split()[0]: line.split(maxsplit=3)[1:] for line in lines[1:]}
    assert rows["claude"] == ["tmux", "balanced", "claude is not on PATH"]
    assert rows["own"] == ["process", "cautious", "usable"]
    assert rows["builtin"] == ["process", "balanced", "usable"]
    assert alone.ok("agents", "list", **nowhere).splitlines() == lines
    own.unlink()
    assert "own is not there, or cannot be run" in alone.ok("agents", **nowhere)


def test_programs_get_the_same_as_json(alone: Operator, own: Path) -> None:
    found = json.loads(alone.ok("agents", "--json", PATH=str(alone.workspace)))

    assert found["file"] == str(alone.workspace / ".gemba" / "agents.toml")
    by_name = {agent["name"]: agent for agent in found["agents"]}
    assert (by_name["codex"]["usable"], by_name["codex"]["why_not"]) == (False, "codex is not on PATH")
    assert (by_name["own"]["usable"], by_name["own"]["why_not"]) == (True, None)
    assert (by_name["own"]["origin"], by_name["own"]["limits"]["max_seconds"]) == ("workspace", 60)
    assert json.loads(alone.ok("agents", "show", "own", "--json")) == by_name["own"]
    assert by_name["own"]["environment"] == {
        "KEY": {"from": "HOME"},
        "TOKEN": {"from": None},
        "WRAPPED": {"from": None},
    }


def test_one_is_shown_whole_without_the_values_of_its_variables(alone: Operator, own: Path) -> None:
    shown = alone.ok("agents", "show", "own")

    assert shown.startswith("own  Ours\n    state: usable\n    from: of .gemba/agents.toml\n")
    assert "    command: ./own 'two words' '{prompt}'\n" in shown
    assert "    environment: KEY (from HOME), TOKEN, WRAPPED\n" in shown
    assert "max_seconds 60" in shown
    assert "geheim" not in shown + alone.ok("agents", "--json") + alone.ok("agents", "show", "own", "--json")
    assert "    backend: tmux, in a pane, can be typed to\n" in alone.ok("agents", "show", "claude")


def test_faults_and_unknown_names_are_one_line(alone: Operator, own: Path) -> None:
    assert alone.refused("agents", "show", "owm") == 'gemba: no agent type is called "owm"; did you mean own?'
    file = alone.workspace / ".gemba" / "agents.toml"
    file.write_text('[agent.own]\ncommand = "x"\nbackend = "screen"\nother = 1\n')
    for arguments in (["agents"], ["agents", "--json"], ["agents", "show", "own"]):
        assert alone.refused(*arguments) == (
            f'gemba: {file}:3: agent "own": backend is "screen"; allowed: process or tmux (and 1 more)'
        )


def test_names_are_completed(alone: Operator, own: Path) -> None:
    found = alone.run(COMP_WORDS="gemba agents show cl", COMP_CWORD="3", _GEMBA_COMPLETE="bash_complete")

    assert found.stdout.split() == ["plain,claude", "plain,claude-headless"]
