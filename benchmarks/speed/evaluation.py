"""Cost of evaluation tasks: transitions in long videos, neurons and words, unshuffling.

    python -m benchmarks.speed.evaluation [--repeats 101] [--pairs 40]

Transitions are compared with the matrix products that they need, in turn on the same blocks: the layers of g, the
concreteness of the frames, both sums of the first pass and the scores of the second. Memory is the peak of a separate
process, torch included. The time of a SciPy loop over all pairs of a neuron and a word is extrapolated from a sample.
Unshuffling runs every variant of the evaluation task on embedded videos with 2 to 15 clips and some with 20. All but
the long video run on one thread and are timed in CPU time, which does not count other processes.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy import stats

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.corpus.source import LabelledClip, Task
from mmcc.data.vocabulary import Vocabulary
from mmcc.evaluation import unshuffling
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.adapters import TrainedAdapter, Words
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.neurons import SpokenWords, spearman
from mmcc.evaluation.transitions import BLOCK, salient_transitions
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.model import MMCC

SHORT, LONG = 600, 36_000  # frames: ten minutes and ten hours at one per second
SECONDS_PER_SENTENCE = 4
TOP = 10
LAYERS = 8  # of g_fwd and g_back together
FRAMES, NEURONS, WORDS = 20_000, 128, 1000
VIDEOS = 300  # to unshuffle
TASK = Task("task", "Unshuffle", tuple(f"do thing number {number}" for number in range(15)))


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--repeats", type=int, default=101)
    parser.add_argument("--pairs", type=int, default=40)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    figures = Figures()
    for frames, dims, repeats in ((SHORT, 128, options.repeats), (SHORT, 512, options.repeats), (LONG, 128, 1)):
        ratio, gb = in_own_process(transitions_over_products, frames, dims, repeats)
        what = f"transitions of {frames:,} frames"
        figures.at_most(f"{what} / their matrix products ({dims} dims)", ratio, 2)
        if frames == LONG:
            figures.at_most(f"{what}: peak memory (GB)", gb, 2)
    figures.at_least(
        f"neurons and words: SciPy loop / `spearman` ({NEURONS} x {WORDS:,}, {FRAMES:,} frames)",
        scipy_over_spearman(options.pairs),
        1000,
    )
    figures.at_most(f"seconds to unshuffle {VIDEOS} videos", seconds_to_unshuffle(), 10)
    return figures.measured


def in_own_process(measure: Callable[[int, int, int], float], *arguments: int) -> tuple[float, float]:
    """The result of `measure`, and the peak memory of the process in GB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (measure, arguments))


def _measured(measure: Callable[..., float], arguments: tuple[int, ...]) -> tuple[float, float]:
    return measure(*arguments), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def transitions_over_products(frames: int, dims: int, repeats: int) -> float:
    """Median ratio over the repeats; each repeat times both."""
    torch.manual_seed(0)
    if frames < LONG:
        torch.set_num_threads(1)
    adapter, video = made_up_adapter(dims), made_up_video(frames, dims)
    clock = time.perf_counter if frames == LONG else time.process_time
    ratios = []
    with torch.inference_mode():
        for _ in range(repeats + (repeats > 1)):
            start = clock()
            multiply(video)
            products = clock()
            found = salient_transitions(adapter, video, top=TOP)
            ratios.append((clock() - products) / (products - start))
            assert len(found) == TOP
    return float(np.median(ratios[repeats > 1 :]))  # the first of several repeats allocates memory


def multiply(video: EmbeddedVideo) -> None:
    """The matrix products alone."""
    assert video.utterances is not None
    z, pi = video.frames
    square, double = torch.eye(z.shape[1]), torch.zeros(len(z), 2 * z.shape[1] + 2)
    for _ in range(LAYERS):
        z @ square
    for rows in torch.split(pi, BLOCK):
        rows @ video.utterances.pi.T
    for factors in (pi, pi, double):
        for rows in torch.split(factors, BLOCK):
            for columns in torch.split(factors, BLOCK):
                rows @ columns.T


def made_up_adapter(dims: int) -> TrainedAdapter:
    """An untrained model, which costs the same."""
    model = MMCC(ModelConfig(dims=dims, frame_encoder=FeatureSettings(feature_dims=1)), vocabulary_size=2)
    return TrainedAdapter(model, words=Words(Vocabulary([])), name="mmcc")


def made_up_video(frames: int, dims: int, name: str = "made up", steps: int = 0) -> EmbeddedVideo:
    """A video of slowly changing frames with a sentence now and then and one step after another."""
    said = frames // SECONDS_PER_SENTENCE
    z = torch.randn(frames, dims).cumsum(dim=0)
    z = z / z.norm(dim=1, keepdim=True) * dims**0.5
    return EmbeddedVideo(
        id=name,
        tasks=(TASK.id,),
        steps=[LabelledClip(at + 1, frames * at / steps, frames * (at + 0.5) / steps) for at in range(steps)],
        times=np.arange(float(frames)),
        frames=Embedding.of(z),
        text_times=np.arange(0.0, said * SECONDS_PER_SENTENCE, SECONDS_PER_SENTENCE),
        utterances=Embedding.of(torch.randn(said, dims)),
    )


def seconds_to_unshuffle() -> float:
    """CPU seconds, after a warm-up on a few videos."""
    torch.manual_seed(0)
    clips = [20 if number % 20 == 0 else 2 + number % 14 for number in range(VIDEOS)]
    videos = [made_up_video(200, 128, str(number), count) for number, count in enumerate(clips)]
    adapter, tasks = made_up_adapter(128), {TASK.id: TASK}
    unshuffling.evaluate(adapter, videos[:20], tasks)
    start = time.process_time()
    unshuffling.evaluate(adapter, videos, tasks)
    return time.process_time() - start


def scipy_over_spearman(pairs: int) -> float:
    """Time of all correlations one by one, extrapolated from a sample / time of all at once."""
    rng = np.random.Generator(np.random.PCG64(0))
    activations = rng.normal(size=(FRAMES, NEURONS)).astype(np.float32)
    presence = rng.random((FRAMES, WORDS)) < 0.01
    row, column = np.nonzero(presence)
    spoken = SpokenWords(np.arange(FRAMES), tuple(map(str, range(WORDS))), row, column)
    start = time.process_time()
    ours = spearman(torch.from_numpy(activations), spoken)
    middle = time.process_time()
    for pair in range(pairs):
        neuron, word = pair % NEURONS, pair % WORDS
        expected = stats.spearmanr(activations[:, neuron], presence[:, word]).statistic
        assert abs(ours[neuron, word] - expected) < 1e-5
    one_by_one = (time.process_time() - middle) / pairs * NEURONS * WORDS
    return one_by_one / (middle - start)


if __name__ == "__main__":
    finish(main())
