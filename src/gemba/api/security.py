"""Who may talk to the server, judged before anything else looks at a request.

On TCP: the Host must be one of ours (a rebound DNS name is not), the Origin if there is one must be our own page, and
everything but the page's files and the public reads wants the token. On the unix socket the file's mode (0600) has
decided already. Each refusal has a status and a code of its own.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
import tempfile
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gemba.api.problem import problem
from gemba.errors import Unusable

_SECURITY_HEADERS = {
    "Cache-Control": "no-store",  # unless the answer says otherwise: all but the page's files is news
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# As they go into an answer, whose headers Starlette has in lower case too.
_RAW_SECURITY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in _SECURITY_HEADERS.items()]


def read_token(file: Path) -> str:
    """The workspace's token, made at first use: 0600 from its first byte, whole or absent.

    One that others can read or have put there, as a checkout would, is no secret: it is replaced.
    """
    for _ in range(2):
        try:
            if not _is_private(file):
                file.unlink()
            token = file.read_text().strip()
            if token:
                return token
            raise Unusable(f"{file} is empty; without it a new one is made", code="token_unusable")
        except FileNotFoundError:
            _make_token(file)
        except (OSError, UnicodeDecodeError) as error:
            raise Unusable(f"{file} cannot be read: {error}", code="token_unusable") from None
    raise Unusable(f"{file} cannot be made", code="token_unusable")


def _is_private(file: Path) -> bool:
    status = file.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _make_token(file: Path) -> None:
    try:
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=".token-") as partial:  # 0600
            partial.write(secrets.token_urlsafe(32) + "\n")
            partial.flush()
            with contextlib.suppress(FileExistsError):
                os.link(partial.name, file)  # unlike a rename it never replaces a token that was just made elsewhere
    except OSError as error:
        raise Unusable(f"{file} cannot be written: {error.strerror}", code="token_unusable") from None


class Guard:
    """The outermost layer: refuses, or lets through with the security headers on the answer."""

    def __init__(self, inner: ASGIApp, *, token: str, origins: frozenset[str], public: frozenset[str]) -> None:
        self._inner = inner
        self._token = token.encode()
        self._origins = origins
        self._hosts = frozenset(origin.partition("://")[2] for origin in origins)
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"nothing but HTTP is served, so nothing else is judged: {scope['type']}")

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"]
                names = {name for name, _ in given}
                message["headers"] = [*given, *(header for header in _RAW_SECURITY_HEADERS if header[0] not in names)]
            await send(message)

        refusal = None if _is_unix_socket(scope) else self._refusal(scope)
        await (refusal or self._inner)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return problem(421, "host_refused", "this server does not answer for that host", found=host[:200])
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return problem(403, "origin_refused", "requests from another origin are refused", found=origin[:200])
        path = scope["path"]
        if not path.startswith("/"):
            return problem(400, "target_refused", "the request must name a path", found=path[:200], allowed="/…")
        if not is_api(path) or path in self._public:
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if not token:
            detail = "a token is needed: open the address that `gemba open` prints"
            return problem(401, "token_missing", detail, headers={"WWW-Authenticate": "Bearer"})
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.encode(), self._token):
            detail = "the token is not the one of this workspace: open the address that `gemba open` prints"
            return problem(401, "token_wrong", detail, headers={"WWW-Authenticate": "Bearer"})
        return None


def is_api(path: str) -> bool:
    """Everything else is the page."""
    return path == "/api" or path.startswith("/api/")


def _is_unix_socket(scope: Scope) -> bool:
    """The server's own end is a path without a port; a client cannot influence that."""
    server = scope.get("server")
    return server is not None and server[1] is None
