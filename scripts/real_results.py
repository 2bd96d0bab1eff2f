"""Measure models on real cooking: YouCook2's stills and sentences, photo sets, HD-EPIC's pairs. Fills docs/real.md.

    python -m scripts.real_results ../shared/data -o build/real --into docs/real.md

Every model is trained on four fifths of the videos with stills (and all videos without) and measured on the others,
five times, so that each video is measured once; then the same with dishes in place of videos. Photo sets and pairs are
measured with models of all videos. Finished runs are kept in the output folder: the command can be stopped and run
again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from mmcc.cli.main import main as mmcc
from mmcc.corpus import Corpus
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.data.splits import videos_for
from mmcc.errors import InputError
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.embedding import embed_videos
from mmcc.evaluation.evaluate import evaluate
from mmcc.evaluation.features_only import FeaturesAdapter
from mmcc.evaluation.picture_sets import later_margins, order_margins, pair_accuracy, tau_of
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.set_order import fit_sharpness, order_set
from mmcc.evaluation.still_rivals import ridge, rivals, training_data
from mmcc.evaluation.stills import NAME, gather, measure, spoken_in
from mmcc.evaluation.unshuffling import log_transitions
from mmcc.files import replace_text
from mmcc.metrics import Interval, PerVideo, bootstrap, paired_difference
from mmcc.training.config import load_config
from mmcc.training.loop import train
from scripts.real_pictures import read_pairs, read_photo_sets

FRAMES, TEXT, SIZE = "efficientnet-lite2", "minilm", 260
FOLDS = 5
KINDS = {"videos": "", "dishes": " by task"}  # what is held out → the end of data.fold
BEGIN, END = "<!-- begin: scripts.real_results -->", "<!-- end: scripts.real_results -->"

Floats = NDArray[np.float64]

# Stills have no frame rate; a video is one segment.
STILLS = (
    *("data.frame_rates=[1.0]", "data.validation_rate=1.0", "data.held_out=0"),
    *("data.segment_seconds=3600", "data.max_frames=3600", "train.batch_size=128"),
)
FEW_FRAMES = ("model.frame_encoder.fixed=true",)  # three of a video cannot improve on the regression
# The baselines have no closed form: from random weights, with more steps at a higher rate.
SCRATCH = ("train.start=random", "train.anchor=0", "train.steps=150", "train.lr=2e-3", "train.batch_size=64")


@dataclass(frozen=True)
class Model:
    """A row of the tables."""

    label: str
    overrides: tuple[str, ...] = ()
    init: str = ""  # the model it starts from

    @property
    def name(self) -> str:
        return self.label.lower().replace(" ", "-").replace("+", "-plus").replace(",", "")


MODELS = (
    Model("Cross-modal", (*SCRATCH, "objective.name=cross_modal")),
    Model(
        "RA",
        (*SCRATCH, "objective.name=representation_anticipation", "objective.seconds=120", "objective.tolerance=120"),
        init="Cross-modal",
    ),
    Model("TAP", (*SCRATCH, "objective.name=time_agnostic"), init="Cross-modal"),
    Model(
        "MMCC",
        (
            *SCRATCH,
            *("objective.direction.pairs=false", "objective.ramp_share=0.6", "objective.lambda1_start=0.01"),
            *("objective.cycle_ratio=1", "objective.similarity_ratio=3", "objective.cycle.starts_per_segment=1"),
        ),
    ),
    Model("MMCC+ from random weights", SCRATCH),
    Model("MMCC+ before its first step", ("train.steps=1", "train.lr=1e-12")),
    Model("MMCC+", FEW_FRAMES),
)
RIVALS = ("position alone", "sentences alone", "ridge to position", "ridge to sentences")
FIGURES = {
    "kendall_tau/seen": ("order τ, stills", 2),
    "exact/seen": ("exact, %", 1),
    "kendall_tau/read": ("order τ, sentences", 2),
    "kendall_tau/both": ("order τ, both", 2),
    "matching": ("matched, %", 1),
    "later/recall@5": ("later, R@5", 1),
    "later/percentile_mean": ("later, mean rank", 1),
}


def prepare(data: Path, out: Path) -> Path:
    """The corpus of YouCook2 with the vectors of both encoders."""
    corpus = out / "youcook2.corpus"
    for words in (
        ["ingest", str(data / "youcook2"), "-o", str(corpus), "--size", str(SIZE)],
        ["embed", str(corpus), "--frames", FRAMES, "--text", TEXT],
    ):
        if mmcc(words):
            raise InputError(data, f"mmcc {' '.join(words)} failed", "See above.")
    return corpus


def run_folder(out: Path, model: Model, fold: str | None) -> Path:
    return out / "runs" / model.name / (fold or "all").replace("/", "-of-").replace(" ", "-")


Job = tuple[Path, Path, Model, str | None]  # corpus, output folder, model, fold


def train_and_measure(job: Job, on: Path | None = None) -> None:
    """Train one model on one fold, or on all videos, and keep its figures; nothing where that is done.

    `on`: another corpus with the same videos, to measure it on.
    """
    corpus, out, model, fold = job
    run, figures = run_folder(out, model, fold), run_folder(out, model, fold) / "stills.json"
    if figures.is_file() or (fold is None and (run / "done").is_file()):
        return
    torch.set_num_threads(1)
    overrides = [*STILLS, "train.workers=0", *model.overrides]
    overrides += [f"data.fold={fold}"] if fold else []
    if model.init:
        first = next(each for each in MODELS if each.label == model.init)
        overrides.append(f"train.init={run_folder(out, first, fold)}")
    resume = (run / "checkpoints").is_dir()
    train(corpus, run, load_config("real", overrides), resume=resume, anyway=True, say=lambda line: None)
    if fold is None:
        replace_text(run / "done", "")
        return
    result = evaluate(str(run), on or corpus, tasks=[NAME], checkpoint="last").results[NAME]
    replace_text(figures, json.dumps(result.to_json()))


def jobs(corpus: Path, out: Path) -> Iterator[list[Job]]:
    """All runs, in two rounds: those that others start from come first."""
    folds = [None, *(f"{fold}/{FOLDS}{end}" for end in KINDS.values() for fold in range(FOLDS))]
    for starts in (False, True):
        yield [(corpus, out, model, fold) for model in MODELS if bool(model.init) == starts for fold in folds]


def rival_figures(corpus: Path, kind: str) -> dict[str, TaskResult]:
    """Figures of the regressions, over all folds."""
    opened = with_vectors(Corpus.open(corpus), frames=Wanted(FRAMES), text=Wanted(TEXT))
    parts: dict[str, list[TaskResult]] = {}
    for fold in range(FOLDS):
        name = f"{fold}/{FOLDS}{KINDS[kind]}"
        test = embed_videos(FeaturesAdapter("vectors", lambda x: x), opened, videos_for(opened, "test", 0.0, name))
        stills = gather(test, {video.id: spoken_in(opened[video.id]) for video in test})
        for rival, judged in rivals(opened, videos_for(opened, "train", 0.0, name), stills).items():
            parts.setdefault(rival, []).append(measure(stills, judged))
    return {rival: joined(results) for rival, results in parts.items()}


def joined(results: Sequence[TaskResult]) -> TaskResult:
    """The figures of all folds as those of one set of videos."""
    figures = {}
    for name in results[0].figures:
        each = [result.figures[name] for result in results]
        videos = tuple(video for figure in each for video in figure.videos)
        totals, counts = (np.concatenate([getattr(figure, side) for figure in each]) for side in ("totals", "counts"))
        figures[name] = PerVideo(videos, totals, counts)
    references = {
        name: float(np.mean([result.references[name] for result in results])) for name in results[0].references
    }
    return TaskResult(NAME, figures, references)


def model_figures(out: Path, model: Model, kind: str) -> TaskResult:
    names = [run_folder(out, model, f"{fold}/{FOLDS}{KINDS[kind]}") / "stills.json" for fold in range(FOLDS)]
    return joined([TaskResult.from_json(json.loads(path.read_text())) for path in names])


def with_interval(figure: PerVideo | None, digits: int, of: str = "video") -> str:
    if figure is None:
        return "–"
    return bootstrap([figure]).text(digits, of=of).replace("-", "−")


def table(results: Mapping[str, TaskResult]) -> str:
    chance = next(iter(results.values())).references
    known = {
        "kendall_tau/read": 0.0,
        "kendall_tau/both": 0.0,
        **{n.removeprefix("chance/"): v for n, v in chance.items()},
    }
    for result in results.values():
        known |= {name.removeprefix("chance/"): value for name, value in result.references.items()}
    lines = [
        "| | " + " | ".join(label for label, _ in FIGURES.values()) + " |",
        "|---" * (len(FIGURES) + 1) + "|",
        "| chance | " + " | ".join(f"{known[name]:.{digits}f}" for name, (_, digits) in FIGURES.items()) + " |",
    ]
    for label, result in results.items():
        cells = [with_interval(result.figures.get(name), digits) for name, (_, digits) in FIGURES.items()]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def differences(results: Mapping[str, TaskResult]) -> str:
    """MMCC+ less each other row, paired by video."""
    ours = results["MMCC+"].figures
    lines = ["| MMCC+ less | " + " | ".join(label for label, _ in FIGURES.values()) + " |"]
    lines.append("|---" * (len(FIGURES) + 1) + "|")
    for label, result in results.items():
        if label == "MMCC+":
            continue
        cells = []
        for name, (_, digits) in FIGURES.items():
            theirs = result.figures.get(name)
            if theirs is None:
                cells.append("–")
                continue
            cells.append(paired_difference([ours[name]], [theirs]).text(digits, "+").replace("-", "−"))
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def fit_order(corpus: Path, out: Path) -> str:
    """Fit the sharpness of MMCC+'s orders on the held-out videos, write order.json, and say how well it fits: by
    cross-validation over the folds, how often pairs are right by their predicted probability."""
    held_out = []
    for fold in range(FOLDS):
        adapter = open_adapter(run_folder(out, MODELS[-1], f"{fold}/{FOLDS}"), checkpoint="last")
        opened = with_vectors(Corpus.open(corpus), frames=Wanted(FRAMES), text=Wanted(TEXT))
        videos = embed_videos(adapter, opened, videos_for(opened, "test", 0.0, f"{fold}/{FOLDS}"))
        held_out.append([log_transitions(adapter, video.frames).numpy() for video in videos])
    everything = [log_P for fold in held_out for log_P in fold]
    fitted = {"sharpness": round(fit_sharpness(everything), 3), "largest": max(map(len, everything))}
    replace_text(out / "order.json", json.dumps(fitted) + "\n")
    believed, right = [], []
    for fold, sets in enumerate(held_out):
        sharpness = fit_sharpness([log_P for at, each in enumerate(held_out) if at != fold for log_P in each])
        for log_P in sets:
            before = order_set(log_P, "pairs", sharpness).before_nn[np.triu_indices(len(log_P), 1)]
            believed += np.maximum(before, 1 - before).tolist()
            right += (before > 0.5).tolist()
    lines = ["| predicted | pairs | right, % |", "|---|---|---|"]
    for low, high in ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0)):
        inside = (np.array(believed) >= low) & (np.array(believed) < high + (high == 1))
        share = f"{100 * np.array(right)[inside].mean():.0f}" if inside.any() else "–"
        lines.append(f"| {100 * low:.0f} to {100 * high:.0f} % | {inside.sum()} | {share} |")
    return "\n".join(lines)


def pictures_table(corpus: Path, data: Path, out: Path) -> str:
    """Photo sets and pairs, by models of all videos."""
    sets = read_photo_sets(data / "photos", SIZE)
    pairs = read_pairs(data / "hdepic" / "val", data / "hdepic" / "val_labels.txt", SIZE)
    lines = ["| | order τ, photo sets | HD-EPIC: later of two, % |", "|---|---|---|", "| chance | 0.00 | 50.0 |"]
    opened = with_vectors(Corpus.open(corpus), frames=Wanted(FRAMES), text=Wanted(TEXT))
    fitted = training_data(opened, opened.ids)
    backbone = open_adapter(run_folder(out, MODELS[-1], None)).model.frame_encoder.frozen_backbone  # type: ignore[attr-defined]

    def vectors(pictures: NDArray[np.uint8]) -> Floats:
        return np.asarray(backbone(torch.from_numpy(pictures)).numpy(), np.float64)

    place = ridge(fitted.frames, fitted.frame_places, fitted.frame_videos)
    said, said_place = (
        ridge(fitted.frames, fitted.frame_sentences, fitted.frame_videos),
        ridge(fitted.sentences, fitted.sentence_places, fitted.sentence_videos),
    )
    for label, position in (
        ("ridge to position", place),
        ("ridge to sentences", lambda given: said_place(said(given))),
    ):
        taus = [tau_of(at - at[:, None]) for at in (position(vectors(each.pictures)) for each in sets)]
        at = position(vectors(pairs.pictures))
        lines.append(_picture_row(label, taus, pair_accuracy(pairs, at[pairs.second] - at[pairs.first])))
    for model in MODELS:
        adapter = open_adapter(run_folder(out, model, None), checkpoint="last")
        taus = [tau_of(order_margins(adapter, each.pictures)) for each in sets]
        lines.append(_picture_row(model.label, taus, pair_accuracy(pairs, later_margins(adapter, pairs))))
    kitchen = open_adapter("kitchen")
    small = [(each.name, _shrunk(each.pictures)) for each in sets]
    taus = [tau_of(order_margins(kitchen, pictures)) for _, pictures in small]
    accuracy = pair_accuracy(pairs, later_margins(kitchen, pairs._replace(pictures=_shrunk(pairs.pictures))))
    lines.append(_picture_row("the `kitchen` model", taus, accuracy))
    return "\n".join(lines)


def _picture_row(label: str, taus: Sequence[float], accuracy: Interval) -> str:
    figure = PerVideo(tuple(map(str, range(len(taus)))), np.array(taus), np.ones(len(taus)))
    return f"| {label} | {with_interval(figure, 2, 'set')} | {accuracy.text(1, of='picture')} |"


def _shrunk(pictures: NDArray[np.uint8], size: int = 48) -> NDArray[np.uint8]:
    from mmcc.tools.footage import at_size

    return np.asarray(at_size(torch.from_numpy(pictures), size).numpy())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that contains youcook2, photos and hdepic")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--into", type=Path, help="a Markdown file whose marked part is replaced")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    corpus = prepare(given.data, given.output)
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        for some in jobs(corpus, given.output):
            for _ in tqdm(pool.map(train_and_measure, some), total=len(some), desc="train", disable=None):
                pass
    parts = []
    for kind in KINDS:
        found = rival_figures(corpus, kind)
        results = {name: found[name] for name in RIVALS} | {
            m.label: model_figures(given.output, m, kind) for m in MODELS
        }
        parts += [f"### Held-out {kind}", table(results), "Paired differences:", differences(results)]
    parts += ["### Photos, and pictures from the cook's eyes", pictures_table(corpus, given.data, given.output)]
    parts += ["### How sure an order of stills is, held-out videos", fit_order(corpus, given.output)]
    text = "\n\n".join(parts)
    print(text)
    if given.into:
        before, _, rest = given.into.read_text(encoding="utf-8").partition(BEGIN)
        replace_text(given.into, f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
