"""From a waiting `gemba-ask` to a card, and from the operator's answer back to the process: live, without a reload."""

import json
import subprocess
import time
from collections.abc import Callable

from playwright.sync_api import Route, expect

from gemba import wire
from gemba.testing import retry_until
from tests.browser.desk import Desk, ask, outcome
from tests.fixtures.servers import RunningServer

PERMISSION = {"tool_name": "Bash", "tool_input": {"command": "dropdb staging"}}


def test_a_card_stops_saying_that_its_asker_waits_when_that_ones_time_is_over(
    open_desk: Callable[..., Desk], server: RunningServer
) -> None:
    desk = open_desk(server)
    until = wire.timestamp(time.time_ns() + 4_000_000_000)
    asked = {"kind": "question", "role": "manager", "mode": "balanced", "wait": True, "wait_until": until}
    server.append("GembaAsk", {**asked, "text": "Which port?"})

    expect(desk.card("Which port?")).to_contain_text("said to wait")
    expect(desk.card("Which port?")).not_to_contain_text("said to wait")
    desk.page.reload()
    expect(desk.card("Which port?")).to_contain_text("Question")
    expect(desk.card("Which port?")).not_to_contain_text("said to wait")


def test_a_waiting_ask_appears_and_prints_the_words_typed_into_its_card(
    open_desk: Callable[..., Desk], server: RunningServer
) -> None:
    desk = open_desk(server)
    expect(desk.page.get_by_role("heading", name="Nobody waits for you")).to_be_visible()

    asker = ask(server, "Which port does staging use?", "--title", "Port", "--bead", "web-7", kind="blocker")

    card = desk.card("Which port does staging use?")
    expect(card).to_contain_text("Blocker")
    expect(card).to_contain_text("agent-1")
    expect(card).to_contain_text("web-7")
    expect(card).to_contain_text("said to wait")
    expect(desk.page).to_have_title("(1) Inbox · workspace")
    desk.reply_box("Which port").fill("8080, as in\nproduction")
    desk.reply_box("Which port").press("Enter")
    assert outcome(asker) == ("8080, as in\nproduction\n", 0)
    expect(card).to_have_count(0)
    expect(desk.page).to_have_title("Inbox · workspace")
    desk.unfold("Recently resolved")
    expect(desk.row("Port")).to_contain_text("8080, as in production", use_inner_text=True)
    expect(desk.row("Port")).to_contain_text("delivered")


def test_a_number_key_answers_with_that_option(desk: Desk) -> None:
    asker = ask(desk.server, "Which colour?", "--option", "red", "--option", "green")
    expect(desk.card("Which colour?")).to_be_visible()

    desk.page.keyboard.press("j")
    desk.page.keyboard.press("2")

    assert outcome(asker) == ("green\n", 0)


def test_a_click_answers_with_that_option(desk: Desk) -> None:
    asker = ask(desk.server, "Which colour?", "--option", "red", "--option", "green")

    desk.card("Which colour?").get_by_role("button", name="red").click()

    assert outcome(asker) == ("red\n", 0)


def test_where_there_are_options_there_are_no_words_but_a_reason_to_decline(desk: Desk) -> None:
    asker = ask(desk.server, "Which colour?", "--option", "red", "--option", "green")
    card = desk.card("Which colour?")
    expect(card.get_by_role("button", name="red")).to_be_visible()
    expect(card.get_by_role("textbox")).to_have_count(0)

    card.get_by_role("button", name="None of these? Decline with a reason").click()
    card.get_by_role("textbox", name="Reason").fill("paint nothing")
    card.get_by_role("textbox", name="Reason").press("Enter")

    assert outcome(asker) == ("paint nothing\n", 12)


def test_a_dismissed_ask_is_told_declined_with_the_reason(desk: Desk) -> None:
    asker = ask(desk.server, "Shall I rename everything?")
    card = desk.card("Shall I rename everything?")
    card.get_by_role("button", name="Dismiss").click()

    card.get_by_role("textbox", name="Reason").fill("not this week")
    card.get_by_role("button", name="Dismiss").click()

    assert outcome(asker) == ("not this week\n", 12)
    desk.unfold("Recently resolved")
    expect(desk.row("Shall I rename everything?")).to_contain_text("Dismissed")


def test_a_snoozed_card_goes_aside_and_can_be_woken(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    card = desk.card("Which port?")
    card.get_by_role("button", name="Snooze").click()
    card.get_by_role("button", name="1 hour").click()
    expect(card).to_have_count(0)
    expect(desk.page.get_by_role("heading", name="Nobody waits for you")).to_be_visible()

    desk.unfold("Snoozed")
    desk.row("Which port?").get_by_role("button", name="Wake now").click()

    desk.reply_box("Which port?").fill("80")
    desk.reply_box("Which port?").press("Enter")
    assert outcome(asker) == ("80\n", 0)


def test_a_blocker_that_is_put_off_still_stops_its_agent_and_says_until_when(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?", kind="blocker")
    card = desk.card("Which port?")
    card.get_by_role("button", name="Snooze").click()
    card.get_by_role("button", name="1 hour").click()
    expect(card).to_have_count(0)

    expect(desk.page.get_by_role("group", name="Last answer")).to_contain_text("Snoozed for an hour, until ")
    expect(desk.page.locator(".screen-head")).to_contain_text("1 agent is stopped until you answer, snoozed.")
    expect(desk.page.get_by_role("heading", name="Nobody waits for you")).to_have_count(0)
    expect(desk.row("Which port?")).to_contain_text("its agent is stopped meanwhile")  # in sight without a click
    desk.row("Which port?").get_by_role("button", name="Wake now").click()
    desk.reply_box("Which port?").fill("80")
    desk.reply_box("Which port?").press("Enter")
    assert outcome(asker) == ("80\n", 0)


def test_that_a_card_was_seen_does_not_wake_it_when_it_is_told_late(desk: Desk) -> None:
    held: list[Route] = []
    desk.page.route("**/ack", lambda route: held.append(route))
    with desk.page.expect_request("**/ack"):
        id_ = desk.server.append("GembaAsk", {"kind": "question", "role": "coach", "text": "Later?"})
    card = desk.card("Later?")
    card.get_by_role("button", name="Snooze").click()
    card.get_by_role("button", name="1 hour").click()
    expect(card).to_contain_text("Snoozed for an hour…")

    held[0].continue_()

    expect(card).to_have_count(0)
    expect(desk.page.get_by_role("heading", name="Nobody waits for you")).to_be_visible()
    assert desk.server.get(f"/api/escalations/{id_}")["state"] == "snoozed"


def test_a_snoozed_card_returns_by_itself_when_its_time_is_up(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    card = desk.card("Which port?")
    expect(card).to_be_visible()
    id_ = card.get_attribute("data-escalation-id")

    desk.server.post(f"/api/escalations/{id_}/snooze", {"seconds": 1})

    expect(card).to_contain_text("Snoozed until")
    desk.reply_box("Which port?").fill("80")
    desk.reply_box("Which port?").press("Enter")
    assert outcome(asker) == ("80\n", 0)


def test_a_clients_own_prompt_is_answered_yes_no_or_otherwise(desk: Desk) -> None:
    ids = []
    for session in ("claude-1", "claude-2", "claude-3"):
        ids.append(desk.server.append("PermissionRequest", PERMISSION, session))
        expect(desk.card(session)).to_be_visible()

    desk.card("claude-1").get_by_role("button", name="Yes").click()
    desk.card("claude-2").get_by_role("button", name="No", exact=True).click()
    desk.card("claude-3").get_by_role("button", name="Modify").click()
    expect(desk.reply_box("claude-3")).to_be_focused()
    desk.page.keyboard.type("use the copy")
    desk.page.keyboard.press("Enter")

    expect(desk.cards).to_have_count(0)
    decided = [desk.server.get(f"/api/escalations/{id_}")["resolution"] for id_ in ids]
    assert [one["decision"] for one in decided] == ["yes", "no", "modify"]
    assert decided[2]["text"] == "use the copy"
    # There is no way into the client's window yet, and the page does not pretend that there is.
    expect(desk.page.get_by_role("region", name="Not delivered")).to_be_visible()
    expect(desk.row("claude-3")).to_contain_text("give the answer there")


def test_an_answer_that_did_not_arrive_stays_in_sight_until_it_is_read(desk: Desk) -> None:
    desk.server.ask("--kind", "question", "--role", "coach", "--text", "Which port?", session="gone").communicate()
    expect(desk.card("Which port?")).to_be_visible()
    id_ = desk.card("Which port?").get_attribute("data-escalation-id")
    assert id_ is not None
    desk.reply_box("Which port?").fill("8080")
    with desk.page.expect_response(f"**/escalations/{id_}/respond"):
        desk.reply_box("Which port?").press("Enter")
    desk.server.append("SessionEnd", {"reason": "exit"}, "gone")

    not_delivered = desk.page.get_by_role("region", name="Not delivered")
    expect(not_delivered).to_contain_text("the session ended before the reply was read")

    resumed = desk.server.ask("--resume", id_, session="gone")
    assert outcome(resumed) == ("8080\n", 0)
    expect(not_delivered).to_have_count(0)


def test_a_card_says_that_the_code_moved_since_it_was_asked(desk: Desk) -> None:
    desk.page.clock.install()
    desk.page.reload()
    desk.is_live()
    asker = ask(desk.server, "May I drop the column?")
    card = desk.card("May I drop the column?")
    # Seen, so that nothing more happens to it of its own accord.
    expect(card).to_have_attribute("data-state", "acknowledged")
    expect(card).not_to_contain_text("The code moved")

    commit = ["git", "commit", "--quiet", "--allow-empty", "-m", "another agent was quicker"]
    subprocess.run(commit, cwd=desk.server.workspace, check=True)
    desk.page.clock.fast_forward("02:00")

    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=desk.server.workspace, text=True)
    expect(card).to_contain_text("The code moved since")
    expect(card).to_contain_text(head[:7])
    desk.server.gemba("dismiss", card.get_attribute("data-escalation-id") or "")
    assert outcome(asker)[1] == 12


def test_what_typing_in_the_pane_answered_can_be_opened_again(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?", session="pane")
    card = desk.card("Which port?")
    expect(card).to_be_visible()

    desk.server.append("UserPromptSubmit", {"prompt": "look at the logs first"}, "pane")

    expect(card).to_contain_text("Answered in the pane")
    expect(card).to_contain_text("look at the logs first")
    # The waiting ask has taken the words for its answer; the question can still be put again.
    assert outcome(asker) == ("look at the logs first\n", 0)
    card.get_by_role("button", name="Re-open").click()
    desk.reply_box("Which port?").fill("8080")
    desk.reply_box("Which port?").press("Enter")
    expect(card).to_have_count(0)


def test_an_answer_on_the_command_line_settles_the_card_where_it_stands(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    card = desk.card("Which port?")
    expect(card).to_be_visible()
    place = card.bounding_box()

    answered = desk.server.gemba("answer", card.get_attribute("data-escalation-id") or "", "8080")

    assert answered.returncode == 0, answered.stderr
    assert outcome(asker) == ("8080\n", 0)
    expect(card).to_contain_text("Answered")
    expect(card).to_contain_text("8080")
    assert card.bounding_box() == place
    card.get_by_role("button", name="Hide").click()
    expect(card).to_have_count(0)


def test_an_ask_that_is_withdrawn_settles_its_card(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    card = desk.card("Which port?")
    expect(card).to_be_visible()

    desk.server.ask("--withdraw", card.get_attribute("data-escalation-id") or "", session="agent-1").communicate()

    assert outcome(asker)[1] == 13
    expect(card).to_contain_text("Withdrawn by the agent")


def test_of_two_operators_the_second_sees_the_first_answer_and_keeps_the_own_words(
    open_desk: Callable[..., Desk], server: RunningServer
) -> None:
    first, second = open_desk(server), open_desk(server)
    asker = ask(server, "Which port?")
    expect(first.card("Which port?")).to_be_visible()
    held: list[Route] = []
    second.page.route("**/respond", lambda route: held.append(route))
    second.reply_box("Which port?").fill("9090")
    second.reply_box("Which port?").press("Enter")
    expect(second.card("Which port?")).to_contain_text("Reply sent…")

    first.reply_box("Which port?").fill("8080")
    first.reply_box("Which port?").press("Enter")
    assert outcome(asker) == ("8080\n", 0)
    held[0].continue_()

    card = second.card("Which port?")
    expect(card).to_contain_text("Yours came second: the first answer stands.")
    expect(card).to_contain_text("Answered")
    expect(card).to_contain_text("8080")
    expect(card).to_contain_text("Your unsent reply: 9090")


def test_a_request_that_failed_on_the_way_is_done_once_when_it_is_tried_again(desk: Desk) -> None:
    asker = ask(desk.server, "Which port?")
    desk.reply_box("Which port?").fill("8080")
    desk.page.route("**/respond", lambda route: route.abort())
    desk.reply_box("Which port?").press("Enter")
    expect(desk.card("Which port?")).to_contain_text("Not sent yet")
    tried = {request.headers["x-gemba-confirm"] for request in desk.api_requests("/api/escalations", "POST")}

    desk.page.unroute("**/respond")
    desk.card("Which port?").get_by_role("button", name="Send now").click()

    assert outcome(asker) == ("8080\n", 0)
    responds = [one for one in desk.api_requests("/api/escalations", "POST") if one.url.endswith("/respond")]
    assert {request.headers["x-gemba-confirm"] for request in responds} <= tried


def test_only_a_card_that_was_in_view_counts_as_seen(desk: Desk) -> None:
    for number in range(20):
        desk.server.append("GembaAsk", {"kind": "question", "role": "coach", "text": f"Question {number}."})
    expect(desk.cards).to_have_count(20)

    def states() -> dict[str, str]:
        listed = desk.server.get("/api/escalations?state=unresolved&limit=50")["escalations"]
        return {one["text"]: one["state"] for one in listed}

    retry_until(lambda: states()["Question 0."] == "acknowledged")
    assert states()["Question 19."] == "open"
    assert json.dumps(states()).count("acknowledged") < 10
