"""What the tools answer on held-out videos, as sections of a page: good and bad examples, chosen by rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.evaluation.embedding import Progress
from mmcc.report.anticipate import SHOWN, anticipation_card
from mmcc.report.cycles import cycle_card
from mmcc.report.gallery import cards
from mmcc.report.html import Markup, element
from mmcc.report.page import Section
from mmcc.report.transitions import transition_card
from mmcc.report.unshuffle import order_card
from mmcc.text import counted
from mmcc.tools.anticipate import RankedSteps, anticipate, clip_of
from mmcc.tools.cache import Cache
from mmcc.tools.cycles import find_cycles
from mmcc.tools.footage import Footage, open_footage
from mmcc.tools.model import ToolModel
from mmcc.tools.transitions import CLEAR, find_changes
from mmcc.tools.unshuffle import unshuffle_footage

_VIDEOS = 60  # at most, spread over the held-out ones
_CLIPS = range(4, 11)  # in an order worth showing: fewer say little, more do not fit


@dataclass(frozen=True)
class ReportContext:
    """A model and the videos it is shown: those it was not trained on."""

    model: ToolModel
    corpus: Corpus
    ids: tuple[str, ...]
    cache: Cache
    progress: Progress | None = None

    @cached_property
    def footage(self) -> list[Footage]:
        """Some of the videos, spread over all that have frames; all embedded."""
        opened = {each.video.id: each for each in open_footage(self.model, [self.corpus.path], self.cache).footage}
        usable = [video for video in self.ids if video in opened]
        count = min(_VIDEOS, len(usable))
        chosen = [usable[at * len(usable) // count] for at in range(count)]
        for video in self.progress(chosen) if self.progress else chosen:
            opened[video].embedding(self.model, self.cache)
        return [opened[video] for video in chosen]

    def cannot(self, title: str, error: InputError) -> Section:
        """A section that says why there is nothing to show."""
        who = "The model" if error.path == self.model.name else error.path
        return without(title, f"{who} {error.cause}.")


class _Asked(NamedTuple):
    """What the tool expects after a clip, and what does come."""

    found: RankedSteps
    shown: str
    later: frozenset[str]

    @property
    def first_hit(self) -> int:
        """How many steps are ranked above the first that does come."""
        return next((at for at, (text, _) in enumerate(self.found.steps) if text in self.later), len(self.found.steps))


def nexts(context: ReportContext) -> Section:
    """What comes after one clip of each video: where the first step is right, and where the first right one is low."""
    title = "What comes next"
    tasks = [task for task in context.corpus.tasks.values() if task.primary]
    texts = sorted({text for task in tasks for text in task.steps})
    try:
        asked = [each for footage in context.footage if (each := _asked(context, footage, texts))]
    except InputError as error:
        return context.cannot(title, error)
    if not asked:
        return without(title, "No labelled clip is followed by other steps.")
    asked.sort(key=lambda each: each.first_hit)
    right = sum(each.first_hit == 0 for each in asked)
    lead = (
        f"A clip, and the steps most likely to come later among all {len(texts)} of the corpus, each with its "
        f"probability. Marked: steps that do come later in its task. The first step is right for {right} of "
        f"{len(asked)} clips."
    )
    if asked[0].found.calibration is None:
        lead += " The probabilities are not calibrated: read them as a ranking."
    chosen = [*asked[:3], *asked[3:][-2:]]
    return Section(title, (element("p", lead), cards([_next(each) for each in chosen])))


def _asked(context: ReportContext, footage: Footage, texts: list[str]) -> _Asked | None:
    """From a video's first labelled clip; None if no step of its task follows."""
    steps = footage.step_texts
    clips = sorted(
        (clip for clip in footage.video.steps if 1 <= clip.step < len(steps)), key=lambda clip: (clip.start, clip.end)
    )
    if not clips or not set(steps) <= set(texts):
        return None
    clip = clip_of(context.model, footage, clips[0].start, clips[0].end, context.cache)
    found = anticipate(context.model, clip, texts, context.cache, context.progress)
    return _Asked(found, steps[clips[0].step - 1], frozenset(steps[clips[0].step :]))


def _next(asked: _Asked) -> Markup:
    failed = asked.first_hit >= SHOWN
    note = f"Failure: the first step that does come is ranked {asked.first_hit + 1}." if failed else ""
    return anticipation_card(asked.found, asked.shown, asked.later, note)


def cycles(context: ReportContext) -> Section:
    """Cycles that return from ahead, and cycles that do not return."""
    title = "Cycles"
    try:
        found = find_cycles(context.model, context.footage, context.cache)
    except InputError as error:
        return context.cannot(title, error)
    count = found.count
    lead = (
        "From a frame to its words, to its predicted future, to that future’s words, and back. Below each cycle, what "
        f"every edge attends to over the segment. Of {count.cycles:,} cycles in {counted(len(found.videos), 'video')}, "
        f"{count.returned:,} return to where they started ({count.by_chance:,.0f} by chance) and {count.forward:,} "
        "go forward."
    )
    returned, failed = found.examples(4, per_video=1)
    return Section(title, (element("p", lead), *map(cycle_card, [*returned, *failed[:3]])))


def transitions(context: ReportContext) -> Section:
    """The clearest change of each video: the best of them, and the least clear."""
    title = "Transitions"
    try:
        found = find_changes(context.model, context.footage, context.cache)
    except InputError as error:
        return context.cannot(title, error)
    clear = sum(video.is_clear for video in found.videos)
    lead = (
        "The most salient changes: which frame becomes which later one (Eq. 12), and how many times likelier that is "
        f"than by chance. Something changes clearly (at least {CLEAR:g} × chance) in {clear} of {len(found.videos)} "
        "videos. The best six, one per video, and the two least clear."
    )
    every = found.best(len(found.videos), per_video=1)
    chosen = [*every[:6], *every[6:][-2:]]
    return Section(title, (element("p", lead), cards([transition_card(change) for change in chosen])))


def orders(context: ReportContext) -> Section:
    """Shuffled clips put in order: two of the best, one in the middle, the worst."""
    title = "Shuffled steps put in order"
    usable = [footage for footage in context.footage if len(footage.video.steps) in _CLIPS]
    if not usable:
        return without(title, f"No video has {_CLIPS.start} to {_CLIPS.stop - 1} labelled clips.")
    placed = [unshuffle_footage(context.model, footage, context.cache) for footage in usable]
    placed.sort(key=lambda set_: (-(set_.kendall_tau or 0.0), -len(set_.things)))
    mean = fmean(set_.kendall_tau or 0.0 for set_ in placed)
    lead = (
        "The labelled clips of a video, shuffled, in the order that the model finds most probable, from frames alone. "
        "The number is a clip’s true place; green if it does come after the one before it. Kendall’s τ is 1 for the "
        f"true order and 0 on average for a guess; here {mean:.2f} on average over {counted(len(placed), 'video')}."
    )
    chosen = {"Among the best": placed[:2], "In the middle": placed[len(placed) // 2 :][:1], "The worst": placed[-1:]}
    shown = [
        order_card(set_, f"{name}: {set_.name}, τ = {set_.kendall_tau:.2f}")
        for name, some in chosen.items()
        for set_ in some
    ]
    return Section(title, (element("p", lead), *shown))


def without(title: str, why: str) -> Section:
    """A section that cannot be made, in a line."""
    return Section(title, (element("p", why, class_="note"),))
