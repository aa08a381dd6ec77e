"""`gemba init` in repositories as they are: which agents and work it finds, what it imports, what it leaves out."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.operator import Operator
from tests.fixtures.repositories import git
from tests.fixtures.servers import BIN

REALISTIC = Path(__file__).parents[1] / "fixtures" / "beads" / "issues.jsonl"
CHECKLIST = "# Launch\n- [ ] Invite\n  - [ ] Find a room\n- [x] Set a date\n"
BEADS = "".join(f"{line}\n" for line in REALISTIC.read_text().splitlines()[:3])
_LARGEST_LIST = 4 * 1024 * 1024


def write(operator: Operator, name: str, text: str) -> Path:
    path = operator.workspace / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def found(operator: Operator, *arguments: str, code: int = 0, **more: Any) -> dict[str, Any]:
    done = operator.run("init", "--json", *arguments, **more)
    assert (done.returncode, done.stderr) == (code, ""), done
    return dict(json.loads(done.stdout))


def sources(operator: Operator, *arguments: str) -> dict[str, dict[str, Any]]:
    """What was found, by its first file."""
    return {source["files"][0]: source for source in found(operator, *arguments)["sources"]}


def titles(operator: Operator) -> list[str]:
    return sorted(item["title"] for item in json.loads(operator.ok("item", "list", "--json"))["items"])


def at_terminal(operator: Operator, *arguments: str, typed: str = "") -> tuple[int, str]:
    """The exit code of a command at a terminal, and what stands there afterwards."""
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [BIN / "gemba", *arguments],
        cwd=operator.workspace,
        env=operator.environment,
        stdin=side,
        stdout=side,
        stderr=side,
    )
    os.close(side)
    os.write(terminal, typed.encode())
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError:  # the other side was closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return process.wait(60), shown.decode().replace("\r\n", "\n")


# ---- what is there ----------------------------------------------------------------------------------------------


def test_without_a_terminal_work_is_told_with_the_command_that_imports_it_and_nothing_is_asked(alone: Operator) -> None:
    write(alone, "TODO.md", CHECKLIST)
    write(alone, ".beads/issues.jsonl", BEADS)

    told = alone.ok("init").splitlines()

    assert ".beads: 3 issues, 2 open" in told
    assert "TODO.md: 3 entries, 2 open" in told
    assert told[-4:] == [
        "Nothing was imported. To do it, or `gemba init --import` for all of it:",
        "  gemba import beads .beads/issues.jsonl",
        "  gemba import md TODO.md",
        "Next: gemba serve",
    ]
    assert not (alone.workspace / ".gemba/gemba.db").exists()
    for line in told[-3:-1]:
        alone.ok(*line.split()[1:])
    assert [source["new"] for source in found(alone)["sources"]] == [0, 0]


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        (".beads/issues.jsonl", BEADS, 3),
        ("TODO.md", CHECKLIST, 4),
        ("todo.txt", "(A) 2026-01-02 Invite +launch\nx 2026-01-03 Set a date\n", 2),
        ("TODO", "Soon:\n- Invite\n  - Find a room\n", 2),
        ("docs/issues.md", "- [ ] It crashes\n", 1),
        ("ROADMAP.md", "Words.\n\n## M1 Launch\n\n* [ ] Invite\n", 2),
    ],
)
def test_each_kind_of_source_is_imported_once_however_often(alone: Operator, name: str, text: str, made: int) -> None:
    write(alone, name, text)

    first = sources(alone, "--import")[name]
    items = titles(alone)
    again = sources(alone, "--yes")[name]
    looked = sources(alone)[name]

    assert (first["imported"]["created"], len(items)) == (made, made)
    assert (again["imported"]["created"], again["imported"]["unchanged"]) == (0, made)
    assert (looked["new"], looked["imported"], titles(alone)) == (0, None, items)
    alone.ok(*looked["command"].split()[1:])
    assert titles(alone) == items
    assert "; all of them are work items already" in alone.ok("init")


def test_init_imports_beside_a_server_as_without_one_and_leads_to_what_comes_next(operator: Operator) -> None:
    write(operator, "TODO.md", CHECKLIST)

    told = operator.ok("init", "--import")

    assert "TODO.md: 4 made, 0 changed, 0 unchanged.\n" in told
    assert told.endswith("\nNext: gemba open\n" if operator.server else "\nNext: gemba serve\n")
    assert titles(operator) == ["Find a room", "Invite", "Launch", "Set a date"]


def test_what_is_new_in_a_file_is_offered_and_what_was_ticked_off_is_taken_in_when_asked_for(alone: Operator) -> None:
    write(alone, "TODO.md", "- [ ] Invite\n- [ ] Find a room\n")
    alone.ok("init", "--import")
    write(alone, "TODO.md", "- [x] Invite\n- [ ] Find a room\n- [ ] Cook\n")

    assert "TODO.md: 3 entries, 2 open, 1 of them new\n" in alone.ok("init")
    assert "TODO.md: 1 made, 1 changed, 1 unchanged.\n" in alone.ok("init", "--import")


def test_a_second_init_changes_nothing_and_says_so(alone: Operator) -> None:
    write(alone, "TODO.md", CHECKLIST)
    alone.ok("init", "--import")
    before = {path: path.read_bytes() for path in alone.workspace.rglob("*.*") if path.suffix in (".toml", ".md")}

    told = alone.ok("init").splitlines()

    assert told[0] == f"{alone.workspace}/.gemba: everything is there already"
    assert "TODO.md: 3 entries, 2 open; all of them are work items already" in told
    assert not any("import" in line for line in told)
    assert {path: path.read_bytes() for path in before} == before


def test_below_the_top_and_from_elsewhere_the_commands_that_are_told_can_be_typed_there(
    alone: Operator, tmp_path: Path
) -> None:
    write(alone, "docs/TODO.md", "- [ ] Invite\n")
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()

    below = alone.ok("init", cwd=alone.workspace / "docs")
    other = alone.ok("-C", str(alone.workspace), "init", cwd=elsewhere)

    assert "\n  gemba import md TODO.md\n" in below
    command = f"gemba -C {alone.workspace} import md ../{alone.workspace.relative_to(tmp_path)}/docs/TODO.md"
    assert f"\n  {command}\n" in other
    assert other.endswith(f"\nNext: gemba -C {alone.workspace} serve\n")
    assert alone.ok(*command.split()[1:], cwd=elsewhere) == "1 made, 0 changed, 0 unchanged.\n"


# ---- at a terminal ----------------------------------------------------------------------------------------------


def test_at_a_terminal_it_asks_once_and_enter_is_yes(alone: Operator) -> None:
    write(alone, "TODO.md", CHECKLIST)

    code, shown = at_terminal(alone, "init", typed="\n")

    assert code == 0
    assert shown.count("[Y/n]") == 1
    assert "Import these 3 as work items? [Y/n]: " in shown
    assert shown.endswith("TODO.md: 4 made, 0 changed, 0 unchanged.\nNext: gemba serve\n")
    code, shown = at_terminal(alone, "init")
    assert (code, "[Y/n]" in shown) == (0, False)


@pytest.mark.parametrize("arguments", [[], ["--no-import"]])
def test_at_a_terminal_a_no_imports_nothing_and_tells_the_command(alone: Operator, arguments: list[str]) -> None:
    write(alone, "TODO.md", CHECKLIST)

    code, shown = at_terminal(alone, "init", *arguments, typed="n\n")

    assert code == 0
    assert ("[Y/n]" in shown) == (arguments == [])
    assert shown.endswith("\n  gemba import md TODO.md\nNext: gemba serve\n")
    assert not (alone.workspace / ".gemba/gemba.db").exists()


def test_flags_that_contradict_each_other_are_refused_before_anything_is_written(alone: Operator) -> None:
    assert "contradict" in alone.refused("init", "--yes", "--no-import", code=2)
    assert list((alone.workspace / ".gemba").iterdir()) == []


# ---- agents -----------------------------------------------------------------------------------------------------


def test_agents_are_found_with_their_versions_and_none_is_started(alone: Operator, tmp_path: Path) -> None:
    places = {
        "claude": tmp_path / "share/claude/versions/2.1.325",
        "codex": tmp_path / "lib/node_modules/@openai/codex/bin/codex.js",
        "gemini": tmp_path / "gemini-of-my-own",
    }
    path = tmp_path / "bin"
    path.mkdir()
    for name, program in places.items():
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\ntouch "{tmp_path}/started"\n')
        program.chmod(0o700)
        (path / name).symlink_to(program)
    (tmp_path / "lib/node_modules/@openai/codex/package.json").write_text('{"name": "x", "version": "0.98.1"}')

    told = found(alone, PATH=str(path))["agents"]
    shown = alone.ok("init", PATH=str(path))

    assert [(agent["program"], agent["version"]) for agent in told] == [
        ("claude", "2.1.325"),
        ("codex", "0.98.1"),
        ("gemini", None),
        ("opencode", None),
    ]
    assert (told[0]["types"], told[0]["why_not"]) == (["claude-headless"], {"claude": "tmux is not on PATH"})
    assert (told[3]["path"], told[1]["path"]) == (None, str(path / "codex"))
    assert (
        "Agents: claude 2.1.325 (claude: tmux is not on PATH), codex 0.98.1, gemini; not on PATH: opencode\n" in shown
    )
    assert not (tmp_path / "started").exists()


def test_where_no_agent_is_installed_the_built_in_one_is_named(alone: Operator, tmp_path: Path) -> None:
    assert "Agents: none is on PATH (claude, codex, gemini, opencode); the built-in one" in alone.ok(
        "init", PATH=str(tmp_path)
    )


# ---- surroundings that are not as they should be ------------------------------------------------------------------


def test_in_no_git_repository_it_says_what_is_allowed(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    operator = Operator(folder, home)
    write(operator, "TODO.md", "- [ ] a\n")

    told = operator.ok("init", "--import")

    assert "\nIt is in no git repository: sessions work in this folder itself, one at a time. After `git init` " in told
    assert (found(operator)["repository"], titles(operator)) == (False, ["a"])


@pytest.mark.parametrize("inside", ["", "hooks"])
@pytest.mark.parametrize("bare", [True, False])
def test_where_git_keeps_a_repository_nothing_is_written(tmp_path: Path, home: Path, bare: bool, inside: str) -> None:
    git(tmp_path, "init", "--quiet", *(["--bare"] if bare else []), "shop.git")
    folder = tmp_path / "shop.git" if bare else tmp_path / "shop.git/.git"
    (folder / "hooks").mkdir(exist_ok=True)

    told = Operator(folder / inside, home).refused("init")

    kept = "a bare git repository" if bare else "where git keeps a repository"
    assert told == f"gemba: {folder} is {kept}, with no files to work on: run gemba init in a checkout of it"
    assert not list(tmp_path.rglob(".gemba"))


def test_hostile_files_are_named_with_the_reason_and_stop_nothing(alone: Operator, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("- [ ] not ours\n")
    (alone.workspace / "ROADMAP.md").symlink_to(tmp_path / "outside.md")
    (alone.workspace / "ISSUES.md").symlink_to("ISSUES.md")
    os.mkfifo(alone.workspace / "todo.txt")
    (alone.workspace / "tasks.md").write_bytes(b"- [ ] a\0b\n")
    (alone.workspace / "docs").symlink_to(tmp_path)
    (tmp_path / "TODO.md").write_text("- [ ] not ours either\n")
    (alone.workspace / "TODO").mkdir()
    (alone.workspace / ".beads").mkdir()
    (alone.workspace / ".beads/issues.jsonl").symlink_to("/dev/zero")
    with (alone.workspace / "BACKLOG.md").open("wb") as file:
        file.truncate(_LARGEST_LIST + 1)
    write(alone, "TODO.md", "- [ ] \x1b[31mred\n- [ ] caf\N{REPLACEMENT CHARACTER}\n- [?] odd\n")

    told = sources(alone, "--import")
    shown = alone.ok("init")

    assert {name: source["problem"] for name, source in told.items()} == {
        ".beads": "it has no issues.jsonl; an export of the tracker writes one",
        "BACKLOG.md": "it has more than 4,194,304 bytes",
        "ISSUES.md": "too many levels of symbolic links",
        "ROADMAP.md": "it leads out of the repository",
        "TODO.md": None,
        "tasks.md": "it is no text",
        "todo.txt": "it is no regular file",
        "docs/TODO.md": "it leads out of the repository",
    }
    assert told["BACKLOG.md"]["command"] == "gemba import md BACKLOG.md"
    assert [(bad["line"], bad["file"]) for bad in told["TODO.md"]["imported"]["bad"]] == [(3, "TODO.md")]
    assert "not ours" not in " ".join(titles(alone))
    assert "\x1b" not in shown
    assert "\nROADMAP.md: left out: it leads out of the repository\n" in shown


def test_lists_that_are_made_to_take_long_are_read_at_once(alone: Operator) -> None:
    deep = "".join(f"{' ' * depth}- [ ] {depth}\n" for depth in range(1_200))
    write(alone, "TODO.md", f"# a{' ' * 100_000}x\n{deep}")

    told = sources(alone)["TODO.md"]

    assert (told["entries"], told["bad"], told["problem"]) == (100, 1_100, None)


if os.geteuid() != 0:  # who may read everything

    def test_a_file_that_cannot_be_read_is_named(alone: Operator) -> None:
        write(alone, "TODO.md", "- [ ] a\n").chmod(0)

        assert sources(alone)["TODO.md"]["problem"] == "permission denied"


@pytest.mark.parametrize("name", [".gemba", ".gemba/personas"])
def test_nothing_is_written_where_a_link_leads_out_of_the_repository(
    alone: Operator, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = alone.workspace / name
    if place.is_dir():
        place.rmdir()
    place.symlink_to(outside)

    line = alone.refused("init")

    assert line.startswith(f"gemba: {place} leads out of the repository, to {outside}; allowed: ")
    assert list(outside.iterdir()) == []
    assert not (alone.workspace / ".gemba/workspace.toml").exists()


@pytest.mark.parametrize("name", [b"new\nline \x1b[31m 'quoted'", b"caf\xe9"], ids=["escapes", "no UTF-8"])
def test_a_repository_may_have_any_name(tmp_path: Path, home: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    operator = Operator(folder, home)
    write(operator, "TODO.md", "- [ ] a\n")

    told = found(operator)
    shown = operator.ok("init")

    assert told["written"]
    assert told["sources"][0]["new"] == 1
    assert "\x1b" not in shown
    assert (folder / ".gemba/workspace.toml").is_file()


def test_settings_that_are_wrong_are_told_and_nothing_is_imported(alone: Operator) -> None:
    write(alone, "TODO.md", CHECKLIST)
    write(alone, ".gemba/workspace.toml", "[server]\nport = 'x'\n")

    told = found(alone, "--import", code=1)
    done = alone.run("init")

    assert "workspace.toml:2: " in told["problem"]
    assert told["sources"] == []
    assert (done.returncode, "Next:" in done.stdout) == (1, False)
    assert "workspace.toml:2: " in done.stderr
    assert "agents.toml" in told["written"]
    assert stat.S_IMODE((alone.workspace / ".gemba").stat().st_mode) & 0o700 == 0o700


def test_agents_that_are_wrong_are_told_and_the_rest_goes_on(alone: Operator) -> None:
    write(alone, ".gemba/agents.toml", "[agent.own]\ncolour = 1\n")

    told = found(alone)

    assert "agents.toml:2: " in told["agents_problem"]
    assert "\nagents.toml: " in alone.ok("init")


def test_a_database_that_the_repository_names_is_not_talked_to_unasked(alone: Operator) -> None:
    write(alone, "TODO.md", CHECKLIST)
    write(alone, ".gemba/workspace.toml", '[store]\nurl = "postgresql://nobody@127.0.0.1:1/none"\n')

    assert sources(alone)["TODO.md"]["new"] == 3
    told = found(alone, "--import", code=1)

    assert "database" in told["problem"]
    assert told["sources"][0]["imported"] is None
