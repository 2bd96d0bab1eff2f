"""Chance level and ceiling of each metric, computed from the scripts of the kitchen's videos.

    python -m benchmarks.validity.references [--videos 1200] [--seed 0] [--json]

Over the held-out videos of the primary tasks. No video is drawn: the scripts state what happens at every moment. A
ceiling is the score of an oracle that knows the script; it must beat chance.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.common import Figure, command_line, finish
from mmcc.evaluation.anticipation import references
from mmcc.kitchen import KITCHEN_VERSION
from mmcc.kitchen.narration import Spoken
from mmcc.kitchen.plan import KitchenSettings, plan, recipes_of, script_of
from mmcc.kitchen.script import Moment, Script
from mmcc.kitchen.shots import WORK
from mmcc.metrics import chance_by_permutation, edit_distance, kendall_tau, percentile_rank, spearman_rho

SEGMENT = 64  # seconds, as long as in training
GUESSES = 20  # per video, averaged, where an oracle cannot tell clips apart
Scores = NDArray[np.float64]
Table = dict[str, dict[str, float]]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = KitchenSettings(videos=options.videos, seed=options.seed)
    held_out = [each for each in plan(settings) if each.split == "validation" and each.recipe.primary]
    if not held_out:
        parser.error(f"--videos {options.videos}: too few to hold out a video of a primary task")
    scripts = [script_of(each, settings) for each in tqdm(held_out, desc="scripts", leave=False, disable=None)]
    training = [script_of(each, settings) for each in plan(settings) if each.split == "train"]
    tables = {
        "anticipation": anticipation(scripts, settings),
        "unshuffling": unshuffling(scripts),
        "arrow of time, random frames": arrow_of_time(scripts, training),
        "cross-modal percentile rank": cross_modal(scripts),
    }
    if options.json:
        print(json.dumps({"kitchen_version": KITCHEN_VERSION, "seed": options.seed, **tables}))
    else:
        print(f"kitchen version {KITCHEN_VERSION}, seed {options.seed}, {len(scripts)} held-out videos")
        for name, table in tables.items():
            show(name, table)
    return [figure for name, table in tables.items() for figure in ceilings(name, table)]


def ceilings(name: str, table: Table) -> Iterator[Figure]:
    """First column of each row but chance, which is the bound: whoever knows more must not score less."""
    chance, *oracles = table
    column = next(iter(table[chance]))
    for oracle in oracles:
        yield Figure(f"{name}, {column}, {oracle.strip()}", table[oracle][column], table[chance][column], "higher")


def show(name: str, table: Table) -> None:
    columns = list(next(iter(table.values())))
    print(f"\n{name:<36}" + "".join(f"{column:>15}" for column in columns))
    for row, values in table.items():
        print(f"{row:<36}" + "".join(f"{values[column]:>15.2f}" for column in columns))


def anticipation(scripts: Sequence[Script], settings: KitchenSettings) -> Table:
    """Rank of the texts of a task's later steps among all texts, for each labelled clip but those of the last step."""
    texts = sorted({step.text for recipe in recipes_of(settings) if recipe.primary for step in recipe.steps})
    column = {text: at for at, text in enumerate(texts)}
    positive, of_task = [], []
    for script in scripts:
        steps = script.recipe.steps
        for shown in script.timeline.shown:
            if shown.step < len(steps) - 1:
                positive.append(_row(column, (step.text for step in steps[shown.step + 1 :])))
                of_task.append(_row(column, (step.text for step in steps)))
    expected = references(np.array(positive), np.array(of_task))
    columns = {f"R@{k}": f"recall@{k}" for k in (1, 5, 10)}
    columns |= {which: f"percentile_{which}" for which in ("worst", "mean", "best")}
    rows = {
        "chance": "chance",
        "task known, step random": "task_known",
        "oracle: task and step known": "step_known",
    }
    return {
        row: {column: expected[f"{kind}/{figure}"] for column, figure in columns.items()} for row, kind in rows.items()
    }


def _row(column: dict[str, int], texts: Iterator[str]) -> NDArray[np.bool_]:
    row = np.zeros(len(column), bool)
    row[[column[text] for text in texts]] = True
    return row


def unshuffling(scripts: Sequence[Script]) -> Table:
    """The labelled clips of a video put in order, compared with their order in time."""
    metrics = {"kendall tau": kendall_tau, "spearman rho": spearman_rho, "edit dist.": edit_distance}
    rows: Table = {}
    several = [script for script in scripts if len(script.timeline.shown) >= 2]
    rows["chance"] = {
        name: float(np.mean([_by_chance(name, metric, len(script.timeline.shown)) for script in several]))
        for name, metric in metrics.items()
    }
    keys: dict[str, Callable[[Script, int], float]] = {
        "oracle: task and step known": lambda script, at: script.timeline.shown[at].step,
        "oracle: what was done so far known": lambda script, at: script.done_before[at],
    }
    rng = np.random.default_rng(0)
    for row, key in keys.items():
        orders = [_order(script, key, rng) for script in several for _ in range(GUESSES)]
        rows[row] = {name: float(np.mean([metric(order) for order in orders])) for name, metric in metrics.items()}
    return rows


_chances: dict[tuple[str, int], float] = {}


def _by_chance(name: str, metric: Callable[[NDArray[np.int64]], Scores], count: int) -> float:
    if (name, count) not in _chances:
        _chances[name, count] = chance_by_permutation(metric, count)
    return _chances[name, count]


def _order(script: Script, key: Callable[[Script, int], float], rng: np.random.Generator) -> list[int]:
    """The order of clips by what an oracle knows of each; it guesses between those it cannot tell apart."""
    count = len(script.timeline.shown)
    ties = rng.random(count)
    return sorted(range(count), key=lambda at: (key(script, at), ties[at]))


def arrow_of_time(scripts: Sequence[Script], training: Sequence[Script], pairs: int = 200) -> Table:
    """Which of two random frames of a video comes first.

    The oracle knows the task and, while the counter is in view, how many steps are done. The training videos give it
    the expected time of each number of steps; a frame that shows nothing is expected in the middle. It compares steps
    done if both frames show the counter, expected times otherwise, and tosses a coin if they are equal.
    """
    expected = _expected_times(training)
    rng = np.random.default_rng(0)
    seen, right = [], []
    for script in scripts:
        for a, b in rng.uniform(0, script.timeline.duration, (pairs, 2)):
            first, second = (_clue(script, time, expected) for time in (min(a, b), max(a, b)))
            visible = first.done is not None and second.done is not None
            earlier, later = (first.done, second.done) if visible else (first.time, second.time)
            seen.append(visible)
            right.append(1.0 if earlier < later else 0.5 if earlier == later else 0.0)  # type: ignore[operator]
    return {
        "chance": {"accuracy": 50.0},
        "oracle: task and what was done known": {"accuracy": 100 * float(np.mean(right))},
        "  where both show the counter": {"accuracy": 100 * float(np.mean(np.array(right)[np.array(seen)]))},
    }


class _Clue(NamedTuple):
    done: int | None  # steps; None if the counter is not in view
    time: float  # expected, as a share of the video


def _clue(script: Script, time: float, expected: dict[tuple[str, int], float]) -> _Clue:
    if script.at(time).shot.kind != WORK:
        return _Clue(None, 0.5)
    done = script.done_at(time)
    return _Clue(done, expected.get((script.recipe.id, done), 0.5))


def _expected_times(scripts: Sequence[Script]) -> dict[tuple[str, int], float]:
    """Mean time by task and number of steps done."""
    times: dict[tuple[str, int], list[float]] = {}
    for script in scripts:
        for second in range(int(script.timeline.duration)):
            key = script.recipe.id, script.done_at(float(second))
            times.setdefault(key, []).append(second / script.timeline.duration)
    return {key: float(np.mean(shares)) for key, shares in times.items()}


def cross_modal(scripts: Sequence[Script]) -> Table:
    """Rank of the node nearest in time among a segment's nodes of the other modality.

    A simple oracle: it knows which clip of which step an utterance is about, if any, and what a frame shows: that step,
    another step, or the counter in a state near to that step or far from it. It ranks each kind of frame by how often
    it is the nearest, counted over the same videos. Half of the utterances are chatter and the rest come some seconds
    early or late, so narration allows little more.
    """
    views = [view for script in scripts for view in _segments(script)]
    nearest, all_pairs = Counter[str](), Counter[str]()
    for view in views:
        for row, at in enumerate(view.frame_of):
            nearest[view.kinds[row][at]] += 1
            all_pairs.update(view.kinds[row])
    odds = {kind: nearest[kind] / count for kind, count in all_pairs.items()}
    from_text, from_vision, of_steps = [], [], []
    for view in views:
        scores = np.array([[odds[kind] for kind in row] for row in view.kinds])
        ranks = percentile_rank(scores, view.frame_of)
        from_text += list(ranks)
        of_steps += [rank for rank, about in zip(ranks, view.about, strict=True) if about is not None]
        from_vision += list(percentile_rank(scores.T, view.text_of))
    return {
        "chance": {"text to frame": 50.0, "frame to text": 50.0, "step to frame": 50.0},
        "oracle: what both show known": {
            "text to frame": float(np.mean(from_text)),
            "frame to text": float(np.mean(from_vision)),
            "step to frame": float(np.mean(of_steps)),
        },
    }


class _View(NamedTuple):
    """The nodes of a segment as the oracle sees them."""

    kinds: list[list[str]]  # utterance by frame: how the two relate
    about: list[int | None]
    frame_of: NDArray[np.int64]  # the frame nearest to each utterance
    text_of: NDArray[np.int64]  # the utterance nearest to each frame


def _segments(script: Script) -> Iterator[_View]:
    for start in range(0, max(1, int(script.timeline.duration) - SEGMENT), SEGMENT):
        end = min(start + SEGMENT, script.timeline.duration)
        spoken = [each for each in script.spoken if start <= (each.start + each.end) / 2 < end]
        moments = [script.at(float(second)) for second in range(start, int(end))]
        if len(spoken) < 2 or len(moments) < 2:
            continue
        centres = np.array([(each.start + each.end) / 2 for each in spoken])
        apart = np.abs(centres[:, None] - np.array([moment.time for moment in moments]))
        yield _View(
            [[_relation(script, each, moment) for moment in moments] for each in spoken],
            [each.about for each in spoken],
            apart.argmin(axis=1),
            apart.argmin(axis=0),
        )


def _relation(script: Script, spoken: Spoken, moment: Moment) -> str:
    step = moment.acting
    if moment.shot.kind != WORK:
        return "step, distractor" if spoken.about is not None else "chatter, distractor"
    if spoken.about is None:
        return "chatter, an act" if step else "chatter, the counter"
    if step == script.recipe.steps[spoken.about]:
        return "step, itself"
    near = spoken.shown is not None and abs(script.done_at(moment.time) - script.done_before[spoken.shown] - 0.5) < 1
    return f"step, {'another' if step else 'the counter'} {'near' if near else 'far'}"


if __name__ == "__main__":
    finish(main())
