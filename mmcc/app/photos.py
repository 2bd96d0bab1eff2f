"""Routes that take pictures: what comes next, and photos put in order. Uploads live in a folder that is removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from mmcc.api import Model
from mmcc.app import answers
from mmcc.app.common import answer, of_request, read_json_body, require_node, validated
from mmcc.app.explorer import Explorer
from mmcc.app.failures import Failure
from mmcc.app.worker import Urgency
from mmcc.errors import InputError
from mmcc.tools.footage import Footage
from mmcc.tools.library import key_of
from mmcc.tools.orders import Unshuffled
from mmcc.tools.search import Hit, Searcher

_HITS = 12
_NO_PHOTO: dict[int | str, dict[str, Any]] = {415: {"model": answers.Error}}
_STARTS = {  # of a photo: the name that its decoder expects
    b"\xff\xd8\xff": ".jpg",
    b"\x89PNG\r\n\x1a\n": ".png",
    b"RIFF": ".webp",
}
_HEIC = b"ftyp"  # after four bytes
router = APIRouter(tags=["pictures"])


class NextQuestion(BaseModel):
    """A frame of a video, and steps to rank."""

    model_config = ConfigDict(extra="forbid")
    video: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    frame: Annotated[int, Field(ge=0, strict=True)]
    steps: Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=200)]], Field(max_length=200)] = []
    model: str | None = None


_PHOTO_FORM = {
    "type": "object",
    "required": ["photo"],
    "properties": {
        "photo": {"type": "string", "format": "binary"},
        "steps": {"type": "string", "description": "one step per line"},
        "model": {"type": "string"},
    },
}
_PHOTOS_FORM = {
    "type": "object",
    "required": ["photos"],
    "properties": {
        "photos": {"type": "array", "items": {"type": "string", "format": "binary"}},
        "model": {"type": "string"},
    },
}


@router.post(
    "/next",
    response_model=answers.Next,
    responses=_NO_PHOTO,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": NextQuestion.model_json_schema()},
                "multipart/form-data": {"schema": _PHOTO_FORM},
            },
        }
    },
)
async def following(request: Request) -> Response:
    """What comes after a frame of the library, or a photo, and what came before; and a list of steps, ranked."""
    explorer = of_request(request)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        asked = validated(NextQuestion, await read_json_body(request))
        name, model = explorer.model(asked.model)
        footage = explorer.footage(asked.video)
        require_node(footage, "vision", asked.frame)
        await explorer.ready(asked.video, name)
        return answer(await _next(explorer, name, model, footage, asked.frame, asked.steps))
    form = await _form(request, explorer, photos=1)
    try:
        name, model = explorer.model(_text(form, "model") or None)
        steps = [line.strip()[:200] for line in _text(form, "steps").splitlines() if line.strip()][:200]
        with TemporaryDirectory(prefix="mmcc-photo-") as folder:
            (photo,) = await _save(form.getlist("photo"), Path(folder), explorer, least=1)
            return answer(await _next(explorer, name, model, photo, 0, steps))
    finally:
        await form.close()


async def _next(
    explorer: Explorer, name: str, model: Model, shown: Footage | Path, frame: int, steps: Sequence[str]
) -> dict[str, Any]:
    scan = explorer.scan(name)

    def ask() -> dict[str, Any]:
        searcher = scan.searcher
        futures, pasts, warnings = _search(searcher, shown, frame) if searcher else ([], [], [])
        if searcher is None and isinstance(shown, Path):
            warnings = model.cautions(shown)  # whoever sends no photo need not wait for the library to hear it
        content: dict[str, Any] = {"futures": futures, "pasts": pasts, "steps": None, "none": None}
        if steps:
            if isinstance(shown, Footage):
                time = float(shown.video.times[frame])
                ranked = model.anticipate(shown, steps, start=time, end=time + 1e-3)
            else:
                ranked = model.anticipate(shown, steps)
            content["steps"] = [{"text": text, "probability": probability} for text, probability in ranked.steps]
            content["none"] = ranked.none
            warnings += [*ranked.warnings, *(f"{each.path}: {each.reason}" for each in ranked.skipped)]
        content["warning"] = " ".join(dict.fromkeys(warnings)) or None
        return content

    found = await explorer.ask(ask, Urgency.TASK if isinstance(shown, Path) else Urgency.QUESTION)
    return {**found, "library": scan.progress()}


def _search(
    searcher: Searcher, shown: Footage | Path, frame: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    query = f"{shown.name}@{float(shown.video.times[frame]):.3f}" if isinstance(shown, Footage) else str(shown)
    after = searcher.after(query, _HITS)
    try:
        before = searcher.before(query, _HITS).hits
    except InputError:  # the model predicts no past
        before = []
    return [hit_json(each) for each in after.hits], [hit_json(each) for each in before], list(after.warnings)


def hit_json(hit: Hit) -> dict[str, Any]:
    moment = hit.moments[0]
    video = moment.footage.video
    return {
        "video": {"id": key_of(video.id), "title": video.title or moment.footage.name},
        "frame": moment.frame,
        "time": moment.time,
        "text": moment.text or None,
        "score": hit.score,
    }


@router.post(
    "/unshuffle",
    response_model=answers.Order,
    responses=_NO_PHOTO,
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _PHOTOS_FORM}}}},
)
async def unshuffle(request: Request) -> Response:
    """Photos in the order in which things happened, by their numbers in the request."""
    explorer = of_request(request)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise Failure(415, "type", "Photos are sent as multipart/form-data.", "Name each part photos.")
    form = await _form(request, explorer, photos=explorer.limits.photos)
    try:
        _, model = explorer.model(_text(form, "model") or None)
        with TemporaryDirectory(prefix="mmcc-photos-") as folder:
            paths = await _save(form.getlist("photos"), Path(folder), explorer, least=2)

            def passing(items: list[str]) -> Iterator[str]:
                for item in items:
                    explorer.worker.between(0.0)
                    yield item

            found = await explorer.ask(lambda: model.unshuffle(paths, progress=passing), Urgency.TASK)
    finally:
        await form.close()
    if found.skipped:
        reasons = [(Path(each.path).stem.capitalize(), each.reason.partition(". ")[0]) for each in found.skipped[:3]]
        cause = " ".join(f"{photo} {reason}." for photo, reason in reasons)
        raise Failure(422, "photo", cause, "Leave it out, or export it again as JPEG.")
    return answer(order_json(found.sets[0], [path.name for path in paths]))


def order_json(found: Unshuffled, names: Sequence[str]) -> dict[str, Any]:
    """Photos that show the same lie side by side; that one of them follows the other is certain either way."""
    order: list[int] = []
    links: list[float] = []
    for place, thing in enumerate(found.ordered):
        same = [names.index(path.name) for path in (thing.path, *thing.copies) if path]
        links += [float(found.found.links[place - 1])] if place else []
        links += [1.0] * (len(same) - 1)
        order += same
    guess = found.guess
    lines = [found.note] if found.strange and found.note else [f"{guess}." if guess else "", found.note]
    warning = " ".join(line[:1].upper() + line[1:] for line in lines if line)
    return {
        "order": order,
        "links": links,
        "confidence": float(found.found.confidence),
        "guess": bool(guess),
        "warning": warning or None,
    }


async def _form(request: Request, explorer: Explorer, photos: int) -> FormData:
    """The parts of an upload. One file more than allowed is accepted here, so that the reason can be told."""
    try:
        return await request.form(max_files=photos + 1, max_fields=8, max_part_size=1 << 16)
    except MultiPartException as error:
        raise _refused_form(error.message, photos) from None
    except Failure:
        raise
    except Exception as error:
        if (detail := getattr(error, "detail", None)) is None:
            raise
        raise _refused_form(str(detail), photos) from None


def _refused_form(message: str, photos: int) -> Failure:
    if "many files" in message.lower():
        return Failure(413, "too_many", f"At most {photos} can be sent at once.", "Send fewer.")
    return Failure(400, "form", f"The form cannot be read: {message}", None)


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


async def _save(given: Sequence[UploadFile | str], folder: Path, explorer: Explorer, least: int) -> list[Path]:
    """The photos as files, named by their number; nothing of the names that they came with is used."""
    photos = [each for each in given if isinstance(each, UploadFile)]
    limits = explorer.limits
    if len(photos) < least:
        raise Failure(422, "too_few", f"Send {least} or more photos." if least > 1 else "Send a photo.")
    if len(photos) > limits.photos:
        raise Failure(413, "too_many", f"At most {limits.photos} photos can be sent at once.", "Send fewer.")
    return [await _save_one(each, folder, number, limits.bytes) for number, each in enumerate(photos, 1)]


async def _save_one(photo: UploadFile, folder: Path, number: int, limit: int) -> Path:
    if (photo.size or 0) > limit:
        raise Failure(413, "too_large", f"Photo {number} has more than {limit >> 20} MB.", "Scale it down.")
    content = await photo.read(limit + 1)
    suffix = next((suffix for start, suffix in _STARTS.items() if content.startswith(start)), "")
    suffix = suffix or (".heic" if content[4:8] == _HEIC else "")
    if not suffix:
        raise Failure(415, "type", f"Photo {number} is not a JPEG, PNG, WebP or HEIC file.", "Export it as JPEG.")
    path = folder / f"photo {number}{suffix}"
    await anyio.Path(path).write_bytes(content)
    return path
