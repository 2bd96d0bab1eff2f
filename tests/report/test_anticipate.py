"""What comes next, as people see it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from mmcc.report.anticipate import anticipation_card, render
from mmcc.tools.anticipate import Clip, RankedSteps

STEPS = [("fry \x1b[31m egg", 0.62), ("crack egg", 0.31), ("serve <egg>", 0.0404)]


def ranked(calibration=None, footage=None) -> RankedSteps:
    return RankedSteps(Clip("egg.mp4", None, 60.0, 70.0, footage=footage), STEPS, 0.2, calibration, [], [])


def test_the_table_ends_with_none_of_these():
    lines = render(ranked()).splitlines()
    assert lines[0] == "Yet to come after egg.mp4, 1:00 to 1:10:"
    assert lines[2].split()[:2] == ["62.0", "%"] and lines[2].endswith("█" * 19) and "\x1b" not in lines[2]
    assert [line.split("%")[0].strip() for line in lines[2:5]] == ["62.0", "31.0", "4.0"]
    assert "20.0 %  none of these" in lines[6] and "not calibrated" in lines[-1]


def test_what_is_left_out_is_counted():
    text = render(ranked(SimpleNamespace(figures={"ece/steps/after": 0.012})), 1)
    assert "(2 less probable ones)" in text and "crack egg" not in text
    assert "off by 1.2 points" in text and "not calibrated" not in text


def test_a_card_marks_the_steps_that_do_come():
    video = SimpleNamespace(times=np.arange(100.0), duration=100.0)
    footage = SimpleNamespace(name="egg.mp4", video=video, still=lambda frame: np.full((8, 8, 3), frame, np.uint8))
    text = anticipation_card(ranked(footage=footage), "heat pan", {"crack egg", "serve <egg>"}, "a note")
    assert text.count("✓") == 2 and text.count("<li>") == 3 and "serve &lt;egg&gt;" in text
    assert "heat pan" in text and "1:05" in text and "62\N{NO-BREAK SPACE}%" in text and "a note" in text


def test_steps_understood_in_part_stand_apart():
    partly = replace(ranked(), unknown={"serve <egg>": ["<egg>", "wok"]})
    lines = render(partly).splitlines()
    apart = lines.index("  Understood only in part, so not to be compared with the others:")
    assert lines[apart - 2].endswith("█" * 9) and lines[apart - 1] == ""
    assert "serve <egg>" in lines[apart + 1] and lines[apart + 1].endswith("(unknown: <egg>, wok)")
    assert partly.to_json()["steps"][2]["unknown"] == ["<egg>", "wok"] and partly.to_json()["steps"][0]["unknown"] == []


def test_no_calibration_is_claimed_for_a_clip_unlike_the_training_data():
    measured = ranked(SimpleNamespace(figures={"ece/steps/after": 0.012}))
    strange = replace(measured, clip=replace(measured.clip, strange=True))
    assert (measured.to_json()["calibrated"], measured.to_json()["calibration_error"]) == (True, 0.012)
    assert (strange.to_json()["calibrated"], strange.to_json()["calibration_error"]) == (False, None)
    assert "points" not in render(strange) and "not calibrated for such footage" in render(strange)
