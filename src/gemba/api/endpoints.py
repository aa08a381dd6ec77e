"""The rows of the tables as endpoints: decode, call one verb in a thread, encode. All errors leave as problems."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import msgspec
import structlog
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from gemba import clock, wire
from gemba.action import Action
from gemba.api.cache import Cache
from gemba.api.decode import Malformed, decode_body, decode_query
from gemba.api.problem import MEDIA_TYPE as PROBLEM
from gemba.api.problem import problem, problem_of
from gemba.api.read import Read
from gemba.api.security import OPERATOR_KEY
from gemba.app import App
from gemba.errors import GembaError, Invalid, NotFound
from gemba.store import confirmations
from gemba.store.confirmations import Answer
from gemba.store.database import Transaction, reason_of
from gemba.text import storable

_CONFIRM_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
_ESCAPED = "gemba.escaped"  # of a scope

Endpoint = Callable[[Request], Awaitable[Response]]

log = structlog.get_logger("gemba.api")


def read_route(app: App, read: Read, cache: Cache) -> Route:
    async def endpoint(request: Request) -> Response:
        raw_query = request.scope["query_string"]
        key = (request.scope["path"], raw_query)
        body = cache.find(key) if read.cached else None
        if body is None:
            query = decode_query(raw_query, read.query)
            ids = _ids(request)
            if read.personal:
                ids = {**ids, "operator": request.scope[OPERATOR_KEY]}

            def make() -> bytes:
                return msgspec.json.encode(read.handler(app, query, **ids))

            body = await (cache.make(key, make) if read.cached else asyncio.to_thread(make))
        return Response(body, media_type=read.media_type)

    return Route(read.path, guarded(endpoint), methods=["GET"])


def action_route(app: App, action: Action) -> Route:
    async def endpoint(request: Request) -> Response:
        confirm_id = _confirm_id(request)
        raw_query = request.scope["query_string"]
        asked = decode_query(raw_query, action.in_query)
        data = await read_body(request, app.settings.server.max_body_bytes)
        body = _with_query(decode_body(data, action.body), asked)
        ids = _ids(request)
        operator: str = request.scope[OPERATOR_KEY]
        told = [operator.encode(), request.method.encode(), request.scope["path"].encode(), data]
        if raw_query:
            told.append(raw_query)
        fingerprint = hashlib.sha256(b"\0".join(told)).hexdigest()

        def run() -> Answer:
            if action.prepare is not None:
                with app.database.read() as connection:
                    known = confirmations.answered(connection, confirm_id, fingerprint, clock.now())
                if known is not None:
                    return known
            prepared, refusal = _prepared(app, action, body, ids)

            def change(tx: Transaction) -> Answer:
                def once() -> Answer:
                    if refusal is not None:
                        raise refusal
                    return Answer(action.status, msgspec.json.encode(action.verb(tx, prepared, **ids)))

                return confirmations.once(tx, confirm_id, fingerprint, once, _refused)

            return app.database.change(change, operator)

        answer = await asyncio.to_thread(run)
        headers = {"X-GEMBA-Replayed": "true"} if answer.replayed else None
        media_type = "application/json" if answer.status < 400 else PROBLEM
        return Response(answer.body, answer.status, headers, media_type=media_type)

    return Route(action.path, guarded(endpoint), methods=[action.method])


def _prepared(app: App, action: Action, body: msgspec.Struct, ids: dict[str, str]) -> tuple[Any, GembaError | None]:
    """What the verb gets, or why it gets nothing: that is an answer too, to be stored like any other."""
    try:
        return action.prepared(app.database.surroundings, body, **ids), None
    except GembaError as error:
        return None, error


def _refused(error: GembaError) -> Answer:
    told = problem_of(error)
    return Answer(told.status_code, bytes(told.body))


def _with_query(body: msgspec.Struct, asked: msgspec.Struct) -> msgspec.Struct:
    given = {name: value for name, value in msgspec.structs.asdict(asked).items() if value is not msgspec.UNSET}
    return msgspec.structs.replace(body, **given) if given else body


def guarded(endpoint: Endpoint) -> Endpoint:
    """Whatever an endpoint raises leaves as a problem; what is internal stays in the log."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except TooLarge as error:
            return problem(413, error.code, error.message, found=error.found, allowed=error.allowed)
        except WrongMedia as error:
            return problem(415, error.code, error.message, found=error.found, allowed=error.allowed)
        except ConfirmMissing as error:
            return problem(428, error.code, error.message, allowed=error.allowed)
        except Malformed as error:
            return problem(400, error.code, error.message, pointer=error.pointer)
        except GembaError as error:
            return problem_of(error)
        except ClientDisconnect:
            return Response(status_code=400)
        except (OperationalError, InterfaceError, NoConnectionLeft) as error:
            log.error("the database failed", path=request.url.path, reason=reason_of(error))
            # Not "nothing was changed": a connection that is lost during the commit leaves that open.
            return problem(
                503, "database", "the database is not usable at the moment; the same request can be sent again"
            )
        except Exception:
            log.exception("unexpected error", path=request.url.path)
            return problem(500, "internal", "something went wrong inside; the server's log has it")

    return answer


async def not_found(request: Request, error: Exception) -> Response:
    """What the router itself refuses."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        headers = {"Allow": allowed}
        return problem(
            405, "method_not_allowed", f"{request.method} is not possible here", headers=headers, allowed=allowed
        )
    return problem(404, "not_found", "there is nothing at this path", found=request.url.path[:200])


class TooLarge(Invalid):
    pass


class WrongMedia(Invalid):
    pass


class ConfirmMissing(Invalid):
    pass


async def read_body(request: Request, limit: int) -> bytes:
    """The body, up to a limit and no further: what is longer is refused without being read."""
    declared = request.headers.get("content-length", "0")
    chunks: list[bytes] = []
    size = int(declared) if declared.isdecimal() and len(declared) < 20 else 0
    if size <= limit:
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                break
            chunks.append(chunk)
    if size > limit:
        raise TooLarge(f"the body is larger than {limit:,} bytes", code="body_too_large", found=size, allowed=limit)
    media = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if size and media != "application/json":
        raise WrongMedia(
            f"the body is {media[:80]}", code="wrong_media_type", found=media[:80], allowed="application/json"
        )
    return b"".join(chunks)


def _confirm_id(request: Request) -> str:
    confirm_id = request.headers.get("x-gemba-confirm")
    allowed = "1 to 128 letters, digits, '.', '_', ':' or '-': a new one for each new request"
    if not confirm_id:
        raise ConfirmMissing("the header X-GEMBA-Confirm is missing", code="confirm_missing", allowed=allowed)
    if not _CONFIRM_ID.match(confirm_id):
        raise Invalid("X-GEMBA-Confirm is not an id", code="confirm_invalid", found=confirm_id[:80], allowed=allowed)
    return confirm_id


def escaped(scope: Scope) -> Scope:
    """A request whose path has an id with a slash, with the path as it was sent: a router would part the id there.
    Those who start sessions elsewhere give them any id."""
    sent: bytes = scope.get("raw_path") or b""
    return {**scope, "path": sent.decode("latin-1"), _ESCAPED: True} if b"%2f" in sent.lower() else scope


def _ids(request: Request) -> dict[str, str]:
    ids: dict[str, str] = request.path_params
    if _ESCAPED in request.scope:
        ids = {name: unquote(value) for name, value in ids.items()}
    for value in ids.values():
        if len(value) > wire.MAX_SESSION_ID or value != storable(value):
            raise NotFound("nothing has that id", code="not_found")
    return ids
