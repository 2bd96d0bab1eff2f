"""Draw the contact sheet of docs/kitchen.md: one video per row, its steps in order, then frames without a step.

python scripts/kitchen_sheet.py docs/kitchen.jpg
"""

from __future__ import annotations

import sys
from pathlib import Path

from mmcc.kitchen.drawing.painter import Painter
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.script import Moment, Script
from mmcc.kitchen.shots import DISTRACTORS, WORK
from mmcc.report.sheets import Tile, save, sheet_image

TILE, COLUMNS, ROWS = 176, 8, 8
STEPS, RATE = 6, 2.0


def main(out: Path) -> None:
    settings = KitchenSettings(videos=1200, size=TILE)
    rows: list[list[Tile]] = []
    seen: set[str] = set()
    for planned in plan(settings):
        if planned.recipe.id in seen:
            continue
        script = script_of(planned, settings)
        chosen = steps_in_order(script) + without_a_step(script)
        if len(chosen) < COLUMNS:
            continue
        seen.add(planned.recipe.id)
        rows.append(tiles(script, chosen))
        if len(rows) == ROWS:
            break
    save(sheet_image("", rows), out, quality=64)


def steps_in_order(script: Script) -> list[Moment]:
    """Of each of the first few steps, a moment past its middle, when what is added has arrived."""
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


def tiles(script: Script, chosen: list[Moment]) -> list[Tile]:
    """The chosen moments in their order, each with its step or the kind of shot."""
    wanted = {moment.time for moment in chosen}
    frames = {
        moment.time: frame
        for moment, frame in zip(script.moments(RATE), Painter(script, TILE).frames(RATE), strict=True)
        if moment.time in wanted
    }
    return [Tile(frames[moment.time], caption=caption(moment)) for moment in chosen]


def caption(moment: Moment) -> str:
    return moment.acting.text if moment.shot.kind == WORK and moment.acting else f"({moment.shot.kind})"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
