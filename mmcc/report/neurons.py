"""Neurons for people: a table in the terminal, a page with pictures and Grad-CAM maps."""

from __future__ import annotations

from mmcc.report.gallery import Thumbnail, card, heated, row
from mmcc.report.html import Markup, element
from mmcc.report.page import Section, warning, write_page
from mmcc.text import clock
from mmcc.tools.neurons import AMONG, FoundNeurons

AT_CHANCE = "no better than chance"


def render(found: FoundNeurons) -> str:
    """A table with a line per neuron."""
    lines = [f"{'kind':<5} {'word':<14} neuron      ρ  chance  activated by"]
    for each in found.neurons:
        where = f"{each.moments[0].video} {clock(each.moments[0].time)}" if each.moments else ""
        lines.append(
            f"{each.kind:<5} {each.word:<14} {each.neuron:>6} {each.correlation:>6.2f} {each.chance:>7.2f}  "
            f"{where if each.above_chance else AT_CHANCE}"
        )
    return "\n".join(lines)


def neurons_page(found: FoundNeurons, model: str, corpus: str) -> str:
    """A page of its own."""
    lead = [f"The neurons of {model} that correlate best with a word, over {corpus}.", *map(warning, found.warnings)]
    return write_page("What single neurons respond to", lead, [neurons_section(found)])


def neurons_section(found: FoundNeurons) -> Section:
    """A card per neuron: its pictures, and below each where the neuron looks."""
    lead = (
        "A neuron is one number of a frame’s embedding. These correlate best with a word said at the same moment "
        "(ρ: Spearman’s correlation; chance: the best that any neuron reaches with that word when frames and words "
        f"come from different moments). The pictures are drawn at random from the {AMONG} that activate the neuron "
        "most (from the top 0.01 % where that is more), from different videos where possible, whatever is said in "
        "them; below each, in red, the part that does so (Grad-CAM)."
    )
    shown = [_card(found, at) for at in range(len(found.neurons))]
    return Section("Neurons", (element("p", lead, class_="note"), *shown))


def _card(found: FoundNeurons, at: int) -> Markup:
    neuron, pictures = found.neurons[at], []
    for number, moment in enumerate(neuron.moments):
        pixels, seen = (found.arrays.get(f"{what} {at} {number}") for what in ("picture", "map"))
        below = None if pixels is None or seen is None else heated(pixels, seen)
        said = moment.text or (moment.video if pixels is None else "")
        pictures.append(Thumbnail(pixels, clock(moment.time), said, below=below))
    note = f"neuron {neuron.neuron}, ρ = {neuron.correlation:.2f} (chance {neuron.chance:.2f})"
    if not neuron.above_chance:  # pictures would suggest that it stands for something
        return card(f"“{neuron.word}” ({neuron.kind}): {AT_CHANCE}", note=note)
    return card(f"“{neuron.word}” ({neuron.kind})", row(pictures), note=note)
