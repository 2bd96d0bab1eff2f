"""What single neurons of the visual embedding respond to (appendix).

A neuron is one dimension of z; a frame's words are those of the utterances being spoken while it is shown. For every
neuron and every word, over the frames with speech,

    ρ = Pearson's correlation of the ranks of the activations (ties by mid-ranks) and of the word's presence

which is Spearman's correlation, since the ranks of a binary variable are a linear function of it. With the ranks
centred and scaled to unit norm, all D · |V| correlations are one matrix product.

Shapes: F frames with words, A all frames, D neurons, W words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.corpus.source import Task
from mmcc.data.loader import read_frames
from mmcc.data.vocabulary import words_of
from mmcc.errors import InputError
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import EvaluationTask, Needs, NotMeasured
from mmcc.metrics import PerVideo

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

TOP_SHARE = 1e-4  # of all frames: the paper's 0.01 %
LEAST_FRAMES = 50  # with the word: below, a correlation rests on two or three moments
_ROWS = 8192  # frames in a block of the product: 30 MB with a thousand words
_FUNCTION_WORDS = frozenset(
    "a an and as at away back both by down each for from half in into it its of off on onto or out over some the them "
    "then to together until up with".split()
)  # words of step texts that are neither verbs nor nouns


class NothingSaid(InputError):
    """The videos have no speech to compare with."""


class Place(NamedTuple):
    """A frame of the corpus."""

    video: str
    frame: int


class Neuron(NamedTuple):
    """A dimension of z, the word it correlates with, and frames that activate it."""

    word: str
    neuron: int
    correlation: float
    frames: list[Place]


@dataclass(frozen=True)
class SpokenWords:
    """Which frames come with which words."""

    frames: NDArray[np.int64]  # [F] indices of the frames with speech, among all frames of the videos
    words: tuple[str, ...]  # [W], most frequent first
    row: NDArray[np.int64]  # for each (frame, word) that occurs, the frame's index in `frames`
    column: NDArray[np.int64]  # and the word's in `words`

    def counts(self) -> NDArray[np.int64]:
        """[W]: frames of each word."""
        return np.bincount(self.column, minlength=len(self.words))


def dissect(
    videos: Sequence[EmbeddedVideo],
    corpus: Corpus,
    *,
    verbs: Collection[str] | None = None,
    nouns: Collection[str] | None = None,
    each: int = 3,
    pictures: int = 5,
    seed: int = 0,
) -> dict[str, list[Neuron]]:
    """{"verbs": …, "nouns": …}: for `each` of the words with the highest correlations, best first, a different neuron,
    with random frames from the top 0.01 % of its activations, whatever is said there.

    By default verbs are the first words of step texts, and nouns the other content words."""
    by_default = verbs_and_nouns(corpus.tasks)
    z_AD = torch.cat([video.frames.z for video in videos])
    if not z_AD.isfinite().all():
        raise InputError(corpus.path, "a frame's embedding contains NaN or Inf", "Embed it with another checkpoint.")
    spoken = spoken_words(videos, corpus)
    rho_DW = spearman(z_AD[torch.from_numpy(spoken.frames)], spoken)
    rho_DW = np.where((spoken.counts() >= LEAST_FRAMES) & ~np.isnan(rho_DW), rho_DW, -np.inf)
    places = [Place(video.id, frame) for video in videos for frame in range(len(video.times))]
    rng = np.random.Generator(np.random.PCG64(seed))
    wanted = {"verbs": verbs or by_default[0], "nouns": nouns or by_default[1]}
    found: dict[str, list[Neuron]] = {kind: [] for kind in wanted}
    for kind, neuron, column in _best_pairs(rho_DW, spoken.words, wanted, each):
        shown = [places[at] for at in exciting_frames(z_AD[:, neuron], pictures, rng)]
        found[kind].append(Neuron(spoken.words[column], neuron, float(rho_DW[neuron, column]), shown))
    return found


def evaluate(videos: Sequence[EmbeddedVideo], corpus: Corpus) -> TaskResult:
    """ρ of the neurons that correlate best with three verbs and three nouns. It is a mean over frames, of the product
    of both standardized ranks, so it splits by video; resampling videos keeps the ranks computed over all of them."""
    found = dissect(videos, corpus, pictures=0)
    spoken, z_AD = spoken_words(videos, corpus), torch.cat([video.frames.z for video in videos])
    chance, z_FD = by_chance(z_AD, spoken), z_AD[torch.from_numpy(spoken.frames)]
    of_video = np.repeat(np.arange(len(videos)), [len(video.times) for video in videos])[spoken.frames]
    figures, references = {}, {}
    for kind, neurons in found.items():
        for each in neurons:
            said_F = np.zeros(len(spoken.frames))
            said_F[spoken.row[spoken.column == spoken.words.index(each.word)]] = 1
            ranks_F = mid_ranks(z_FD[:, each.neuron].numpy()[None])[0]
            products_F = _standardized(ranks_F) * _standardized(said_F)
            name = f"spearman_rho/{kind}/{each.word}"
            figures[name] = PerVideo.of(products_F, of_video, [video.id for video in videos])
            references[f"chance/{name}"] = chance[each.word]
    goes_with = ", ".join(f"“{each.word}” with {each.neuron}" for neurons in found.values() for each in neurons)
    none = f"no word of a step's text is spoken over {LEAST_FRAMES} frames or more"
    return TaskResult("neurons", figures, references, [f"word with neuron: {goes_with}" if figures else none])


def by_chance(z_AD: Tensor, spoken: SpokenWords) -> dict[str, float]:
    """For each word, the highest ρ of any neuron after shifting the frames by half their number: as smooth in time, but
    aligned with other moments."""
    rho_DW = spearman(z_AD.roll(len(z_AD) // 2, 0)[torch.from_numpy(spoken.frames)], spoken)
    best = np.nan_to_num(rho_DW, nan=-1.0).max(axis=0)
    return dict(zip(spoken.words, best.tolist(), strict=True))


def spoken_words(videos: Sequence[EmbeddedVideo], corpus: Corpus) -> SpokenWords:
    """The words of the utterances being spoken at each frame."""
    said: list[set[str]] = []
    for video in videos:
        said += _words_at(video.times, corpus, video.id)
    counts = Counter(word for words in said for word in words)
    ranked = [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    column = {word: at for at, word in enumerate(ranked)}
    frames = [at for at, words in enumerate(said) if words]
    if not frames:
        raise NothingSaid(corpus.path, "nothing is said while a frame is shown", "Choose videos with captions.")
    pairs = [(row, column[word]) for row, at in enumerate(frames) for word in said[at]]
    rows, columns = np.array(pairs, np.int64).T
    return SpokenWords(np.array(frames, np.int64), tuple(ranked), rows, columns)


def _words_at(times: NDArray[np.float64], corpus: Corpus, video: str) -> list[set[str]]:
    words: list[set[str]] = [set() for _ in times]
    for utterance in corpus[video].utterances:
        first, last = np.searchsorted(times, (utterance.start, utterance.end))
        for at in range(first, last):
            words[at].update(words_of(utterance.text))
    return words


def spearman(activations_FD: Tensor, spoken: SpokenWords) -> NDArray[np.float64]:
    """ρ of every neuron and word [D, W]; NaN where either is constant."""
    frames, words = len(spoken.frames), len(spoken.words)
    ranks_DF = mid_ranks(np.ascontiguousarray(activations_FD.T.numpy())) - (frames - 1) / 2
    lengths_D = np.sqrt(np.einsum("df,df->d", ranks_DF, ranks_DF))
    ranks_FD = torch.from_numpy(ranks_DF).float().T
    products_DW = np.zeros((len(ranks_DF), words))
    order = np.argsort(spoken.row, kind="stable")
    row, column = spoken.row[order], spoken.column[order]
    for first in range(0, frames, _ROWS):
        here = slice(*np.searchsorted(row, (first, first + _ROWS)))
        presence_FW = torch.zeros(min(_ROWS, frames - first), words)
        presence_FW[row[here] - first, column[here]] = 1
        products_DW += (ranks_FD[first : first + _ROWS].T @ presence_FW).numpy()
    # Σ (r - r̄)(b - b̄) is Σ (r - r̄) b, and the length of b - b̄ is √(F b̄ (1 - b̄)).
    share_W = spoken.counts() / frames
    length_DW = lengths_D[:, None] * np.sqrt(frames * share_W * (1 - share_W))
    rho_DW: NDArray[np.float64] = np.divide(
        products_DW, length_DW, out=np.full_like(products_DW, np.nan), where=length_DW > 0
    )
    return rho_DW


def _standardized(values_F: NDArray[np.float64]) -> NDArray[np.float64]:
    centred: NDArray[np.float64] = values_F - values_F.mean()
    return centred / float(centred.std())


def mid_ranks(values_DF: NDArray[Any]) -> NDArray[np.float64]:
    """The rank of each value in its row, from 0; equal values share the mean of their ranks."""
    order = values_DF.argsort(axis=1)
    ordered = np.take_along_axis(values_DF, order, axis=1)
    ranks = np.broadcast_to(np.arange(values_DF.shape[1], dtype=np.float64), order.shape)
    new = np.diff(ordered, axis=1) != 0
    if not new.all():
        edge = np.ones((len(new), 1), bool)
        first = np.maximum.accumulate(np.where(np.hstack([edge, new]), ranks, 0), axis=1)
        lasts = np.where(np.hstack([new, edge]), ranks, np.inf)
        ranks = (first + np.minimum.accumulate(lasts[:, ::-1], axis=1)[:, ::-1]) / 2
    found = np.empty(order.shape)
    np.put_along_axis(found, order, ranks, axis=1)
    return found


def exciting_frames(activations_A: Tensor, count: int, rng: np.random.Generator) -> list[int]:
    """Random frames from the top 0.01 % of activations, or from the `count` highest where that is more."""
    top = min(max(count, round(TOP_SHARE * len(activations_A))), len(activations_A))
    highest = activations_A.topk(top).indices.tolist()
    drawn = np.argsort(rng.random(top))[:count]
    return [highest[at] for at in drawn.tolist()]


def pictures_of(corpus: Corpus, places: Iterable[Place]) -> Tensor:
    """The frames themselves [P, H, W, 3], for `mmcc.evaluation.gradcam`."""
    frames = [read_frames(corpus[place.video], np.array([place.frame])) for place in places]
    return torch.from_numpy(np.concatenate(frames))


def verbs_and_nouns(tasks: Mapping[str, Task]) -> tuple[set[str], set[str]]:
    """From the tasks' step texts: "pour milk into the bowl" has the verb pour and the nouns milk and bowl."""
    texts = [words_of(text) for task in tasks.values() for text in task.steps]
    verbs = {words[0] for words in texts if words}
    return verbs, {word for words in texts for word in words[1:]} - verbs - _FUNCTION_WORDS


def _best_pairs(
    rho_DW: NDArray[np.float64], words: Sequence[str], wanted: Mapping[str, Collection[str]], each: int
) -> list[tuple[str, int, int]]:
    """Kind, neuron and word of the highest correlations, highest first; each neuron and each word once."""
    left_DW = rho_DW.copy()
    kinds = [next((kind for kind, of_kind in wanted.items() if word in of_kind), "") for word in words]
    pairs: list[tuple[str, int, int]] = []
    while left_DW.size:
        full = {"", *(kind for kind in wanted if sum(pair[0] == kind for pair in pairs) >= each)}
        left_DW[:, [kind in full for kind in kinds]] = -np.inf
        neuron, word = (int(at) for at in np.unravel_index(left_DW.argmax(), left_DW.shape))
        if left_DW[neuron, word] == -np.inf:
            break
        pairs.append((kinds[word], neuron, word))
        left_DW[neuron], left_DW[:, word] = -np.inf, -np.inf
    return pairs


def _run(evaluator: Evaluator) -> TaskResult:
    try:
        return evaluate(evaluator.primary, evaluator.videos.corpus)
    except NothingSaid as error:
        raise NotMeasured(error.cause) from None


NEURONS = EvaluationTask(
    "neurons",
    "Neurons",
    "Is there a dimension of a frame's embedding that goes with a word? Spearman's ρ.",
    _run,
    Needs(steps=True),
    describe=lambda figure: f"“{figure.split('/')[-1]}”",
    scale=(0.0, 1.0),
    digits=3,
)
