"""Routes that ask a model about a video: cycles, two models compared, changes, and files of chapters and steps."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from mmcc.api import Model
from mmcc.app import answers
from mmcc.app.common import Id, answer, encoded, of_request, require_node
from mmcc.app.explorer import Explorer, Ready
from mmcc.app.failures import Failure
from mmcc.app.scan import apart
from mmcc.app.worker import Urgency
from mmcc.report.chapters import FEWEST, SHORTEST
from mmcc.report.export import export_file
from mmcc.tools.library import key_of
from mmcc.tools.transitions import GAP, Change
from mmcc.tools.walks import COLDEST, HOTTEST, FreeWalk

Direction = Literal["forward", "backward", "both"]
Temperature = Annotated[
    float | None, Query(ge=COLDEST, le=HOTTEST, description="of every edge; by default the model's own")
]
Index = Annotated[int, Query(ge=0, le=10_000_000, description="of a frame or an utterance, from 0")]
Top = Annotated[int, Query(ge=1, le=100)]
Gap = Annotated[float, Query(ge=0, le=3600, description="seconds at least between before and after")]
_DIGITS = 7  # of a weight: a heat strip shows a few hundred levels
# Of a guide that is opened instead of saved: it has styles and pictures of its own, and no script.
_GUIDE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
router = APIRouter(tags=["questions"])


class Asked(NamedTuple):
    """What determines a cycle, besides the video and the model."""

    modality: answers.Modality
    node: int
    temperature: float | None
    unimodal: bool | None
    constrain: bool
    direction: Direction


@router.get("/videos/{video}/cycle", response_model=answers.Cycle)
async def cycle(
    request: Request,
    video: Id,
    index: Index,
    modality: answers.Modality = "vision",
    model: str | None = None,
    temperature: Temperature = None,
    unimodal: bool | None = None,
    constrain: bool = False,
    direction: Direction = "both",
) -> Response:
    """The cycle from a frame or an utterance over the whole video: to its future and back, to its past and back."""
    asked = Asked(modality, index, temperature, unimodal, constrain, direction)
    return answer(await _cycle(of_request(request), video, model, asked))


@router.get("/compare", response_model=answers.Comparison)
async def compare(
    request: Request,
    video: Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{1,64}$")],
    index: Index,
    a: str,
    b: str,
    modality: answers.Modality = "vision",
    temperature: Temperature = None,
    unimodal: bool | None = None,
    constrain: bool = False,
    direction: Direction = "both",
) -> Response:
    """The same cycle by two models."""
    explorer = of_request(request)
    asked = Asked(modality, index, temperature, unimodal, constrain, direction)
    one, other = await asyncio.gather(*(_cycle(explorer, video, name, asked) for name in (a, b)))
    return answer(b'{"a":' + one + b',"b":' + other + b"}")


async def _cycle(explorer: Explorer, video: str, model: str | None, asked: Asked) -> bytes:
    """As JSON; the same question is answered from memory."""
    name, opened = explorer.model(model)
    key = ("cycle", video, name, asked)
    if (kept := explorer.kept.get(key)) is not None:
        return kept
    require_node(explorer.footage(video), asked.modality, asked.node)
    ready = await explorer.ready(video, name)
    found = await explorer.ask(lambda: encoded(_both_ways(opened, name, ready, asked)))
    explorer.kept.put(key, found, len(found))
    return found


def _both_ways(model: Model, name: str, ready: Ready, asked: Asked) -> dict[str, Any]:
    found = {
        way: model.walk(
            ready.seen,
            asked.node,
            modality=asked.modality,
            temperature=asked.temperature,
            unimodal=asked.unimodal,
            constrain=asked.constrain,
            backward=way == "backward",
        )
        for way in ("forward", "backward")
        if asked.direction in (way, "both")
    }
    walked = next(iter(found.values()))
    settings = {"temperature": walked.temperature, "unimodal": walked.unimodal, "constrain": asked.constrain}
    walks = {way: walk_json(found[way]) if way in found else None for way in ("forward", "backward")}
    return {**walks, "model": name, "settings": settings, "warning": ready.warning}


def walk_json(walk: FreeWalk) -> dict[str, Any]:
    return {
        "stations": [
            {
                "role": each.role,
                "modality": each.modality,
                "index": each.index,
                "time": each.time,
                "end": each.end,
                "text": each.text or None,
            }
            for each in walk.stations
        ],
        "edges": [
            {
                "role": each.role,
                "modality": each.modality,
                "weights": [round(weight, _DIGITS) for weight in each.weights.tolist()],
            }
            for each in walk.edges
        ],
        "returns": walk.returns,
    }


@router.get("/videos/{video}/transitions", response_model=answers.Changes)
async def transitions(request: Request, video: Id, top: Top = 10, gap: Gap = GAP, model: str | None = None) -> Response:
    """The clearest before → after pairs of a video."""
    explorer = of_request(request)
    name, opened = explorer.model(model)
    key = ("transitions", video, name, top, gap)
    if (kept := explorer.kept.get(key)) is not None:
        return answer(kept)
    ready = await explorer.ready(video, name)

    def find() -> bytes:
        footage = ready.seen.footage
        long_enough = np.ptp(footage.video.times) >= gap  # else there is no pair to look for
        changes = opened.transitions(footage, top=top, gap=gap) if long_enough else []
        return encoded({"changes": [change_json(each) for each in changes], "warning": ready.warning, "library": None})

    found = await explorer.ask(find, Urgency.TASK)
    explorer.kept.put(key, found, len(found))
    return answer(found)


def change_json(change: Change) -> dict[str, Any]:
    return {
        "from_time": change.from_time,
        "to_time": change.to_time,
        "from_frame": change.from_frame,
        "to_frame": change.to_frame,
        "from_text": change.from_text or None,
        "to_text": change.to_text or None,
        "score": change.score,
        "video": None,
    }


@router.get("/transitions", response_model=answers.Changes)
async def library_transitions(request: Request, top: Top = 50, gap: Gap = GAP, model: str | None = None) -> Response:
    """The clearest pairs of the library, of the videos that are embedded so far."""
    explorer = of_request(request)
    name, _ = explorer.model(model)
    scan = explorer.scan(name)
    changes = [change_json(each) | {"video": _video(each)} for each in apart(scan.changes, top, gap)]
    return answer({"changes": changes, "warning": None, "library": scan.progress()})


def _video(change: Change) -> dict[str, str]:
    video = change.footage.video
    return {"id": key_of(video.id), "title": video.title or change.footage.name}


@router.get("/videos/{video}/export/{name}", response_class=Response)
async def export(
    request: Request,
    video: Id,
    name: Literal["chapters.txt", "chapters.vtt", "chapters.ffmetadata", "guide.html"],
    top: Top = 10,
    model: str | None = None,
) -> Response:
    """A video in chapters, for YouTube, players or ffmpeg; or a guide of its steps with stills."""
    explorer = of_request(request)
    which, opened = explorer.model(model)
    ready = await explorer.ready(video, which)
    found = await explorer.ask(lambda: opened.changes(ready.seen.footage, top=top), Urgency.TASK)
    content = await asyncio.to_thread(export_file, name, found, top, ready.cautions)  # stills are decoded, by workers
    if content is None:
        cause = f"YouTube needs {FEWEST} chapters of {SHORTEST:g} s, and this video has no room for them."
        raise Failure(404, "too_short", cause, "chapters.vtt has as many as there are.")
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    kind = "text/html; charset=utf-8" if name.endswith("html") else "text/plain; charset=utf-8"
    if name.endswith("html"):
        headers["content-security-policy"] = _GUIDE_POLICY
    return Response(content, 200, headers, kind)
