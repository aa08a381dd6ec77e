"""One work item on its own screen: every field edited in its place, and nothing lost when two do so at once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.desk import Desk, add_operator
from tests.browser.test_accessibility import findings
from tests.browser.test_hostile_text import BIDI, MARKUP
from tests.browser.test_keyboard import Keys
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.browser.work import card, change, make, relate
from tests.fixtures.servers import RunningServer


@pytest.fixture
def desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    """Without transitions: half-way between two colours no contrast is right."""
    return open_desk(sqlite_server, undo=30, reduced_motion="reduce")


def field(desk: Desk, name: str) -> Locator:
    return desk.page.locator(f"[data-field='{name}']")


def edit(desk: Desk, name: str, text: str) -> None:
    """Type something else into a field, without saving it."""
    field(desk, name).get_by_role("button", name="Edit").click()
    field(desk, name).locator("input, textarea").fill(text)


def save(desk: Desk, name: str) -> None:
    field(desk, name).get_by_role("button", name="Save", exact=True).click()
    expect(field(desk, name).get_by_role("button", name="Edit")).to_be_focused()


def test_every_field_is_edited_in_its_place(desk: Desk) -> None:
    epic = make(desk.server, "Search", kind="epic")["id"]
    id = make(desk.server, "Index")["id"]
    desk.open(f"/items/{id}")
    typed = {
        "title": "Build the index",
        "description": "Line one\n\n`code`",
        "acceptance": "It finds what is there",
        "assignee": "ann",
        "labels": "area:search, fast",
        "targets": "src/search/**\ndocs/search.md",
        "concepts": "index",
        "estimated_tokens": "12000",
        "user_order": "3",
        "parent": epic,
    }
    for name, text in typed.items():
        edit(desk, name, text)
        save(desk, name)
    for name, value in (("kind", "bug"), ("priority", "0")):
        field(desk, name).get_by_role("button", name="Edit").click()
        field(desk, name).locator("select").select_option(value)
        save(desk, name)

    item = desk.server.get(f"/api/work-items/{id}")
    assert {name: item[name] for name in typed} == typed | {
        "labels": ["area:search", "fast"],
        "targets": ["src/search/**", "docs/search.md"],
        "concepts": ["index"],
        "estimated_tokens": 12_000,
        "user_order": 3,
    }
    assert (item["kind"], item["priority"]) == ("bug", 0)
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Build the index")
    expect(field(desk, "parent").get_by_role("link")).to_have_text("Search")
    expect(field(desk, "estimated_tokens")).to_contain_text("12,000")


def test_what_does_not_fit_is_said_and_what_was_typed_stays(desk: Desk) -> None:
    id = make(desk.server, "Index")["id"]
    part = make(desk.server, "Part", parent=id)["id"]
    desk.open(f"/items/{id}")

    edit(desk, "estimated_tokens", "plenty")
    field(desk, "estimated_tokens").get_by_role("button", name="Save").click()
    expect(field(desk, "estimated_tokens").get_by_role("alert")).to_contain_text("Estimate is a whole number")
    edit(desk, "parent", part)
    field(desk, "parent").get_by_role("button", name="Save").click()
    expect(field(desk, "parent").get_by_role("alert")).to_contain_text("that is a circle")
    expect(field(desk, "parent").locator("input")).to_have_value(part)
    assert desk.server.get(f"/api/work-items/{id}")["version"] == 1

    field(desk, "parent").locator("input").press("Escape")
    expect(field(desk, "parent").get_by_role("button", name="Edit")).to_be_focused()


def test_of_two_who_edit_one_field_the_second_sees_both_and_loses_nothing(desk: Desk) -> None:
    id = make(desk.server, "Index", description="As it was")["id"]
    bob = add_operator(desk.server, "bob")
    desk.open(f"/items/{id}")
    edit(desk, "description", "What ann wants")

    change(desk.server, id, token=bob, description="What bob wants")

    form = field(desk, "description")
    expect(form.get_by_role("alert")).to_contain_text("bob changed it meanwhile")
    expect(form.get_by_role("alert")).to_contain_text("What bob wants")
    expect(form.locator("textarea")).to_have_value("What ann wants")
    assert desk.server.get(f"/api/work-items/{id}")["description"] == "What bob wants"

    form.get_by_role("button", name="Take theirs").click()
    expect(form.locator("textarea")).to_have_value("What bob wants")
    form.locator("textarea").fill("What both want")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("button", name="Edit")).to_be_visible()
    assert desk.server.get(f"/api/work-items/{id}")["description"] == "What both want"


def test_a_conflict_that_only_the_server_knew_of_is_shown_and_a_change_of_another_field_is_none(desk: Desk) -> None:
    id = make(desk.server, "Index", description="As it was")["id"]
    bob = add_operator(desk.server, "bob")
    desk.open(f"/items/{id}")

    waiting: list[dict[str, object]] = []

    def bob_is_first(route: Route) -> None:
        """His change comes in the moment in which ours is sent."""
        if route.request.method == "PATCH" and waiting:
            change(desk.server, id, token=bob, **waiting.pop())
        route.continue_()

    desk.page.route("**/api/work-items/*", bob_is_first)
    edit(desk, "description", "What ann wants")
    waiting.append({"priority": 0})
    save(desk, "description")
    item = desk.server.get(f"/api/work-items/{id}")
    assert (item["description"], item["priority"]) == ("What ann wants", 0)

    edit(desk, "description", "What ann wants now")
    waiting.append({"description": "What bob wants"})
    form = field(desk, "description")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("What bob wants")
    expect(form.locator("textarea")).to_have_value("What ann wants now")
    form.get_by_role("button", name="Save mine over it").click()
    expect(form.get_by_role("button", name="Edit")).to_be_visible()
    assert desk.server.get(f"/api/work-items/{id}")["description"] == "What ann wants now"


def test_relations_are_made_and_taken_away_and_a_circle_is_refused_with_its_path(desk: Desk) -> None:
    a, b, c = (make(desk.server, title)["id"] for title in ("Alpha", "Beta", "Gamma"))
    relate(desk.server, a, "blocks", b)
    relate(desk.server, b, "blocks", c)
    desk.open(f"/items/{a}")
    part = desk.page.get_by_role("region", name="Relations")
    form = desk.page.get_by_role("form", name="New relation")

    form.get_by_label("What it is to the other").select_option("Is blocked by")
    form.get_by_label("The other item").fill(c)
    form.get_by_role("button", name="Add").click()
    told = f"{c} is blocked by {b}, which is blocked by {a}, which would be blocked by {c}"
    expect(part.get_by_role("alert")).to_contain_text(told)

    form.get_by_label("What it is to the other").select_option("Has to do with")
    form.get_by_role("button", name="Add").click()
    expect(part.get_by_role("listitem").filter(has_text="Gamma")).to_contain_text("Has to do with")
    part.get_by_role("button", name=f"Take away: blocks {b}").click()
    expect(part.get_by_role("link", name="Beta")).to_have_count(0)
    assert [one["kind"] for one in desk.server.get(f"/api/work-items/{a}")["relations"]] == ["relates-to"]


def test_why_it_is_not_ready_leads_to_what_is_in_its_way(desk: Desk) -> None:
    blocker, id = make(desk.server, "First this")["id"], make(desk.server, "Then that")["id"]
    relate(desk.server, blocker, "blocks", id)
    desk.open(f"/items/{id}")
    why = desk.page.get_by_role("list", name="Why it is not ready")
    expect(why).to_contain_text(f"it is blocked by {blocker} (unstarted: First this)")

    change(desk.server, blocker, state="done")
    expect(desk.page.get_by_text("Ready: nothing is in its way.")).to_be_visible()
    desk.page.get_by_role("button", name="Claim").click()
    expect(why).to_contain_text("has claimed it until")
    expect(desk.page.get_by_text("for 59 min more")).to_be_visible()
    desk.page.get_by_role("button", name="Release").click()
    expect(desk.page.get_by_text("Ready: nothing is in its way.")).to_be_visible()


def test_what_is_blocked_is_claimed_only_after_a_question(desk: Desk) -> None:
    blocker, id = make(desk.server, "First this")["id"], make(desk.server, "Then that")["id"]
    relate(desk.server, blocker, "blocks", id)
    desk.open(f"/items/{id}")

    desk.page.get_by_role("button", name="Claim…").click()
    expect(desk.page.get_by_text("Something unfinished is in its way")).to_be_visible()
    assert desk.server.get(f"/api/work-items/{id}")["claim"] is None
    desk.page.get_by_role("button", name="Claim it all the same").click()
    expect(desk.page.get_by_text("for 59 min more")).to_be_visible()


def test_it_is_moved_from_its_screen_and_every_change_is_in_its_history_to_be_undone(desk: Desk) -> None:
    id = make(desk.server, "Index")["id"]
    change(desk.server, id, token=add_operator(desk.server, "bob"), priority=0)
    desk.open(f"/items/{id}")
    history = desk.page.get_by_role("region", name="History")
    expect(history.get_by_role("listitem")).to_have_count(2)
    expect(history.get_by_role("listitem").first).to_contain_text("priority: 2 → 0")
    expect(history.get_by_role("listitem").first).to_contain_text("by bob")

    desk.page.get_by_role("button", name="Move…").click()
    desk.page.get_by_role("dialog").get_by_role("button", name="Done").click()
    expect(desk.page.locator(".item-state")).to_have_text("Done")
    expect(history.get_by_role("listitem").first).to_contain_text("state: unstarted → done")
    history.get_by_role("button", name="Undo this").click()
    expect(desk.page.locator(".item-state")).to_have_text("Unstarted")
    expect(history.get_by_role("listitem").first).to_contain_text("undone by")
    history.get_by_role("button", name="Undo this").click()
    expect(history.get_by_role("listitem").filter(has_text="priority: 0 → 2")).to_be_visible()
    expect(history.get_by_role("button", name="Undo this")).to_have_count(0)
    item = desk.server.get(f"/api/work-items/{id}")
    assert (item["state"], item["priority"]) == ("unstarted", 2)


def test_parts_tell_how_much_is_finished_and_the_last_one_offers_to_close_the_whole(desk: Desk) -> None:
    epic = make(desk.server, "Search", kind="epic")["id"]
    one, two = (make(desk.server, title, parent=epic)["id"] for title in ("One", "Two"))
    change(desk.server, one, state="done")
    desk.open(f"/items/{epic}")
    parts = desk.page.get_by_role("region", name="Parts")
    expect(parts).to_contain_text("1 of 2 finished")
    parts.get_by_role("link", name="Two").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Two")
    desk.page.get_by_role("button", name="Move…").click()
    desk.page.get_by_role("dialog").get_by_role("button", name="Done").click()
    desk.page.get_by_role("button", name="Close it too").click()
    expect(desk.page.locator(".offer")).to_have_count(0)
    assert desk.server.get(f"/api/work-items/{epic}")["state"] == "done"
    assert desk.server.get(f"/api/work-items/{two}")["state"] == "done"


def test_the_picture_of_what_hangs_on_it_is_made_of_links_and_told_in_words(desk: Desk) -> None:
    a, b, c, d = (make(desk.server, title)["id"] for title in ("Alpha", "Beta", "Gamma", "Delta"))
    for source, target in ((a, b), (b, c), (c, d)):
        relate(desk.server, source, "blocks", target)
    desk.open(f"/items/{b}")
    picture = desk.page.get_by_role("group", name=f"What blocks {b}, and what it blocks")
    expect(picture.get_by_role("link")).to_have_count(3)
    expect(desk.page.get_by_role("figure")).to_contain_text(f"{b} is blocked by {a}. It blocks {c}.")
    expect(desk.page.get_by_text("The longest chain of open work through it has 4 items")).to_be_visible()
    expect(desk.page.get_by_text("2 items wait for it; finishing it makes 1 ready")).to_be_visible()

    Keys(desk).tab_to(picture.get_by_role("link", name="Gamma"))
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Gamma")


def test_from_the_board_and_back_to_the_same_card_by_key(desk: Desk) -> None:
    make(desk.server, "First", priority=0)
    second = make(desk.server, "Second")["id"]
    desk.go_to("Board")
    expect(card(desk, second)).to_be_visible()
    keys = Keys(desk)
    keys("j", "j")
    expect(card(desk, second)).to_be_focused()

    keys("Enter")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Second")
    expect(desk.page.get_by_role("heading", level=1)).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(card(desk, second)).to_be_focused()


def test_an_address_of_nothing_says_so(desk: Desk) -> None:
    desk.open("/items/shop-none")
    expect(desk.page.get_by_role("heading", name="No item has this id")).to_be_visible()


def hostile(server: RunningServer) -> str:
    """An item of which every word was chosen to be taken for something else."""
    other = make(server, MARKUP[:400])["id"]
    words = {"description": MARKUP, "acceptance": BIDI, "labels": [MARKUP[:150]], "targets": ["../" * 40]}
    id: str = make(server, f"{BIDI} {MARKUP[:300]}", assignee=MARKUP[:150], concepts=[BIDI], **words)["id"]
    relate(server, other, "blocks", id)
    return id


def test_words_of_others_are_words(desk: Desk) -> None:
    desk.open(f"/items/{hostile(desk.server)}")
    expect(field(desk, "description")).to_contain_text("<img src=x onerror='window.owned = 2'>")
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("⟨U+202E⟩")
    expect(desk.page.get_by_role("region", name="Relations")).to_contain_text("<script>window.owned = 1</script>")
    assert desk.page.evaluate("window.owned") is None


def test_nothing_of_an_item_is_hard_to_perceive(desk: Desk, axe: Callable[[Page], list[str]]) -> None:
    epic = make(desk.server, "Search", kind="epic")["id"]
    id, other = make(desk.server, "Index", parent=epic)["id"], make(desk.server, "Queries", parent=epic)["id"]
    relate(desk.server, id, "blocks", other)
    desk.open(f"/items/{id}")
    expect(desk.page.get_by_role("figure")).to_be_visible()
    edit(desk, "description", "Mine")
    change(desk.server, id, token=add_operator(desk.server, "bob"), description="Theirs")
    expect(field(desk, "description").get_by_role("alert")).to_be_visible()
    found = findings("an item", desk.page, axe)
    desk.open(f"/items/{epic}")
    expect(desk.page.get_by_role("region", name="Parts")).to_be_visible()
    found += findings("an epic", desk.page, axe)
    assert found == []


def test_an_item_fits_a_phone(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> None:
    id = hostile(sqlite_server)
    for number in range(3):
        relate(sqlite_server, id, "blocks", make(sqlite_server, f"{'long' * 30} {number}")["id"])
    phone = open_desk(sqlite_server, **PHONE)
    phone.open(f"/items/{id}")
    expect(phone.page.get_by_role("figure")).to_be_visible()
    assert too_wide(phone) == []
    pressed = [*phone.page.locator("main").get_by_role("button").all()]
    assert [one for one in pressed if min(size(one)) < FINGER - 20 or size(one)[1] < FINGER] == []
    field(phone, "description").get_by_role("button", name="Edit").tap()
    assert too_wide(phone) == []
