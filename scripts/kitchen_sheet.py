"""Draws the contact sheet of docs/kitchen.md: a video per row, its steps in order, then frames that show none.

python scripts/kitchen_sheet.py docs/kitchen.jpg
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mmcc.kitchen.drawing.painter import Painter
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.script import Moment, Script
from mmcc.kitchen.shots import DISTRACTORS, WORK

TILE, CAPTION, COLUMNS, ROWS = 144, 18, 8, 8
STEPS, RATE = 6, 2.0


def main(out: Path) -> None:
    settings = KitchenSettings(videos=1200, size=TILE)
    sheet = Image.new("RGB", (COLUMNS * TILE, ROWS * (TILE + CAPTION)), "white")
    rows = 0
    seen: set[str] = set()
    for planned in plan(settings):
        if planned.recipe.id in seen:
            continue
        script = script_of(planned, settings)
        chosen = steps_in_order(script) + without_a_step(script)
        if len(chosen) < COLUMNS:
            continue
        seen.add(planned.recipe.id)
        draw_row(sheet, rows * (TILE + CAPTION), script, chosen)
        rows += 1
        if rows == ROWS:
            break
    sheet.save(out, quality=76)


def steps_in_order(script: Script) -> list[Moment]:
    """Of the first so many different steps, a moment in view after the half: what is added has arrived."""
    found: dict[str, Moment] = {}
    for moment in script.moments(RATE):
        if moment.acting is not None and 0.5 < moment.progress < 0.9:
            found.setdefault(moment.acting.text, moment)
    return list(found.values())[:STEPS] if len(found) >= STEPS else []


def without_a_step(script: Script) -> list[Moment]:
    found: dict[str, Moment] = {}
    for moment in script.moments(RATE):
        if moment.shot.kind in DISTRACTORS and moment.time > moment.shot.start + 1:
            found.setdefault(moment.shot.kind, moment)
    return list(found.values())[: COLUMNS - STEPS]


def draw_row(sheet: Image.Image, top: int, script: Script, chosen: list[Moment]) -> None:
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(11)
    wanted = {moment.time: column for column, moment in enumerate(chosen)}
    for moment, frame in zip(script.moments(RATE), Painter(script, TILE).frames(RATE), strict=True):
        if moment.time not in wanted:
            continue
        left = wanted[moment.time] * TILE
        sheet.paste(Image.fromarray(frame), (left, top))
        text = moment.acting.text if moment.shot.kind == WORK and moment.acting else f"({moment.shot.kind})"
        pen.text((left + 3, top + TILE + 2), text, fill="black", font=font)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
