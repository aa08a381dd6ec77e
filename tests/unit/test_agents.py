"""Types of agents: what is shipped, what a workspace makes of it, every fault with its line, what can run here."""

import contextlib
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemba.config import Finding, Workspace
from gemba.errors import Invalid, NotFound, Unusable
from gemba.sessions.agents.agent import OWN_VARIABLES, Agent, AgentSettings, Limits, environment_of, usable
from gemba.sessions.agents.check import MOST_AGENTS, MOST_WORDS
from gemba.sessions.agents.file import MOST_BYTES, find_agent, find_sound, parse_agents, parse_sound, read_agents

SHIPPED = ["claude", "claude-headless", "codex", "gemini", "opencode", "command", "shell", "builtin"]
TEMPLATE = Path(sys.modules[Agent.__module__].__file__ or "").parents[2] / "template" / "agents.toml"


def agent(text: str, name: str = "own") -> Agent:
    return parse_agents(text.encode())[name]


def findings_of(text: str | bytes) -> list[Finding]:
    raw = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(Invalid, match=r"^agents\.toml:\d+: ") as refused:
        parse_agents(raw)
    found: list[Finding] = refused.value.extra["findings"]
    assert f"agents.toml:{found[0].line}: {found[0].message}" in refused.value.message
    return found


# ---- shipped ------------------------------------------------------------------------------------------------------


def test_a_workspace_without_a_file_has_the_shipped_types(tmp_path: Path) -> None:
    found = read_agents(Workspace(tmp_path))

    assert list(found) == SHIPPED
    assert {agent.origin for agent in found.values()} == {"shipped"}
    assert all(agent.description for agent in found.values())
    assert [name for name in SHIPPED if found[name].backend == "tmux"] == ["claude", "shell"]
    assert [name for name in SHIPPED if found[name].is_driven] == ["codex", "gemini", "opencode"]
    typed_to = [name for name in SHIPPED if not found[name].headless]
    assert typed_to == ["claude", "codex", "gemini", "opencode", "shell"]
    assert [name for name in SHIPPED if found[name].hooks == "claude"] == ["claude", "claude-headless"]
    assert {agent.interaction_mode for agent in found.values()} == {"balanced"}


def test_shipped_commands_are_the_ones_of_their_clients() -> None:
    found = parse_agents(b"")

    assert found["claude-headless"].command[:5] == ("claude", "-p", "--output-format", "stream-json", "--verbose")
    assert found["codex"].command[:3] == ("codex", "exec", "--json")
    assert found["codex"].command[-2:] == ("{hooks}", "-")
    assert found["codex"].resume == (*found["codex"].command[:-1], "resume", "{conversation}", "-")
    assert found["gemini"].command[:3] == ("gemini", "{hooks}", "--output-format=stream-json")
    assert found["gemini"].resume == (*found["gemini"].command, "--resume={conversation}")
    assert found["opencode"].command == ("opencode", "run", "--format=json", "{hooks}")
    assert found["opencode"].resume == (*found["opencode"].command[:-1], "--session={conversation}")
    assert found["command"].command == ()
    assert found["builtin"].command == ("{python}", "-m", "gemba.sessions.builtin")
    assert found["claude"].command[-2:] == ("--", "{prompt}")


# ---- the file -----------------------------------------------------------------------------------------------------


def test_a_workspace_changes_a_shipped_type_key_by_key() -> None:
    before = parse_agents(b"")["shell"]

    after = agent(
        """
        [agent.shell]
        interaction_mode = "cautious"
        environment = { EDITOR = "vi" }
        limits = { max_seconds = 60 }
        """,
        "shell",
    )

    assert (after.origin, after.interaction_mode, after.environment) == ("changed", "cautious", {"EDITOR": "vi"})
    assert (after.command, after.backend, after.prompt) == (before.command, before.backend, before.prompt)
    assert after.limits == Limits(max_seconds=60, stalled_after_seconds=0, no_progress_seconds=0)


def test_a_workspace_adds_types_of_its_own_with_every_key() -> None:
    own = agent(
        """
        [agent.own]
        description = "Ours"
        command = "bin/agent --name 'two words' # no comment"
        interaction_mode = "dangerous"
        backend = "process"
        terminal = "pty"
        prompt = "file"
        instructions = "AGENTS.md"
        hooks = "claude"
        headless = true
        max_parallel = 3
        environment = { KEY = "$OUR_KEY", PLAIN = "a $b", DOLLAR = "$$HOME" }
        [agent.own.limits]
        max_seconds = 3600
        output_bytes = 65536
        stalled_after_seconds = 60
        no_progress_seconds = 600
        runs_per_hour = 10
        """
    )

    assert own.command == ("bin/agent", "--name", "two words", "#", "no", "comment")
    assert (own.name, own.origin, own.headless, own.terminal) == ("own", "workspace", True, "pty")
    assert own.limits == Limits(3600, 65536, 60, 600, 10)
    surroundings = {"OUR_KEY": "secret", "HOME": "/home"}
    assert environment_of(own, surroundings) == {"KEY": "secret", "PLAIN": "a $b", "DOLLAR": "$HOME"}
    with pytest.raises(Unusable, match=r"^agent own: OUR_KEY is not set"):
        environment_of(own, {})


def test_a_program_with_its_prompt_on_stdin_needs_a_command_alone() -> None:
    own = agent('[agent.own]\ncommand = ["./agent"]')

    assert (own.backend, own.terminal, own.prompt, own.headless) == ("process", "pipe", "stdin", True)
    assert not agent('[agent.own]\ncommand = ["./agent"]\nterminal = "pty"').headless


def test_the_earlier_spelling_of_the_table_is_read() -> None:
    text = '[agents.claude]\ncommand = ["claude", "--model", "opus"]\ninteraction_mode = "cautious"\n'

    found = agent(text, "claude")

    assert (found.command, found.interaction_mode) == (("claude", "--model", "opus"), "cautious")
    assert (found.backend, found.instructions) == ("tmux", "CLAUDE.md")


def test_the_template_is_right_with_its_comments_and_without_them() -> None:
    text = TEMPLATE.read_text()
    examples = text[text.index("# [agent.") :].replace("# ", "")

    assert {agent.origin for agent in parse_agents(text.encode()).values()} == {"shipped"}
    found = parse_agents(examples.encode())
    assert [name for name, agent in found.items() if agent.origin == "changed"] == ["claude", "command"]
    assert found["reviewer"].origin == "workspace"


def test_the_template_names_every_key_and_what_it_is_without_a_word() -> None:
    text = " ".join(TEMPLATE.read_text().split())
    limits = Limits()

    assert [key for key in AgentSettings.__struct_fields__ if f"# {key} " not in text] == ["description"]
    assert [key for key in Limits.__struct_fields__ if f"{key} {getattr(limits, key)}" not in text] == []


def test_a_name_that_is_none_is_told_the_nearest_one() -> None:
    found = parse_agents(b"")

    assert find_agent(found, "codex").name == "codex"
    with pytest.raises(NotFound, match=r'^no agent type is called "claud"; did you mean claude\?'):
        find_agent(found, "claud")


# ---- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1", 1, 'unknown key "a"; known: agent, agents'),
        ("\n[agent", 2, "this is not TOML"),
        ("agent = 3", 1, "agent is 3; allowed: a table"),
        ("[agent]\nown = 3", 2, 'agent "own": own is 3; allowed: a table'),
        ("[agent.own]", 1, 'agent "own": command is missing; allowed: a program and its words'),
        ("\n[agent.own]\ncommand = 3", 3, 'agent "own": command is 3; allowed: a list of words, or one text'),
        ('[agent.own]\ncommand = "a \'b"', 2, 'agent "own": command cannot be split into words: No closing quotation'),
        ("[agent.own]\ncommand = []", 2, 'agent "own": command names no program'),
        ('[agent.own]\ncommand = ""', 2, 'agent "own": command names no program'),
        ('[agent.own]\ncommand = [" ", "a"]', 2, 'agent "own": command names no program'),
        ('[agent.own]\ncommand = ["a",\n3]', 3, 'agent "own": command[2] is 3; allowed: a text'),
        ('[agent.own]\ncommand = ["a", "\\u0000"]', 2, 'agent "own": command has a NUL character'),
        (f"[agent.own]\ncommand = {['a'] * (MOST_WORDS + 1)}", 2, 'agent "own": command has 201 words'),
        ('[agent.claude]\nbackend = "tmuxx"', 2, 'agent "claude": backend is "tmuxx"; allowed: process or tmux'),
        ('[agent.claude]\nmode = "a"', 2, 'agent "claude": unknown key "mode"'),
        ('[agent.claude]\ninteraction_mod = "a"', 2, "did you mean interaction_mode?"),
        ('[agents.claude]\ninteraction_mode = "bold"', 2, 'agent "claude": interaction_mode is "bold"; allowed: '),
        ("[agent.claude]\nheadless = 1", 2, 'agent "claude": headless is 1; allowed: true or false'),
        ("[agent.claude]\nmax_parallel = 0", 2, "max_parallel is 0; allowed: a whole number from 1 to 1,000"),
        ("[agent.claude.limits]\nmax_seconds = -1", 2, "limits: max_seconds is -1; allowed: whole seconds up to 30"),
        ("[agent.claude.limits]\nseconds = 1", 2, 'agent "claude": limits: unknown key "seconds"'),
        ('[agent.claude]\ninstructions = "../CLAUDE.md"', 2, 'instructions is "../CLAUDE.md"; allowed: the name of a'),
        ('[agent.claude]\ninstructions = ".."', 2, 'instructions is ".."; allowed: the name of a file at the top'),
        ('[agent.claude]\ninstructions = "a/b"', 2, 'instructions is "a/b"; allowed: the name of a file at the top'),
        ('[agent.claude.environment]\n"A B" = "x"', 2, 'environment: "A B" is no variable\'s name; allowed: letters'),
        ("[agent.claude.environment]\nA = 3", 2, "environment: A is 3; allowed: a text"),
        ('[agent.claude.environment]\nA = "$B/c"', 2, "environment: A begins with $ and names no variable; allowed: "),
        ('[agent.claude.environment]\nA = "\\u0000"', 2, "environment: A has a NUL character"),
        ('[agent.claude.environment]\nGEMBA_HOME = "x"', 2, "environment: GEMBA_HOME is set by Gemba itself"),
        ('[agent."a b"]\ncommand = "x"', 1, 'agent "a b": this name cannot be used; allowed: letters, digits'),
        ('[agent."-p"]\ncommand = "x"', 1, 'agent "-p": this name cannot be used; allowed: letters, digits'),
        ("[agent.codex]\n[agents.codex]", 2, 'agent "codex": this type stands in the file twice'),
        (
            '[agent.claude-headless]\nbackend = "tmux"',
            2,
            "prompt is stdin, which is the keyboard in tmux; allowed there: ",
        ),
        ('[agent.claude]\nterminal = "pipe"', 2, "terminal goes with backend process"),
        ('[agent.claude]\nbackend = "process"\nprompt = "stdin"', 3, "prompt is stdin, and command has {prompt}"),
        ('[agent.claude-headless]\nprompt = "file"', 2, "prompt is file, and instructions names no file"),
        ('[agent.claude]\nprompt = "file"\ninstructions = ""', 3, "prompt is file, and instructions names no file"),
    ],
)
def test_a_fault_is_told_with_its_line_and_what_is_allowed(text: str, line: int, message: str) -> None:
    (found,) = findings_of(text)

    assert (found.line, message in found.message) == (line, True), found


def test_every_fault_is_told_at_once() -> None:
    text = '[agent.a]\ncommand = ""\nmode = 1\n[agent.b]\ncommand = "b"\n[agent.b.environment]\nGEMBA_ROLE = 3\n'

    assert [finding.line for finding in findings_of(text)] == [2, 3, 7, 7]


def test_what_a_variable_holds_is_not_repeated_in_a_fault() -> None:
    text = '[agent.claude.environment]\nA = "$geheim/1"\nB = ["geheim"]\n[agent.own]\ncommand = "geheim \'"\n'

    assert "geheim" not in str(findings_of(text))


def test_a_file_that_nobody_wrote_is_refused_early() -> None:
    many = "".join(f'[agent.a{number}]\ncommand = "x"\n' for number in range(MOST_AGENTS + 1))

    assert [finding.line for finding in findings_of(many)] == [1]
    assert findings_of(b"#" * (MOST_BYTES + 1)) == [Finding(1, f"the file is too long; allowed: {MOST_BYTES:,} bytes")]
    assert "not TOML" in findings_of(b"a = '\xff'")[0].message


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / ".gemba" / "agents.toml").mkdir(parents=True)

    with pytest.raises(Unusable, match=r"agents\.toml: Is a directory"):
        read_agents(Workspace(tmp_path))


def test_a_fault_in_one_type_is_no_other_types() -> None:
    found = parse_sound(
        b'[agent.mine]\ncommand = "x"\nbackend = "screen"\n[agents.claude]\nprompt = "stdin"\n'
        b'[agent.own]\ncommand = "y"\n[agent.shell]\nmax_parallel = 3\n[agnet.typo]\ncommand = "z"\n'
    )

    assert set(found.faulty) == {"mine", "claude"}
    assert found.agents.keys() == ({*SHIPPED} | {"own"}) - {"claude"}
    assert (find_sound(found, "shell").max_parallel, find_sound(found, "shell").origin) == (3, "changed")
    assert (find_sound(found, "builtin").origin, find_sound(found, "own").origin) == ("shipped", "workspace")
    for name, words in (("mine", r'agents\.toml:3: agent "mine": backend'), ("claude", r"agents\.toml:5: ")):
        with pytest.raises(Invalid, match=words):
            find_sound(found, name)
    with pytest.raises(Invalid, match="agnet"):  # it may be what was meant
        find_sound(found, "typo")
    with pytest.raises(NotFound):
        find_sound(parse_sound(b""), "typo")


def test_of_what_is_no_toml_no_type_is_taken_that_it_names() -> None:
    found = parse_sound(b'[agent.claude]\nenvironment = { A = "1" \n[agent.mine]\ncommand = "x"\n')

    assert "builtin" in found.agents
    for name in ("claude", "mine", "command"):
        with pytest.raises(Invalid, match=r"agents\.toml:\d+: this is not TOML"):
            find_sound(found, name)
    assert parse_sound(b"#" * (MOST_BYTES + 1)).agents == {}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8).map(repr) | st.just("'$X'"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.sampled_from([*Agent.__struct_fields__, "other"])


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from(["agent.claude", "agents.own", "agent.command"]))
def test_whatever_stands_in_a_file_it_is_taken_or_told(table: dict[str, object], name: str) -> None:
    lines = [f"{key} = {str(value).replace('None', '1979-05-27').lower()}" for key, value in table.items()]

    with contextlib.suppress(Invalid):
        found = parse_agents("\n".join([f"[{name}]", *lines]).encode())
        assert set(SHIPPED) <= set(found)
    sound = parse_sound("\n".join([f"[{name}]", *lines]).encode())
    assert {*sound.agents, *sound.faulty} >= set(SHIPPED)
    assert not sound.agents.keys() & sound.faulty


# ---- here ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the programs `agent` and `tmux`, and one that cannot be run."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, mode in (("agent", 0o755), ("tmux", 0o755), ("plain", 0o644)):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(mode)
    return folder


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('command = "agent"', None),
        ('command = "agent"\nbackend = "tmux"\nprompt = "none"', None),
        ('command = "bin/agent"', None),
        ('command = "{python} -m x"', None),
        ('command = "missing --flag"', "missing is not on PATH"),
        ('command = "plain"', "plain is not on PATH"),
        ('command = "bin/plain"', "bin/plain is not there, or cannot be run"),
        ('command = "./missing"', "./missing is not there, or cannot be run"),
        ('command = "bin"', "bin is not on PATH"),
        ('command = "agent"\nenvironment = { A = "$PATH", B = "text" }', None),
        ('command = "agent"\nenvironment = { A = "$NO_A" }', "NO_A is not set in the environment of this process"),
        (
            'command = "agent"\nenvironment = { A = "$NO_A", B = "$NO_B" }',
            "NO_A, NO_B are not set in the environment of this process",
        ),
        ('command = "agent"\nenvironment = { PATH = "/nowhere" }', "agent is not on PATH"),
    ],
)
def test_a_type_says_why_it_cannot_be_used(tmp_path: Path, programs: Path, table: str, why: str | None) -> None:
    assert usable(agent(f"[agent.own]\n{table}"), tmp_path, {"PATH": str(programs)}) == why


def test_without_tmux_what_runs_in_it_cannot_be_used(tmp_path: Path, programs: Path) -> None:
    (programs / "tmux").unlink()
    own = agent('[agent.own]\ncommand = "agent"\nbackend = "tmux"\nprompt = "none"')

    assert usable(own, tmp_path, {"PATH": str(programs)}) == "tmux is not on PATH"


def test_what_needs_no_client_can_be_used_on_a_fresh_machine(tmp_path: Path) -> None:
    found = parse_agents(b"")
    surroundings = {"PATH": os.defpath}

    assert usable(found["builtin"], tmp_path, surroundings) is None
    assert usable(found["command"], tmp_path, surroundings) == (
        "no command is given: set one under [agent.command] in .gemba/agents.toml"
    )
    assert usable(found["codex"], tmp_path, {"PATH": "/nowhere"}) == "codex is not on PATH"


def test_what_every_run_is_given_is_known() -> None:
    assert {"GEMBA_RUN_ID", "GEMBA_SESSION_ID", "GEMBA_ROLE", "GEMBA_HOME"} < OWN_VARIABLES
