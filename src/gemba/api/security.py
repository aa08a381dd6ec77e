"""Who may talk to the server, judged before anything else looks at a request.

On TCP: the Host must be one of ours (a rebound DNS name is not), the Origin if there is one must be our own page, and
everything but the page's files and the public reads wants an operator's token. On the unix socket the file's mode
(0600) has decided already; a token there only says which operator it is. Each refusal has a status and a code of its
own. Whom a request is from stands in the scope as `OPERATOR_KEY`; an operator who is removed is cut off.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gemba.api.metrics import PATH, Meter
from gemba.api.problem import problem
from gemba.operators import OPERATOR, Operators

OPERATOR_KEY = "gemba.operator"
SHORT_WAY = "gemba.write_part"  # in a scope, what writes the next part of a response that has begun
MCP_PATH = "/mcp"

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


class Guard:
    """The outermost layer: refuses, or lets through with the security headers on the answer."""

    def __init__(
        self,
        inner: ASGIApp,
        *,
        operators: Operators,
        origins: frozenset[str],
        public: frozenset[str],
        meter: Meter,
    ) -> None:
        self._inner = inner
        self._meter = meter
        self._operators = operators
        self._origins = origins
        self._hosts = frozenset(origin.partition("://")[2] for origin in origins)
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"nothing but HTTP is served, so nothing else is judged: {scope['type']}")

        begun = self._meter.begin()

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._meter.count(scope, message["status"], begun, not is_api(scope["path"]))
                given = message["headers"]
                names = {name for name, _ in given}
                message["headers"] = [*given, *(header for header in _RAW_SECURITY_HEADERS if header[0] not in names)]
            await send(message)

        headers = Headers(scope=scope)
        if _is_unix_socket(scope):
            refusal = self._identify(scope, headers) if "authorization" in headers else None
            scope.setdefault(OPERATOR_KEY, OPERATOR)
        else:
            refusal = self._refusal(scope, headers)
        answer: Send = send_guarded
        if scope.get(OPERATOR_KEY, OPERATOR) != OPERATOR:
            scope.pop(SHORT_WAY, None)  # it leads past what is judged here, part by part
            answer = self._while_known(scope[OPERATOR_KEY], _token(headers), send_guarded)
        await (refusal or self._inner)(scope, receive, answer)

    def _refusal(self, scope: Scope, headers: Headers) -> ASGIApp | None:
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
        return self._identify(scope, headers)

    def _identify(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """Write into the scope whose token it is."""
        token = _token(headers)
        if token is None:
            detail = "a token is needed: open the address that `gemba open` prints"
            return problem(401, "token_missing", detail, headers={"WWW-Authenticate": "Bearer"})
        name = self._operators.name_of(token)
        if name is None:
            detail = "the token is not one of this workspace: open the address that `gemba open` prints"
            return problem(401, "token_wrong", detail, headers={"WWW-Authenticate": "Bearer"})
        scope[OPERATOR_KEY] = name
        return None

    def _while_known(self, name: str, token: bytes | None, send: Send) -> Send:
        """An answer that goes on, as a stream does, ends at its next bytes once its operator is removed."""
        ended = False

        async def send_on(message: Message) -> None:
            nonlocal ended
            if ended:
                return
            if message["type"] == "http.response.body" and self._operators.name_of(token or b"") != name:
                ended = True
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        return send_on


def _token(headers: Headers) -> bytes | None:
    """What stands behind `Bearer`; of another scheme, something that is no token."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return (token.encode() if scheme.lower() == "bearer" else b"") if token else None


def is_api(path: str) -> bool:
    """Everything else is the page."""
    return path.startswith("/api/") or path in ("/api", PATH, MCP_PATH)


def _is_unix_socket(scope: Scope) -> bool:
    """The server's own end is a path without a port; a client cannot influence that."""
    server = scope.get("server")
    return server is not None and server[1] is None
