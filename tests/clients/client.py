"""Claude Code as its users run it, in a test's workspace, with a home of its own and a scripted model.

`make test-clients` installs it (`scripts/agent-client`). It is run without a screen (`-p`): one prompt, one answer, and
every hook as in any other session. It may write files without asking; for anything else it needs the permission that
its own rules or our hooks give. Nothing of this process's environment reaches it but what is named here.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.island import Island
from tests.clients.model import Model

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PATIENCE = 60.0  # seconds for a whole session on a busy machine

_INHERITED = ("GIT_", "GEMBA_HOME", "GEMBA_TEST_", "PYTEST_CURRENT_TEST")


class Ended(NamedTuple):
    """What a session came to: the agent's last words, and the client's own id of the session."""

    words: str
    session_id: str


class Claude:
    """A client of one workspace. Its hooks are the ones that `gemba install-bridge` put there."""

    def __init__(self, program: Path, workspace: Path, folder: Path, island: Island, model: Model) -> None:
        self._program = program
        self._island = island
        self.workspace = workspace
        self.environment = environment_of(folder, model.url)

    def install(self, *flags: str) -> None:
        """Put the hooks into the project's settings, as a user would."""
        command = [str(BIN / "gemba"), "install-bridge", *flags]
        subprocess.run(command, cwd=self.workspace, check=True, capture_output=True)

    def run(self, prompt: str, **environment: str) -> Ended:
        with self.running(prompt, **environment) as process:
            return ended(process)

    @contextmanager
    def running(self, prompt: str, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
        """A session at work, for tests that do something meanwhile. It is gone afterwards, whatever happened."""
        command = [str(self._program), "-p", prompt, "--output-format", "json", "--allowedTools", "Write"]
        given = {**self.environment, **environment}
        process = self._island.do(
            lambda: subprocess.Popen(
                command,
                cwd=self.workspace,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # its hooks too: one may wait for an operator


def ended(process: "subprocess.Popen[bytes]") -> Ended:
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (printed, errors)
    told: dict[str, Any] = json.loads(printed)
    assert told["is_error"] is False, told
    return Ended(told["result"], told["session_id"])


def environment_of(folder: Path, model: str) -> dict[str, str]:
    """All that Claude Code gets of its surroundings."""
    return {
        **surroundings(folder, model),
        "CLAUDE_CODE_TMPDIR": str(folder / "tmp"),
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "dummy",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    }


def settle(folder: Path, workspace: Path) -> None:
    """A home in which Claude Code has asked its user before what it asks when it is new, and about this project."""
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settled = {"hasCompletedOnboarding": True, "theme": "dark", "projects": {str(workspace): known}}
    settled |= {"customApiKeyResponses": {"approved": ["dummy"], "rejected": []}}
    (folder / ".claude.json").write_text(json.dumps(settled))


def surroundings(folder: Path, model: str) -> dict[str, str]:
    """All that any client gets: a home of its own, in a new folder, and no way out."""
    inherited = {name: value for name, value in os.environ.items() if name.startswith(_INHERITED)}
    (folder / "tmp").mkdir(parents=True)
    return {
        **inherited,
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        # What it would send elsewhere comes to the model, which refuses it and keeps it as a fault.
        "HTTP_PROXY": model,
        "HTTPS_PROXY": model,
        "NO_PROXY": "127.0.0.1",
    }


def path_with(program: Path) -> str:
    """The PATH of a user who has a client installed, and Gemba; clients in JavaScript find Node.js there."""
    return os.pathsep.join((str(program.parent), str(BIN), str(BIN.parent / "node" / "bin"), os.environ["PATH"]))
