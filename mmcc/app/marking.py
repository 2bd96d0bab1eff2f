"""Routes for steps that a person marks in a video."""

from __future__ import annotations

from typing import Any

import anyio
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt

from mmcc.app import answers
from mmcc.app.common import Id, answer, of_request
from mmcc.app.explorer import Explorer
from mmcc.app.failures import Failure
from mmcc.tools.footage import Footage
from mmcc.tools.marks import Conflict, LabelledClip, VideoMarks

router = APIRouter(tags=["marks"])


class GivenTask(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    steps: list[str]


class GivenMark(BaseModel):
    model_config = ConfigDict(extra="forbid")
    step: StrictInt
    start: StrictFloat
    end: StrictFloat


class GivenMarks(BaseModel):
    """What a video is to have; `revision` is that of what was read."""

    model_config = ConfigDict(extra="forbid")
    task: GivenTask | None
    marks: list[GivenMark]
    revision: StrictInt


@router.get("/videos/{video}/marks", response_model=answers.Marks)
async def read(request: Request, video: Id) -> Response:
    """What is marked in a video; before anything is, the steps that its corpus has."""
    explorer = of_request(request)
    footage = explorer.footage(video)
    saved = await anyio.to_thread.run_sync(explorer.marks.read, footage.video.id)
    return answer(marks_json(saved) if saved else marks_json(_of_corpus(footage)) | {"revision": 0})


@router.put(
    "/videos/{video}/marks",
    response_model=answers.Marks,
    responses={409: {"model": answers.Error}, 507: {"model": answers.Error}},
)
async def write(request: Request, video: Id, given: GivenMarks) -> Response:
    """Replace what is marked in a video. A task of null and no marks remove everything."""
    explorer = of_request(request)
    footage = explorer.footage(video)
    task = given.task or GivenTask(title="", steps=[])
    clips = tuple(LabelledClip(each.step, each.start, each.end) for each in given.marks)
    marks = VideoMarks(task.title, tuple(task.steps), clips)
    saved = await anyio.to_thread.run_sync(_write, explorer, footage, marks, given.revision)
    return answer(marks_json(saved))


def _write(explorer: Explorer, footage: Footage, marks: VideoMarks, revision: int) -> VideoMarks:
    try:
        return explorer.marks.write(footage.video.id, marks, revision)
    except Conflict:
        cause = "The marks of this video were changed elsewhere, perhaps in another tab."
        raise Failure(409, "conflict", cause, "Read them again, and repeat what you changed.") from None


def _of_corpus(footage: Footage) -> VideoMarks:
    task = footage.task
    return VideoMarks(task.title or task.id, task.steps, tuple(footage.video.steps)) if task else VideoMarks()


def marks_json(found: VideoMarks) -> dict[str, Any]:
    return {
        "task": {"title": found.title, "steps": list(found.steps)} if found.title else None,
        "marks": [{"step": step, "start": start, "end": end} for step, start, end in found.marks],
        "revision": found.revision,
    }
