"""Transitions as people see them."""

from types import SimpleNamespace

import numpy as np
import pytest

from mmcc.report.transitions import render, times_chance, transition_card
from mmcc.tools.transitions import Change


def stand_in(name="soup.mp4", times=(0.0, 5.0, 65.0), said=("peel", "", "mash")):
    """Footage of which only times and words are looked at."""
    texts = dict(zip(times, said, strict=True))
    return SimpleNamespace(name=name, key=name, video=SimpleNamespace(times=np.array(times)), said_at=texts.get)


def change(footage, u, v, score=2.0):
    return Change(footage, u, v, -10.0, score)


def test_the_table_is_aligned_and_fits():
    footage = stand_in(said=("peel the potatoes and " * 5, "", "mash \x1b[31m them"))
    text = render([change(footage, 0, 2, 3.21), change(footage, 1, 2, 0.5)], 100)
    head, first, second = text.splitlines()
    assert all(len(line) <= 100 for line in text.splitlines())
    assert first.split()[:8] == ["1", "0:00", "→", "1:05", "65", "s", "1,600", "peel"]
    assert "…" in first and "mash" in first and "\x1b" not in first
    assert second.split()[6:8] == ["3.2", "–"]  # nothing is said
    assert head.index("narration before") == first.index("peel") == second.index("–")
    several = render([change(footage, 0, 2), change(stand_in("salad.mp4"), 0, 2)], 100, several=True)
    assert "soup.mp4" in several and "salad.mp4" in several and "soup.mp4" not in text


@pytest.mark.parametrize(
    ("score", "text"),
    [(0, "1.0"), (-1, "0.10"), (0.5, "3.2"), (1.5, "32"), (3.2149, "1,600"), (6.5, "3 million"), (12.2, "10^12")],
)
def test_times_chance(score, text):
    assert times_chance(score) == text


def test_a_card_says_how_far_apart_and_how_likely():
    footage = stand_in()
    footage.still = lambda frame: np.full((8, 8, 3), 40 * frame, np.uint8)
    text = transition_card(change(footage, 0, 2, 3.21))
    assert "soup.mp4: 65 s later" in text and "1,600 × chance" in text and text.count("<img") == 2
    assert text.index(">0:00") < text.index(">peel<") < text.index(">1:05") < text.index(">mash<")
    assert "soup.mp4: 60 s earlier" in transition_card(change(footage, 2, 1))
