"""Writes one video's files. Run by `WorkerPool` as `python -m mmcc.kitchen.worker`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmcc.errors import OutputError
from mmcc.kitchen.captions import write_clean, write_rolling
from mmcc.kitchen.features import script_features
from mmcc.kitchen.files import drafted, is_whole, put_text
from mmcc.kitchen.film import write_film
from mmcc.kitchen.plan import KitchenSettings, Planned, script_of
from mmcc.kitchen.recipes import Recipe, Step
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.script import Script
from mmcc.kitchen.timeline import Shown, Timeline
from mmcc.media.sandbox import Job, Report, serve

_FINEST, _COARSEST = 18, 30  # H.264 quantizers: from hardly visible to plainly compressed
_REPORT_EVERY = 60  # frames


@dataclass(frozen=True)
class FilesOf:
    """The paths of a video's files in a kitchen."""

    annotation: Path
    captions: Path
    video: Path
    features: Path

    @classmethod
    def locate(cls, out: Path, planned: Planned) -> FilesOf:
        name = planned.id
        return cls(
            out / "annotations" / f"{planned.recipe.id}_{name}.csv",
            out / "captions" / f"{name}{'.en' if is_rolling(planned) else ''}.vtt",
            out / "videos" / f"{name}.mp4",
            out / "features" / f"{name}.npy",
        )


def is_rolling(planned: Planned) -> bool:
    """Whether its captions are automatic, rolling ones, as for half of all videos."""
    return Rng("caption style", planned.seed, planned.id).chance(0.5)


def to_job(planned: Planned, settings: KitchenSettings, out: Path, *, pixels: bool, features: bool) -> Job:
    return {
        "planned": asdict(planned),
        "settings": asdict(settings),
        "out": str(out),
        "pixels": pixels,
        "features": features,
    }


def planned_of(job: Job) -> Planned:
    """The inverse of `asdict`."""
    data = job["planned"]
    recipe = data["recipe"]
    steps = tuple(Step(**step) for step in recipe["steps"])
    lies = tuple((vessel, item) for vessel, item in recipe["laid_out"])
    timeline = data["timeline"] and Timeline(
        tuple(Shown(*shown) for shown in data["timeline"]["shown"]), data["timeline"]["duration"]
    )
    cook = Recipe(recipe["id"], recipe["title"], steps, lies, recipe["primary"])
    return Planned(data["id"], cook, data["split"], data["seed"], timeline)


def write_video(job: Job, report: Report) -> Job:
    """Write all wanted files that are missing. Each appears under its name only once complete."""
    planned, settings = planned_of(job), KitchenSettings(**job["settings"])
    script = script_of(planned, settings)
    files = FilesOf.locate(Path(job["out"]), planned)
    try:
        put_text(files.annotation, annotation_of(script.timeline))
        put_text(files.captions, (write_rolling if is_rolling(planned) else write_clean)(script.spoken))
        if job["features"] and not is_whole(files.features):
            with drafted(files.features) as draft:
                _save(draft, script_features(script))
        if job["pixels"] and not is_whole(files.video):
            quantizer = Rng(script.seed, "film").integer(_FINEST, _COARSEST)
            frames = _reporting(_frames(script, settings), settings.fps, script.timeline.duration, report)
            with drafted(files.video) as draft:
                write_film(draft, frames, settings.size, settings.fps, quantizer)
    except OSError as error:
        raise OutputError(f"{error.filename or files.video}: cannot be written: {error.strerror or error}") from None
    return {}


def annotation_of(timeline: Timeline) -> str:
    """CrossTask's lines: step from 1, start, end."""
    return "".join(f"{shown.step + 1},{shown.start:.2f},{shown.end:.2f}\n" for shown in timeline.shown)


def _frames(script: Script, settings: KitchenSettings) -> Iterator[NDArray[np.uint8]]:
    from mmcc.kitchen.drawing.painter import Painter  # a kitchen of features draws nothing

    return Painter(script, settings.size).frames(settings.fps)


def _reporting(
    frames: Iterator[NDArray[np.uint8]], fps: float, duration: float, report: Report
) -> Iterator[NDArray[np.uint8]]:
    for number, frame in enumerate(frames):
        if number % _REPORT_EVERY == 0:
            report(number / fps, duration)
        yield frame


def _save(path: Path, array: NDArray[np.float32]) -> None:
    with path.open("wb") as file:
        np.save(file, array)


if __name__ == "__main__":
    serve(write_video, confined=False)  # it reads no file, and writes many
