"""What tells time in a kitchen video, other than what the recipe did? Nothing should.

    python -m benchmarks.validity.leaks [--videos 400] [--seed 0] [--size 96] [--fps 2]

Probes are trained on some videos to tell what is early from what is late, and tested on others: on frames that show no
step (their pixels, their codec artefacts and brightness, their number being odd), on chatter (its words, its length,
how dense it comes), and on pairs of random frames. An oracle that reads the latent scene says how much there is to
know. The videos are written, encoded and decoded as for any user.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.common import Figures, run_mmcc
from benchmarks.validity.probes import best_accuracy
from mmcc.kitchen.features import script_features
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.scene import Scene
from mmcc.kitchen.script import Script
from mmcc.kitchen.shots import WORK

SCRIPTS = 720  # videos whose words and scenes are probed: these cost no pixels
PAIRS_PER_VIDEO = 60
OF_ONE_FRAME = [0, 1, 2, 3, 4, 7]  # the artefacts that need no frame before
COARSE = 16  # pixels a side that a probe sees of a frame: as many inputs as it can learn from so few videos


@dataclass
class Filmed:
    """A video's latent course and its frames as decoded."""

    script: Script
    frames: NDArray[np.uint8]
    fps: float

    def without_step(self) -> list[int]:
        """The frames on which neither a step nor the scene can be seen."""
        return [at for at in range(len(self.frames)) if self.script.at(at / self.fps).shot.kind != WORK]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--fps", type=float, default=2.0)
    settings = KitchenSettings(**vars(parser.parse_args()))
    films = make_films(settings)
    figures = Figures()
    figures.show("early or late, from the pixels of frames that show no step (%)", distractor_pixels(films), most=53)
    figures.show("... from their codec artefacts, brightness and parity (%)", distractor_artefacts(films), most=53)
    figures.show("which of two such frames is first, from both (%)", distractor_pairs(films), most=53)
    figures.show("... of two in one shot, from their artefacts (%)", neighbouring_pairs(films), most=53)
    more = KitchenSettings(videos=SCRIPTS, seed=settings.seed)
    scripts = [script_of(each, more) for each in tqdm(plan(more), desc="scripts", leave=False, disable=None)]
    figures.show("early or late, from the words of chatter (%)", chatter_words(scripts), most=53)
    figures.show("... from its length and density (%)", chatter_rhythm(scripts), most=53)
    figures.show("which of two random frames is first, from their pixels (%)", random_pairs(films), most=58)
    figures.show("which of two random moments is first, from their vectors (%)", vector_pairs(scripts), most=65)
    figures.show("which of two different steps is first, from the latent scene (%)", oracle_pairs(scripts), least=85)
    figures.exit()


def make_films(settings: KitchenSettings) -> list[Filmed]:
    """Written, encoded and decoded."""
    flags = [word for name in ("videos", "seed", "size", "fps") for word in (f"--{name}", getattr(settings, name))]
    with TemporaryDirectory() as folder:
        run_mmcc("kitchen", folder, *flags)
        return [
            Filmed(script_of(each, settings), decode(Path(folder, "videos", f"{each.id}.mp4")), settings.fps)
            for each in tqdm(plan(settings), desc="reading", leave=False, disable=None)
        ]


def decode(path: Path) -> NDArray[np.uint8]:
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def coarse(frames: NDArray[np.uint8], side: int = COARSE) -> NDArray[np.float64]:
    """[N, side * side * 3]: each frame reduced by the mean of its blocks."""
    count, size = len(frames), frames.shape[1]
    blocks = frames.reshape(count, side, size // side, side, size // side, 3).mean(axis=(2, 4), dtype=np.float64)
    return np.asarray(blocks.reshape(count, side * side * 3))


def distractor_pixels(films: list[Filmed]) -> float:
    inputs, late, groups = [], [], []
    for number, film in enumerate(films):
        chosen = film.without_step()
        inputs.append(coarse(film.frames[chosen]))
        late += [2 * at > len(film.frames) for at in chosen]
        groups += [number] * len(chosen)
    return best_accuracy(np.concatenate(inputs), np.array(late), np.array(groups))


def distractor_artefacts(films: list[Filmed]) -> float:
    inputs, late, groups = [], [], []
    for number, film in enumerate(films):
        traces = artefacts(film.frames)
        for at in film.without_step():
            inputs.append(traces[at])
            late.append(2 * at > len(film.frames))
            groups.append(number)
    return best_accuracy(np.array(inputs), np.array(late), np.array(groups))


def artefacts(frames: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Of each frame: steps at the borders of 8-pixel blocks and off them, brightness and its change, odd or even."""
    grey = frames.mean(axis=3)
    across, down = np.abs(np.diff(grey, axis=2)), np.abs(np.diff(grey, axis=1))
    at_border = (across[:, :, 7::8].mean(axis=(1, 2)) + down[:, 7::8].mean(axis=(1, 2))) / 2
    everywhere = (across.mean(axis=(1, 2)) + down.mean(axis=(1, 2))) / 2
    brightness, contrast = grey.mean(axis=(1, 2)), grey.std(axis=(1, 2))
    change = np.diff(brightness, prepend=brightness[:1])
    still = np.concatenate([[0.0], np.abs(np.diff(grey, axis=0)).mean(axis=(1, 2))])
    parity = np.arange(len(frames)) % 2
    return np.stack(
        [at_border, everywhere, at_border / (everywhere + 1), brightness, contrast, change, still, parity], axis=1
    )


def distractor_pairs(films: list[Filmed]) -> float:
    """Of one video, its frames that show no step: a slow drift of anything would show here before all else."""
    pixels, traces = [], []
    for film in films:
        chosen = film.without_step()
        if len(chosen) > 1:
            pixels.append(coarse(film.frames[chosen]))
            traces.append(artefacts(film.frames)[chosen][:, OF_ONE_FRAME])
    return max(_ordered(pixels), _ordered(traces))  # apart: few inputs are learnt from fewer videos


def neighbouring_pairs(films: list[Filmed], within: float = 2.0) -> float:
    """A codec whose frames build on each other tells which of two neighbours came first."""
    chance = np.random.default_rng(2)
    inputs, second, groups = [], [], []
    for number, film in enumerate(films):
        traces, chosen = artefacts(film.frames)[:, OF_ONE_FRAME], film.without_step()
        shots = [film.script.at(at / film.fps).shot.seed for at in chosen]
        for a in range(len(chosen)):
            for b in range(a + 1, len(chosen)):
                if shots[a] != shots[b] or chosen[b] - chosen[a] > within * film.fps:
                    break
                swapped = chance.random() < 0.5
                inputs.append((traces[chosen[a]] - traces[chosen[b]]) * (-1 if swapped else 1))
                second.append(swapped)
                groups.append(number)
    return best_accuracy(np.array(inputs), np.array(second), np.array(groups), odd=True)


def chatter_words(scripts: list[Script]) -> float:
    said = [
        (spoken.text.lower().split(), spoken.start > script.timeline.duration / 2, number)
        for number, script in enumerate(scripts)
        for spoken in script.spoken
        if spoken.about is None
    ]
    counts = Counter(word for words, _, _ in said for word in set(words))
    column = {word: at for at, (word, count) in enumerate(counts.most_common(800)) if count >= 5}
    inputs = np.zeros((len(said), len(column)))
    for row, (words, _, _) in enumerate(said):
        for word in words:
            if word in column:
                inputs[row, column[word]] = 1
    return best_accuracy(inputs, np.array([late for _, late, _ in said]), np.array([number for _, _, number in said]))


def chatter_rhythm(scripts: list[Script]) -> float:
    """How long each is, how far from its neighbours, and how much is said around it."""
    inputs, late, groups = [], [], []
    for number, script in enumerate(scripts):
        centres = np.array([(spoken.start + spoken.end) / 2 for spoken in script.spoken])
        for at in range(1, len(script.spoken) - 1):
            before, spoken, after = script.spoken[at - 1 : at + 2]
            if spoken.about is None:
                around = int((np.abs(centres - centres[at]) < 10).sum())
                sizes = [len(spoken.text.split()), len(spoken.text), spoken.end - spoken.start]
                inputs.append([*sizes, around, spoken.start - before.end, after.start - spoken.end])
                late.append(2 * centres[at] > script.timeline.duration)
                groups.append(number)
    return best_accuracy(np.array(inputs), np.array(late), np.array(groups))


def random_pairs(films: list[Filmed]) -> float:
    return _ordered([coarse(film.frames) for film in films])


def vector_pairs(scripts: list[Script]) -> float:
    """A line through vectors sees more than one through pixels, since these show the state as it is."""
    return _ordered([script_features(script).astype(np.float64) for script in scripts])


def _ordered(videos: list[NDArray[np.float64]]) -> float:
    """How well random pairs of a video's moments can be put in order, by what each shows."""
    chance = np.random.default_rng(0)
    inputs, second, groups = [], [], []
    for number, pictures in enumerate(videos):
        pairs = chance.integers(len(pictures), size=(PAIRS_PER_VIDEO, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        inputs.append(pictures[pairs[:, 0]] - pictures[pairs[:, 1]])
        second.append(pairs[:, 0] > pairs[:, 1])
        groups += [number] * len(pairs)
    return best_accuracy(np.concatenate(inputs), np.concatenate(second), np.array(groups), odd=True)


def oracle_pairs(scripts: list[Script]) -> float:
    """A probe per task on what the scene holds at the start of a step, for pairs of different steps of a video."""
    hits = []
    for task in sorted({script.recipe.id for script in scripts}):
        of_task = [script for script in scripts if script.recipe.id == task]
        things = sorted({thing for script in of_task for scene in script.scenes for thing in facts(scene)})
        inputs, second, groups = [], [], []
        for number, script in enumerate(of_task):
            rows = np.array([[thing in facts(scene) for thing in things] for scene in script.scenes], float)
            shown = script.timeline.shown
            for a in range(len(shown)):
                for b in range(len(shown)):
                    if shown[a].step != shown[b].step:
                        inputs.append(rows[a] - rows[b])
                        second.append(a > b)
                        groups.append(number)
        if len(set(groups)) >= 10:
            accuracy = best_accuracy(np.array(inputs), np.array(second), np.array(groups), odd=True)
            hits.append((accuracy, len(inputs)))
    return float(np.average([accuracy for accuracy, _ in hits], weights=[count for _, count in hits]))


def facts(scene: Scene) -> frozenset[str]:
    """What can be read off a scene, one by one."""
    found = set()
    for name, vessel in scene.vessels:
        found |= {f"{name} top {p.item} {p.form} {round(p.cooked, 1)}" for p in vessel.top}
        found |= {f"{name} mixed {p.item} {p.form} {round(p.cooked, 1)}" for p in vessel.mixed}
        found |= {f"{name} stained {p.item}" for p in vessel.stain}
        found |= {f"{name} covered"} if vessel.covered else set()
        found |= {f"{name} in oven"} if vessel.in_oven else set()
    return frozenset(found)


if __name__ == "__main__":
    main()
