"""What a model makes of videos it has not seen, as sections of a page: the good and the bad, chosen by rule.

Shapes: n clips of a video, T texts, D dims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from mmcc.corpus import Corpus
from mmcc.corpus.source import LabelledClip
from mmcc.errors import InputError
from mmcc.evaluation.adapter import ModelAdapter, TextAdapter
from mmcc.evaluation.adapters import TrainedAdapter
from mmcc.evaluation.clips import clip_nodes, clips_in_time
from mmcc.evaluation.embedding import EmbeddedVideo, Progress, embed_videos
from mmcc.evaluation.ordering import cheapest_path
from mmcc.evaluation.transitions import Transition, salient_transitions
from mmcc.evaluation.unshuffling import log_prior, log_transitions, shuffled
from mmcc.metrics import kendall_tau
from mmcc.models.nodes import TEXT
from mmcc.report import walks
from mmcc.report.gallery import Lane, Thumbnail, card, cards, row, timeline
from mmcc.report.html import Markup, element
from mmcc.report.page import Section
from mmcc.report.sheets import clock
from mmcc.report.walks import Station, Walk

_VIDEOS = 60  # whose transitions and orders are looked at, spread over those there are
_CLIPS = range(4, 11)  # in an order that is shown: fewer say little, more do not fit
_NEAR = 5.0  # seconds within which something said belongs to a frame


@dataclass(frozen=True)
class ReportContext:
    """A model before videos that it was not trained on."""

    adapter: ModelAdapter
    checkpoint: Path
    corpus: Corpus
    ids: tuple[str, ...]
    progress: Progress | None = None

    @cached_property
    def videos(self) -> list[EmbeddedVideo]:
        count = min(_VIDEOS, len(self.ids))
        chosen = [self.ids[at * len(self.ids) // count] for at in range(count)]
        return embed_videos(self.adapter, self.corpus, chosen, progress=self.progress)

    @property
    def shows_pictures(self) -> bool:
        return self.corpus.manifest.encoding != "float32"

    def picture(self, video: str, frame: int) -> NDArray[np.uint8] | None:
        """None in a corpus of vectors: there is nothing to see."""
        return self.corpus[video].frames(frame, frame + 1)[0] if self.shows_pictures else None

    def said(self, video: str, time: float) -> str:
        """What is said at a time, or next to it."""
        away = [(max(u.start - time, time - u.end, 0.0), u.text) for u in self.corpus[video].utterances]
        nearest = min(away, default=(np.inf, ""))
        return nearest[1] if nearest[0] <= _NEAR else ""

    def tile(self, video: str, frame: int, *, title: str = "", mark: str = "", caption: str | None = None) -> Thumbnail:
        time = float(self.corpus[video].times[frame])
        said = self.said(video, time) if caption is None else caption
        return Thumbnail(self.picture(video, frame), title or clock(time), said, mark)


def cycles(context: ReportContext) -> Section:
    """Walks that came back from afar, and those that did not."""
    title = "Cycles"
    if not isinstance(context.adapter, TrainedAdapter) or not context.adapter.walks_cycles:
        return without(title, f"{context.adapter.name} walks no cycles.")
    try:
        found = walks.walk(context.adapter, context.checkpoint, context.corpus, context.ids)
    except InputError as error:
        return without(title, f"No cycle could be walked: {error.cause}.")
    counts = Counter(walk.outcome for walk in found)
    told = ", ".join(f"{100 * counts[kind] / len(found):.0f} % {words}" for kind, words in _OUTCOMES.items())
    lead = element("p", f"From a frame to the words it goes with, on to what comes next, and back. {_LOOKED}")
    counted = element("p", f"Of {len(found)} cycles, {told}.")
    shown = [_cycle(context, each) for kind, n in _WANTED.items() for each in walks.examples(found, kind, n)]
    return Section(title, (lead, counted, *shown))


_OUTCOMES = {
    "returns": "go to a later moment and come back to the very frame they left",
    "backward": "come back from an earlier moment",
    "lost": "come back somewhere else",
    "stays": f"do not leave the place (less than {walks.FAR:g} s)",
}
_WANTED = {"returns": 4, "lost": 2, "backward": 1, "stays": 1}
_LOOKED = "Every edge sees the whole segment and goes on from its best node; below each, where it put its weight."


def _cycle(context: ReportContext, found: Walk) -> Markup:
    names = ("start", "words", "next", "words", "back")
    good = found.outcome == "returns"
    marks = ("", "", "", "", "good" if found.returns else "bad")
    tiles = [
        _station(context, found.video, station, name, mark)
        for station, name, mark in zip(found.stations, names, marks, strict=True)
    ]
    lanes = [Lane(*edge) for edge in found.edges]
    times = np.concatenate([lane.times for lane in lanes])
    drawn = timeline(f"Attention over {found.video}", lanes, float(times.min()), float(times.max()))
    verdict = {"returns": "Success", "lost": "Failure", "backward": "Failure", "stays": "Failure"}[found.outcome]
    note = f"{found.away:+.0f} s to the future; the way back is {100 * found.confidence:.0f} % sure of its end."
    heading = f"{verdict}: {found.video} {_VERDICTS[found.outcome]}"
    return element("div", card(heading, row(tiles, arrows=True), drawn, note=note), class_=None if good else "failure")


_VERDICTS = {
    "returns": "goes on, and comes back",
    "lost": "comes back elsewhere",
    "backward": "comes back, but its “next” is earlier",
    "stays": "predicts what it sees already",
}


def _station(context: ReportContext, video: str, station: Station, name: str, mark: str) -> Thumbnail:
    title = f"{name} {clock(station.time)}"
    if station.modality == TEXT:
        return Thumbnail(None, title, f"“{station.text}”", mark)
    pixels = context.picture(video, station.place)
    return Thumbnail(pixels, title, "" if pixels is not None else f"frame {station.place}", mark)


class _Found(NamedTuple):
    video: str
    transition: Transition


def transitions(context: ReportContext) -> Section:
    """Eq. 12's most probable, of all the videos looked at, one of each."""
    title = "Transitions"
    found = [
        _Found(video.id, each)
        for video in context.videos
        for each in salient_transitions(context.adapter, video, top=3)
    ]
    if not found:
        return without(title, "No video has two frames.")
    found.sort(key=lambda each: -each.transition.log_probability)
    forward = [each for each in found if each.transition.to_time > each.transition.from_time]
    backward = [each for each in found if each.transition.to_time <= each.transition.from_time]
    share = 100 * len(forward) / len(found)
    lead = "The most salient changes: which frame becomes which, over all pairs of frames of a video (Eq. 12). "
    lead += (
        f"Of the three best of each of {len(context.videos)} videos, {share:.0f} % go forward in time (chance: 50 %)."
    )
    chosen = [*_one_each(forward, 6), *_one_each(backward, 2)]
    return Section(title, (element("p", lead), cards([_transition(context, each) for each in chosen])))


def _one_each(found: Sequence[_Found], count: int) -> list[_Found]:
    return list({each.video: each for each in reversed(found)}.values())[::-1][:count]


def _transition(context: ReportContext, found: _Found) -> Markup:
    video, each = found
    apart = each.to_time - each.from_time
    mark = "good" if apart > 0 else "bad"
    tiles = [context.tile(video, each.from_frame), context.tile(video, each.to_frame, mark=mark)]
    words = f"{apart:.0f} s later" if apart > 0 else f"Failure: {-apart:.0f} s earlier"
    return card(f"{video}: {words}", row(tiles, arrows=True), note=f"log P = {each.log_probability:.1f}")


def orders(context: ReportContext) -> Section:
    """Shuffled steps put in order: two of the best, the middle one, one of the worst."""
    title = "Shuffled steps put in order"
    sets = [video for video in context.videos if len(video.steps) in _CLIPS and len(video.times)]
    if not sets:
        return without(title, f"No video has {_CLIPS.start} to {_CLIPS.stop - 1} labelled steps.")
    placed = sorted((_ordered(context, video) for video in sets), key=lambda each: (-each.tau, -len(each.places)))
    lead = (
        "The labelled clips of a video, shuffled, in the order that the model finds most probable from what is seen. "
    )
    lead += "The number is the clip's true place. Kendall’s τ is 1 for the true order, 0 on average for a guess."
    chosen = {"Among the best": placed[:2], "In the middle": placed[len(placed) // 2 :][:1], "The worst": placed[-1:]}
    shown = [_order(context, each, name) for name, some in chosen.items() for each in some]
    return Section(title, (element("p", lead), *shown))


class _Placed(NamedTuple):
    video: EmbeddedVideo
    clips: list[LabelledClip]  # as they were put
    places: NDArray[np.int64]  # their true places
    tau: float


@torch.inference_mode()
def _ordered(context: ReportContext, video: EmbeddedVideo) -> _Placed:
    set_ = shuffled(video)
    state = clip_nodes(video, set_.clips)
    prior = log_prior(context.adapter, video, state)
    cost = -(log_transitions(context.adapter, state) + prior[:, None] + prior)
    order = cheapest_path(cost.numpy()).order
    places = set_.places[order]
    return _Placed(video, [set_.clips[at] for at in order], places, float(kendall_tau(places)))


def _order(context: ReportContext, placed: _Placed, name: str) -> Markup:
    tiles = []
    for position, (clip, place) in enumerate(zip(placed.clips, placed.places.tolist(), strict=True)):
        mark = "good" if place == position else "bad"
        text = _step_text(context, placed.video, clip)
        tiles.append(
            context.tile(placed.video.id, _middle(placed.video, clip), title=str(place + 1), mark=mark, caption=text)
        )
    return card(f"{name}: {placed.video.id}, τ = {placed.tau:.2f}", row(tiles, arrows=True))


def nexts(context: ReportContext) -> Section:
    """From one clip, the steps held most likely to come: where the first is right, and where none of five is."""
    title = "What comes next"
    if TEXT not in context.adapter.modalities:
        return without(title, f"{context.adapter.name} knows no words to name a step with.")
    texts = sorted({text for task in context.corpus.tasks.values() if task.primary for text in task.steps})
    asked = [guess for video in context.videos if (guess := _guess(context, video, texts))]
    if not asked:
        return without(title, "No clip of a step that others follow is labelled.")
    asked.sort(key=lambda each: each.first_hit)
    lead = (
        f"A clip, and the steps that the model holds most likely to come later, among all {len(texts)} of the corpus. "
    )
    right = sum(each.first_hit == 0 for each in asked)
    lead += f"Of {len(asked)} clips, the first guess is right for {right}. Steps of the task that do come are marked."
    chosen = [*asked[:3], *asked[-2:]]
    return Section(title, (element("p", lead), cards([_next(context, each) for each in chosen])))


class _Guess(NamedTuple):
    video: EmbeddedVideo
    clip: LabelledClip
    ranked: list[str]  # the first five
    right: list[bool]
    first_hit: int  # how many stand before the first that is right


@torch.inference_mode()
def _guess(context: ReportContext, video: EmbeddedVideo, texts: Sequence[str]) -> _Guess | None:
    """Of a video's first labelled clip that others follow."""
    task = context.corpus.tasks.get(video.tasks[0]) if video.tasks else None
    clips = [clip for clip in clips_in_time(video) if task and 1 <= clip.step < len(task.steps)]
    if task is None or not clips or not len(video.times) or not set(task.steps) <= set(texts):
        return None
    later = set(task.steps[clips[0].step :])
    future = context.adapter.future(clip_nodes(video, clips[:1]))
    scores = (future @ cast(TextAdapter, context.adapter).embed_texts(texts).pi.T)[0]
    ranked = [texts[at] for at in scores.argsort(descending=True).tolist()]
    right = [text in later for text in ranked]
    return _Guess(video, clips[0], ranked[:5], right[:5], right.index(True))


def _next(context: ReportContext, guess: _Guess) -> Markup:
    shown = _step_text(context, guess.video, guess.clip)
    tile = context.tile(guess.video.id, _middle(guess.video, guess.clip), caption=shown)
    items = [
        element("li", text, *([element("span", " ✓", class_="good")] if right else []))
        for text, right in zip(guess.ranked, guess.right, strict=True)
    ]
    verdict = "" if guess.first_hit < 5 else f"Failure: the first that does come stands at {guess.first_hit + 1}."
    picture = row([tile])
    return card(guess.video.id, element("div", picture, element("ol", *items), class_="beside"), note=verdict)


def _step_text(context: ReportContext, video: EmbeddedVideo, clip: LabelledClip) -> str:
    task = context.corpus.tasks.get(video.tasks[0]) if video.tasks else None
    return task.steps[clip.step - 1] if task and 1 <= clip.step <= len(task.steps) else f"step {clip.step}"


def _middle(video: EmbeddedVideo, clip: LabelledClip) -> int:
    return int(np.abs(video.times - (clip.start + clip.end) / 2).argmin())


def without(title: str, why: str) -> Section:
    """A part that cannot be made, in a line."""
    return Section(title, (element("p", why, class_="note"),))
