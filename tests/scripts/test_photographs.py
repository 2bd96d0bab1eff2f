"""The looks of photographs, from a folder of frames."""

import numpy as np
import pytest
from PIL import Image

from benchmarks.validity.domain import is_chosen
from mmcc.errors import InputError
from scripts.photographs import measure


def test_only_the_chosen_half_is_measured(tmp_path):
    for number in range(12):
        folder = tmp_path / "frames" / f"video{number}"
        folder.mkdir(parents=True)
        colour = (200, 100, 50) if is_chosen(folder.name) else (0, 0, 255)
        Image.new("RGB", (80, 60), colour).save(folder / "1.png")
    found = measure(tmp_path / "frames")
    np.testing.assert_allclose(found.mean[:3] * 255, (200, 100, 50), atol=2)
    assert found.covariance.shape == (42, 42)


def test_a_folder_without_frames_is_named(tmp_path):
    with pytest.raises(InputError, match="no folder of frames"):
        measure(tmp_path / "frames")
