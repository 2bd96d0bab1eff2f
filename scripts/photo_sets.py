"""Measure how well a model orders real photos and the clips of test videos, with the code of `mmcc unshuffle`.

    python scripts/photo_sets.py kitchen ../shared/data/photos [kitchen.corpus]

The names of the photos in each folder give their true order. Of the corpus, the test videos of primary tasks are used;
their figures are printed beside those of `mmcc evaluate`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmcc.corpus import Corpus
from mmcc.data.splits import videos_for
from mmcc.evaluation.set_order import By
from mmcc.evaluation.unshuffling import evaluate
from mmcc.metrics import PerVideo, bootstrap, kendall_tau
from mmcc.tools.cache import Cache
from mmcc.tools.footage import Footage, open_footage
from mmcc.tools.model import ToolModel, open_model
from mmcc.tools.unshuffle import unshuffle, unshuffle_footage

WAYS: tuple[tuple[By, str], ...] = (("pairs", "kendall_tau/all_pairs"), ("path", "kendall_tau"))
GUESSES = 20_000  # random orders, for the range of mean τ by chance


def main(source: str, photos: str, corpus: str | None = None) -> None:
    model, cache = open_model(source), Cache.default()
    for by, _ in WAYS:
        show_photos(model, sorted(path for path in Path(photos).iterdir() if path.is_dir()), cache, by)
    if corpus:
        show_videos(model, Path(corpus), cache)


def show_photos(model: ToolModel, folders: Sequence[Path], cache: Cache, by: By) -> None:
    outcome = unshuffle(model, folders, cache, by=by)
    taus = []
    for set_ in outcome.sets:
        found = [thing.name for thing in set_.ordered]
        taus.append(float(kendall_tau([sorted(found).index(name) for name in found])))
        numbers = " ".join(Path(name).stem for name in found)
        print(f"{by:6} {set_.name:20} tau {taus[-1]:5.2f}  confidence {set_.found.confidence:.2f}  {numbers}")
    low, high = by_chance([len(set_.things) for set_ in outcome.sets])
    print(f"{by:6} {with_interval(taus, 'set')}; chance 0.00 [{low:.2f}, {high:.2f}]\n")


def by_chance(sizes: Sequence[int]) -> tuple[float, float]:
    """The bounds that contain 95 % of the mean taus of random orders."""
    rng = random.Random(0)
    keys = [np.array([[rng.random() for _ in range(n)] for _ in range(GUESSES)]) for n in sizes]
    guessed = [kendall_tau(each.argsort()) for each in keys]
    low, high = np.quantile(np.mean(guessed, axis=0), (0.025, 0.975)).tolist()
    return low, high


def show_videos(model: ToolModel, path: Path, cache: Cache) -> None:
    corpus = Corpus.open(path)
    primary = {task.id for task in corpus.tasks.values() if task.primary}
    held_out = {
        video for video in videos_for(corpus, "test", 0) if corpus[video].tasks and corpus[video].tasks[0] in primary
    }
    footage = [each for each in open_footage(model, [path], cache).footage if each.video.id in held_out]
    labelled = [each for each in footage if len(each.video.steps) > 1]
    measured = evaluate(model.adapter, [each.embedded(model, cache) for each in labelled]).figures
    print(f"{len(labelled)} held-out videos")
    for by, figure in WAYS:
        taus = [tau_of(model, each, cache, by) for each in labelled]
        print(f"{by:6} {with_interval(taus, 'video')}; mmcc evaluate: {measured[figure].mean:.4f}")


def tau_of(model: ToolModel, footage: Footage, cache: Cache, by: By) -> float:
    found = unshuffle_footage(model, footage, cache, by=by).kendall_tau
    assert found is not None, "the order of a video's segments is known"
    return found


def with_interval(taus: Sequence[float], of: str) -> str:
    names = [str(number) for number in range(len(taus))]
    return f"mean tau {bootstrap([PerVideo.of(taus, range(len(taus)), names)]).text(2, of=of)}"


if __name__ == "__main__":
    main(*sys.argv[1:])
