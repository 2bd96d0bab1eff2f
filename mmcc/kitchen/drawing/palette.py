"""The colours of the ingredients, and how strongly each colours a mix."""

from __future__ import annotations

from dataclasses import dataclass

from mmcc.kitchen.drawing.look import Rgb
from mmcc.kitchen.drawing.pen import blend


@dataclass(frozen=True)
class Tone:
    """An ingredient's colours."""

    inside: Rgb  # cut open, poured or powdered
    skin: Rgb
    cooked: Rgb  # where the inside goes in the heat
    strength: float = 1.0  # its weight in the colour of a mix


TONES = {
    "milk": Tone((246, 244, 236), (246, 244, 236), (240, 228, 200)),
    "water": Tone((172, 206, 220), (172, 206, 220), (172, 206, 220), 0.3),
    "cream": Tone((252, 244, 222), (252, 244, 222), (244, 222, 172)),
    "oil": Tone((226, 186, 52), (226, 186, 52), (206, 156, 44), 0.4),
    "coffee": Tone((66, 36, 18), (66, 36, 18), (50, 26, 14), 4.0),
    "flour": Tone((248, 242, 228), (248, 242, 228), (204, 138, 66)),
    "sugar": Tone((252, 250, 250), (252, 250, 250), (206, 142, 62), 0.3),
    "salt": Tone((244, 246, 250), (244, 246, 250), (244, 246, 250), 0.1),
    "spice": Tone((196, 80, 22), (196, 80, 22), (164, 66, 22), 3.0),
    "egg": Tone((252, 200, 60), (222, 172, 132), (232, 178, 66), 1.2),
    "butter": Tone((252, 222, 104), (252, 222, 104), (226, 168, 60), 0.8),
    "lemon": Tone((248, 226, 90), (250, 208, 30), (226, 190, 70), 0.8),
    "strawberry": Tone((240, 106, 104), (214, 28, 40), (176, 30, 44), 2.0),
    "banana": Tone((252, 236, 178), (248, 208, 52), (222, 176, 100), 1.2),
    "apple": Tone((250, 238, 196), (206, 38, 40), (220, 166, 84)),
    "tomato": Tone((228, 64, 40), (216, 38, 28), (196, 52, 22), 3.0),
    "onion": Tone((250, 244, 240), (202, 132, 70), (222, 178, 106), 0.5),
    "carrot": Tone((246, 140, 36), (238, 120, 24), (222, 116, 30), 1.5),
    "potato": Tone((250, 226, 142), (182, 132, 82), (246, 214, 118), 1.5),
    "cucumber": Tone((206, 232, 160), (52, 122, 50), (160, 176, 90)),
    "lettuce": Tone((134, 196, 66), (96, 168, 48), (98, 128, 48)),
    "mushroom": Tone((240, 226, 202), (176, 132, 94), (164, 112, 66)),
    "cheese": Tone((254, 202, 60), (242, 178, 40), (240, 166, 40)),
    "bread": Tone((250, 226, 176), (184, 116, 56), (206, 136, 62)),
    "rice": Tone((250, 248, 238), (250, 248, 238), (240, 218, 158)),
    "pasta": Tone((246, 206, 98), (246, 206, 98), (250, 224, 146)),
    "fish": Tone((244, 160, 132), (132, 160, 176), (248, 218, 184)),
    "steak": Tone((196, 52, 52), (180, 40, 44), (112, 66, 42), 2.0),
    "chocolate": Tone((92, 52, 30), (84, 46, 26), (78, 42, 24), 4.0),
    "ice": Tone((216, 236, 246), (216, 236, 246), (190, 216, 228), 0.15),
    "herbs": Tone((66, 150, 52), (66, 150, 52), (70, 116, 48)),
}


def inside(item: str, cooked: float = 0.0) -> Rgb:
    tone = TONES[item]
    return blend(tone.inside, tone.cooked, cooked)


def skin(item: str, cooked: float = 0.0) -> Rgb:
    tone = TONES[item]
    return blend(tone.skin, blend(tone.skin, tone.cooked, 0.6), cooked)
