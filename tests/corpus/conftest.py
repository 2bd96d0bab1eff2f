"""What tests of the corpus share."""

from pathlib import Path

import pytest

from tests.corpus.ingesting import SRT


@pytest.fixture
def folder(make_clip, tmp_path) -> Path:
    """Five narrated clips."""
    for number in range(5):
        make_clip(f"src/soup{number}.mp4", seconds=4 + number)
        (tmp_path / f"src/soup{number}.srt").write_text(SRT)
    return tmp_path / "src"
