"""An answer that must have a form is filled in, chosen by key, or written as JSON; a misfit is said at its field."""

import json
from pathlib import Path
from subprocess import Popen

from playwright.sync_api import expect

from tests.browser.desk import Desk, ask, outcome

SERVICE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "As in the DNS", "minLength": 2},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "public": {"type": "boolean"},
        "tier": {"enum": ["free", "paid"]},
    },
    "required": ["port", "public"],
}


def with_schema(desk: Desk, folder: Path, text: str, schema: object) -> Popen[str]:
    file = folder / "schema.json"
    file.write_text(json.dumps(schema))
    asker = ask(desk.server, text, "--schema", str(file))
    expect(desk.card(text)).to_be_visible()
    return asker


def test_a_form_is_filled_in_by_keys_and_what_does_not_fit_is_said_at_its_field(desk: Desk, tmp_path: Path) -> None:
    asker = with_schema(desk, tmp_path, "Which settings?", SERVICE)
    card, keys = desk.card("Which settings?"), desk.page.keyboard
    expect(card.get_by_role("textbox", name="Reply")).to_have_count(0)
    keys.press("j")
    keys.press("r")
    expect(card.get_by_role("textbox", name="name")).to_be_focused()
    keys.type("d")
    keys.press("Tab")
    keys.type("70000")
    keys.press("Enter")
    expect(card.get_by_role("combobox", name="public")).to_be_focused()
    expect(card).to_contain_text("This one is needed.")
    # A letter chooses in the list; it is no command to the card.
    keys.press("n")
    keys.press("Enter")
    card.get_by_role("button", name="Send").click()

    port, name = card.get_by_role("textbox", name="port"), card.get_by_role("textbox", name="name")
    expect(port).to_have_attribute("aria-invalid", "true")
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(port).to_have_accessible_description("70000 does not fit; allowed: at most 65535")
    expect(card.get_by_role("combobox", name="public")).to_have_attribute("aria-invalid", "false")
    port.fill("8080")
    name.fill("db")
    port.press("Enter")

    printed, code = outcome(asker)
    assert (json.loads(printed), code) == ({"name": "db", "port": 8080, "public": False}, 0)
    expect(desk.cards).to_have_count(0)


def test_yes_or_no_is_one_key(desk: Desk, tmp_path: Path) -> None:
    asker = with_schema(desk, tmp_path, "Is it public?", {"type": "boolean"})

    desk.page.keyboard.press("j")
    desk.page.keyboard.press("2")

    assert outcome(asker) == ("false\n", 0)


def test_what_no_form_can_show_is_written_as_json_beside_its_schema(desk: Desk, tmp_path: Path) -> None:
    asker = with_schema(desk, tmp_path, "Which hosts?", {"type": "array", "items": {"type": "string"}, "minItems": 1})
    card = desk.card("Which hosts?")
    box = card.get_by_role("textbox", name="Answer, as JSON")
    card.get_by_text("The form it must have").click()
    expect(card.get_by_label("Schema")).to_contain_text('"minItems": 1')

    box.fill("[]")
    card.get_by_role("button", name="Send").click()
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(card.get_by_role("alert")).to_contain_text("llowed")
    box.fill('["db", "web"]')
    card.get_by_role("button", name="Send").click()

    assert outcome(asker) == ('["db","web"]\n', 0)


def test_what_was_filled_in_survives_a_reload(desk: Desk, tmp_path: Path) -> None:
    asker = with_schema(desk, tmp_path, "Which settings?", SERVICE)
    desk.card("Which settings?").get_by_role("textbox", name="port").fill("8080")

    desk.page.reload()

    expect(desk.card("Which settings?").get_by_role("textbox", name="port")).to_have_value("8080")
    desk.server.gemba("dismiss", desk.cards.first.get_attribute("data-escalation-id") or "")
    assert outcome(asker)[1] == 12
