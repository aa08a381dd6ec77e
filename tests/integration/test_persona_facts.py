"""The facts behind a prompt, as they are stored: on both databases."""

from pathlib import Path

import pytest

from gemba import clock
from gemba.app import App
from gemba.errors import Conflict
from gemba.handoff.sections import read_sections
from gemba.personas.facts import read_facts, read_values
from gemba.personas.holding import guard
from gemba.personas.providers import Facts, Named
from gemba.personas.purview import Change
from tests.fixtures.api import Api


def facts_of(app: App) -> Facts:
    sections = read_sections(app.workspace)
    with app.database.read() as connection:
        return read_facts(connection, app.workspace, sections, clock.now(), {"sprint_id": "s1"})


def test_facts_are_what_waits_oldest_first_and_what_was_decided_newest_first(app: App, api: Api) -> None:
    first, second = api.ask("Which port?"), api.ask("Which colour?", bead_id="g-7")
    api.assume("Which zone?", "UTC")
    api.post(f"/api/escalations/{first}/respond", {"text": "8080"})
    third = api.ask("Which name?")

    found = facts_of(app)

    assert [(each.id, each.item_id) for each in found.escalations] == [(second, "g-7"), (third, None)]
    assert found.escalations_total == 2
    assert [(each.question, each.decision) for each in found.decisions] == [
        ("Which port?", "8080"),
        ("Which zone?", "UTC"),
    ]
    assert found.decisions[0].by == "operator"
    assert (found.phase, found.running_total) == ("ideation", 1)
    assert found.sprint == {"sprint_id": "s1"}


def test_facts_have_the_work_by_state_and_what_is_ready(app: App, api: Api) -> None:
    first, second = (
        api.request("POST", "/api/work-items", {"item": {"title": title}}).json["id"] for title in ("Paint", "Sand")
    )
    api.request("PATCH", f"/api/work-items/{second}", {"state": "done"})

    found = facts_of(app)

    assert dict(found.counts) == {"unstarted": 1, "done": 1}
    assert (list(found.ready), found.ready_total) == ([Named(first, "Paint")], 1)


def test_an_override_is_a_decision_with_its_reason(app: App, api: Api) -> None:
    change = Change("g-1", "task", "review", "done", labels=("auth",))
    with pytest.raises(Conflict) as held:
        app.database.change(lambda tx: guard(tx, change))
    (id,) = held.value.extra["escalations"]
    api.post(f"/api/escalations/{id}/respond", {"action": "override", "text": "reviewed by hand"})

    (decided,) = facts_of(app).decisions

    assert (decided.decision, decided.reason) == ("override", "reviewed by hand")


def test_the_readme_and_the_values_are_read_up_to_a_bound(app: App, workspace: Path) -> None:
    (workspace / "README.md").write_text("# Shop\n" + "a line\n" * 10_000)
    (workspace / ".gemba" / "project_values.md").write_text("Simple first.")
    (workspace / ".gemba" / "workspace_values.md").mkdir()

    assert facts_of(app).readme.startswith("# Shop\na line\n")
    assert len(facts_of(app).readme) <= 16_384
    assert read_values(app.workspace) == ("Simple first.", "")
