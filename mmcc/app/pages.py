"""The page itself: a handful of files that come with the package. Only these can be asked for, by name."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fastapi import APIRouter, Request, Response

from mmcc.app.failures import Failure

STATIC = Path(__file__).with_name("static")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
def index(request: Request) -> Response:
    return _file(request, "index.html")


@router.api_route("/favicon.ico", methods=["GET", "HEAD"])
def icon(request: Request) -> Response:
    return _file(request, "favicon.ico") if "favicon.ico" in _files() else Response(status_code=204)


@router.api_route("/static/{name:path}", methods=["GET", "HEAD"])
def static(request: Request, name: str) -> Response:
    return _file(request, name)


def _file(request: Request, name: str) -> Response:
    path = _files().get(name)
    if path is None:
        raise Failure(404, "not_found", "There is no such page.", "The library is at /.")
    content = path.read_bytes()
    headers = {"etag": f'"{hashlib.sha256(content).hexdigest()[:24]}"', "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(None, 304, headers)
    return Response(content, 200, headers, _TYPES[path.suffix])


def _files() -> dict[str, Path]:
    """By name: a list to look names up in, so that no name can lead elsewhere."""
    return {
        path.relative_to(STATIC).as_posix(): path
        for path in STATIC.rglob("*")
        if path.suffix in _TYPES and path.is_file() and not path.is_symlink()
    }
