"""What to do next, from the store to the terminal: who did what, what runs, what is in whose way."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemba.app import App
from gemba.work.board import MOST_SUMMARY
from gemba.work.claiming import ClaimItem, claim_item
from gemba.work.item import Kind, Relation, State
from gemba.work.relations import NewRelation
from gemba.work.store import ChangeItem, CreateItem, NewItem, change_item, create_item
from tests.fixtures.api import Api
from tests.fixtures.operator import Operator


def git(*words: str, cwd: Path) -> None:
    subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)


def add(app: App, title: str, *relations: NewRelation, **facts: Any) -> str:
    with app.database.transaction("ann") as tx:
        return create_item(tx, CreateItem(NewItem(title=title, **facts), list(relations))).id


def change(app: App, id: str, **facts: Any) -> None:
    with app.database.transaction("ann") as tx:
        change_item(tx, ChangeItem(**facts), id=id)


def claim(app: App, id: str, owner: str) -> None:
    with app.database.transaction("ann") as tx:
        claim_item(tx, ClaimItem(owner=owner), id=id)


def selection(api: Api, **query: Any) -> dict[str, Any]:
    words = "&".join(f"{name}={value}" for name, value in query.items())
    found: dict[str, Any] = api.get(f"/api/work-items/selection?{words}")
    return found


def row(found: dict[str, Any], session: str | None) -> dict[str, Any]:
    (one,) = [each for each in found["sessions"] if each["session_id"] == session]
    return dict(one)


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [each["item_id"] for each in rows]


def reasons(ranking: dict[str, Any], id: str) -> dict[str, int]:
    (choice,) = [each for each in ranking["choices"] if each["item_id"] == id]
    assert choice["score"] == sum(line["points"] for line in choice["reasons"])
    return {line["kind"]: line["points"] for line in choice["reasons"]}


def test_a_session_is_given_what_it_knows_and_others_are_not(api: Api, app: App) -> None:
    epic = add(app, "Search", kind=Kind.EPIC)
    done = add(app, "Index", parent=epic, targets=["src/index/**"], concepts=["search"])
    near = add(app, "Rank", parent=epic, targets=["src/index/rank.py"], concepts=["search"])
    far = add(app, "Mail", targets=["src/mail.py"], concepts=["mail"])
    blocked = add(app, "Later", NewRelation(Relation.BLOCKS, source=far))
    api.take("SessionStart", {}, "s-1")
    api.take("SessionStart", {}, "s-2")
    claim(app, done, "s-1")
    change(app, done, state=State.REVIEW)

    found = selection(api)

    mine, other = row(found, "s-1"), row(found, "s-2")
    assert ids(mine["choices"]) == [near, far]
    assert ids(other["choices"]) == [far, near]
    assert reasons(mine, near) == {"priority": 20, "concept": 8, "files": 16, "epic": 12}
    assert reasons(mine, far) == {"priority": 20, "leverage": 5}
    assert ids(row(found, None)["choices"]) == [far, near]
    assert ids(other["ruled_out"]) == [epic]
    assert blocked not in {item["id"] for item in found["items"]}
    assert {item["id"]: item["title"] for item in found["items"]} == {epic: "Search", near: "Rank", far: "Mail"}
    assert (found["ready"], found["more"], found["batch"]["items"]) == (2, False, [far, near])


def test_what_is_running_keeps_others_from_its_files_and_not_its_own_session(api: Api, app: App) -> None:
    begun = add(app, "Index", targets=["src/index/**"])
    near = add(app, "Rank", targets=["src/index/rank.py"])
    api.take("GembaState", {"state": "working", "bead_id": begun}, "s-1")
    api.take("SessionStart", {}, "s-2")
    change(app, begun, state=State.IN_PROGRESS)

    found = selection(api)

    (out,) = row(found, "s-2")["ruled_out"]
    assert (out["item_id"], [gate["kind"] for gate in out["gates"]]) == (near, ["conflict"])
    assert out["gates"][0]["text"] == (
        f"{begun}, worked on by s-1 now, touches src/index/**; this touches src/index/rank.py"
    )
    assert ids(row(found, "s-1")["choices"]) == [near]
    assert found["batch"]["items"] == []
    change(app, begun, state=State.REVIEW)
    assert ids(row(selection(api), "s-2")["choices"]) == [near]


def test_a_claim_rules_an_item_out_for_all_but_its_owner(api: Api, app: App) -> None:
    item = add(app, "Index")
    api.take("SessionStart", {}, "s-1")
    api.take("SessionStart", {}, "s-2")
    claim(app, item, "s-1")

    assert ids(row(selection(api, session="s-1"), "s-1")["choices"]) == [item]
    assert row(selection(api, session="s-2"), "s-2")["ruled_out"][0]["gates"][0]["text"] == "s-1 has claimed it"


def test_room_intent_and_order_are_taken_into_account(api: Api, app: App) -> None:
    small = add(app, "Small", estimated_tokens=1_000, labels=["web"])
    large = add(app, "Large", estimated_tokens=90_000, concepts=["api"])

    assert ids(row(selection(api, room=5_000), None)["choices"]) == [small, large]
    assert ids(row(selection(api, intent="api,mail"), None)["choices"]) == [large, small]
    change(app, large, user_order=1)
    assert ids(row(selection(api, room=5_000), None)["choices"]) == [large, small]


def test_a_session_that_is_over_or_unknown_is_told_so(api: Api) -> None:
    api.take("SessionStart", {}, "s-1")
    api.take("SessionEnd", {"reason": "exit"}, "s-1")

    assert api.request("GET", "/api/work-items/selection?session=s-1").status == 409
    assert api.request("GET", "/api/work-items/selection?session=none").status == 404
    assert api.request("GET", "/api/work-items/selection?room=-1").status == 422


def test_the_terminal_says_what_is_next_and_what_can_run_at_once(operator: Operator) -> None:
    assert operator.ok("next") == "Nothing is ready. Why: gemba ready --explain\n"

    def made(*words: str) -> str:
        return str(json.loads(operator.ok("item", "add", *words, "--json"))["id"])

    first = made("Index", "--target", "src/**", "--priority", "1")
    second = made("Rank", "--target", "src/rank.py")
    third = made("Docs", "--target", "docs/**")

    said = operator.ok("next", "--limit", "1")
    assert f"1.  {first}  30 points" in said
    assert "+30 priority 1" in said
    assert said.endswith("3 can be done, the best 1 shown; 0 ruled out.\n")
    batch = operator.ok("next", "--batch")
    assert f"{third}  20 points" in batch
    assert "+20 priority 2" in batch
    assert f"not at once: {first} touches src/** and {second} touches src/rank.py" in batch
    assert batch.endswith("2 can be done at the same time.\n")
    found = json.loads(operator.ok("next", "--json", "--limit", "2"))
    assert found["batch"]["items"] == [first, third]
    operator.ok("item", "claim", first, "--owner", "worker-1")
    assert "worker-1 has claimed it" in operator.ok("next")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("next", "--session", "none"), 1, "no session has an id that begins or ends with none"),
        (("next", "--room", "-1"), 2, "Invalid value for '--room'"),
        (("next", "--limit", "0"), 2, "Invalid value for '--limit'"),
    ],
)
def test_what_cannot_be_told_is_refused(operator: Operator, words: tuple[str, ...], code: int, said: str) -> None:
    found = operator.run(*words)

    assert found.returncode == code
    assert said in found.stderr


# ---- the board -------------------------------------------------------------------------------------------------------


def test_the_board_is_the_input_of_epic_order(api: Api, app: App) -> None:
    done = add(app, "Login", kind=Kind.EPIC)
    part = add(app, "Form", parent=done)
    api.take("GembaState", {"state": "working", "bead_id": part}, "s-1")
    api.take("GembaUsage", {"input_tokens": 900, "output_tokens": 100}, "s-1")
    change(app, part, state=State.IN_PROGRESS)
    change(app, part, state=State.DONE)
    change(app, done, state=State.DONE)
    first = add(app, "Search", kind=Kind.EPIC, labels=["api"], description="Find it. " * 100)
    inner = add(app, "Index", parent=first, targets=["src/**"], estimated_tokens=500)
    second = add(app, "Orders", kind=Kind.EPIC, user_order=2)
    add(app, "List", NewRelation(Relation.BLOCKS, source=inner), parent=second)
    add(app, "Someday", kind=Kind.EPIC, state=State.BACKLOG)
    asked = api.ask(bead_id=inner)
    for name, message in (("über.py", f"{inner}: names of all kinds"), ("other.py", "nobody's")):
        (app.workspace.root / name).write_text("pass\n")
        git("add", name, cwd=app.workspace.root)
        git("commit", "-qm", message, cwd=app.workspace.root)

    found = api.get("/api/skills/epic_order/input")

    one, other = found["candidate_epics"]
    assert (one["epic_id"], one["depends_on_epics"], one["estimated_tokens"]) == (first, [], 500)
    assert (one["summary"], other["summary"]) == (("Find it. " * 100)[:MOST_SUMMARY], None)
    assert (one["file_space_signature"], one["derived"]["labels"]) == (["src/**", "über.py"], ["api"])
    assert one["derived"]["parts"] == {"total": 1, "finished": 0, "ready": 1, "started": 0}
    assert (one["derived"]["frees"], one["derived"]["open_escalations"]) == (1, 1)
    assert (other["epic_id"], other["depends_on_epics"], other["current_rank"]) == (second, [first], 2)
    (completion,) = found["recent_completions"]
    assert (completion["epic_id"], completion["tokens_consumed"]) == (done, 1_000)
    assert completion["elapsed_hours"] is not None
    (escalation,) = found["open_escalations"]
    assert (escalation["id"], escalation["blocked_epic"]) == (asked, first)


def test_epics_of_the_workspace_are_put_into_an_order(operator: Operator) -> None:
    refused = operator.run("plan", "order")
    assert refused.returncode == 1
    assert "there is nothing to put into an order" in refused.stderr
    later = json.loads(operator.ok("item", "add", "Orders", "--kind", "epic", "--json"))["id"]
    before = json.loads(operator.ok("item", "add", "Search", "--kind", "epic", "--blocks", later, "--json"))["id"]

    lines = [json.loads(line) for line in operator.ok("plan", "order", "--json").splitlines()]

    assert [line["epic_id"] for line in lines if line["type"] == "recommendation"] == [before, later]
