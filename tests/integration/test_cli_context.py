"""`gemba context`: sections as they are declared, and the merge for scripts."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN


def merge(given: bytes, *arguments: str, cwd: Path) -> tuple[int, list[Any], str]:
    """As a script does it, far from any workspace."""
    done = subprocess.run(
        [BIN / "gemba", "context", "merge", "-", *arguments], input=given, cwd=cwd, capture_output=True, check=False
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def test_a_document_is_merged_and_the_changes_are_told(tmp_path: Path) -> None:
    given = {"before": {"ports": [80], "owner": "ops"}, "payload": {"ports": [80, 443], "team": None}}

    code, (result,), errors = merge(json.dumps(given).encode(), cwd=tmp_path)

    assert (code, errors) == (0, "")
    assert result["after"] == {"ports": [80, 443], "owner": "ops", "team": None}
    assert {change["pointer"]: change["kind"] for change in result["changes"]} == {"/ports": "united", "/team": "added"}
    assert result["warnings"] == []


def test_lines_are_merged_in_order_and_a_bad_one_spoils_no_other(tmp_path: Path) -> None:
    lines = [
        b'{"before": 1, "payload": 2}',
        b"nothing",
        b'{"before": {}}',
        b'{"payload": NaN}',
        b"[" * 100_000,
        b"",
        b'{"before": {"a": "\\ud800"}, "payload": {"b": 1}}',
    ]

    code, results, errors = merge(b"\n".join(lines), "--jsonl", cwd=tmp_path)

    assert (code, errors) == (1, "")
    assert [result.get("after") for result in results] == [2, None, None, None, None, {"a": "\ud800", "b": 1}]
    assert [result["error"].split(" ")[:2] for result in results if "error" in result] == [
        ["line", str(number)] for number in (2, 3, 4, 5)
    ]


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_values_of_a_running_system_are_warned_of_and_refused_when_that_is_wanted(
    tmp_path: Path, strict: bool, code: int
) -> None:
    given = b'{"before": {}, "payload": {"load_balancer": {"ip": "34.102.136.180"}}}'

    found, (result,), _ = merge(given, *(["--strict"] if strict else []), cwd=tmp_path)

    assert found == code
    if strict:
        assert "/load_balancer/ip" in result["error"]
    else:
        assert [(one["code"], one["pointer"]) for one in result["warnings"]] == [("LIVE_STATE", "/load_balancer/ip")]


def test_the_sections_of_the_workspace_are_shown(alone: Operator) -> None:
    file = alone.workspace / ".gemba/context.toml"
    file.write_text('[section.api]\npaths = ["src/api/**"]\nwriters = ["architect"]\nstrict = true\n')

    assert alone.ok("context").splitlines() == [
        "api (strict)",
        "    paths: src/api/**",
        "    writers: architect",
    ]
    shown = json.loads(alone.ok("context", "sections", "--json"))
    assert shown == {"sections": [{"name": "api", "paths": ["src/api/**"], "writers": ["architect"], "strict": True}]}


def test_a_faulty_file_of_sections_is_refused_with_its_line(alone: Operator) -> None:
    (alone.workspace / ".gemba/context.toml").write_text('[section.api]\npaths = ["../x"]\n')

    done = alone.run("context")

    assert done.returncode == 1
    assert "context.toml:2: " in done.stderr
