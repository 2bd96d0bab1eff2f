"""What was trained, on what, and how it went: the first part of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mmcc.corpus import Corpus
from mmcc.data.splits import videos_for
from mmcc.errors import InputError
from mmcc.evaluation.runs import Checkpoint
from mmcc.report.gallery import Thumbnail, folded, row
from mmcc.report.html import Markup, element
from mmcc.report.page import Section, titled
from mmcc.report.plots import Curve, curves
from mmcc.report.tables import Cell, Column, Row, Table, to_html
from mmcc.settings import flatten, to_mapping
from mmcc.tools.model import ToolModel
from mmcc.training.config import Config
from mmcc.training.run import METRICS, read_metrics

OBJECTIVES = {
    "mmcc": "to go from a moment to its future and back, through what is seen and what is said",
    "cross_modal": "to tell which words go with which frame",
    "representation_anticipation": "to predict the frame a fixed time ahead",
    "time_agnostic": "to predict some frame ahead, whenever it comes",
    "memdpc": "to predict the next frames by what it remembers",
}
_POINTS = 200  # of a curve: more than that are not seen
_LOSSES = ("loss", "cross_modal", "cycle", "direction", "similarity", "anticipation", "future", "past")
_VALIDATED = {
    "cycle_rank_hard": "cycle rank",
    "travelled_rank": "cycle rank, staying counts 50",
    "cross_modal_rank": "cross-modal rank",
    "future_rank": "future rank",
}


def is_own(model: ToolModel, corpus: Corpus) -> bool:
    """Whether a corpus is the one that the model was trained on, as it was: only then does it tell of the training."""
    if model.trained_on is None or model.trained_on.resolve() != corpus.path.resolve():
        return False
    return model.videos in (None, len(corpus))


def lead(model: ToolModel, found: Checkpoint, corpus: Corpus, shown: Sequence[str]) -> str:
    """The model, what it learnt, from how much, and what it is shown."""
    objective = str(found.setting("objective.name", "mmcc"))
    purpose = OBJECTIVES.get(objective, f"by the objective {objective}")
    steps = int(found.folder.name) if found.folder.name.isdecimal() else found.setting("train.steps", None)
    took = f" in {steps:,} steps" if isinstance(steps, int) else ""
    if is_own(model, corpus):
        learnt = len(videos_for(corpus, "train", found.setting("data.held_out", 0.05)))
        source = f"{learnt:,} narrated videos"
        below = f"What it is tested with below are {len(shown):,} other videos, which it has not seen."
    else:
        source = f"narrated videos, of a corpus of {model.videos:,}" if model.videos else "narrated videos"
        below = f"What it is shown below are {len(shown):,} videos that {corpus.path.name} keeps for tests."
    return f"{model.adapter.name} learnt {purpose}{took}, from {source}. Nothing told it what a step is. {below}"


def data(model: ToolModel, corpus: Corpus, videos: Sequence[str]) -> list[Section]:
    """What it was trained on, and what it is shown here if that is something else."""
    if is_own(model, corpus):
        return [_of_corpus("What it was trained on", corpus, videos)]
    told = Section("What it was trained on", (element("p", _as_recorded(model)),))
    return [told, _of_corpus("What it is shown here", corpus, videos)]


def _as_recorded(model: ToolModel) -> str:
    """By the model's own account: what it is shown may be another part of that corpus, a copy, or something else."""
    if model.assumed:
        return "The model does not say."
    many = f"{model.videos:,} videos" if model.videos else "videos"
    kind = f"vectors of {model.feature_dims}" if model.feature_dims else f"{model.size} pixels"
    return f"On a corpus of {many} ({kind}, {model.fps:g} a second), by its own record."


def _of_corpus(title: str, corpus: Corpus, videos: Sequence[str]) -> Section:
    """A corpus in figures, and a few of its moments."""
    every = [corpus[each] for each in corpus.ids]
    hours = sum(video.duration for video in every) / 3600
    said = sum(len(video.utterances) for video in every)
    manifest = corpus.manifest
    kind = f"vectors of {manifest.size}" if manifest.encoding == "float32" else f"{manifest.size} pixels"
    facts = (
        f"{corpus.path.name}: {len(every):,} videos, {hours:.1f} hours, {sum(len(v.times) for v in every):,} frames "
        f"({kind}, {manifest.fps:g} a second), {said:,} utterances, {len(corpus.tasks)} tasks with labelled steps "
        "(labels are for the tests alone)."
    )
    blocks = [element("p", facts)]
    if manifest.encoding != "float32":
        blocks.append(row([_moment(corpus, videos[at * len(videos) // 6]) for at in range(6)]))
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
    blocks = [*_curves(_lines(found)), *_settings(found)]
    return Section("How it was trained", tuple(blocks))


def _lines(found: Checkpoint) -> list[dict[str, Any]]:
    """Of the checkpoint's run; a checkpoint that was taken out of it has none."""
    run = found.folder.parent.parent
    return read_metrics(run) if (run / METRICS).is_file() else []


def _curves(lines: Sequence[Mapping[str, Any]]) -> list[Markup]:
    if not lines:
        return [element("p", "There are no curves: a checkpoint alone does not keep them.", class_="note")]
    losses = _of_part(lines, "train", {name: name.replace("_", " ") for name in _LOSSES})
    ranks = _of_part(lines, "validation", _VALIDATED)
    shown = [("Losses", losses, "loss"), ("Validation, on videos held out of training", ranks, "percentile rank")]
    return [
        titled(title, element("div", curves(title, found, "step", axis), class_="scroll"))
        for title, found, axis in shown
        if any(len(curve.points) > 1 for curve in found)
    ]


def _of_part(lines: Sequence[Mapping[str, Any]], part: str, names: Mapping[str, str]) -> list[Curve]:
    """A curve for each figure that was written down."""
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
    """Neighbours averaged, until there are few enough."""
    parts = np.array_split(np.array(points), min(_POINTS, len(points)))
    return [(float(x), float(y)) for x, y in (part.mean(axis=0) for part in parts)]


def _settings(found: Checkpoint) -> list[Markup]:
    """Those that are not the defaults."""
    try:
        used = flatten(to_mapping(Config.from_yaml(found.folder / "config.yaml")))
    except InputError:  # of another version: what it says is shown as it is
        used = flatten(found.settings)
    usual = flatten(to_mapping(Config()))
    rows = [Row((name,), (Cell(text=str(value)), Cell(text=str(usual.get(name, "–"))))) for name, value in used.items()]
    changed = tuple(each for each in rows if each.cells[0].text != each.cells[1].text)
    table = Table("Settings", ("setting",), (Column("this run", better=0), Column("default", better=0)), changed)
    return [folded(f"{len(changed)} settings that differ from the defaults", to_html(table))]
