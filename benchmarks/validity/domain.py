"""Unfamiliar footage: how often the tools of the shipped models warn of what they know, and of what not.

    python -m benchmarks.validity.domain [--real FOLDER] [--videos N] [--seed N] [--cook MODEL]

For 1, 2, 4 and 8 pictures of one dish or video at a time. FOLDER has youcook2/, hdepic/, photos/ and clips/.

kitchen (by looks): false alarms are counted on kitchen videos of another seed. Of YouCook2 only the half that
scripts/photographs.py leaves out is used. Without FOLDER only false alarms are counted.

cook (by the vectors of its encoder): false alarms are counted on YouCook2 videos, each judged by what was fitted
without it, on HD-EPIC and on the photos, which show cooking too; kitchens and the clips that do not are to be found.
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
import torch
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish, ingest, run_mmcc
from mmcc.corpus import Corpus
from mmcc.media.photos import find_photos, fitted, read_photo
from mmcc.media.video import Sampling, VideoSampler
from mmcc.pretrained import shipped_names
from mmcc.tools.domain import FILE, load_domain
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.familiar import AnyDomain
from mmcc.tools.footage import encoder_vectors, some_frames
from mmcc.tools.looks import LOOKED_AT, looks_of
from mmcc.tools.model import ToolModel, open_model

COUNTS = (1, 2, 4, 8)
DRAWS = 20  # random selections per group and count
FOLDS = 5
PANCAKE = "flipping_a_pancake.mkv"  # the clip of cooking
PAIRS = "HD-EPIC, other pictures"  # which nobody looked at while choosing
MOST_OF_COOKING = {
    "HD-EPIC": 50,
    PAIRS: 10,
    "photos": 20,
    "the clip of a pancake": 10,
}  # %
LEAST_OF_OTHERS = {1: 25, 2: 60, 4: 70, 8: 80}  # %, by number of pictures
REAL = Path(__file__).parents[3] / "shared" / "data"

Floats = NDArray[np.floating[Any]]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--real", type=Path, default=REAL)
    parser.add_argument("--videos", type=int, default=80)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--cook", default="cook", help="a published model of a frozen encoder, trained on YouCook2")
    given = parser.parse_args(arguments)
    figures = Figures()
    of_kitchen(figures, given.real, given.videos, given.seed)
    if given.real.is_dir() and (given.cook in shipped_names() or Path(given.cook).is_dir()):
        of_cook(figures, open_model(given.cook), given.real, given.videos // 4, given.seed + 69)
    return figures.measured


def of_kitchen(figures: Figures, real: Path, videos: int, seed: int) -> None:
    """Rows of the kitchen model."""
    model = open_model("kitchen")
    domain = load_domain(model.folder / FILE)
    fresh = [looks_of(each) for each in kitchen_frames(videos, seed, model.size)]
    for count in COUNTS:
        figures.at_most(f"kitchen videos, {count} frames: warned of (%)", 100 * warned(domain, fresh, count), 2)
    if real.is_dir():
        sources = {
            "other YouCook2 videos": youcook2_looks(real / "youcook2"),
            **{name: [looks_of(each) for each in groups] for name, groups in photo_groups(real, LOOKED_AT).items()},
            "clips": [looks_of(clip_frames(each, 144)) for each in sorted((real / "clips").glob("*.m[kp][4v]"))],
        }
        for name, groups in sources.items():
            for count in COUNTS:
                share = 100 * warned(domain, groups, count)
                if share == share:
                    figures.at_least(f"{name}, {count} pictures: warned of (%)", share, 90)


def of_cook(figures: Figures, model: ToolModel, real: Path, videos: int, seed: int) -> None:
    """Rows of a model of a frozen encoder that was trained on YouCook2."""

    def vectors(pictures_PHWC: NDArray[np.uint8]) -> Floats:
        return encoder_vectors(model, torch.from_numpy(pictures_PHWC)).numpy()

    domain = load_domain(model.folder / FILE)
    stills = [vectors(pictures(find_photos(each), model.size)) for each in sorted((real / "youcook2/frames").iterdir())]
    others_of = [[each for at, each in enumerate(stills) if at % FOLDS != fold] for fold in range(FOLDS)]
    fitted = [EmbeddingDomain.fit(others) for others in others_of]
    for count in (1, 2, 3):
        share = float(np.mean([warned(each, stills[fold::FOLDS], count) for fold, each in enumerate(fitted)]))
        figures.at_most(f"cook: YouCook2 videos left out, {count} stills: warned of (%)", 100 * share, 2)
    known = {name: [vectors(each) for each in groups] for name, groups in photo_groups(real, model.size).items()}
    clips = {path.name: clip_frames(path, model.size) for path in sorted((real / "clips").glob("*.m[kp][4v]"))}
    seen = {name: [vectors(frames[some_frames(len(frames))])] for name, frames in clips.items()}
    known["the clip of a pancake"] = seen.pop(PANCAKE)
    known[PAIRS] = [vectors(pictures([each], model.size)) for each in find_photos(real / "hdepic/val")]
    drawn = [vectors(each) for each in kitchen_frames(videos, seed, model.size)]
    others = {"kitchen videos": drawn, "clips of other things": [each for (each,) in seen.values()]}
    for count in COUNTS:
        for name, groups in known.items():
            share = 100 * warned(domain, groups, count)
            if share == share:
                figures.at_most(f"cook: {name}, {count} pictures: warned of (%)", share, MOST_OF_COOKING[name])
        for name, groups in others.items():
            share = 100 * warned(domain, groups, count)
            figures.at_least(f"cook: {name}, {count} pictures: warned of (%)", share, LEAST_OF_OTHERS[count])


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


def photo_groups(real: Path, size: int) -> dict[str, list[NDArray[np.uint8]]]:
    """Photos by dish or recipe."""
    folders = {"HD-EPIC": real / "hdepic/train", "photos": real / "photos"}
    return {
        name: [pictures(find_photos(each), size) for each in sorted(folder.iterdir())]
        for name, folder in folders.items()
    }


def kitchen_frames(videos: int, seed: int, size: int) -> list[NDArray[np.uint8]]:
    """Of videos that the model has not seen, as `mmcc ingest` reads them."""
    with TemporaryDirectory() as folder:
        run_mmcc("kitchen", Path(folder, "kitchen"), "--videos", videos, "--seed", seed)
        ingest(Path(folder, "kitchen"), Path(folder, "corpus"), "--size", size)
        return [video.frames(0, len(video.times))[::8] for video in Corpus.open(Path(folder, "corpus"))]


def youcook2_looks(folder: Path) -> list[Floats]:
    """Of the videos that no figure comes from, grouped by dish: a video has three frames only."""
    videos = json.loads((folder / "videos.json").read_text(encoding="utf-8"))
    dishes: dict[str, list[Path]] = defaultdict(list)
    for name, video in videos.items():
        if not is_chosen(name) and (folder / "frames" / name).is_dir():
            dishes[video["recipe_type"]] += find_photos(folder / "frames" / name)
    return [looks_of(pictures(paths)) for paths in dishes.values()]


def clip_frames(path: Path, size: int) -> NDArray[np.uint8]:
    """One a second."""
    with VideoSampler(path, Sampling(1.0, size, "crop")) as video:
        return np.stack([pixels for _, pixels in video])


if __name__ == "__main__":
    finish(main())
