"""Only the progress of the recipe reveals the time in a kitchen video. The benchmark itself takes more videos."""

import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest

from benchmarks.validity.leaks import Filmed, artefacts, coarse, decode, distractor_pairs, neighbouring_pairs
from mmcc.kitchen.drawing.painter import Painter
from mmcc.kitchen.plan import KitchenSettings, plan, script_of

pytestmark = pytest.mark.slow  # draws kitchens that are wrong on purpose


def test_probes_find_nothing_and_the_oracle_does():
    command = [sys.executable, "-m", "benchmarks.validity.leaks", "--videos", "150", "--size", "48", "--fps", "1"]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok") == 9


@pytest.fixture(scope="module")
def drawn():
    """Twenty videos as drawn, not encoded: small frames, one per second."""
    settings = KitchenSettings(videos=20, seed=1)
    scripts = [script_of(each, settings) for each in plan(settings)]
    return [Filmed(script, np.stack(list(Painter(script, 32).frames(1.0))), 1.0) for script in scripts]


def test_a_slow_drift_of_light_would_be_found(drawn):
    """Sixteen grey levels from the first frame to the last: hardly visible, but a model would exploit it."""
    ramps = [np.linspace(-8, 8, len(film.frames))[:, None, None, None] for film in drawn]
    drifting = [
        Filmed(film.script, (film.frames + ramp).clip(0, 255).astype(np.uint8), 1.0)
        for film, ramp in zip(drawn, ramps, strict=True)
    ]
    assert distractor_pairs(drifting) > 56


def test_a_codec_that_predicts_frames_would_be_found(drawn, tmp_path):
    """The same frames from an encoder that predicts frames from earlier ones, as most do."""
    films = []
    for number, film in enumerate(drawn):
        path = tmp_path / f"{number}.mp4"
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=1, options={"preset": "ultrafast", "qp": "28", "g": "16"})
            stream.width = stream.height = 32
            for frame in film.frames:
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
            container.mux(stream.encode(None))
        films.append(Filmed(film.script, decode(path), 1.0))
    assert neighbouring_pairs(films) > 56


def test_a_coarse_view_is_the_mean_of_blocks():
    frame = np.zeros((1, 4, 4, 3), np.uint8)
    frame[0, :2, 2:] = [8, 16, 24]
    frame[0, 0, 0] = 4
    assert coarse(frame, side=2).tolist() == [[1, 1, 1, 8, 16, 24, 0, 0, 0, 0, 0, 0]]


def test_artefacts_see_blocks_and_brightness():
    flat = np.full((2, 16, 16, 3), 100, np.uint8)
    blocky = flat.copy()
    blocky[1, :, 8:] = 120
    at_border, everywhere, _, brightness, _, change, still, parity = artefacts(blocky)[1]
    assert (at_border, brightness, change, still, parity) == (10, 110, 10, 10, 1)
    assert everywhere == pytest.approx(20 / 15 / 2)
    assert not artefacts(flat)[:, [0, 1, 5, 6]].any()
