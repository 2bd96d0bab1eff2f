"""What all routes use: the server's state, ids of videos, JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any, cast

from fastapi import Path, Request, Response

from mmcc.app.explorer import Explorer

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="an id of /videos")]


def of_request(request: Request) -> Explorer:
    return cast(Explorer, request.app.state.explorer)


def encoded(content: Any) -> bytes:
    """Strict JSON in ASCII: half a surrogate pair in a caption is escaped like any other letter."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def answer(content: Any, status: int = 200) -> Response:
    """JSON that a browser asks for again each time."""
    body = content if isinstance(content, bytes) else encoded(content)
    return Response(body, status, {"cache-control": "no-store"}, "application/json")


def given(values: Any) -> dict[str, Any]:
    """The fields of a dataclass."""
    return dataclasses.asdict(values)
