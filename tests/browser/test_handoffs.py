"""The page shows what agents hand over: what they say, what was claimed and found, and what came of it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.browser.test_hostile_text import BIDI, MARKUP
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.fixtures.envelopes import block, good
from tests.fixtures.servers import RunningServer

SECTIONS = '[section.api]\npaths = ["src/**"]\nwriters = ["architect"]\n'
SESSION = "session-7"
GOAL = "Make the login page fast"


@pytest.fixture
def server(start_server: Callable[..., RunningServer]) -> RunningServer:
    """A server of a workspace with one section of project knowledge."""
    server = start_server(running=False)
    (server.workspace / ".gemba").mkdir(exist_ok=True)
    (server.workspace / ".gemba/context.toml").write_text(SECTIONS)
    server.start()
    return server


@pytest.fixture
def desk(open_desk: Callable[..., Desk], server: RunningServer) -> Desk:
    """Without transitions: half-way between two colours no contrast is right."""
    return open_desk(server, reduced_motion="reduce")


def give(server: RunningServer, goal: str = GOAL, **more: Any) -> dict[str, Any]:
    """A dispatch, as the runtime makes one."""
    wanted = {"goal": goal, "session_id": SESSION, "role": "architect", "targets": ["src/a.py"], **more}
    made: dict[str, Any] = server.post("/api/dispatches", wanted)
    return made


def hand_over(server: RunningServer, dispatch: dict[str, Any], status: str, **more: Any) -> dict[str, Any]:
    """An envelope of its agent, and what became of it when nothing is checked any more."""
    document = good(status, **more)
    document["agent_status"]["agent_id"] = dispatch["agent_id"]
    handoff = server.post("/api/handoffs", {"envelope": document, "dispatch_id": dispatch["id"]})
    return concluded(server, handoff["id"])


def concluded(server: RunningServer, id: str) -> dict[str, Any]:
    def ask() -> dict[str, Any] | None:
        handoff: dict[str, Any] = server.get(f"/api/handoffs/{id}")
        return None if handoff["state"] == "checking" else handoff

    handoff = retry_until(ask, timeout=20)
    assert handoff is not None
    return handoff


def needs_input(server: RunningServer, dispatch: dict[str, Any], words: str = "Port 80 or 8080?") -> dict[str, Any]:
    said = {"plan_status": "NEEDS_INPUT", "agent_id": "", "pending_steps": [], "next_action": words}
    return hand_over(server, dispatch, "NEEDS_INPUT", agent_status=said)


def claims_a_file(server: RunningServer, dispatch: dict[str, Any], path: str) -> dict[str, Any]:
    """COMPLETE, with a file that is said to be there."""
    done = good()["evidence_report"]
    done["verification"] |= {"files_produced": [path], "artifacts_written": [path]}
    return hand_over(server, dispatch, "COMPLETE", evidence_report=done, user_facing_summary="It is fast now.")


def card(desk: Desk, words: str) -> Locator:
    return desk.page.locator(".card").filter(has_text=words)


def fill(server: RunningServer) -> dict[str, dict[str, Any]]:
    """A handoff of every outcome, by its name."""
    asking, lying, ending = give(server), give(server, gate={"files_produced": "require"}), give(server, "Ship it")
    (server.workspace / "there.txt").write_text("there\n")
    refused = server.post("/api/handoffs", {"text": "I am done, believe me.", "dispatch_id": ending["id"]})
    brings = {
        "update_contracts": [{"contract": "api", "payload": {"port": 8080}}, {"contract": "other", "payload": {}}],
        "memory_suggestions": ["The tests need a database."],
    }
    accepted = hand_over(server, ending, "IN_PROGRESS", **brings)
    return {
        "refused": refused,
        "accepted": accepted,
        "world": claims_a_file(server, lying, "never/written.txt"),
        "asks": needs_input(server, asking),
        "complete": claims_a_file(server, give(server, "Write a file"), "there.txt"),
    }


def test_what_was_handed_over_is_listed_newest_first_by_what_became_of_it(desk: Desk) -> None:
    made = fill(desk.server)
    assert [made[name]["state"] for name in ("refused", "accepted", "world", "asks", "complete")] == [
        *("refused", "accepted", "refused", "accepted", "accepted")
    ]
    desk.go_to("Handoffs")

    ids = desk.page.locator(".card[data-card-id]")
    expect(ids).to_have_count(5)
    shown = [one.get_attribute("data-card-id") for one in ids.all()]
    assert shown == [made[name]["id"] for name in ("complete", "asks", "world", "accepted", "refused")]
    expect(card(desk, "Port 80 or 8080?")).to_contain_text("AcceptedNeeds inputsession-7turn 1")
    expect(card(desk, "Port 80 or 8080?")).to_contain_text(GOAL)
    expect(card(desk, "What it claims was not found")).to_contain_text("claimed never/written.txt; found")
    expect(card(desk, "without an envelope")).to_contain_text("AGENT_STATUS")

    tabs = desk.page.get_by_role("navigation", name="Which handoffs")
    tabs.get_by_role("link", name="Refused").click()
    expect(ids).to_have_count(2)
    assert desk.page.url.endswith("/handoffs?state=refused")
    desk.page.reload()
    expect(ids).to_have_count(2)
    expect(tabs.get_by_role("link", name="Refused")).to_have_attribute("aria-current", "true")
    tabs.get_by_role("link", name="Checking").click()
    expect(desk.page.get_by_role("heading", name="Nothing is being checked")).to_be_visible()
    desk.page.go_back()
    expect(ids).to_have_count(2)


def test_a_refusal_by_the_verdict_shows_which_rule_where_and_what_its_agent_was_told(desk: Desk) -> None:
    dispatch = give(desk.server)
    made = hand_over(desk.server, dispatch, "COMPLETE", evidence_report={"verification": {"result": "maybe"}})
    desk.open(f"/handoffs/{made['id']}")

    first = desk.page.get_by_role("listitem").filter(has_text="VERIFICATION_RESULT_MUST_BE_PASS")
    expect(first).to_contain_text("/evidence_report/verification/result")
    found = next(one for one in made["verdict"]["findings"] if one["code"] == "VERIFICATION_RESULT_MUST_BE_PASS")
    for words in (found["message"], found["hint"]):
        expect(first).to_contain_text(words.replace("`", ""))
    expect(desk.page.get_by_role("region", name="What its agent was told").last).to_have_text(made["told"])
    desk.unfold("The envelope as it came")
    expect(desk.page.get_by_role("region", name="The envelope as it came")).to_contain_text('"result": "maybe"')


def test_a_refusal_by_the_world_shows_what_was_claimed_and_found(desk: Desk) -> None:
    dispatch = give(desk.server, gate={"files_produced": "require"})
    made = claims_a_file(desk.server, dispatch, "never/written.txt")
    assert (made["state"], made["refused_by"]) == ("refused", "world")
    desk.open(f"/handoffs/{made['id']}")

    expect(desk.page.get_by_role("heading", name="It is fast now.")).to_be_visible()
    failed = next(one for one in made["checks"] if one["name"] == "files_produced")
    row = desk.page.get_by_role("row", name="files produced").first
    cells = [one.inner_text() for one in row.get_by_role("cell").all()]
    assert [cells[0], cells[1].split("\n")[0], cells[2]] == [failed["claimed"], failed["found"], "Failed"]
    assert row.get_by_role("rowheader").inner_text() == "files produced\nrequired"
    others = {one["verdict"] for one in made["checks"]} - {"failed"}
    words = {"ok": "OK", "unknown": "Unknown"}
    for verdict in others:
        expect(desk.page.get_by_role("cell", name=words[verdict], exact=True).first).to_be_visible()
    expect(desk.page.get_by_role("article")).to_contain_text("What it claims was not found. Nothing was changed by it.")


def test_an_accepted_one_shows_what_it_brought_and_what_it_asked(desk: Desk) -> None:
    made = fill(desk.server)
    desk.open(f"/handoffs/{made['accepted']['id']}")
    expect(desk.row("api has revision 1")).to_be_visible()
    expect(desk.row("1 thing to remember")).to_be_visible()
    expect(desk.page.get_by_role("listitem").filter(has_text="UPDATE_CONTRACTS_NOT_WRITABLE")).to_be_visible()
    desk.page.get_by_role("link", name="api", exact=True).click()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Context")
    desk.page.go_back()
    desk.page.get_by_role("link", name="1 thing to remember").click()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Memory")

    desk.open(f"/handoffs/{made['asks']['id']}")
    desk.page.get_by_role("link", name="An agent needs your input").click()
    expect(desk.card("Port 80 or 8080?")).to_be_visible()
    desk.card("Port 80 or 8080?").get_by_role("link", name="Its handoff").click()
    expect(card(desk, "Port 80 or 8080?")).to_be_visible()


def test_a_dispatch_shows_what_is_wanted_and_its_handoffs_in_order(desk: Desk) -> None:
    criteria = ["It loads in a second", "No test is skipped"]
    dispatch = give(desk.server, acceptance_criteria=criteria, task_id="t-9", gate={"unpushed": "require"})
    first = desk.server.post("/api/handoffs", {"text": "no block", "dispatch_id": dispatch["id"]})
    second = needs_input(desk.server, dispatch)
    desk.go_to("Dispatches")
    expect(card(desk, GOAL)).to_contain_text("Needs inputsession-7t-9")

    card(desk, GOAL).get_by_role("link", name=GOAL).click()

    whole = desk.page.get_by_role("article", name=GOAL)
    for words in (*criteria, "Needs input", dispatch["agent_id"], "requires unpushed"):
        expect(whole).to_contain_text(words)
    handed = desk.page.locator(".card[data-card-id]")
    expect(handed).to_have_count(2)
    assert [one.get_attribute("data-card-id") for one in handed.all()] == [first["id"], second["id"]]
    desk.unfold("The envelope that its agent got")
    expect(desk.page.get_by_role("region", name="The envelope that its agent got")).to_contain_text("writable_sections")

    desk.server.post(f"/api/dispatches/{dispatch['id']}/turn", {})
    expect(whole).to_contain_text("In progress")


def test_what_comes_in_is_seen_at_once(desk: Desk) -> None:
    desk.go_to("Handoffs")
    expect(desk.page.get_by_role("heading", name="No agent has handed anything over")).to_be_visible()
    dispatch = give(desk.server)
    made = needs_input(desk.server, dispatch)
    expect(card(desk, "Port 80 or 8080?")).to_contain_text(GOAL)

    desk.open(f"/sessions/{SESSION}")
    expect(desk.row("Port 80 or 8080?").filter(has_text="Accepted")).to_be_visible()
    desk.server.post(f"/api/escalations/{made['escalation_id']}/respond", {"text": "80"})
    desk.open(f"/dispatches/{dispatch['id']}")
    expect(desk.page.get_by_role("article", name=GOAL)).to_contain_text("In progress")


def test_by_keys_alone(desk: Desk) -> None:
    made = fill(desk.server)
    desk.page.keyboard.press("g")
    desk.page.keyboard.press("f")
    expect(desk.page.get_by_role("heading", name="Handoffs")).to_be_focused()
    expect(card(desk, "Port 80")).to_be_visible()
    for _ in range(2):
        desk.page.keyboard.press("j")
    expect(card(desk, "Port 80")).to_be_focused()

    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_role("heading", name="Handoff", exact=True)).to_be_focused()
    assert desk.page.url.endswith(f"/handoffs/{made['asks']['id']}")
    desk.page.keyboard.press("Escape")
    expect(card(desk, "Port 80")).to_be_focused()
    desk.page.keyboard.press("k")
    expect(card(desk, "It is fast now.").first).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(desk.focused).to_have_count(0)

    desk.page.keyboard.press("g")
    desk.page.keyboard.press("w")
    expect(desk.page.get_by_role("heading", name="Dispatches")).to_be_focused()
    expect(card(desk, "Write a file")).to_be_visible()
    desk.page.keyboard.press("j")
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_role("heading", name="Dispatch", exact=True)).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(card(desk, "Write a file")).to_be_focused()

    # Opened by its address there is nothing of ours to go back to.
    desk.open(f"/handoffs/{made['asks']['id']}")
    expect(card(desk, "Port 80")).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(desk.page.get_by_role("heading", name="Handoffs")).to_be_focused()


def hostile(server: RunningServer) -> list[dict[str, Any]]:
    """Markup and marks that reorder, in every field that an agent or a caller fills."""
    words = f"{MARKUP} {BIDI}"
    dispatch = give(
        server,
        words,
        acceptance_criteria=[words],
        scope=[words],
        session_id="<b>&session",
        role="architect",
        task_id=MARKUP[:80],
        gate={"files_produced": "require"},
    )
    outside = {"session_id": MARKUP[:80], "agent_id": BIDI}
    broken = {"agent_status": {"plan_status": MARKUP, "agent_id": MARKUP, "pending_steps": MARKUP}, MARKUP: 1}
    done = good()["evidence_report"] | {"key_outputs": [words], "commands_run": [{"command": words, "result": words}]}
    done["verification"] |= {"files_produced": [words], "artifacts_written": [words], "verification_method": words}
    brings = {
        "memorialize_suggestions": [{"description": words, "body": words, "slug": words}],
        "update_contracts": [{"contract": MARKUP, "payload": {MARKUP: words}}],
        "user_facing_summary": words,
    }
    return [
        server.post("/api/handoffs", {"envelope": broken, **outside}),
        server.post("/api/handoffs", {"text": block([broken], MARKUP), **outside}),
        hand_over(server, dispatch, "COMPLETE", evidence_report=done, **brings),
        needs_input(server, dispatch, words),
    ]


def test_whatever_stands_in_a_handoff_is_text(desk: Desk) -> None:
    made = hostile(desk.server)
    assert {one["state"] for one in made} == {"accepted", "refused"}
    named = "⟨U+202E⟩gnp.exe"
    desk.go_to("Handoffs")
    expect(card(desk, "<script>").first).to_contain_text(named)
    for one in made:
        desk.open(f"/handoffs/{one['id']}")
        expect(desk.page.locator(".card.handoff")).to_be_visible()
        if one["document"] is not None:
            desk.unfold("The envelope as it came")
            expect(desk.page.locator(".raw-text")).to_contain_text("<script>window.owned = 1</script>")
        expect(desk.page.locator("main")).not_to_contain_text("\u202e")
    desk.page.get_by_role("link", name="<script>").first.click()
    expect(desk.page.get_by_role("article", name="<script>").first).to_contain_text(named)
    desk.page.get_by_role("link", name="<b>&session").first.click()
    expect(desk.row("<script>").first).to_be_visible()

    assert desk.page.evaluate("window.owned") is None
    assert desk.page.locator("main :is(script, iframe, img, style, base)").count() == 0
    assert desk.console_errors == []
    desk.page.goto(f"{desk.server.url}/handoffs?state=<script>&session=%ff")
    expect(desk.page.get_by_role("heading", name="Handoffs")).to_be_visible()


def test_addresses_of_what_is_not_there_say_so(desk: Desk) -> None:
    for screen, words in (("Handoffs", "No handoff has this id"), ("Dispatches", "No dispatch has this id")):
        desk.open(f"/{screen.lower()}/nothing")
        expect(desk.page.get_by_role("heading", name=words)).to_be_visible()
        desk.page.get_by_role("link", name=f"To the {screen.lower()}").click()
        expect(desk.page.get_by_role("heading", name=screen, level=1)).to_be_visible()


def pages_of(made: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Every screen of these, and what is there when it has been read."""
    some = [("/handoffs", ".card"), ("/dispatches", ".card"), (f"/sessions/{SESSION}", ".row")]
    of_one = [(f"/handoffs/{one['id']}", ".card.handoff") for one in made.values()]
    return [*some, *of_one, (f"/dispatches/{made['world']['dispatch_id']}", ".card[data-card-id]")]


def test_axe_finds_nothing_serious(desk: Desk, axe: Callable[[Page], list[str]]) -> None:
    made = fill(desk.server)
    found = []
    for path, there in pages_of(made):
        desk.open(path)
        expect(desk.page.locator(there).first).to_be_visible()
        for one in desk.page.locator("details.raw summary").all():
            one.click()
        found += findings(path, desk.page, axe)

    assert found == []


def test_everything_fits_a_phone_and_is_large_enough_for_a_finger(
    open_desk: Callable[..., Desk], server: RunningServer
) -> None:
    made = fill(server)
    long = "a/very/long/path/that/does/not/want/to/break/" * 6
    made["long"] = claims_a_file(server, give(server, long, session_id="s" * 120), long)
    phone = open_desk(server, **PHONE)
    for path, there in pages_of(made):
        phone.open(path)
        expect(phone.page.locator(there).first).to_be_visible()
        for one in phone.page.locator("details.raw summary").all():
            one.tap()
        assert too_wide(phone) == [], path
    phone.go_to("Handoffs")
    navigation = phone.page.get_by_role("navigation", name="Screens")
    tabs = phone.page.get_by_role("navigation", name="Which handoffs").get_by_role("link").all()
    bar = [*navigation.get_by_role("link").all(), navigation.get_by_role("button", name="More")]
    assert {str(one): size(one) for one in [*tabs, *bar] if min(size(one)) < FINGER} == {}

    navigation.get_by_role("button", name="More").tap()
    expect(navigation.get_by_role("link", name="Dispatches")).to_be_visible()
    behind = navigation.get_by_role("link").all()
    assert {str(one): size(one) for one in behind if min(size(one)) < FINGER} == {}
    phone.page.keyboard.press("Escape")
    expect(navigation.get_by_role("link", name="Dispatches")).to_be_hidden()
    expect(phone.page.get_by_role("heading", name="Handoffs")).to_be_visible()
