"""Writes a kitchen out as ordinary video, captions and annotations, in the layout of a CrossTask release.

    tasks_primary.txt  tasks_related.txt  videos.csv  videos_val.csv      the lists
    annotations/<task>_<id>.csv                                           step,start,end
    videos/<id>.mp4   captions/<id>.vtt   features/<id>.npy               the media
    kitchen.json                                                          the version and the settings

Every file appears complete or not at all, and is a function of the settings: a stopped run can be resumed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mmcc.engines.base import Engine, Shared
from mmcc.engines.local import LocalEngine
from mmcc.errors import InputError
from mmcc.files import is_draft, remove_drafts
from mmcc.kitchen import KITCHEN_VERSION
from mmcc.kitchen.files import is_whole, put_text
from mmcc.kitchen.plan import KitchenSettings, Planned, recipes_of, timeline_of
from mmcc.kitchen.recipes import Recipe
from mmcc.kitchen.worker import FilesOf, annotation_of, to_job
from mmcc.locks import LOCK, only_writer
from mmcc.media.sandbox import Job, Limits
from mmcc.text import counted
from mmcc.untrusted import read_json

NAME = "kitchen.json"
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class KitchenReport:
    """What was written."""

    videos: int
    written: int  # in this run
    tasks: int
    hours: float
    segments: int  # labelled clips; the name is part of the JSON output
    failed: tuple[tuple[str, str], ...] = ()  # video, reason

    def to_json(self) -> dict[str, Any]:
        return {"schema": 1, "kitchen_version": KITCHEN_VERSION, **asdict(self)}


def write_kitchen(
    out: Path,
    planned: Sequence[Planned],
    settings: KitchenSettings,
    *,
    pixels: bool = True,
    features: bool = False,
    workers: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int], Progress] = lambda total: lambda name, share: None,
) -> KitchenReport:
    """Write what is missing, by so many workers of this machine or by those of an engine.

    Videos that fail are listed with the reason, and the next run tries them again.
    """
    with _claimed(out, planned, settings):
        for folder, wanted in (("annotations", True), ("captions", True), ("videos", pixels), ("features", features)):
            if wanted:
                (out / folder).mkdir(exist_ok=True)
        todo = [each for each in planned if not _is_there(FilesOf.locate(out, each), pixels, features)]
        jobs = [to_job(each, settings, out.absolute(), pixels=pixels, features=features) for each in todo]
        failed = _run(jobs, out, engine or LocalEngine(workers), progress) if jobs else ()
    timelines = [timeline_of(each) for each in planned]
    return KitchenReport(
        len(planned),
        len(todo) - len(failed),
        len({each.recipe.id for each in planned}),
        sum(timeline.duration for timeline in timelines) / 3600,
        sum(len(timeline.shown) for timeline in timelines),
        failed,
    )


def _run(
    jobs: Sequence[Job], out: Path, engine: Engine, progress: Callable[[int], Progress]
) -> tuple[tuple[str, str], ...]:
    """Do all jobs; returns the failed ones with the reason."""
    report = progress(len(jobs))
    failed = []

    def moved(job: Job, seconds: float, total: float | None) -> None:
        report(job["planned"]["id"], min(seconds / total, 0.99) if total else 0.0)

    with engine.pool("mmcc.kitchen.worker", Limits(), Shared(out), progress=moved) as pool:
        for outcome in pool.run(iter(jobs)):
            name = outcome.job["planned"]["id"]
            if outcome.answer is None:
                failed.append((name, outcome.reason))
            report(name, 1.0)
    return tuple(failed)


def render_kitchen(report: KitchenReport, out: Path) -> str:
    """The report as text."""
    lines = [
        f"{out}: {counted(report.videos, 'video')} of {counted(report.tasks, 'recipe')}, {report.hours:.1f} hours, "
        f"{counted(report.segments, 'labelled clip')} (kitchen version {KITCHEN_VERSION}); "
        f"{counted(report.written, 'video')} processed in this run"
    ]
    lines += [f"  {video}: {reason}" for video, reason in report.failed]
    return "\n".join(lines)


def write_text(out: Path, planned: Sequence[Planned], settings: KitchenSettings) -> None:
    """The lists and annotations alone: enough to measure a kitchen's timelines."""
    with _claimed(out, planned, settings):
        (out / "annotations").mkdir(exist_ok=True)
        for each in planned:
            put_text(FilesOf.locate(out, each).annotation, annotation_of(timeline_of(each)))


@contextmanager
def _claimed(out: Path, planned: Sequence[Planned], settings: KitchenSettings) -> Iterator[None]:
    """Lock a new or empty folder, or one of this same kitchen, and write its lists."""
    identity = {"kitchen_version": KITCHEN_VERSION, "settings": asdict(settings), "videos": _digest(planned)}
    if out.exists() and not out.is_dir():
        raise InputError(out, "is a file", "Give a folder.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = sorted(path.name for path in out.iterdir() if not is_draft(path) and path.name != LOCK)
    except OSError as error:
        raise InputError(out, f"cannot be used: {error.strerror}", "Choose a folder you can write to.") from None
    if NAME in there:
        if (found := _read(out / NAME)) != identity:
            raise InputError(
                out,
                f"contains another kitchen: {_difference(found, identity)}",
                "Choose a new folder, or run with the settings in its kitchen.json.",
            )
    elif there:
        raise InputError(
            out, f"contains other files, such as {there[0]}", "Choose a new folder: a kitchen needs its own."
        )
    with only_writer(out):
        remove_drafts(out)
        put_text(out / NAME, json.dumps(identity, indent=2) + "\n")
        _write_lists(out, planned, settings)
        yield


def _read(path: Path) -> Any:
    try:
        return read_json(path, dict)
    except (OSError, ValueError):
        raise InputError(path, "cannot be read", "Delete it with its folder, and write the kitchen again.") from None


def _difference(found: Any, wanted: dict[str, Any]) -> str:
    """The first setting that differs."""
    there = found if isinstance(found, dict) else {}
    if there.get("kitchen_version") != KITCHEN_VERSION:
        return f"version {there.get('kitchen_version')}, not {KITCHEN_VERSION}"
    settings = there.get("settings", {})
    for name, value in wanted["settings"].items():
        if settings.get(name) != value:
            return f"its {name} is {settings.get(name)!r}, not {value!r}"
    return "its timelines differ"


def _digest(planned: Sequence[Planned]) -> str:
    """Digest of the videos and, if real, their timelines."""
    lines = (f"{each.id} {each.recipe.id} {each.split} {each.timeline}" for each in planned)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _write_lists(out: Path, planned: Sequence[Planned], settings: KitchenSettings) -> None:
    recipes = _recipes(planned, settings)
    for name, primary in (("tasks_primary.txt", True), ("tasks_related.txt", False)):
        blocks = [_task(recipe) for recipe in recipes if recipe.primary == primary]
        if blocks:
            put_text(out / name, "\n".join(blocks))
    for name, split in (("videos.csv", "train"), ("videos_val.csv", "validation")):
        lines = [f"{each.recipe.id},{each.id},videos/{each.id}.mp4\n" for each in planned if each.split == split]
        put_text(out / name, "".join(lines))


def _recipes(planned: Sequence[Planned], settings: KitchenSettings) -> Iterable[Recipe]:
    """Our own recipes, even those without a video in a small kitchen; of a real release, those with videos."""
    if settings.timelines:
        return dict.fromkeys(each.recipe for each in planned)
    return recipes_of(settings)


def _task(recipe: Recipe) -> str:
    """CrossTask's five lines; the third is an address, which the kitchen does not have."""
    texts = ",".join(step.text for step in recipe.steps)
    return f"{recipe.id}\n{recipe.title}\nmmcc-kitchen/{recipe.id}\n{len(recipe.steps)}\n{texts}\n"


def _is_there(files: FilesOf, pixels: bool, features: bool) -> bool:
    wanted = [files.annotation, files.captions, *[files.video] * pixels, *[files.features] * features]
    return all(map(is_whole, wanted))
