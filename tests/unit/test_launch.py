"""How a prompt reaches an agent: by each way, nowhere else, and what cannot be given to it is refused."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.errors import Invalid
from gemba.sessions.agents.agent import Agent
from gemba.sessions.agents.file import parse_agents
from gemba.sessions.agents.given import Given, Where
from gemba.sessions.agents.launch import LONGEST_ARGUMENT, Launch, launch
from gemba.sessions.agents.profiles import given_to

SHIPPED = parse_agents(b"")
BOTH = "Before.\n\n# Task\n\nDo it."
BY_FILE = "Do the task that CLAUDE.md gives you under its heading Task."


def own(table: str, name: str = "own") -> Agent:
    return parse_agents(f"[agent.{name}]\n{table}".encode())[name]


def launched(agent: Agent, task: str = "Do it.", preamble: str = "Before.") -> Launch:
    return launch(agent, preamble, task, "/home/.gemba")


def test_claude_reads_the_preamble_in_its_file_and_the_task_as_its_first_prompt() -> None:
    found = launched(SHIPPED["claude"])

    assert found.command[0] == "claude"
    assert found.command[-2:] == ("--", "Do it.")
    assert found[1:] == (None, "Before.", "Do it.")
    assert launched(SHIPPED["claude"], "-rf").command[-2:] == ("--", "-rf")


@pytest.mark.parametrize("name", ["claude-headless", "codex", "gemini", "opencode", "builtin"])
def test_what_runs_without_a_screen_has_all_on_its_stdin_and_nothing_in_its_words(name: str) -> None:
    found = launched(SHIPPED[name], "Do it, {home}.")

    assert found[1:] == ("Before.\n\n# Task\n\nDo it, {home}.", None, found.stdin)
    assert not any("Do it" in word or "{" in word for word in found.command)


def test_words_of_a_command_stand_for_the_interpreter_and_the_home() -> None:
    assert launched(SHIPPED["builtin"]).command == (sys.executable, "-m", "gemba.sessions.builtin")
    codex = launched(SHIPPED["codex"]).command
    assert codex[codex.index("--add-dir") + 1] == "/home/.gemba"
    other = own("""command = ["jq", "{a: 1}", "--into={home}/x"]""")
    assert launched(other).command == ("jq", "{a: 1}", "--into=/home/.gemba/x")


@pytest.mark.parametrize("name", ["claude", "claude-headless"])
def test_the_word_for_hooks_stands_for_the_options_that_hand_them_over(name: str) -> None:
    given = ("--settings=/runs/{home}/s.json", "--mcp-config=/runs/m.json")

    command = launch(SHIPPED[name], "", "Do it.", "/home", given).command

    place = command.index(given[0])
    assert command[place : place + 2] == given
    assert "--" not in command[:place]
    assert not any("{" in word for word in command if word not in given)


def test_without_hooks_their_word_stands_for_nothing_and_a_type_without_the_word_is_handed_none() -> None:
    without = own('hooks = "none"', "claude")
    by_themselves = own('command = ["claude", "--", "{prompt}"]', "claude")

    where = Where(Path("/run"), Path("/w"), Path("/w"), Path("/home"), {})
    assert (given_to(without, where), given_to(by_themselves, where)) == (Given(), Given())
    assert given_to(SHIPPED["claude"], where).words != ()
    assert "{hooks}" not in launched(without).command
    assert launch(by_themselves, "", "Do it.", "/home", ["--x"]).command == ("claude", "--", "Do it.")


def test_an_argument_stands_in_its_place_or_last() -> None:
    placed = own('command = ["a", "--prompt={prompt}", "-v"]\nprompt = "argument"')
    last = own('command = ["a", "-v"]\nprompt = "argument"')

    assert launched(placed).command == ("a", f"--prompt={BOTH}", "-v")
    assert launched(last).command == ("a", "-v", BOTH)
    assert launched(last, "{prompt} {home}", "").command == ("a", "-v", "{prompt} {home}")
    assert launched(last, "-rf", "").command == ("a", "-v", "\n-rf")


def test_what_is_too_long_for_an_argument_goes_by_the_file_or_is_refused() -> None:
    long = "x" * (LONGEST_ARGUMENT + 1)

    found = launched(SHIPPED["claude"], long)

    assert found.command[-1] == BY_FILE
    assert found[1:] == (None, f"Before.\n\n# Task\n\n{long}", BY_FILE)
    with pytest.raises(Invalid, match=r"^the prompt has 120,001 bytes; allowed as an argument of own: 120,000; ") as no:
        launched(own('command = "a"\nprompt = "argument"'), long, "")
    assert no.value.code == "prompt_too_long"


def test_by_file_the_task_stands_in_the_block_and_the_opening_names_the_file() -> None:
    in_tmux = own('prompt = "file"', "claude")
    on_pipes = own('command = ["a"]\nprompt = "file"\ninstructions = "CLAUDE.md"')

    assert (launched(in_tmux).command[-1], launched(in_tmux)[1:]) == (BY_FILE, (None, BOTH, BY_FILE))
    assert launched(on_pipes) == (("a",), BY_FILE, BOTH, BY_FILE)


def test_by_mcp_the_opening_names_the_tool() -> None:
    with_file = launched(own('prompt = "mcp"', "claude"))
    without = launched(own('command = ["a"]\nprompt = "mcp"'))

    assert "get_context" in with_file.command[-1]
    assert with_file.block == "Before."
    assert without.stdin is not None
    assert without.stdin.startswith("Before.\n\n# Task\n\nCall the tool get_context")
    assert not any("Do it" in str(found) for found in (*with_file, *without))


def test_where_a_person_types_nothing_is_said_for_them() -> None:
    assert launched(SHIPPED["shell"]) == (("sh", "-c", 'exec "${SHELL:-/bin/sh}"'), None, None, None)
    assert launched(own('prompt = "none"', "claude")).block == BOTH
    assert launched(own('prompt = "none"', "claude")).command[-1] == "--"


def test_without_a_task_an_interactive_client_waits_at_its_prompt() -> None:
    found = launched(SHIPPED["claude"], " \n")

    assert found.command[-1] == "--"
    assert found[1:] == (None, "Before.", None)


@given(st.sampled_from(list(SHIPPED.values())), st.text(), st.text())
def test_any_text_can_be_given_to_a_program(agent: Agent, preamble: str, task: str) -> None:
    found = launch(agent, preamble + "\x00\ud800", task + "\x00\ud800", "/home")

    assert not any("\x00" in word for word in found.command)
    for text in (*found.command, found.stdin or "", found.block or ""):
        text.encode()
