"""Role-specs at the command line: begun, listed, linted; what is refused, and how findings are told."""

import json
from pathlib import Path

from gemba.teams.roles.traits import traits_block
from tests.fixtures.operator import Operator

HINT = "the `State:` line says what is reported, and the engine sends it; what is upstream comes with the task"


def test_a_role_spec_is_begun_listed_and_linted(alone: Operator) -> None:
    made = json.loads(alone.ok("roles", "new", "developer", "--pattern", "code", "--cli-tool", "claude", "--json"))

    file = alone.workspace / ".gemba" / "roles" / "developer.md"
    assert made == {"role": "developer", "file": str(file)}
    assert traits_block() in file.read_text()
    assert "developer  IMPL-* · .gemba/roles/developer.md" in alone.ok("roles")
    assert alone.ok("roles", "lint") == "1 role-spec can be used: no errors, no warnings\n"
    assert alone.refused("roles", "new", "developer", "--pattern", "code") == (
        "gemba: .gemba/roles/developer.md has this role already"
    )


def test_a_wrong_command_line_says_what_is_allowed(alone: Operator) -> None:
    for arguments, message in (
        (["new", "../x", "--pattern", "code"], 'NAME is "../x"; allowed: small letters'),
        (["new", "a", "--pattern", "code", "--prefix", "a-"], '--prefix is "a-"; allowed: capital letters'),
        (["new", "a", "--pattern", "code", "--loads", "x\ny"], "--loads is one line with words in it."),
        (["new", "a", "--pattern", "code", "--cli-tool", "clod"], 'no agent type is called "clod"'),
        (["new", "a", "--pattern", "code", "--responsibility", "does <this>"], "<this> is not filled in"),
        (["new", "a", "--pattern", "craft"], "'craft' is not one of 'research'"),
        (["new", "a"], "Missing option '--pattern'."),
        (["lint", "--json", "--format", "github"], "--json does not go with --format github."),
    ):
        assert message in alone.refused("roles", *arguments, code=2)
    assert not (alone.workspace / ".gemba" / "roles").exists()


def test_findings_are_told_to_people_to_programs_and_to_github(alone: Operator) -> None:
    alone.ok("roles", "new", "tester", "--pattern", "validation")
    file = alone.workspace / ".gemba" / "roles" / "tester.md"
    lines = file.read_text().split("\n")
    line = lines.index("What still fails is listed with its cause.") + 1
    file.write_text("\n".join([*lines[: line - 1], "Call team_msg.", *lines[line:]]))

    shown = alone.run("roles", "lint")
    as_json = alone.run("roles", "lint", "--json")
    at_github = alone.run("roles", "lint", ".gemba/roles", "--format", "github")

    assert (shown.returncode, as_json.returncode, at_github.returncode) == (1, 1, 1)
    message = "the role sends or reads messages itself: team_msg"
    assert shown.stdout.startswith(
        f".gemba/roles/tester.md:{line}: error: {message} [bus-call]\n    → the `State:` line"
    )
    assert shown.stdout.endswith("no role-specs can be used: 1 error, no warnings\n")
    found = json.loads(as_json.stdout)
    assert (found["ok"], found["roles"]) == (False, [])
    assert [(each["file"], each["line"], each["rule"]) for each in found["findings"]] == [
        (".gemba/roles/tester.md", line, "bus-call")
    ]
    place = f"::error file=.gemba/roles/tester.md,line={line},title=bus-call::"
    assert at_github.stdout == f"{place}{message} ({HINT})\n"


def test_a_path_is_linted_without_a_workspace(home: Path, tmp_path: Path) -> None:
    outside = Operator(tmp_path, home)
    (tmp_path / "x.md").write_text("no front matter")

    assert "x.md:1: error: the file does not begin with front matter" in outside.run("roles", "lint", "x.md").stdout
    assert "there is no workspace here: name a PATH" in outside.refused("roles", "lint", code=2)
    assert outside.ok("roles", "traits") == traits_block()
