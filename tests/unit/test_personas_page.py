"""The page on personas is true: its tables are the shipped personas, the providers' caps and the words of a purview."""

from gemba.personas.file import shipped
from gemba.personas.persona import Authority, Phase
from gemba.personas.prompts import PLACEHOLDERS
from gemba.personas.providers import CAPS, MOST_DECISIONS
from tests.reference import DOCS

PAGE = (DOCS / "personas.md").read_text()


def rows(first: str) -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith(f"| `{first}`")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_personas_is_what_is_shipped() -> None:
    for persona in shipped().values():
        (row,) = rows(persona.id)
        purview = persona.purview
        assert row[1] == persona.variety
        assert row[2] == ("nothing" if purview is None else f"`{purview.domain}`")
        assert row[4] == ("-" if purview is None else purview.blocking_authority)
        if purview is not None and purview.active_phases:
            assert row[3] == ", ".join(purview.active_phases)


def test_the_caps_of_providers_are_those_of_the_code() -> None:
    for name, cap in CAPS.items():
        assert rows(name)[0][2] == f"{cap:,}"
    assert f"the last {MOST_DECISIONS} decisions" in PAGE


def test_every_phase_weight_and_placeholder_is_named() -> None:
    assert ", ".join(Phase) in PAGE
    for authority in Authority:
        assert f"| `{authority}` |" in PAGE
    for name in PLACEHOLDERS:
        assert f"`{{{{{name}}}}}`" in PAGE
