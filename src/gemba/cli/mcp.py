"""`gemba-mcp`: an agent's client speaks MCP with it over stdin and stdout, and so reaches its operator.

A call of a tool is a frame in the session's log, written here, whether or not a server runs; only for what a server
alone can say is it asked, over its private socket. So nothing is lost while it starts anew, and a question that waits
costs it nothing. One thread: between two messages of the client it looks for the replies that calls wait for.

Standard library only, and what a call does not need is not loaded: every agent has a process of this.
"""

import os
import select
import sys
import time

from gemba import wire
from gemba.cli import agent
from gemba.mcp import rpc, tools
from gemba.mcp.messaging import run_segment
from gemba.mcp.tool import Answer, NoServer
from gemba.speaker import Session
from gemba.wire import Refused

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gemba.cli.hook_server import HookServer
    from gemba.mcp.tool import Document, Waiting
    from gemba.watch import FolderWatch

COMMAND = agent.Command(
    "gemba-mcp",
    """Usage: gemba-mcp

Serve the tools with which an agent reaches its operator, as an MCP server on stdin and stdout.""",
    {},
    """Example, for a client that is told of its servers in JSON:
  {"mcpServers": {"gemba": {"command": "gemba-mcp"}}}

It works with a running server and without one. Exit codes: 0 the client has gone, 1 error.
Environment: GEMBA_SESSION_ID (required for every call), GEMBA_ROLE (coach or manager), GEMBA_INTERACTION_MODE
(dangerous, balanced or cautious), GEMBA_DISPATCH_ID, GEMBA_AGENT_TYPE, GEMBA_WORKSPACE, GEMBA_HOME (default
~/.gemba).""",
)

del COMMAND.flags["--json"]  # what it prints is JSON, for the client

LONGEST_MESSAGE = 32 * 1024 * 1024
PROGRESS_SECONDS = 5.0

_STDIN, _STDOUT = 0, 1
_EXCHANGE_SECONDS = 15.0  # the client's other messages wait meanwhile


def main(argv: list[str] | None = None) -> int:
    return COMMAND.run(serve, argv)


def serve(_given: agent.Given, leftover: list[str]) -> int:
    if leftover:
        raise Refused(f"unexpected argument {agent.shown(leftover[0])}; allowed: flags alone")
    if sys.stdin is None or sys.stdout is None:
        raise Refused("stdin and stdout must be open: they are the client's")
    try:  # noqa: SIM105  contextlib is slow to load
        Pipe().run()
    except BrokenPipeError:  # the client has gone
        pass
    return 0


class SocketServer:
    """The workspace's server, as far as one runs, over its private socket."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace

    def hand_in(self, handoff: "Document") -> "Document":
        return self._ask(lambda server: server.post("/api/handoffs", handoff))

    def handoff(self, id: str) -> "Document":
        return self._ask(lambda server: server.get(f"/api/handoffs/{id}"))

    def sections(self) -> "list[Document]":
        found: list[Document] = self._ask(lambda server: server.get("/api/context"))["sections"]
        return found

    def ready_work(self, limit: int) -> "Document":
        return self._ask(lambda server: server.get(f"/api/work-items/ready?limit={limit}"))

    def claim_work(self, id: str, owner: str, seconds: int) -> "Document":
        if not wire.valid_event_id(id):  # the same letters, and never a path
            raise Refused(f"item_id {agent.shown(id)} is not an id; allowed: letters, digits, '.', '_' and '-'")
        claim = {"owner": owner, "lease_seconds": seconds}
        return self._ask(lambda server: server.post(f"/api/work-items/{id}/claim", claim))

    def post_to_team(self, run: str, verb: str, body: "Document") -> "Document":
        path = f"/api/teams/{run_segment(run)}/messages{f'/{verb}' if verb else ''}"
        return self._ask(lambda server: server.post(path, body))

    def read_of_team(self, run: str, what: str, query: "Document") -> "Document":
        from urllib.parse import urlencode  # loaded with what speaks HTTP anyway

        path = f"/api/teams/{run_segment(run)}/messages{f'/{what}' if what else ''}"
        asked = urlencode({name: wire.valid_unicode(str(value)) for name, value in query.items()})
        return self._ask(lambda server: server.get(f"{path}?{asked}" if asked else path))

    def _ask(self, exchange: "Callable[[HookServer], Document]") -> "Document":
        from gemba.cli.hook_server import Declined, HookServer, Unanswered

        try:
            return exchange(HookServer(self._workspace, time.monotonic() + _EXCHANGE_SECONDS))
        except Unanswered as error:
            raise NoServer(str(error)) from None
        except (Declined, ValueError) as error:
            raise Refused(str(error)) from None


class Call:
    """A call that waits: for what, since when, and what its client wants to hear meanwhile."""

    def __init__(self, request: rpc.Message, waiting: "Waiting") -> None:
        self.id = request.id
        self.waiting = waiting
        self._token = request.progress_token
        self._began = self._told = time.monotonic()
        self.due = self._began

    def look(self) -> Answer | None:
        try:
            found = self.waiting.look()
        except (Refused, OSError) as error:
            return tools.refused(error)
        self.due = time.monotonic() + self.waiting.pause
        return found

    def progress(self, *, first: bool = False) -> bytes:
        """What its client is told now, b"" for nothing."""
        now = time.monotonic()
        if self._token is None or not (first or now - self._told >= PROGRESS_SECONDS):
            return b""
        self._told = now
        return rpc.progress(self._token, now - self._began, self.waiting.message)


class Pipe:
    """The conversation with one client, until it ends it. What waits then is waited for no longer, and stays open."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._poll.register(_STDIN, select.POLLIN)
        self._calls: list[Call] = []
        self._watch: FolderWatch | None = None
        self._watched: int | None = None
        self._buffer = bytearray()
        self._too_long = False

    def run(self) -> None:
        while True:
            ready = [fd for fd, _ in self._poll.poll(self._pause())]
            if _STDIN in ready:
                data = os.read(_STDIN, 1 << 16)
                if not data:
                    return
                for line in self._lines(data):
                    self._take(line)
            self._look()

    # -- what the client says --------------------------------------------------------------------------------------

    def _lines(self, data: bytes) -> "Iterator[bytes]":
        """The lines that are whole now; one that is too long is passed over."""
        *whole, rest = data.split(b"\n")
        for end in whole:
            line = bytes(self._buffer) + end
            self._buffer.clear()
            if self._too_long:
                self._too_long = False
            elif line.strip():
                yield line
        self._buffer += rest
        if len(self._buffer) > LONGEST_MESSAGE:
            self._buffer.clear()
            if not self._too_long:
                self._say(rpc.fault(rpc.Fault(rpc.PARSE_ERROR, f"a message has at most {LONGEST_MESSAGE} bytes")))
            self._too_long = True

    def _take(self, line: bytes) -> None:
        try:
            message = rpc.read(line)
            if message is None:
                return
            if message.method == "notifications/cancelled":
                self._cancel(message.params.get("requestId"))
            elif message.id is not None:
                if message.method == "tools/call":
                    self._call(message)
                else:
                    self._say(rpc.answer(message))
        except rpc.Fault as fault:
            self._say(rpc.fault(fault))

    def _call(self, request: rpc.Message) -> None:
        name = request.params.get("name")
        if not isinstance(name, str):
            raise rpc.Fault(rpc.INVALID_PARAMS, "the name of a tool is a text", request.id)
        try:
            session = Session.from_environment()
            found = tools.call(name, request.params.get("arguments"), session, SocketServer(session.workspace))
        except (Refused, OSError) as error:
            self._answer(request.id, tools.refused(error))
            return
        if isinstance(found, Answer):
            self._answer(request.id, found)
            return
        call = Call(request, found)
        self._calls.append(call)
        self._arm(session)
        self._say(call.progress(first=True))

    def _cancel(self, id: object) -> None:
        """The client waits no longer; it gets no answer, and what was asked stays open."""
        self._calls = [call for call in self._calls if call.id != id]

    # -- what calls wait for ---------------------------------------------------------------------------------------

    def _arm(self, session: Session) -> None:
        """Watch the replies; a call is looked at after that for the first time, so that none falls in between."""
        if self._watch is None:
            from gemba.watch import FolderWatch

            folder = wire.replies_folder(session.home)
            wire.make_folder(session.home, folder)
            self._watch = FolderWatch(folder)
        self._register()

    def _register(self) -> None:
        """What announces news may change, and go, as its folder does."""
        fd = self._watch.fd if self._watch and self._calls else None
        if fd == self._watched:
            return
        if self._watched is not None:
            self._poll.unregister(self._watched)
        if fd is not None:
            self._poll.register(fd, select.POLLIN)
        self._watched = fd

    def _pause(self) -> float | None:
        """Milliseconds until somebody has to be looked at; None: not before the client says something."""
        if not self._calls:
            return None
        from gemba.watch import POLL_SECONDS

        due = min(call.due for call in self._calls) - time.monotonic()
        return max(0.0, due if self._watched is not None else min(due, POLL_SECONDS)) * 1000

    def _look(self) -> None:
        if self._watch is None:
            return
        changed = self._watch.wait(0)
        self._register()
        now = time.monotonic()
        for call in list(self._calls):
            if call.due > now and changed is not None and f"{call.waiting.reply_to}.json" not in changed:
                continue
            found = call.look()
            if found is None:
                self._say(call.progress())
                continue
            self._calls.remove(call)
            self._answer(call.id, found)
        self._register()

    # -- what the client hears -------------------------------------------------------------------------------------

    def _answer(self, id: rpc.Id, answer: Answer) -> None:
        self._say(rpc.called(id, answer))
        answer.delivered()

    def _say(self, line: bytes) -> None:
        while line:
            try:
                line = line[os.write(_STDOUT, line) :]
            except BlockingIOError:  # the client has made its end one that never waits, and so ours
                room = select.poll()
                room.register(_STDOUT, select.POLLOUT)
                room.poll()


if __name__ == "__main__":
    sys.exit(main())
