"""Throughput of pretrained encoders: what mmcc embeds, compared with the bare network alone.

    python -m benchmarks.speed.backbones [--pictures 64] [--sentences 512] [--repeats 5]

Pictures of 480 x 270 pixels, the way `embed_frames` runs them (fitting, scaling, every core), against the bare network
on pictures that are ready, at the batch size that suits it best, whether all cores share a batch or each has its own.
Sentences, the way `embed` runs them (tokens, batches), against the bare network on tokens that are ready, in the same
two ways. Each repeat times all in turn; medians are compared. The milliseconds are CPU time, of one core.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.backbones import embed_frames, open_frame_backbone
from mmcc.backbones.base import TEXTS_AT_ONCE
from mmcc.backbones.efficientnet import SIZES, folded, pooled_features
from mmcc.backbones.minilm import MiniLM
from mmcc.backbones.workers import map_in_threads

SHARED_BATCHES, OWN_BATCHES = (8, 32), (1, 4, 8)  # pictures, for all cores together and for each core
MOST_MS = {"efficientnet-lite0": 30, "efficientnet-lite1": 40, "efficientnet-lite2": 60, "minilm": 10}
WORDS = "add cut stir the a onion oil pan to until golden brown then season with salt heat chopped pour in".split()


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--pictures", type=int, default=64)
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    figures = Figures()
    for name in SIZES:
        ratio, cost = measure(*of_pictures(name, options.pictures), options.repeats)
        figures.at_least(f"{name}: pictures per second / the bare network's at its best batch", ratio, 0.9)
        figures.at_most(f"{name}: CPU milliseconds per picture", 1000 * cost / options.pictures, MOST_MS[name])
    ratio, cost = measure(*of_sentences(options.sentences), options.repeats)
    figures.at_least("minilm: sentences per second / the bare network's on ready tokens", ratio, 0.9)
    figures.at_most("minilm: CPU milliseconds per sentence", 1000 * cost / options.sentences, MOST_MS["minilm"])
    return figures.measured


Job = Callable[[], object]


def measure(ours: Job, bare: Sequence[Job], repeats: int) -> tuple[float, float]:
    """How many times as fast as the fastest way to run the bare network, and our CPU seconds."""
    seconds: list[list[float]] = []
    costs = []
    for _ in range(repeats + 1):
        start = time.process_time()
        first = timed(ours)
        costs.append(time.process_time() - start)
        seconds.append([first, *map(timed, bare)])
    mine, *others = np.median(seconds[1:], axis=0)  # the first repeat allocates memory
    return float(min(others) / mine), float(np.median(costs[1:]))


def timed(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def of_pictures(name: str, count: int) -> tuple[Job, list[Job]]:
    backbone = open_frame_backbone(name)
    rng = torch.Generator().manual_seed(0)
    frames = torch.randint(256, (count, 270, 480, 3), dtype=torch.uint8, generator=rng)
    ready = torch.randn(count, 3, backbone.size, backbone.size, generator=rng)
    ready = ready.contiguous(memory_format=torch.channels_last)
    network = folded(backbone.network)  # type: ignore[arg-type]

    def run(part: Tensor) -> Tensor:
        return pooled_features(network, part)

    bare = [bare_job(run, torch.split(ready, size), threads=1) for size in SHARED_BATCHES]
    bare += [bare_job(run, torch.split(ready, size), threads=torch.get_num_threads()) for size in OWN_BATCHES]
    return lambda: list(embed_frames(backbone, [frames])), bare


def bare_job(run: Callable[[Any], Tensor], parts: Sequence[Any], threads: int) -> Job:
    return lambda: list(map_in_threads(run, [list(parts)], threads))


def of_sentences(count: int) -> tuple[Job, list[Job]]:
    backbone = MiniLM().eval().requires_grad_(False)
    rng = random.Random(0)
    sentences = [" ".join(rng.choices(WORDS, k=rng.randint(3, 20))) for _ in range(count)]
    ordered = sorted(sentences, key=len)
    ready = [backbone.tokens(ordered[at : at + TEXTS_AT_ONCE]) for at in range(0, count, TEXTS_AT_ONCE)]

    def run(tokens: tuple[Tensor, Tensor]) -> Tensor:
        states: Tensor = backbone.bert(*tokens)
        return states

    return lambda: backbone.embed(sentences), [bare_job(run, ready, n) for n in (1, torch.get_num_threads())]


if __name__ == "__main__":
    finish(main())
