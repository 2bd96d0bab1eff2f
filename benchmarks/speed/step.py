"""Cost of a training step compared with its frame encoder alone, and the time spent waiting for data.

    python -m benchmarks.speed.step [--repeats 5] [--wait-steps 60]

A whole step (words, projections, eight cycles per segment and modality, all losses, gradients, Adam) is compared with
the forward and backward pass of the frame encoder alone on the same frames, in turn. Width 32 is also measured with
d = 256, the output width of that encoder, to show what wider heads cost. Beside the ratio of times stands that of the
multiplications, which no implementation of the same losses can avoid: where heads are wide and the encoder is small,
it is what the bound is really against, and the time may be at most 1.05 times that. The waiting time is that of a real
run with one loader process on a small kitchen.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.common import Figure, Figures, command_line, finish, ingest, run_mmcc
from mmcc.data.batch import Batch
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FrameResNetSettings
from mmcc.training.config import Config, TrainConfig
from mmcc.training.loop import build_model
from mmcc.training.processes import join_world
from mmcc.training.schedule import Schedule
from mmcc.training.step import Stepper

FRAMES, UTTERANCES, WORDS, VOCABULARY = 32, 16, 12, 1000  # of a segment of 64 s
# Width, d, pixels, segments; few segments for the large model, which 2 cores run at 30 frames per second.
SIZES = ((32, 512, 48, 32), (32, 256, 48, 32), (64, 512, 112, 4))


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--wait-steps", type=int, default=60)
    options = parser.parse_args(arguments)
    figures = Figures()
    for width, dims, pixels, segments in SIZES:
        model = ModelConfig(dims=dims, frame_encoder=FrameResNetSettings(width=width))
        ratio, arithmetic = step_over_encoder(model, pixels, segments, options.repeats)
        size = f"width {width}, d {dims}, {segments} x 32 frames of {pixels} px"
        figures.at_most(f"step / encoder alone: {size} (multiplications: {arithmetic:.3f})", ratio, 1.1)
        figures.at_most(f"the same, of what the multiplications allow: {size}", ratio / arithmetic, 1.05)
    figures.at_most("share of a training step spent waiting for data, 1 worker (%)", waiting(options.wait_steps), 3)
    return figures.measured


def step_over_encoder(model_config: ModelConfig, pixels: int, segments: int, repeats: int) -> tuple[float, float]:
    """Median ratio of times over the repeats, each of which times both; and the ratio of multiplications."""
    config = Config(model=model_config, train=TrainConfig(batch_size=segments))
    batch = made_up_batch(segments, pixels)
    with join_world("cpu") as world:
        model = build_model(config, VOCABULARY, world)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        stepper = Stepper(model, config.objective, optimizer, Schedule(config.train, 1000), config.train, world)

        def encode() -> None:
            model.embed_frames(batch.frames).sum().backward()  # type: ignore[no-untyped-call]

        ratios = []
        for number in range(repeats + 1):
            start = time.perf_counter()
            encode()
            encoded = time.perf_counter()
            stepper.step(number, [batch])
            ratios.append((time.perf_counter() - encoded) / (encoded - start))
        arithmetic = multiplications(lambda: stepper.step(repeats + 1, [batch])) / multiplications(encode)
    return float(np.median(ratios[1:])), arithmetic  # the first repeat allocates memory


def multiplications(work: Callable[[], object]) -> int:
    """Of matrix products and convolutions, forwards and backwards."""
    with FlopCounterMode(display=False) as counter:
        work()
    operations: int = counter.get_total_flops()  # a multiplication and an addition count as two
    return operations // 2


def made_up_batch(segments: int, pixels: int) -> Batch:
    rng = torch.Generator().manual_seed(0)
    frequency = 1 / torch.arange(1.0, VOCABULARY - 1)  # Zipf's law: a few words make up most of speech
    frame_times = torch.arange(FRAMES).mul(2.0).expand(segments, -1)
    text_times = torch.arange(UTTERANCES).mul(4.0).add(1.3).expand(segments, -1)
    return Batch(
        frames=torch.randint(256, (segments * FRAMES, pixels, pixels, 3), dtype=torch.uint8, generator=rng),
        frame_valid=torch.ones(segments, FRAMES, dtype=torch.bool),
        frame_times=frame_times.contiguous(),
        words=2 + torch.multinomial(frequency.expand(segments * UTTERANCES, -1), WORDS, True, generator=rng),
        text_valid=torch.ones(segments, UTTERANCES, dtype=torch.bool),
        text_times=text_times.contiguous(),
        videos=[str(segment) for segment in range(segments)],
        samples=torch.arange(segments),
    )


def waiting(steps: int) -> float:
    """Mean share in percent, without the first tenth of the run, during which the loader process starts."""
    with TemporaryDirectory() as folder:
        world, corpus, run = Path(folder, "kitchen"), Path(folder, "corpus"), Path(folder, "run")
        run_mmcc("kitchen", world, "--videos", 60, "--size", 48, "--fps", 1)
        ingest(world, corpus, "--size", 48)
        flags = {"steps": steps, "batch_size": 32, "workers": 1, "log_every": 1, "validate_every": 10 * steps}
        words = [word for name, value in flags.items() for word in (f"--train.{name}", value)]
        run_mmcc("train", corpus, "-o", run, "--model.frame_encoder.width", 32, "--data.frame_rates", "[0.5]", *words)
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    shares = [line["waiting_share"] for line in lines if "waiting_share" in line]
    return 100 * float(np.mean(shares[steps // 10 :]))


if __name__ == "__main__":
    finish(main())
