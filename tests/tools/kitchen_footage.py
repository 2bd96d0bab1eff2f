"""Fixtures: two kitchen videos as files with captions beside them, and a small model that has seen such ones."""

import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from mmcc.cli.main import main
from mmcc.tools.cache import Cache
from mmcc.tools.footage import Footage, open_footage
from mmcc.tools.model import ToolModel, open_model

SMALL = {"model.dims": 16, "model.frame_encoder.width": 4, "train.steps": 2, "train.batch_size": 2, "train.workers": 0}


class Kitchen(NamedTuple):
    corpus: Path
    run: Path  # of MMCC+
    videos: list[Path]  # the first two with captions; the third has none
    cache: Path

    def model(self) -> ToolModel:
        return open_model(str(self.run))

    def footage(self, *videos: Path) -> list[Footage]:
        return open_footage(self.model(), videos or self.videos[:2], Cache(self.cache)).footage


def train(corpus: Path, run: Path, **more: object) -> Path:
    options = [word for name, value in {**SMALL, **more}.items() for word in (f"--{name}", str(value))]
    assert main(["train", str(corpus), "-o", str(run), *options]) == 0
    return run


@cache
def made(folder: Path) -> Kitchen:
    """Once for all modules: it takes seconds."""
    place = folder / "kitchen_footage"
    assert main(["kitchen", str(place / "kitchen"), "--videos", "8", "--size", "32", "--fps", "1"]) == 0
    assert main(["ingest", str(place / "kitchen"), "-o", str(place / "corpus"), "--size", "32"]) == 0
    videos = []
    (place / "videos").mkdir()
    for path in sorted((place / "kitchen" / "videos").iterdir()):
        captions = place / "kitchen" / "captions" / f"{path.stem}.en.vtt"
        if captions.exists() or len(videos) == 2:
            videos.append(Path(shutil.copy(path, place / "videos")))
            if len(videos) == 3:
                break
            shutil.copy(captions, place / "videos")
    run = train(place / "corpus", place / "run")
    return Kitchen(place / "corpus", run, videos, place / "cache")


@pytest.fixture
def kitchen(tmp_path_factory, monkeypatch) -> Kitchen:
    found = made(tmp_path_factory.getbasetemp())
    monkeypatch.setenv("MMCC_CACHE", str(found.cache))
    return found
