"""`gemba context`: sections as they are declared, and the merge for scripts."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import processes
from tests.fixtures.operator import Operator
from tests.fixtures.servers import BIN


def merge(given: bytes, *arguments: str, cwd: Path) -> tuple[int, list[Any], str]:
    """As a script does it, far from any workspace."""
    done = processes.run(
        [BIN / "gemba", "context", "merge", "-", *arguments],
        cwd=cwd,
        env=os.environ,
        stdin=given.decode(),
        timeout=60,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


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


# ---- what is known --------------------------------------------------------------------------------------------------

SECTIONS = '[section.api]\npaths = ["src/api/**"]\n\n[section.ops]\nstrict = true\n'
LIVE = '{"load_balancer": {"ip": "34.102.136.180"}}'


@pytest.fixture
def knowing(operator: Operator) -> Operator:
    (operator.workspace / ".gemba/context.toml").write_text(SECTIONS)
    return operator


def test_a_payload_is_applied_shown_and_taken_back(knowing: Operator) -> None:
    first = knowing.ok("context", "apply", "api", "-", stdin='{"routes": ["/a"], "owner": "a"}')
    second = knowing.ok("context", "apply", "api", "-", stdin='{"routes": ["/b"], "owner": "b"}')

    assert first.splitlines() == ["api: revision 1", '    + /routes ["/a"]', '    + /owner "a"']
    assert second.splitlines() == ["api: revision 2", '    ~ /routes + ["/b"]', '    ~ /owner "a" → "b"']
    assert json.loads(knowing.ok("context", "show", "api", "--json"))["value"] == {"routes": ["/a", "/b"], "owner": "b"}
    assert knowing.ok("context", "undo", "api").splitlines() == [
        "api: revision 2 is undone, by revision 3",
        '    ~ /owner "b" → "a"',
        '    ~ /routes - ["/b"]',
    ]
    assert "revision 1 is undone, by revision 4" in knowing.ok("context", "undo", "api")
    assert knowing.refused("context", "undo", "api") == "gemba: section api has nothing to undo"
    assert "has changed since revision 3" in knowing.refused("context", "undo", "api", "3")
    assert "revision 4 is undone" in knowing.ok("context", "undo", "api", "4")
    shown = knowing.ok("context", "show")
    assert "revision 5 · by operator" in shown
    assert "ops  nothing known yet · strict" in shown


def test_the_history_tells_who_changed_what(knowing: Operator) -> None:
    assert knowing.ok("context", "history", "api") == "Section api has never changed.\n"
    for number in range(3):
        knowing.ok("context", "apply", "api", "-", stdin=f'{{"n": {number}}}')
    knowing.ok("context", "undo", "api")

    lines = knowing.ok("context", "history", "api", "--limit", "2").splitlines()
    assert lines[0].startswith("revision  4  ")
    assert lines[0].endswith("by operator · undoes revision 3")
    assert lines[1] == "    ~ /n 2 → 1"
    assert lines[-1] == "4 in all, 2 of them shown."
    told = json.loads(knowing.ok("context", "history", "api", "--json"))
    assert [revision["undoes"] for revision in told["revisions"]] == [3, None, None, None]


def test_what_changes_nothing_is_said_and_makes_no_revision(knowing: Operator) -> None:
    knowing.ok("context", "apply", "api", "-", stdin='{"a": 1}')
    assert knowing.ok("context", "apply", "api", "-", stdin='{"a": 1}') == "api: nothing changed\n"
    assert json.loads(knowing.ok("context", "show", "api", "--json"))["revision"] == 1


REFUSED = {
    "another section": (("context", "apply", "nix", "-"), "{}", "no section of .gemba/context.toml is called 'nix'"),
    "live state": (("context", "apply", "ops", "-"), LIVE, "/ops/load_balancer/ip: ip address"),
    "live state by wish": (("context", "apply", "api", "-", "--strict"), LIVE, "/api/load_balancer/ip: ip address"),
    "no object": (("context", "apply", "api", "-"), "[1]", "the input is no JSON object"),
    "no JSON": (("context", "apply", "api", "-"), "{", "the input is not JSON"),
    "too large a number": (("context", "apply", "api", "-"), '{"a": [1e999]}', "/api/a/0: this number is too large"),
    "too deep": (("context", "apply", "api", "-"), '{"a":' * 5_000 + "1" + "}" * 5_000, "nested too deeply"),
    "undo elsewhere": (("context", "undo", "nix"), "", "no section is called nix; there are: api, ops"),
    "undo of another revision": (("context", "undo", "api", "7"), "", "section api has no revision 7"),
    "unknown to show": (("context", "show", "nix"), "", "no section is called nix"),
    "unknown history": (("context", "history", "nix"), "", "no section is called nix"),
}


@pytest.mark.parametrize(("arguments", "given", "words"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(
    alone: Operator, arguments: tuple[str, ...], given: str, words: str
) -> None:
    (alone.workspace / ".gemba/context.toml").write_text(SECTIONS)

    assert words in alone.refused(*arguments, stdin=given)
    assert [one["revision"] for one in json.loads(alone.ok("context", "show", "--json"))["sections"]] == [0, 0]


def test_what_agents_wrote_does_not_drive_the_terminal(knowing: Operator) -> None:
    hostile = json.dumps({"\x1b[2Jkey": "\x1b]0;owned\x07 \u202e", "lone": "\ud800", "nul": "\x00"})
    applied = knowing.ok("context", "apply", "api", "-", stdin=hostile)
    shown = applied + knowing.ok("context", "show", "api") + knowing.ok("context", "history", "api")

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\x00" not in shown


def test_a_long_value_is_cut_in_the_list_and_whole_alone(knowing: Operator) -> None:
    knowing.ok("context", "apply", "api", "-", stdin=json.dumps({f"key{n}": n for n in range(50)}))

    assert "more lines: gemba context show api" in knowing.ok("context", "show")
    assert '"key49": 49' not in knowing.ok("context", "show")
    assert '"key49": 49' in knowing.ok("context", "show", "api")


# ---- live state and references --------------------------------------------------------------------------------------


def test_values_of_a_running_system_are_found_in_any_document(alone: Operator) -> None:
    found = alone.run("context", "check", "-", stdin=LIVE)
    assert (found.returncode, found.stdout) == (1, "LIVE_STATE /load_balancer/ip: ip address 34.102.136.180\n")
    as_json = alone.run("context", "check", "-", "--json", stdin=LIVE)
    assert [one["pointer"] for one in json.loads(as_json.stdout)["warnings"]] == ["/load_balancer/ip"]
    assert alone.ok("context", "check", "-", stdin='{"range": "10.0.0.0/16"}').startswith("Nothing")
    assert "not JSON" in alone.refused("context", "check", "-", stdin="nothing")


@pytest.fixture
def among_others(knowing: Operator) -> Operator:
    """The workspace has a remote with a password in it; beside it lies another repository."""
    beside = knowing.workspace.parent / "neighbour"
    beside.mkdir()
    for folder, remote in (
        (knowing.workspace, "https://me:s3cret@github.com:443/Acme/Shop.git"),
        (beside, "git@gitlab.example.org:group/sub/neighbour.git"),
    ):
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "remote", "add", "origin", remote], cwd=folder, check=True)
    knowing.ok("context", "apply", "api", "-", stdin='{"routes": ["/a"]}')
    return knowing


def test_a_reference_is_resolved_to_its_checkout_and_its_entry(among_others: Operator) -> None:
    root = among_others.workspace
    found = json.loads(among_others.ok("context", "resolve", "github.com/acme/shop:api/routes", "--json"))
    assert (found["path"], found["value"]) == (str(root), ["/a"])
    shown = among_others.ok("context", "resolve", "gitlab.example.org/group/sub/neighbour:db/users")
    assert f"lies in {root.parent / 'neighbour'}" in shown
    assert "context show db" in shown
    elsewhere = json.loads(
        among_others.ok("context", "resolve", "https://u:p@gitlab.example.org/group/sub/neighbour.git", "--json")
    )
    assert elsewhere == {
        "repository": "gitlab.example.org/group/sub/neighbour",
        "path": str(root.parent / "neighbour"),
    }


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("github.com/acme/other:api/routes", "github.com/acme/other is not checked out here"),
        ("github.com/acme/shop:api/none", "section api has no entry none; there are: routes"),
        ("github.com/acme/shop:nix/none", "no section is called nix"),
        ("github.com/acme/shop", "no reference (host/owner/repo:table/name)"),
        ("https://me:s3cret@github.com", "no owner and repository"),
        ("https://me:s3cret@github.com/acme/other.git", "github.com/acme/other is not checked out here"),
    ],
)
def test_a_reference_that_leads_nowhere_is_refused_without_a_secret(
    among_others: Operator, ref: str, words: str
) -> None:
    refused = among_others.refused("context", "resolve", ref)
    assert words in refused
    assert "s3cret" not in refused


def test_a_reference_is_looked_for_where_one_says(among_others: Operator, tmp_path: Path) -> None:
    folder = tmp_path / "far" / "away"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "remote", "add", "up", "ssh://git@example.org:2222/a/b.git"], cwd=folder, check=True)

    found = among_others.ok("context", "resolve", "example.org/a/b:t/n", "--in", str(folder), "--json")
    assert json.loads(found)["path"] == str(folder.resolve())
