"""Notifications: what they say, and their way out through apprise, which only this module knows.

`send` blocks for a bounded time and never raises; it is called in a thread, by a flow's step or by `gemba policy test`.
A channel's URL may hold a password: it goes to apprise and nowhere else. Apprise's own log, which names URLs, is cut
off; what went wrong is told in our words. Apprise is loaded when it is first needed (a third of a second).
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gemba.config import ChannelSettings, Secret, Settings, Workspace
from gemba.escalations.policy import Channel, Policies, duration_text, policies_of
from gemba.text import one_line, showable, storable
from gemba.toml import nearest

if TYPE_CHECKING:
    import apprise

PATIENCE_SECONDS = 12.0
LONGEST_TITLE = 120
LONGEST_BODY = 1_000

_SOCKET_SECONDS = 6.0
_LONGEST_FILE = 4_096
_INSTALL = 'apprise is not installed: pip install "gemba[notify]"'
# Whatever apprise and what it sends with would log: hosts, paths, tokens.
_CHATTY = ("apprise", "urllib3", "requests", "charset_normalizer", "markdown", "paho", "slixmpp")
# What makes a chat call a whole room, or a person. A space of no width keeps it a text.
_CALLS = re.compile(r"(?<=@)(?=everyone|here|channel|all|room|online)|(?<=<)(?=[!@#&])", re.IGNORECASE)


class Sent(msgspec.Struct, frozen=True):
    """How a notification went: `ok` when everybody was reached, else `problem` says who was not and why."""

    ok: bool
    problem: str | None = None
    reached: tuple[str, ...] = ()


class Notice(msgspec.Struct, frozen=True):
    """What a notification tells: the facts of one escalation that waits."""

    id: str
    kind: str
    urgency: str
    words: str  # its title, or its text
    agent_type: str
    session_id: str
    waited: int  # microseconds
    number: int = 1  # of the reminder
    others: int = 0  # how many more ask the same
    page: str | None = None  # where to answer

    @property
    def title(self) -> str:
        again = f" ({self.number})" if self.number > 1 else ""
        return one_line(
            f"{self.urgency.capitalize()} {_spoken(self.kind)}{again}: {_first_line(self.words)}", LONGEST_TITLE
        )

    @property
    def body(self) -> str:
        """Plain lines. Never the whole text of an ask, and of the page's address never what stands behind `#`."""
        same = f" (and {self.others} more ask the same)" if self.others else ""
        lines = [
            one_line(_first_line(self.words), 400) + same,
            f"from {one_line(self.agent_type or 'an agent', 60)}, session {one_line(self.session_id, 120)}",
            f"{_spoken(self.kind)} ({self.urgency}), waiting for {duration_text(max(self.waited, 0))}, id {self.id}",
        ]
        if self.page is not None:
            lines.append("answer at " + re.split(r"[#?]", self.page)[0])
        lines.append(f'or: gemba answer {self.id[-6:]} "…"')
        return "\n".join(lines)


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")


def _first_line(text: str) -> str:
    return next((line for line in text.strip().splitlines() if line.strip()), "")


# ---- channels --------------------------------------------------------------------------------------------------------


def open_policies(settings: Settings, workspace: Workspace, environment: Mapping[str, str] = os.environ) -> Policies:
    """The policies of a workspace, and its channels with the URLs that they name."""

    def resolve(channel: ChannelSettings) -> tuple[Secret | None, str | None]:
        if channel.url is not None:
            return channel.url, None
        if channel.url_env is not None:
            value = environment.get(channel.url_env, "").strip()
            return (Secret(value), None) if value else (None, f"{channel.url_env} is not set in the environment")
        return _from_file(workspace.root / Path(channel.url_file or "").expanduser())

    return policies_of(settings, resolve)


def _from_file(file: Path) -> tuple[Secret | None, str | None]:
    try:
        with file.open("rb") as stream:
            lines = stream.read(_LONGEST_FILE).decode().split()
    except OSError as error:
        return None, f"{file.name} cannot be read: {error.strerror}"
    except (UnicodeDecodeError, ValueError):
        return None, f"{file.name} is not text"
    if len(lines) != 1:
        return None, f"{file.name} holds {'no' if not lines else 'more than one'} URL; allowed: one and nothing else"
    return Secret(lines[0]), None


def problem_of(channel: Channel) -> str | None:
    """Why nobody can be reached through a channel, as far as that is known without sending."""
    if channel.kind != "apprise" or channel.url is None:
        return channel.problem
    if importlib.util.find_spec("apprise") is None:
        return _INSTALL
    return None if _service(channel.url) is not None else _unknown(channel.url)


def _unknown(url: Secret) -> str:
    from apprise.manager_plugins import NotificationManager

    manager: Any = NotificationManager  # it has no types
    known = manager().schemas()
    if url.scheme is None:
        return "apprise cannot read this address: it begins with no scheme such as ntfy://"
    if url.scheme in known:
        return f"apprise cannot read this {url.scheme}:// address: something is missing in it, or too much"
    close = nearest(url.scheme, sorted(known))
    meant = f"{close.removesuffix('?')}://?" if close.endswith("?") else ""
    return f"apprise knows no {url.scheme}:// addresses{meant}"


# ---- the way out -----------------------------------------------------------------------------------------------------


def send(channels: Sequence[Channel], title: str, body: str, patience: float = PATIENCE_SECONDS) -> Sent:
    """Tell everybody behind these channels at once; each is given the same time, and nobody waits for another."""
    # A thread of its own for each, that nobody has to wait for at the end of the process.
    sendings = [_Sending(channel, _plain(title, LONGEST_TITLE), _plain(body, LONGEST_BODY)) for channel in channels]
    deadline = time.monotonic() + patience
    problems, reached = [], []
    for sending in sendings:
        sending.done.wait(max(0.0, deadline - time.monotonic()))
        problem = sending.problem if sending.done.is_set() else f"no answer within {patience:g} s"
        if problem is None:
            reached.append(sending.channel.name)
        else:
            problems.append(f"{sending.channel.name}: {problem}")
    if not channels:
        problems.append("there is nobody to notify")
    return Sent(not problems, "; ".join(problems) or None, tuple(reached))


class _Sending:
    def __init__(self, channel: Channel, title: str, body: str) -> None:
        self.channel = channel
        self.problem: str | None = None
        self.done = threading.Event()
        threading.Thread(target=self._run, args=(title, body), name="notify", daemon=True).start()

    def _run(self, title: str, body: str) -> None:
        try:
            self.problem = _deliver(self.channel, title, body)
        except Exception as error:  # noqa: BLE001 - whatever a service does; its words may hold the URL
            self.problem = f"apprise failed with {type(error).__name__}"
        finally:
            self.done.set()


def _deliver(channel: Channel, title: str, body: str) -> str | None:
    if channel.url is None:
        return channel.problem or "it has no URL"
    if importlib.util.find_spec("apprise") is None:
        return _INSTALL
    service = _service(channel.url)
    if service is None:
        return _unknown(channel.url)
    import apprise

    outbox = apprise.Apprise(service, asset=_asset())
    with outbox.notify(body, title, body_format="text", interpret_escapes=False) as result:
        if result:
            return None
        told = " ".join(entry.message for entry in result.logs())
    status = re.search(r"\berror=([1-5]\d\d)\b", told)
    if status is not None:
        return f"the {channel.url.scheme} service refused it with {status[1]}"
    if "onnection error" in told:
        return f"the {channel.url.scheme} service cannot be reached, or did not answer"
    return f"the {channel.url.scheme} service did not take it"


def _service(url: Secret) -> apprise.NotifyBase | None:
    """Apprise's object for a URL, which may not wait longer, nor try again by itself, whatever the URL says."""
    _quiet()
    import apprise

    service: Any = apprise.Apprise.instantiate(url.reveal(), asset=_asset())
    if service is not None:
        service.socket_connect_timeout = min(service.socket_connect_timeout, _SOCKET_SECONDS)
        service.socket_read_timeout = min(service.socket_read_timeout, _SOCKET_SECONDS)
        service.retry = 0
    return service  # type: ignore[no-any-return]  # its limits are set past its own types


def _asset() -> apprise.AppriseAsset:
    import apprise

    # In this thread and without a limit of apprise's own: `send` has one.
    return apprise.AppriseAsset(app_id="Gemba", app_desc="Gemba", async_mode=False, service_timeout=0)


def _quiet() -> None:
    for name in _CHATTY:
        logger = logging.getLogger(name)
        if logger.propagate:
            logger.propagate = False
            logger.addHandler(logging.NullHandler())


def _plain(text: str, longest: int) -> str:
    """An agent's words as data: no control characters, nobody called by them, cut."""
    clean = _CALLS.sub("\u200b", showable(storable(text)))
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"
