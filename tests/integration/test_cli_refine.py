"""`gemba refine` at a terminal: the table, and items that somebody is asked to go through."""

import json

from tests.fixtures.operator import Operator


def add(operator: Operator, *words: str) -> str:
    return str(json.loads(operator.ok("item", "add", *words, "--json"))["id"])


def test_the_table_has_what_nobody_has_begun_by_priority_and_age(operator: Operator) -> None:
    epic = add(operator, "Search", "--kind", "epic", "--priority", "3")
    later = add(operator, "Colours", "--state", "backlog", "--parent", epic)
    first = add(operator, "Index", "--priority", "0", "--label", "api", "--tokens", "40000")
    begun = add(operator, "Begun")
    operator.ok("item", "edit", begun, "--state", "in_progress")

    table = operator.ok("refine").splitlines()

    assert table[0].split() == ["id", "P", "kind", "state", "in", "tokens", "age", "labels", "title"]
    assert [line.split()[0] for line in table[1:4]] == [first, later, epic]
    assert table[1].split()[1:5] == ["0", "task", "unstarted", "40,000"]
    assert (table[1].split()[-2:], table[2].split()[4]) == (["api", "Index"], epic)
    assert table[-1].startswith("3 in all.")
    listed = json.loads(operator.ok("refine", "--json", "--label", "api"))
    assert ([item["id"] for item in listed["items"]], listed["total"]) == ([first], 1)
    assert begun in operator.ok("refine", "--state", "in_progress")


def test_items_are_handed_to_the_project_manager_by_parts_of_their_ids(alone: Operator) -> None:
    one, other = add(alone, "Index"), add(alone, "Colours", "--state", "backlog")

    prepared = json.loads(alone.ok("refine", one[-4:], one, "--dry-run", "--guidance", "be short", "--json"))

    shown = json.loads(alone.ok("consult", "show", prepared["id"], "--json"))
    assert (shown["status"], shown["skill_id"], shown["persona_id"]) == ("prepared", "refine", "project-manager")
    assert shown["raw_request"]["raw_input"] == {"item_ids": [one]}
    assert "Index" in shown["composed"]["text"]
    assert "be short" in shown["composed"]["text"]
    everything = alone.ok("refine", "--all", "--dry-run")
    assert everything.startswith("prepared ")
    assert " on 2 items: gemba consult show --prompt " in everything
    text = json.loads(alone.ok("consult", "show", everything.split()[1], "--json"))["composed"]["text"]
    assert text.index(f'"id": "{one}"') < text.index(f'"id": "{other}"')


def test_without_a_model_it_says_what_is_missing(alone: Operator) -> None:
    id = add(alone, "Index")

    assert "Refine needs a model, and none is at hand" in alone.refused("refine", id)
    assert "no work item has an id that begins or ends with none" in alone.refused("refine", "none")
    assert "the table is empty" in alone.run("refine", "--all", "--label", "nothing").stderr
    assert "Nothing is in the backlog" in alone.ok("refine", "--state", "deferred")
