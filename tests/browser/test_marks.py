"""What a card says of itself: moved code, its policy's clock, a proposal, an undelivered reply, an answer too late."""

import subprocess
from collections.abc import Callable

from playwright.sync_api import expect

from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer

POLICIES = """
[[policy]]
name = "quick"
urgency = "blocking"
kinds = ["question"]
expire_after = "1s"

[[policy]]
name = "two-people"
kinds = ["blocker"]
remind_after = "1s"
notify = ["page"]
expire_after = "8h"
verify = { person = true }
"""


def put(server: RunningServer, text: str, session: str = "agent-1", **payload: object) -> str:
    document = {"kind": "question", "role": "manager", "mode": "balanced", "text": text, **payload}
    return server.append("GembaAsk", document, session)


def with_policies(start_server: Callable[..., RunningServer]) -> RunningServer:
    server = start_server(running=False)
    (server.workspace / ".gemba/workspace.toml").write_text(POLICIES)
    server.start()
    return server


def test_how_much_code_moved_is_told_when_the_card_is_opened(
    open_desk: Callable[..., Desk], sqlite_server: RunningServer
) -> None:
    workspace = sqlite_server.workspace
    git = ["git", "-C", str(workspace)]
    commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    (workspace / "new.txt").write_text("one\ntwo\n")
    subprocess.run([*git, "add", "new.txt"], check=True)
    subprocess.run([*git, "commit", "-qm", "more"], check=True)
    for text, folder, branch in (("May I drop it?", workspace, "main"), ("From where?", workspace / "gone", "side")):
        put(sqlite_server, text, cwd=str(folder), worktree=str(folder), commit=commit, branch=branch)
    retry_until(lambda: sqlite_server.get("/api/escalations")["total"] == 2)
    desk = open_desk(sqlite_server)

    card = desk.card("May I drop")
    expect(card).to_contain_text("The code moved since, on main")
    desk.page.keyboard.press("j")

    expect(card).to_contain_text("The code moved since: 1 file, +2 \u22120 on main")
    expect(desk.card("From where?")).to_contain_text("The worktree that it asked from is gone")


def test_two_people_agree_before_an_answer_is_given(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer]
) -> None:
    server = with_policies(start_server)
    maria, paul = open_desk(server, operator="maria"), open_desk(server, operator="paul")
    asker = ask(server, "May I drop the table?", kind="blocker")
    hers, his = maria.card("May I drop"), paul.card("May I drop")
    expect(hers).to_contain_text("Policy two-people")
    expect(hers).to_contain_text("expires in 7 h 59 min")

    maria.reply_box("May I drop").fill("yes")
    maria.reply_box("May I drop").press("Enter")
    expect(hers).to_contain_text("You proposed it: somebody else must confirm.")
    expect(hers.get_by_role("button", name="Confirm")).to_be_disabled()
    expect(hers.get_by_role("textbox", name="Reply")).to_have_count(0)

    his.get_by_role("button", name="Refuse…").click()
    his.get_by_role("textbox", name="Why it must not be given").fill("not without a backup")
    his.get_by_role("textbox", name="Why it must not be given").press("Enter")
    expect(hers).to_contain_text("Not given by maria")
    expect(hers).to_contain_text("paul: not without a backup")
    maria.reply_box("May I drop").fill("yes, after a backup")
    maria.reply_box("May I drop").press("Enter")
    expect(his).to_contain_text("Proposed by maria")
    his.focus()
    paul.page.keyboard.press("c")

    assert outcome(asker) == ("yes, after a backup\n", 0)
    expect(his).to_have_count(0)


def test_a_card_that_nobody_looks_at_is_reminded_of(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer]
) -> None:
    server = with_policies(start_server)
    put(server, "May I drop the table?", kind="blocker")
    retry_until(lambda: [one["reminders"] for one in server.get("/api/escalations")["escalations"]] == [1])

    desk = open_desk(server)

    expect(desk.card("May I drop")).to_contain_text("reminded 1\u00d7")


def test_an_answer_after_the_time_ran_out_is_the_next_turn(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer]
) -> None:
    server = with_policies(start_server)
    desk = open_desk(server)
    asker = server.ask(
        *("--kind", "question", "--role", "manager", "--text", "Which port?", "--wait"),
        session="agent-1",
        GEMBA_INTERACTION_MODE="cautious",
    )
    card = desk.card("Which port?")
    expect(card).to_contain_text("Its time ran out; your answer becomes the agent\u2019s next turn.")
    assert outcome(asker)[1] == 11
    expect(card).to_contain_text("Expired")

    desk.reply_box("Which port?").fill("8080")
    desk.reply_box("Which port?").press("Enter")

    expect(card).to_have_count(0)
    desk.unfold("Recently resolved")
    expect(desk.row("Which port?")).to_contain_text("Answered late")
    retry_until(lambda: list((server.home / "turns").glob("agent-1/*.json")) != [])
    told = server.ask("--next", session="agent-1")
    printed, _ = told.communicate()
    assert "8080" in printed
    expect(desk.row("Which port?")).to_contain_text("delivered")


def test_what_expired_unseen_is_answered_from_its_own_page(
    open_desk: Callable[..., Desk], start_server: Callable[..., RunningServer]
) -> None:
    server = with_policies(start_server)
    put(server, "Which port?", mode="cautious")
    retry_until(lambda: server.get("/api/escalations?state=expired")["total"] == 1)
    desk = open_desk(server)
    desk.unfold("Time ran out")

    desk.row("Which port?").get_by_role("link", name="Answer late…").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Question")
    desk.reply_box("Which port?").fill("8080")
    desk.reply_box("Which port?").press("Enter")
    expect(desk.card("Which port?")).to_contain_text("Answered late")
    expect(desk.card("Which port?")).to_contain_text("8080")


def test_a_reply_that_did_not_arrive_is_sent_another_way(desk: Desk) -> None:
    server = desk.server
    ids = [put(server, f"Which {thing}?", "gone") for thing in ("port", "host", "path")]
    server.append("GembaState", {"state": "working"}, "helper-2")
    expect(desk.cards).to_have_count(3)
    for id_ in ids:
        server.post(f"/api/escalations/{id_}/respond", {"text": "as before"})
    server.append("SessionEnd", {"reason": "exit"}, "gone")
    region = desk.page.get_by_role("region", name="Not delivered")
    desk.page.reload()
    expect(region.locator(".row")).to_have_count(3)
    expect(desk.row("Which port?")).to_contain_text("the session ended before the reply was read")

    desk.row("Which port?").get_by_role("button", name="I told it myself").click()
    expect(region.locator(".row")).to_have_count(2)
    desk.row("Which host?").get_by_role("button", name="To another session…").click()
    desk.row("Which host?").get_by_role("combobox", name="Next turn of").select_option("helper-2")
    desk.row("Which host?").get_by_role("button", name="Send").click()
    expect(region.locator(".row")).to_have_count(1)
    desk.row("Which path?").get_by_role("button", name="Try again").click()
    expect(region).to_have_count(0)

    read = server.ask("--next", session="helper-2")
    printed, _ = read.communicate()
    assert "as before" in printed
    where = {server.get(f"/api/escalations/{id_}")["delivery_note"] for id_ in ids[:1]}
    assert where == {"told by hand"}
    retry_until(lambda: server.get(f"/api/escalations/{ids[1]}")["delivery"] == "delivered")
