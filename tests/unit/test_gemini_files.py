"""What Gemini CLI is handed for a run: its user's home by links, with Gemba's server and rules beside what is there."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from gemba.errors import Unusable
from gemba.sessions.agents import gemini_files
from gemba.sessions.agents.given import Given, Where

BIN = Path(sys.executable).parent


def given(folder: Path, **environment: str) -> Given:
    return gemini_files.given(Where(folder / "run", folder, folder, folder, environment))


def make(home: Path, *files: str) -> None:
    for file in files:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text("mine")


def test_everything_of_the_user_is_there_by_a_link(tmp_path: Path) -> None:
    home = tmp_path / "home"
    make(home, ".gemini/settings.json", ".gemini/tmp/x", ".gemini/policies/mine.toml", ".gemini/extensions/theirs/x")
    make(home, ".env", ".agents/skills/x", ".ssh/id")

    made = given(tmp_path, HOME=str(home))

    assert made.environment == {"GEMINI_CLI_HOME": str(tmp_path / "run" / "gemini")}
    links = {name: place for name, place in made.files.items() if isinstance(place, Path)}
    assert links == {
        f"gemini/{name}": home / name
        for name in (
            *(".env", ".agents", ".gemini/settings.json", ".gemini/tmp"),
            ".gemini/extensions/theirs",
        )
    }
    assert made.files["gemini/.gemini/policies/mine.toml"] == "mine"  # a link there is passed over


def test_beside_it_are_the_server_and_the_permission_to_use_it(tmp_path: Path) -> None:
    made = given(tmp_path, HOME=str(tmp_path / "nobody"))

    texts = {name: text for name, text in made.files.items() if isinstance(text, str)}
    extension = json.loads(texts.pop("gemini/.gemini/extensions/gemba/gemini-extension.json"))
    (rules,) = texts.values()
    assert (extension["mcpServers"]["gemba"]["command"], made.words) == (f"{BIN}/gemba-mcp", ())
    assert [
        (rule["decision"], rule.get("commandPrefix"), rule.get("mcpName")) for rule in tomllib.loads(rules)["rule"]
    ] == [
        ("allow", ["gemba-ask", "gemba-state"], None),
        ("allow", None, "gemba"),
    ]


def test_rules_that_cannot_be_read_are_not_left_out(tmp_path: Path) -> None:
    make(tmp_path / "home", ".gemini/policies/mine.toml")
    (tmp_path / "home/.gemini/policies/mine.toml").write_bytes(b"\xff")

    with pytest.raises(Unusable, match=r"mine\.toml: it is not UTF-8"):
        given(tmp_path, HOME=str(tmp_path / "home"))


def test_nothing_is_written_through_an_extension_of_the_same_name(tmp_path: Path) -> None:
    make(tmp_path / "home", ".gemini/extensions/gemba/gemini-extension.json")

    made = given(tmp_path, HOME="/nobody", GEMINI_CLI_HOME=str(tmp_path / "home"))

    assert not any(isinstance(place, Path) for place in made.files.values())
