"""The pages about handoffs say what the code does: their example is accepted, their commands print what they show."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gemba.cli.handoff import command
from gemba.handoff import fields, rules, status
from gemba.handoff.check import GatePolicy
from gemba.handoff.reference import reference_page
from gemba.handoff.repair import next_step, repair_text
from gemba.handoff.verdict import judge

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "handoff.md").read_text()
RULES = (DOCS / "handoff-rules.md").read_text()
TURN = re.findall(r"^````markdown\n(.*?)^````$", PAGE, re.DOTALL | re.MULTILINE)[0]
BAD = TURN.replace('"COMPLETE"', '"DONE"')
SHOWN = re.findall(r"^```console\n\$ gemba handoff (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
INPUT = json.loads(re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0])


def test_the_rules_page_has_the_tables_of_the_code() -> None:
    generated = RULES.partition("<!-- generated: handoff -->\n")[2].partition("<!-- end -->")[0]

    assert generated == reference_page(), "run: python -m tests.reference"


def test_every_field_and_every_code_stands_in_the_rules_page() -> None:
    assert [field.name for field in (*fields.FIELDS, *fields.ITEMS) if f"| `{field.name}` |" not in RULES] == []
    assert [rule.code for rule in rules.RULES if f"| `{rule.code}` |" not in RULES] == []


def test_the_diagram_of_statuses_is_that_of_the_machine() -> None:
    assert f"```mermaid\n{status.MACHINE.diagram()}\n```" in PAGE


def test_the_table_of_checks_has_those_of_the_gate() -> None:
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", PAGE.partition("| check |")[2], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z_]+)`", row)]

    assert named == list(GatePolicy.__struct_fields__)


def test_the_table_of_statuses_has_each_of_them() -> None:
    table = PAGE.partition("| plan_status |")[2].partition("\n\n")[0]

    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(fields.PLAN_STATUSES)


def test_the_example_is_accepted_without_a_warning_also_with_the_input_that_is_shown() -> None:
    assert judge(TURN, INPUT, strict=True) == judge(TURN) == (True, "COMPLETE", [], [], [], [], "accept")


@pytest.mark.parametrize(("words", "output"), SHOWN, ids=[words for words, _ in SHOWN])
def test_a_command_prints_what_the_page_shows(
    words: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "turn.md").write_text(TURN)
    (tmp_path / "bad.md").write_text(BAD)
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(command, words.split())

    assert result.output == output
    assert result.exit_code == (1 if "bad.md" in words else 0)


def test_every_code_that_the_page_names_is_one() -> None:
    named = {
        word for word in re.findall(r"`([A-Z][A-Z_]+(?::\w+)?)`", PAGE) if word not in ("DONE", "GEMBA_DISPATCH_ID")
    }

    assert [word for word in named if rules.find(word) is None and word not in fields.PLAN_STATUSES] == []


def test_the_python_that_is_shown_gives_the_message_that_is_shown() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {"text": BAD}

    exec(code, names)  # noqa: S102 - the page's own lines

    assert names["message"] == repair_text(judge(BAD))
    assert names["message"] in PAGE


def test_repairs_end_as_the_page_says() -> None:
    assert next_step([], ["A"]) == next_step([["A"]], ["B"]) == "repair"
    assert next_step([["A"], ["B"]], ["C"]) == next_step([["A"]], ["A"]) == "escalate"
    assert "the codes of each refusal so far, a list for each" in " ".join(PAGE.split())


def test_codes_that_are_not_in_a_list_for_each_refusal_are_refused() -> None:
    for before, now in ((["X", "Y"], ["Z"]), ("X", ["Z"]), ([["X"]], "Z")):
        with pytest.raises(TypeError, match=r"a list of codes for each refusal, such as \[\['AGENT_ID'\]\]"):
            next_step(before, now)


def test_the_page_says_how_to_get_it_into_another_project() -> None:
    assert "pip install ./gemba" in PAGE
