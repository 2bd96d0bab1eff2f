"""Which of two frames came first? (Table 4)

Rows are features, columns ways to choose the pairs (`mmcc.evaluation.pairs`). On frozen features a linear layer over
[z_a, z_b] is trained by logistic regression with L2. Every pair counts in both orders, and the best such layer is then

    p(a before b) = σ(w · (z_a - z_b)),       w = argmin  mean log(1 + e^{∓ w · (z_a - z_b)}) + λ/2 |w|²

(the objective is convex, and flipping both the order and the sign of w leaves it unchanged, so the two halves of the
layer are opposite and its bias is 0). λ is chosen on a fifth of the training videos. The row "from_scratch" is a whole
network trained on the training pairs alone. Training and test pairs come from different videos.

Shapes: P pairs, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from mmcc.corpus import Corpus
from mmcc.data.loader import read_frames
from mmcc.errors import InputError
from mmcc.evaluation.adapter import ModelAdapter
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.features_only import encoder_for
from mmcc.evaluation.pairs import FramePairs, sample_pairs
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import EvaluationTask, Needs
from mmcc.metrics import PerVideo
from mmcc.models.encoders import build_frame_encoder
from mmcc.models.mlp import mlp

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

STRENGTHS = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)  # of λ, on features of unit size; the strongest first
GRADIENT_TOLERANCE = 1e-6  # the fit ends when no component of the gradient is larger
HELD_OUT = 5  # one training video in five is held out to choose λ
SCRATCH, AVERAGE = "from_scratch", "average"


class Split(NamedTuple):
    """A model's embeddings of the training and the test videos."""

    train: Sequence[EmbeddedVideo]
    test: Sequence[EmbeddedVideo]


class Examples(NamedTuple):
    """The pairs of a column, chosen in the same way in both parts."""

    train: FramePairs
    test: FramePairs


@dataclass(frozen=True)
class Scratch:
    """Settings of the network trained from scratch; by default about a minute on 2 cores."""

    corpus: Corpus  # the frames themselves
    steps: int = 600
    batch_size: int = 64  # pairs
    lr: float = 1e-3  # Adam, with cosine decay to 0
    width: int = 16
    dims: int = 128
    seed: int = 0


def evaluate(
    samplers: Mapping[str, ModelAdapter | None],
    embedded: Mapping[str, Split],
    *,
    scratch: Scratch | None = None,
    per_video: int = 16,
    seed: int = 0,
) -> TaskResult:
    """Accuracy in percent, "accuracy/FEATURES/SAMPLER", with averages of rows and columns (without from_scratch).

    `samplers`: columns, a model each, or None for random pairs. `embedded`: rows, by the model's name, including those
    of the samplers; all of the same videos.
    """
    _require_same_videos(embedded)
    any_split = next(iter(embedded.values()))
    figures: dict[str, PerVideo] = {}
    references = {"chance/accuracy": 50.0}
    for column, adapter in samplers.items():
        split = embedded[adapter.name] if adapter else any_split
        examples = Examples(*(sample_pairs(videos, adapter, per_video=per_video, seed=seed) for videos in split))
        _require_pairs(examples)
        for row, features in embedded.items():
            figures[f"accuracy/{row}/{column}"] = linear_accuracy(features, examples)
        figures[f"accuracy/{AVERAGE}/{column}"] = _average([figures[f"accuracy/{row}/{column}"] for row in embedded])
        if scratch:
            figures[f"accuracy/{SCRATCH}/{column}"] = scratch_accuracy(examples, scratch)
        test = examples.test
        figures[f"forward/{column}"] = PerVideo.of(100.0 * test.forward, test.of_video, test.videos)
        figures[f"seconds_apart/{column}"] = PerVideo.of(_seconds_apart(split.test, test), test.of_video, test.videos)
        references[f"steps_known/{column}"] = 100 * float(np.mean(_right_by_steps(split.test, test)))
    for row in (*embedded, AVERAGE, *([SCRATCH] if scratch else [])):
        figures[f"accuracy/{row}/{AVERAGE}"] = _average([figures[f"accuracy/{row}/{column}"] for column in samplers])
    return TaskResult("arrow_of_time", figures, references, _notes(any_split))


def linear_accuracy(features: Split, examples: Examples) -> PerVideo:
    """The accuracy of a linear classifier on frozen features, in percent."""
    train, test = (differences(videos, pairs) for videos, pairs in zip(features, examples, strict=True))
    scale = train.square().mean(dim=0).sqrt().clamp(min=1e-12)
    train, test = train / scale, test / scale
    label = torch.from_numpy(examples.train.earlier_first)
    _, number = np.unique(examples.train.of_video, return_inverse=True)  # among the videos that have a pair
    weights = fit_linear(train, label, torch.from_numpy(number % HELD_OUT == 0))
    return _accuracy(test @ weights, examples.test)


def differences(videos: Sequence[EmbeddedVideo], pairs: FramePairs) -> Tensor:
    """z_first - z_second of every pair [P, D], in float64."""
    starts = np.cumsum([0, *(len(video.times) for video in videos)])[pairs.of_video]
    z = torch.cat([video.frames.z for video in videos])
    first, second = (torch.from_numpy(starts + frames) for frames in (pairs.first, pairs.second))
    return (z[first] - z[second]).double()


def fit_linear(x_PD: Tensor, label_P: Tensor, held_out_P: Tensor) -> Tensor:
    """w [D] for the strength with the lowest log loss on the held-out pairs, fitted again on all pairs."""
    turned_PD = x_PD * torch.where(label_P, 1.0, -1.0)[:, None]  # so that w should be positive along every row
    losses = []
    weights_D = x_PD.new_zeros(x_PD.shape[1])
    for strength in STRENGTHS:
        weights_D = _minimized(turned_PD[~held_out_P], strength, weights_D)
        losses.append(float(F.softplus(-turned_PD[held_out_P] @ weights_D).mean()))
    return _minimized(turned_PD, STRENGTHS[int(np.argmin(losses))], weights_D)


def _minimized(turned_PD: Tensor, strength: float, start_D: Tensor) -> Tensor:
    weights_D = start_D.clone().requires_grad_()
    optimizer = torch.optim.LBFGS(
        [weights_D],
        max_iter=2000,  # enough: 512 dims under the weakest penalty take about 500
        tolerance_grad=GRADIENT_TOLERANCE,
        tolerance_change=0,  # by default it stops once a step gains less than 1e-9, with gradients of 1e-5
        line_search_fn="strong_wolfe",
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = F.softplus(-turned_PD @ weights_D).mean() + strength / 2 * weights_D.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return weights_D.detach()


class PairNetwork(nn.Module):
    """A frame encoder for both frames, and h([z_a, z_b]) - h([z_b, z_a]): swapping the frames flips the sign."""

    def __init__(self, encoder: nn.Module, dims: int) -> None:
        super().__init__()
        self.encoder, self.head = encoder, mlp(2 * dims, dims, 1)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        z_first, z_second = self.encoder(torch.cat([first, second])).chunk(2)
        there, back = (torch.cat(both, dim=1) for both in ((z_first, z_second), (z_second, z_first)))
        margin_P: Tensor = (self.head(there) - self.head(back)).squeeze(1)
        return margin_P


def scratch_accuracy(examples: Examples, scratch: Scratch) -> PerVideo:
    """The accuracy of a network trained on the training pairs, in percent."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(scratch.seed)
        encoder = build_frame_encoder(encoder_for(scratch.corpus, scratch.width), scratch.dims)
        network = PairNetwork(encoder, scratch.dims)
        _train(network, examples.train, scratch)
    network.eval()
    margins = []
    with torch.inference_mode():
        for batch in np.array_split(np.arange(len(examples.test)), -(-len(examples.test) // 256)):
            margins.append(network(*_frames(scratch.corpus, examples.test, batch)))
    return _accuracy(torch.cat(margins), examples.test)


def _train(network: PairNetwork, pairs: FramePairs, scratch: Scratch) -> None:
    optimizer = torch.optim.Adam(network.parameters(), lr=scratch.lr)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, scratch.steps)
    rng = np.random.Generator(np.random.PCG64(scratch.seed))
    sign_P = torch.from_numpy(np.where(pairs.earlier_first, 1.0, -1.0)).float()
    for _ in range(scratch.steps):
        batch = (rng.random(min(scratch.batch_size, len(pairs))) * len(pairs)).astype(np.int64)
        margin = network(*_frames(scratch.corpus, pairs, batch))
        optimizer.zero_grad()
        F.softplus(-margin * sign_P[batch]).mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        falling.step()


def _frames(corpus: Corpus, pairs: FramePairs, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    first, second = (
        torch.from_numpy(
            np.concatenate([read_frames(corpus[pairs.videos[pairs.of_video[at]]], frames[at : at + 1]) for at in batch])
        )
        for frames in (pairs.first, pairs.second)
    )
    return first, second


def _accuracy(margin_P: Tensor, pairs: FramePairs) -> PerVideo:
    """A positive margin means that the first frame came first; a margin of 0 counts as half right."""
    said = np.sign(margin_P.double().numpy())
    right = 0.5 + 0.5 * said * np.where(pairs.earlier_first, 1, -1)
    return PerVideo.of(100 * right, pairs.of_video, pairs.videos)


def _average(figures: Sequence[PerVideo]) -> PerVideo:
    totals, counts = (np.sum(parts, axis=0) for parts in zip(*((f.totals, f.counts) for f in figures), strict=True))
    return PerVideo(figures[0].videos, totals, counts)


def _seconds_apart(videos: Sequence[EmbeddedVideo], pairs: FramePairs) -> NDArray[np.float64]:
    spans = [
        abs(videos[video].times[first] - videos[video].times[second])
        for video, first, second in zip(pairs.of_video, pairs.first, pairs.second, strict=True)
    ]
    return np.array(spans, np.float64)


def _right_by_steps(videos: Sequence[EmbeddedVideo], pairs: FramePairs) -> NDArray[np.float64]:
    """[P]: the accuracy of ordering by the numbers of the steps shown, with a coin toss where a frame shows no step or
    both show the same one."""
    steps = [_step_numbers(video) for video in videos]
    first, second = (
        np.array([steps[video][frame] for video, frame in zip(pairs.of_video, frames, strict=True)], np.float64)
        for frames in (pairs.first, pairs.second)
    )
    said = np.nan_to_num(np.sign(second - first))
    return np.asarray(0.5 + 0.5 * said * np.where(pairs.earlier_first, 1, -1), np.float64)


def _step_numbers(video: EmbeddedVideo) -> NDArray[np.float64]:
    """[n]: the number of the step that each frame shows, or NaN."""
    numbers = np.full(len(video.times), np.nan)
    for step in video.steps:
        numbers[(step.start <= video.times) & (video.times < step.end)] = step.step
    return numbers


def _require_same_videos(embedded: Mapping[str, Split]) -> None:
    ids = {tuple(tuple(video.id for video in part) for part in split) for split in embedded.values()}
    if len(ids) != 1:
        raise ValueError("all features must be of the same videos, in the same order")
    train, test = ids.pop()
    if set(train) & set(test):
        raise ValueError("a video is in both the training and the test part")


def _require_pairs(examples: Examples) -> None:
    trained, tested = (len(np.unique(pairs.of_video)) for pairs in examples)
    if trained < 2 or not tested:
        cause = f"{trained} training videos and {tested} test videos have two frames to compare"
        raise InputError("arrow of time", cause, "It needs at least two training videos and one test video.")


def _notes(split: Split) -> list[str]:
    notes = [f"{len(split.train)} training videos, {len(split.test)} test videos"]
    short = sum(len(video.times) < 2 for part in split for video in part)
    return notes + ([f"{short} of them have fewer than two frames"] if short else [])


_CHOSEN = {"at_random": "pairs at random", "own_choice": "pairs that the model chooses"}


def _run(evaluator: Evaluator) -> TaskResult:
    """One model's features, on random pairs and on the pairs it chooses itself."""
    adapter = evaluator.adapter
    embedded = {adapter.name: Split(evaluator.training, evaluator.primary)}
    result = evaluate({"at_random": None, "own_choice": adapter}, embedded)
    figures = {name: figure for name, figure in result.figures.items() if AVERAGE not in name.split("/")}
    return TaskResult(result.task, figures, result.references, result.notes)  # averages are over several models


def _in_words(figure: str) -> str:
    """ "accuracy/MODEL/SAMPLER" and "forward/SAMPLER"; seconds apart are for the table alone."""
    kind, *_, sampler = figure.split("/")
    chosen = _CHOSEN.get(sampler, sampler)
    return {"accuracy": f"right on {chosen}, %", "forward": f"{chosen} go forward, %"}.get(kind, "")


ARROW = EvaluationTask(
    "arrow",
    "The arrow of time",
    "Of two frames: which came first?",
    _run,
    Needs(training_videos=True),
    describe=_in_words,
)
