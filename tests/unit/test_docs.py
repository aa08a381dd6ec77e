"""The documentation says what the code does: generated parts are fresh, tables are whole, links lead somewhere."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemba import wire
from gemba.escalations.escalation import MACHINE, Channel, Delivery, State
from gemba.escalations.store import TOLD_AS
from gemba.event import NAMES
from gemba.sessions.translator import HOOKS
from tests.reference import BLOCKS, DOCS, generated

SOURCES = Path(wire.__file__).parent
PAGES = sorted(DOCS.glob("**/*.md"))


def page(name: str) -> str:
    return (DOCS / name).read_text()


def first_column(text: str) -> set[str]:
    """The code words in the first column of a page's tables."""
    rows = re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize("path", sorted(generated()), ids=lambda path: path.name)
def test_what_is_generated_is_fresh(path: Path) -> None:
    assert path.read_text() == generated()[path], "run: python -m tests.reference"


def test_every_generated_part_stands_in_a_page() -> None:
    text = "".join(path.read_text() for path in generated())

    assert sorted(re.findall(r"<!-- generated: ([a-z]+) -->", text)) == sorted(BLOCKS)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_link_leads_to_a_file(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())

    assert [link for link in links if not (path.parent / link).exists()] == []


# ---- events -----------------------------------------------------------------------------------------------------

# Which argument of which call is an event's name.
NAMED = {"Draft": 0, "_draft": 1, "_verbatim": 0, "_about_an_ask": 0, "tell_of": 1, "tell_of_walk": 1}


def names_in_code() -> Iterator[str]:
    """What the code gives to an event as its name; of a name that is put together, its beginning."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called not in NAMED:
                continue
            name = node.args[NAMED[called]]
            if isinstance(name, ast.JoinedStr):
                name = name.values[0]
            if isinstance(name, ast.Constant):
                yield str(name.value)


def test_every_event_that_the_code_can_emit_has_its_line_and_no_other() -> None:
    found = set(names_in_code())
    put_together = {name for name in found if name.endswith(".")}
    moves = {f"escalation.{TOLD_AS.get(event, event)}" for _, event in MACHINE.table}
    deliveries = {f"escalation.{delivery}" for delivery in (Delivery.DELIVERED, Delivery.UNDELIVERED)}

    assert put_together == {"escalation."}
    assert (found - put_together) | moves | deliveries == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_event_is_named_by_its_rule_and_told_in_one_line(name: str) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+|[a-z]+\.[a-z]+(_[a-z]+)?", name)
    assert re.fullmatch(r"[^\n|.][^\n|]{10,110}[^\n|.]", NAMES[name])


# ---- frames -----------------------------------------------------------------------------------------------------


def test_every_hook_stands_in_the_table_of_hooks() -> None:
    table = page("frames.md").partition("## Hooks")[2].partition("Any other hook")[0]

    assert first_column(table) == set(HOOKS)


def test_the_table_of_hooks_names_events_that_exist() -> None:
    table = page("frames.md").partition("## Hooks")[2].partition("## What is refused")[0]
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", table)) - {"notification_type"}

    assert named <= set(NAMES)
    assert {name for name in NAMES if "." not in name} - named == {
        *("permission_settled", "frame_dropped"),  # of no hook in particular
    }


# ---- escalations ------------------------------------------------------------------------------------------------


def test_every_kind_is_explained_with_its_channel_and_urgency() -> None:
    table = page("escalations.md").partition("| kind |")[2].partition("\n\n")[0]

    assert first_column(table) == {*wire.KINDS, *wire._URGENCY}
    assert set(re.findall(r"`([a-z_]+)` \|", table)) >= set(Channel)
    for row in table.splitlines()[2:]:
        kinds, urgency = re.findall(r"`([a-z_]+)`", row.split("|")[1]), row.split("|")[4].strip()
        for kind in kinds:
            if urgency in ("blocking", "advisory"):
                assert wire.urgency_of(kind, "balanced") == urgency


def test_every_settled_state_is_explained_with_its_exit_code() -> None:
    rows = re.findall(r"^\| (\w+) \|.*\| (\d+)[^|]*\|$", page("escalations.md"), re.MULTILINE)
    outcomes = {"resolved": "answered", "dismissed": "declined", "expired": "expired", "withdrawn": "withdrawn"}

    assert {state: int(code) for state, code in rows} == {
        state: wire.OUTCOME_EXIT[outcome] for state, outcome in outcomes.items()
    }
    assert set(outcomes) == {state for state in State if state not in ("open", "acknowledged", "snoozed")}


def test_every_delivery_is_explained() -> None:
    table = page("escalations.md").partition("| delivery |")[2].partition("\n\n")[0]

    assert {row.split("|")[1].strip() for row in table.splitlines()[2:]} == set(Delivery)
