"""Everything Gemba refuses, as one small tree.

    GembaError
    ├── Invalid        what was sent does not fit          (HTTP 422, exit 1)
    ├── NotFound       nothing has that id                 (HTTP 404, exit 1)
    ├── Conflict       it does not fit the present state   (HTTP 409, exit 1)
    └── Unusable       the surroundings do not work: files, database, port (HTTP 503, exit 1)

A message is one sentence for a person: what was wrong, what was found, what is allowed. `code` is for programs.
"""

from __future__ import annotations

from typing import Any, ClassVar

_WHOLES = ("/item/", "/raw_input/", "/value/")  # that a request wraps what a person gave in
_DEEPEST_FIELD = 2  # a longer pointer is a place in a document of the person's own, and stays one


def in_words(pointer: str) -> str:
    """A field by its name: `/item/title` is title, `/relations/0/kind` is relations[1].kind."""
    whole = next((each for each in _WHOLES if pointer.startswith(each)), "/")
    words = ""
    for step in pointer.removeprefix(whole).split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        words += f"[{int(name) + 1}]" if name.isdecimal() and words else f"{'.' if words else ''}{name}"
    return words


class GembaError(Exception):
    """The base: a readable message, a stable code, and where the fault lies when it lies in a document. `status` is
    what HTTP answers; a kind of its own may have another one than its parent."""

    status: ClassVar[int]

    def __init__(
        self,
        message: str,
        *,
        code: str,
        pointer: str | None = None,
        found: Any = None,
        allowed: Any = None,
        **extra: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.pointer = pointer
        self.found = found
        self.allowed = allowed
        self.extra = extra

    @property
    def plain(self) -> str:
        """The message for a person, who knows fields by their names and not by the place in a request."""
        pointer = self.pointer
        if not pointer or pointer.count("/") > _DEEPEST_FIELD or not self.message.startswith(pointer):
            return self.message
        return in_words(pointer) + self.message.removeprefix(pointer)


class Invalid(GembaError):
    """A document, flag or file that does not fit its type."""

    status = 422


class NotFound(GembaError):
    """An id that names nothing."""

    status = 404


class Conflict(GembaError):
    """A request that the present state does not allow; `extra` shows that state."""

    status = 409


class Unusable(GembaError):
    """A file, folder, database, socket or program that Gemba needs and cannot use."""

    status = 503
