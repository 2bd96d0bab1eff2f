"""Who says what when, over a video whose steps are known.

A steady stream of slots covers the whole video; each mention of a step takes the slot nearest to when it would be
said, a few seconds before or after the action; chatter fills the rest. So the density, length and words of chatter are
the same at any time of any video.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mmcc.kitchen.chatter import chat, greet, take_leave
from mmcc.kitchen.grammar import joins, say_step
from mmcc.kitchen.recipes import Recipe
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.timeline import Shown

SLOWEST, FASTEST = 2.2, 3.2  # words per second; each video has one speaker
SHORTEST, LONGEST = 3.2, 5.0  # seconds of a slot; the sentence takes as much of it as it needs
FEWEST = 8  # words that a slot must have room for: with fewer, only vague sentences would fit
BRIEFEST = 1.9  # seconds of an utterance
TRIES = 40  # for a sentence that fits
LONG_PAUSE = 0.3  # share of the pauses that last a second or more
BOOKEND = 8.0  # seconds at each end, for a greeting or a farewell
ABOUT_STEPS = (0.5, 0.75)  # the wanted share of utterances; videos of few short steps have no room for all
NEVER_MENTIONED = 0.12  # share of the shown steps
FEW_MENTIONS, MENTION_EVERY = 3, 2.5  # mentions a step has room for, and seconds for each further one
MOST_MENTIONS = 8  # of one showing of a step, however long: people digress
NOT_SHOWN = 0.55  # probability that a video mentions a step that it does not show
SHIFT, FARTHEST = 1.8, 8.0  # seconds between what is said and what is shown: deviation and limit
REACH = 4.0  # seconds at most from when a mention would be said to the slot that it takes
TWO_AT_ONCE = 0.1  # share of the mentions that name a neighbouring step too, where possible


@dataclass(frozen=True)
class Spoken:
    """An utterance."""

    start: float
    end: float
    text: str
    about: int | None  # the step of the recipe that it mentions, from 0; None for chatter
    shown: int | None  # which of the shown steps; None if the mentioned step is not shown


class _Slot(NamedTuple):
    """Room for an utterance."""

    start: float
    end: float
    words: int  # at most


class _Mention(NamedTuple):
    about: int
    shown: int | None


def narrate(
    recipe: Recipe, shown: Sequence[Shown], duration: float, rng: Rng, *, bookends: bool = False
) -> tuple[Spoken, ...]:
    """What is said over a video, in order; utterances do not overlap."""
    pace = rng.child("pace").uniform(SLOWEST, FASTEST)
    ends = _bookends(recipe, duration, pace, rng.child("bookends")) if bookends else ()
    slots = [
        slot
        for slot in _slots(duration, pace, rng.child("slots"))
        if not any(_overlap(slot, spoken) for spoken in ends)
    ]
    mentions = _place_mentions(recipe, shown, duration, slots, rng.child("mentions"))
    words = rng.child("words")
    said = [_say(recipe, shown, mentions.get(at), slot, pace, words) for at, slot in enumerate(slots)]
    return tuple(sorted((*said, *ends), key=lambda spoken: spoken.start))


def _slots(duration: float, pace: float, rng: Rng) -> list[_Slot]:
    """As many as there is time for; the rest goes to the pauses. Half of the videos are filled from the end."""
    slots: list[_Slot] = []
    end = 0.0
    while True:
        words = max(FEWEST, int(pace * rng.uniform(SHORTEST, LONGEST)))
        start = end + (rng.uniform(1.0, 3.0) if rng.chance(LONG_PAUSE) else rng.uniform(0.1, 0.6))
        if start + words / pace > duration:
            break
        end = start + words / pace
        slots.append(_Slot(start, end, words))
    rest = (duration - end) / (len(slots) + 1)
    slots = [_Slot(slot.start + rest * at, slot.end + rest * at, slot.words) for at, slot in enumerate(slots, 1)]
    if rng.chance(0.5):  # the first pause is drawn and the last is the rest: the two ends must not differ
        slots = [_Slot(duration - slot.end, duration - slot.start, slot.words) for slot in reversed(slots)]
    return slots


def _overlap(slot: _Slot, spoken: Spoken) -> bool:
    return slot.start < spoken.end and spoken.start < slot.end


# --- which utterance mentions which step ------------------------------------------------------------------------------


def _place_mentions(
    recipe: Recipe, shown: Sequence[Shown], duration: float, slots: Sequence[_Slot], rng: Rng
) -> dict[int, _Mention]:
    """The slots, by index, that mention a step."""
    taken: dict[int, _Mention] = {}
    wanted = len(slots) * rng.uniform(*ABOUT_STEPS)
    if rng.chance(NOT_SHOWN) and (hidden := _hidden_mention(recipe, shown, duration, rng)):
        _take(taken, slots, *hidden)
    left = {
        at: min(MOST_MENTIONS, FEW_MENTIONS + int((s.end - s.start) / MENTION_EVERY))
        for at, s in enumerate(shown)
        if not rng.chance(NEVER_MENTIONED)
    }
    once_each = rng.shuffled(list(left))
    while left and len(taken) < wanted:
        at = once_each.pop() if once_each else rng.weighted({at: shown[at].end - shown[at].start + 2 for at in left})
        left[at] -= 1
        if not left[at]:
            del left[at]
        shift = max(-FARTHEST, min(FARTHEST, rng.normal(0.0, SHIFT)))
        time = rng.uniform(shown[at].start, shown[at].end) + shift
        _take(taken, slots, _Mention(shown[at].step, at), time)
    return taken


def _hidden_mention(recipe: Recipe, shown: Sequence[Shown], duration: float, rng: Rng) -> tuple[_Mention, float] | None:
    """A step that is not shown, and a time between its neighbours in the recipe."""
    hidden = sorted(set(range(len(recipe.steps))) - {s.step for s in shown})
    if not hidden:
        return None
    step = rng.pick(hidden)
    before = max((s.step, s.end) for s in [*shown, Shown(-1, 0.0, 0.0)] if s.step < step)[1]
    after = min((s.step, s.start) for s in [*shown, Shown(len(recipe.steps), duration, duration)] if s.step > step)[1]
    return _Mention(step, None), rng.uniform(before, after)


def _take(taken: dict[int, _Mention], slots: Sequence[_Slot], mention: _Mention, time: float) -> None:
    """Give a mention the free slot nearest to its time, if one is within reach."""
    free = [
        (distance, at)
        for at, slot in enumerate(slots)
        if at not in taken and (distance := abs((slot.start + slot.end) / 2 - time)) < REACH
    ]
    if free:
        taken[min(free)[1]] = mention


# --- what it says -----------------------------------------------------------------------------------------------------


def _say(
    recipe: Recipe, shown: Sequence[Shown], mention: _Mention | None, slot: _Slot, pace: float, rng: Rng
) -> Spoken:
    tried: list[tuple[bool, int, str]] = []
    for _ in range(TRIES):
        text = chat(rng) if mention is None else _about(recipe, shown, mention, rng)
        words = len(text.split())
        if BRIEFEST * pace <= words <= slot.words:
            break
        tried.append((words > slot.words, abs(words - slot.words), text))
    else:
        text = min(tried)[2]
        words = len(text.split())
    length = min(words / pace, slot.end - slot.start)
    start = rng.uniform(slot.start, slot.end - length)
    about, which = mention or (None, None)
    return Spoken(round(start, 3), round(start + length, 3), text, about, which)


def _about(recipe: Recipe, shown: Sequence[Shown], mention: _Mention, rng: Rng) -> str:
    step = recipe.steps[mention.about]
    also = None
    if mention.shown is not None and rng.chance(TWO_AT_ONCE):
        nearby = [recipe.steps[s.step] for s in shown[max(0, mention.shown - 1) : mention.shown + 2]]
        also = next((other for other in nearby if joins(step, other)), None)
    return say_step(step, rng, also)


def _bookends(recipe: Recipe, duration: float, pace: float, rng: Rng) -> tuple[Spoken, ...]:
    """A greeting and a farewell, if there is room for both."""
    if duration < 2 * BOOKEND:
        return ()
    hello, bye = greet(recipe.title, rng), take_leave(recipe.title, rng)
    start, end = rng.uniform(0.2, 2.0), duration - rng.uniform(0.2, 2.0)
    return (
        Spoken(round(start, 3), round(start + len(hello.split()) / pace, 3), hello, None, None),
        Spoken(round(end - len(bye.split()) / pace, 3), round(end, 3), bye, None, None),
    )
