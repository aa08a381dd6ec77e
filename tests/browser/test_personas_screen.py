"""Personas, what they answer for and spend, the phase of the project, and what a purview holds, on the page."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from gemba.testing import retry_until
from tests.browser.consulting import begin, ended, make_item, with_agents
from tests.browser.desk import Desk
from tests.browser.test_accessibility import Axe, findings
from tests.browser.test_phone import PHONE, too_wide
from tests.fixtures.plans import epic, order_input
from tests.fixtures.servers import RunningServer

BROKEN = 'name = "Own"\nrole = "Reviewer"\nvariety = "coach"\nskills = ["juggling"]\nsystem_prompt = "You."\n'


@pytest.fixture
def server(start_server: Callable[..., RunningServer]) -> Iterator[RunningServer]:
    """With one persona's file at fault, from its start."""
    server = start_server(running=False)
    folder = server.workspace / ".gemba/personas"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.toml").write_text(BROKEN)
    server.start()
    with with_agents(server):
        yield server


@pytest.fixture
def desk(open_desk: Callable[..., Desk], server: RunningServer) -> Desk:
    return open_desk(server, reduced_motion="reduce")


def persona(page: Page, id: str) -> Locator:
    return page.locator(f'.card[data-card-id="{id}"]')


def badge(page: Page) -> Locator:
    return page.get_by_role("button", name="Phase: ")


def set_phase(server: RunningServer, phase: str) -> None:
    assert server.request("PATCH", "/api/project/phase", {"phase": phase}).status == 200


def hold_something(server: RunningServer) -> str:
    """An item that becomes done over the objection of Security."""
    item = make_item(server, "Sign in", "task", labels=["auth"])
    assert server.request("PATCH", f"/api/work-items/{item}", {"state": "in_progress"}).status == 200
    refused = server.request("PATCH", f"/api/work-items/{item}", {"state": "done"})
    assert (refused.status, refused.json["code"]) == (409, "purview_held")
    return item


def test_the_seven_stand_there_with_what_they_are_for_and_what_they_may(desk: Desk) -> None:
    page = desk.page
    desk.go_to("Personas")
    expect(page.locator(".card.persona")).to_have_count(7)

    pm = persona(page, "project-manager")
    expect(pm).to_contain_text("PM Project Manager")
    expect(pm).to_contain_text("Coach")
    expect(pm).to_contain_text("coordination, sequencing, scope discipline, escalation triage")
    expect(pm).to_contain_text("none: it holds nothing")
    expect(pm).to_contain_text("$10.00 left of $10.00 today")
    expect(pm).to_contain_text("Order of epics, Question, Refinement")
    expect(persona(page, "qa")).to_contain_text("Not active in ideation")
    expect(persona(page, "security")).to_contain_text("Active now for work that is labelled so")
    fault = page.get_by_role("region", name="Files with a fault")
    expect(fault).to_contain_text(".gemba/personas/own.toml:4")
    expect(fault).to_contain_text("juggling")


def test_what_a_running_consult_sets_aside_and_what_it_cost_show_by_themselves(desk: Desk) -> None:
    page, server = desk.page, desk.server
    desk.open("/personas")
    pm = persona(page, "project-manager")
    id = begin(server, order_input(epic("e1")), agent_type="scribe")
    expect(pm).to_contain_text("$9.75 left of $10.00 today $0.00 settled, $0.25 reserved")

    server.append("GembaUsage", {"input_tokens": 900, "output_tokens": 100, "cost_usd": 0.1}, id)
    retry_until(lambda: server.get(f"/api/sessions/{id}")["usage"] is not None)
    server.request("POST", f"/api/consults/{id}/cancel", {})

    expect(pm).to_contain_text("$9.90 left of $10.00 today $0.10 settled, $0.00 reserved")


def test_figures_of_each_persona(desk: Desk) -> None:
    page, server = desk.page, desk.server
    base = make_item(server, "Base")
    first = begin(server, order_input(epic(base)))
    ended(server, first)
    server.post(f"/api/consults/{first}/apply/1", {})
    assert (
        server.request(
            "POST",
            "/api/consults",
            {"persona_id": "project-manager", "skill_id": "ask", "raw_input": {"question": "?"}},
        ).status
        == 502
    )
    begin(server, order_input(epic(base)), agent_type="scribe")
    desk.open("/personas")
    page.get_by_role("link", name="In figures").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Personas in figures")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    row = page.get_by_role("row", name="PM")
    expect(row).to_contain_text("1 running")
    expect(row).to_contain_text("1 failed")
    expect(row.get_by_role("cell").nth(2)).to_have_text("1")
    expect(page.get_by_role("row")).to_have_count(8)
    expect(page.get_by_role("row", name="Architect").get_by_role("cell").first).to_have_text("0")
    page.get_by_role("combobox", name="Days").select_option("7")
    expect(row).to_contain_text("3")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", level=1)).to_have_text("Personas")


def test_the_phase_is_changed_after_its_consequences_were_shown(
    desk: Desk, open_desk: Callable[..., Desk], server: RunningServer
) -> None:
    other = open_desk(server)
    page = desk.page
    expect(badge(page)).to_have_text("Phase: ideation")
    badge(page).click()
    dialog = page.get_by_role("dialog", name="Phase of the project")
    dialog.get_by_role("radio", name="shipping").check()
    expect(dialog).to_contain_text("From then on active: QA (testing, blocking), Deployment Engineer")
    assert server.get("/api/project/phase")["phase"] == "ideation"

    dialog.get_by_role("button", name="Change from ideation to shipping").click()

    expect(dialog).to_be_hidden()
    expect(badge(page)).to_have_text("Phase: shipping")
    assert server.get("/api/project/phase")["phase"] == "shipping"
    expect(badge(other.page)).to_have_text("Phase: shipping")
    desk.go_to("Personas")
    expect(persona(page, "qa")).to_contain_text("Active now, in shipping")


def test_a_phase_that_somebody_changed_meanwhile_is_not_overwritten(desk: Desk) -> None:
    page, server = desk.page, desk.server
    badge(page).click()
    dialog = page.get_by_role("dialog", name="Phase of the project")
    dialog.get_by_role("radio", name="building").check()

    def changed_first(route: Route) -> None:
        if route.request.method == "PATCH":
            set_phase(server, "design")
        route.continue_()

    page.route("**/api/project/phase", changed_first)
    dialog.get_by_role("button", name="Change from ideation to building").click()

    expect(dialog.get_by_role("alert")).to_contain_text("the phase is design, not ideation")
    expect(dialog.get_by_role("button", name="Change from design to building")).to_be_visible()
    assert server.get("/api/project/phase")["phase"] == "design"


def test_what_a_purview_holds_is_explained_and_leads_to_its_card(desk: Desk) -> None:
    page, server = desk.page, desk.server
    desk.open("/personas")
    expect(persona(page, "security")).to_be_visible()
    item = hold_something(server)

    held = page.get_by_role("list", name="Changes that are held").get_by_role("listitem")
    expect(held).to_contain_text(f"{item} in_progress → done waits for your answer")
    expect(held).to_contain_text("security (auth, blocking, in ideation): the label auth belongs to auth")
    badge(page).click()
    dialog = page.get_by_role("dialog", name="Phase of the project")
    expect(dialog).to_contain_text("1 held now")
    dialog.get_by_role("link", name="see which").click()
    expect(dialog).to_be_hidden()
    held.get_by_role("link", name="Its card").click()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert "/escalations/" in page.url


def test_nothing_serious_is_found_on_these_screens(desk: Desk, axe: Axe) -> None:
    page, server = desk.page, desk.server
    hold_something(server)
    begin(server, order_input(epic("e1")), agent_type="scribe")
    desk.open("/personas")
    expect(page.get_by_role("list", name="Changes that are held")).to_be_visible()
    found = findings("personas", page, axe)
    badge(page).click()
    page.get_by_role("radio", name="shipping").check()
    found += findings("the phase", page, axe)
    desk.open("/insights/personas")
    expect(page.get_by_role("row", name="PM")).to_contain_text("1 running")
    found += findings("figures", page, axe)

    assert found == []


def test_they_fit_a_phone(open_desk: Callable[..., Desk], server: RunningServer) -> None:
    hold_something(server)
    phone = open_desk(server, **PHONE)
    page = phone.page
    phone.go_to("Personas")
    expect(page.locator(".card.persona")).to_have_count(7)
    assert too_wide(phone) == []
    head = page.locator(".frame-head")
    assert head.evaluate("element => element.scrollWidth <= element.clientWidth")
    badge(page).tap()
    expect(page.get_by_role("dialog", name="Phase of the project")).to_be_visible()
    page.get_by_role("button", name="Close").tap()
    phone.open("/insights/personas")
    expect(page.get_by_role("row", name="PM")).to_be_visible()
    retry_until(lambda: page.locator("html").evaluate("element => element.scrollWidth <= innerWidth"))
