"""The tables: every field and rule has an envelope that passes and one that fails; what is made of them agrees."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from gemba import handoff
from gemba.errors import Invalid, NotFound
from gemba.handoff import afterwards, fields, rules
from gemba.handoff import block as block_module
from gemba.handoff.block import find_block
from gemba.handoff.fields import FIELDS, ITEMS, Field
from gemba.handoff.reference import explain, reference_page
from gemba.handoff.repair import next_step, repair_text
from gemba.handoff.rules import RULES, Rule, find, rows_of
from gemba.handoff.schema import json_schema
from gemba.handoff.status import PlanStatus
from gemba.handoff.template import template
from gemba.handoff.verdict import Finding, Verdict, document_of, judge, judge_object
from tests.fixtures.envelopes import BOTH, CONSOLIDATION, LOOP, SAMPLES, TEAM, block, changed, good

SCHEMA = jsonschema_rs.validator_for(json_schema())
SOURCES = Path(handoff.__file__).parent


def name_of(row: Field | Rule) -> str:
    return f"{row.code} {row.pointer}" + (f" {row.severity}" if isinstance(row, Rule) else "")


# ---- every rule has an envelope that fails by it -------------------------------------------------------------------


def with_update(**entry: Any) -> dict[str, Any]:
    return good(update_contracts=[{"contract": "ports", "payload": {}}, entry])


def with_suggestion(**entry: Any) -> dict[str, Any]:
    return good(memorialize_suggestions=[{"description": "d", "body": "b", **entry}])


# Rules that no row of the field table implies.
BY_HAND: dict[Rule, Callable[[], Verdict]] = {
    rules.NOT_UTF8: lambda: judge(block(good()).encode() + b"\xff"),
    rules.SEVERAL_BLOCKS: lambda: judge(block(good()) * 2),
    rules.DUPLICATE_KEY: lambda: judge(block(good()).replace("{", '{"agent_status": 1, ', 1)),
    rules.BODY: lambda: judge("```agent_contract_handoff\n[]\n```"),
    rules.NO_BLOCK: lambda: judge("Done."),
    rules.OTHER_AGENT: lambda: judge_object(good(), {"metadata": {"agent_id": "afffff"}}),
    rules.BLOCKED_WITHOUT_GAP: lambda: judge_object(changed(good("BLOCKED"), "/evidence_report/open_gaps", [])),
    rules.APPROVAL_UNEXPECTED: lambda: judge_object(good(approval_request={})),
    rules.LOOP_INCOMPLETE: lambda: judge_object(good(loop_state={**LOOP, "iteration": 1})),
    rules.SUGGESTION_SKIPPED: lambda: judge_object(with_suggestion(body=None)),
    rules.OTHER_TYPE: lambda: judge_object(with_suggestion(type="idea")),
    rules.OTHER_CLASS: lambda: judge_object(with_suggestion(**{"class": "idea"})),
    rules.UPDATE_MALFORMED: lambda: judge_object(with_update(contract="services")),
    rules.UPDATE_NOT_WRITABLE: lambda: judge_object(
        with_update(contract="x", payload={}), {"write_permissions": {"writable_sections": ["ports"]}}
    ),
    rules.UPDATE_TWICE: lambda: judge_object(with_update(contract="ports", payload={})),
    rules.UNKNOWN_FIELD: lambda: judge_object(good(unknown=1)),
}


def whole(field: Field) -> dict[str, Any]:
    """An envelope in which the field stands, with an example, and is judged."""
    status = {"approval": "APPROVAL_REQUEST", "complete": "COMPLETE", "team": "COMPLETE"}.get(field.when, "IN_PROGRESS")
    document = good(status, consolidation_report=CONSOLIDATION, loop_state=LOOP, context_consumption={})
    value = status if field is fields.PLAN_STATUS else json.loads(field.example)
    return changed(document, field.pointer, value)


def failing_value(rule: Rule, field: Field) -> Any:
    if ":" not in rule.code or "FIELD_MISSING" in rule.code:
        return None
    if field.allowed or field.pattern:
        return "nothing of the kind"
    return next(value for kind, value in SAMPLES.items() if kind not in field.types)


def failing(rule: Rule) -> Verdict:
    if rule in BY_HAND:
        return BY_HAND[rule]()
    field = fields.BY_POINTER[rule.pointer]
    given = {**BOTH, **({} if rule.severity == "warning" else TEAM)}
    return judge_object(changed(whole(field), field.pointer, failing_value(rule, field)), given)


def test_no_rule_lacks_its_failing_envelope() -> None:
    implied = {rule for field in FIELDS for rule in rules.implied_by(field) if rule is not None}

    assert implied | set(BY_HAND) == set(RULES)
    assert not implied & set(BY_HAND)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_speaks_where_it_is_broken_and_with_its_severity(rule: Rule) -> None:
    verdict = failing(rule)

    pattern = re.escape(rule.pointer).replace(r"\*", "[^/]+") + ("" if "/*" not in rule.pointer else "(/.*)?")
    spoken = [
        finding
        for finding in verdict.findings
        if finding.code.partition(":")[0] == rule.head
        and (":" in finding.code) is (":" in rule.code)
        and finding.severity == rule.severity
        and (re.fullmatch(pattern, finding.pointer) or rule is rules.DUPLICATE_KEY)
    ]
    assert spoken, verdict
    assert verdict.valid is (rule.severity == "warning")
    assert find(spoken[0].code) in rows_of(rule.code)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_is_silent_about_a_good_envelope(rule: Rule) -> None:
    field = fields.BY_POINTER.get(rule.pointer)
    document = good() if field is None or field not in FIELDS else whole(field)

    heads = [finding.code.partition(":")[0] for finding in judge_object(document, {**TEAM, **BOTH}).findings]

    assert rule.head not in heads
    assert rule.head not in [finding.code.partition(":")[0] for finding in judge(block(good())).findings]


# ---- every field has a value that passes and one that fails --------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS, ids=name_of)
def test_the_example_of_a_field_passes(field: Field) -> None:
    document = whole(field)

    verdict = judge_object(document, {**TEAM, **BOTH}, strict=True)

    assert (verdict.missing, verdict.invalid, verdict.warnings) == ([], [], [])


@pytest.mark.parametrize("field", [field for field in FIELDS if field.types], ids=name_of)
def test_a_value_of_another_type_in_a_field_is_told(field: Field) -> None:
    wrong = next(value for kind, value in SAMPLES.items() if kind not in field.types)

    verdict = judge_object(changed(whole(field), field.pointer, wrong), {**TEAM, **BOTH})

    assert [finding.pointer for finding in verdict.findings] == [field.pointer]
    assert verdict.valid is (field.presence in ("advisory", "optional"))


@pytest.mark.parametrize("field", ITEMS, ids=name_of)
def test_the_example_of_an_entry_counts(field: Field) -> None:
    part = fields.BY_POINTER[field.part] if field.key != "*" else field
    entry = json.loads(part.example) | ({} if field.key == "*" else {field.key: json.loads(field.example)})

    verdict = judge_object(changed(good(), part.part, [entry]))

    assert (verdict.missing, verdict.invalid, verdict.warnings) == ([], [], [])


# ---- the tables themselves -----------------------------------------------------------------------------------------


def test_the_statuses_are_those_of_the_state_machine() -> None:
    assert tuple(PlanStatus) == rules.PLAN_STATUSES


def test_the_enumerations_are_those_of_the_specification() -> None:
    assert {field.name: " ".join(field.allowed) for field in (*FIELDS, *ITEMS) if field.allowed} == {
        "agent_status.plan_status": "IN_PROGRESS APPROVAL_REQUEST COMPLETE BLOCKED NEEDS_INPUT",
        "evidence_report.verification.result": "pass",
        "consolidation_report.ownership_assessment": "owned_here cross_surface_dependency not_my_surface",
        "approval_request.risk_level": "LOW MEDIUM HIGH CRITICAL",
        "loop_state.direction": "higher lower",
        "memorialize_suggestions.*.type": "atom decision negative",
        "memorialize_suggestions.*.class": "anchor thread log",
    }


def test_the_causes_are_those_of_the_block() -> None:
    assert set(rules.BODY_CAUSES) == {*block_module.CAUSES, "line"}


def test_every_field_stands_behind_its_part_and_once() -> None:
    pointers = [field.pointer for field in FIELDS]

    assert len(set(pointers)) == len(pointers)
    for place, field in enumerate(FIELDS):
        assert field.part == "" or field.part in pointers[:place]
    for field in (*FIELDS, *ITEMS):
        assert field.presence in ("required", "conditional", "advisory", "optional")
        assert set(field.types) <= set(fields.TYPES)
        assert field.when in fields.CONDITIONS
        assert re.fullmatch("[A-Z_]+", field.code)
        assert field.hint


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_is_told_in_one_line_each(rule: Rule) -> None:
    assert rule.severity in ("missing", "invalid", "warning")
    for words in (rule.when, rule.message, rule.hint, rule.example):
        assert "\n" not in words
    assert re.fullmatch(r"[^\n]{5,220}[^. \n]", rule.message)
    assert rule.when
    assert rule.hint
    assert (rule.code, rule.pointer, rule.when) not in [
        (other.code, other.pointer, other.when) for other in RULES if other is not rule
    ]


@pytest.mark.parametrize(
    ("code", "row", "pointer"),
    [
        ("PLAN_STATUS", "PLAN_STATUS", "/agent_status/plan_status"),
        ("PLAN_STATUS:DONE", "PLAN_STATUS:<x>", "/agent_status/plan_status"),
        ("PLAN_STATUS:a:b", "PLAN_STATUS:<x>", "/agent_status/plan_status"),
        ("PLAN_STATUS:<x>", "PLAN_STATUS:<x>", "/agent_status/plan_status"),
        ("PENDING_STEPS:string", "PENDING_STEPS:<type>", "/agent_status/pending_steps"),
        ("BODY:syntax", "BODY:<cause>", ""),
        (
            "LOOP_STATE_INCOMPLETE:1/5,0.1/0.9",
            "LOOP_STATE_INCOMPLETE:<iteration>/<max_iterations>,<metric>/<threshold>",
            "/loop_state",
        ),
        ("APPROVAL_REQUEST_FIELD_MISSING:scope", "APPROVAL_REQUEST_FIELD_MISSING:<f>", "/approval_request/operation"),
        ("UPDATE_CONTRACTS_NOT_WRITABLE:x", "UPDATE_CONTRACTS_NOT_WRITABLE:<name>", "/update_contracts/*/contract"),
    ],
)
def test_a_code_finds_its_row(code: str, row: str, pointer: str) -> None:
    found = find(code)

    assert found is not None
    assert (found.code, found.pointer) == (row, pointer)


@pytest.mark.parametrize("code", ["", ":", "PLAN", "plan_status", "PLAN_STATUSES", "BODY", "PENDING_STEPS "])
def test_what_is_no_code_finds_nothing(code: str) -> None:
    assert find(code) is None


def test_no_name_of_a_field_is_written_anywhere_but_in_the_tables() -> None:
    """Whoever reads an envelope takes its names from the table, so that a renamed field is renamed everywhere."""
    names = {field.key for field in (*FIELDS, *ITEMS)} | {rule.head for rule in RULES} | set(rules.PLAN_STATUSES)
    names -= {
        "*",
        "type",
        "description",
        "class",
        "scope",
        "command",
        "details",
        "result",
        "verification",
        "contract",
        "direction",
    }
    ours = ("verdict", "plain", "finding", "entries", "given", "repair", "schema", "reference", "template")
    written = {
        (name, node.value)
        for name in ours
        for node in ast.walk(ast.parse((SOURCES / f"{name}.py").read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    }

    assert written == {("template", "plan_status")}  # the code of its own error


@pytest.mark.parametrize("name", ["rules", "verdict", "repair"])
def test_a_hook_can_import_it_without_any_dependency(name: str) -> None:
    program = f"import sys, gemba.handoff.{name}; print(*sorted(sys.modules))"
    out = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = set(out.split())

    assert not loaded & {"msgspec", "click", "pathlib", "difflib", "sqlalchemy", "dataclasses", "asyncio"}
    assert {module for module in loaded if module.startswith("gemba.")} <= {
        "gemba.collector",
        "gemba.handoff",
        *(
            f"gemba.handoff.{each}"
            for each in (
                "block",
                "body",
                "entries",
                "fields",
                "finding",
                "given",
                "plain",
                "repair",
                "rules",
                "verdict",
            )
        ),
    }


# ---- the reference -------------------------------------------------------------------------------------------------


def test_the_reference_page_has_every_field_every_code_and_every_cause() -> None:
    page = reference_page()
    first = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)

    assert first == [
        *(field.name for field in (*FIELDS, *ITEMS)),
        *(rule.code for rule in RULES),
        *(rule.code for rule in afterwards.RULES),
        *rules.BODY_CAUSES,
    ]
    tables = [line for line in page.splitlines() if line.startswith("|")]
    for line in tables:
        assert line.replace("\\|", "").count("|") in (3, 5, 6)
    assert "```" not in page


@pytest.mark.parametrize("rule", [*RULES, *afterwards.RULES], ids=name_of)
def test_every_code_is_explained(rule: Rule) -> None:
    text = explain(rule.code)

    assert rule.code in text
    assert rule.hint in text
    assert rule.when in text
    assert explain(rule.code.replace("<", "").replace(">", "")) == text
    assert "{" not in text.partition("example:")[0].replace("a[0-9a-f]{5,}", "")


def test_what_is_no_code_is_told_the_nearest() -> None:
    with pytest.raises(NotFound, match=r'no rule has the code "PLAN_STATE"; did you mean PLAN_STATUS\?'):
        explain("PLAN_STATE")
    with pytest.raises(NotFound, match=r'no rule has the code "zzz"$'):
        explain("zzz")


# ---- the template --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["complete", " Blocked ", PlanStatus.NEEDS_INPUT])
def test_a_template_takes_a_status_as_an_agent_may_write_it(status: str) -> None:
    verdict = judge(template(status=status))

    assert verdict.plan_status == status.strip().upper()
    assert verdict.action == "accept"


def test_a_template_of_no_status_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(Invalid, match='"done" is no plan_status; allowed: IN_PROGRESS, APPROVAL_REQUEST, COMPLETE'):
        template(status="done")


# ---- the schema ----------------------------------------------------------------------------------------------------


def test_the_schema_is_a_valid_one_of_its_draft() -> None:
    schema = json_schema()

    jsonschema_rs.meta.validate(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["required"] == ["agent_status", "evidence_report"]
    assert json.loads(json.dumps(schema)) == schema
    assert json_schema() is not json_schema()


@pytest.mark.parametrize("status", fields.PLAN_STATUSES)
def test_the_schema_takes_every_template(status: str) -> None:
    assert SCHEMA.is_valid(document_of(template(BOTH, status)))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in BY_HAND], ids=name_of)
def test_the_schema_refuses_what_the_verdict_refuses_without_an_input(rule: Rule) -> None:
    field = fields.BY_POINTER[rule.pointer]
    document = changed(whole(field), field.pointer, failing_value(rule, field))

    assert SCHEMA.is_valid(document) is judge_object(document).valid


@pytest.mark.parametrize("status", ["complete", "\u3000Complete\n", "COMPLETE"])
def test_the_schema_knows_a_status_however_it_is_written(status: str) -> None:
    document = changed(good(), "/agent_status/plan_status", status)

    assert SCHEMA.is_valid(document)
    del document["evidence_report"]["verification"]
    assert not SCHEMA.is_valid(document)
    assert SCHEMA.is_valid(changed(document, "/agent_status/plan_status", "blocked"))


def test_the_schema_takes_unknown_fields_and_optional_ones_of_any_type() -> None:
    optional = {field.key: 7 for field in FIELDS if field.part == "" and field.presence == "optional"}

    assert SCHEMA.is_valid(good(unknown=1, **optional))
    assert judge_object(good(unknown=1, **optional)).valid


@pytest.mark.parametrize("blank", ["", " ", "\u3000\t\x1c", "\ufeff", "\u200b", "x"])
def test_schema_and_verdict_agree_on_what_is_blank(blank: str) -> None:
    document = changed(good(), "/agent_status/next_action", blank)

    assert SCHEMA.is_valid(document) is judge_object(document).valid


# ---- the repair message --------------------------------------------------------------------------------------------


def test_a_valid_envelope_needs_no_repair() -> None:
    assert repair_text(judge_object(good(unknown=1))) == ""


def test_a_repair_message_says_only_what_is_wrong() -> None:
    document = good()
    del document["evidence_report"]["files_checked"], document["evidence_report"]["open_gaps"]
    document["agent_status"]["plan_status"] = "done"

    allowed = "IN_PROGRESS, APPROVAL_REQUEST, COMPLETE, BLOCKED, NEEDS_INPUT"
    assert repair_text(judge_object(document)).splitlines() == [
        "Your handoff was not accepted. Mend this, then send the whole block again:",
        f'- agent_status.plan_status is "done"; allowed: one of {allowed} (how the turn ended, in any case)',
        '- evidence_report: add "files_checked": [], "open_gaps": []',
        "The block is a line that ends in ```agent_contract_handoff, one JSON object, then ``` on a line of its own.",
    ]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.severity != "warning"], ids=name_of)
def test_every_repair_message_is_short_and_has_no_block_in_it(rule: Rule) -> None:
    verdict = failing(rule)

    text = repair_text(verdict)

    assert 50 < len(text.encode()) < 1_000
    assert "```agent_contract_handoff" in text
    assert find_block(text).blocks == 0
    assert text == repair_text(failing(rule))
    field = fields.BY_POINTER.get(rule.pointer)
    if rule.severity == "missing" and field is not None and not field.allowed and not field.pattern:
        assert field.key in text


def test_a_message_about_everything_stays_short() -> None:
    document = {
        "agent_status": {},
        "evidence_report": {},
        "consolidation_report": {},
        **{"x" * 99 + str(n): 1 for n in range(99)},
    }

    text = repair_text(judge_object(document, strict=True))

    assert len(text.encode()) < 3_000
    assert text.splitlines()[-2].startswith("- and ")


def test_an_agent_without_a_block_is_shown_one_that_claims_nothing() -> None:
    text = repair_text(judge("Done."))

    assert text.startswith("Your handoff was not accepted: there is no agent_contract_handoff block.\n")
    shown = json.loads(text.splitlines()[-1])
    assert judge_object(shown).plan_status == "IN_PROGRESS"
    assert judge_object(shown).valid


@pytest.mark.parametrize(
    "sent", ["Done.", '```agent_contract_handoff\n{"agent_status": {"plan_status": "COMPLETE"}}\n```', '{"a": 1}']
)
def test_no_repair_has_a_verification_that_passed_to_be_sent_back_as_it_is(sent: str) -> None:
    text = repair_text(judge(sent))

    assert '"pass"' not in text
    assert '"verification": {"result": "<pass, if you have seen it pass>"' in text


def test_the_block_that_an_agent_is_shown_is_complete_once_it_says_what_was_verified() -> None:
    shown = json.loads(repair_text(judge("Done.")).splitlines()[-1])
    complete = changed(shown, "/agent_status/plan_status", "COMPLETE")

    assert judge_object(complete).missing == ["VERIFICATION_RESULT_MUST_BE_PASS"]
    filled = changed(complete, "/evidence_report/verification", {"result": "pass", "verification_method": "test"})
    assert judge_object(filled).valid


def test_a_parse_error_is_told_with_its_suggestion() -> None:
    text = repair_text(judge("```agent_contract_handoff\n{'a': 1}\n```"))

    assert "line 2, column 2" in text
    assert "write \"a\" instead of 'a'" in text


def test_a_failed_verification_is_not_answered_with_an_example_of_a_passed_one() -> None:
    text = repair_text(judge_object(changed(good(), "/evidence_report/verification/result", "fail")))

    assert '"result": "pass"' not in text
    assert "what does not pass is IN_PROGRESS or BLOCKED" in text


@pytest.mark.parametrize(
    ("before", "now", "step"),
    [
        ([], ["A"], "repair"),
        ([["A"]], ["B"], "repair"),
        ([["A", "B"]], ["B"], "repair"),
        ([["A"]], ["A"], "escalate"),
        ([["A", "B"]], ["B", "A"], "escalate"),
        ([["A"], ["B"]], ["C"], "escalate"),
        ([["A"], ["B"]], ["A"], "escalate"),
    ],
)
def test_repairs_are_capped_and_stop_when_the_same_codes_repeat(
    before: list[list[str]], now: list[str], step: str
) -> None:
    assert next_step(before, now) == step


def test_the_cap_of_repairs_can_be_set() -> None:
    assert next_step([], ["A"], cap=0) == "escalate"
    assert next_step([["A"], ["B"], ["C"]], ["D"], cap=4) == "repair"
    assert next_step([["A"], ["B"], ["C"]], ["A"], cap=4) == "escalate"


def test_a_finding_is_plain_data() -> None:
    assert Finding._fields == ("code", "pointer", "severity", "message", "hint")
