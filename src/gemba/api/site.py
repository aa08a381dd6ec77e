"""The page: built files served from inside the package; any path of the page's own router gets its index."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "page"

# Where programs look for what a server offers, an MCP client for a way to sign in: none of the page's own paths.
_WELL_KNOWN = ".well-known/"
_NOT_BUILT = "The page is not built. In a checkout, `make web` builds it.\n"


def routes() -> list[BaseRoute]:
    found: list[BaseRoute] = [Route("/{path:path}", page, methods=["GET"])]
    if (PAGE / "assets").is_dir():
        found.insert(0, Mount("/assets", _Assets(directory=PAGE / "assets")))
    return found


def page(request: Request) -> Response:
    """A file of the build by its exact name, else the index."""
    name = request.path_params["path"]
    if name.startswith(_WELL_KNOWN):
        raise HTTPException(404)
    if name in _top_files():
        return FileResponse(PAGE / name, headers={"Cache-Control": "no-cache"})
    if not (PAGE / "index.html").is_file():
        return PlainTextResponse(_NOT_BUILT, status_code=503)
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})


def _top_files() -> set[str]:
    return {entry.name for entry in PAGE.iterdir() if entry.is_file()} if PAGE.is_dir() else set()


class _Assets(StaticFiles):
    """Their names hold a digest of their content, so they may be kept for ever."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
