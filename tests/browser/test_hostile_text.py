"""Agents' words are data: whatever they hold is shown as text, runs nothing, and makes the page ask nobody else."""

from subprocess import PIPE, Popen

from playwright.sync_api import expect

from gemba.wire import MAX_TEXT
from tests.browser.desk import Desk
from tests.fixtures.servers import BIN

MARKUP = (
    "<script>window.owned = 1</script>"
    "<img src=x onerror='window.owned = 2'><img src=http://outside.example/pixel>"
    "<iframe src=http://outside.example/></iframe><svg onload='window.owned = 3'>"
    "<a href='javascript:window.owned = 4'>here</a>"
    "<style>body { display: none }</style><base href=http://outside.example/>"
    "<link rel=stylesheet href=http://outside.example/a.css>"
    "[link](javascript:alert(1)) ![image](http://outside.example/b.png) {{7*7}} ${7*7} &lt;b&gt;"
)
BIDI = "run \u202egnp.exe\u202c and \u2066hidden\u2069 \u200bzero \ufeff \u061cmark"
CONTROL = "red \x1b[31mtext\x1b[0m bell\x07 back\x08space \x00nul \x7fdel \x9bcsi"
ZALGO = "Z" + "\u0336\u0355" * 60


def ask_anything(desk: Desk, text: str, session: str = "session-1", **payload: object) -> None:
    """As a hand-written frame would: more than the command lets through."""
    document = {"kind": "blocker", "role": "manager", "mode": "balanced", "text": text, **payload}
    desk.server.append("GembaAsk", document, session)


def shown(desk: Desk, session: str = "session-1") -> str:
    card = desk.card(session)
    expect(card).to_be_visible()
    return card.locator(".words").inner_text()


def test_markup_is_text_everywhere_it_is_shown(desk: Desk) -> None:
    hostile = {"session": f"session-1{MARKUP[:60]}", "agent_type": MARKUP}
    ask_anything(desk, MARKUP, title=MARKUP[:400], options=[MARKUP, "b"], bead_id=MARKUP[:200])
    desk.server.append(
        "GembaAsk",
        {"kind": "assumption", "role": "coach", "mode": "balanced", "text": MARKUP, "chose": MARKUP},
        **hostile,
    )
    desk.server.append("GembaState", {"state": "working", "note": MARKUP}, **hostile)

    assert shown(desk) == MARKUP
    desk.card("session-1").get_by_role("button", name="<script>").click()
    expect(desk.cards).to_have_count(0)
    desk.unfold("Recently resolved")
    expect(desk.row("<script>")).to_contain_text("<img src=x onerror=")
    desk.go_to("Assumptions")
    expect(desk.page.locator(".assumption-chose")).to_contain_text(MARKUP)
    desk.go_to("Health")
    expect(desk.page.locator(".session-note")).to_have_text(MARKUP)

    assert desk.page.evaluate("window.owned") is None
    assert desk.page.locator("main :is(script, iframe, img, style, base)").count() == 0
    assert desk.console_errors == []
    assert desk.foreign_requests() == []


def test_markup_is_text_in_forms_rules_histories_and_searches(desk: Desk) -> None:
    member = {"type": "string", "title": MARKUP, "description": BIDI, "default": MARKUP}
    fields = {"type": "object", "properties": {"constructor": member, "__proto__": {"enum": [MARKUP, None]}}}
    ask_anything(desk, "Typed?", "typed", schema=fields)
    ask_anything(desk, MARKUP, "../../session 1?#<b>")
    card = desk.card("Typed?")
    expect(card.get_by_role("textbox")).to_have_value(MARKUP)
    expect(card).to_contain_text("⟨U+202E⟩")
    id_ = desk.card("session 1?#").get_attribute("data-escalation-id")
    desk.server.post("/api/rules", {"escalation_id": id_, "text": MARKUP})
    desk.server.post(f"/api/escalations/{id_}/respond", {"text": MARKUP})

    for path in ("/rules", "/answered", f"/escalations/{id_}"):
        desk.open(path)
        expect(desk.page.locator("main :is(.row, .card)").first).to_contain_text("<script>window.owned")
    desk.page.get_by_role("main").get_by_role("link", name="../../session 1?#<b>").first.click()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("../../session 1?#<b>")
    expect(desk.row("<script>")).to_be_visible()
    desk.page.reload()
    expect(desk.row("<script>")).to_be_visible()

    assert desk.page.evaluate("window.owned") is None
    assert desk.page.locator("main :is(script, iframe, img, style, base)").count() == 0
    assert desk.console_errors == []


def test_marks_that_reorder_hide_or_control_are_shown_by_name(desk: Desk) -> None:
    ask_anything(desk, BIDI, "bidi", title=BIDI)
    ask_anything(desk, CONTROL, "control")

    named = "run ⟨U+202E⟩gnp.exe⟨U+202C⟩ and ⟨U+2066⟩hidden⟨U+2069⟩ ⟨U+200B⟩zero ⟨U+FEFF⟩ ⟨U+061C⟩mark"
    assert shown(desk, "bidi") == named
    expect(desk.card("bidi").get_by_role("heading")).to_have_text(named)
    # NUL was replaced when it was stored.
    assert shown(desk, "control") == "red ␛[31mtext␛[0m bell␇ back␈space \ufffdnul ⟨U+007F⟩del ⟨U+009B⟩csi"
    assert desk.console_errors == []


def test_a_word_without_end_stays_inside_its_card(desk: Desk) -> None:
    ask_anything(desk, "x" * 1_500 + ZALGO, title="y" * 400, options=["z" * 300], bead_id="b" * 200)
    expect(desk.cards).to_be_visible()

    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_longest_ask_is_folded_and_shown_whole_when_it_is_wanted(desk: Desk) -> None:
    text = ("<b>" + "wörter & more " * 10_000)[: MAX_TEXT - 4] + " END"
    environment = {**desk.server.environment, "GEMBA_SESSION_ID": "session-1"}
    command = [str(BIN / "gemba-ask"), "--kind", "blocker", "--role", "manager", "--text", "-"]
    asker = Popen(command, env=environment, cwd=desk.server.workspace, stdin=PIPE, stdout=PIPE, text=True)
    asker.communicate(text)
    assert asker.returncode == 0
    card = desk.card("session-1")
    expect(card).to_be_visible()
    folded = card.bounding_box()
    assert folded is not None
    assert folded["height"] < 500

    card.get_by_role("button", name="Show all").click()

    expect(card).to_contain_text(" END")
    expect(card.locator(".words")).to_have_text(text)
    card.get_by_role("button", name="Show less").click()
    assert card.bounding_box() == folded
    assert desk.console_errors == []
