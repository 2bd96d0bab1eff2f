"""Kitchen videos as files with captions beside them, and small models that have seen such ones."""

import shutil
from pathlib import Path
from typing import NamedTuple

from mmcc.cli.main import main
from mmcc.tools.cache import Cache
from mmcc.tools.footage import Footage, open_footage
from mmcc.tools.model import ToolModel, open_model
from tests.kitchens import KitchenFolder

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
    assert main(["train", str(corpus), "-o", str(run), "--anyway", *options]) == 0
    return run


def trained_on(drawn: KitchenFolder, place: Path) -> Kitchen:
    """Three of the videos in a folder of their own, and a run of two steps on the corpus."""
    videos = []
    (place / "videos").mkdir()
    for path in sorted((drawn.kitchen / "videos").iterdir()):
        captions = drawn.kitchen / "captions" / f"{path.stem}.en.vtt"
        if captions.exists() or len(videos) == 2:
            videos.append(Path(shutil.copy(path, place / "videos")))
            if len(videos) == 3:
                break
            shutil.copy(captions, place / "videos")
    return Kitchen(drawn.pictures, train(drawn.pictures, place / "run"), videos, place / "cache")
