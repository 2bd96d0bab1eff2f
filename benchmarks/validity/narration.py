"""How the kitchen's narration compares with what is really said in cooking videos.

    python -m benchmarks.validity.narration [--data ../shared/data/youcook2] [--videos 1200] [--seed 0] [--json]

The real narration is that of some 300 YouCook2 videos, transcribed by speech recognition, in which people marked the
sentences that name a step (narration.json), with the times of the steps (videos.json). The kitchen's is what its
captions say, with the recognizer's errors where there are any. Both are measured by the same code. Intervals are 95 %,
by bootstrap over videos.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.data.config import DataConfig
from mmcc.data.vocabulary import Vocabulary, words_of
from mmcc.kitchen.captions import as_heard
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.worker import is_rolling

DATA = Path(__file__).parents[3] / "shared" / "data" / "youcook2"
NARRATION, VIDEOS = "narration.json", "videos.json"
RESAMPLES, DRAWS = 500, 200
TOKENS = (1_000, 10_000, 50_000)  # at which vocabularies are compared: they grow with the text
_FILLING = frozenset(
    "a an the and or of to in on into onto with for from it its them they is are be at some then over up out off all "
    "your this that as until each by".split()
)
_ENDINGS = ("ing", "ed", "es", "e", "s")
_SPLIT = re.compile(r" (?='|n't\b)")  # the transcripts have "we 're" and "do n't"

Values = NDArray[np.float64]


class Sentence(NamedTuple):
    """Something that is said."""

    start: float
    words: tuple[str, ...]
    step: str  # that it names, in the words of whoever labelled it; empty if none


class Step(NamedTuple):
    """Something that is done."""

    start: float
    end: float
    text: str


class Narrated(NamedTuple):
    """A video, as far as its narration is concerned."""

    sentences: Sequence[Sentence]
    steps: Sequence[Step]  # empty if their times are unknown


class Interval(NamedTuple):
    value: float
    low: float
    high: float


class Statistic(NamedTuple):
    """What is measured: a label, and how many decimals are printed."""

    label: str
    decimals: int = 1


STATISTICS = {
    "about_a_step": Statistic("sentences that name a step (%)"),
    "matched": Statistic("of these, named step found among the labelled ones (%)"),
    "lag_early": Statistic("from the step's start to its sentence, 25 % (s)"),
    "lag_median": Statistic("from the step's start to its sentence, median (s)"),
    "lag_late": Statistic("from the step's start to its sentence, 75 % (s)"),
    "before": Statistic("said before the step (%)"),
    "during": Statistic("said during the step (%)"),
    "after": Statistic("said after the step (%)"),
    "length_median": Statistic("words per sentence, median", 0),
    "length_mean": Statistic("words per sentence, mean"),
    "rate": Statistic("words per minute, mean over videos", 0),
    "unknown": Statistic("words outside the kitchen's vocabulary (%)"),
    "unknown_in_steps": Statistic("the same, in sentences that name a step (%)"),
    **{f"types_{count}": Statistic(f"different words among {count:,}", 0) for count in TOKENS},
}
Measured = dict[str, Interval]  # by the names of STATISTICS


def of_youcook2(folder: Path) -> list[Narrated]:
    """The videos of narration.json. Those that videos.json lacks have no times of steps."""
    narration, videos = (_read(folder / name) for name in (NARRATION, VIDEOS))
    return [
        Narrated(
            [Sentence(each["start"], _words(each["text"]), each["key_step"]) for each in video["sentences"]],
            [
                Step(each["start"], each["end"], each["sentence"])
                for each in videos.get(name, {}).get("segments", ())
                if None not in (each["start"], each["end"], each["sentence"])
            ],
        )
        for name, video in narration.items()
    ]


def of_kitchen(videos: int, seed: int) -> tuple[list[Narrated], frozenset[str]]:
    """A kitchen's videos, from their scripts; and the words that a model trained on them knows."""
    settings, data = KitchenSettings(videos=videos, seed=seed), DataConfig()
    found, training = [], []
    for planned in tqdm(plan(settings), desc="scripts", leave=False, disable=None):
        script = script_of(planned, settings)
        steps = [step.text for step in script.recipe.steps]
        said = as_heard(script.spoken) if is_rolling(planned) else script.spoken
        found.append(
            Narrated(
                [Sentence(e.start, _words(e.text), "" if e.about is None else steps[e.about]) for e in said],
                [Step(shown.start, shown.end, steps[shown.step]) for shown in script.timeline.shown],
            )
        )
        if planned.split == "train":
            training += [each.text for each in said]
    return found, frozenset(Vocabulary.build(training, data.min_word_count, data.max_vocabulary).words)


def measure(videos: Sequence[Narrated], known: frozenset[str]) -> Measured:
    """Every statistic of some videos; `known` is the kitchen's vocabulary."""
    about = [[float(bool(each.step)) for each in video.sentences] for video in videos]
    pairs = [match(video) for video in videos]
    lags = [[sentence.start - step.start for sentence, step in of_video] for of_video in pairs]
    sides = [[side(sentence.start, step) for sentence, step in of_video] for of_video in pairs]
    labelled = [sum(bool(each.step) for each in video.sentences) if video.steps else 0 for video in videos]
    matched = [[1.0] * len(found) + [0.0] * (named - len(found)) for found, named in zip(pairs, labelled, strict=True)]
    lengths = [[float(len(each.words)) for each in video.sentences] for video in videos]
    unknown = [[float(w not in known) for each in video.sentences for w in each.words] for video in videos]
    in_steps = [
        [float(w not in known) for each in video.sentences if each.step for w in each.words] for video in videos
    ]
    words = [[word for each in video.sentences for word in each.words] for video in videos]
    return {
        "about_a_step": over_videos(about, _percent),
        "matched": over_videos(matched, _percent),
        "lag_early": over_videos(lags, lambda values: float(np.percentile(values, 25))),
        "lag_median": over_videos(lags, _median),
        "lag_late": over_videos(lags, lambda values: float(np.percentile(values, 75))),
        "before": over_videos([[float(each < 0) for each in of_video] for of_video in sides], _percent),
        "during": over_videos([[float(each == 0) for each in of_video] for of_video in sides], _percent),
        "after": over_videos([[float(each > 0) for each in of_video] for of_video in sides], _percent),
        "length_median": over_videos(lengths, _median),
        "length_mean": over_videos(lengths, _mean),
        "rate": over_videos([speech_rate(video) for video in videos], _mean),
        "unknown": over_videos(unknown, _percent),
        "unknown_in_steps": over_videos(in_steps, _percent),
        **{f"types_{count}": different_words(words, count) for count in TOKENS},
    }


def match(video: Narrated) -> list[tuple[Sentence, Step]]:
    """Each sentence that names a step, with the labelled step that it most likely names.

    That is the one whose text has most of the words by which the sentence's step was labelled, if it has more than
    half of them; of several, the nearest in time.
    """
    found = []
    texts = [content_words(step.text) for step in video.steps]
    for sentence in video.sentences:
        named = content_words(sentence.step)
        shares = [len(named & text) / max(len(named), 1) for text in texts]
        best = max(shares, default=0.0)
        if best > 0.5:
            likely = [step for step, share in zip(video.steps, shares, strict=True) if share == best]
            found.append((sentence, min(likely, key=lambda step: abs(side(sentence.start, step)))))
    return found


def side(time: float, step: Step) -> float:
    """Seconds by which a time comes before a step (negative) or after it; 0 within it."""
    return min(time - step.start, 0.0) + max(time - step.end, 0.0)


def content_words(text: str) -> frozenset[str]:
    """Words that carry meaning, without their commonest endings."""
    return frozenset(_stem(word) for word in words_of(text) if word not in _FILLING)


def speech_rate(video: Narrated) -> list[float]:
    """Words per minute, pauses included, from the first sentence to the start of the last; none for a short video."""
    if len(video.sentences) < 2:
        return []
    *spoken, last = video.sentences
    minutes = (last.start - spoken[0].start) / 60
    return [sum(len(each.words) for each in spoken) / minutes] if minutes > 0 else []


def over_videos(values: Iterable[Sequence[float]], statistic: Callable[[Values], float]) -> Interval:
    """A statistic of the values of all videos together, with an interval by bootstrap over videos."""
    arrays = [np.array(each) for each in values if len(each)]
    if not arrays:
        return Interval(np.nan, np.nan, np.nan)
    rng = np.random.default_rng(0)
    draws = rng.integers(len(arrays), size=(RESAMPLES, len(arrays)))
    found = [statistic(np.concatenate([arrays[at] for at in draw])) for draw in draws]
    return Interval(statistic(np.concatenate(arrays)), *np.percentile(found, (2.5, 97.5)))


def different_words(videos: Sequence[Sequence[str]], count: int) -> Interval:
    """How many different words are among the first `count` of videos in random order: the mean over orders, with the
    range of 95 % of them. Drawing with replacement would repeat videos, and miss words."""
    if sum(map(len, videos)) < count:
        return Interval(np.nan, np.nan, np.nan)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        words: list[str] = []
        for at in rng.permutation(len(videos)):
            words += videos[at]
            if len(words) >= count:
                break
        found.append(len(set(words[:count])))
    return Interval(_mean(np.array(found)), *np.percentile(found, (2.5, 97.5)))


def compared(real: Measured, kitchen: Measured) -> Figures:
    """Where the kitchen has to be near: when a step is spoken of. That it is spoken of more often is known."""
    figures = Figures()
    lag, during, about = (
        [each[name].value for each in (kitchen, real)] for name in ("lag_median", "during", "about_a_step")
    )
    figures.at_most("from the start of a step to its sentence, difference of medians (s)", abs(lag[0] - lag[1]), 5)
    figures.at_most("sentences said during their step, difference (points)", abs(during[0] - during[1]), 15)
    figures.at_most("sentences that name a step, kitchen / YouCook2", about[0] / about[1], 2.5)
    return figures


def render(columns: Mapping[str, Measured]) -> str:
    """The table as text."""
    lines = [f"{'':<54}" + "".join(f"{name:>26}" for name in columns)]
    for name, (label, decimals) in STATISTICS.items():
        cells = "".join(f"{_cell(measured[name], decimals):>26}" for measured in columns.values())
        lines.append(f"{label:<54}{cells}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of narration.json and videos.json")
    parser.add_argument("--videos", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if missing := [name for name in (NARRATION, VIDEOS) if not (options.data / name).is_file()]:
        if options.data != DATA:
            parser.error(f"--data {options.data}: has no {' and no '.join(missing)}")
        print("YouCook2's narration is not in ../shared/data/youcook2: there is nothing to compare the kitchen with.")
        return []
    real = of_youcook2(options.data)
    drawn, known = of_kitchen(options.videos, options.seed)
    columns = {"YouCook2": measure(real, known), f"kitchen {options.seed}": measure(drawn, known)}
    if options.json:
        print(json.dumps({name: {key: each._asdict() for key, each in of.items()} for name, of in columns.items()}))
    else:
        print(f"{len(real)} videos of YouCook2, {len(drawn)} of the kitchen")
        print(render(columns))
    with redirect_stdout(sys.stderr) if options.json else nullcontext():
        return compared(*columns.values()).measured


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _words(text: str) -> tuple[str, ...]:
    return tuple(words_of(_SPLIT.sub("", text)))


def _stem(word: str) -> str:
    """A crude stem: slices and slicing become slic, chop and chopped chop."""
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= 3), "")
    stem = word.removesuffix(ending)
    return stem[:-1] if stem[-1:] == stem[-2:-1] else stem


def _mean(values: Values) -> float:
    return float(values.mean())


def _percent(values: Values) -> float:
    return 100 * _mean(values)


def _median(values: Values) -> float:
    return float(np.median(values))


def _cell(interval: Interval, decimals: int) -> str:
    if np.isnan(interval.value):
        return "–"
    value, low, high = (f"{each:,.{decimals}f}".replace("-", "−") for each in interval)
    return f"{value} [{low}, {high}]"


if __name__ == "__main__":
    finish(main())
