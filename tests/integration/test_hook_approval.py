"""A command that changes something waits for the operator: real hook processes, and a real server on a unix socket."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import pytest

from gemba.testing import retry_until
from tests.fixtures.hooks import BRIDGE, SESSION, Run, answer, blocked, frames, hook

REQUEST = "0195-request"
CHANGES = "rm -rf build  # 'Quoted'\n"
WAITS = ("PreToolUse", "PermissionRequest")


@pytest.fixture(autouse=True)
def _session(home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_SESSION_ID", SESSION)
    monkeypatch.chdir(workspace)


def call(command: object = CHANGES, tool: str = "Bash", **more: object) -> dict[str, object]:
    return {"tool_name": tool, "tool_input": {"command": command, "description": "x"}, "cwd": "/srv/shop", **more}


def decision(found: Run) -> tuple[str, str]:
    """What the client is told to do with a tool call, and why."""
    told = answer(found)["hookSpecificOutput"]
    if told["hookEventName"] == "PermissionRequest":
        return told["decision"]["behavior"], told["decision"].get("message", "")
    return told["permissionDecision"], told["permissionDecisionReason"]


class Server:
    """Approvals as the API has them: one request, whose state the test decides."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.asked: list[dict[str, Any]] = []
        self.used: list[dict[str, Any]] = []
        self.request: dict[str, Any] = {"id": REQUEST, "state": "pending"}
        self.others: dict[str, dict[str, Any]] = {}
        self.statuses: dict[str, tuple[int, bytes]] = {}
        self.streams = 0
        self.decided = threading.Condition()
        self.is_up = True

    def decide(self, state: str, **more: Any) -> None:
        with self.decided:
            self.request = {**self.request, "state": state, **more}
            self.decided.notify_all()

    def answer_to(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        if path in self.statuses:
            return self.statuses[path]
        if (method, path) == ("POST", "/api/approvals"):
            self.asked.append(body)
            return 200, json.dumps(self.request).encode()
        if (method, path) == ("GET", f"/api/approvals/{REQUEST}"):
            return 200, json.dumps(self.request).encode()
        if (method, path) == ("POST", f"/api/approvals/{REQUEST}/use"):
            self.used.append(body)
            return 200, b'{"state": "consumed"}'
        other = self.others.get(path.rpartition("/")[2])
        return (404, b'{"detail": "nothing has that id"}') if other is None else (200, json.dumps(other).encode())

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        ours = self
        self.is_up = True

        class Handler(BaseHTTPRequestHandler):
            def address_string(self) -> str:
                return "unix"

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the library
                """Nobody reads it."""

            def do_POST(self) -> None:
                self._answer("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def do_GET(self) -> None:
                if self.path == f"/api/events?ref={REQUEST}&name=approval.decided":
                    self._stream()
                else:
                    self._answer("GET", None)

            def _answer(self, method: str, body: Any) -> None:
                status, data = ours.answer_to(method, self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b": connected\n\n")
                self.wfile.flush()
                with ours.decided:
                    before = ours.request
                    ours.streams += 1
                    ours.decided.wait_for(lambda: ours.request is not before or not ours.is_up)
                    if ours.is_up:
                        self.wfile.write(b'id: 7\nevent: approval.decided\ndata: {"id": 7}\n\n')

        socket = self.workspace / ".gemba/gemba.sock"
        socket.unlink(missing_ok=True)
        with ThreadingUnixStreamServer(str(socket), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            (self.workspace / ".gemba/server.json").write_text(json.dumps({"socket": str(socket)}))
            try:
                yield
            finally:
                with self.decided:
                    self.is_up = False
                    self.decided.notify_all()
                server.shutdown()
                thread.join()


@pytest.fixture
def server(workspace: Path) -> Iterator[Server]:
    ours = Server(workspace)
    with ours.running():
        yield ours


@contextlib.contextmanager
def waiting(event: str = "PreToolUse", *flags: str) -> Iterator[Callable[[], Run]]:
    """A hook that is asked about a command and runs beside the test; gives its end."""
    pipe = subprocess.PIPE
    command = [*BRIDGE, "hook", event, "--approvals", *flags]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(call()))
        process.stdin.close()
        process.stdin = None

        def end() -> Run:
            stdout, stderr = process.communicate(timeout=60)
            return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)

        try:
            yield end
        finally:
            process.kill()


# -- what is asked about -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", WAITS)
@pytest.mark.parametrize(
    "sent",
    [
        call("ls -l"),
        call("ls -l | head -n 3"),
        {"tool_name": "Read", "tool_input": {"file_path": "/etc/passwd"}},
        {"tool_name": "Edit", "tool_input": {"file_path": "a"}},
        {"tool_name": "Write", "tool_input": {"command": "rm -rf /"}},
        {"tool_name": "mcp__other__tool", "tool_input": {}},
        {"tool_name": 1},
        {},
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else None,
)
def test_what_reads_and_what_is_the_clients_own_affair_is_not_asked_about(
    home: Path, server: Server, event: str, sent: dict[str, object]
) -> None:
    assert answer(hook(event, sent, "--approvals")) is None
    assert server.asked == []
    assert [(frame.hook, frame.payload) for frame in frames(home)] == [(event, sent)]


@pytest.mark.parametrize("event", WAITS)
def test_without_the_flag_nothing_is_asked_about(home: Path, server: Server, event: str) -> None:
    assert answer(hook(event, call())) is None
    assert server.asked == []
    assert len(frames(home)) == 1


@pytest.mark.parametrize("command", [None, 1, ["rm"], {}])
def test_a_call_without_a_command_is_denied(server: Server, command: object) -> None:
    assert decision(hook("PreToolUse", call(command), "--approvals"))[0] == "deny"
    assert server.asked == []


@pytest.mark.parametrize("event", WAITS)
@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_a_command_that_cannot_be_kept_to_the_letter_is_denied_in_words(
    home: Path, server: Server, event: str, character: str
) -> None:
    reason = f"Gemba: the command holds U+{ord(character):04X}, which nobody can read or approve: write it without"
    for command in (f"rm -rf {character}build", f"ls {character}"):
        assert decision(hook(event, call(command), "--approvals")) == ("deny", reason)
    assert "its folder holds" in decision(hook(event, call(cwd=f"/srv{character}"), "--approvals"))[1]
    assert server.asked == []
    assert len(frames(home)) == 3


@pytest.mark.parametrize("event", WAITS)
@pytest.mark.parametrize("character", ["\n", "\r", "\x1b", "\x9f", "\u2028", "\u202e"])
def test_a_folder_that_could_pass_for_other_lines_is_denied_in_words(
    server: Server, event: str, character: str
) -> None:
    server.decide("approved")
    reason = f"Gemba: its folder holds U+{ord(character):04X}, which nobody can read or approve: work in another one"

    folder = f"/srv/x{character}risk: T0 (it reads)"
    assert decision(hook(event, call(cwd=folder), "--approvals")) == ("deny", reason)
    assert answer(hook(event, call("ls", cwd=folder), "--approvals")) is None
    assert (server.asked, server.used) == ([], [])


@pytest.mark.parametrize(
    ("inputs", "tool"),
    [
        ({"timeout": 5, "description": "y"}, "Bash"),
        ({"run_in_background": False, "dangerouslyDisableSandbox": False}, "Bash"),
        ({"run_in_background": True}, "Bash (run_in_background=true)"),
        (
            {"run_in_background": True, "dangerouslyDisableSandbox": True},
            "Bash (dangerouslyDisableSandbox=true, run_in_background=true)",
        ),
        ({"sandbox": False}, "Bash (sandbox=false)"),
        ({"x) y\n": {"b": ["\u202e"], "a": None}}, 'Bash ("x) y\\n"={"a": null, "b": ["\\u202e"]})'),
    ],
)
def test_what_changes_how_the_command_runs_is_part_of_what_is_approved(
    server: Server, inputs: dict[str, object], tool: str
) -> None:
    server.decide("approved")
    sent = call(tool_input={"command": CHANGES, **inputs})

    assert decision(hook("PreToolUse", sent, "--approvals"))[0] == "allow"
    assert (server.asked[0]["tool"], server.used[0]["tool"]) == (tool, tool)


def test_more_inputs_than_can_be_shown_are_denied_in_words(server: Server) -> None:
    sent = call(tool_input={"command": CHANGES, "files": ["x" * 300]})
    behavior, reason = decision(hook("PreToolUse", sent, "--approvals"))

    assert behavior == "deny"
    assert reason.startswith('Gemba: the call has more inputs than can be shown (files=["xxx')
    assert server.asked == []


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", WAITS)
def test_a_command_runs_after_its_approval_and_the_grant_is_consumed_for_exactly_it(
    home: Path, server: Server, event: str
) -> None:
    with waiting(event) as end:
        retry_until(lambda: server.streams, timeout=60)
        assert server.used == []
        server.decide("approved")
        assert decision(end())[0] == "allow"

    seal = {"command": CHANGES, "cwd": "/srv/shop", "tool": "Bash", "session_id": SESSION, "requester": SESSION}
    (asked,) = server.asked
    assert {key: asked.pop(key) for key in seal} == seal
    assert asked.pop("risk") == "T3"
    assert set(asked) == {"reason"}
    assert server.used == [seal]
    assert [frame.hook for frame in frames(home)] == ["GembaPermission" if event == "PermissionRequest" else event]


def test_an_unknown_program_is_asked_about_like_one_that_changes_something(server: Server) -> None:
    server.decide("approved")

    assert decision(hook("PreToolUse", call("frobnicate --all"), "--approvals"))[0] == "allow"
    assert server.asked[0]["risk"] == "unknown"


def test_the_requester_is_the_dispatch_where_there_is_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMBA_DISPATCH_ID", "d-1")
    server.decide("approved")
    hook("PreToolUse", call(), "--approvals")

    assert (server.asked[0]["requester"], server.used[0]["requester"]) == ("d-1", "d-1")


@pytest.mark.parametrize("event", WAITS)
def test_a_refused_command_is_denied_with_the_operators_reason(server: Server, event: str) -> None:
    with waiting(event) as end:
        retry_until(lambda: server.streams, timeout=60)
        server.decide("refused", decision_reason="not on a Friday")
        assert decision(end()) == ("deny", "Gemba: the operator refused it: not on a Friday")
    assert server.used == []


def test_an_edited_command_is_told_to_the_agent(server: Server) -> None:
    server.others["0196-other"] = {"id": "0196-other", "state": "approved", "command": "rm -rf build/old"}
    server.decide("superseded", superseded_by="0196-other")

    assert decision(hook("PreToolUse", call(), "--approvals")) == (
        "deny",
        "Gemba: the operator changed it; run exactly this instead: rm -rf build/old",
    )


@pytest.mark.parametrize("state", ["expired", "withdrawn", "surprising", None])
def test_any_other_state_is_no_approval(server: Server, state: str) -> None:
    server.decide(state)

    behavior, reason = decision(hook("PreToolUse", call(), "--approvals"))
    assert behavior == "deny"
    assert "ask anew" in reason
    assert server.used == []


@pytest.mark.parametrize("event", WAITS)
def test_without_an_answer_in_time_the_agent_is_told_to_come_again(home: Path, server: Server, event: str) -> None:
    assert decision(hook(event, call(), "--approvals", "--deadline", "1")) == (
        "deny",
        f"Gemba: this waits for the operator as {REQUEST}: run exactly the same command again later",
    )
    server.decide("approved")
    assert decision(hook(event, call(), "--approvals"))[0] == "allow"
    assert server.asked[0] == server.asked[1]
    assert len(frames(home)) == 2


def test_a_decision_before_the_stream_is_open_is_found(server: Server) -> None:
    """Asked, decided, and only then listened to: the request itself is looked at once the stream is open."""
    pending = dict(server.request)
    answer_to = server.answer_to

    def decided_meanwhile(method: str, path: str, body: Any) -> tuple[int, bytes]:
        found = answer_to(method, path, body)
        if path == "/api/approvals":
            server.decide("approved")
            return 200, json.dumps(pending).encode()
        return found

    server.answer_to = decided_meanwhile  # type: ignore[method-assign]
    assert decision(hook("PreToolUse", call(), "--approvals"))[0] == "allow"


def test_a_server_may_go_and_come_back_meanwhile(workspace: Path) -> None:
    server = Server(workspace)
    with server.running():
        stack = contextlib.ExitStack()
        end = stack.enter_context(waiting())
        retry_until(lambda: server.streams, timeout=60)
    with stack:
        server.request["state"] = "approved"
        with server.running():
            assert decision(end())[0] == "allow"


def test_a_grant_that_is_used_already_lets_nothing_through(server: Server) -> None:
    server.decide("approved")
    server.statuses[f"/api/approvals/{REQUEST}/use"] = 409, b'{"detail": "the grant is consumed"}'

    assert decision(hook("PreToolUse", call(), "--approvals")) == (
        "deny",
        "Gemba: the server refused it: the grant is consumed",
    )


# -- failing closed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", WAITS)
def test_without_a_server_the_command_is_denied_and_the_frame_is_kept(home: Path, workspace: Path, event: str) -> None:
    behavior, reason = decision(hook(event, call(), "--approvals"))

    assert behavior == "deny"
    assert reason.startswith(f"Gemba: no server runs for {workspace}, so nobody can approve this: start gemba serve")
    assert [frame.payload for frame in frames(home)] == [call()]


def test_a_server_that_is_gone_denies(workspace: Path) -> None:
    (workspace / ".gemba/server.json").write_text(json.dumps({"socket": str(workspace / "gone.sock")}))

    assert "the server does not answer" in decision(hook("PreToolUse", call(), "--approvals"))[1]


@pytest.mark.parametrize("told", ["", "[]", "{}", '{"socket": 1}', '{"socket": "a\\u0000b"}'])
def test_a_server_file_that_is_not_understood_denies_or_blocks(workspace: Path, told: str) -> None:
    (workspace / ".gemba/server.json").write_text(told)
    found = hook("PreToolUse", call(), "--approvals")

    assert found.returncode == 2 or decision(found)[0] == "deny"


def test_without_a_workspace_the_command_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")

    assert "there is no workspace here" in decision(hook("PreToolUse", call(), "--approvals"))[1]


@pytest.mark.parametrize(
    ("status", "data"),
    [
        (200, b"not json"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"id": "../x", "state": "approved"}'),
        (200, b'{"id": "x", "state": "approved"}'),
        (422, b'{"detail": "cwd is missing"}'),
        (500, b"oops"),
        (503, b"[]"),
    ],
)
def test_an_answer_that_is_not_understood_lets_nothing_through(server: Server, status: int, data: bytes) -> None:
    server.statuses["/api/approvals"] = status, data
    found = hook("PreToolUse", call(), "--approvals")

    assert found.returncode == 2 or decision(found)[0] == "deny"
    assert server.used == []


@pytest.mark.parametrize("event", WAITS)
@pytest.mark.parametrize("sent", [b"", b"not json", b"[]"])
def test_input_that_is_not_understood_is_denied(home: Path, event: str, sent: bytes) -> None:
    assert decision(hook(event, None, "--approvals", stdin=sent))[0] == "deny"
    assert len(frames(home)) == 1


def test_a_wait_ends_at_its_deadline_even_if_the_server_says_nothing_at_all(workspace: Path) -> None:
    """A socket on which nobody answers: the connection stands, and that is all."""
    import socket

    path = workspace / ".gemba/silent.sock"
    (workspace / ".gemba/server.json").write_text(json.dumps({"socket": str(path)}))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(path))
        silent.listen()
        found = hook("PreToolUse", call(), "--approvals", "--deadline", "1")

    assert "the server does not answer" in decision(found)[1]


def test_rules_of_the_workspace_decide_what_is_asked_about(workspace: Path, server: Server) -> None:
    (workspace / ".gemba/approvals.toml").write_text('[[rule]]\nprogram = "frobnicate"\nclass = "T1"\n')

    assert answer(hook("PreToolUse", call("frobnicate --all"), "--approvals")) is None
    assert server.asked == []


def test_an_agent_that_changes_its_folder_gets_no_other_rules(
    workspace: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = workspace / "sub/.gemba"
    own.mkdir(parents=True)
    (own / "approvals.toml").write_text('[[rule]]\nprogram = "rm"\nclass = "T0"\n')
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(workspace))
    monkeypatch.chdir(own.parent)
    server.decide("refused")

    assert decision(hook("PreToolUse", call(), "--approvals"))[0] == "deny"
    assert len(server.asked) == 1


def test_rules_of_the_workspace_that_cannot_be_read_block(home: Path, workspace: Path, server: Server) -> None:
    (workspace / ".gemba/approvals.toml").write_text("broken = [")

    assert blocked(hook("PreToolUse", call("ls"), "--approvals"), "approvals.toml")
    assert blocked(hook("PermissionRequest", call("ls"), "--approvals"), "approvals.toml")
    assert [frame.hook for frame in frames(home)] == ["PreToolUse", "GembaPermission"]
