"""The operator starts agents on the page, sees what they show, types to them, stops them, and sees what they left."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from gemba.sessions.backends.backend import RunFolder
from gemba.sessions.backends.run_folder import stop_kept
from gemba.testing import retry_until
from tests.browser.desk import Desk
from tests.browser.test_accessibility import findings
from tests.browser.test_hostile_text import MARKUP
from tests.browser.test_phone import FINGER, PHONE, size, too_wide
from tests.fixtures.servers import RunningServer

AGENTS = """
[agent.listener]
description = "Repeats what it hears"
command = ["sh", "-c", 'trap "echo interrupted" INT; while read -r line || :; do echo "heard: $line"; done']
prompt = "none"
terminal = "pty"

[agent.screen]
command = ["cat"]
prompt = "none"
backend = "tmux"

[agent.worker]
command = ["sh"]
instructions = "CLAUDE.md"

[agent.absent]
command = ["no-such-program"]
"""
WORK = "run: git commit --quiet --allow-empty -m 'A step'\nrun: touch left.txt\nrun: printf 'alpha Beta\\nALPHA\\n'"


@pytest.fixture
def server(sqlite_server: RunningServer) -> Iterator[RunningServer]:
    """Whatever was started in it is gone before it is."""
    (sqlite_server.workspace / ".gemba/agents.toml").write_text(AGENTS)
    yield sqlite_server
    for folder in (sqlite_server.home / "runs").glob("*"):
        stop_kept(RunFolder(folder.name, folder), 0)
    socket = sqlite_server.home / "tmux/socket"
    if socket.exists():
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], capture_output=True)


@pytest.fixture
def desk(open_desk: Callable[..., Desk], server: RunningServer) -> Desk:
    """Without transitions: half-way between two colours no contrast is right."""
    return open_desk(server, reduced_motion="reduce")


def start(server: RunningServer, agent: str, task: str = "", until: str = "running", **more: Any) -> str:
    id: str = server.post("/api/sessions", {"agent": agent, "task": task, **more})["id"]
    retry_until(lambda: server.get(f"/api/sessions/{id}")["lifecycle"] == until, timeout=60)
    return id


def card(page: Page, words: str) -> Locator:
    return page.locator(".card[data-card-id]").filter(has_text=words)


def shown(page: Page) -> Locator:
    return page.get_by_role("region", name="What it shows").last


def test_an_agent_is_started_typed_to_interrupted_and_stopped(desk: Desk) -> None:
    page, keys = desk.page, desk.page.keyboard
    desk.go_to("Sessions")
    expect(page.get_by_role("heading", name="No agent was heard of yet")).to_be_visible()
    page.get_by_role("button", name="Start an agent…").click()
    form = page.get_by_role("form", name="Start an agent")
    expect(form.get_by_role("combobox", name="Agent")).to_be_focused()
    absent = form.locator("option[value=absent]")
    expect(absent).to_have_text("absent: no-such-program is not on PATH")
    expect(absent).to_be_disabled()

    # What the server refuses is said, and nothing that was chosen is lost.
    form.get_by_role("combobox", name="Agent").select_option("builtin")
    form.get_by_role("button", name="Start").click()
    expect(form.get_by_role("alert")).to_contain_text("the task is empty")
    form.get_by_role("combobox", name="Agent").select_option("listener")
    expect(form).to_contain_text("Repeats what it hears. Can be typed to; balanced mode.")
    form.get_by_role("combobox", name="Where").select_option("here")
    form.get_by_role("button", name="Start").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("listener-")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.locator(".session-head")).to_contain_text("Running")
    prompt = page.get_by_role("textbox", name="Prompt")
    prompt.fill(f"{MARKUP}\u202etxt")
    prompt.press("Enter")
    expect(prompt).to_have_value("")
    expect(shown(page)).to_contain_text("heard: <script>")
    expect(shown(page)).to_contain_text("⟨U+202E⟩txt")
    expect(page.get_by_role("article")).to_contain_text("Typed.")
    assert page.evaluate("window.owned") is None
    page.get_by_role("button", name="Interrupt").click()
    expect(shown(page)).to_contain_text("interrupted")

    page.get_by_role("button", name="Stop…").click()
    expect(page.get_by_role("button", name="Stop it")).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("button", name="Stop…")).to_be_focused()
    keys.press("Enter")
    expect(page.get_by_role("button", name="Stop it")).to_be_focused()
    keys.press("Enter")
    expect(page.locator(".session-head")).to_contain_text("Stopped")
    expect(page.get_by_role("article")).to_contain_text("Somebody stopped it")
    expect(page.get_by_role("article")).to_contain_text("It is over: nobody reads what is typed.")
    expect(prompt).to_have_count(0)

    keys.press("Escape")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")


def test_what_ended_says_how_what_it_printed_and_what_it_left(desk: Desk) -> None:
    id = start(desk.server, "builtin", WORK, "completed", id="worker")
    page = desk.page
    desk.open(f"/sessions/{id}")
    expect(page.get_by_role("article")).to_contain_text("It ended by itself, with code 0.")
    expect(page.get_by_role("article")).to_contain_text(f"gemba/{id}")
    expect(page.get_by_role("list", name="Not committed").get_by_role("listitem")).to_have_text("left.txt")
    expect(page.get_by_role("list", name="Not merged").get_by_role("listitem")).to_contain_text("A step")
    expect(page.get_by_text("1 file not committed · 1 commit that main does not have")).to_be_visible()

    box = page.get_by_role("searchbox", name="Search in what it shows")
    box.fill("alpha")
    marks = shown(page).locator("mark")
    count = marks.count()
    assert count >= 2
    found = page.get_by_role("search", name="In what it shows").get_by_role("status")
    expect(found).to_have_text(f"{count} of {count}")
    expect(marks.last).to_have_attribute("data-current", "true")
    box.press("Enter")
    expect(found).to_have_text(f"{count - 1} of {count}")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    expect(found).to_have_text(f"1 of {count}")
    box.fill("nowhere to be found")
    expect(found).to_have_text("not found")


def test_a_worktree_is_released_by_one_who_sees_what_is_only_there(desk: Desk) -> None:
    server, page = desk.server, desk.page
    id = start(server, "builtin", WORK, "completed", id="worker")
    server.append("GembaUsage", {"input_tokens": 12_345, "output_tokens": 678}, id)
    desk.go_to("Sessions")
    where = "gemba/worker · .gemba/worktrees/worker · 1 file not committed, 1 commit not merged"
    expect(card(page, id)).to_contain_text(where)
    expect(card(page, id)).to_contain_text("began just now, heard of just now")
    expect(card(page, id)).to_contain_text("Used: 12.3K tokens in, 678 out, cost \u2013")
    card(page, id).get_by_role("link", name=id, exact=True).click()

    opens = page.get_by_role("button", name="Release…")
    opens.click()
    yes = page.get_by_role("button", name="Release it")
    expect(yes).to_be_focused()
    expect(page.locator(".stop-bar")).to_contain_text("1 commit not merged: kept on gemba/worker.")
    page.keyboard.press("Escape")
    expect(opens).to_be_focused()
    # What came meanwhile was not shown, so it is, and nothing goes.
    (server.workspace / ".gemba/worktrees" / id / "later.txt").touch()
    page.keyboard.press("Enter")
    yes.click()
    expect(page.get_by_role("alert")).to_contain_text("Not released. it is not as it was shown")
    expect(page.get_by_role("list", name="Not committed").get_by_role("listitem")).to_have_text(
        ["later.txt", "left.txt"]
    )
    expect(page.locator(".stop-bar")).to_contain_text("2 files not committed")
    yes.click()

    expect(page.get_by_role("article")).to_contain_text("kept as refs/gemba/released/worker")
    expect(page.get_by_role("heading", name="Worktree")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert not (server.workspace / ".gemba/worktrees" / id).exists()
    desk.go_to("Sessions")
    expect(card(page, id)).to_contain_text("gemba/worker · worktree released")


def test_what_waits_leads_to_what_was_asked_and_what_was_typed_is_listed(desk: Desk) -> None:
    server, page = desk.server, desk.page
    id = start(server, "listener", id="listens", worktree=False)
    asked = {"kind": "blocker", "role": "manager", "text": "Which port?", "mode": "balanced"}
    server.append("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": "make"}}, id)
    server.append("GembaAsk", asked, id)
    desk.go_to("Sessions")
    expect(card(page, id)).to_contain_text("listens")
    expect(card(page, id)).not_to_contain_text("Used:")

    card(page, id).get_by_role("link", name="needs you: 2 asks wait of listens").click()

    heading = page.get_by_role("heading", name="Asked and decided")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    assert "show=" not in page.url
    prompt = page.get_by_role("textbox", name="Prompt")
    prompt.fill(f"never read {MARKUP}")
    prompt.press("Enter")
    typed = page.get_by_role("list", name="Typed to it").get_by_role("listitem")
    expect(typed).to_contain_text("Is typed as soon as no dialog of its client is open.")
    server.post(f"/api/sessions/{id}/stop", {})
    expect(typed.first).to_contain_text("never read <script>")
    expect(typed.first).to_contain_text("Not typed. the session was over before it could be typed")
    expect(prompt).to_have_count(0)
    page.keyboard.press("Escape")
    expect(card(page, id)).to_be_focused()


def test_what_lives_is_looked_at_again_and_what_is_over_is_not(desk: Desk) -> None:
    start(desk.server, "builtin", WORK, "completed", id="over")
    start(desk.server, "listener", id="lives", worktree=False)
    retry_until(lambda: desk.server.get("/api/sessions/over")["run"]["ended_at"])
    desk.page.clock.install()

    def read_again(id: str) -> int:
        desk.open(f"/sessions/{id}")
        expect(desk.page.get_by_text("Asked and decided")).to_be_visible()
        expect(desk.page.get_by_text("It has asked nothing")).to_be_visible()
        expect(shown(desk.page)).not_to_be_empty()
        before = len(desk.api_requests(f"/api/sessions/{id}/transcript"))
        for _ in range(3):
            desk.page.clock.run_for(2_100)
            desk.page.evaluate(
                "fetch('/api/health').then(answer => answer.text())"
            )  # what is asked meanwhile is answered
        return len(desk.api_requests(f"/api/sessions/{id}/transcript")) - before

    assert read_again("lives") >= 2
    assert read_again("over") == 0


def test_the_list_is_live_and_is_walked_by_keys(desk: Desk) -> None:
    server, page = desk.server, desk.page
    start(server, "worker", "exit 3", "failed", id="broken", title="Break it")
    desk.go_to("Sessions")
    expect(card(page, "broken")).to_contain_text("Failed")
    expect(card(page, "broken")).to_contain_text("Break it")

    start(server, "listener", id="listens", title="Listen well")
    server.append("GembaState", {"state": "prompting"}, "listens")
    server.append("GembaState", {"state": "working", "note": "painting the door"}, "outside")

    expect(card(page, "listens")).to_contain_text("Running")
    expect(card(page, "listens")).to_contain_text("needs you")
    expect(card(page, "listens")).to_contain_text("gemba/listens")
    expect(card(page, "outside")).to_contain_text("painting the door")
    cards = page.locator(".card[data-card-id]")
    assert [one.get_attribute("data-card-id") for one in cards.all()] == ["listens", "outside", "broken"]
    page.keyboard.press("j")
    expect(card(page, "listens")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("listens")
    page.keyboard.press("Escape")
    expect(card(page, "listens")).to_be_focused()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_the_command_that_attaches_to_a_terminal_is_copied(
    open_desk: Callable[..., Desk], server: RunningServer
) -> None:
    id = start(server, "screen", worktree=False)
    desk = open_desk(server, permissions=["clipboard-read", "clipboard-write"])
    desk.open(f"/sessions/{id}")
    told = server.get(f"/api/sessions/{id}/transcript?lines=1")["attach"]
    assert told.startswith("tmux "), told

    expect(desk.page.locator(".attach code")).to_have_text(told)
    desk.page.get_by_role("button", name="Copy the command").click()

    expect(desk.page.get_by_role("button", name="Copied")).to_be_visible()
    assert desk.page.evaluate("navigator.clipboard.readText()") == told
    server.post(f"/api/sessions/{id}/stop", {})
    expect(desk.page.locator(".attach")).to_have_count(0)


def test_axe_has_nothing_against_the_list_the_form_and_a_session(desk: Desk, axe: Callable[[Page], list[str]]) -> None:
    page = desk.page
    start(desk.server, "builtin", WORK, "completed", id="worker")
    start(desk.server, "listener", id="listens", title="Listen well")
    start(desk.server, "worker", "exit 3", "failed", id="broken")
    desk.server.append("GembaState", {"state": "prompting"}, "listens")
    desk.server.append("GembaAsk", {"kind": "question", "role": "manager", "text": "?", "mode": "balanced"}, "listens")
    desk.server.post("/api/sessions/listens/send", {"text": "go on"})
    desk.go_to("Sessions")
    expect(card(page, "listens")).to_contain_text("needs you: 1 ask waits")
    expect(card(page, "gemba/worker")).to_contain_text("1 file not committed")
    page.get_by_role("button", name="Start an agent…").click()
    expect(page.get_by_role("form")).to_contain_text("balanced mode")
    found = findings("sessions and the form", page, axe)

    desk.open("/sessions/listens")
    page.get_by_role("button", name="Stop…").click()
    expect(page.get_by_role("button", name="Stop it")).to_be_visible()
    expect(page.get_by_role("list", name="Typed to it")).to_be_visible()
    found += findings("a living session", page, axe)
    desk.open("/sessions/worker")
    page.get_by_role("searchbox", name="Search in what it shows").fill("alpha")
    expect(shown(page).locator("mark").first).to_be_visible()
    expect(page.get_by_role("list", name="Not merged")).to_be_visible()
    page.get_by_role("button", name="Release…").click()
    expect(page.get_by_role("button", name="Release it")).to_be_visible()
    found += findings("one that is over", page, axe)

    assert found == []


def test_sessions_fit_a_phone_and_a_finger(open_desk: Callable[..., Desk], server: RunningServer) -> None:
    long = "a-name-that-does-not-want-to-break-" * 3
    start(server, "listener", id=long, title=long * 2)
    phone = open_desk(server, **PHONE)
    page = phone.page
    phone.go_to("Sessions")
    expect(card(page, "Running")).to_be_visible()
    page.get_by_role("button", name="Start an agent…").tap()
    expect(page.get_by_role("form")).to_contain_text("balanced mode")
    assert too_wide(phone) == []

    card(page, "Running").get_by_role("link").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text(long)
    expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
    page.get_by_role("button", name="Stop…").tap()
    expect(page.get_by_role("button", name="Stop it")).to_be_visible()
    assert too_wide(phone) == []
    pressed = [page.get_by_role("button", name=name) for name in ("Interrupt", "Stop it", "Let it run", "Next")]
    assert [str(one) for one in pressed if min(size(one)) < FINGER] == []


def test_a_type_with_a_fault_is_told_with_it_and_another_can_be_started(desk: Desk) -> None:
    Path(desk.server.workspace / ".gemba/agents.toml").write_text("[agent.mine]\ncolour = 1\n")
    desk.go_to("Sessions")

    desk.page.get_by_role("button", name="Start an agent…").click()

    fault = desk.page.locator("option[value=mine]")
    expect(fault).to_contain_text("colour")
    expect(fault).to_be_disabled()
    expect(desk.page.get_by_role("button", name="Start", exact=True)).to_be_enabled()


def test_a_workspace_without_readable_types_says_so(desk: Desk) -> None:
    file = Path(desk.server.workspace / ".gemba/agents.toml")
    file.unlink(missing_ok=True)
    file.mkdir()
    desk.go_to("Sessions")

    desk.page.get_by_role("button", name="Start an agent…").click()

    expect(desk.page.get_by_role("alert")).to_contain_text("Is a directory")
    expect(desk.page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
