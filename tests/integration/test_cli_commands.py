"""What every command has in common: help, --json, exit codes, one line an error, completion, a quick start."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from gemba.cli import ask, state
from gemba.cli.main import COMMANDS, cli
from tests.fixtures.operator import Operator, suffix
from tests.fixtures.servers import BIN

# What is told here of every command is told of one that the system has started.
pytestmark = pytest.mark.usefixtures("cold_starts")

AGENTS = {"gemba-ask": ask.COMMAND, "gemba-state": state.COMMAND}


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process outside any workspace."""
    return subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


# ---- help -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_json(name: str) -> None:
    found = command(name)

    shown = found.get_help(click.Context(found, info_name=f"gemba {name}", max_content_width=80))

    assert re.search(rf"^  Example:\n    .*\bgemba {name}\b", shown, re.MULTILINE), shown
    assert re.search(r"^  --json +Print JSON", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter
        else:
            assert parameter.make_metavar(click.Context(found)).strip("[]") in (found.help or ""), parameter


@pytest.mark.parametrize("name", AGENTS)
def test_every_command_of_agents_has_help_with_an_example_and_json(name: str) -> None:
    done = run(BIN / name, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"\nExample:\n  {name} " in done.stdout
    assert re.search(r"^  --json +\w", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_help_names_every_command_with_what_it_does() -> None:
    done = run(BIN / "gemba", "--help")

    assert (done.returncode, done.stderr) == (0, "")
    for name, (_, summary) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_one_sentence(name: str) -> None:
    assert re.fullmatch(r"[A-Z].{5,60}\.", COMMANDS[name][1])


# ---- exit codes and errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "gemba: No such command 'nothing'. Commands: init, serve,"),
        (["--nothing"], "gemba: No such option '--nothing'"),
        (["inbox", "--nothing"], "gemba inbox: No such option '--nothing'"),
        (["inbox", "--limit", "0"], "gemba inbox: Invalid value for '--limit'"),
        (["inbox", "--limit", "many"], "gemba inbox: Invalid value for '--limit'"),
        (["inbox", "abc", "--watch"], "gemba inbox: an ID goes with --json alone."),
        (["answer"], "gemba answer: Missing argument 'ID'."),
        (["answer", "abc"], "gemba answer: what is the answer? Give TEXT, --option N,"),
        (["answer", "abc", "x", "y"], "gemba answer: Got unexpected extra argument (y)"),
        (["answer", "abc", "--option", "two"], "gemba answer: Invalid value for '-o' / '--option'"),
        (["answer", "abc", "--decision", "perhaps"], "gemba answer: Invalid value for '--decision'"),
        (["snooze", "abc", "soon"], "gemba snooze: Invalid value for 'TIME': 'soon' is not a time; write 90s,"),
        (["overturn", "abc"], "gemba overturn: Missing argument 'TEXT'."),
        (["completion", "tcsh"], "gemba completion: Invalid value for 'SHELL'"),
        (["demo", "-C", "x"], "gemba demo: No such option '-C'"),
    ],
)
def test_a_usage_error_is_one_line_and_exit_2(alone: Operator, arguments: list[str], message: str) -> None:
    line = alone.refused(*arguments, code=2)

    assert line.startswith(message)
    assert re.search(r"[.?!] Try 'gemba[ a-z]* --help'\.$", line)


def test_without_a_command_the_help_is_shown_and_exit_is_2() -> None:
    done = run(BIN / "gemba")

    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:\n  init " in done.stderr


@pytest.mark.parametrize("arguments", [["inbox"], ["inbox", "--json"], ["assumptions"], ["open"], ["serve"]])
def test_outside_a_workspace_a_command_says_how_to_make_one(home: Path, tmp_path: Path, arguments: list[str]) -> None:
    line = Operator(tmp_path, home).refused(*arguments)

    assert line == (
        f"gemba: no workspace: neither {tmp_path} nor a folder above it has a .gemba folder; `gemba init` makes one"
    )


def test_a_gemba_workspace_that_points_nowhere_is_named(alone: Operator) -> None:
    line = alone.refused("inbox", GEMBA_WORKSPACE="/nowhere")

    assert line.startswith("gemba: GEMBA_WORKSPACE is /nowhere, which has no .gemba folder")


def test_a_home_that_cannot_be_found_is_said(alone: Operator) -> None:
    assert alone.refused("inbox", GEMBA_HOME="~nobody-of-this-name") == (
        "gemba: no home folder is known: set GEMBA_HOME"
    )


def test_a_home_that_cannot_be_used_is_said(alone: Operator, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert "Not a directory" in alone.refused("inbox", GEMBA_HOME=str(tmp_path / "file"))


def test_settings_that_are_wrong_are_said_with_their_place(alone: Operator) -> None:
    (alone.workspace / ".gemba" / "workspace.toml").write_text("[server]\nport = 1.5\n")

    line = alone.refused("inbox")

    assert "workspace.toml" in line
    assert "workspace.toml:2: [server] port is 1.5; allowed: a whole number from 0 to 65,535" in line


@pytest.mark.parametrize("content", [b"this is no database, whatever its name says" * 100, None])
def test_a_database_that_is_none_is_said(alone: Operator, content: bytes | None) -> None:
    file = alone.workspace / ".gemba" / "gemba.db"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)

    for arguments in (["inbox", "--json"], ["inbox", "--watch"]):
        assert re.search(r"gemba\.db|database", alone.refused(*arguments))


def test_a_file_in_the_way_is_said(alone: Operator) -> None:
    (alone.workspace / ".gemba" / "signal").touch()

    assert alone.refused("inbox").endswith("/.gemba/signal: File exists")


@pytest.mark.parametrize("arguments", [["inbox"], ["inbox", "--json"], ["assumptions"], ["--help"]])
def test_a_full_disk_behind_stdout_is_an_error_not_a_traceback(alone: Operator, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [BIN / "gemba", *arguments],
            cwd=alone.workspace,
            env=alone.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, "gemba: No space left on device\n")


def test_the_log_never_goes_where_the_json_goes(alone: Operator) -> None:
    id = alone.ask()
    (alone.home / "replies").write_text("in the way")

    done = alone.run("answer", suffix(id), "8080", "--json")

    assert json.loads(done.stdout)["id"] == id
    assert "the reply could not be written" in done.stderr


# ---- the start --------------------------------------------------------------------------------------------------

LIST_MODULES = """
import sys
from gemba.cli.main import main
try:
    main()
finally:
    print("modules:", *sys.modules, file=sys.stderr)
"""


def modules_of(*arguments: str, cwd: Path | None = None, **environment: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LIST_MODULES, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.partition("modules: ")[2].split()}


HEAVY = {"sqlalchemy", "alembic", "starlette", "uvicorn", "sse_starlette", "asyncio", "structlog", "psycopg"}


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_saying_its_version_loads_nothing_heavy(arguments: list[str]) -> None:
    assert not modules_of(*arguments) & (HEAVY | {"msgspec", "http"})


def test_a_running_server_makes_the_store_and_the_web_unnecessary(served: Operator) -> None:
    id = served.ask()

    for arguments in (["inbox"], ["inbox", "--json"], ["assumptions"], ["snooze", id], ["answer", id, "8080"]):
        assert not modules_of(*arguments, cwd=served.workspace, GEMBA_HOME=str(served.home)) & HEAVY


def test_without_a_server_the_web_stack_and_the_migrations_stay_out(alone: Operator) -> None:
    alone.ok("inbox")

    loaded = modules_of("inbox", cwd=alone.workspace, GEMBA_HOME=str(alone.home))

    assert "sqlalchemy" in loaded
    assert not loaded & {"starlette", "uvicorn", "sse_starlette", "alembic", "psycopg"}


# ---- completion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str) -> None:
    done = run(BIN / "gemba", "completion", shell)

    assert (done.returncode, done.stderr) == (0, "")
    assert f"_GEMBA_COMPLETE={shell}_complete" in done.stdout
    for name in AGENTS:
        assert name in done.stdout
    as_json = json.loads(run(BIN / "gemba", "completion", shell, "--json").stdout)
    assert as_json == {"shell": shell, "script": done.stdout.removesuffix("\n")}


def complete(operator: Operator, *words: str) -> list[str]:
    """What bash itself offers for the last word, with the script that the command prints."""
    script = """
        eval "$(gemba completion bash)"
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        _gemba_completion "$1" "${COMP_WORDS[COMP_CWORD]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script, "bash", *words],
        cwd=operator.workspace,
        env={**operator.environment, "PATH": f"{BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.split()


def test_bash_completes_commands_and_options(alone: Operator) -> None:
    assert complete(alone, "gemba", "") == list(COMMANDS)
    assert complete(alone, "gemba", "in") == ["init", "inbox", "install-bridge"]
    assert complete(alone, "gemba", "inbox", "--w") == ["--watch"]
    assert complete(alone, "gemba", "answer", "x", "--decision", "") == ["yes", "no", "modify"]
    assert complete(alone, "gemba", "completion", "f") == ["fish"]


def test_bash_completes_the_ids_that_are_meant(operator: Operator) -> None:
    open_one, settled = operator.ask(), operator.ask()
    assumption = operator.ask(kind="assumption", chose="8080")
    operator.ok("answer", settled, "x")

    for name in ("inbox", "answer", "dismiss", "snooze"):
        assert complete(operator, "gemba", name, "") == [suffix(open_one)]
    assert complete(operator, "gemba", "answer", suffix(open_one)[:3]) == [suffix(open_one)]
    assert complete(operator, "gemba", "reopen", "") == [suffix(settled)]
    assert complete(operator, "gemba", "overturn", "") == [suffix(assumption)]


def test_completing_an_id_outside_a_workspace_offers_none_and_says_nothing(home: Path, tmp_path: Path) -> None:
    assert complete(Operator(tmp_path, home), "gemba", "answer", "") == []


def test_completing_commands_loads_none_of_them() -> None:
    environment = {"_GEMBA_COMPLETE": "bash_complete", "COMP_WORDS": "gemba in", "COMP_CWORD": "1"}

    assert not modules_of(cwd=None, **environment) & (HEAVY | {"msgspec", "http"})


# ---- the terminal -----------------------------------------------------------------------------------------------


def on_a_terminal(operator: Operator, *arguments: str, columns: int = 80, **environment: str) -> str:
    """What a command writes to a terminal that is so wide."""
    main, side = pty.openpty()
    try:
        done = subprocess.Popen(
            [BIN / "gemba", *arguments],
            cwd=operator.workspace,
            env={**operator.environment, "TERM": "xterm", "COLUMNS": str(columns), **environment},
            stdin=side,
            stdout=side,
            stderr=side,
        )
        os.close(side)
        shown = b""
        while chunk := _read(main):
            shown += chunk
        assert done.wait(60) == 0, shown
        return shown.decode()
    finally:
        os.close(main)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


@pytest.mark.parametrize("arguments", [["inbox"], ["doctor"]])
def test_colours_are_for_terminals_and_can_be_refused(alone: Operator, arguments: list[str]) -> None:
    alone.ask()

    assert "\x1b[" in on_a_terminal(alone, *arguments)
    assert "\x1b" not in on_a_terminal(alone, *arguments, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(alone, *arguments, TERM="dumb")
    assert "\x1b" not in alone.ok(*arguments)
    assert "\x1b[" in alone.ok(*arguments, FORCE_COLOR="1")


def test_a_narrow_terminal_gets_narrow_lines(alone: Operator) -> None:
    words = "a question of many words that goes on for a while, " * 5
    alone.ask(text=words, title=words, options=[words, "x" * 200], bead_id="shop-12", cwd="/srv")
    alone.ask(text="日本語の質問 " * 30, kind="blocker")
    alone.ask(kind="assumption", text=words, chose=words)

    for arguments, columns in ((["inbox"], 30), (["inbox"], 50), (["assumptions"], 30)):
        shown = on_a_terminal(alone, *arguments, columns=columns, NO_COLOR="1").splitlines()
        too_wide = [line for line in shown if _columns(line.rstrip()) > columns]
        assert [line for line in too_wide if "gemba " not in line] == []


def _columns(line: str) -> int:
    return sum(2 if ord(char) > 0x2E7F else 1 for char in line)


# ---- text of agents ---------------------------------------------------------------------------------------------

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\rgone\u202etxt.exe\u2066 <b>&amp;</b> \x00"
DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]")


def test_nothing_that_an_agent_writes_can_drive_the_terminal(served: Operator) -> None:
    said: dict[str, Any] = {"text": HOSTILE, "title": HOSTILE, "options": [HOSTILE], "bead_id": HOSTILE}
    open_one = served.say("GembaAsk", {**_question(), **said}, f"s{HOSTILE[:-1]}", agent_type=HOSTILE)
    answered = served.ask(**said)
    assumption = served.ask(kind="assumption", chose=HOSTILE, **said)
    served.say("GembaState", {"state": "working", "note": HOSTILE})

    for arguments in (
        ["answer", answered, HOSTILE[:-1]],
        ["overturn", assumption, HOSTILE[:-1]],
        ["inbox"],
        ["inbox", "--all"],
        ["inbox", open_one],
        ["inbox", answered],
        ["inbox", "--json"],
        ["inbox", open_one, "--json"],
        ["assumptions"],
        ["assumptions", "--json"],
        ["doctor"],
        ["answer", answered, "again"],
        ["inbox", HOSTILE[:-1]],
    ):
        done = served.run(*arguments)
        assert "Traceback" not in done.stderr
        assert not DANGEROUS.search(done.stdout), arguments
        assert not DANGEROUS.search(done.stderr), arguments


def _question() -> dict[str, Any]:
    return {"kind": "question", "role": "manager", "mode": "balanced"}


def test_json_on_a_terminal_still_says_what_the_agent_wrote(alone: Operator) -> None:
    id = alone.ask(text=HOSTILE)

    assert json.loads(alone.ok("inbox", id, "--json"))["text"] == HOSTILE.replace("\0", "\ufffd")


def test_a_reader_that_goes_away_ends_the_command_quietly(alone: Operator) -> None:
    for number in range(40):
        alone.append("GembaAsk", {**_question(), "text": f"{number} " + "words " * 200})

    for arguments in (["inbox"], ["inbox", "--json"], ["inbox", "--watch", "--json"]):
        process = subprocess.Popen(
            [BIN / "gemba", *arguments],
            cwd=alone.workspace,
            env=alone.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        with process.stderr:
            assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve", "--port", "abc"], "'abc' is not a whole number"),
        (["consult", "apply", "3fa9c1", "x"], "'x' is not a whole number"),
        (["roles", "new", "foo"], "Choose from: research, "),
        (["snooze", "3fa9c1", "2weeks"], ". Try 'gemba snooze --help'."),
        (["--json", "inbox"], "No such option '--json': it goes behind the command, as in gemba inbox --json."),
    ],
)
def test_a_command_line_that_is_wrong_is_told_in_plain_words(alone: Operator, arguments: list[str], told: str) -> None:
    line = alone.refused(*arguments, code=2)

    assert told in line
    assert "integer range" not in line
    assert "  " not in line


def test_an_operator_who_is_added_twice_can_be_given_a_new_address(alone: Operator) -> None:
    alone.ok("operator", "add", "maria")

    assert "remove and add maria for a new one" in alone.refused("operator", "add", "maria")
