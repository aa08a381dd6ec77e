"""axe finds nothing serious in any state of any screen, in both themes and at both widths; motion can be refused."""

import subprocess
from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.fixtures.servers import RunningServer

Axe = Callable[[Page], list[str]]

WIDTHS = ((1280, 800), (390, 844))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
POLICIES = """
[channels.phone]
url_env = "NOT_SET_ANYWHERE"

[[policy]]
name = "quick"
urgency = "blocking"
kinds = ["question"]
expire_after = "1s"

[[policy]]
name = "two-people"
kinds = ["blocker"]
remind_after = "10m"
notify = ["phone", "page"]
verify = { person = true }
"""
LONG = "A long story with `code` in it.\n```\nmake test\n```\n" + "And on it goes. " * 300


def put(server: RunningServer, session: str, hook: str = "GembaAsk", **payload: object) -> str:
    document = {"kind": "question", "role": "manager", "mode": "balanced", **payload} if hook == "GembaAsk" else payload
    return server.append(hook, document, session)


def fill(server: RunningServer) -> None:
    """One of everything that the page can show."""
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=server.workspace, text=True).strip()
    where = {"cwd": str(server.workspace), "commit": commit}
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "on"], cwd=server.workspace, check=True)
    put(server, "blocked", kind="blocker", text="Which port?", title="Port", bead_id="w-1", **where)
    put(server, "asks", text=LONG, wait=True)
    put(server, "claude", "PermissionRequest", tool_name="Bash", tool_input={"command": "rm -r build"})
    put(server, "pane", text="Answered in the pane?")
    put(server, "late", text="To be snoozed?")
    put(server, "gone", text="Not to be delivered?")
    put(server, "assumes", kind="assumption", text="Which colour?", chose="`blue`")
    put(server, "assumes", kind="assumption", text="Which size?", chose="large")
    put(server, "assumes", "GembaState", state="working", note="painting", bead_id="w-2")
    put(server, "blocked", "GembaState", state="prompting")
    put(server, "gone", kind="blocker", role="coach", text="dropped: makes a warning")

    def ids() -> dict[str, str]:
        listed = server.get("/api/escalations")["escalations"]
        return {one["session_id"]: one["id"] for one in listed}

    known = retry_until(lambda: ids() if len(ids()) == 6 else {})
    put(server, "pane", "UserPromptSubmit", prompt="yes")
    server.post(f"/api/escalations/{known['late']}/snooze", {"seconds": 3600})
    server.post(f"/api/escalations/{known['gone']}/respond", {"text": "too late"})
    put(server, "gone", "SessionEnd", reason="exit")
    assumption = server.get("/api/assumptions")["assumptions"][0]["id"]
    server.post(f"/api/assumptions/{assumption}/overturn", {"text": "small"})
    retry_until(lambda: server.get("/api/escalations?delivery=undelivered")["total"] == 1)


@pytest.fixture
def full_desk(open_desk: Callable[..., Desk], sqlite_server: RunningServer) -> Desk:
    fill(sqlite_server)
    desk = open_desk(sqlite_server, reduced_motion="reduce")
    expect(desk.cards).to_have_count(3)
    return desk


def findings(state: str, page: Page, axe: Axe) -> list[str]:
    """What axe has against the page in this state, in every theme and width."""
    found = []
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            # Without transitions: half-way between two themes no contrast is right.
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found += [f"{state}, {scheme}, {width} px: {line}" for line in axe(page)]
    page.set_viewport_size({"width": 1280, "height": 800})
    return found


def test_screens_with_everything_in_them(full_desk: Desk, axe: Axe) -> None:
    desk, page = full_desk, full_desk.page
    desk.unfold("Snoozed")
    desk.unfold("Recently resolved")
    expect(desk.row("To be snoozed?")).to_be_visible()
    found = findings("inbox", page, axe)

    desk.go_to("Assumptions")
    page.get_by_role("button", name="Overturn").click()
    found += findings("assumptions", page, axe)

    desk.go_to("Health")
    expect(page.get_by_role("row", name="assumes")).to_be_visible()
    found += findings("health", page, axe)

    assert found == []


def test_what_is_offered_on_cards_and_the_screens_behind_it(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer], axe: Axe
) -> None:
    server = start_server(running=False)
    (server.workspace / ".gemba/workspace.toml").write_text(POLICIES)
    server.start()
    first = put(server, "earlier", text="Which port does staging use?")
    rule = put(server, "ruled", text="Do we keep the old endpoint?", options=["yes", "no"])
    put(server, "late", text="Too late?", mode="cautious")
    retry_until(lambda: server.get("/api/escalations?state=expired")["total"] == 1)
    server.post(f"/api/escalations/{first}/respond", {"text": "8080"})
    server.post("/api/rules", {"escalation_id": rule, "option": 1})
    for number in (1, 2):
        put(server, f"alike-{number}", text="Which port does staging use?")
    put(server, "typed", text="Settings?", schema={"type": "object", "properties": {"port": {"type": "integer"}}})
    put(server, "proposed", kind="blocker", text="May I drop the table?")
    retry_until(lambda: server.get("/api/escalations?state=unresolved")["total"] == 5)
    proposed = server.get("/api/escalations?kind=blocker")["escalations"][0]["id"]
    server.post(f"/api/escalations/{proposed}/respond", {"text": "yes"})
    desk = open_desk(server, undo=30, reduced_motion="reduce")
    page = desk.page
    desk.unfold("Time ran out")
    group = desk.card("and 1 more asks the same")
    group.get_by_role("button", name="and 1 more").click()
    desk.card("Settings?").get_by_role("textbox", name="port").fill("many")
    desk.card("Settings?").get_by_role("button", name="Send").click()
    expect(desk.card("Settings?").get_by_role("alert")).to_be_visible()
    desk.card("old endpoint").get_by_role("button", name="Always answer this so").click()
    group.get_by_role("button", name="Select").click()
    found = findings("offers", page, axe)
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Reply to the 2 selected").fill("8080")
    page.get_by_role("textbox", name="Reply to the 2 selected").press("Enter")
    expect(page.get_by_role("group", name="Last answer")).to_be_visible()
    found += findings("answered", page, axe)

    for path, there in (
        ("/answered?q=port", ".row"),
        ("/rules", ".card"),
        ("/policies", ".timeline"),
        ("/attention", ".figures"),
        ("/sessions", ".card"),
        ("/sessions/alike-1", ".row"),
        (f"/escalations/{first}", ".card"),
    ):
        desk.open(path)
        expect(page.locator(there).first).to_be_visible()
        found += findings(path, page, axe)

    assert found == []


def test_cards_in_every_state(full_desk: Desk, axe: Axe) -> None:
    desk, page = full_desk, full_desk.page
    desk.card("blocked").get_by_role("button", name="Snooze").click()
    desk.card("claude").get_by_role("button", name="Dismiss").click()
    desk.card("asks").get_by_role("button", name="Show all").click()
    desk.reply_box("asks").fill("half typed")
    found = findings("in use", page, axe)

    page.route("**/respond", lambda route: route.fulfill(status=500, body="{}"))
    desk.reply_box("asks").press("Enter")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    desk.card("blocked").get_by_role("button", name="Cancel").click()
    desk.reply_box("blocked").fill("unsent")
    page.keyboard.press("Escape")
    desk.server.append("UserPromptSubmit", {"prompt": "80"}, "blocked")
    expect(desk.card("blocked")).to_contain_text("Your unsent reply")
    page.get_by_role("heading", name="Inbox").scroll_into_view_if_needed()
    put(desk.server, "new", kind="blocker", text="One more?")
    expect(page).to_have_title("(3) Inbox · workspace")
    found += findings("settled, failed and new", page, axe)

    assert found == []


def test_screens_with_nothing_in_them(desk: Desk, axe: Axe) -> None:
    found = []
    for screen in (
        "Floor",
        "Sessions",
        "Refine",
        "Answered",
        "Handoffs",
        "Dispatches",
        "Assumptions",
        "Board",
        "Rules",
        "Policies",
        "Attention",
        "Health",
        "Inbox",
    ):
        desk.go_to(screen)
        expect(desk.page.locator(".empty, .check").first).to_be_visible()
        found += findings(f"empty {screen}", desk.page, axe)

    desk.page.keyboard.press("?")
    expect(desk.page.get_by_role("dialog")).to_be_visible()
    found += findings("the map of keys", desk.page, axe)

    other = desk.page.context.new_page()
    other.goto(desk.server.url)
    expect(other.get_by_role("heading", name="Open Gemba from your terminal")).to_be_visible()
    found += findings("the way in", other, axe)

    assert found == []


def test_a_page_that_lost_its_server(desk: Desk, axe: Axe) -> None:
    desk.page.clock.install()
    desk.server.stop()
    expect(desk.connection).to_contain_text("Reconnecting")
    desk.page.clock.run_for(5_000)
    desk.page.clock.resume()
    expect(desk.page.get_by_role("alert")).to_be_visible()

    assert findings("without a server", desk.page, axe) == []


def test_nothing_moves_for_those_who_refuse_motion(full_desk: Desk) -> None:
    desk = full_desk
    put(desk.server, "new", kind="blocker", text="One more?")
    expect(desk.page).to_have_title("(4) Inbox · workspace")
    desk.page.keyboard.press("n")
    desk.card("One more?").focus()
    assert desk.page.evaluate("document.getAnimations().length") == 0

    with desk.page.expect_response("**/dismiss"):
        desk.page.keyboard.press("d")
        desk.page.keyboard.press("Enter")

    expect(desk.card("One more?")).to_have_count(0)
    assert desk.page.evaluate("document.getAnimations().length") == 0


def test_what_moves_otherwise_is_found_by_the_same_check(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    put(sqlite_server, "asks", text="Which port?", wait=True)
    desk = open_desk(sqlite_server, reduced_motion="no-preference")
    expect(desk.card("Which port?")).to_be_visible()

    assert desk.page.evaluate("document.getAnimations().length") > 0


def test_arrivals_are_told_to_those_who_do_not_see_them(desk: Desk) -> None:
    told = desk.page.get_by_role("status").last

    put(desk.server, "agent-5", kind="blocker", text="Which port?")

    expect(told).to_have_text("New: Blocker from agent-5: Which port?")
