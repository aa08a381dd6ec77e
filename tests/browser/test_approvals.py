"""A command waits for its operator: what would run is shown to the letter, and decided by keys alone.

Where a client waits, it is a real hook process, and what it is told is what the agent reads.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.fixtures.hooks import BRIDGE
from tests.fixtures.servers import RunningServer

COMMAND = "rm -rf build"
# From inside the page: however slow the machine is, the second follows at once.
TWICE = """async () => {
    for (const time of [1, 2]) {
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
        await new Promise(requestAnimationFrame);
    }
}"""
Axe = Callable[[Page], list[str]]


def ask(server: RunningServer, command: str = COMMAND, **more: object) -> dict[str, Any]:
    body = {"command": command, "cwd": "/srv/shop", "tool": "Bash", "requester": "d-1", "session_id": "agent-1"}
    made: dict[str, Any] = server.post("/api/approvals", {**body, "risk": "T3", "reason": "rm changes state", **more})
    return made


def plan(server: RunningServer, *commands: str) -> list[dict[str, Any]]:
    steps = [{"command": each, "cwd": "/srv/shop", "tool": "Bash", "risk": "T3"} for each in commands]
    body = {"steps": steps, "session_id": "agent-1", "requester": "d-1"}
    made: list[dict[str, Any]] = server.post("/api/approvals/sets", body)["approvals"]
    return made


def one(server: RunningServer, id: str) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"/api/approvals/{id}")
    return found


@contextmanager
def waiting(server: RunningServer, command: str) -> Iterator[Callable[[], tuple[str, str]]]:
    """A hook of the client that asks about a command and waits; gives what the client is told."""
    payload = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(server.workspace)}
    pipe = subprocess.PIPE
    words = [*BRIDGE, "hook", "PreToolUse", "--approvals", "--deadline", "60"]
    with subprocess.Popen(words, cwd=server.workspace, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload))
        process.stdin.close()
        process.stdin = None

        def told() -> tuple[str, str]:
            printed, _ = process.communicate(timeout=60)
            found = json.loads(printed)["hookSpecificOutput"]
            return found["permissionDecision"], found["permissionDecisionReason"]

        try:
            yield told
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def _session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", "agent-1")


# ---- one command ----------------------------------------------------------------------------------------------------


def test_a_command_is_approved_with_one_key_and_the_client_lets_it_run(desk: Desk) -> None:
    keys = desk.page.keyboard
    with waiting(desk.server, COMMAND) as told:
        card = desk.card(COMMAND)
        expect(card.get_by_role("region", name="Command")).to_have_text(COMMAND)
        expect(card).to_contain_text("T3 changes state")
        expect(card).to_contain_text(str(desk.server.workspace))
        expect(card).to_contain_text("expires in")
        expect(card).to_contain_text("goes at once and cannot be taken back")
        keys.press("j")
        keys.press("1")
        assert told() == ("allow", "Gemba: the operator has approved exactly this command")
    expect(desk.cards).to_have_count(0)
    told_here = desk.page.get_by_role("group", name="Last answer")
    expect(told_here).to_have_text(f"Approved: {COMMAND}")  # without a way back, as the card had said

    desk.unfold("Recently resolved")
    expect(desk.row(COMMAND)).to_contain_text("Approved")


def test_a_refusal_needs_a_reason_which_the_agent_reads(desk: Desk) -> None:
    keys = desk.page.keyboard
    with waiting(desk.server, COMMAND) as told:
        expect(desk.card(COMMAND).get_by_role("region", name="Command")).to_have_text(COMMAND)  # as read
        keys.press("j")
        keys.press("3")
        reason = desk.page.get_by_role("textbox", name="Why it must not run")
        expect(reason).to_be_focused()
        keys.press("Enter")  # without words nothing is refused
        expect(reason).to_be_focused()
        keys.type("not on a Friday, 1 2 3")
        keys.press("Enter")
        assert told() == ("deny", "Gemba: the operator refused it: not on a Friday, 1 2 3")
    expect(desk.cards).to_have_count(0)


def test_an_edited_command_is_shown_as_a_new_seal_and_runs_in_the_place_of_the_other(desk: Desk) -> None:
    keys, page = desk.page.keyboard, desk.page
    keys.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Send it, where Enter is a new line")
    keys.press("Escape")
    with waiting(desk.server, COMMAND) as told:
        expect(desk.card(COMMAND).get_by_role("region", name="Command")).to_have_text(COMMAND)  # as read
        keys.press("j")
        keys.press("2")
        box = page.get_by_role("textbox", name="Command to run instead")
        expect(box).to_be_focused()
        expect(box).to_have_value(COMMAND)
        send = page.get_by_role("button", name="Approve this instead")
        expect(send).to_be_disabled()
        expect(page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()
        box.fill("rm -rf build/cache\u200b")
        expect(page.get_by_role("region", name="Command with a new seal")).to_have_text("rm -rf build/cache⟨U+200B⟩")
        box.fill("rm -rf build/cache")
        keys.press("Control+Enter")
        assert told()[1].endswith("run exactly this instead: rm -rf build/cache")
    expect(desk.cards).to_have_count(0)

    with waiting(desk.server, "rm -rf build/cache") as told:
        assert told()[0] == "allow"


def test_an_edit_outlives_escape_a_reload_and_somebody_elses_decision(desk: Desk) -> None:
    keys, page = desk.page.keyboard, desk.page
    made = ask(desk.server)
    card = desk.card(COMMAND)
    box = page.get_by_role("textbox", name="Command to run instead")
    expect(card.get_by_role("button", name="Edit…")).to_be_enabled()
    keys.press("j")
    keys.press("2")
    expect(box).to_be_focused()
    keys.press("Escape")  # nothing was typed: nothing is kept
    expect(card).to_be_focused()
    expect(card).not_to_contain_text("Your unsent edit")
    keys.press("2")
    box.fill("rm -rf build/cache")
    keys.press("Escape")
    expect(card).to_be_focused()
    expect(card).to_contain_text("Your unsent edit is kept")

    page.reload()
    expect(card.get_by_role("button", name="Edit…")).to_be_enabled()
    keys.press("j")
    keys.press("2")
    expect(box).to_have_value("rm -rf build/cache")
    desk.server.post(f"/api/approvals/{made['id']}/refuse", {"reason": "no"})
    expect(card).to_contain_text("Refused by operator: no")
    expect(page.get_by_role("button", name="Approve this instead")).to_be_disabled()
    # The box stays until it is left: letters that are typed on are letters.
    expect(box).to_be_focused()
    keys.press("End")
    keys.type("/1")
    keys.press("Control+Enter")
    expect(card).to_be_focused()
    expect(card).to_contain_text("Your unsent edit: rm -rf build/cache/1")
    assert one(desk.server, made["id"])["state"] == "refused"

    keys.press("d")
    expect(desk.cards).to_have_count(0)
    assert not any("draft" in key for key in page.evaluate("Object.keys(sessionStorage)"))


def test_a_key_that_comes_before_the_command_decides_nothing_and_says_so(desk: Desk) -> None:
    keys, page = desk.page.keyboard, desk.page
    held: list[Route] = []
    page.route("**/api/approvals?escalation=**", lambda route: held.append(route))
    made = ask(desk.server)
    expect(desk.cards).to_contain_text("Reading what would run…")
    expect(desk.cards.get_by_role("button", name="Approve")).to_be_disabled()
    keys.press("j")
    for key in ("1", "2", "3", "d"):
        keys.press(key)
        expect(page.locator("main ~ [role=status]")).to_contain_text("still being read")
    expect(desk.cards).to_contain_text("Nothing is decided: what would run is still being read")
    expect(desk.cards.get_by_role("textbox")).to_have_count(0)

    for route in held:
        route.continue_()
    expect(desk.cards.get_by_role("region", name="Command")).to_have_text(COMMAND)
    assert one(desk.server, made["id"])["state"] == "pending"
    keys.press("1")
    expect(desk.cards).to_have_count(0)
    assert one(desk.server, made["id"])["state"] == "approved"


def test_what_cannot_be_seen_is_shown_in_the_order_in_which_it_stands(desk: Desk) -> None:
    ask(desk.server, "rm\u00a0-rf \u202egnp.x\u200b \nmake\r\ntrue\t\u05d0\u05d1 ")

    command = desk.cards.get_by_role("region", name="Command")
    expect(command).to_have_text("rm⟨U+00A0⟩-rf ⟨U+202E⟩gnp.x⟨U+200B⟩·↵\nmake␍↵\ntrue⇥\t\u05d0\u05d1·")
    assert command.evaluate("node => getComputedStyle(node).unicodeBidi") == "bidi-override"
    assert command.locator(".unseen").count() > 0


def test_everything_that_the_seal_covers_is_on_the_card(desk: Desk) -> None:
    made = ask(
        desk.server,
        risk="unknown",
        reason="frob is not in the table",
        environment=["AWS_PROFILE", "HOME"],
        rollback="git revert HEAD",
        verification={"command": "make check"},
    )

    card = desk.card(COMMAND)
    for words in (
        *("unknown: it may do anything", "frob is not in the table", "/srv/shop", "Bash", "AWS_PROFILE, HOME"),
        *("git revert HEAD", '"command": "make check"', "d-1", "expires in 2 days", made["hash"][:16]),
    ):
        expect(card).to_contain_text(words)
    assert "\u003cscript" not in card.inner_html()


def test_a_command_that_looks_like_markup_is_text(desk: Desk) -> None:
    ask(desk.server, "echo '<img src=x onerror=alert(1)>' > out")

    expect(desk.cards.get_by_role("region", name="Command")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(desk.cards.locator("img")).to_have_count(0)


# ---- meanwhile ------------------------------------------------------------------------------------------------------


def test_what_was_decided_elsewhere_is_settled_here(desk: Desk) -> None:
    made = ask(desk.server)
    desk.card(COMMAND).focus()
    desk.server.post(f"/api/approvals/{made['id']}/refuse", {"reason": "no"})

    card = desk.card(COMMAND)
    expect(card).to_contain_text("Refused by operator: no")
    expect(card.get_by_role("button", name="Approve")).to_have_count(0)


def test_a_decision_that_comes_second_is_refused_and_says_so(desk: Desk) -> None:
    made = ask(desk.server)
    desk.page.route("**/api/events**", lambda route: route.abort())
    desk.page.reload()  # so that nothing tells it of the refusal
    expect(desk.card(COMMAND).get_by_role("region", name="Command")).to_have_text(COMMAND)  # as read
    desk.page.route(
        "**/approve",
        lambda route: (
            desk.server.post(f"/api/approvals/{made['id']}/refuse", {"reason": "no"}),
            route.continue_(),
        ),
    )
    desk.page.keyboard.press("j")
    desk.page.keyboard.press("1")

    expect(desk.page.get_by_role("alert").filter(has_text="it cannot be approved")).to_be_visible()
    assert one(desk.server, made["id"])["state"] == "refused"


def test_a_request_whose_time_runs_out_leaves_with_a_word(desk: Desk) -> None:
    ask(desk.server, expires_in=2)
    card = desk.card(COMMAND)
    card.focus()

    expect(card).to_contain_text("Nobody decided in time")
    expect(card).to_contain_text("Expired")


# ---- a plan ---------------------------------------------------------------------------------------------------------


def test_a_plan_is_numbered_edited_by_step_and_approved_as_one(desk: Desk) -> None:
    keys, page = desk.page.keyboard, desk.page
    made = plan(desk.server, "make build", "make deploy", "make smoke")
    steps = page.get_by_role("list", name="A plan of 3 steps").get_by_role("listitem")
    expect(steps).to_have_count(3)
    expect(page.get_by_role("region", name="For all steps")).to_contain_text("/srv/shop")

    keys.press("j")
    keys.press("2")
    page.get_by_role("combobox", name="Step").select_option("2")
    page.get_by_role("textbox", name="Command to run instead").fill("make stage")
    page.get_by_role("button", name="Change this step").click()
    expect(page.get_by_role("region", name="Command of step 2")).to_have_text("make stage")
    expect(desk.card("make build")).to_be_focused()
    assert one(desk.server, made[0]["id"])["state"] == "pending"

    keys.press("1")
    expect(desk.cards).to_have_count(0)
    found = desk.server.get(f"/api/approvals?escalation={made[0]['escalation_id']}")["approvals"]
    assert {each["command"] for each in found if each["state"] == "approved"} == {
        *("make build", "make stage", "make smoke")
    }


def test_a_step_that_somebody_else_edits_keeps_what_is_typed_for_it(desk: Desk) -> None:
    keys, page = desk.page.keyboard, desk.page
    made = plan(desk.server, "make build", "make deploy")
    expect(desk.cards.get_by_role("button", name="Edit…")).to_be_enabled()
    box = page.get_by_role("textbox", name="Command to run instead")
    keys.press("j")
    keys.press("2")
    box.fill("make all")
    page.get_by_role("combobox", name="Step").select_option("2")
    box.fill("make stage")
    desk.server.post(f"/api/approvals/{made[1]['id']}/edit", {"command": "make dry-run"})
    expect(page.get_by_role("region", name="Command of step 2")).to_have_text("make dry-run")
    expect(box).to_have_value("make stage")
    keys.press("Control+Enter")
    expect(page.get_by_role("region", name="Command of step 2")).to_have_text("make stage")

    keys.press("2")
    expect(box).to_have_value("make all")  # of the other step, which is not sent yet
    keys.press("Escape")
    desk.server.post(f"/api/approvals/{made[0]['id']}/refuse", {"reason": "no"})
    expect(desk.cards.locator(".unsent")).to_have_text(["Your unsent edit of step 1: make all"])


def test_a_plan_that_somebody_edits_while_it_is_approved_is_not_approved(desk: Desk) -> None:
    made = plan(desk.server, "make build", "make deploy")
    expect(desk.page.get_by_role("region", name="Command of step 2")).to_have_text("make deploy")  # as read
    edited: list[dict[str, Any]] = []

    def edit_first(route: Any) -> None:
        if not edited:
            edited.append(desk.server.post(f"/api/approvals/{made[1]['id']}/edit", {"command": "rm -rf /"}))
        route.continue_()

    desk.page.route("**/approve", edit_first)
    desk.page.keyboard.press("j")
    desk.page.keyboard.press("1")

    expect(
        desk.page.get_by_role("alert").filter(
            has_text="a step was edited meanwhile, or these are not its seals; read it again"
        )
    ).to_be_visible()
    expect(desk.page.get_by_role("region", name="Command of step 2")).to_have_text("rm -rf /")
    assert one(desk.server, made[0]["id"])["state"] == "pending"


# ---- the record -----------------------------------------------------------------------------------------------------


def test_the_record_tells_who_decided_what_and_how_it_ended(desk: Desk) -> None:
    server, page = desk.server, desk.page
    approved, refused = ask(server), ask(server, "rm -rf /")
    server.post(f"/api/approvals/{approved['id']}/approve", {})
    call = {"command": COMMAND, "cwd": "/srv/shop", "tool": "Bash", "requester": "d-1"}
    server.post(f"/api/approvals/{refused['id']}/refuse", {"reason": "never"})
    page.keyboard.press("g")
    page.keyboard.press("v")
    expect(page.get_by_role("heading", level=1)).to_have_text("Approvals")
    row = page.locator(f'[data-approval-id="{approved["id"]}"]')
    expect(row).to_contain_text("Approved by operator · not used yet")
    expect(page.locator(f'[data-approval-id="{refused["id"]}"]')).to_contain_text("Refused by operator: never")

    server.post(f"/api/approvals/{approved['id']}/use", call)
    expect(row).to_contain_text("how it ended is not told yet")
    server.post(f"/api/approvals/{approved['id']}/outcome", {"outcome": "failed", "text": "exit 1"})
    expect(row).to_contain_text("used, and it failed: exit 1")
    row.get_by_text("What was sealed").click()
    expect(row.get_by_role("region", name="Command")).to_have_text(COMMAND)
    row.get_by_role("link", name=COMMAND).click()
    expect(page.get_by_role("article")).to_contain_text("used, and it failed: exit 1")


def test_the_record_is_walked_by_keys_and_a_command_of_several_lines_unfolds(desk: Desk) -> None:
    keys, page = desk.page.keyboard, desk.page
    ask(desk.server, COMMAND)
    long = ask(desk.server, "cat > notes <<X\n\n  two \nX")
    expect(desk.cards).to_have_count(2)
    keys.press("g")
    keys.press("v")
    row = page.get_by_role("article", name="cat > notes <<X … 3 more lines", exact=True)
    command = row.get_by_role("region", name="Command")
    expect(row).to_be_visible()
    keys.press("j")
    expect(row).to_be_focused()
    expect(command).to_be_hidden()
    keys.press("Enter")
    expect(command).to_have_text("cat > notes <<X↵\n↵\n  two·↵\nX")
    keys.press("j")
    expect(page.get_by_role("article", name=COMMAND, exact=True)).to_be_focused()
    keys.press("k")
    expect(row).to_be_focused()
    keys.press("Enter")
    expect(command).to_be_hidden()

    # Whoever looks at one and comes back goes on from it.
    row.get_by_role("link", name="cat > notes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Approval")
    page.go_back()
    expect(page.locator(f'[data-approval-id="{long["id"]}"]')).to_be_focused()


def test_health_says_whether_the_audit_log_is_as_it_was_written(desk: Desk) -> None:
    ask(desk.server)
    desk.go_to("Health")

    expect(desk.page.locator('[data-check-id="audit"]')).to_contain_text("1 entries, and the end is as it was written")


# ---- for everybody --------------------------------------------------------------------------------------------------


def test_axe_finds_nothing_serious_in_any_state(desk: Desk, axe: Axe) -> None:
    server, page = desk.server, desk.page
    desk.go_to("Approvals")
    expect(page.locator(".empty")).to_be_visible()
    found = findings("no approvals", page, axe)
    first = ask(server, "rm -rf a\u200b\nmake ", rollback="none", environment=["A"])
    steps = plan(server, "make", "make deploy")
    ended = ask(server, "rm -rf b", session_id="agent-2", risk="unknown")
    server.post(f"/api/approvals/{ended['id']}/approve", {})
    expect(page.locator("[data-approval-id]")).to_have_count(4)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Command")).to_be_visible()
    found += findings("the record", page, axe)

    desk.go_to("Inbox")
    expect(desk.cards).to_have_count(2)
    desk.card("make deploy").get_by_role("button", name="Edit…").click()
    page.get_by_role("textbox", name="Command to run instead").fill("make stage")
    desk.card("rm -rf a").get_by_role("button", name="Refuse…").click()
    found += findings("deciding", page, axe)
    server.post(f"/api/approvals/{steps[0]['id']}/refuse", {"reason": "no"})
    expect(desk.card("make deploy")).to_contain_text("Your unsent edit of step 1: make stage")
    found += findings("decided elsewhere", page, axe)

    desk.open(f"/escalations/{ended['escalation_id']}")
    expect(page.get_by_role("article")).to_contain_text("not used yet")
    found += findings("decided", page, axe)
    assert found == []
    assert one(server, first["id"])["state"] == "pending"


def test_on_a_phone_nothing_is_wider_than_the_screen(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    ask(sqlite_server, "terraform apply " + "-var=something_rather_long=1 " * 20 + "x" * 400, cwd="/srv/" + "long" * 60)
    desk = open_desk(sqlite_server, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    card = desk.card("terraform")
    expect(card.get_by_role("button", name="Approve")).to_be_visible()
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= 390

    card.get_by_role("button", name="Approve").tap()
    retry_until(lambda: sqlite_server.get("/api/approvals?state=approved")["total"] == 1)
    expect(desk.cards).to_have_count(0)


def test_a_key_pressed_twice_approves_one(desk: Desk) -> None:
    """The next card has the focus by then, and nothing takes an approval back."""
    made = [ask(desk.server, f"rm -rf build{number}") for number in range(2)]
    expect(desk.cards.get_by_role("region", name="Command")).to_have_count(2)
    desk.page.keyboard.press("j")
    desk.page.evaluate(TWICE)

    expect(desk.cards).to_have_count(1)
    assert sorted(one(desk.server, each["id"])["state"] for each in made) == ["approved", "pending"]
