"""What a tool is, what a call ends in, and what a call that waits is asked: types that both servers share.

A verb does what can be done at once. What has to wait is a `Waiting`, at which each server looks in its own way: the
pipe of one agent between two lines of its client, the HTTP server among hundreds of others. Standard library only.
"""

from _collections_abc import Callable  # `collections.abc` is the same, at the price of `collections`

TYPE_CHECKING = False  # a type checker takes it for true; `typing` would have to be loaded for it
if TYPE_CHECKING:
    from typing import Any, Protocol

    from gemba.speaker import Session

    Document = dict[str, Any]

    class Server(Protocol):
        """What only the workspace's server can do. Each raises NoServer, or Refused with the server's reason."""

        def hand_in(self, handoff: Document) -> Document: ...
        def handoff(self, id: str) -> Document: ...
        def sections(self) -> list[Document]: ...
        def ready_work(self, limit: int) -> Document: ...
        def claim_work(self, id: str, owner: str, seconds: int) -> Document: ...
        def post_to_team(self, run: str, verb: str, body: Document) -> Document: ...
        def read_of_team(self, run: str, what: str, query: Document) -> Document: ...

    class Waiting(Protocol):
        """A call that waits. `look` has its answer, or None yet, or raises Refused; `pause` is how long until the next
        look, if no reply called `reply_to` comes before."""

        message: str
        reply_to: str

        @property
        def pause(self) -> float: ...
        def look(self) -> "Answer | None": ...

    Verb = Callable[[Session, Document, Server], "Answer | Waiting"]


class NoServer(Exception):
    """No server runs, or it does not answer; the message says which."""


class Answer:
    """What a call ends in: `text` for the model, `facts` for programs. `delivered` is called once it was handed on."""

    def __init__(
        self,
        text: str,
        facts: "Document | None" = None,
        *,
        is_error: bool = False,
        delivered: Callable[[], None] | None = None,
    ) -> None:
        self.text = text
        self.facts = facts
        self.is_error = is_error
        self.delivered = delivered or (lambda: None)


class Tool:
    """One row of the table: what a client is told of a tool, and the verb behind it."""

    def __init__(
        self, name: str, title: str, description: str, schema: "Document", verb: "Verb", *, reads_only: bool = False
    ) -> None:
        self.name = name
        self.title = title
        self.description = description
        self.schema = schema
        self.verb = verb
        self.reads_only = reads_only

    def listed(self) -> "Document":
        """The row as `tools/list` has it."""
        hints = {"readOnlyHint": self.reads_only, "destructiveHint": False, "openWorldHint": False}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": hints,
        }
