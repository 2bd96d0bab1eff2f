"""What comes next, for people: a table in the terminal, a card on a page."""

from __future__ import annotations

from collections.abc import Collection

from mmcc.report.gallery import Thumbnail, card, row
from mmcc.report.html import Markup, element
from mmcc.text import clock, one_line
from mmcc.tools.anticipate import RankedSteps
from mmcc.tools.queries import frame_at

SHOWN = 5  # steps on a card
_LONGEST = 60  # characters of a step in the table


def render(found: RankedSteps, top: int | None = None) -> str:
    """A table with bars."""
    clip = found.clip
    span = f", {clock(clip.start)} to {clock(clip.end)}" if clip.start is not None and clip.end is not None else ""
    lines = [f"Yet to come after {one_line(clip.name)}{span}:", ""]
    rows = [*found.steps[:top], ("none of these", found.none)]
    width = min(max(len(text) for text, _ in rows), _LONGEST)
    for place, (text, probability) in enumerate(rows):
        if place == len(rows) - 1:
            lines.append("")
        bar = "█" * round(30 * probability)
        lines.append(f"  {100 * probability:5.1f} %  {one_line(text)[:_LONGEST]:<{width}}  {bar}")
    left = len(found.steps) - len(rows) + 1
    if left > 0:
        lines.insert(-2, f"           ({left} less probable ones)")
    error = found.calibration.figures.get("ece/steps/after") if found.calibration else None
    lines += ["", "Each is the probability that the step comes later; several may, so they do not add up to 100 %."]
    if found.calibration is None:
        lines.append("They are not calibrated: read them as a ranking, not as probabilities.")
    if error is not None:
        lines.append(f"On held-out videos such probabilities were off by {100 * error:.1f} points on average.")
    return "\n".join(lines)


def anticipation_card(found: RankedSteps, shown: str, later: Collection[str], note: str = "") -> Markup:
    """A clip, the step it shows, and the most probable next ones; those in `later` do come and are marked."""
    clip = found.clip
    assert clip.footage is not None and clip.start is not None and clip.end is not None, "a span of a video"
    middle = (clip.start + clip.end) / 2
    tile = Thumbnail(clip.footage.still(frame_at(clip.footage, middle)), clock(middle), shown)
    items = [
        element(
            "li",
            f"{text} ",
            element("span", f"{100 * probability:.0f}\N{NO-BREAK SPACE}%", class_="faint"),
            *([element("span", " ✓", class_="good")] if text in later else []),
        )
        for text, probability in found.steps[:SHOWN]
    ]
    beside = element("div", row([tile]), element("ol", *items), class_="beside")
    return card(clip.name, beside, note=note)
