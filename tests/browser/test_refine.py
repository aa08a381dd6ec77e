"""The backlog as a table: changed by keys, never over somebody else's change, and gone through by the PM."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Route, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings

# It is asked and stays silent: a test says what it says.
SCRIBE = '[agent.scribe]\ncommand = ["sleep", "120"]\nprompt = "stdin"\n'
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> [x](javascript:alert(1)) \u202egnp.exe"


def make(desk: Desk, title: str, **fields: Any) -> str:
    made = desk.server.request("POST", "/api/work-items", {"item": {"title": title, **fields}})
    assert made.status == 201, made
    id: str = made.json["id"]
    return id


def item(desk: Desk, id: str) -> dict[str, Any]:
    found: dict[str, Any] = desk.server.get(f"/api/work-items/{id}")
    return found


def change(desk: Desk, id: str, **fields: Any) -> None:
    assert desk.server.request("PATCH", f"/api/work-items/{id}", fields).status == 200


def row(desk: Desk, id: str) -> Locator:
    return desk.page.locator(f'tbody[data-item="{id}"]')


def facts(desk: Desk, id: str) -> Locator:
    return row(desk, id).locator(".refine-row")


def open_refine(desk: Desk, many: int = 1) -> None:
    """By keys; when this returns, as many items are there."""
    for key in "ge":
        desk.page.keyboard.press(key)
    expect(desk.page.get_by_role("heading", name="Refine", level=1)).to_be_focused()
    expect(desk.page.locator(".refine-row")).to_have_count(many)


def titles(desk: Desk) -> list[str]:
    return desk.page.locator(".refine-title").all_inner_texts()


def test_it_is_gone_through_and_changed_by_keys(desk: Desk) -> None:
    epic = make(desk, "Search", kind="epic", priority=4)
    index = make(desk, "Build the index", state="backlog")
    make(desk, "Begun and gone")
    change(desk, desk.server.get("/api/work-items?text=Begun")["items"][0]["id"], state="in_progress")
    queries = make(desk, "Answer queries", priority=1, labels=["api"], estimated_tokens=40_000)
    open_refine(desk, 3)
    assert titles(desk) == ["Answer queries", "Build the index", "Search"]
    expect(facts(desk, queries)).to_contain_text("40k")
    keys = desk.page.keyboard

    keys.press("j")
    keys.press("j")
    expect(facts(desk, index)).to_be_focused()
    keys.press("0")
    expect(facts(desk, index)).to_contain_text("P0")
    expect(facts(desk, index)).to_be_focused()
    assert titles(desk)[0] == "Build the index"
    keys.press("s")
    expect(row(desk, index).get_by_label("State")).to_be_focused()
    row(desk, index).get_by_label("State").select_option("staged")
    expect(facts(desk, index)).to_contain_text("staged")
    row(desk, index).get_by_label("Part of").select_option(epic)
    labels = row(desk, index).get_by_label("Labels")
    labels.fill("search, q4,search")
    labels.press("Enter")
    expect(facts(desk, index)).to_contain_text("search, q4")
    keys.press("Escape")
    expect(facts(desk, index)).to_be_focused()

    retry_until(lambda: item(desk, index)["labels"] == ["search", "q4"])
    found = item(desk, index)
    assert (found["priority"], found["state"], found["parent"]) == (0, "staged", epic)
    desk.page.get_by_label("Look for words").fill("api answer")
    expect(desk.page.locator(".refine-row")).to_have_count(1)
    desk.page.get_by_label("Look for words").fill("")
    desk.page.get_by_label("Which states").select_option("staged")
    assert titles(desk) == ["Build the index"]


def test_an_edit_of_two_at_once_is_a_conflict_and_not_a_loss(desk: Desk) -> None:
    id = make(desk, "Build the index")
    open_refine(desk)
    keys = desk.page.keyboard
    keys.press("j")
    expect(facts(desk, id)).to_be_focused()

    def interfere(route: Route) -> None:
        """Between what is shown and what is sent lies somebody else's change."""
        change(desk, id, priority=4)
        route.continue_()

    desk.page.route(f"**/api/work-items/{id}", interfere, times=1)

    keys.press("0")

    told = row(desk, id).get_by_role("alert")
    expect(told).to_contain_text("Somebody changed it meanwhile")
    expect(told).to_contain_text("Yours was: priority → 0")
    expect(facts(desk, id)).to_contain_text("P4")
    assert item(desk, id)["priority"] == 4
    told.get_by_role("button", name="Change it all the same").click()
    expect(facts(desk, id)).to_contain_text("P0")
    expect(told).to_have_count(0)
    assert (item(desk, id)["priority"], item(desk, id)["version"]) == (0, 3)


def test_what_is_refused_says_why_beside_its_row(desk: Desk) -> None:
    id = make(desk, "Build the index", state="backlog")
    open_refine(desk)
    row(desk, id).get_by_role("button", name="Build the index").click()
    row(desk, id).get_by_label("State").select_option("review")

    expect(row(desk, id).get_by_role("alert")).to_contain_text("state is backlog: it cannot become review")
    assert item(desk, id)["state"] == "backlog"
    row(desk, id).get_by_role("button", name="Leave it").click()
    expect(row(desk, id).get_by_role("alert")).to_have_count(0)


def test_several_are_changed_at_once(desk: Desk) -> None:
    ids = [make(desk, f"Item {number}") for number in range(3)]
    open_refine(desk, 3)
    keys = desk.page.keyboard
    keys.press("j")
    keys.press("x")
    keys.press("j")
    keys.press("x")
    bar = desk.page.get_by_role("form", name="What is selected")
    expect(bar).to_contain_text("2 selected")

    bar.get_by_label("Priority of all").select_option("1")
    expect(facts(desk, ids[1])).to_contain_text("P1")
    bar.get_by_label("Add labels").fill("later")
    bar.get_by_label("Add labels").press("Enter")

    retry_until(lambda: [item(desk, id)["labels"] for id in ids] == [["later"], ["later"], []])
    assert [item(desk, id)["priority"] for id in ids] == [1, 1, 2]
    facts(desk, ids[0]).focus()
    keys.press("Shift+A")
    expect(bar).to_contain_text("3 selected")
    keys.press("Escape")
    expect(bar).to_have_count(0)


def test_the_pm_goes_through_what_is_selected_and_its_proposals_are_applied_beside_their_rows(
    desk: Desk, axe: Callable[..., Any]
) -> None:
    (desk.server.workspace / ".gemba" / "agents.toml").write_text(SCRIBE)
    index, colours = make(desk, "Build the index"), make(desk, "Colours", state="backlog")
    open_refine(desk, 2)
    keys = desk.page.keyboard
    keys.press("j")
    keys.press("x")
    keys.press("j")
    keys.press("x")
    keys.press("r")
    bar = desk.page.get_by_role("form", name="What is selected")
    expect(bar.get_by_label("What the PM should mind")).to_be_focused()
    bar.get_by_label("What the PM should mind").fill("be short")
    bar.get_by_label("Answered by").select_option("scribe")
    bar.get_by_role("button", name="Ask the PM to refine").click()
    says = desk.page.get_by_role("region", name="What the PM says")
    expect(says).to_contain_text("at work")
    (consult,) = desk.server.get("/api/consults")["consults"]
    asked = desk.server.get(f"/api/consults/{consult['id']}")
    assert asked["raw_request"]["raw_input"] == {"item_ids": [index, colours]}
    assert asked["raw_request"]["guidance"] == "be short"

    def emit(*lines: dict[str, Any]) -> None:
        desk.server.append("GembaSkillOutput", {"skill_id": "refine", "lines": list(lines)}, consult["id"])

    def proposal(id: str, title: str, **body: Any) -> dict[str, Any]:
        action = {"verb": "PATCH", "path": f"/api/work-items/{id}", "body": body}
        line = {"type": "proposal", "title": title, "rationale": HOSTILE, "confidence": 0.8}
        return {**line, "suggested_action": action}

    emit(
        {"type": "strategy", "reasoning": "One by one"}, {"type": "finding", "text": "Nobody asked", "refs": [colours]}
    )
    expect(row(desk, colours)).to_contain_text("Nobody asked")
    emit(
        proposal(index, "Sooner", priority=0),
        proposal(colours, "Later", state="deferred", labels=["someday"]),
        proposal("elsewhere", "Not mine", priority=0),
        {"type": "summary", "notes": "Two items, one matters"},
    )
    expect(row(desk, index).locator(".refine-proposal")).to_contain_text("priority → 0 · 80 % sure")
    expect(says).to_contain_text("Two items, one matters")
    says.locator("summary").click()
    expect(says).to_contain_text("Line 4, action")
    assert desk.page.title() != "owned"
    row(desk, colours).get_by_role("button", name="Colours").click()
    assert findings("proposals, and one is edited", desk.page, axe) == []
    desk.page.keyboard.press("Escape")

    facts(desk, index).focus()
    keys.press("a")
    expect(row(desk, index)).to_contain_text("Applied")
    expect(facts(desk, index)).to_contain_text("P0")
    row(desk, colours).locator("[data-apply]").click()
    expect(facts(desk, colours)).to_contain_text("deferred")
    assert item(desk, index)["priority"] == 0
    assert item(desk, colours)["labels"] == ["someday"]
    desk.page.reload()
    expect(row(desk, index)).to_contain_text("Applied")
    desk.server.post(f"/api/consults/{consult['id']}/cancel", {})
    session = f"/api/sessions/{consult['id']}"
    retry_until(lambda: desk.server.get(session)["lifecycle"] not in ("starting", "running"), timeout=60)


def test_without_a_model_it_says_what_is_missing(desk: Desk) -> None:
    id = make(desk, "Build the index")
    open_refine(desk)
    row(desk, id).get_by_role("checkbox").check()

    desk.page.get_by_role("button", name="Ask the PM to refine").click()

    expect(desk.page.get_by_role("alert")).to_contain_text("Refine needs a model, and none is at hand")


def test_an_empty_backlog_says_how_to_fill_it(desk: Desk) -> None:
    open_refine(desk, 0)

    expect(desk.page.get_by_label("How to make an item")).to_contain_text("gemba item add")
    id = make(desk, "The first")
    expect(facts(desk, id)).to_contain_text("The first")
