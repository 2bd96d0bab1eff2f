"""Errors as the interface tells them: a status, and JSON with the cause, the remedy and a code for programs."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from mmcc.errors import InputError, MissingDependency, OutputError, UsageError
from mmcc.terminal import complain
from mmcc.text import one_line


class Failure(Exception):
    """An answer other than the one that was asked for."""

    def __init__(self, status: int, code: str, cause: str, remedy: str | None = None, **headers: str) -> None:
        self.status, self.code, self.cause, self.remedy = status, code, cause, remedy
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(cause)


class Busy(Failure):
    """More is being asked than is answered."""

    def __init__(self) -> None:
        super().__init__(503, "busy", "Too many questions are waiting.", "Ask again in a moment.", Retry_After="1")


def unknown_video() -> Failure:
    return Failure(404, "unknown_video", "There is no such video in this library.", "Open it from the library.")


def error_body(code: str, cause: str, remedy: str | None = None) -> dict[str, Any]:
    return {"error": {"cause": one_line(cause), "remedy": one_line(remedy) if remedy else None, "code": code}}


def add_handlers(app: FastAPI) -> None:
    """Every error that can leave a route becomes such an answer; of a bug, the terminal has the details."""

    async def failure(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Failure)
        return JSONResponse(error_body(error.code, error.cause, error.remedy), error.status, error.headers)

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "The request"
        return JSONResponse(error_body("invalid", f"{where}: {first['msg']}"), 422)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        status = HTTPStatus(error.status_code)
        headers = dict(error.headers or {})
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_methods_of(request))
        return JSONResponse(error_body(status.name.lower(), str(error.detail or status.phrase)), status, headers)

    async def bad_input(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, InputError)
        return JSONResponse(error_body("input", f"{name_only(error.path)}: {error.cause}", error.remedy), 422)

    async def misused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, UsageError | OutputError)
        status = 422 if isinstance(error, UsageError) else 507
        return JSONResponse(error_body("input" if status == 422 else "disk", str(error), error.remedy), status)

    async def missing(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, MissingDependency)
        return JSONResponse(error_body("missing", error.cause, error.remedy), 501)

    async def bug(_: Request, error: Exception) -> JSONResponse:
        complain(f"internal error: {type(error).__name__}: {error}", "Please report it.")
        return JSONResponse(error_body("bug", "Something went wrong in mmcc.", "The terminal says more."), 500)

    handlers = {
        Failure: failure,
        RequestValidationError: invalid,
        HTTPException: refused,
        InputError: bad_input,
        UsageError: misused,
        OutputError: misused,
        MissingDependency: missing,
        Exception: bug,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _methods_of(request: Request) -> list[str]:
    """What its address answers to; Starlette itself names only the methods of the first route there."""
    return [
        method
        for method in ("GET", "HEAD", "POST", "PUT")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    ]


def name_only(path: str) -> str:
    """Of a file, without its folder: a page need not know where things are."""
    return path.rstrip("/").rpartition("/")[2] or path
