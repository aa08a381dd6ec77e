"""`gemba handoff`: verdicts on files, streams and lines, for people, programs and GitHub; templates, codes, schema."""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner, Result

from gemba.cli import handoff
from gemba.cli import lines as long_lines
from gemba.cli.handoff import command
from gemba.handoff import afterwards
from gemba.handoff.block import MAX_TEXT
from gemba.handoff.fields import PLAN_STATUSES
from gemba.handoff.repair import repair_text
from gemba.handoff.rules import RULES
from gemba.handoff.template import template
from gemba.handoff.verdict import judge, to_dict

GOOD = f"Done.\n\n{template()}"
BAD = GOOD.replace('"COMPLETE"', '"DONE"')
BROKEN = GOOD.replace('"pending_steps": [],', '"pending_steps": [,],')
TEAM = {"metadata": {"agent_id": "abcdef0123", "task_id": "t-1"}, "surface_routing": {"multi_surface": True}}
# The command as `gemba` runs it, whatever else is installed.
GEMBA = [sys.executable, "-c", "from gemba.cli.main import main; main()", "handoff"]


def run(*words: str, stdin: str | bytes = b"") -> Result:
    result = CliRunner().invoke(command, words, input=stdin)
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def process(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GEMBA, *words], capture_output=True, text=True, timeout=60, check=False, **more)


@pytest.fixture(autouse=True)
def _outside_any_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEMBA_WORKSPACE", raising=False)


def written(text: str | bytes, name: str = "turn.md") -> str:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def lines(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def verdicts(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.output.splitlines()]


# ---- check ------------------------------------------------------------------------------------------------------


def test_an_accepted_turn_is_one_line_and_exit_0() -> None:
    result = run("check", written(GOOD))

    assert (result.output, result.exit_code) == ("turn.md:3: accepted, COMPLETE\n", 0)


def test_a_refused_turn_is_told_finding_by_finding_with_what_the_agent_is_told() -> None:
    result = run("check", written(BAD.replace('"pending_steps": [],', "")))

    head, *findings, blank, title, _, first = result.output.splitlines()[:7]
    assert result.exit_code == 1
    assert head == "turn.md:3: refused"
    assert [re.split(r" +", line, maxsplit=3)[:3] for line in findings] == [
        ["invalid", "PLAN_STATUS:DONE", "/agent_status/plan_status:"],
        ["missing", "PENDING_STEPS", "/agent_status/pending_steps:"],
    ]
    assert findings[1].endswith("pending_steps is missing; needed: a list (what is left to do)")
    assert (blank, title) == ("", "What the agent is told:")
    assert first.startswith("Your handoff was not accepted.")


def test_warnings_are_told_and_do_not_refuse_unless_strict() -> None:
    turn = written(GOOD.replace('"agent_status"', '"colour": 1, "agent_status"'))

    told, strict = run("check", turn), run("check", turn, "--strict")

    assert told.output.startswith("turn.md:3: accepted, COMPLETE\nwarning  UNKNOWN_FIELD")
    assert (told.exit_code, strict.exit_code) == (0, 1)
    assert "\ninvalid  UNKNOWN_FIELD" in strict.output


def test_standard_input_is_read_for_a_dash() -> None:
    result = run("check", "-", stdin=BAD)

    assert result.output.startswith("standard input:3: refused\n")
    assert result.exit_code == 1


@pytest.mark.parametrize("text", [GOOD, BAD, BROKEN, "", "no block"])
@pytest.mark.parametrize("flags", [["--json"], ["--format", "json"], ["--json", "--format", "json"]])
def test_json_is_the_verdict(text: str, flags: list[str]) -> None:
    result = run("check", written(text), *flags)

    assert json.loads(result.output) == to_dict(judge(text))
    assert result.exit_code == (0 if text == GOOD else 1)


def test_the_input_envelope_asks_for_more() -> None:
    envelope = written(json.dumps(TEAM), "envelope.json")

    verdict = json.loads(run("check", written(GOOD), "--input", envelope, "--json").output)

    assert verdict["missing"] == ["CONSOLIDATION_REPORT"]
    assert verdict["invalid"] == ["AGENT_ID:a0123456789abcdef"]


def test_the_input_envelope_may_come_from_standard_input() -> None:
    result = run("check", written(GOOD), "--input", "-", stdin=json.dumps(TEAM))

    assert result.exit_code == 1
    assert "CONSOLIDATION_REPORT" in result.output


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 80, bytes(1000), GOOD.encode("utf-16")], ids=["all", "nul", "utf-16"]
)
def test_binary_input_is_refused_with_a_verdict(data: bytes) -> None:
    result = run("check", written(data), "--json")

    assert json.loads(result.output)["missing"] == ["AGENT_STATUS"]
    assert result.exit_code == 1


def test_a_text_beyond_the_limit_is_refused_and_not_read_to_its_end() -> None:
    result = run("check", "/dev/zero", "--json")

    assert json.loads(result.output)["invalid"] == ["BODY:text_size"]
    assert result.exit_code == 1


def test_agents_text_does_not_reach_the_terminal_raw() -> None:
    turn = written(GOOD.replace('"COMPLETE"', '"\\u001b[2J\\u202e\\n::error::x"'))

    for form in ("text", "json", "github"):
        shown = run("check", turn, "--format", form).output
        assert not re.search("[\x1b\u202e]", shown)
        assert "\n::error::x" not in shown


# ---- github -----------------------------------------------------------------------------------------------------


def test_github_is_told_the_line_of_the_block_or_of_the_fault() -> None:
    assert run("check", written(BAD), "--format", "github").output.startswith(
        '::error file=turn.md,line=3,title=PLAN_STATUS%3ADONE::agent_status.plan_status is "DONE"; '
    )
    assert run("check", written(BROKEN), "--format", "github").output.startswith(
        "::error file=turn.md,line=8,col=23,title=BODY%3Asyntax::"
    )
    assert run("check", written("nothing"), "--format", "github").output.startswith(
        "::error file=turn.md,line=1,title=AGENT_STATUS::"
    )


def test_github_is_told_nothing_of_a_turn_without_findings_and_warnings_as_such() -> None:
    warned = GOOD.replace('"agent_status"', '"colour": 1, "agent_status"')

    assert run("check", written(GOOD), "--format", "github").output == ""
    assert run("check", written(warned), "--format", "github").output.startswith("::warning file=turn.md,line=3,")


def test_github_commands_cannot_be_forged() -> None:
    name = written(GOOD.replace('"COMPLETE"', '"a%0A,b::c\\n::warning::d"'), "a,b:c%.md")

    (line,) = run("check", name, "--format", "github").output.splitlines()

    head, _, message = line.removeprefix("::").partition("::")
    assert head == "error file=a%2Cb%3Ac%25.md,line=3,title=PLAN_STATUS%3Aa%250A%2Cb%3A%3Ac%0A%3A%3Awarning%3A%3Ad"
    assert "%250A" in message


def test_github_is_told_no_place_in_standard_input() -> None:
    assert run("check", "-", "--format", "github", stdin=BAD).output.startswith("::error title=PLAN_STATUS%3ADONE::")


# ---- many at once -----------------------------------------------------------------------------------------------


def test_every_line_gets_its_verdict_in_order() -> None:
    texts = [GOOD, BAD, "", BROKEN, GOOD]

    result = run("check", "-", "--jsonl", stdin=lines(*({"text": text} for text in texts)))

    assert verdicts(result) == [to_dict(judge(text)) for text in texts]
    assert result.exit_code == 1


def test_all_lines_accepted_is_exit_0_and_so_is_no_line() -> None:
    many = written(lines({"text": GOOD}, {"text": GOOD, "input": None}), "many.jsonl")

    assert run("check", many, "--jsonl").exit_code == 0
    assert (run("check", "-", "--jsonl").output, run("check", "-", "--jsonl").exit_code) == ("", 0)


def test_a_line_is_judged_with_its_own_input_and_strictly_if_asked() -> None:
    unknown = GOOD.replace('"agent_status"', '"colour": 1, "agent_status"')
    many = lines({"text": GOOD, "input": TEAM}, {"text": unknown})

    assert [each["valid"] for each in verdicts(run("check", "-", "--jsonl", stdin=many))] == [False, True]
    assert [each["valid"] for each in verdicts(run("check", "-", "--jsonl", "--strict", stdin=many))] == [False, False]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{", b"\xff\xfe\x00", b"\x00", b"null", b"7", b"[]", b'"text"', b"{}", b'{"text": 1}'),
        *(b'{"text": "x", "input": 3}', b"[" * 100_000, b'{"text": ' + b"9" * 5000 + b"}"),
    ],
    ids=lambda line: repr(line[:30]),
)
def test_a_bad_line_gets_a_verdict_and_the_others_theirs(line: bytes) -> None:
    good = lines({"text": GOOD})

    result = run("check", "-", "--jsonl", stdin=good + line + b"\n" + good)

    first, bad, last = verdicts(result)
    assert first["valid"]
    assert last["valid"]
    assert (bad["invalid"], bad["action"]) == (["BODY:line"], "repair")
    assert result.exit_code == 1


def test_the_last_line_needs_no_end() -> None:
    assert [each["valid"] for each in verdicts(run("check", "-", "--jsonl", stdin=lines({"text": GOOD})[:-1]))] == [
        True
    ]


@pytest.mark.parametrize("size", [4999, 5000, 5001, 12_345])
def test_a_line_that_is_too_long_is_not_kept_and_the_next_is_read(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoff, "_LONGEST_LINE", 5000)
    monkeypatch.setattr(long_lines, "_SKIPPED_AT_ONCE", 100)
    empty = len(lines({"text": ""}))
    long, good = lines({"text": "x" * (size - empty)}), lines({"text": GOOD})
    assert len(long) == size

    first, last = verdicts(run("check", "-", "--jsonl", stdin=long + good))

    assert first["invalid"] == (["BODY:line"] if size > 5000 else [])
    assert last["valid"]


def test_a_verdict_is_written_before_the_next_line_is_read() -> None:
    with subprocess.Popen([*GEMBA, "check", "-", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for text in (GOOD, BAD, GOOD):
            running.stdin.write(lines({"text": text}))
            running.stdin.flush()
            assert json.loads(running.stdout.readline()) == to_dict(judge(text))
        running.stdin.close()
        assert running.wait(60) == 1


def test_a_bulk_check_takes_no_more_memory_for_more_lines() -> None:
    with Path("many.jsonl").open("wb") as stream:
        stream.writelines(lines({"text": f"{'x' * 10_000}\n{GOOD}"}) for _ in range(10_000))
    assert Path("many.jsonl").stat().st_size > 100_000_000

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (80_000_000, 80_000_000))

    with Path("verdicts.jsonl").open("wb") as output:
        done = subprocess.run(
            [*GEMBA, "check", "many.jsonl", "--jsonl"], stdout=output, timeout=60, check=False, preexec_fn=limit_memory
        )

    assert done.returncode == 0
    assert Path("verdicts.jsonl").read_bytes().count(b"\n") == 10_000


# ---- what cannot be checked ---------------------------------------------------------------------------------------


WRONG: list[tuple[list[str], str]] = [
    (["check"], "Missing argument 'FILE'."),
    (["check", "absent.md"], "absent.md: No such file or directory."),
    (["check", "."], ".: Is a directory."),
    (["check", "absent.jsonl", "--jsonl"], "absent.jsonl: No such file or directory."),
    (["check", "turn.md", "--input", "absent.json"], "absent.json: No such file or directory."),
    (["check", "turn.md", "--input", "turn.md"], "--input turn.md is not JSON: Expecting value"),
    (
        ["check", "turn.md", "--input", "list.json"],
        "--input list.json is no input envelope: it holds no JSON object.",
    ),
    (["check", "turn.md", "--input", "/dev/zero"], "--input /dev/zero is larger than 16777216 bytes."),
    (["check", "-", "--input", "-"], "FILE and --input cannot both be standard input."),
    (["check", "turn.md", "--format", "xml"], "'xml' is not one of 'text', 'json', 'github'."),
    (["check", "turn.md", "--json", "--format", "github"], "--json does not go with --format github."),
    (["check", "turn.md", "--jsonl", "--format", "github"], "--format github does not go with --jsonl"),
    (["check", "turn.md", "--jsonl", "--input", "list.json"], "--input does not go with --jsonl"),
    (["template", "--status", "done"], "'done' is not one of 'IN_PROGRESS', 'APPROVAL_REQUEST'"),
    (["template", "--input", "absent.json"], "absent.json: No such file or directory."),
    (["--json", "check", "turn.md"], "--json goes behind check."),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_a_wrong_command_line_is_exit_2_without_a_verdict(words: list[str], said: str) -> None:
    written(GOOD)
    written("[]", "list.json")

    result = run(*words)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr


def test_a_missing_file_is_one_line_in_a_real_process() -> None:
    done = process("check", "no\x1b such file.md")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gemba handoff check: no\\x1b such file.md: No such file or directory. Try 'gemba handoff check --help'.\n"
    )


def test_closed_streams_are_one_line_or_none() -> None:
    turn = written(BAD)
    shell = " ".join(f"'{word}'" for word in GEMBA)

    def ended(rest: str) -> tuple[int, str]:
        done = subprocess.run(["bash", "-c", f"{shell} {rest}"], stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stderr

    assert ended(f"check {turn} >&-") == (1, "")
    assert ended(f"check {turn} --json >&-") == (1, "gemba: stdout is closed\n")
    assert ended(f"check {turn} >/dev/full") == (1, "gemba: No space left on device\n")
    assert ended("check - <&-") == (
        2,
        "gemba handoff check: standard input is closed. Try 'gemba handoff check --help'.\n",
    )


def test_a_reader_that_goes_away_ends_a_bulk_check_quietly() -> None:
    many = written(lines({"text": BAD}) * 5000, "many.jsonl")

    with subprocess.Popen(
        [*GEMBA, "check", many, "--jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 1


# ---- template, explain, schema --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", PLAN_STATUSES)
@pytest.mark.parametrize("given", [None, TEAM])
def test_a_template_is_accepted_as_it_is(status: str, given: dict[str, Any] | None) -> None:
    flags = [] if given is None else ["--input", written(json.dumps(given), "envelope.json")]

    block = run("template", "--status", status.lower(), *flags).output

    result = run("check", "-", *flags, stdin=block)
    assert (result.output, result.exit_code) == (f"standard input:1: accepted, {status}\n", 0)


def test_without_a_command_it_is_the_template_of_a_complete_turn() -> None:
    assert run().output == run("template").output == template()
    assert json.loads(run("--json").output) == json.loads(run("template", "--json").output)


def test_a_template_as_json_has_the_text_and_the_object() -> None:
    told = json.loads(run("template", "--status", "BLOCKED", "--json").output)

    assert told["plan_status"] == told["document"]["agent_status"]["plan_status"] == "BLOCKED"
    assert told["text"] == template(status="BLOCKED")


@pytest.mark.parametrize(
    "code",
    ["PLAN_STATUS", "PLAN_STATUS:DONE", "PLAN_STATUS:<x>", "BODY:syntax", "AGENT_ID:x", "IN_PROGRESS_LIMIT", "WORLD:x"],
)
def test_a_code_is_explained_as_the_table_or_a_verdict_writes_it(code: str) -> None:
    shown, told = run("explain", code).output, json.loads(run("explain", code, "--json").output)

    assert told["code"] == code
    assert told["rules"]
    for rule in told["rules"]:
        assert f"{rule['code']} (" in shown
        assert rule["hint"] in shown


def test_without_a_code_every_one_has_its_line() -> None:
    lines, told = run("explain").output.splitlines(), json.loads(run("explain", "--json").output)

    assert told["code"] is None
    assert [rule["code"] for rule in told["rules"]] == [rule.code for rule in (*RULES, *afterwards.RULES)]
    for line, rule in zip(lines, told["rules"], strict=True):
        code, severity, message = line.split(maxsplit=2)
        assert (code, severity) == (rule["code"], rule["severity"])
        assert message == rule["message"].replace("{found}", "…").replace("{fits}", "…")


@pytest.mark.parametrize(
    ("code", "nearest"),
    [
        ("plan_status", "PLAN_STATUS"),
        ("PLANSTATUS:DONE", "PLAN_STATUS"),
        ("FILE_CHECKED", "FILES_CHECKED, PATTERNS_CHECKED"),
        ("rollback", "APPROVAL_REQUEST_ROLLBACK"),
    ],
)
def test_an_unknown_code_is_exit_1_with_the_nearest_ones(code: str, nearest: str) -> None:
    done = process("explain", code)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f'gemba: no rule has the code "{code}"; the nearest: {nearest}')
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("code", ["", "?", "\x1b[2J", "x" * 100_000], ids=["empty", "mark", "escape", "long"])
def test_a_code_that_is_like_none_is_one_short_line_all_the_same(code: str) -> None:
    done = process("explain", "--", code)

    assert done.returncode == 1
    assert re.fullmatch(r"gemba: no rule has the code [^\n\x1b]{0,80}; the nearest: \w+, \w+, \w+\n", done.stderr)


def test_the_schema_takes_what_check_takes() -> None:
    schema = json.loads(run("schema").output)
    validator = jsonschema_rs.validator_for(schema)
    good = json.loads(run("template", "--json").output)["document"]

    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "evidence_report": None})
    assert json.loads(run("schema", "--json").output) == schema


def test_the_largest_text_that_is_read_is_the_largest_that_is_judged() -> None:
    data = GOOD.encode().rjust(MAX_TEXT, b"x")

    result = run("check", written(data))

    assert (result.output, result.exit_code) == ("turn.md:3: accepted, COMPLETE\n", 0)


def test_what_the_agent_is_told_is_the_repair_text() -> None:
    assert run("check", written(BAD)).output.endswith(f"What the agent is told:\n\n{repair_text(judge(BAD))}\n")
