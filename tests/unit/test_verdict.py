"""The verdict: every row of the specification's table, every way to judge a value, and input of any kind."""

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from gemba.handoff import fields
from gemba.handoff.entries import MOST_FINDINGS, suggestions_of, updates_of
from gemba.handoff.template import template
from gemba.handoff.verdict import Verdict, document_of, judge, judge_line, judge_object, read, to_dict
from tests.fixtures.envelopes import (
    ABSENT,
    AGENT,
    BOTH,
    CONSOLIDATION,
    LISTS,
    LOOP,
    REQUEST,
    SAMPLES,
    TEAM,
    block,
    changed,
    good,
)


def codes(verdict: Verdict) -> tuple[list[str], list[str], list[str]]:
    return verdict.missing, verdict.invalid, verdict.warnings


NOTHING_WRONG: tuple[list[str], list[str], list[str]] = ([], [], [])


# ---- envelopes that are accepted -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", fields.PLAN_STATUSES)
def test_an_envelope_with_what_its_status_asks_for_is_accepted(status: str) -> None:
    verdict = judge(block(good(status)))

    assert verdict == Verdict(True, status, [], [], [], [], "accept")
    assert judge_object(good(status)) == verdict
    assert judge(block(good(status)), TEAM) == verdict
    assert judge(block(good(status)), strict=True) == verdict


@pytest.mark.parametrize("status", fields.PLAN_STATUSES)
@pytest.mark.parametrize(
    "given", [None, {}, TEAM, BOTH, {**TEAM, **BOTH}], ids=["none", "empty", "team", "both", "all"]
)
def test_every_template_passes_without_a_warning(status: str, given: dict[str, Any] | None) -> None:
    assert judge(template(given, status), given, strict=True) == Verdict(True, status, [], [], [], [], "accept")


def test_the_template_of_a_dispatch_has_its_agent_id() -> None:
    text = template({"metadata": {"agent_id": "abcdef0123456789"}}, "blocked")

    assert (document_of(text) or {})["agent_status"]["agent_id"] == "abcdef0123456789"


def test_a_verdict_never_shares_a_list_with_another() -> None:
    first = judge_object(good())
    for part in (first.missing, first.invalid, first.warnings, first.findings):
        part.append("changed")  # type: ignore[arg-type]

    assert judge_object(good()) == Verdict(True, "COMPLETE", [], [], [], [], "accept")
    assert codes(judge("")) == codes(judge("")) == (["AGENT_STATUS"], [], [])
    assert judge("").missing is not judge("").missing


# ---- every row of the table: what is absent, null, empty, of another type, or another value --------------------------

# (status, pointer, its code, types that it may have): a field that must be there
REQUIRED: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("IN_PROGRESS", "/agent_status", "AGENT_STATUS", ("object",)),
    ("IN_PROGRESS", "/agent_status/plan_status", "PLAN_STATUS", ("string",)),
    ("IN_PROGRESS", "/agent_status/agent_id", "AGENT_ID", ("string",)),
    ("IN_PROGRESS", "/agent_status/pending_steps", "PENDING_STEPS", ("list",)),
    ("IN_PROGRESS", "/agent_status/next_action", "NEXT_ACTION", ("string",)),
    ("IN_PROGRESS", "/evidence_report", "EVIDENCE_REPORT", ("object",)),
    ("IN_PROGRESS", "/evidence_report/patterns_checked", "PATTERNS_CHECKED", ("list",)),
    ("IN_PROGRESS", "/evidence_report/files_checked", "FILES_CHECKED", ("list",)),
    ("IN_PROGRESS", "/evidence_report/commands_run", "COMMANDS_RUN", ("list",)),
    ("IN_PROGRESS", "/evidence_report/key_outputs", "KEY_OUTPUTS", ("list",)),
    ("IN_PROGRESS", "/evidence_report/verbatim_outputs", "VERBATIM_OUTPUTS", ("list",)),
    ("IN_PROGRESS", "/evidence_report/cross_layer_impacts", "CROSS_LAYER_IMPACTS", ("list",)),
    ("IN_PROGRESS", "/evidence_report/open_gaps", "OPEN_GAPS", ("list",)),
    ("COMPLETE", "/evidence_report/verification/artifacts_written", "ARTIFACTS_WRITTEN", ("list",)),
    ("COMPLETE", "/evidence_report/verification/verification_method", "VERIFICATION_METHOD", ("string",)),
    ("IN_PROGRESS", "/consolidation_report", "CONSOLIDATION_REPORT", ("object",)),
    ("IN_PROGRESS", "/consolidation_report/ownership_assessment", "OWNERSHIP_ASSESSMENT", ("string",)),
    ("IN_PROGRESS", "/consolidation_report/confirmed_findings", "CONFIRMED_FINDINGS", ("list",)),
    ("IN_PROGRESS", "/consolidation_report/suspected_findings", "SUSPECTED_FINDINGS", ("list",)),
    ("IN_PROGRESS", "/consolidation_report/conflicts", "CONFLICTS", ("list",)),
    ("IN_PROGRESS", "/consolidation_report/open_gaps", "OPEN_GAPS", ("list",)),
    ("IN_PROGRESS", "/consolidation_report/next_best_agent", "NEXT_BEST_AGENT", ("string", "list")),
    ("APPROVAL_REQUEST", "/approval_request", "APPROVAL_REQUEST", ("object",)),
    ("APPROVAL_REQUEST", "/approval_request/rollback", "APPROVAL_REQUEST_ROLLBACK", ("string", "list", "object")),
    (
        "APPROVAL_REQUEST",
        "/approval_request/verification",
        "APPROVAL_REQUEST_VERIFICATION",
        ("string", "list", "object"),
    ),
]
EVERYTHING = {**TEAM, **BOTH}


def asked_for(status: str) -> dict[str, Any]:
    """An envelope in which every required field of a status stands, with what the input asks for."""
    return good(status, consolidation_report=CONSOLIDATION)


@pytest.mark.parametrize(("status", "pointer", "code", "types"), REQUIRED, ids=lambda part: str(part))
@pytest.mark.parametrize("value", [ABSENT, None, "", " \t\r\n\u3000"], ids=["absent", "null", "empty", "blank"])
def test_what_is_absent_null_or_blank_is_missing(
    status: str, pointer: str, code: str, types: tuple[str, ...], value: Any
) -> None:
    verdict = judge_object(changed(asked_for(status), pointer, value), EVERYTHING)

    assert (verdict.missing, verdict.invalid) == ([code], [])
    assert not verdict.valid
    assert verdict.action == "repair"
    (finding,) = [each for each in verdict.findings if each.severity == "missing"]
    assert finding.pointer == pointer
    assert pointer[1:].replace("/", ".") in finding.message


@pytest.mark.parametrize(("status", "pointer", "code", "types"), REQUIRED, ids=lambda part: str(part))
@pytest.mark.parametrize("kind", SAMPLES)
def test_another_type_is_invalid_with_its_name(
    status: str, pointer: str, code: str, types: tuple[str, ...], kind: str
) -> None:
    verdict = judge_object(changed(asked_for(status), pointer, SAMPLES[kind]), EVERYTHING)

    if kind in types:
        assert f"{code}:{kind}" not in verdict.invalid
        assert code not in verdict.missing
    else:
        assert (verdict.missing, verdict.invalid) == ([], [f"{code}:{kind}"])


@pytest.mark.parametrize("key", LISTS)
def test_lists_may_be_empty_and_hold_anything(key: str) -> None:
    document = good()
    document["evidence_report"][key] = [None, 1, {"command": "x"}, [[]], ""]

    assert codes(judge_object(document)) == NOTHING_WRONG


def test_a_part_that_is_missing_stands_for_what_would_be_in_it() -> None:
    assert codes(judge_object({})) == (["AGENT_STATUS", "EVIDENCE_REPORT"], [], [])
    assert codes(judge_object({"agent_status": {}, "evidence_report": {}}))[0] == [
        *("PLAN_STATUS", "AGENT_ID", "PENDING_STEPS", "NEXT_ACTION"),
        *(key.upper() for key in LISTS),
    ]


def test_codes_stand_in_the_order_of_the_table_and_each_once() -> None:
    document = asked_for("COMPLETE")
    del document["evidence_report"]["open_gaps"], document["consolidation_report"]["open_gaps"]
    document["evidence_report"]["files_checked"] = "x"
    document["agent_status"]["next_action"] = 1
    document["agent_status"]["agent_id"] = "nobody"
    document["evidence_report"]["verification"] = {"result": "fail"}

    verdict = judge_object(document, EVERYTHING)

    assert verdict.missing == [
        *("OPEN_GAPS", "VERIFICATION_RESULT_MUST_BE_PASS", "ARTIFACTS_WRITTEN", "VERIFICATION_METHOD"),
    ]
    assert verdict.invalid == ["AGENT_ID:nobody", "NEXT_ACTION:number", "FILES_CHECKED:string"]
    gaps = [finding.pointer for finding in verdict.findings if finding.code == "OPEN_GAPS"]
    assert gaps == ["/evidence_report/open_gaps", "/consolidation_report/open_gaps"]


# ---- plan_status and agent_id --------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["complete", " COMPLETE\n", "Complete", "\u3000cOmPlEtE\t"])
def test_a_plan_status_is_compared_trimmed_and_in_upper_case(written: str) -> None:
    verdict = judge_object(changed(good(), "/agent_status/plan_status", written))

    assert verdict == Verdict(True, "COMPLETE", [], [], [], [], "accept")


@pytest.mark.parametrize("written", ["DONE", "done", "COMPLETE!", "IN PROGRESS", "COMPLETED", "IN_PROGRE\u00df", "*"])
def test_another_plan_status_is_invalid_as_it_was_written(written: str) -> None:
    verdict = judge_object(changed(good(), "/agent_status/plan_status", written))

    assert codes(verdict) == ([], [f"PLAN_STATUS:{written}"], [])
    assert verdict.plan_status is None


@pytest.mark.parametrize("agent_id", ["a12345", AGENT, "a" + "0" * 5_000, "abcdef"])
def test_an_agent_id_has_an_a_and_five_digits_or_more(agent_id: str) -> None:
    assert judge_object(changed(good(), "/agent_status/agent_id", agent_id)).valid


@pytest.mark.parametrize(
    "agent_id",
    ["a1234", "A12345", "a1234G", "a12345\n", " a12345", "b12345", "aABCDEF", "a\u0661\u0661\u0661\u0661\u0661"],
)
def test_an_agent_id_is_compared_to_the_letter(agent_id: str) -> None:
    assert codes(judge_object(changed(good(), "/agent_status/agent_id", agent_id))) == (
        [],
        [f"AGENT_ID:{agent_id}"],
        [],
    )


def test_another_agent_than_the_dispatched_one_is_invalid() -> None:
    given = {"metadata": {"agent_id": "afedcba9876543210"}}

    verdict = judge(block(good()), given)

    assert codes(verdict) == ([], [f"AGENT_ID:{AGENT}"], [])
    assert verdict.findings[0].message == (f'agent_status.agent_id is "{AGENT}"; this dispatch has "afedcba9876543210"')
    assert judge(block(good()), {"metadata": {"agent_id": AGENT}}).valid


# ---- verification --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [ABSENT, None, "pass", [], ["pass"], 1, True, ""], ids=str)
def test_complete_needs_a_verification(value: Any) -> None:
    verdict = judge_object(changed(good(), "/evidence_report/verification", value), TEAM)

    assert codes(verdict) == (["VERIFICATION_RESULT_REQUIRED_FOR_COMPLETE"], [], [])


@pytest.mark.parametrize("result", [ABSENT, None, "fail", "", "passed", True, 1, ["pass"], {"pass": 1}], ids=str)
def test_the_result_of_a_verification_is_pass(result: Any) -> None:
    verdict = judge_object(changed(good(), "/evidence_report/verification/result", result))

    assert codes(verdict) == (["VERIFICATION_RESULT_MUST_BE_PASS"], [], [])


@pytest.mark.parametrize("result", ["PASS", " Pass\n", "pass"])
def test_the_result_is_compared_trimmed_and_in_lower_case(result: str) -> None:
    assert judge_object(changed(good(), "/evidence_report/verification/result", result)).valid


@pytest.mark.parametrize("status", [status for status in fields.PLAN_STATUSES if status != "COMPLETE"])
@pytest.mark.parametrize("value", ["x", {"result": "fail", "unknown": 1, "exit_code": "x"}, None, 7])
def test_beside_another_status_a_verification_is_not_judged(status: str, value: Any) -> None:
    document = good(status)
    document["evidence_report"]["verification"] = value

    assert codes(judge_object(document, TEAM, strict=True)) == NOTHING_WRONG


def test_a_team_task_needs_what_was_written_and_how_it_was_verified() -> None:
    document = good()
    document["evidence_report"]["verification"] = {"result": "pass"}

    assert codes(judge_object(document, TEAM)) == (["ARTIFACTS_WRITTEN", "VERIFICATION_METHOD"], [], [])
    assert codes(judge_object(document)) == NOTHING_WRONG
    assert codes(judge_object(document, {"metadata": {"task_id": None}})) == NOTHING_WRONG
    document["evidence_report"]["verification"] |= {"artifacts_written": [], "verification_method": "read"}
    assert codes(judge_object(document, TEAM)) == NOTHING_WRONG


@pytest.mark.parametrize(
    ("key", "value", "warning"),
    [
        ("artifacts_written", "x", "ARTIFACTS_WRITTEN:string"),
        ("verification_method", 1, "VERIFICATION_METHOD:number"),
        ("command", ["make"], "VERIFICATION_COMMAND:list"),
        ("exit_code", "0", "VERIFICATION_EXIT_CODE:string"),
        ("files_produced", {}, "VERIFICATION_FILES_PRODUCED:object"),
        ("files_modified", True, "VERIFICATION_FILES_MODIFIED:boolean"),
    ],
)
def test_what_else_a_verification_says_only_warns(key: str, value: Any, warning: str) -> None:
    verdict = judge_object(changed(good(), f"/evidence_report/verification/{key}", value))

    assert verdict.valid
    assert verdict.warnings == [warning]


# ---- consolidation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"agent_contract_handoff": {"consolidation_required": True}},
        {"agent_contract_handoff": {"cross_check_required": True}},
        {"surface_routing": {"multi_surface": True}},
    ],
)
def test_the_input_asks_for_a_consolidation_in_three_ways(given: dict[str, Any]) -> None:
    assert codes(judge_object(good(), given)) == (["CONSOLIDATION_REPORT"], [], [])
    assert judge_object(good(consolidation_report=CONSOLIDATION), given).valid


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        {"agent_contract_handoff": {"consolidation_required": False, "cross_check_required": None}},
        {"surface_routing": {"multi_surface": "true"}},
        {"surface_routing": [True], "agent_contract_handoff": True},
    ],
)
def test_without_being_asked_for_a_consolidation_may_be_left_out(given: Any) -> None:
    assert judge_object(good(), given).valid
    assert judge_object(good(consolidation_report=None), given).valid


def test_a_consolidation_that_is_there_is_judged_although_nobody_asked() -> None:
    assert codes(judge_object(good(consolidation_report="x"))) == ([], ["CONSOLIDATION_REPORT:string"], [])
    assert codes(judge_object(good(consolidation_report={})))[0] == [
        *("OWNERSHIP_ASSESSMENT", "CONFIRMED_FINDINGS", "SUSPECTED_FINDINGS", "CONFLICTS", "OPEN_GAPS"),
        "NEXT_BEST_AGENT",
    ]


@pytest.mark.parametrize("owner", ["OWNED_HERE", " owned_here", "mine"])
def test_the_ownership_is_compared_to_the_letter(owner: str) -> None:
    document = good(consolidation_report={**CONSOLIDATION, "ownership_assessment": owner})

    assert codes(judge_object(document)) == ([], [f"OWNERSHIP_ASSESSMENT:{owner}"], [])


@pytest.mark.parametrize("owner", ["owned_here", "cross_surface_dependency", "not_my_surface"])
@pytest.mark.parametrize("agent", ["api", ["api"], ["api", "web"], [1]])
def test_every_owner_and_one_or_more_next_agents_pass(owner: str, agent: Any) -> None:
    report = {**CONSOLIDATION, "ownership_assessment": owner, "next_best_agent": agent}

    assert codes(judge_object(good(consolidation_report=report))) == NOTHING_WRONG


def test_a_list_of_no_next_agents_is_invalid() -> None:
    report = {**CONSOLIDATION, "next_best_agent": []}

    assert codes(judge_object(good(consolidation_report=report))) == ([], ["NEXT_BEST_AGENT:list"], [])


# ---- approval requests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["rollback", "verification"])
@pytest.mark.parametrize("value", ["text", ["step"], {"command": "x"}], ids=str)
def test_rollback_and_verification_are_text_list_or_object(key: str, value: Any) -> None:
    document = changed(good("APPROVAL_REQUEST"), f"/approval_request/{key}", value)

    assert codes(judge_object(document)) == NOTHING_WRONG


@pytest.mark.parametrize("key", ["rollback", "verification"])
@pytest.mark.parametrize("value", [[], {}], ids=str)
def test_an_empty_rollback_or_verification_is_missing(key: str, value: Any) -> None:
    document = changed(good("APPROVAL_REQUEST"), f"/approval_request/{key}", value)

    assert codes(judge_object(document)) == ([f"APPROVAL_REQUEST_{key.upper()}"], [], [])


@pytest.mark.parametrize("key", ["operation", "exact_content", "scope", "risk_level"])
@pytest.mark.parametrize("value", [ABSENT, None, " "], ids=["absent", "null", "blank"])
def test_what_is_only_advised_in_a_request_is_a_warning(key: str, value: Any) -> None:
    verdict = judge_object(changed(good("APPROVAL_REQUEST"), f"/approval_request/{key}", value))

    assert codes(verdict) == ([], [], [f"APPROVAL_REQUEST_FIELD_MISSING:{key}"])


@pytest.mark.parametrize("level", ["low", " MEDIUM ", "High", "CRITICAL"])
def test_a_risk_level_is_compared_trimmed_and_in_upper_case(level: str) -> None:
    document = changed(good("APPROVAL_REQUEST"), "/approval_request/risk_level", level)

    assert codes(judge_object(document)) == NOTHING_WRONG


@pytest.mark.parametrize(("level", "suffix"), [("huge", "huge"), (3, "number"), (["LOW"], "list")])
def test_another_risk_level_is_a_warning(level: Any, suffix: str) -> None:
    document = changed(good("APPROVAL_REQUEST"), "/approval_request/risk_level", level)

    assert codes(judge_object(document)) == ([], [], [f"APPROVAL_REQUEST_INVALID_RISK_LEVEL:{suffix}"])


@pytest.mark.parametrize("key", ["operation", "exact_content", "approval_id"])
def test_another_type_in_a_request_is_a_warning(key: str) -> None:
    document = changed(good("APPROVAL_REQUEST"), f"/approval_request/{key}", 7)

    assert codes(judge_object(document)) == ([], [], [f"APPROVAL_REQUEST_{key.upper()}:number"])


@pytest.mark.parametrize("status", [status for status in fields.PLAN_STATUSES if status != "APPROVAL_REQUEST"])
@pytest.mark.parametrize("request_", [REQUEST, {}, "x", 7], ids=str)
def test_a_request_beside_another_status_is_only_a_warning(status: str, request_: Any) -> None:
    verdict = judge_object(good(status, approval_request=request_))

    assert codes(verdict) == ([], [], ["APPROVAL_REQUEST_UNEXPECTED"])
    assert judge_object(good(status, approval_request=None)).warnings == []


def test_beside_no_status_nobody_knows_whether_a_request_was_expected() -> None:
    document = changed(good(approval_request=REQUEST), "/agent_status/plan_status", "done")

    assert codes(judge_object(document)) == ([], ["PLAN_STATUS:done"], [])


# ---- loops ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "code"),
    [
        ({"iteration": 2, "max_iterations": 5, "metric": 0.7, "threshold": 0.9}, "2/5,0.7/0.9"),
        ({"iteration": 2, "max_iterations": 5, "metric": 7, "threshold": 9, "direction": "higher"}, "2/5,7/9"),
        ({"iteration": 0, "max_iterations": 1, "metric": 12, "threshold": 3.5, "direction": "lower"}, "0/1,12/3.5"),
        ({"iteration": 1, "max_iterations": 2, "metric": -1, "threshold": 0, "direction": None}, "1/2,-1/0"),
    ],
)
def test_complete_in_a_loop_that_is_short_of_its_threshold_is_invalid(loop: dict[str, Any], code: str) -> None:
    verdict = judge_object(good(loop_state=loop))

    assert codes(verdict) == ([], [f"LOOP_STATE_INCOMPLETE:{code}"], [])
    assert judge_object(good("IN_PROGRESS", loop_state=loop)).valid


@pytest.mark.parametrize(
    "loop",
    [
        {**LOOP},
        {**LOOP, "iteration": 6},
        {**LOOP, "iteration": 1, "metric": 0.9},
        {**LOOP, "iteration": 1, "metric": 1},
        {**LOOP, "iteration": 1, "direction": "lower"},
        {**LOOP, "iteration": 1, "metric": 0.9, "direction": "lower"},
    ],
)
def test_a_loop_at_its_end_or_at_its_threshold_may_be_complete(loop: dict[str, Any]) -> None:
    assert codes(judge_object(good(loop_state=loop))) == NOTHING_WRONG


@pytest.mark.parametrize("key", ["iteration", "max_iterations", "metric", "threshold"])
@pytest.mark.parametrize("value", ["1", True, [], None, ABSENT], ids=str)
def test_a_loop_counts_only_with_four_numbers(key: str, value: Any) -> None:
    document = good(loop_state={"iteration": 1, "max_iterations": 5, "metric": 0.1, "threshold": 0.9})

    verdict = judge_object(changed(document, f"/loop_state/{key}", value))

    assert verdict.valid
    (warning,) = verdict.warnings
    assert warning in (
        f"LOOP_STATE_FIELD_MISSING:{key}",
        *(f"LOOP_STATE_{key.upper()}:{kind}" for kind in ("string", "boolean", "list")),
    )


def test_a_loop_of_another_type_and_another_direction_are_warnings() -> None:
    assert codes(judge_object(good(loop_state=[1]))) == ([], [], ["LOOP_STATE:list"])
    assert codes(judge_object(good(loop_state={**LOOP, "direction": "LOWER"}))) == (
        [],
        [],
        ["LOOP_STATE_DIRECTION:LOWER"],
    )


def test_a_number_that_is_none_does_not_count() -> None:
    loop = {"iteration": 1, "max_iterations": 5, "metric": float("nan"), "threshold": 0.9}

    assert judge_object(good(loop_state=loop)).valid


def test_numbers_of_any_size_are_compared_and_shown_short() -> None:
    loop = {"iteration": 1, "max_iterations": 10**6_000, "metric": -(10**4_000), "threshold": 1e308}

    (code,) = judge_object(good(loop_state=loop)).invalid

    assert code.startswith("LOOP_STATE_INCOMPLETE:1/…,-1000")
    assert len(code) < 300


# ---- optional fields -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "warning"),
    [
        ("user_facing_summary", 7, "USER_FACING_SUMMARY:number"),
        ("memorialize_suggestions", {}, "MEMORIALIZE_SUGGESTIONS:object"),
        ("memory_suggestions", "x", "MEMORY_SUGGESTIONS:string"),
        ("context_consumption", [], "CONTEXT_CONSUMPTION:list"),
        ("context_consumption", {"tokens_used": "9"}, "CONTEXT_CONSUMPTION_TOKENS_USED:string"),
        ("context_consumption", {"pct_window": True}, "CONTEXT_CONSUMPTION_PCT_WINDOW:boolean"),
        ("update_contracts", False, "UPDATE_CONTRACTS:boolean"),
    ],
)
def test_an_optional_field_of_another_type_is_a_warning(key: str, value: Any, warning: str) -> None:
    assert codes(judge_object(good(**{key: value}))) == ([], [], [warning])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("user_facing_summary", "Done."),
        ("user_facing_summary", ""),
        ("memory_suggestions", ["x", 1]),
        ("rollback_executed", False),
        ("rollback_executed", {"what": "x"}),
        ("rollback_executed", "yes"),
        ("context_consumption", {"tokens_used": 1, "pct_window": 2.5}),
        ("update_contracts", []),
        ("memorialize_suggestions", []),
        ("loop_state", None),
        ("user_facing_summary", None),
        ("update_contracts", None),
    ],
)
def test_an_optional_field_may_be_there_or_null(key: str, value: Any) -> None:
    assert codes(judge_object(good(**{key: value}), strict=True)) == NOTHING_WRONG


def test_blocked_without_a_gap_is_a_warning() -> None:
    document = changed(good("BLOCKED"), "/evidence_report/open_gaps", [])

    assert codes(judge_object(document)) == ([], [], ["BLOCKED_WITHOUT_GAP"])
    assert judge_object(good("BLOCKED")).warnings == []
    assert judge_object(good("IN_PROGRESS")).warnings == []
    assert judge_object(changed(document, "/evidence_report/open_gaps", ABSENT)).warnings == []


def test_bad_suggestions_are_skipped_and_unknown_kinds_kept() -> None:
    entries: list[Any] = [
        {"description": "d", "body": "b"},
        {"description": "d"},
        {"description": " ", "body": "b"},
        {"description": "d", "body": ["b"]},
        "d",
        None,
        {"description": "d", "body": "b", "slug": 7},
        {"description": "d", "body": "b", "type": "idea", "class": "log"},
        {"description": "d", "body": "b", "type": "negative", "class": "Anchor", "slug": None, "rationale": ""},
        {"description": "d", "body": "b", "type": 7},
    ]
    document = good(memorialize_suggestions=entries)

    verdict = judge_object(document)

    assert verdict.valid
    assert verdict.warnings == [
        *(f"MEMORIALIZE_SUGGESTIONS_SKIPPED:{number}" for number in (1, 2, 3, 4, 5, 6)),
        "MEMORIALIZE_SUGGESTIONS_TYPE:idea",
        "MEMORIALIZE_SUGGESTIONS_CLASS:Anchor",
        "MEMORIALIZE_SUGGESTIONS_SKIPPED:9",
    ]
    assert suggestions_of(document) == [entries[0], entries[7], entries[8]]


# ---- update_contracts ----------------------------------------------------------------------------------------------

WRITABLE = {"write_permissions": {"writable_sections": ["services", "ports"]}}


def update(contract: Any, payload: Any) -> dict[str, Any]:
    return {"contract": contract, "payload": payload}


@pytest.mark.parametrize(
    "entry",
    [None, "services", [], {}, update("services", None), update("services", []), update("", {}), update(7, {})],
    ids=str,
)
def test_a_malformed_update_is_dropped_with_a_warning(entry: Any) -> None:
    document = good(update_contracts=[entry, update("ports", {"a": 1})])

    assert codes(judge_object(document, WRITABLE)) == ([], [], ["UPDATE_CONTRACTS_MALFORMED:0"])
    assert updates_of(document, WRITABLE) == [("ports", {"a": 1})]


@pytest.mark.parametrize("name", ["secret", "Services", "services ", "services/ports", "*"])
def test_what_is_not_writable_is_dropped_and_told_what_is(name: str) -> None:
    document = good(update_contracts=[update(name, {"a": 1}), update("services", {})])

    verdict = judge_object(document, WRITABLE)

    assert codes(verdict) == ([], [], [f"UPDATE_CONTRACTS_NOT_WRITABLE:{name}"])
    assert '"services", "ports"' in verdict.findings[0].message
    assert updates_of(document, WRITABLE) == [("services", {})]


def test_one_contract_twice_is_kept_in_order_with_one_warning() -> None:
    document = good(update_contracts=[update("ports", {"a": number}) for number in range(3)])

    verdict = judge_object(document, WRITABLE)

    assert codes(verdict) == ([], [], ["UPDATE_CONTRACTS_TWICE:ports"])
    assert len(verdict.findings) == 1
    assert [payload["a"] for _, payload in updates_of(document, WRITABLE)] == [0, 1, 2]


@pytest.mark.parametrize(
    "given", [{}, {"write_permissions": {}}, {"write_permissions": {"writable_sections": "ports"}}]
)
def test_an_input_that_lists_nothing_lets_nothing_be_written(given: dict[str, Any]) -> None:
    document = good(update_contracts=[update("ports", {})])

    assert judge_object(document, given).warnings == ["UPDATE_CONTRACTS_NOT_WRITABLE:ports"]
    assert updates_of(document, given) == []


def test_without_an_input_nobody_knows_what_is_writable_and_nothing_is_applied() -> None:
    document = good(update_contracts=[update("ports", {})])

    assert codes(judge_object(document)) == NOTHING_WRONG
    assert updates_of(document, None) == []


# ---- unknown fields ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pointer", "code", "hint"),
    [
        ("/agent_status/planStatus", "UNKNOWN_FIELD:planStatus", "did you mean plan_status?"),
        ("/agent_status/next-action", "UNKNOWN_FIELD:next-action", "did you mean next_action?"),
        ("/evidence_report/file_checked", "UNKNOWN_FIELD:file_checked", "did you mean files_checked?"),
        ("/verification", "UNKNOWN_FIELD:verification", "did you mean evidence_report.verification?"),
        ("/user_summary", "UNKNOWN_FIELD:user_summary", "did you mean user_facing_summary?"),
        ("/evidence_report/verification/exitcode", "UNKNOWN_FIELD:exitcode", "did you mean exit_code?"),
        ("/loop_state/zzz", "UNKNOWN_FIELD:zzz", "known here: iteration, max_iterations, metric, threshold, direction"),
    ],
)
def test_an_unknown_field_is_told_with_the_nearest_known_name(pointer: str, code: str, hint: str) -> None:
    document = changed(good(loop_state=LOOP), pointer, 1)

    verdict = judge_object(document)

    assert codes(verdict) == ([], [], [code])
    assert (verdict.findings[0].pointer, verdict.findings[0].hint) == (pointer, hint)
    assert codes(judge_object(document, strict=True)) == ([], [code], [])


def test_entries_of_lists_and_payloads_may_have_any_field() -> None:
    document = good(
        update_contracts=[{**update("ports", {"any": {"thing": 1}}), "why": "x"}],
        memorialize_suggestions=[{"description": "d", "body": "b", "x": 1}],
    )
    document["evidence_report"]["commands_run"] = [{"command": "x", "exit": 0}]

    assert codes(judge_object(document, WRITABLE, strict=True)) == NOTHING_WRONG


def test_of_many_unknown_fields_the_first_are_told() -> None:
    document = good(**{f"x{number}": number for number in range(50_000)})

    verdict = judge_object(document, strict=True)

    assert verdict.invalid == [f"UNKNOWN_FIELD:x{number}" for number in range(MOST_FINDINGS)]


def test_the_pointer_of_an_unknown_field_is_a_json_pointer() -> None:
    (finding,) = judge_object(good(**{"a/b~c": 1})).findings

    assert finding.pointer == "/a~1b~0c"


# ---- texts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "Done.", "```json\n{}\n```", "```AGENT_CONTRACT_HANDOFF\n{}\n```", b"", b"\xff"])
def test_a_text_without_a_block_lacks_its_agent_status(text: str | bytes) -> None:
    verdict = judge(text)

    assert (verdict.valid, verdict.missing, verdict.invalid) == (False, ["AGENT_STATUS"], [])
    assert verdict.findings[-1].message == "there is no agent_contract_handoff block"
    assert document_of(text) is None


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("[]", "type"),
        ("null", "type"),
        ("'x'", "syntax"),
        ('{"a": 1,}', "syntax"),
        ('{"a": NaN}', "syntax"),
        ('{"a": ' + "[" * 600 + "]" * 600 + "}", "depth"),
        ('{"a": ' + "9" * 4_301 + "}", "number"),
        ('{"a": 1}\nx', "syntax"),
    ],
    ids=lambda part: part[:20],
)
def test_a_block_without_an_object_is_an_invalid_body(body: str, cause: str) -> None:
    verdict = judge(f"```agent_contract_handoff\n{body}\n```")

    assert codes(verdict) == ([], [f"BODY:{cause}"], [])
    assert verdict.findings[0].message.startswith("the body cannot be used: line ")


def test_a_parse_error_is_told_with_its_place_and_a_suggestion() -> None:
    (finding,) = judge("Done.\n```agent_contract_handoff\n{\n  'a': 1}\n```").findings

    assert finding.message == (
        "the body cannot be used: line 4, column 3: the character ' stands where a key in double quotes belongs"
    )
    assert finding.hint == "write \"a\" instead of 'a'"


def test_what_is_to_be_said_of_the_text_is_a_warning() -> None:
    body = json.dumps(good())[1:-1]
    text = f"```agent_contract_handoff\n[]\n```\n```agent_contract_handoff\n{{{body}, {body}}}\n```\n\xff"

    verdict = judge(text.encode("latin-1"))

    assert codes(verdict) == ([], [], ["NOT_UTF8", "SEVERAL_BLOCKS:2", "DUPLICATE_KEY"])
    assert [finding.pointer for finding in verdict.findings][2:] == ["/agent_status", "/evidence_report"]


def test_the_last_block_with_an_object_is_the_envelope() -> None:
    text = block({"agent_status": "a quoted template"}) + block(good(user_facing_summary="x")) + block([1])

    verdict, document = read(text)

    assert (verdict.valid, verdict.warnings) == (True, ["SEVERAL_BLOCKS:3"])
    assert document == document_of(text) == good(user_facing_summary="x")


def test_large_and_odd_but_legal_json_is_taken() -> None:
    document = good(user_facing_summary="\ud800\0", rollback_executed=[10**4_000, -1e-400])
    document["evidence_report"]["key_outputs"] = ["x" * 1_000_000]
    text = block(document).replace("-0.0", "1e999")

    assert judge(text).valid


# ---- objects -------------------------------------------------------------------------------------------------------


class Odd:
    def __eq__(self, other: object) -> bool:
        raise AssertionError("nobody compares this")

    def __hash__(self) -> int:
        return 7

    def __str__(self) -> str:
        raise AssertionError("nobody prints this")

    __repr__ = __str__


class OddText(str):
    def strip(self, chars: str | None = None, /) -> str:
        raise AssertionError("nobody trims this")


VALUES: list[Any] = [
    *(None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**10_000, "", " ", "x", "\ud800\0", [], [[]], {}, {"x": 1}),
    *({1: 2, None: 3, (): 4}, b"bytes", bytearray(b"x"), (), {1}, object(), Odd(), OddText("x"), len),
]


@pytest.mark.parametrize("document", VALUES, ids=lambda value: type(value).__name__)
def test_any_object_gets_a_verdict(document: Any) -> None:
    verdict = judge_object(document)

    assert not verdict.valid
    assert isinstance(document, dict) or verdict.invalid == ["BODY:type"]
    msgspec.json.encode(to_dict(verdict))


@pytest.mark.parametrize("pointer", [field.pointer for field in fields.FIELDS])
@pytest.mark.parametrize("status", ["COMPLETE", "APPROVAL_REQUEST", "BLOCKED"])
def test_any_value_in_any_field_gets_a_verdict(pointer: str, status: str) -> None:
    for value in VALUES:
        document = good(status, consolidation_report=CONSOLIDATION, loop_state=LOOP, context_consumption={})
        document.setdefault("approval_request", dict(REQUEST))
        document["evidence_report"].setdefault("verification", {})

        verdict = judge_object(changed(document, pointer, value), {**EVERYTHING, **WRITABLE})

        assert verdict.valid is (not verdict.missing and not verdict.invalid)
        assert all(len(code) < 500 for code in verdict.missing + verdict.invalid + verdict.warnings)
        msgspec.json.encode(to_dict(verdict))


@pytest.mark.parametrize(
    "given", [7, "x", [], [{}], {"metadata": 7}, {"write_permissions": {"writable_sections": [[]]}}]
)
def test_an_input_of_any_kind_says_what_it_can(given: Any) -> None:
    assert judge_object(good(), given).valid


@pytest.mark.parametrize("text", [None, 7, {}, [], Odd(), bytearray(b"x")], ids=lambda value: type(value).__name__)
def test_what_is_no_text_is_no_accepted_text(text: Any) -> None:
    assert not judge(text).valid


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
PARTS = sorted({field.key for field in fields.FIELDS})


@drawn(
    st.dictionaries(st.sampled_from(PARTS), JSON_VALUES | st.dictionaries(st.sampled_from(PARTS), JSON_VALUES)),
    st.none() | JSON_VALUES,
    st.booleans(),
)
def test_any_json_is_judged_alike_as_text_and_as_object(document: dict[str, Any], given: Any, strict: bool) -> None:
    assert judge(block(document), given, strict=strict) == judge_object(document, given, strict=strict)


@drawn(st.text() | st.binary())
def test_any_text_and_bytes_get_a_verdict(text: str | bytes) -> None:
    verdict = judge(text)

    assert not verdict.valid
    assert verdict.action == "repair"


# ---- lines of a bulk audit -----------------------------------------------------------------------------------------


def test_a_line_is_judged_with_its_input() -> None:
    text, given = block(good()), {"metadata": {"agent_id": "afffff"}}

    assert judge_line(json.dumps({"text": text})) == judge(text)
    assert judge_line(json.dumps({"text": text, "input": given}).encode()) == judge(text, given)
    assert judge_line(json.dumps({"text": block(good(x=1)), "input": None}), strict=True).invalid == ["UNKNOWN_FIELD:x"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "x",
        "[]",
        "{}",
        '"text"',
        '{"text": 7}',
        '{"text": "", "input": []}',
        "[" * 100_000,
        "9" * 5_000,
        b"\xff\xff",
    ],
    ids=lambda line: str(line)[:20],
)
def test_a_bad_line_gets_a_verdict_of_its_own(line: str | bytes) -> None:
    verdict = judge_line(line)

    assert codes(verdict) == ([], ["BODY:line"], [])
    assert verdict.findings[0].message.startswith("the body cannot be used: the line is no object with a text; ")


# ---- findings ------------------------------------------------------------------------------------------------------


def test_a_long_value_is_cut_in_code_and_message() -> None:
    verdict = judge_object(changed(good(), "/agent_status/plan_status", "x" * 100_000))

    assert verdict.invalid == ["PLAN_STATUS:" + "x" * 200 + "…"]
    assert len(verdict.findings[0].message) < 200


def test_nothing_of_an_envelope_fills_a_place_in_a_message() -> None:
    verdict = judge_object(changed(good(), "/agent_status/agent_id", "{fits} {found}"), TEAM)

    assert verdict.findings[0].message.startswith('agent_status.agent_id is "{fits} {found}"; allowed: text')


def test_a_verdict_becomes_plain_json() -> None:
    document = to_dict(judge_object({}))

    assert list(document) == ["valid", "plan_status", "missing", "invalid", "warnings", "findings", "action"]
    assert document["findings"][0] == {
        "code": "AGENT_STATUS",
        "pointer": "/agent_status",
        "severity": "missing",
        "message": "agent_status is missing; needed: an object",
        "hint": "how the turn ended, and what comes next",
    }
    assert json.loads(json.dumps(document)) == document


# ---- time ----------------------------------------------------------------------------------------------------------


def hostile(size: int) -> dict[str, dict[str, Any]]:
    return {
        "unknown": good(**{f"key{number}" * 3: 1 for number in range(size)}),
        "updates": good(update_contracts=[update(f"c{number}", {}) for number in range(size)]),
        "bad updates": good(update_contracts=list(range(size))),
        "suggestions": good(memorialize_suggestions=[{"description": "d", "body": "b", "type": "x"}] * size),
        "long": changed(good(), "/agent_status/plan_status", "x" * size * 100),
        "blank": changed(good(), "/agent_status/next_action", " " * size * 100),
        "digits": changed(good(), "/agent_status/agent_id", "a" + "0" * size * 100 + "x"),
    }


@pytest.mark.parametrize("shape", hostile(1))
def test_a_hostile_envelope_takes_time_in_proportion_to_its_size(shape: str) -> None:
    """A hundred times the size takes less than a thousand times the time: nothing here is quadratic."""
    given = {"write_permissions": {"writable_sections": [f"c{number}" for number in range(20_000)]}}
    small, large = hostile(200)[shape], hostile(20_000)[shape]

    def seconds(document: dict[str, Any]) -> float:
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            judge_object(document, given, strict=True)
            times.append(time.perf_counter() - begun)
        return min(times)

    assert seconds(large) < 1_000 * seconds(small) + 0.05
