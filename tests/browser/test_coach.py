"""An order is recommended on the page, its lines come in as they are given, and what is applied changes the board."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from gemba.testing import retry_until
from tests.browser.consulting import (
    begin,
    detail,
    emit,
    ended,
    line,
    lines_for,
    make_item,
    order_of,
    ranked,
    with_agents,
)
from tests.browser.desk import Desk
from tests.browser.test_accessibility import Axe, findings
from tests.browser.test_hostile_text import MARKUP
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.fixtures.plans import epic, order_input
from tests.fixtures.servers import RunningServer

LONG = "a/very/long/path/that/does/not/want/to/break/" * 4


@pytest.fixture
def server(sqlite_server: RunningServer) -> Iterator[RunningServer]:
    with with_agents(sqlite_server) as server:
        yield server


@pytest.fixture
def desk(open_desk: Callable[..., Desk], server: RunningServer) -> Desk:
    return open_desk(server, reduced_motion="reduce")


def drawer(page: Page) -> Locator:
    return page.get_by_role("region", name="Consult", exact=True)


def status(page: Page) -> Locator:
    return page.locator(".consult-head .outcome")


def reads_of(desk: Desk, id: str) -> int:
    return len(desk.api_requests(f"/api/consults/{id}"))


def test_an_order_is_asked_for_comes_in_and_is_applied(desk: Desk) -> None:
    page, server = desk.page, desk.server
    base = make_item(server, "Base")
    roof = make_item(server, "Roof", blocked_by=base)
    make_item(server, "Someday", state="backlog")
    desk.go_to("Coach")
    page.get_by_role("button", name="Recommend order…").click()
    form = page.get_by_role("form", name="Recommend order")
    expect(form.get_by_role("combobox", name="Persona")).to_be_focused()
    expect(form.get_by_role("combobox", name="Persona")).to_have_value("project-manager")
    expect(form).to_contain_text("At most $0.25 a call; $10.00 of $10.00 left today.")
    form.get_by_role("textbox", name="Guidance").fill("roof soon")
    form.get_by_text("Epics", exact=True).click()
    expect(form.get_by_role("checkbox")).to_have_count(2)
    form.get_by_role("button", name="Recommend an order of 2 epics").click()

    expect(drawer(page).get_by_role("heading", name="Consult", exact=True)).to_be_focused()
    expect(status(page)).to_have_text("Completed")
    expect(drawer(page)).to_contain_text("answered by the built-in advisor")
    expect(drawer(page)).to_contain_text("roof soon")
    kinds = drawer(page).locator("[data-line]").evaluate_all("all => all.map(one => one.dataset.type)")
    assert kinds[:3] == ["strategy", "recommendation", "recommendation"]
    assert kinds[-1] == "summary"
    first = ranked(drawer(page), 1)
    expect(first).to_contain_text(f"Base {base}")
    expect(first).to_contain_text("% sure")
    assert (order_of(server, base), order_of(server, roof)) == (None, None)

    first.get_by_role("button", name="Apply").click()
    expect(line(drawer(page), "Applied by")).to_contain_text(f"{base}: place 1")
    assert order_of(server, base) == 1
    expect(page.get_by_role("link", name="Order of epics")).to_be_visible()
    page.reload()
    desk.is_live()
    expect(line(drawer(page), "Applied by operator")).to_have_count(1)
    ranked(drawer(page), 1).get_by_role("link", name=base).click()
    expect(page).to_have_url(f"{server.url}/items/{base}")


def test_only_the_epics_that_are_chosen_are_asked_about(desk: Desk) -> None:
    page, server = desk.page, desk.server
    wanted, other = make_item(server, "Wanted"), make_item(server, "Other")
    desk.open("/coach")
    page.get_by_role("button", name="Recommend order…").click()
    form = page.get_by_role("form", name="Recommend order")
    form.get_by_text("Epics", exact=True).click()
    form.get_by_role("checkbox", name="Other").uncheck()
    form.get_by_role("button", name="Recommend an order of 1 epic").click()

    expect(ranked(page, 1)).to_contain_text(wanted)
    expect(line(page, other)).to_have_count(0)


def test_without_an_epic_the_form_says_what_is_missing(desk: Desk) -> None:
    desk.open("/coach")
    desk.page.get_by_role("button", name="Recommend order…").click()

    form = desk.page.get_by_role("form", name="Recommend order")
    expect(form.get_by_role("alert")).to_contain_text("there is nothing to put into an order")
    form.get_by_role("button", name="Recommend an order of 0 epics").press("Enter")
    assert desk.server.get("/api/consults")["total"] == 0


def test_lines_come_in_as_they_are_given_and_wrong_ones_stand_beside_them(desk: Desk) -> None:
    page, server = desk.page, desk.server
    given = order_input(epic("e1"), epic("e2"))
    strategy, one, two, *rest = lines_for(given)
    id = begin(server, given, agent_type="scribe")
    desk.open(f"/consults/{id}")
    expect(status(page)).to_have_text("Running")
    expect(page.get_by_text("Lines show here as they come.")).to_be_visible()
    before = reads_of(desk, id)

    emit(server, id, strategy)
    expect(page.locator("[data-line]")).to_have_count(1)
    emit(server, id, {**one, "epic_id": "gone"}, "nonsense")
    wrong = page.locator("[data-line][data-type=error]")
    expect(wrong).to_have_count(2)
    emit(server, id, {**one, "rationale": f"{MARKUP}\u202e"}, two)
    expect(page.locator("[data-line]")).to_have_count(5)
    # An event a read, and none without one.
    assert reads_of(desk, id) - before <= 3

    expect(wrong.first).to_contain_text("Not taken: candidate")
    wrong.first.get_by_text("As it came").click()
    expect(wrong.first).to_contain_text('"epic_id": "gone"')
    expect(line(page, "<script>window.owned = 1</script>")).to_contain_text("⟨U+202E⟩")
    assert page.evaluate("window.owned") is None
    # In the order in which they came.
    types = page.locator("[data-line]").evaluate_all("all => all.map(one => one.dataset.type)")
    assert types == ["strategy", "error", "error", "recommendation", "recommendation"]
    emit(server, id, *rest)
    server.append("Stop", {}, id)
    expect(status(page)).to_have_text("Completed")
    expect(page.get_by_text("answered by a-model")).to_be_visible()


def test_what_is_missing_from_the_whole_is_said(desk: Desk) -> None:
    given = order_input(epic("e1"))
    id = begin(desk.server, given, agent_type="scribe")
    emit(desk.server, id, *lines_for(given)[1:])
    desk.server.append("Stop", {}, id)
    ended(desk.server, id)
    desk.open(f"/consults/{id}")

    whole = desk.page.get_by_role("region", name="What is wrong with the whole")
    expect(whole).to_contain_text("strategy")


def test_one_that_stood_in_for_an_agent_says_why(desk: Desk) -> None:
    id = begin(desk.server, order_input(epic("e1")), agent_type="broken")
    desk.open(f"/coach?consult={id}")

    note = desk.page.get_by_text("The built-in advisor answered instead:")
    expect(note).to_contain_text("the session of broken ended before the summary came", timeout=60_000)
    expect(status(desk.page)).to_have_text("Completed", timeout=60_000)


def test_two_clicks_are_one_effect(desk: Desk) -> None:
    page, server = desk.page, desk.server
    base = make_item(server, "Base")
    id = begin(server, order_input(epic(base)))
    ended(server, id)
    desk.open(f"/consults/{id}")

    ranked(page, 1).get_by_role("button", name="Apply").dblclick()
    expect(line(page, "Applied by")).to_have_count(1)

    assert len(desk.api_requests(f"/api/consults/{id}/apply/", "POST")) == 1
    assert [one["idx"] for one in detail(server, id)["applied"]] == [1]


def test_all_are_applied_in_their_order_up_to_the_first_that_is_refused(desk: Desk) -> None:
    page, server = desk.page, desk.server
    first, last = make_item(server, "First"), make_item(server, "Last")
    given = order_input(epic(first), epic("ghost", depends_on_epics=[first]), epic(last, depends_on_epics=["ghost"]))
    id = begin(server, given)
    ended(server, id)
    desk.open(f"/consults/{id}")

    page.get_by_role("button", name="Apply all 3").click()

    refused = ranked(page, 2)
    expect(refused.get_by_role("alert")).to_contain_text("Refused by its own route, nothing was changed.")
    expect(refused.get_by_role("alert")).to_contain_text("PATCH /api/work-items/ghost was refused")
    expect(page.get_by_text("1 of 3 applied; the next was refused, and the others wait")).to_be_visible()
    assert (order_of(server, first), order_of(server, last)) == (1, None)
    expect(refused.get_by_role("button", name="Try again")).to_be_visible()
    ranked(page, 3).get_by_role("button", name="Apply").click()
    retry_until(lambda: order_of(server, last) == 3)


def test_all_that_were_applied_are_taken_back_with_one_key_or_one_by_one(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    desk = open_desk(sqlite_server, undo=30)
    page, server = desk.page, desk.server
    first, last = make_item(server, "First"), make_item(server, "Last")
    id = begin(server, order_input(epic(first), epic(last, depends_on_epics=[first])))
    ended(server, id)
    desk.open(f"/consults/{id}")

    page.get_by_role("button", name="Apply all 2").click()
    expect(page.get_by_role("group", name="Last answer")).to_contain_text("2 lines are applied")
    assert (order_of(server, first), order_of(server, last)) == (1, 2)
    page.keyboard.press("u")
    expect(page.get_by_role("group", name="Last answer")).to_contain_text("2 lines are taken back")
    assert (order_of(server, first), order_of(server, last)) == (None, None)

    ranked(page, 1).get_by_role("button", name="Apply").click()
    ranked(page, 1).get_by_role("button", name="Take back").click()
    expect(ranked(page, 1).get_by_role("button", name="Apply")).to_be_visible()

    page.get_by_role("button", name="Apply all 2").click()
    page.get_by_role("button", name="Take back all 2").click()
    expect(page.get_by_role("button", name="Apply all 2")).to_be_visible()
    assert (order_of(server, first), order_of(server, last)) == (None, None)
    assert order_of(server, first) is None


def test_what_somebody_else_did_first_is_told_at_the_line(desk: Desk) -> None:
    page, server = desk.page, desk.server
    base = make_item(server, "Base")
    id = begin(server, order_input(epic(base), epic("other", depends_on_epics=[base])))
    ended(server, id)
    desk.open(f"/consults/{id}")

    def applied_first(route: Route) -> None:
        server.post(f"/api/consults/{id}/apply/1", {})
        route.continue_()

    page.route(f"**/api/consults/{id}/apply/1", applied_first)
    with page.expect_response("**/apply/1") as answered:
        ranked(page, 1).get_by_role("button", name="Apply").click()
    assert answered.value.status == 409
    expect(ranked(page, 1)).to_contain_text("Applied by operator")

    def closed_first(route: Route) -> None:
        server.post(f"/api/consults/{id}/close", {})
        route.continue_()

    page.route(f"**/api/consults/{id}/apply/2", closed_first)
    ranked(page, 2).get_by_role("button", name="Apply").click()
    expect(ranked(page, 2).get_by_role("alert")).to_contain_text("It can no longer be applied.")
    expect(status(page)).to_have_text("Closed")
    expect(page.get_by_role("button", name="Apply")).to_have_count(0)


def test_a_line_is_tried_again_when_the_server_was_away(desk: Desk) -> None:
    page, server = desk.page, desk.server
    base = make_item(server, "Base")
    id = begin(server, order_input(epic(base)))
    ended(server, id)
    desk.open(f"/consults/{id}")
    page.route("**/apply/*", lambda route: route.abort())

    ranked(page, 1).get_by_role("button", name="Apply").click()
    expect(ranked(page, 1).get_by_role("alert")).to_contain_text("server did not answer.")
    assert order_of(server, base) is None
    tried = {one.headers["x-gemba-confirm"] for one in desk.api_requests(f"/api/consults/{id}/apply/", "POST")}
    assert len(tried) == 1
    page.unroute("**/apply/*")
    ranked(page, 1).get_by_role("button", name="Try again").click()

    expect(ranked(page, 1)).to_contain_text("Applied by")
    expect(ranked(page, 1).get_by_role("alert")).to_have_count(0)
    assert order_of(server, base) == 1


def test_one_that_runs_is_cancelled_and_one_that_is_over_is_closed(desk: Desk) -> None:
    page, server = desk.page, desk.server
    given = order_input(epic("e1"))
    id = begin(server, given, agent_type="scribe")
    emit(server, id, *lines_for(given)[:2])
    desk.open(f"/coach?consult={id}")
    expect(ranked(page, 1).get_by_role("button", name="Apply")).to_be_visible()

    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the consult").click()
    expect(status(page)).to_have_text("Cancelled")
    expect(page.get_by_text("cancelled by operator")).to_be_visible()
    expect(page.locator("[data-line]")).to_have_count(2)
    expect(page.get_by_role("button", name="Apply")).to_have_count(0)

    other = begin(server, given)
    ended(server, other)
    desk.open(f"/consults/{other}")
    page.get_by_role("button", name="Close…").click()
    page.get_by_role("button", name="Close the consult").click()
    expect(status(page)).to_have_text("Closed")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_what_it_was_told_unfolds_by_layers_with_their_tokens(desk: Desk) -> None:
    id = begin(desk.server, order_input(epic("e1", title="The first")))
    ended(desk.server, id)
    desk.open(f"/consults/{id}")
    page = desk.page

    page.get_by_role("heading", name="What it was told").click()
    layers = page.locator(".layers > li")
    assert [text.split()[0] for text in layers.locator("h4").all_inner_texts()][-2:] == ["Context", "Message"]
    expect(layers.last).to_contain_text("tokens")
    layers.last.get_by_role("heading").click()
    expect(layers.last.get_by_role("region", name="Message")).to_contain_text("The first")


def test_the_keys_move_over_lines_apply_one_and_close_the_drawer(desk: Desk) -> None:
    page, server, keys = desk.page, desk.server, desk.page.keyboard
    base = make_item(server, "Base")
    id = begin(server, order_input(epic(base)))
    ended(server, id)
    keys.press("g")
    keys.press("o")
    expect(page.get_by_role("heading", name="Coach")).to_be_focused()
    link = page.get_by_role("link", name="Order of epics")
    link.focus()
    keys.press("Enter")
    expect(drawer(page).get_by_role("heading", name="Consult", exact=True)).to_be_focused()
    expect(page.locator("[data-line]").first).to_be_visible()

    keys.press("j")
    expect(page.locator('[data-line="0"]')).to_be_focused()
    keys.press("j")
    expect(page.locator('[data-line="1"]')).to_be_focused()
    keys.press("a")
    expect(page.locator('[data-line="1"]')).to_contain_text("Applied by")
    assert order_of(server, base) == 1
    expect(page.locator('[data-line="1"]')).to_be_focused()
    keys.press("k")
    expect(page.locator('[data-line="0"]')).to_be_focused()
    keys.press("Escape")
    expect(drawer(page)).to_have_count(0)
    expect(link).to_be_focused()
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Apply the line")


def test_the_grid_has_every_session_by_what_is_ready_with_reasons(desk: Desk) -> None:
    page, server, keys = desk.page, desk.server, desk.page.keyboard
    index = make_item(server, "Index", "task", targets=["src/**"], concepts=["search"], priority=1)
    make_item(server, "Query", "task", targets=["src/query.py"], concepts=["search"])
    mine = make_item(server, "Claimed", "task", concepts=["search"])
    answer = server.request("POST", f"/api/work-items/{mine}/claim", {"owner": "s-1"})
    assert answer.status == 200, answer
    server.append("GembaState", {"state": "working", "bead_id": mine}, "s-1")
    retry_until(lambda: len(server.get("/api/work-items/selection")["sessions"]) == 2)
    desk.open("/coach")

    grid = page.get_by_role("grid", name="Sessions by what is ready")
    expect(grid.get_by_role("columnheader")).to_have_text(["Item", "A new session", "s-1"])
    expect(grid.get_by_role("row")).to_have_count(4)
    why = page.get_by_role("region", name="Why")
    expect(why).to_contain_text("Index for a new session")
    expect(why).to_contain_text("priority 1")
    grid.get_by_role("row", name="Index").get_by_role("button").last.click()
    expect(why).to_contain_text("the session had this before: search")
    grid.get_by_role("row", name="Claimed").get_by_role("button", name="ruled out").click()
    expect(why).to_contain_text("s-1 has claimed it")
    grid.locator("button[tabindex='0']").focus()
    keys.press("ArrowRight")
    expect(why).to_contain_text("Claimed for s-1")
    keys.press("Home")
    keys.press("ArrowUp")
    expect(why).to_contain_text("Query for a new session")

    batch = page.get_by_role("list", name="Items that can run at once")
    expect(batch.get_by_role("listitem")).to_have_count(1)
    expect(batch).to_contain_text(index)
    pairs = page.get_by_role("list", name="Pairs that conflict")
    expect(pairs).to_contain_text("src/** meets src/query.py")
    # What becomes ready shows by itself.
    make_item(server, "Come later", "task")
    expect(grid.get_by_role("row", name="Come later")).to_be_visible()


def fill(server: RunningServer) -> str:
    """One of everything: a consult with lines of all types, errors, and one that is applied."""
    base = make_item(server, LONG, description=LONG)
    given = order_input(
        epic(base, title=LONG, estimated_tokens=900),
        epic("e2", file_space_signature=["src/**"], depends_on_epics=["e3"]),
        epic("e3", depends_on_epics=["e2"]),
        epic("e4"),
        guidance=LONG,
    )
    strategy, *rest = lines_for(given)
    id = begin(server, given, agent_type="scribe", guidance=LONG)
    emit(server, id, strategy, {"type": "recommendation", "epic_id": LONG}, *rest)
    server.append("Stop", {}, id)
    found = ended(server, id)
    kinds = {one["type"] for one in found["validated_lines"]}
    assert kinds == {"strategy", "recommendation", "warning", "deferred", "summary"}
    place = next(idx for idx, one in enumerate(found["validated_lines"]) if one.get("epic_id") == base)
    server.post(f"/api/consults/{id}/apply/{place}", {})
    for name in ("one", "two"):
        make_item(server, f"{name} {LONG}", "task", targets=["src/**"])
    server.append("GembaState", {"state": "working"}, "a-session-with-quite-a-long-name-" * 3)
    return id


def test_nothing_serious_is_found_in_any_state_of_it(desk: Desk, axe: Axe) -> None:
    page = desk.page
    id = fill(desk.server)
    desk.open("/coach")
    page.get_by_role("button", name="Recommend order…").click()
    page.get_by_role("form").get_by_text("Epics", exact=True).click()
    expect(page.get_by_role("grid")).to_be_visible()
    found = findings("the form and the grid", page, axe)
    desk.open(f"/coach?consult={id}")
    expect(line(page, "Applied by")).to_be_visible()
    page.get_by_text("As it came").click()
    found += findings("the drawer", page, axe)
    desk.open(f"/consults/{id}")
    page.get_by_role("heading", name="What it was told").click()
    page.locator(".layers summary").last.click()
    found += findings("a consult by itself", page, axe)

    assert found == []


def test_it_fits_a_phone(open_desk: Callable[..., Desk], server: RunningServer) -> None:
    id = fill(server)
    phone = open_desk(server, **PHONE)
    page = phone.page
    phone.go_to("Coach")
    expect(page.get_by_role("grid")).to_be_visible()

    def beyond() -> list[str]:
        """But for the grid, which scrolls by itself."""
        wide = page.locator("main").evaluate(
            "main => [...main.querySelectorAll(':not(.selection, .selection *, .visually-hidden)')]"
            ".filter(one => one.getBoundingClientRect().right > innerWidth + 0.5)"
            ".map(one => one.outerHTML.slice(0, 200))"
        )
        return [*wide, *(one for one in too_wide(phone) if one.startswith("<html"))]

    page.get_by_role("button", name="Recommend order…").tap()
    expect(page.get_by_role("form")).to_be_visible()
    assert beyond() == []
    page.get_by_role("button", name="Cancel").tap()
    page.get_by_role("link", name="Order of epics").tap()
    expect(line(page, "Applied by")).to_be_visible()
    assert beyond() == []
    pressed = drawer(page).get_by_role("button").all()
    assert [one for one in pressed if min(size(one)) < FINGER] == []
    page.get_by_role("button", name="Close the drawer").tap()
    expect(drawer(page)).to_have_count(0)
    phone.open(f"/consults/{id}")
    expect(line(page, "Applied by")).to_be_visible()
    assert too_wide(phone) == []
