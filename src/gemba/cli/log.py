"""The program's own log: lines on stderr, with what happened and never with what agents or operators wrote.

What is logged is chosen where it is logged; as a second line of defence `redacted` masks what could be a secret on its
way out: the values of telling names, and addresses and credentials inside texts. Other people's libraries log through
the same lines.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, MutableMapping
from typing import Any

import click
import structlog
from structlog.typing import Processor

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")

_MASK = "***"
_SECRET_NAMES = re.compile(
    r"token|authoriz|passw|passphrase|secret|credential|cookie|api_?key|(^|_)(url|uri|dsn)s?$", re.IGNORECASE
)
# An address may hold a password, or be one; only its scheme is told.
_ADDRESS = re.compile(r"\b([a-z][a-z0-9+.-]*)://[^\s'\"<>]+", re.IGNORECASE)
_CREDENTIAL = re.compile(r"\b(bearer\s+|basic\s+|(?:token|password|secret)\s*[=:]\s*)[^\s'\",;&)}]+", re.IGNORECASE)


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of a command that runs on and on. `--verbose` is short for the level info."""
    for option in (
        click.option("--verbose", is_flag=True, help="Log more: the same as --log-level info."),
        click.option(
            "--log-level",
            type=click.Choice(LEVELS),
            envvar="GEMBA_LOG_LEVEL",
            help="Log from this level on (default warning). From info on a line for every ask that is opened, "
            "answered, delivered; at debug for every request. Never a text of anybody's.",
        ),
        click.option(
            "--log-format",
            type=click.Choice(FORMATS),
            envvar="GEMBA_LOG_FORMAT",
            help="How the log is written to stderr (default text).",
        ),
    ):
        command = option(command)
    return command


def set_up_logging(verbose: bool = False, level: str | None = None, log_format: str | None = None) -> None:
    number = logging.getLevelNamesMapping()[(level or ("info" if verbose else "warning")).upper()]
    as_json = log_format == "json"
    stamped: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.format_exc_info,
    ]
    render: Processor = (
        structlog.processors.JSONRenderer(default=repr)
        if as_json
        else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"])
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        processors=[*stamped, redacted, render],
    )
    handler = logging.StreamHandler(sys.stderr)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=stamped, processors=[remove_meta, redacted, render])
    )
    # Their own news at info and debug are about themselves; what they warn of may matter.
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def redacted(_logger: Any, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The same line without what could be a secret."""
    for name, value in fields.items():
        fields[name] = _MASK if _SECRET_NAMES.search(name) and value is not None else _masked(value)
    return fields


def _masked(value: Any) -> Any:
    match value:
        case str():
            return _CREDENTIAL.sub(rf"\1{_MASK}", _ADDRESS.sub(rf"\1://{_MASK}", value))
        case dict():
            return redacted(None, "", dict(value))
        case list() | tuple():
            return [_masked(part) for part in value]
        case None | bool() | int() | float():
            return value
    return _masked(repr(value))
