"""What is particular to one video: its kitchen, its cook, its light and its camera. None of it changes over time."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from mmcc.kitchen.recipes import VESSELS
from mmcc.kitchen.rng import Rng

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Look:
    """Drawn once per video."""

    seed: str  # name of the stream from which details (grain, spots) are drawn
    tilt: float  # height over width of a round thing on the counter, 0.4 to 0.85: how high the camera is
    counter: Rgb
    counter_pattern: str
    wall: Rgb
    wall_pattern: str
    wood: Rgb  # board, spoons, handles
    cabinet: Rgb
    accent: Rgb  # towels, cushions, title cards
    vessels: tuple[tuple[str, Rgb], ...]  # the colour of each kind
    skin: Rgb
    sleeve: Rgb
    apron: Rgb
    hair: Rgb
    hair_style: str
    beard: str
    glasses: bool
    left_handed: bool
    gains: tuple[float, float, float]  # white balance
    brightness: float
    contrast: float
    vignette: float
    noise: float  # of the sensor, in grey levels
    blur: float  # of the lens, in pixels of a 96-pixel frame

    def colour(self, vessel: str) -> Rgb:
        return dict(self.vessels)[vessel]


def mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    """From one colour (share 0) to the other (share 1)."""
    r, g, b = (floor(a + (z - a) * share + 0.5) for a, z in zip(one, other, strict=True))
    return r, g, b


def shade(colour: Rgb, by: float) -> Rgb:
    """Towards white by a share, or towards black where it is negative."""
    return mix(colour, (255, 255, 255), by) if by >= 0 else mix(colour, (0, 0, 0), -by)


WOODS: tuple[Rgb, ...] = (
    (193, 146, 96),
    (160, 112, 70),
    (214, 178, 130),
    (120, 82, 52),
    (178, 122, 84),
    (226, 200, 160),
    (92, 64, 46),
)
COUNTERS: dict[str, tuple[Rgb, ...]] = {
    "planks": WOODS,
    "butcher": WOODS[:6],
    "marble": ((236, 233, 228), (224, 226, 226), (238, 228, 214), (70, 74, 78)),
    "stone": ((62, 64, 68), (96, 98, 100), (196, 192, 184), (168, 150, 134), (84, 98, 96), (40, 44, 52)),
    "steel": ((176, 182, 186), (150, 156, 162), (196, 198, 198)),
    "cloth": ((198, 64, 58), (70, 110, 170), (92, 140, 96), (214, 164, 70), (150, 98, 150), (110, 120, 128)),
    "stripes": ((176, 84, 70), (88, 128, 160), (140, 150, 110), (210, 170, 96)),
    "plain": ((240, 238, 232), (218, 206, 188), (150, 176, 170), (188, 120, 96), (84, 92, 112)),
}
WALLS: dict[str, tuple[Rgb, ...]] = {
    "square tiles": (
        (232, 230, 222),
        (168, 198, 204),
        (150, 182, 150),
        (230, 206, 150),
        (86, 120, 140),
        (206, 150, 130),
    ),
    "metro tiles": ((240, 240, 236), (198, 206, 200), (110, 140, 130), (60, 72, 84), (222, 210, 190), (180, 196, 214)),
    "mosaic": ((130, 170, 180), (200, 180, 150), (110, 130, 160), (170, 180, 140), (214, 196, 190)),
    "bricks": ((168, 88, 66), (206, 196, 184), (140, 96, 80), (190, 130, 100)),
    "plain": ((226, 216, 196), (188, 204, 196), (206, 184, 174), (150, 166, 182), (232, 220, 168), (120, 138, 122)),
    "stripes": ((222, 212, 190), (196, 210, 216), (216, 190, 186), (190, 204, 172)),
    "boards": ((236, 232, 222), (176, 196, 190), (190, 150, 108), (150, 164, 176), (212, 196, 166)),
}
CHINA: tuple[Rgb, ...] = (
    (240, 238, 232),
    (226, 222, 212),
    (186, 208, 222),
    (222, 190, 170),
    (120, 150, 160),
    (230, 214, 150),
    (150, 176, 140),
    (196, 96, 80),
    (86, 104, 140),
)
METALS: tuple[Rgb, ...] = ((58, 60, 64), (44, 46, 50), (150, 154, 158), (176, 178, 180), (170, 70, 58), (70, 96, 120))
FABRICS: tuple[Rgb, ...] = (
    (70, 90, 140),
    (176, 62, 60),
    (236, 232, 224),
    (60, 66, 76),
    (96, 140, 110),
    (222, 168, 72),
    (140, 96, 140),
    (120, 160, 190),
    (206, 130, 120),
    (110, 84, 64),
    (52, 110, 116),
    (226, 200, 190),
)
SKINS: tuple[Rgb, ...] = (
    (240, 204, 178),
    (236, 192, 160),
    (224, 172, 138),
    (204, 150, 114),
    (178, 122, 86),
    (146, 96, 66),
    (112, 72, 50),
    (86, 56, 42),
)
HAIRS: tuple[Rgb, ...] = (
    (38, 28, 24),
    (60, 40, 28),
    (96, 62, 38),
    (150, 100, 56),
    (206, 164, 98),
    (168, 84, 46),
    (168, 164, 160),
    (226, 222, 216),
)
HAIR_STYLES = ("short", "side", "long", "bob", "bun", "curly", "ponytail", "bald", "scarf", "hat")


def draw_look(rng: Rng) -> Look:
    """A random kitchen."""
    place, cook, light = rng.child("place"), rng.child("cook"), rng.child("light")
    counter_pattern = place.weighted(
        {"planks": 3, "butcher": 2, "marble": 3, "stone": 3, "steel": 1.5, "cloth": 2, "stripes": 1, "plain": 1.5}
    )
    wall_pattern = place.pick(tuple(WALLS))
    hair_style = cook.pick(HAIR_STYLES)
    return Look(
        seed=rng.name,
        tilt=place.uniform(0.4, 0.85),
        counter=_varied(place, COUNTERS[counter_pattern]),
        counter_pattern=counter_pattern,
        wall=_varied(place, WALLS[wall_pattern]),
        wall_pattern=wall_pattern,
        wood=_varied(place, WOODS),
        cabinet=_varied(place, WOODS[:4] + CHINA),
        accent=_varied(place, FABRICS),
        vessels=tuple((kind, _vessel_colour(place.child(kind), kind)) for kind in VESSELS),
        skin=_varied(cook, SKINS, 5),
        sleeve=_varied(cook, FABRICS),
        apron=_varied(cook, FABRICS),
        hair=_varied(cook, HAIRS, 8),
        hair_style=hair_style,
        beard=cook.weighted({"none": 5, "beard": 1, "moustache": 1})
        if hair_style in ("short", "bald", "hat")
        else "none",
        glasses=cook.chance(0.25),
        left_handed=cook.chance(0.12),
        gains=_white_balance(light),
        brightness=light.uniform(0.82, 1.06),
        contrast=light.uniform(0.85, 1.18),
        vignette=light.uniform(0.0, 0.3),
        noise=light.uniform(0.0, 6.0),
        blur=light.uniform(0.0, 0.9),
    )


def _varied(rng: Rng, colours: tuple[Rgb, ...], by: int = 12) -> Rgb:
    """One of the colours, not quite as it is written: lighter or darker rather than of another hue."""
    lighter = rng.integer(-by, by)
    r, g, b = (min(250, max(6, value + lighter + rng.integer(-by // 3, by // 3))) for value in rng.pick(colours))
    return r, g, b


def _vessel_colour(rng: Rng, kind: str) -> Rgb:
    if kind == "board":
        return _varied(rng, WOODS)
    if kind in ("pan", "pot", "tin"):
        return _varied(rng, METALS, 8)
    if kind in ("glass", "jar", "blender"):
        return _varied(rng, ((206, 222, 226), (214, 224, 214), (222, 222, 226)), 8)
    return _varied(rng, CHINA, 10)


def _white_balance(light: Rng) -> tuple[float, float, float]:
    """From warm tungsten to cold daylight; green stays within a few percent."""
    warm = light.uniform(-0.11, 0.15)
    return 1.0 + warm, 1.0 + light.uniform(-0.03, 0.03), 1.0 - warm
