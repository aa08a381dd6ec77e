"""Mutated envelopes: the verdict and a naive reading of the specification agree on all of them, and nothing raises."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from gemba.handoff.block import find_block
from gemba.handoff.given import read_given
from gemba.handoff.repair import repair_text
from gemba.handoff.rules import RULES, find
from gemba.handoff.schema import json_schema
from gemba.handoff.verdict import Verdict, _judged_in_full, judge, judge_object, read, to_dict
from gemba.testing import seeds
from tests.fixtures.naive_verdict import judge_naively, judge_object_naively

TEXTS = 1_000  # of one seed
AGENT = "a0123456789abcdef"
FENCE = "```agent_contract_handoff"
SCHEMA = jsonschema_rs.validator_for(json_schema())
# Of the entries of a list these are told entry by entry.
OF_ENTRIES = [rule.head for rule in RULES if "/*" in rule.pointer]
HEADS = {rule.head: place for place, rule in reversed(list(enumerate(RULES)))}
ORDER = {(rule.head, rule.pointer): place for place, rule in reversed(list(enumerate(RULES)))}

REPORT: dict[str, Any] = {
    "patterns_checked": ["one store a slice"],
    "files_checked": ["src/app.py", "README.md"],
    "commands_run": ["git status", {"command": "pytest -q", "result": "12 passed"}],
    "key_outputs": ["the port is an option"],
    "verbatim_outputs": ['{"port": 8000}', "```\nquoted\n```"],
    "cross_layer_impacts": [],
    "open_gaps": ["no access to the registry"],
}
VERIFICATION = {
    "result": "pass",
    "verification_method": "test",
    "command": "pytest -q",
    "exit_code": 0,
    "files_produced": ["docs/port.md"],
    "files_modified": [{"path": "src/app.py", "lines_before": 10, "lines_after": 12}],
    "artifacts_written": ["docs/port.md"],
    "details": "12 passed",
}
REQUEST = {
    "operation": "push",
    "exact_content": "git push origin main",
    "scope": "main",
    "risk_level": "HIGH",
    "rollback": ["git revert HEAD"],
    "verification": {"command": "git status"},
    "approval_id": "P-1",
}
CONSOLIDATION = {
    "ownership_assessment": "cross_surface_dependency",
    "confirmed_findings": ["x"],
    "suspected_findings": [],
    "conflicts": [],
    "open_gaps": [],
    "next_best_agent": ["api", "web"],
}
MORE = {
    "loop_state": {"iteration": 3, "max_iterations": 5, "metric": 0.95, "threshold": 0.9, "direction": "higher"},
    "user_facing_summary": "Port 8000 — fertig.",
    "memorialize_suggestions": [{"description": "ports", "body": "8000 is taken", "type": "atom", "class": "log"}],
    "memory_suggestions": ["8000 is taken"],
    "rollback_executed": False,
    "context_consumption": {"tokens_used": 52_000, "pct_window": 26.5},
    "update_contracts": [
        {"contract": "services", "payload": {"port": 8000}},
        {"contract": "services", "payload": {"host": "localhost"}},
        {"contract": "secret", "payload": {}},
    ],
}


def envelope(status: str, **more: Any) -> dict[str, Any]:
    report = {**REPORT, "verification": VERIFICATION} if "COMPLETE" in status.upper() else REPORT
    agent = {"plan_status": status, "agent_id": AGENT, "pending_steps": ["ship"], "next_action": "A or B?"}
    return copy.deepcopy({"agent_status": agent, "evidence_report": report, **more})


GOOD = [
    envelope("COMPLETE"),
    envelope("complete ", **MORE),
    envelope("COMPLETE", consolidation_report=CONSOLIDATION, **MORE),
    envelope("IN_PROGRESS", loop_state=MORE["loop_state"]),
    envelope("APPROVAL_REQUEST", approval_request=REQUEST),
    envelope("APPROVAL_REQUEST", approval_request=REQUEST, consolidation_report=CONSOLIDATION),
    envelope("BLOCKED", user_facing_summary="It is blocked."),
    envelope("NEEDS_INPUT"),
]
GIVEN: list[Any] = [
    None,
    None,
    {},
    {"metadata": {"agent_id": AGENT, "task_id": "t-1"}, "write_permissions": {"writable_sections": ["services"]}},
    {"metadata": {"agent_id": "afedcba9876543210"}},
    {"agent_contract_handoff": {"consolidation_required": True}},
    {"agent_contract_handoff": {"cross_check_required": True}, "surface_routing": {"multi_surface": False}},
    {"surface_routing": {"multi_surface": True}, "metadata": {"task_id": " "}},
    {"metadata": [], "surface_routing": "x", "agent_contract_handoff": {"consolidation_required": "yes"}},
    {"metadata": {"agent_id": 7, "task_id": 7}, "write_permissions": {"writable_sections": [1, None]}},
]
VALUES: list[Any] = [
    *(None, "", " \t\n", "x", "COMPLETE", "approval_request", " Pass ", "fail", "lower", "owned_here", "Owned_Here"),
    *("a12345", "a1234", "A0123456789ABCDEF", AGENT + "\n", "x" * 300, "\ud800\0", "ß", "\u0131n_progress"),
    *(0, 1, -1, 2.5, 1e300, 10**300, True, False, [], [None], [[]], {}, {"result": "pass"}, {"rollback": "x"}, [""]),
]
FENCES = ["```", "````", f"\n{FENCE}\n", f"\n{FENCE}", FENCE, "~~~", f"\n```\n{FENCE}\r\n", "\n> ", f"`{FENCE} json\n"]


# ---- mutations of documents ---------------------------------------------------------------------------------------


def parts_of(document: Any) -> list[Any]:
    """The document and everything in it that can be changed."""
    found, waiting = [], [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict | list):
            found.append(part)
            waiting += part.values() if isinstance(part, dict) else part
    return found


def mutate_document(document: Any, draw: random.Random) -> None:
    part = draw.choice([each for each in parts_of(document) if each] or [document])
    if isinstance(part, list):
        part[draw.randrange(len(part))] = copy.deepcopy(draw.choice(VALUES))
        return
    if not part:
        part["x"] = 1
        return
    key = draw.choice(list(part))
    kind = draw.randrange(7)
    if kind == 0:
        del part[key]
    elif kind == 1:
        part[draw.choice((key.upper(), key[:-1], key.replace("_", ""), "x", key + "\ud800"))] = part.pop(key)
    elif kind == 2:
        part[key] = draw.choice(parts_of(copy.deepcopy(document)))
    elif kind == 3:
        part[draw.choice(("verification", "open_gaps", "extra", "plan_status"))] = copy.deepcopy(draw.choice(VALUES))
    else:
        part[key] = copy.deepcopy(draw.choice(VALUES))


def written(document: Any, draw: random.Random) -> str:
    """A turn's text with the document in its block."""
    body = json.dumps(document, indent=draw.choice((None, 1, 2)), ensure_ascii=draw.random() < 0.5)
    before, after = draw.choice(("", "Done. ", "# Report\n")), draw.choice(("", "That is all."))
    text = f"{before}\n{FENCE}\n{body}\n```\n{after}"
    return text.replace("\n", "\r\n") if draw.random() < 0.2 else text


# ---- mutations of bytes -------------------------------------------------------------------------------------------


def delete(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + data[at + draw.choice((1, 1, 1, 2, 5, 40)) :]


def duplicate(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    end = at + draw.choice((1, 3, 40, len(data)))
    return data[:end] + data[at:]


def replace(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    new = bytes([draw.choice((draw.randrange(256), *b"\"'{}[]:,`0\n\r\t "))])
    return data[:at] + new + data[at + 1 :]


def truncate(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] if draw.random() < 0.8 else data[at:]


def insert(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice((*FENCES, "NaN", "1e999", "9" * 5_000, "[" * 600, "{}", ",")).encode() + data[at:]


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [delete, duplicate, replace, truncate, insert]


def mutated(draw: random.Random) -> str | bytes:
    document = copy.deepcopy(draw.choice(GOOD))
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3, 6))):
        mutate_document(document, draw)
    data = written(document, draw).encode("utf-8", "surrogatepass")
    for _ in range(draw.choice((0, 0, 0, 1, 1, 2, 4))):
        data = draw.choice(MUTATIONS)(data, draw)
    return data if draw.random() < 0.3 else data.decode("utf-8", draw.choice(("surrogateescape", "replace")))


# ---- what must hold -----------------------------------------------------------------------------------------------


def plain(codes: list[str]) -> list[str]:
    return ["BODY" if code.startswith("BODY:") else code for code in codes]


def check(verdict: Verdict) -> None:
    """What holds of every verdict."""
    assert verdict.valid is (not verdict.missing and not verdict.invalid)
    assert verdict.action == ("accept" if verdict.valid else "repair")
    for severity, codes in (("missing", verdict.missing), ("invalid", verdict.invalid), ("warning", verdict.warnings)):
        assert codes == list(dict.fromkeys(each.code for each in verdict.findings if each.severity == severity))
        assert all(find(code) is not None for code in codes)
    heads = [(each.code.partition(":")[0], each.pointer) for each in verdict.findings]
    places = [ORDER.get(head, HEADS[head[0]]) for head in heads if head[0] not in OF_ENTRIES]
    assert places == sorted(places), "the codes stand in the order of the table"
    assert len(msgspec.json.encode(to_dict(verdict))) < 40_000
    told = repair_text(verdict)
    assert len(told.encode()) < 3_000
    assert bool(told) is not verdict.valid
    assert find_block(told).blocks == 0, "what quotes a repair message has no block in it"


def agrees_with_the_schema(document: Any, verdict: Verdict) -> bool:
    try:
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return True  # a lone surrogate, or a number that is too large: beyond what the validator reads
    refused = [code for code in verdict.invalid if not code.startswith("LOOP_STATE_INCOMPLETE")]
    return SCHEMA.is_valid(document) is not bool(verdict.missing or refused)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", seeds(short=20, full=1_000))
def test_a_mutated_text_is_judged_as_the_specification_says(seed: int) -> None:
    draw = random.Random(seed)
    taken = 0
    for _ in range(TEXTS):
        text, given, strict = mutated(draw), draw.choice(GIVEN), draw.random() < 0.2

        verdict, document = read(text, given, strict=strict)

        words = text if isinstance(text, str) else text.decode("utf-8", "replace")
        naive = judge_naively(words, given, strict)
        assert (verdict.valid, verdict.missing, plain(verdict.invalid)) == naive, (text, given, strict)
        check(verdict)
        if document is not None:
            taken += 1
            decoded = judge_object(document, given, strict=strict)
            assert decoded[:4] == verdict[:4]
            assert decoded == _judged_in_full(document, read_given(given), strict, []), "the short cut says the same"
            if given is None and not strict:
                assert agrees_with_the_schema(document, verdict), document
    assert taken > TEXTS // 3, "most texts still have an envelope, so that its fields are judged"


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", seeds(short=10, full=200))
def test_bytes_without_any_sense_are_judged(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(100):
        data = draw.randbytes(draw.randrange(300))
        if draw.random() < 0.5:
            data = FENCE.encode() + b"\n" + data + b"\n```"

        verdict = judge(data)

        naive = judge_naively(data.decode("utf-8", "replace"))
        assert (verdict.valid, verdict.missing, plain(verdict.invalid)) == naive
        check(verdict)


@pytest.mark.parametrize("document", GOOD)
def test_what_is_mutated_is_good_to_begin_with(document: dict[str, Any]) -> None:
    verdict = judge(written(document, random.Random(1)))

    assert verdict.valid
    assert judge_object_naively(document).valid
    assert agrees_with_the_schema(document, verdict)
