"""What a model was trained on, and how: sections of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mmcc.corpus import Corpus
from mmcc.data.segments import UsableVideos
from mmcc.errors import InputError
from mmcc.evaluation.runs import Checkpoint
from mmcc.objectives.spec import ObjectiveSpec, spec_of
from mmcc.report.gallery import Thumbnail, folded, row
from mmcc.report.html import Markup, element
from mmcc.report.page import Section, titled
from mmcc.report.plots import Curve, curves
from mmcc.report.tables import Cell, Column, Row, Table, to_html
from mmcc.settings import flatten, to_mapping
from mmcc.terminal import note
from mmcc.text import counted
from mmcc.tools.model import ToolModel
from mmcc.training.config import Config
from mmcc.training.intact import LIST
from mmcc.training.run import CONFIG, METRICS, read_metrics

_PICTURES = 6  # of a corpus
_POINTS = 200  # of a curve: more would not be visible
_VALIDATED = {
    "cycle_rank_hard": "cycle rank",
    "travelled_rank": "cycle rank, staying counts 50",
    "cross_modal_rank": "cross-modal rank",
    "future_rank": "future rank",
}


def is_own(model: ToolModel, corpus: Corpus) -> bool:
    """Whether a corpus is the one the model was trained on, unchanged since."""
    if model.trained_on is None or model.trained_on.resolve() != corpus.path.resolve():
        return False
    return model.videos in (None, len(corpus))


def lead(model: ToolModel, found: Checkpoint, corpus: Corpus, shown: Sequence[str]) -> str:
    """The model, what it learned, from how many videos, and the videos below."""
    purpose = _objective(found).purpose
    steps = int(found.folder.name) if found.folder.name.isdecimal() else found.setting("train.steps", None)
    took = f" in {steps:,} steps" if isinstance(steps, int) else ""
    if is_own(model, corpus):
        source = counted(len(trained_on(found, corpus)), "narrated video")
        below = f"Below it is shown {counted(len(shown), 'other video')}, which it has not seen."
    else:
        source = f"narrated videos, of a corpus of {model.videos:,}" if model.videos else "narrated videos"
        below = f"Below it is shown {counted(len(shown), 'test video')} of {corpus.path.name}."
    return f"{model.adapter.name} learned {purpose}{took}, from {source}, without any labels of steps. {below}"


def trained_on(found: Checkpoint, corpus: Corpus) -> list[str]:
    """The videos of its own corpus that a model learned from: those of the training split with captions."""
    return UsableVideos(corpus, "train", Config.from_yaml(found.folder / CONFIG).data).ids


def data(model: ToolModel, found: Checkpoint, corpus: Corpus, videos: Sequence[str]) -> list[Section]:
    """What the model was trained on, and the corpus with the videos shown here if it is another one."""
    if is_own(model, corpus):
        return [_of_corpus("What it was trained on", corpus, trained_on(found, corpus))]
    recorded = Section("What it was trained on", (element("p", _as_recorded(model)),))
    return [recorded, _of_corpus("What it is shown here", corpus, videos)]


def _as_recorded(model: ToolModel) -> str:
    """From the model's own record: the corpus shown may be a part of it, a copy, or something else."""
    if model.assumed:
        return "The model has no record of it."
    many = counted(model.videos, "video") if model.videos else "videos"
    kind = f"vectors of {model.feature_dims}" if model.feature_dims else f"{model.size} pixels"
    return f"A corpus of {many} ({kind}, {model.fps:g} a second), according to the model’s own record."


def _of_corpus(title: str, corpus: Corpus, videos: Sequence[str]) -> Section:
    """A corpus in figures, and a few of its frames."""
    every = [corpus[each] for each in corpus.ids]
    hours = sum(video.duration for video in every) / 3600
    said = sum(len(video.utterances) for video in every)
    manifest = corpus.manifest
    kind = f"vectors of {manifest.size}" if manifest.encoding == "float32" else f"{manifest.size} pixels"
    facts = (
        f"{corpus.path.name}: {counted(len(every), 'video')}, {hours:.1f} hours, "
        f"{counted(sum(len(v.times) for v in every), 'frame')} ({kind}, {manifest.fps:g} a second), "
        f"{counted(said, 'utterance')}, {counted(len(corpus.tasks), 'task')} with labelled steps "
        "(used for testing only)."
    )
    blocks = [element("p", facts)]
    if manifest.encoding != "float32":
        count = min(_PICTURES, len(videos))
        blocks.append(row([_moment(corpus, videos[at * len(videos) // count]) for at in range(count)]))
    return Section(title, tuple(blocks))


def _moment(corpus: Corpus, video: str) -> Thumbnail:
    opened = corpus[video]
    if not len(opened.times):
        return Thumbnail(None, video)
    middle = len(opened.times) // 2
    time = opened.times[middle]
    said = next((each.text for each in opened.utterances if each.start <= time < each.end), "")
    return Thumbnail(opened.frames(middle, middle + 1)[0], video, said)


def training(found: Checkpoint) -> Section:
    """Its curves, and its settings."""
    blocks = [*_curves(_lines(found), _objective(found).terms), *_settings(found)]
    return Section("How it was trained", tuple(blocks))


def _objective(found: Checkpoint) -> ObjectiveSpec:
    return spec_of(Config.from_yaml(found.folder / CONFIG).objective)


def _lines(found: Checkpoint) -> list[dict[str, Any]]:
    """The metrics of the checkpoint's run; none for a checkpoint without its run, or a run without its metrics."""
    run = found.folder.parent.parent
    if (run / METRICS).is_file():
        return read_metrics(run)
    if (run / LIST).is_file():
        note(f"{run / METRICS}: is missing, so the page has no training curves.")
    return []


def _curves(lines: Sequence[Mapping[str, Any]], terms: Sequence[str]) -> list[Markup]:
    if not lines:
        return [element("p", "No curves: they are kept with the run, not with a checkpoint.", class_="note")]
    losses = _of_part(lines, "train", {name: name.replace("_", " ") for name in ("loss", *terms)})
    ranks = _of_part(lines, "validation", _VALIDATED)
    shown = [("Losses", losses, "loss"), ("Validation, on videos held out of training", ranks, "percentile rank")]
    return [
        titled(title, element("div", curves(title, found, "step", axis), class_="scroll"))
        for title, found, axis in shown
        if any(len(curve.points) > 1 for curve in found)
    ]


def _of_part(lines: Sequence[Mapping[str, Any]], part: str, names: Mapping[str, str]) -> list[Curve]:
    """A curve per figure that was logged."""
    found = []
    for style, (name, words) in enumerate(names.items()):
        points = [
            (float(line["step"]), float(line[name]))
            for line in lines
            if line.get("part") == part and isinstance(line.get(name), int | float)
        ]
        if points:
            found.append(Curve(words, tuple(_thinned(points)), style))
    return found


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Neighbours averaged until there are few enough."""
    parts = np.array_split(np.array(points), min(_POINTS, len(points)))
    return [(float(x), float(y)) for x, y in (part.mean(axis=0) for part in parts)]


def _settings(found: Checkpoint) -> list[Markup]:
    """Those that differ from the defaults."""
    try:
        used = flatten(to_mapping(Config.from_yaml(found.folder / "config.yaml")))
    except InputError:  # of another version: shown as it is
        used = flatten(found.settings)
    usual = flatten(to_mapping(Config()))
    rows = [Row((name,), (Cell(text=str(value)), Cell(text=str(usual.get(name, "–"))))) for name, value in used.items()]
    changed = tuple(each for each in rows if each.cells[0].text != each.cells[1].text)
    table = Table("Settings", ("setting",), (Column("this run", better=0), Column("default", better=0)), changed)
    return [folded(f"{len(changed)} settings that differ from the defaults", to_html(table))]
