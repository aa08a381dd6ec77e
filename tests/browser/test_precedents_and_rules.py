"""Answered once: an earlier answer is offered with its source; a rule is made, seen at work, revoked, by keys alone."""

from playwright.sync_api import expect

from tests.browser.desk import Desk, ask, outcome

QUESTION = "Which database do the tests use?"


def put(desk: Desk, text: str, session: str, **payload: object) -> str:
    document = {"kind": "question", "role": "manager", "mode": "balanced", "text": text, **payload}
    return desk.server.append("GembaAsk", document, session)


def test_an_earlier_answer_is_given_again_with_one_key(desk: Desk) -> None:
    first = put(desk, QUESTION, "agent-1")
    desk.reply_box(QUESTION).fill("SQLite")
    desk.reply_box(QUESTION).press("Enter")
    expect(desk.cards).to_have_count(0)

    asker = ask(desk.server, f"Please tell me: {QUESTION.lower()}", session="agent-2")

    card = desk.card("agent-2")
    expect(card).to_contain_text("You answered this on")
    expect(card).to_contain_text("for agent-1: SQLite")
    expect(card).to_contain_text("the same question")
    expect(card.locator(".precedent a")).to_have_attribute("href", f"/escalations/{first}")
    desk.page.keyboard.press("j")
    desk.page.keyboard.press("p")
    assert outcome(asker) == ("SQLite\n", 0)
    expect(desk.cards).to_have_count(0)

    desk.open(f"/escalations/{first}")
    expect(desk.page.get_by_role("article")).to_contain_text("Answered")
    expect(desk.page.get_by_role("article")).to_contain_text("SQLite")


def test_a_rule_is_made_used_and_revoked_without_a_mouse(desk: Desk) -> None:
    keys = desk.page.keyboard
    first = ask(desk.server, QUESTION, session="agent-1")
    expect(desk.card(QUESTION)).to_be_visible()
    keys.press("j")
    keys.press("Shift+R")
    bar = desk.page.get_by_role("group", name="Always answer this so")
    expect(bar).to_contain_text(f"every question of any session that says {QUESTION}")
    expect(bar).to_contain_text("must be the same to the letter")
    expect(bar.get_by_role("textbox", name="Answer from now on")).to_be_focused()
    keys.type("SQLite")
    keys.press("Enter")
    assert outcome(first) == ("SQLite\n", 0)
    expect(desk.cards).to_have_count(0)

    # Whoever asks the same from now on has the answer before a card is there.
    assert outcome(ask(desk.server, QUESTION.lower(), session="agent-2")) == ("SQLite\n", 0)
    desk.unfold("Recently resolved")
    expect(desk.row("agent-2")).to_contain_text("Answered by a rule")
    desk.row("agent-2").get_by_role("link", name="see the rule").click()

    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Rules")
    rule = desk.page.get_by_role("article", name=QUESTION)
    expect(rule).to_be_focused()
    expect(rule).to_contain_text("made by operator")
    expect(rule).to_contain_text("used 1\u00d7")
    expect(rule).to_contain_text("SQLite")
    keys.press("d")
    expect(rule.get_by_role("button", name="Revoke", exact=True)).to_be_focused()
    keys.press("Enter")
    expect(desk.page.get_by_role("heading", name="No question is answered by a rule")).to_be_visible()
    expect(rule).to_contain_text("Revoked by operator")

    third = ask(desk.server, QUESTION, session="agent-3")
    desk.go_to("Inbox")
    expect(desk.card("agent-3")).to_be_visible()
    desk.go_to("Rules")
    rule.get_by_role("button", name="Make it again").click()
    expect(desk.page.get_by_role("article", name=QUESTION).first).not_to_contain_text("Revoked")
    desk.server.gemba("answer", desk.server.get("/api/escalations?state=unresolved")["escalations"][0]["id"], "MySQL")
    assert outcome(third) == ("MySQL\n", 0)


def test_a_rule_for_a_choice_is_made_with_a_number(desk: Desk) -> None:
    keys = desk.page.keyboard
    first = ask(desk.server, "Red or green?", "--option", "red", "--option", "green", session="agent-1")
    expect(desk.card("Red or green?")).to_be_visible()

    for key in ("j", "Shift+R", "2"):
        keys.press(key)

    assert outcome(first) == ("green\n", 0)
    again = ask(desk.server, "Red or green?", "--option", "green", "--option", "red", session="agent-2")
    assert outcome(again) == ("green\n", 0)


def test_a_second_rule_for_the_same_is_refused_with_the_first(desk: Desk) -> None:
    id_ = put(desk, QUESTION, "agent-1")
    card = desk.card(QUESTION)
    expect(card).to_be_visible()
    desk.server.post("/api/rules", {"escalation_id": id_, "text": "SQLite"})
    card.get_by_role("button", name="Always answer this so").click()
    card.get_by_role("textbox", name="Answer from now on").fill("MySQL")
    card.get_by_role("textbox", name="Answer from now on").press("Enter")

    expect(card.get_by_role("alert")).to_contain_text("there is a rule for this already: SQLite")
    assert desk.server.get(f"/api/escalations/{id_}")["resolution"] is None
