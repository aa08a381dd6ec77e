"""A role-spec, a finding about one, and a file that may be one. Types alone; everything in this folder uses them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

import msgspec

from gemba.documents.finding import DocumentFinding

Pattern = Literal["research", "document", "code", "analysis", "validation"]

PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
KEYS = ("role", "prefix", "inner_loop", "output_tag", "message_types", "cli_tools")
OPTIONAL = ("cli_tools",)
SPELLINGS = {"CLI tools": "cli_tools"}
MESSAGE_TYPES = ("success", "error")
ERROR_MESSAGE = "error"

ROLE = re.compile(r"[a-z][a-z0-9_-]{0,31}")
ROLE_RULE = "small letters, digits, - and _, at most 32 of them, such as release-writer"
PREFIX = re.compile(r"[A-Z][A-Z0-9_]{0,31}")
PREFIX_RULE = "capital letters, digits and _, at most 32 of them, such as IMPL"

MOST_BYTES = 131_072  # of a file; what an agent is to follow is far shorter
LONG, TOO_LONG = 80, 120  # lines, without the traits
LEAST_MUST, MOST_MUST = 3, 5
LEAST_ERRORS = 3


class Document(NamedTuple):
    """A file that is taken for a role-spec: its name for people, its bytes, or why it has none."""

    file: str
    data: bytes = b""
    problem: str | None = None


class Handling(NamedTuple):
    """A row of the table of errors."""

    scenario: str
    resolution: str


class RoleSpec(msgspec.Struct, frozen=True):
    """A role that a team can have. `body` is what its agent reads; what it loads and publishes is kept of each task."""

    role: str
    prefix: str
    inner_loop: bool
    cli_tools: tuple[str, ...]
    title: str
    responsibility: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    loads: tuple[str, ...]
    publishes: tuple[str, ...]
    state: str
    errors: tuple[Handling, ...]
    file: str
    body: str

    @property
    def output_tag(self) -> str:
        return output_tag(self.role)

    @property
    def success_message(self) -> str:
        return success_message(self.prefix)


class RoleFinding(DocumentFinding, frozen=True):
    """Something about the file of a role-spec: which rule says so, where, and what helps."""


class Judged(NamedTuple):
    """Everything found about a file, and the role-spec if nothing of it is an error."""

    findings: list[RoleFinding]
    spec: RoleSpec | None = None


def output_tag(role: str) -> str:
    """What stands before everything that a role says."""
    return f"[{role}]"


def success_message(prefix: str) -> str:
    """The type of the message that says that a task of this prefix is done."""
    return f"{prefix.lower()}_complete"
