"""The programs that do a team's tasks: whatever repository they stand in, they write what a person can use."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gemba.teams.command_tasks import SHIPPED
from gemba.teams.plan_file import parse_plan
from gemba.teams.programs import checks, project, tree
from gemba.teams.programs.__main__ import PROGRAMS, run
from gemba.teams.programs.check import faults_of
from gemba.teams.programs.imports import dependents_of, imports_in
from gemba.teams.programs.printed import read_output
from gemba.teams.programs.task import NAMES, Task
from gemba.teams.programs.tree import Tree
from gemba.teams.programs.words import where, words_of
from gemba.teams.project_commands import project_commands
from gemba.teams.team_file import parse_team_file

SHOP = {
    "README.md": "# Shop\n\nPrices, orders. See [how](docs/how.md) and [more](docs/gone.md).\n\n- [ ] Prices in euro\n",
    "docs/how.md": "# How\n\nRun `make test`.\n",
    "Makefile": "test:\n\t@echo '3 passed, 1 skipped in 0.1s'\n",
    "src/shop/__init__.py": "",
    "src/shop/prices.py": "def price_of(tea):\n    return 1\n",
    "src/shop/orders.py": "from shop.prices import price_of\nfrom . import prices\n\n\ndef order(lines=[]):\n"
    "    # TODO: stock\n"
    "    try:\n        return price_of(lines)\n    except:\n        pass\n",
    "web/cart.js": "import { total } from './total'\nconst x = require('../web/total.js')\n",
    "web/total.js": "export const total = 1\n",
    "tests/test_prices.py": "from shop.prices import price_of\n\n\ndef test_it():\n    assert price_of('x') == 1\n",
}
TASK = Task(
    "RESEARCH-001",
    "Find out what the others have to know.",
    "Add stock to orders, with prices | `in` euro\n# not a heading",
    ("An order without stock is refused", "Prices are in euro"),
)


def lay(root: Path, files: Mapping[str, str | bytes], *, commit: bool = True) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    if commit:
        for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--allow-empty", "-m", "begin"]):
            subprocess.run(["git", *words], cwd=root, check=True)
    return root


def done(name: str, root: Path, task: Task = TASK) -> tuple[int, str, dict[str, Any]]:
    """The exit code, the artifact and the evidence of a program."""
    folder = root / ".gemba/artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    artifact, evidence = folder / f"{task.id}-{name}.md", root.parent / f"{root.name}-evidence.json"
    code = run(name, task._replace(artifact=str(artifact), evidence=str(evidence)), root)
    return code, artifact.read_text(), json.loads(evidence.read_text())


ODD: dict[str, Mapping[str, str | bytes]] = {
    "empty": {},
    "a shop": SHOP,
    "binary": {"a.py": b"\0\x01\x02" * 1000, "b.png": b"\x89PNG\0", "c.md": "# c\n"},
    "no utf-8": {"a.py": b"# caf\xe9\nx = 1\n", "b.md": b"\xff\xfe # x\n"},
    "broken": {"a.py": "def (:\n", "package.json": "{", "b.md": "[x](<y>) [z](\n", "pyproject.toml": "["},
    "odd names": {"a b.py": "x = 1\n", "`c`.py": "y = 1\n", "d|e.md": "# d\n", "new\nline.py": "z = 1\n", "-x.py": ""},
    "long lines": {"a.js": "x" * 300_000, "b.md": "[" * 50_000, "c.py": "(" * 5_000},
}


@pytest.mark.parametrize("git", [True, False], ids=["git", "no git"])
@pytest.mark.parametrize("files", ODD.values(), ids=ODD)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_leaves_a_page_that_can_be_used(
    name: str, files: Mapping[str, str | bytes], git: bool, tmp_path: Path
) -> None:
    root = lay(tmp_path / "repository", {**files, "LICENSE": "MIT"}, commit=git)

    code, page, evidence = done(name, root)

    assert code in (0, 1)
    assert code == 0 or name == "tester"
    artifact = root / f".gemba/artifacts/RESEARCH-001-{name}.md"
    assert faults_of(artifact, root) == []
    assert TASK.goal in page
    assert all(criterion in page for criterion in TASK.acceptance)
    assert "\n# " not in page.removeprefix("# ")
    assert len(page) < 100_000
    assert 1 <= len(evidence["key_outputs"]) <= 5
    assert all(isinstance(path, str) and (root / path).exists() for path in evidence["files_checked"])
    assert list(root.rglob("*.tmp")) == []


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"tester"}))
def test_the_same_tree_gives_the_same_page(name: str, tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", SHOP)
    command = [sys.executable, "-m", "gemba.teams.programs", name]
    told = {"GEMBA_TASK_TEXT": TASK.text, "GEMBA_TASK_GOAL": TASK.goal}

    pages = [
        subprocess.run(
            command, cwd=root, env={**os.environ, **told, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]

    assert pages[0] == pages[1]
    assert len(pages[0]) > 300


def test_without_a_place_for_its_artifact_a_program_prints_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = lay(tmp_path / "repository", SHOP)

    assert run("researcher", Task(text="prices"), root) == 0

    assert capsys.readouterr().out.startswith("# Survey: prices\n")
    assert not (root / ".gemba").exists()


def test_a_huge_repository_is_read_in_part_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_FILES", 50)
    monkeypatch.setattr(tree, "MOST_READ", 20)
    root = lay(tmp_path / "repository", {f"f{number:04}.py": f"prices = {number}\n" for number in range(300)})

    _, page, _ = done("analyst", root)

    assert "250 files beyond the first 50 that are listed." in page
    assert "30 files beyond the 20 files" in page


# ---- what each finds -------------------------------------------------------------------------------------------------


def test_a_survey_says_where_the_words_are_and_which_are_nowhere(tmp_path: Path) -> None:
    _, page, evidence = done("researcher", lay(tmp_path / "repository", SHOP))

    assert "`src/shop/prices.py`" in page
    assert "tests: `make test`, as `Makefile` has it" in page
    assert "Nowhere: heading, refused." in page
    assert "words of the task" in evidence["patterns_checked"][0]


def test_words_are_found_with_their_endings_and_in_names_and_not_in_others(tmp_path: Path) -> None:
    root = lay(tmp_path / "r", {"a.md": "enterprise\nunit_price Prices\n", "b.py": "import x\n", "c.md": "import\n"})

    assert words_of("Please add the PRICES of an import!") == ["prices", "import"]
    found = {hit.path: (hit.words, hit.places, hit.lines) for hit in where(Tree(root), ["prices", "import"])}
    assert found == {"a.md": (("prices",), 2, (2,)), "c.md": (("import",), 1, (1,))}


def test_steps_follow_the_text_and_the_notes_of_the_repository(tmp_path: Path) -> None:
    task = TASK._replace(text="Fix the prices, then add a cart and document the orders.")

    _, page, _ = done("planner", lay(tmp_path / "repository", SHOP), task)

    steps = [line for line in page.splitlines() if line[:2] in {f"{number}." for number in range(1, 9)}]
    assert [step.split(" — ")[0] for step in steps[1:4]] == [
        "2. Fix the prices",
        "3. add a cart",
        "4. document the orders",
    ]
    assert "`src/shop/orders.py:6` | `TODO`" in page
    assert "`README.md:5` | item | Prices in euro" in page


def test_an_outline_has_imports_of_python_and_javascript(tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", SHOP)

    imports = imports_in(Tree(root))

    assert imports["src/shop/orders.py"] == ["src/shop/prices.py"]
    assert imports["web/cart.js"] == ["web/total.js"]
    assert dependents_of(imports)["src/shop/prices.py"] == ["src/shop/orders.py", "tests/test_prices.py"]
    _, page, _ = done("designer", root)
    assert "`src/shop/orders.py` imports `src/shop/prices.py`" in page


def test_findings_are_classed_with_their_place(tmp_path: Path) -> None:
    block = "".join(f"value_{number} = compute({number})\n" for number in range(12))
    files = {
        **SHOP,
        "bad.py": "x = (\n",
        "conflict.txt": "a\n<<<<<<< ours\n",
        "one.py": block,
        "two.py": "import os\n" + block,
        "long.py": "def long():\n" + "    x = 1\n" * 90,
        "key.txt": "-----BEGIN " + "PRIVATE KEY-----\n",
    }
    root = lay(tmp_path / "repository", files)

    found = {(each.severity, each.path, each.line) for each in checks.findings_in(Tree(root))}

    assert {
        ("critical", "bad.py", 1),
        ("critical", "conflict.txt", 2),
        ("critical", "key.txt", 1),
        ("high", "src/shop/orders.py", 5),
        ("medium", "src/shop/orders.py", 9),
        ("medium", "two.py", 2),
        ("medium", "long.py", 1),
        ("medium", "README.md", 3),
        ("low", "src/shop/orders.py", 6),
        ("low", "src/shop/orders.py", 1),
    } <= found
    _, page, evidence = done("analyst", root)
    assert evidence["severity"]["critical"] == 3
    assert "| `bad.py:1` | critical |" in page


def test_a_report_draws_together_what_was_written_before(tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", SHOP)
    done("researcher", root)
    done("tester", root, TASK._replace(id="TEST-001"))

    _, page, evidence = done("writer", root, TASK._replace(id="DRAFT-001"))

    assert "[Survey: Add stock" in page
    assert "](RESEARCH-001-researcher.md)" in page
    assert "TEST-001: `make test` passed." in page
    assert ".gemba/artifacts/TEST-001-tester.md" in evidence["files_checked"]


# What each program does, and what it only surveys: by the words of the text, and by what there is to look at.
_NOTES = Task("DRAFT-001", "Write the notes of release 0.4", "Do what release.toml says")
_ASKED: list[tuple[str, str | Task, bool]] = [
    ("general", "asdf", False),
    ("general", "Make prices lower", False),
    ("general", "Count the files and the languages", True),
    ("researcher", "Investigate how prices are applied", True),
    ("researcher", "Survey and compare the orders", True),
    ("researcher", "Look into the slow prices", False),
    ("researcher", "Investigate why orders are lost", False),
    ("researcher", "Investigate the zeppelin", False),
    ("planner", "Plan the prices", False),
    ("planner", "Plan it: add stock to orders, then show prices in euro", True),
    ("planner", "Estimate it: add stock to orders, then show prices in euro", False),
    ("designer", "Design prices in euro", False),
    ("writer", "Write a report on prices", True),
    ("writer", "Write a tutorial on prices", False),
    ("writer", "Write a report and the release notes of prices", False),
    ("writer", _NOTES, False),
    ("writer", _NOTES._replace(goal="Draw together what the tests have shown"), True),
    ("analyst", "Review the prices", True),
    ("analyst", "Find the root cause of wrong prices", False),
    ("analyst", "Review the zeppelin", False),
    ("tester", "Test the prices", True),
]


@pytest.mark.parametrize(("name", "asked", "is_done"), _ASKED, ids=lambda value: str(value)[:40])
def test_a_program_says_whether_it_did_what_was_asked_or_only_surveyed(
    name: str, asked: str | Task, is_done: bool, tmp_path: Path
) -> None:
    root = lay(tmp_path / "repository", SHOP)
    if name == "writer":
        done("researcher", root, Task("RESEARCH-001", text="Investigate the prices"))
    task = asked if isinstance(asked, Task) else Task("TASK-001", text=asked)

    _, page, evidence = done(name, root, task)

    assert (evidence["surveyed"] == "") is is_done, evidence["surveyed"]
    assert ("- Surveyed only: " in page) is not is_done
    assert evidence["key_outputs"][0].startswith("Surveyed only: ") is not is_done


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_where_there_is_nothing_to_look_at_nothing_was_done(name: str, tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    task = Task("TASK-001", text="Investigate it, write a report")

    _, _, evidence = done(name, lay(tmp_path / "repository", {}), task)

    assert evidence["surveyed"]


def test_a_report_of_surveys_alone_is_one(tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", SHOP)
    done("researcher", root, Task("RESEARCH-001", text="Investigate the zeppelin"))
    _, _, evidence = done("writer", root, Task("DRAFT-001", text="Write a report"))
    assert evidence["surveyed"].startswith("all that is drawn together are surveys")

    done("tester", root, Task("TEST-001"))
    _, _, evidence = done("writer", root, Task("DRAFT-001", text="Write a report"))
    assert evidence["surveyed"] == ""


def test_a_criterion_that_nothing_has_checked_is_quoted_and_told(tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", SHOP)
    criteria = ("All unit tests pass", "Prices are in euro", "tests of prices in euro pass")

    _, page, evidence = done("tester", root, Task("TEST-001", text="Test it", acceptance=criteria))

    assert evidence["unchecked"] == [*criteria[1:]]
    assert "- All unit tests pass — the tests say so" in page
    assert "> Prices are in euro — nothing has checked it; " in page
    assert done("researcher", root, TASK)[2]["unchecked"] == [*TASK.acceptance]


def test_a_run_of_no_tests_is_no_test(tmp_path: Path) -> None:
    makefile = "test:\n\t@echo; echo 'Ran 0 tests in 0.0s'; echo; echo OK\n"
    _, _, evidence = done("tester", lay(tmp_path / "repository", {"Makefile": makefile}))

    assert evidence["surveyed"] == "not one test was run"


@pytest.mark.parametrize(("recipe", "code"), [("echo 3 passed", 0), ("echo '1 failed, 2 passed in 1s'; exit 1", 1)])
def test_a_test_run_that_fails_is_told_and_not_passed_off(recipe: str, code: int, tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", {"Makefile": f"test:\n\t@{recipe}\n"})

    found, page, evidence = done("tester", root)

    assert found == code
    assert ("`make test` passed." in page) is (code == 0)
    assert evidence["severity"]["failed"] == code


def test_where_no_test_can_be_run_the_report_says_that_nothing_was_tested(tmp_path: Path) -> None:
    code, page, evidence = done("tester", lay(tmp_path / "repository", {"a.py": "x = 1\n"}))

    assert code == 0
    assert "No test was run" in page
    assert evidence["open_gaps"]


@pytest.mark.parametrize(
    ("printed", "passed", "failed", "coverage"),
    [
        ("== 2 failed, 3 passed, 1 skipped in 0.2s ==\n", 3, 2, None),
        ("1 passed, 2 errors in 0.1s\n", 1, 2, None),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n", 3, 2, None),
        ("Ran 5 tests in 0.1s\n\nOK\n", 5, 0, None),
        ("Tests:       1 failed, 4 passed, 5 total\n", 4, 1, None),
        ("# tests 3\n# pass 2\n# fail 1\n", 2, 1, None),
        ("test result: ok. 7 passed; 0 failed; 1 ignored;\ntest result: ok. 2 passed; 0 failed;\n", 9, 0, None),
        ("ok  \texample.org/a\t0.1s\nFAIL\texample.org/b\t0.1s\n", 1, 1, None),
        ("TOTAL   120   12   90%\n3 passed in 1s\n", 3, 0, "90 %"),
        ("coverage: 81.5% of statements\n", None, None, "81.5 %"),
        ("nothing of that kind\n", None, None, None),
        ("9" * 100_000, None, None, None),
    ],
)
def test_what_tests_print_is_counted(
    printed: str, passed: int | None, failed: int | None, coverage: str | None
) -> None:
    found = read_output(printed)

    assert (found.passed, found.failed, found.coverage) == (passed, failed, coverage)


@pytest.mark.parametrize(
    "files",
    [
        {"Makefile": "test: build\n\ttrue\n", "pytest.ini": ""},
        {"Makefile": "check:\n\ttrue\n"},
        {"Makefile": "test := 1\n"},
        {"pyproject.toml": "[tool.pytest.ini_options]\n"},
        {"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\""}}'},
        {"Cargo.toml": "", "package.json": '{"scripts": {"test": "vitest"}}'},
        {"go.mod": ""},
    ],
    ids=lambda files: ", ".join(files),
)
def test_the_tester_runs_what_the_gate_runs(files: dict[str, str], tmp_path: Path) -> None:
    root = lay(tmp_path / "repository", files, commit=False)
    looked = Tree(root)

    found = [command.line for command in project.ways_to_test(looked.paths, looked.text)]

    assert (
        found[:1] == [each.command.run for each in project_commands(root) if each.command.dimension == "accuracy"][:1]
    )


# ---- reading an artifact ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it does not begin with a heading"),
        ("# Short\n", "characters; a reader wants 200"),
        ("# A\n" + "words " * 50 + "[x](gone.md)", "it links to gone.md, which is not there"),
        ("# A\n" + "words " * 50 + "`src/gone.py:3`", "it names src/gone.py, which is not there"),
        ("# A\n" + "words " * 50 + "`docs/a.md:30`", "it names line 30 of docs/a.md, which is shorter"),
        ("# A\n" + "words " * 50 + "`docs/a.md:1`\n> `not/ours.py`\n```\n`nor/this.py`\n```\n", None),
    ],
)
def test_an_artifact_is_read_as_whoever_gets_it_would(text: str, fault: str | None, tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "# a\n", "artifact.md": text}, commit=False)

    found = faults_of(tmp_path / "artifact.md", tmp_path)

    assert (found == []) if fault is None else any(fault in each for each in found)


# ---- the page of the documentation -----------------------------------------------------------------------------------


def test_the_documentation_has_every_program_variable_and_artifact() -> None:
    page = (Path(__file__).parents[2] / "docs/team-programs.md").read_text()

    for name, artifact in SHIPPED.items():
        assert f"| {name} | `gemba-program {name}` | `{artifact}`" in page
    assert {f"GEMBA_{name}" for name in NAMES} <= set(re.findall(r"`(GEMBA_[A-Z_]+)`", page))
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert set(parse_team_file(blocks[0].encode()).capability) == {"developer"}
    assert parse_plan(blocks[1].encode(), "page").tasks[0].options.command is not None
