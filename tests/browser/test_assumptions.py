"""What agents decided alone: seen in the list, overturned in words, and the words reach the agent."""

import subprocess

from playwright.sync_api import expect

from tests.browser.desk import Desk, outcome

ASSUME = ("--kind", "assumption", "--role", "coach")


def assume(desk: Desk, text: str, chose: str, session: str = "agent-1") -> str:
    """A `gemba-ask` that records a decision; its id."""
    asker = desk.server.ask(*ASSUME, "--text", text, "--chose", chose, "--bead", "web-3", session=session)
    stdout, code = outcome(asker)
    assert code == 0
    return stdout.split()[0]


def test_a_decision_is_listed_live_and_counted_until_it_was_seen(desk: Desk) -> None:
    badge = desk.page.get_by_role("navigation").get_by_role("link", name="Assumptions")
    desk.go_to("Assumptions")
    expect(desk.page.get_by_label("Command that agents use")).to_contain_text("--kind assumption")
    desk.go_to("Inbox")
    assume(desk, "Which port?", "8080, as in the README")
    expect(badge).to_have_text("Assumptions1 new")

    desk.go_to("Assumptions")

    card = desk.page.get_by_role("article", name="Which port?")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=desk.server.workspace, text=True)
    for words in ("agent-1", "web-3", head[:7], "8080, as in the README"):
        expect(card).to_contain_text(words)
    expect(badge).to_have_text("Assumptions")
    assume(desk, "Which colour?", "blue")
    expect(desk.page.get_by_role("article")).to_have_count(2)
    expect(desk.page.get_by_role("article").first).to_contain_text("Which colour?")
    desk.go_to("Inbox")
    expect(badge).to_have_text("Assumptions")


def test_an_overturned_decision_reaches_its_agent_with_the_commits_made_since(desk: Desk) -> None:
    id_ = assume(desk, "Which port?", "8080")
    commit = ["git", "commit", "--quiet", "--allow-empty", "-m", "Listen on 8080"]
    subprocess.run(commit, cwd=desk.server.workspace, check=True)
    desk.go_to("Assumptions")
    card = desk.page.get_by_role("article", name="Which port?")
    card.get_by_role("button", name="Overturn").click()

    card.get_by_role("textbox", name="What to do instead").fill("9090, the other one is taken")
    card.get_by_role("button", name="Send").click()

    expect(card).to_contain_text("9090, the other one is taken")
    expect(card).to_contain_text("on its way")
    expect(card.get_by_role("button", name="Overturn")).to_have_count(0)
    stdout, code = outcome(desk.server.ask("--resume", id_, session="agent-1"))
    assert (stdout.splitlines()[0], code) == ("9090, the other one is taken", 0)
    expect(card).to_contain_text("delivered")
    desk.page.reload()
    expect(card).to_contain_text("delivered")


def test_half_typed_words_against_a_decision_are_kept(desk: Desk) -> None:
    assume(desk, "Which port?", "8080")
    desk.go_to("Assumptions")
    card = desk.page.get_by_role("article", name="Which port?")
    card.get_by_role("button", name="Overturn").click()
    card.get_by_role("textbox").fill("no, ")

    desk.page.reload()
    card.get_by_role("button", name="Overturn").click()

    expect(card.get_by_role("textbox")).to_have_value("no, ")


def test_an_overturning_that_came_second_shows_the_first_and_keeps_the_own_words(desk: Desk) -> None:
    id_ = assume(desk, "Which port?", "8080")
    desk.go_to("Assumptions")
    card = desk.page.get_by_role("article", name="Which port?")
    card.get_by_role("button", name="Overturn").click()
    desk.page.keyboard.type("no, 70")

    desk.server.post(f"/api/assumptions/{id_}/overturn", {"text": "9090"})
    expect(card).to_contain_text("9090")
    desk.page.keyboard.type("70")
    desk.page.keyboard.press("Enter")

    expect(card.get_by_role("alert")).to_contain_text("Not overturned.")
    expect(card.get_by_role("textbox")).to_have_value("no, 7070")
    assert desk.server.get("/api/assumptions")["assumptions"][0]["overturned"]["text"] == "9090"
