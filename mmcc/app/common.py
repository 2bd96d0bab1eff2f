"""What all routes use: the server's state, ids of videos, JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any, TypeVar, cast

from fastapi import Path, Request, Response
from pydantic import BaseModel, ValidationError

from mmcc.app.explorer import Explorer
from mmcc.app.failures import Failure
from mmcc.text import counted
from mmcc.tools.footage import Footage
from mmcc.untrusted import Malformed, parse_json

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="an id of /videos")]

Question = TypeVar("Question", bound=BaseModel)


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


def require_node(footage: Footage, modality: str, index: int) -> None:
    """Failure for a frame or an utterance that a video does not have."""
    video, name = footage.video, "frame" if modality == "vision" else "utterance"
    count = len(video.times) if modality == "vision" else len(video.utterances)
    if not 0 <= index < count:
        raise Failure(404, f"unknown_{name}", f"The video has {counted(count, name)}, numbered from 0.")


async def read_json_body(request: Request) -> dict[str, Any]:
    """An object; its size is limited by the guard."""
    try:
        return parse_json(await request.body(), dict)
    except Malformed as error:
        raise Failure(422, "invalid", f"The request cannot be read: {error}.") from None


def validated(kind: type[Question], content: dict[str, Any]) -> Question:
    """The fields of a request, or what is wrong with the first that is wrong."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the request"
        raise Failure(422, "invalid", f"{where}: {first['msg']}") from None
