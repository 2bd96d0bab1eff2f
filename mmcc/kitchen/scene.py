"""The latent scene: what is where, and what a step does to it.

The state persists: a vessel keeps what was added to it, mixed or not, raw or cooked, until it is moved elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mmcc.kitchen.recipes import MIXING, Recipe, Step, needs

HOT = ("pan", "pot")
MOST_ON_TOP = 8  # repeats would pile up without end


@dataclass(frozen=True)
class Portion:
    """Some of an ingredient."""

    item: str
    # whole, cut, peeled, juice, poured, powder, cracked, spread; smooth once it is whisked, blended or mashed
    form: str
    cooked: float = 0.0  # 0 raw, 1 browned or soft


@dataclass(frozen=True)
class Vessel:
    """A container of portions: those mixed together, and those on top of the mix in order of arrival."""

    mixed: tuple[Portion, ...] = ()
    top: tuple[Portion, ...] = ()
    stain: tuple[Portion, ...] = ()  # its contents before it was last emptied
    covered: bool = False
    in_oven: bool = False

    @property
    def portions(self) -> tuple[Portion, ...]:
        return self.mixed + self.top

    def refilled(self) -> Vessel:
        """With its contents before it was emptied: to show an act once more, a second batch is needed."""
        return replace(self, mixed=_distinct(self.stain + self.mixed), stain=())

    def cooked_to(self, degree: float) -> Vessel:
        return replace(self, mixed=_distinct(_cook(self.mixed, degree)), top=_cook(self.top, degree))


def _cook(portions: Iterable[Portion], degree: float) -> tuple[Portion, ...]:
    return tuple(replace(portion, cooked=max(portion.cooked, degree)) for portion in portions)


def _distinct(portions: Iterable[Portion]) -> tuple[Portion, ...]:
    """Once mixed, twice as much of an ingredient looks the same."""
    return tuple(dict.fromkeys(portions))


@dataclass(frozen=True)
class Scene:
    """The vessels of a recipe by name, in its order of use."""

    vessels: tuple[tuple[str, Vessel], ...]

    def __getitem__(self, name: str) -> Vessel:
        return dict(self.vessels)[name]

    def with_vessel(self, name: str, vessel: Vessel) -> Scene:
        return Scene(tuple((key, vessel if key == name else old) for key, old in self.vessels))


def laid_out(recipe: Recipe) -> Scene:
    """Before the first step."""
    lies = dict(recipe.laid_out)
    return Scene(tuple((name, Vessel(top=_lying(lies.get(name)))) for name in recipe.vessels))


def _lying(item: str | None) -> tuple[Portion, ...]:
    return (Portion(item, "powder" if item == "flour" else "whole"),) if item else ()


def after(scene: Scene, step: Step) -> Scene:
    """The scene after a step."""
    name = step.vessel
    vessel = scene[name]
    if step.act in ("cut", "peel") and step.item:
        others = tuple(portion for portion in vessel.top if portion.item != step.item)[-2:]
        done = Portion(step.item, "cut" if step.act == "cut" else "peeled")
        return scene.with_vessel(name, replace(vessel, top=(*others, done)))
    if step.act == "move":
        return _moved(scene, step)
    if step.item:
        scene, seasoning = _taken_up(scene, step)
        vessel = scene[name]
        if step.item == "chocolate" and name in HOT:
            return scene.with_vessel(name, _acted_on(_with_more(vessel, Portion("chocolate", "cut")), "melt"))
        return scene.with_vessel(name, _with_more(vessel, Portion(step.item, step.form), *seasoning))
    acted = _acted_on(vessel.refilled(), step.act)
    return scene.with_vessel(name, acted.cooked_to(0.5) if name in HOT and step.act in MIXING else acted)


def _with_more(vessel: Vessel, *portions: Portion) -> Vessel:
    return replace(vessel, top=_most((*vessel.top, *portions)), covered=False)


def _most(portions: tuple[Portion, ...]) -> tuple[Portion, ...]:
    """As many as a vessel shows; the older of two equal portions goes first, so that no ingredient disappears."""
    while len(portions) > MOST_ON_TOP:
        names = [(p.item, p.form) for p in portions]
        gone = next((at for at, name in enumerate(names) if name in names[at + 1 :]), 0)
        portions = portions[:gone] + portions[gone + 1 :]
    return portions


def _acted_on(vessel: Vessel, act: str) -> Vessel:
    """After an act on the contents of a vessel."""
    if act == "knead":  # the rest stays on the board
        dough = tuple(p for p in vessel.portions if p.form in ("powder", "smooth"))
        kneaded = _distinct(replace(p, form="smooth") for p in dough)
        return replace(vessel, mixed=kneaded, top=tuple(p for p in vessel.top if p not in dough), stain=())
    if act in (*MIXING, "melt"):
        mixed = vessel.portions if act == "stir" else tuple(replace(p, form="smooth") for p in vessel.portions)
        return replace(vessel, mixed=_distinct(mixed), top=(), stain=())
    if act == "cut":
        return replace(vessel, top=tuple(replace(p, form="cut") for p in vessel.top))
    if act == "cook":
        return vessel.cooked_to(1.0)
    if act == "flip":
        return vessel.cooked_to(0.7)
    if act == "bake":
        return replace(vessel.cooked_to(1.0), in_oven=True)
    if act == "cover":
        return replace(vessel, covered=True)
    raise ValueError(f"no such act: {act}")


def _moved(scene: Scene, step: Step) -> Scene:
    source = scene[step.source].refilled()
    mixed, top = source.mixed, source.top
    emptied = Vessel(stain=_distinct(source.portions))
    if step.source == "board":  # the dough goes, the rest stays
        emptied, top = Vessel(top=top, stain=_distinct(mixed)), ()
    if step.vessel == "plate":  # nobody plates the cooking water
        mixed, top = _drained(mixed), _drained(top)
    # A second batch replaces the first and leaves the rest.
    again = {portion.item for portion in (*mixed, *top)}
    target = scene[step.vessel]
    filled = replace(
        target,
        mixed=_distinct((*(p for p in target.mixed if p.item not in again), *mixed)),
        top=_most((*(p for p in target.top if p.item not in again), *top)),
        stain=(),
    )
    return scene.with_vessel(step.source, emptied).with_vessel(step.vessel, filled)


def _drained(portions: tuple[Portion, ...]) -> tuple[Portion, ...]:
    return tuple(p for p in portions if p.form != "poured" or p.item not in ("water", "oil", "butter"))


def _taken_up(scene: Scene, step: Step) -> tuple[Scene, tuple[Portion, ...]]:
    """What goes into a vessel leaves the place where it was prepared, together with anything put on it there."""
    for name, vessel in scene.vessels:
        if name in ("board", "bowl") and name != step.vessel and any(p.item == step.item for p in vessel.top):
            along = tuple(p for p in vessel.top if name == "board" and p.form in ("spread", "powder"))
            left = tuple(p for p in vessel.top if p.item != step.item and p not in along)
            return scene.with_vessel(name, replace(vessel, top=left)), along
    return scene, ()


def during(before: Scene, step: Step, progress: float) -> Scene:
    """Within a step: what is added arrives half way, what is cooked changes gradually."""
    if step.act in ("cook", "bake", "flip") and not step.item:
        vessel = before[step.vessel].refilled()
        degree = progress * (0.7 if step.act == "flip" else 1.0)
        return before.with_vessel(step.vessel, vessel.cooked_to(degree))
    if not step.item and step.act != "move":
        before = before.with_vessel(step.vessel, before[step.vessel].refilled())
    return before if progress < 0.5 else after(before, step)


class World:
    """The scene over the steps of a video, in whatever order they are shown.

    Steps that a shown step requires but that were not shown count as done off camera.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.scene = laid_out(recipe)
        self.done: set[int] = set()

    def prepare(self, step: int) -> Scene:
        """Do off camera what a step requires; returns the scene it starts from."""
        for earlier in sorted(needs(self._recipe)[step] - self.done):
            self.show(earlier)
        self._lay_out_again(self._recipe.steps[step])
        return self.scene

    def _lay_out_again(self, step: Step) -> None:
        """Put back what was laid out at first and has since been moved, to be seasoned, spread or kneaded again."""
        for name, item in self._recipe.laid_out:
            gone = all(portion.item != item for portion in self.scene[name].portions)
            if name == step.vessel and step.act in ("sprinkle", "spread", "knead") and gone:
                vessel = self.scene[name]
                self.scene = self.scene.with_vessel(name, replace(vessel, top=(*_lying(item), *vessel.top)))

    def show(self, step: int) -> Scene:
        """Do a prepared step; returns the scene it leaves."""
        self.done.add(step)
        self.scene = after(self.scene, self._recipe.steps[step])
        return self.scene
