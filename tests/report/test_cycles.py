"""Cycles as people see them."""

from dataclasses import replace

from PIL import Image

from mmcc.report.cycles import cycle_card, draw, render, verdict
from mmcc.tools.cache import Cache
from mmcc.tools.cycles import find_cycles
from tests.tools.made_up_cycles import made_up


def test_a_cycle_in_words(kitchen):
    video = made_up(kitchen, [3, 0, 2, 3], [0, 3, 2, 3], [0.0] * 4)
    assert verdict(video.from_time(1.0)) == "goes 12 s ahead and returns"
    assert verdict(video.from_time(4.0)) == "goes 4 s back and does not return: it ends 8 s after its start"
    assert verdict(video.from_time(9.0)) == "stays in place and returns"
    smuggled = replace(video.from_time(0.0), returns_hard=False)
    assert verdict(smuggled).endswith("not from the one future node alone")


def test_text_sheet_and_card_show_every_station(kitchen, tmp_path):
    found = find_cycles(kitchen.model(), kitchen.footage(kitchen.videos[0]), Cache(kitchen.cache))
    walk = found.from_time(30.0)[0]
    text, card = render([walk], found), cycle_card(walk)
    count = found.videos[0].count
    assert text.startswith(f"{kitchen.videos[0].name}: {count.returned} of {count.cycles} cycles return")
    for name in ("counterpart", "future_counterpart"):
        assert f"“{walk.stations[name].text}”" in text and walk.stations[name].text.split()[0] in card
    assert card.count("<figure") == 5 and card.count("<rect") == sum(len(edge.times) for edge in walk.edges.values())
    assert ("✓" if walk.returns else "✗") in card and verdict(walk) in card
    draw(tmp_path / "sheet.png", "Cycles", [walk])
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width > 5 * 144


def test_without_narration_there_are_three_stations(kitchen):
    found = find_cycles(kitchen.model(), kitchen.footage(kitchen.videos[2]), Cache(kitchen.cache))
    assert cycle_card(found.from_time(5.0)[0]).count("<figure") == 3
