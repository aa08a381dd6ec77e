"""Which commands a project has: by its build files, or as `.gemba/team.toml` names them, with its faults by line."""

from pathlib import Path

import pytest

from gemba.errors import Invalid, Unusable
from gemba.teams.project_commands import project_commands
from gemba.teams.run import ProjectCommand


def commands_of(root: Path, **files: str) -> list[tuple[str, str]]:
    for name, content in files.items():
        (root / name.replace("__", ".")).write_text(content)
    return [(each.command.run, each.command.dimension) for each in project_commands(root)]


MOST_COMMANDS = 20
PYPROJECT = "[tool.pytest.ini_options]\n[tool.ruff]\n"
PACKAGE = '{"scripts": {"test": "vitest", "lint": "eslint ."}}'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"Makefile": "all:\n\ttrue\n"}, []),
        (
            {"Makefile": "test: build\n\ttrue\nlint:\n\ttrue\n"},
            [("make test", "accuracy"), ("make lint", "consistency")],
        ),
        ({"Makefile": "check:\n\ttrue\n"}, [("make check", "accuracy")]),
        ({"Makefile": "check:\n\ntest:\n"}, [("make test", "accuracy"), ("make check", "consistency")]),
        ({"Makefile": "test := 1\nlint ::= 2\ntests:\n\ttrue\n"}, []),
        ({"pyproject__toml": PYPROJECT}, [("python3 -m pytest -q", "accuracy"), ("ruff check .", "consistency")]),
        ({"pyproject__toml": "[tool]\npytest = 1\nruff"}, []),
        ({"pytest__ini": ""}, [("python3 -m pytest -q", "accuracy")]),
        (
            {"Makefile": "test:\n", "pyproject__toml": PYPROJECT},
            [("make test", "accuracy"), ("ruff check .", "consistency")],
        ),
        ({"package__json": PACKAGE}, [("npm run test", "accuracy"), ("npm run lint", "consistency")]),
        (
            {"package__json": PACKAGE, "pnpm-lock__yaml": ""},
            [("pnpm run test", "accuracy"), ("pnpm run lint", "consistency")],
        ),
        ({"package__json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, []),
        ({"package__json": "[" * 100_000}, []),
        ({"package__json": '{"scripts": ["test"]}'}, []),
        ({"Cargo__toml": ""}, [("cargo test --quiet", "accuracy")]),
        ({"go__mod": ""}, [("go test ./...", "accuracy"), ("go vet ./...", "consistency")]),
        (
            {"go__mod": "", "package__json": PACKAGE},
            [
                ("npm run test", "accuracy"),
                ("go test ./...", "accuracy"),
                ("npm run lint", "consistency"),
                ("go vet ./...", "consistency"),
            ],
        ),
    ],
)
def test_commands_follow_from_what_a_project_is_built_with(
    tmp_path: Path, files: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    assert commands_of(tmp_path, **files) == expected


def test_each_command_has_its_reason(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\ttrue\n")

    assert [each.reason for each in project_commands(tmp_path)] == ["Makefile has a target test"]


def test_a_file_of_the_workspace_goes_before_what_is_found_and_may_name_none(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("")
    (tmp_path / ".gemba").mkdir()
    file = tmp_path / ".gemba/team.toml"

    file.write_text('[[command]]\nname = "unit"\nrun = "make unit"\ndimension = "depth"\nseconds = 60\n')
    (found,) = project_commands(tmp_path)
    assert (found.command, found.reason) == (
        ProjectCommand("unit", "make unit", "depth", 60),
        ".gemba/team.toml names it",
    )

    file.write_text("command = []\n")
    assert project_commands(tmp_path) == []


COMMAND = '[[command]]\nname = "a"\nrun = "b"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[[command]\n", 1, "this is not TOML"),
        ('[[commands]]\nname = "a"\n', 1, 'unknown key "commands"; did you mean command?'),
        ('[[command]]\nname = "a"\n', 1, "command 1: run is missing"),
        (COMMAND + 'dimension = "speed"\n', 4, 'command 1: dimension is "speed"; allowed: accuracy or completeness'),
        (COMMAND + "seconds = 0\n", 4, "command 1: seconds is 0; allowed: a whole number from 1 to 3,600"),
        (COMMAND + "\n" + COMMAND, 6, 'command 2: name is "a", which stands there twice'),
        ('[[command]]\nname = "a"\nrun = "  "\n', 3, "command 1: run is blank"),
        ('[[command]]\nname = "a"\nrun = "a\\u0000b"\n', 3, "command 1: run is blank or has a NUL in it"),
        ("command = 3\n", 1, "command is 3; allowed: a list of tables"),
        (
            "".join(f'[[command]]\nname = "{n}"\nrun = "b"\n' for n in range(MOST_COMMANDS + 1)),
            3 * MOST_COMMANDS + 1,
            f"there are {MOST_COMMANDS + 1} commands; allowed: at most {MOST_COMMANDS}",
        ),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = tmp_path / ".gemba/team.toml"
    file.parent.mkdir()
    file.write_text(text)

    with pytest.raises(Invalid, match=r"team\.toml") as refused:
        project_commands(tmp_path)

    assert refused.value.message.startswith(f"{file}:{line}: {words}")


def test_a_file_that_cannot_be_read_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".gemba/team.toml").mkdir(parents=True)

    with pytest.raises(Unusable, match="is not a file"):
        project_commands(tmp_path)
