"""What a client without a screen tells in the stream that it prints, whichever client it is.

Each client has a module here with `reader()`, which begins to read a stream: one decoded line of it in, what it tells
out, and nothing for a line that tells nothing of this. Readers do no I/O. A line that is not as expected never raises.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Conversation(NamedTuple):
    """The name by which the client takes this conversation up again."""

    id: str


class Said(NamedTuple):
    """Words of the agent: a message, or with `goes_on` a piece of one, which the next piece continues."""

    text: str
    goes_on: bool = False


class Ran(NamedTuple):
    """A tool that has run. A shell's is called `Bash`, with the line that was run as its input's `command`, without the
    shell around it, so that every client's commands are known by the same name. `ok`: None where the client does not
    tell how it ended."""

    tool: str
    input: dict[str, Any]
    output: str = ""
    ok: bool | None = True


class Used(NamedTuple):
    """What the model has used since it was told last, or with `in_all` since the conversation began; None where the
    client does not say."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    in_all: bool = False


class Trouble(NamedTuple):
    """The client could not do something, in its own words. Whether the turn failed is told by its exit code."""

    text: str


Heard = Conversation | Said | Ran | Used | Trouble
Read = Callable[[dict[str, Any]], list[Heard]]
