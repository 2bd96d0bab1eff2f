"""Whether anything in a kitchen video other than the progress of the recipe reveals the time.

    python -m benchmarks.validity.leaks [--videos 400] [--seed 0] [--size 96] [--fps 2]

Probes learn on some videos to tell early from late, and are tested on others: on frames that show no step (their
pixels, codec artefacts and brightness, whether their number is odd), on chatter (its words, length and density), and on
pairs of random frames. An oracle that reads the latent scene shows how much there is to know. The videos are written,
encoded and decoded as for any user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.common import Figure, Figures, command_line, finish, run_mmcc
from benchmarks.validity.probes import best_accuracy
from mmcc.kitchen.features import script_features
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.scene import Scene
from mmcc.kitchen.script import Script
from mmcc.kitchen.shots import WORK

SCRIPTS = 720  # videos whose words and scenes are probed: these need not be drawn
PAIRS_PER_VIDEO = 60
OF_ONE_FRAME = [0, 1, 2, 3, 4, 7]  # the artefacts that do not depend on the frame before
COARSE = 16  # side in pixels of the frames that probes see; a few hundred videos cannot train a probe on more inputs


@dataclass
class Filmed:
    """The script of a video and its decoded frames."""

    script: Script
    frames: NDArray[np.uint8]
    fps: float

    def without_step(self) -> list[int]:
        """Numbers of the frames on which neither a step nor the scene can be seen."""
        return [at for at in range(len(self.frames)) if self.script.at(at / self.fps).shot.kind != WORK]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--fps", type=float, default=2.0)
    settings = KitchenSettings(**vars(parser.parse_args(arguments)))
    films = make_films(settings)
    figures = Figures()
    figures.at_most("frames without a step, early or late, from pixels (%)", distractor_pixels(films), 53)
    figures.at_most("frames without a step, early or late, from artefacts (%)", distractor_artefacts(films), 53)
    figures.at_most("frames without a step, which of two is first (%)", distractor_pairs(films), 53)
    figures.at_most("frames without a step, which of two in a shot is first (%)", neighbouring_pairs(films), 53)
    more = KitchenSettings(videos=SCRIPTS, seed=settings.seed)
    scripts = [script_of(each, more) for each in tqdm(plan(more), desc="scripts", leave=False, disable=None)]
    figures.at_most("chatter, early or late, from its words (%)", chatter_words(scripts), 53)
    figures.at_most("chatter, early or late, from its length and density (%)", chatter_rhythm(scripts), 53)
    figures.at_most("random frames, which of two is first, from pixels (%)", random_pairs(films), 58)
    figures.at_most("random moments, which of two is first, from vectors (%)", vector_pairs(scripts), 65)
    figures.at_least("oracle: different steps, which of two is first (%)", oracle_pairs(scripts), 85)
    return figures.measured


def make_films(settings: KitchenSettings) -> list[Filmed]:
    """Write a kitchen and decode its videos."""
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
    """[N, side * side * 3]: each frame reduced to the means of its blocks."""
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
    """Per frame: edges at the borders of 8-pixel blocks and overall, brightness and its change, odd or even."""
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
    """Order of two frames of a video that show no step: the probe most sensitive to a slow drift."""
    pixels, traces = [], []
    for film in films:
        chosen = film.without_step()
        if len(chosen) > 1:
            pixels.append(coarse(film.frames[chosen]))
            traces.append(artefacts(film.frames)[chosen][:, OF_ONE_FRAME])
    return max(_ordered(pixels), _ordered(traces))  # separately: a probe with fewer inputs needs fewer videos


def neighbouring_pairs(films: list[Filmed], within: float = 2.0) -> float:
    """Order of two frames of a shot: a codec that predicts frames from earlier ones would reveal it."""
    rng = np.random.default_rng(2)
    inputs, second, groups = [], [], []
    for number, film in enumerate(films):
        traces, chosen = artefacts(film.frames)[:, OF_ONE_FRAME], film.without_step()
        shots = [film.script.at(at / film.fps).shot.seed for at in chosen]
        for a in range(len(chosen)):
            for b in range(a + 1, len(chosen)):
                if shots[a] != shots[b] or chosen[b] - chosen[a] > within * film.fps:
                    break
                swapped = rng.random() < 0.5
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
    """Early or late, from the length of an utterance, its distance to its neighbours and the talk around it."""
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
    """A linear probe reads more from vectors than from pixels, since vectors show the state directly."""
    return _ordered([script_features(script).astype(np.float64) for script in scripts])


def _ordered(videos: list[NDArray[np.float64]]) -> float:
    """Accuracy of ordering random pairs of a video's moments by what each shows."""
    rng = np.random.default_rng(0)
    inputs, second, groups = [], [], []
    for number, pictures in enumerate(videos):
        pairs = rng.integers(len(pictures), size=(PAIRS_PER_VIDEO, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        inputs.append(pictures[pairs[:, 0]] - pictures[pairs[:, 1]])
        second.append(pairs[:, 0] > pairs[:, 1])
        groups += [number] * len(pairs)
    return best_accuracy(np.concatenate(inputs), np.concatenate(second), np.array(groups), odd=True)


def oracle_pairs(scripts: list[Script]) -> float:
    """Order of two different steps of a video, from the scene at the start of each; one probe per task."""
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
    """Facts about a scene, one string each."""
    found = set()
    for name, vessel in scene.vessels:
        found |= {f"{name} top {p.item} {p.form} {round(p.cooked, 1)}" for p in vessel.top}
        found |= {f"{name} mixed {p.item} {p.form} {round(p.cooked, 1)}" for p in vessel.mixed}
        found |= {f"{name} stained {p.item}" for p in vessel.stain}
        found |= {f"{name} covered"} if vessel.covered else set()
        found |= {f"{name} in oven"} if vessel.in_oven else set()
    return frozenset(found)


if __name__ == "__main__":
    finish(main())
