"""Routes of the library: lists of videos, one video, its file, its frames, and how far its embedding is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
from fastapi import APIRouter, Query, Request, Response

from mmcc import __version__
from mmcc.app import answers
from mmcc.app.common import Id, answer, given, of_request, require_node
from mmcc.app.explorer import Explorer
from mmcc.app.failures import Failure
from mmcc.app.ranges import FileAnswer, OpenedFile
from mmcc.report.frames import frame_jpeg, frame_size, strip_jpeg
from mmcc.tools.footage import Footage
from mmcc.tools.library import Card, Sort

MEDIA_TYPES = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/mp4",  # the same boxes; browsers refuse video/quicktime
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".ogv": "video/ogg",
}
_STARTS = {  # of a file of each type, after so many bytes: a corpus may name any file as its source
    "video/mp4": (4, (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide")),
    "video/webm": (0, (b"\x1a\x45\xdf\xa3",)),
    "video/x-matroska": (0, (b"\x1a\x45\xdf\xa3",)),
    "video/ogg": (0, (b"OggS",)),
}
_IMMUTABLE = "private, max-age=31536000, immutable"
_STRIP = 64  # frames at most
router = APIRouter(tags=["library"])


@router.get("/about", response_model=answers.About)
def about(request: Request) -> Response:
    """What is being served: version, models, library, limits."""
    explorer = of_request(request)
    counts = explorer.library.counts
    content = {
        "version": __version__,
        "models": [
            {
                "id": name,
                "name": Path(model.name).name,
                "size": model.size,
                "calibrated": model.calibrated,
                "warning": model.note,
            }
            for name, model in explorer.models.items()
        ],
        "corpus": {"name": explorer.library.name, **counts._asdict()},
        "can": {"mark": explorer.can_mark, "compare": len(explorer.models) > 1, "upload": explorer.can_upload},
        "limits": {name: getattr(explorer.limits, name) for name in ("photos", "bytes", "pixels")},
    }
    return answer(content)


@router.get("/videos", response_model=answers.Videos)
def videos(
    request: Request,
    q: Annotated[str, Query(max_length=200)] = "",
    sort: Sort = "title",
    order: Literal["asc", "desc"] = "asc",
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 60,
    task: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Videos with every word of `q` in their title, task or narration."""
    library = of_request(request).library
    page = library.page(q, task=task, sort=sort, descending=order == "desc", offset=offset, limit=limit)
    return answer({"total": page.total, "videos": [card_json(each) for each in page.cards]})


def card_json(card: Card) -> dict[str, Any]:
    return {
        "id": card.key,
        "title": card.title,
        "duration": card.duration,
        "task": card.task,
        "coverage": card.coverage,
        "utterances": card.utterances,
        "split": card.split,
        "poster": f"/api/v1/videos/{card.key}/frames/{card.frames // 2}.jpg",
    }


@router.get("/videos/{video}", response_model=answers.VideoDetails)
async def details(request: Request, video: Id, model: str | None = None) -> Response:
    """One video: its frames by time, what is said, and its labelled steps."""
    explorer = of_request(request)
    name, _ = explorer.model(model)
    card = explorer.card(video)
    footage = await anyio.to_thread.run_sync(explorer.footage, video)
    embedded = await explorer.is_ready(video, name)
    return answer(await anyio.to_thread.run_sync(_details, card, footage, embedded))


def _details(card: Card, footage: Footage, embedded: bool) -> dict[str, Any]:
    found, size = footage.video, frame_size(footage)
    texts = footage.step_texts
    media = media_of(footage)
    return {
        "id": card.key,
        "title": card.title,
        "duration": card.duration,
        "task": card.task,
        "playable": {"url": f"/api/v1/videos/{card.key}/media", "type": media[1]} if media else None,
        "frames": {
            "count": len(found.times),
            "times": found.times.tolist(),
            "width": size[0] if size else 0,
            "height": size[1] if size else 0,
        },
        "utterances": [
            {"index": place, "start": each.start, "end": each.end, "text": each.text}
            for place, each in enumerate(found.utterances)
        ],
        "steps": [
            {
                "step": each.step,
                "text": texts[each.step - 1] if 1 <= each.step <= len(texts) else "",
                "start": each.start,
                "end": each.end,
            }
            for each in found.steps
        ],
        "status": found.status,
        "embedded": embedded,
    }


def media_of(footage: Footage) -> tuple[Path, str] | None:
    """The video file and its type, if it is there and a browser may play it."""
    path = footage.path
    kind = MEDIA_TYPES.get(path.suffix.lower()) if path else None
    return (path, kind) if path and kind else None


@router.head("/videos/{video}/media", include_in_schema=False)
@router.get(
    "/videos/{video}/media",
    response_class=Response,
    responses={206: {"description": "one range"}, 304: {}, 416: {"model": answers.Error}},
)
async def media(request: Request, video: Id) -> Response:
    """The video file, or one range of its bytes."""
    footage = await anyio.to_thread.run_sync(of_request(request).footage, video)
    found = await anyio.to_thread.run_sync(_open_media, footage)
    if found is None:
        remedy = "The filmstrip shows its frames."
        raise Failure(404, "no_media", "The file of this video is gone, or no browser plays it.", remedy)
    return FileAnswer(found[0], request.headers, request.method, found[1])


def _open_media(footage: Footage) -> tuple[OpenedFile, str] | None:
    found = media_of(footage)
    if found is None:
        return None
    path, kind = found
    try:
        file = OpenedFile.of(path.resolve())
    except OSError:
        return None
    skip, starts = _STARTS[kind]
    if not file.starts_with(skip, starts):
        file.close()
        return None
    return file, kind


@router.get("/videos/{video}/frames/{frame}.jpg", response_class=Response)
def frame(
    request: Request, video: Id, frame: int, width: Annotated[int | None, Query(ge=8, le=2048)] = None
) -> Response:
    """A frame as it is stored, or smaller."""
    explorer = of_request(request)
    footage = explorer.footage(video)
    require_node(footage, "vision", frame)
    key = ("frame", footage.key, frame, width)
    return _picture(explorer, request, key, lambda: frame_jpeg(footage, frame, width))


@router.get("/videos/{video}/strip", response_class=Response)
def strip(
    request: Request,
    video: Id,
    first: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=1, le=_STRIP)] = _STRIP,
    width: Annotated[int, Query(ge=8, le=512)] = 96,
    step: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> Response:
    """Every `step`-th frame from `first` on, `count` of them or as many as there are, beside each other in one JPEG."""
    explorer = of_request(request)
    footage = explorer.footage(video)
    require_node(footage, "vision", first)
    frames = range(first, len(footage.video.times), step)[:count]
    key = ("strip", footage.key, first, count, width, step)
    return _picture(explorer, request, key, lambda: strip_jpeg(footage, frames, width))


def _picture(explorer: Explorer, request: Request, key: tuple[Any, ...], make: Callable[[], bytes]) -> Response:
    """A JPEG that never changes: its key names the content it is made from."""
    etag = f'"{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}"'
    headers = {"etag": etag, "cache-control": _IMMUTABLE}
    if request.headers.get("if-none-match") == etag:
        return Response(None, 304, headers)
    picture = explorer.kept.get(key)
    if picture is None:
        picture = make()
        explorer.kept.put(key, picture, len(picture))
    return Response(picture, 200, headers, "image/jpeg")


@router.get("/videos/{video}/status", response_model=answers.Status)
async def status(request: Request, video: Id, model: str | None = None) -> Response:
    """How far the embedding of a video is."""
    explorer = of_request(request)
    name, _ = explorer.model(model)
    explorer.card(video)
    await explorer.is_ready(video, name)
    return answer(given(explorer.status(video, name)))


@router.post("/videos/{video}/status", response_model=answers.Status)
async def embed(request: Request, video: Id, model: str | None = None) -> Response:
    """Start embedding a video in the background, unless it is done or being done."""
    explorer = of_request(request)
    name, _ = explorer.model(model)
    explorer.card(video)
    if explorer.status(video, name).state not in ("ready", "queued", "embedding"):
        explorer.begin(video, name)
    return answer(given(explorer.status(video, name)))
