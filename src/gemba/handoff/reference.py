"""The rules for readers: the tables of the reference page, all codes in lines, one explained. Pure; made of the tables
alone.

Called by `gemba handoff explain` and by the tests that keep `docs/` true.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from gemba.errors import NotFound
from gemba.handoff import afterwards, fields, rules
from gemba.handoff.fields import Field
from gemba.handoff.finding import quoted
from gemba.handoff.rules import Rule

_TOLD = {
    "missing": "the envelope is refused; the code stands in `missing`",
    "invalid": "the envelope is refused; the code stands in `invalid`",
    "warning": "the envelope is taken; the code stands in `warnings`",
    "refused": "the dispatch stays as it was",
}
_CODES = ("code", "where", "severity", "when", "what helps")
_CODE_WIDTH = 42  # columns, for all codes but one

ALL: tuple[Rule, ...] = (*rules.RULES, *afterwards.RULES)


def reference_page() -> str:
    """Every field, every code, and every cause of a body that cannot be read."""
    return "\n".join(
        [
            "## Fields",
            "",
            *_table(("field", "presence", "value", "what it says"), map(_field_row, (*fields.FIELDS, *fields.ITEMS))),
            "",
            "## Codes",
            "",
            *_table(_CODES, map(_rule_row, rules.RULES)),
            "",
            "## Codes where the dispatch is known",
            "",
            *_table(_CODES, map(_rule_row, afterwards.RULES)),
            "",
            "## Causes of `BODY:<cause>`",
            "",
            *_table(("cause", "means"), ((f"`{cause}`", words) for cause, words in rules.BODY_CAUSES.items())),
            "",
        ]
    )


def _field_row(field: Field) -> tuple[str, ...]:
    when = "" if field.when == fields.ALWAYS else f", when {fields.CONDITIONS[field.when]}"
    fold = f", after trimming, in {field.fold} case" if field.fold else ""
    return f"`{field.name}`", f"{field.presence}{when}", f"{field.fits}{fold}", field.hint


def _rule_row(rule: Rule) -> tuple[str, ...]:
    where = f"`{rule.pointer}`" if rule.pointer else "the text"
    return f"`{rule.code}`", where, rule.severity, rule.when, rule.hint


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [_line(head), "|---" * len(head) + "|", *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    """A row of a table. A fence that a cell speaks of is no code, and a bar no border."""
    escaped = (cell.replace("```", r"\`\`\`").replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def listing() -> str:
    """Every code in a line: its severity, and what it says. One that is earned in several ways has a line for each."""
    return "\n".join(f"{rule.code:<{_CODE_WIDTH}} {rule.severity:<8} {_message(rule)}" for rule in ALL)


def rows_of(code: str) -> list[Rule]:
    """The rows of one code, as the table or a verdict writes it; a NotFound where there are none."""
    rows = rules.rows_of(code.strip(), ALL)
    if not rows:
        raise _unknown(code.strip())
    return rows


def explain(code: str) -> str:
    """One code, for whoever got it."""
    return "\n\n".join(map(_explained, rows_of(code)))


def _message(rule: Rule) -> str:
    return rule.message.replace("{found}", "…").replace("{fits}", "…")


def _explained(rule: Rule) -> str:
    lines = [
        f"{rule.code} ({rule.severity}: {_TOLD[rule.severity]})",
        f"  where:   {rule.pointer or 'the text'}",
        f"  when:    {rule.when}",
        f"  means:   {_message(rule)}",
        f"  helps:   {rule.hint}",
    ]
    if rule is rules.BODY:
        lines += [f"  cause:   {cause}: {words}" for cause, words in rules.BODY_CAUSES.items()]
    return "\n".join([*lines, f"  example: {rule.example}"] if rule.example else lines)


def _unknown(code: str) -> NotFound:
    heads = list(dict.fromkeys(rule.head for rule in ALL))
    close = get_close_matches(code.partition(":")[0].upper()[:64], heads, 1)
    near = f"; did you mean {close[0]}?" if close else ""
    return NotFound(f"no rule has the code {quoted(code)}{near}", code="not_found", found=code[:200], allowed=heads)
