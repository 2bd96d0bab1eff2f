"""Unfamiliar footage: how often the kitchen model's tools warn about real pictures, and about its own world.

    python -m benchmarks.validity.domain [--real FOLDER] [--videos N] [--seed N]

For 1, 2, 4 and 8 pictures of one dish or video at a time. False alarms are counted on kitchen videos of another seed.
FOLDER has youcook2/, hdepic/, photos/ and clips/; of YouCook2 only the half that scripts/photographs.py leaves out is
used. Without FOLDER only false alarms are counted.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish, ingest, run_mmcc
from mmcc.corpus import Corpus
from mmcc.media.photos import find_photos, fitted, read_photo
from mmcc.media.video import Sampling, VideoSampler
from mmcc.tools.domain import FILE, load_domain
from mmcc.tools.familiar import AnyDomain
from mmcc.tools.looks import LOOKED_AT, looks_of
from mmcc.tools.model import open_model

COUNTS = (1, 2, 4, 8)
DRAWS = 20  # random selections per group and count
REAL = Path(__file__).parents[3] / "shared" / "data"

Floats = NDArray[np.floating[Any]]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--real", type=Path, default=REAL)
    parser.add_argument("--videos", type=int, default=80)
    parser.add_argument("--seed", type=int, default=8)
    given = parser.parse_args(arguments)
    model = open_model("kitchen")
    domain, figures = load_domain(model.folder / FILE), Figures()
    fresh = kitchen_looks(given.videos, given.seed, model.size)
    for count in COUNTS:
        figures.at_most(f"kitchen videos, {count} frames: warned of (%)", 100 * warned(domain, fresh, count), 2)
    if given.real.is_dir():
        sources = {
            "other YouCook2 videos": youcook2_looks(given.real / "youcook2"),
            "HD-EPIC": [_photo_looks(find_photos(each)) for each in sorted((given.real / "hdepic/train").iterdir())],
            "photos": [_photo_looks(find_photos(each)) for each in sorted((given.real / "photos").iterdir())],
            "clips": [_clip_looks(each) for each in sorted((given.real / "clips").glob("*.m[kp][4v]"))],
        }
        for name, groups in sources.items():
            for count in COUNTS:
                share = 100 * warned(domain, groups, count)
                if share == share:
                    figures.at_least(f"{name}, {count} pictures: warned of (%)", share, 90)
    return figures.measured


def warned(domain: AnyDomain, groups: Iterable[Floats], count: int) -> float:
    """The share of selections from groups of pictures [n, D] that are warned of; each group counts alike. NaN if none
    is large enough."""
    random = np.random.default_rng(0)
    shares = []
    for looks in groups:
        if len(looks) >= count:
            if count == 1:
                chosen = [looks[at : at + 1] for at in range(len(looks))]
            else:
                chosen = [looks[random.permutation(len(looks))[:count]] for _ in range(DRAWS)]
            shares.append(np.mean([domain.excess(each) > 1 for each in chosen]))
    return float(np.mean(shares)) if shares else float("nan")


def is_chosen(video: str) -> bool:
    """Whether a video is among those that the figures come from."""
    return hashlib.sha256(video.encode()).digest()[0] % 2 == 0


def pictures(paths: list[Path], size: int = LOOKED_AT) -> NDArray[np.uint8]:
    """Photos as a model of this size sees them."""
    return np.stack([fitted(read_photo(path), path, size, "crop") for path in paths])


def kitchen_looks(videos: int, seed: int, size: int) -> list[Floats]:
    """Of videos that the model has not seen, as `mmcc ingest` reads them."""
    with TemporaryDirectory() as folder:
        run_mmcc("kitchen", Path(folder, "kitchen"), "--videos", videos, "--seed", seed)
        ingest(Path(folder, "kitchen"), Path(folder, "corpus"), "--size", size)
        return [looks_of(video.frames(0, len(video.times))[::8]) for video in Corpus.open(Path(folder, "corpus"))]


def youcook2_looks(folder: Path) -> list[Floats]:
    """Of the videos that no figure comes from, grouped by dish: a video has three frames only."""
    videos = json.loads((folder / "videos.json").read_text(encoding="utf-8"))
    dishes: dict[str, list[Path]] = defaultdict(list)
    for name, video in videos.items():
        if not is_chosen(name) and (folder / "frames" / name).is_dir():
            dishes[video["recipe_type"]] += find_photos(folder / "frames" / name)
    return [_photo_looks(paths) for paths in dishes.values()]


def _photo_looks(paths: list[Path]) -> Floats:
    return looks_of(pictures(paths))


def _clip_looks(path: Path) -> Floats:
    with VideoSampler(path, Sampling(1.0, 144, "crop")) as video:
        return looks_of(np.stack([pixels for _, pixels in video]))


if __name__ == "__main__":
    finish(main())
