"""What OpenCode is handed for a run: settings in a variable, which change nothing that somebody has put there."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gemba.errors import Unusable
from gemba.sessions.agents import opencode_files
from gemba.sessions.agents.given import Given, Where

BIN = Path(sys.executable).parent


def given(folder: Path, content: str | None = None) -> Given:
    environment = {} if content is None else {"OPENCODE_CONFIG_CONTENT": content}
    return opencode_files.given(Where(folder / "opencode-1", folder, folder, folder, environment))


def settings(made: Given) -> Any:
    return json.loads(made.environment["OPENCODE_CONFIG_CONTENT"])


def test_the_server_is_named_and_nothing_is_permitted(tmp_path: Path) -> None:
    made = given(tmp_path)

    assert (made.words, made.files) == (("--title=Gemba: opencode-1",), {})
    found = settings(made)
    assert found["mcp"]["gemba"]["command"] == [f"{BIN}/gemba-mcp"]
    assert found.keys() == {"mcp", "experimental"}


def test_what_is_in_the_variable_stays_and_comes_first(tmp_path: Path) -> None:
    own = {"permission": "ask", "mcp": {"gemba": {"enabled": False}, "theirs": {"type": "local"}}, "experimental": None}

    found = settings(given(tmp_path, json.dumps(own)))

    assert (found["permission"], found["experimental"]) == ("ask", None)
    assert found["mcp"]["theirs"] == {"type": "local"}
    assert (found["mcp"]["gemba"]["enabled"], found["mcp"]["gemba"]["command"]) == (False, [f"{BIN}/gemba-mcp"])


@pytest.mark.parametrize("content", ["[]", "{", '"text"', "[" * 100_000])
def test_a_variable_that_cannot_be_added_to_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(Unusable, match="OPENCODE_CONFIG_CONTENT is no JSON object"):
        given(tmp_path, content)
