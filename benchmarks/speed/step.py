"""What a training step costs beyond its encoder, and how long it waits for data.

    python -m benchmarks.speed.step [--repeats 5] [--wait-steps 60]

A whole step (words, projections, eight cycles a segment and modality, all losses, gradients, Adam) against forward and
backward of the bare frame encoder on the same frames, taken in turn; at width 32 also with d = 256, which is as wide
as that encoder, to tell what the width of the heads costs. The share of waiting is that of a real run with one loader
process, on a small kitchen.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.common import Figures, ingest, run_mmcc
from mmcc.data.batch import Batch
from mmcc.models.config import ModelConfig
from mmcc.objectives.mmcc import MMCCObjective
from mmcc.training.config import Config, TrainConfig
from mmcc.training.loop import build_model
from mmcc.training.processes import join_world
from mmcc.training.schedule import Schedule
from mmcc.training.step import Stepper

FRAMES, UTTERANCES, WORDS, VOCABULARY = 32, 16, 12, 1000  # of a segment of 64 s
# Width, d, pixels, and segments: few where 2 cores see 30 frames a second.
SIZES = ((32, 512, 48, 32), (32, 256, 48, 32), (64, 512, 112, 4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--wait-steps", type=int, default=60)
    options = parser.parse_args()
    figures = Figures()
    for width, dims, pixels, segments in SIZES:
        ratio = step_over_encoder(ModelConfig(dims=dims, width=width), pixels, segments, options.repeats)
        figures.show(
            f"a step / its encoder: width {width}, d {dims}, {segments} x 32 frames of {pixels} px", ratio, most=1.1
        )
    figures.show("share of a step spent waiting for data, one worker (%)", waiting(options.wait_steps), most=3)
    figures.exit()


def step_over_encoder(model_config: ModelConfig, pixels: int, segments: int, repeats: int) -> float:
    """The median over the repeats, each of which takes both in turn."""
    config = Config(model=model_config, train=TrainConfig(batch_size=segments))
    batch = made_up_batch(segments, pixels)
    with join_world("cpu") as world:
        model = build_model(config, VOCABULARY, world)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        stepper = Stepper(
            model, MMCCObjective(config.objective), optimizer, Schedule(config.train, 1000), config.train, world
        )
        ratios = []
        for number in range(repeats + 1):
            begun = time.perf_counter()
            model.embed_frames(batch.frames).sum().backward()  # type: ignore[no-untyped-call]
            bare = time.perf_counter()
            stepper.step(number, [batch])
            ratios.append((time.perf_counter() - bare) / (bare - begun))
    return float(np.median(ratios[1:]))  # the first one allocates


def made_up_batch(segments: int, pixels: int) -> Batch:
    chance = torch.Generator().manual_seed(0)
    frequency = 1 / torch.arange(1.0, VOCABULARY - 1)  # Zipf's law: speech is mostly a few words
    frame_times = torch.arange(FRAMES).mul(2.0).expand(segments, -1)
    text_times = torch.arange(UTTERANCES).mul(4.0).add(1.3).expand(segments, -1)
    return Batch(
        frames=torch.randint(256, (segments * FRAMES, pixels, pixels, 3), dtype=torch.uint8, generator=chance),
        frame_valid=torch.ones(segments, FRAMES, dtype=torch.bool),
        frame_times=frame_times.contiguous(),
        words=2 + torch.multinomial(frequency.expand(segments * UTTERANCES, -1), WORDS, True, generator=chance),
        text_valid=torch.ones(segments, UTTERANCES, dtype=torch.bool),
        text_times=text_times.contiguous(),
        videos=[str(segment) for segment in range(segments)],
        samples=torch.arange(segments),
    )


def waiting(steps: int) -> float:
    """Over the steps of a run after its first tenth, in which the loader's process starts."""
    with TemporaryDirectory() as folder:
        world, corpus, run = Path(folder, "kitchen"), Path(folder, "corpus"), Path(folder, "run")
        run_mmcc("kitchen", world, "--videos", 60, "--size", 48, "--fps", 1)
        ingest(world, corpus, "--size", 48)
        flags = {"steps": steps, "batch_size": 32, "workers": 1, "log_every": 1, "validate_every": 10 * steps}
        words = [word for name, value in flags.items() for word in (f"--train.{name}", value)]
        run_mmcc("train", corpus, "-o", run, "--model.width", 32, "--data.frame_rates", "[0.5]", *words)
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    shares = [line["waiting_share"] for line in lines if "waiting_share" in line]
    return 100 * float(np.mean(shares[steps // 10 :]))


if __name__ == "__main__":
    main()
