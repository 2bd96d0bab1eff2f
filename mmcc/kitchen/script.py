"""Everything that happens in one video, before any pixel is drawn: its steps, shots, words and scenes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mmcc.kitchen.narration import Spoken, narrate
from mmcc.kitchen.recipes import Recipe, Step
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Scene, World, during, laid_out
from mmcc.kitchen.shots import WORK, Shot, draw_shots
from mmcc.kitchen.timeline import Timeline

_STAGES_OF_A_STEP = 8  # a scene changes in stages, so that pictures of it can be cached


@dataclass(frozen=True)
class Moment:
    """What can be seen at one time of a video."""

    time: float
    shot: Shot
    scene: Scene
    step: Step | None  # the current step, whether the shot shows it or not
    progress: float  # of the step, 0 to 1

    @property
    def acting(self) -> Step | None:
        """The visible step: current, and in front of the camera."""
        return self.step if self.shot.kind == WORK else None


class _Passed(NamedTuple):
    """The state before and after a shown step."""

    before: Scene
    after: Scene
    done_before: int  # steps of the recipe, on camera or off it
    done_after: int


@dataclass(frozen=True)
class Script:
    """One video. Everything in it follows from the recipe and the name of its random stream."""

    recipe: Recipe
    seed: str
    timeline: Timeline
    shots: tuple[Shot, ...]
    spoken: tuple[Spoken, ...]

    @cached_property
    def _course(self) -> list[_Passed]:
        world = World(self.recipe)
        course = []
        for shown in self.timeline.shown:
            before, done = world.prepare(shown.step), len(world.done)
            course.append(_Passed(before, world.show(shown.step), done, len(world.done)))
        return course

    @property
    def done_before(self) -> list[int]:
        """How many steps of the recipe are done, on or off camera, when each shown step begins."""
        return [passed.done_before for passed in self._course]

    def done_at(self, time: float) -> int:
        """How many are done by a time, including the current one."""
        last = self._last_started(time)
        return 0 if last < 0 else self._course[last].done_after

    @property
    def scenes(self) -> list[Scene]:
        """The scene that each shown step starts from."""
        return [passed.before for passed in self._course]

    def _last_started(self, time: float) -> int:
        """Index of the last shown step that began by a time, -1 before the first."""
        return bisect_right(self.timeline.shown, time, key=lambda shown: shown.start) - 1

    def at(self, time: float) -> Moment:
        shot = self.shots[max(0, bisect_right(self.shots, time, key=lambda shot: shot.start) - 1)]
        last = self._last_started(time)
        if last < 0:
            return Moment(time, shot, laid_out(self.recipe), None, 0.0)
        # Real steps overlap: the latest unfinished one is visible.
        index = next((at for at in range(last, -1, -1) if time < self.timeline.shown[at].end), None)
        if index is None:
            return Moment(time, shot, self._course[last].after, None, 0.0)
        shown = self.timeline.shown[index]
        before = self._course[index].before
        step = self.recipe.steps[shown.step]
        progress = (time - shown.start) / (shown.end - shown.start)
        stage = int(progress * _STAGES_OF_A_STEP + 0.5) / _STAGES_OF_A_STEP
        return Moment(time, shot, during(before, step, stage), step, progress)

    def moments(self, rate: float) -> Iterator[Moment]:
        """`rate` moments per second, from 0 on."""
        for number in range(max(1, int(self.timeline.duration * rate))):
            yield self.at(number / rate)


def write_script(recipe: Recipe, timeline: Timeline, rng: Rng, *, bookends: bool = False) -> Script:
    """A video of a recipe over a timeline, with random shots and narration."""
    shots = draw_shots(recipe, timeline, rng.child("shots"))
    spoken = narrate(recipe, timeline.shown, timeline.duration, rng.child("words"), bookends=bookends)
    return Script(recipe, rng.name, timeline, shots, spoken)
