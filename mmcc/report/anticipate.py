"""What comes next, for people: a table in the terminal, a card on a page."""

from __future__ import annotations

from collections.abc import Collection

from mmcc.report.gallery import Thumbnail, card, row
from mmcc.report.html import Markup, element, quoted
from mmcc.text import clock, one_line
from mmcc.tools.anticipate import RankedSteps
from mmcc.tools.queries import frame_at

SHOWN = 5  # steps on a card
_LONGEST = 60  # characters of a step in the table
_NONE = "none of these"


def render(found: RankedSteps, top: int | None = None) -> str:
    """A table with bars; steps of which the model does not know every word stand apart."""
    clip = found.clip
    span = f", {clock(clip.start)} to {clock(clip.end)}" if clip.start is not None and clip.end is not None else ""
    shown = found.steps[:top]
    width = min(max(len(text) for text, _ in [*shown, (_NONE, 0.0)]), _LONGEST)
    known = [_line(text, share, width) for text, share in shown if text not in found.unknown]
    partly = [
        f"{_line(text, share, width)}  (unknown: {one_line(', '.join(found.unknown[text]))})"
        for text, share in shown
        if text in found.unknown
    ]
    left = len(found.steps) - len(shown)
    lines = [f"Yet to come after {one_line(clip.name)}{span}:", "", *known]
    lines += ["", "  Understood only in part, so not to be compared with the others:", *partly] if partly else []
    lines += [f"           ({left} less probable ones)"] if left else []
    lines += ["", _line(_NONE, found.none, width), ""]
    lines.append("Each is the probability that the step comes later; several may, so they do not add up to 100 %.")
    if found.calibration_error is not None:
        error = 100 * found.calibration_error
        lines.append(f"On held-out videos such probabilities were off by {error:.1f} points on average.")
    elif not found.calibrated:
        why = " for such footage" if found.clip.strange else ""
        lines.append(f"They are not calibrated{why}: read them as a ranking, not as probabilities.")
    return "\n".join(lines)


def _line(text: str, probability: float, width: int) -> str:
    bar = "█" * round(30 * probability)
    return f"  {100 * probability:5.1f} %  {one_line(text)[:_LONGEST]:<{width}}  {bar}"


def anticipation_card(found: RankedSteps, shown: str, later: Collection[str], note: str = "") -> Markup:
    """A clip, the step it shows, and the most probable next ones; those in `later` do come and are marked."""
    clip = found.clip
    assert clip.footage is not None and clip.start is not None and clip.end is not None, "a span of a video"
    middle = (clip.start + clip.end) / 2
    tile = Thumbnail(clip.footage.still(frame_at(clip.footage, middle)), clock(middle), shown)
    items = [
        element(
            "li",
            quoted("span", text),
            " ",
            element("span", f"{100 * probability:.0f}\N{NO-BREAK SPACE}%", class_="faint"),
            *([element("span", " ✓", class_="good")] if text in later else []),
        )
        for text, probability in found.steps[:SHOWN]
    ]
    beside = element("div", row([tile]), element("ol", *items), class_="beside")
    return card(clip.name, beside, note=note)
