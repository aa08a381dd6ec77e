"""The MCP conformance suite against `/mcp` of a running server: what it has to say to any server that offers tools.

Most of its scenarios call tools, prompts and resources of a server that is written for the suite. They are listed here
too, each with what it wants, so that a new version's scenarios do not go by unseen.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import PATIENCE, ROOT
from tests.clients.floor import Floor
from tests.clients.island import Island
from tests.clients.token_pipe import TokenPipe

pytestmark = pytest.mark.clients

GENERIC = (
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
_OWN_TOOL = "calls a tool of the suite's own: {}"
_NO_SUCH_CAPABILITY = "the server says when it is greeted that it has no {}"
NOT_FOR_US = {
    "logging-set-level": _NO_SUCH_CAPABILITY.format("logging"),
    "completion-complete": _NO_SUCH_CAPABILITY.format("completions"),
    "tools-call-simple-text": _OWN_TOOL.format("test_simple_text"),
    "tools-call-image": _OWN_TOOL.format("test_image_content"),
    "tools-call-audio": _OWN_TOOL.format("test_audio_content"),
    "tools-call-embedded-resource": _OWN_TOOL.format("test_embedded_resource"),
    "tools-call-mixed-content": _OWN_TOOL.format("test_multiple_content_types"),
    "tools-call-with-logging": _OWN_TOOL.format("test_tool_with_logging"),
    "tools-call-error": _OWN_TOOL.format("test_error_handling"),
    "tools-call-with-progress": _OWN_TOOL.format("test_tool_with_progress"),
    "tools-call-sampling": _OWN_TOOL.format("test_sampling"),
    "tools-call-elicitation": _OWN_TOOL.format("test_elicitation"),
    "json-schema-2020-12": _OWN_TOOL.format("json_schema_2020_12_tool"),
    "elicitation-sep1034-defaults": _OWN_TOOL.format("test_elicitation_sep1034_defaults"),
    "server-sse-polling": _OWN_TOOL.format("test_reconnection"),
    "elicitation-sep1330-enums": _OWN_TOOL.format("test_elicitation_sep1330_enums"),
    **dict.fromkeys(
        (
            "resources-list",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ),
        _NO_SUCH_CAPABILITY.format("resources"),
    ),
    **dict.fromkeys(
        (
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ),
        _NO_SUCH_CAPABILITY.format("prompts"),
    ),
}


class Suite:
    """The suite's program, on the island."""

    def __init__(self, program: Path, folder: Path, island: Island) -> None:
        folder.mkdir()
        self._program = program
        self._folder = folder
        self._island = island

    def scenarios(self) -> set[str]:
        code, printed = self._run("list", "--server")
        assert code == 0, printed
        return set(re.findall(r"^  - (\S+)", printed, re.MULTILINE))

    def checks(self, scenario: str, url: str) -> tuple[int, list[dict[str, Any]]]:
        """The exit code of a scenario, and its checks."""
        code, printed = self._run("server", "--url", url, "--scenario", scenario, "-o", str(self._folder))
        (report,) = self._folder.glob(f"server-{scenario}-*/checks.json")
        assert report.is_file(), printed
        return code, json.loads(report.read_bytes())

    def _run(self, *words: str) -> tuple[int, str]:
        command = [str(ROOT / "scripts/with-node"), str(self._program), *words]
        given = {"PATH": os.environ["PATH"], "HOME": str(self._folder)}
        # The island's one thread has more to do meanwhile.
        with self._island.do(lambda: _start(command, given)) as process:
            try:
                printed, _ = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        return process.returncode, printed


def _start(command: list[str], given: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def suite(conformance_program: Path, tmp_path: Path, island: Island) -> Suite:
    return Suite(conformance_program, tmp_path / "suite", island)


@pytest.fixture
def door(serve: Callable[[], Floor], island: Island) -> Iterator[str]:
    """Where the suite finds `/mcp`: it cannot be told of a token."""
    server = serve().server
    pipe = TokenPipe(island, server.url, {"Authorization": f"Bearer {server.token}"})
    yield f"{pipe.url}/mcp"
    pipe.close()


def test_every_scenario_of_the_suite_is_generic_or_has_a_reason_not_to_be(suite: Suite) -> None:
    assert not NOT_FOR_US.keys() & set(GENERIC)
    assert suite.scenarios() == NOT_FOR_US.keys() | set(GENERIC)


def test_the_generic_scenarios_pass(suite: Suite, door: str) -> None:
    for scenario in GENERIC:
        code, checks = suite.checks(scenario, door)
        assert code == 0, checks
        assert {check["status"] for check in checks} <= {"SUCCESS", "INFO"}, checks
        assert "SUCCESS" in {check["status"] for check in checks}, checks
