"""Write how photographs look, from real cooking frames: what the tools compare footage with.

    python -m scripts.photographs YOUCOOK2

YOUCOOK2 has frames/<video>/*.jpg. Half of the videos are used, chosen by a hash of their names; the other half is kept
for measuring (`python -m benchmarks --only domain`). Only a mean and a covariance are written, no picture.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.validity.domain import is_chosen, pictures
from mmcc.checksums import seal
from mmcc.errors import InputError
from mmcc.files import replacing
from mmcc.media.photos import find_photos
from mmcc.tools.looks import PHOTOGRAPHS, Photographs, looks_of


def measure(frames: Path) -> Photographs:
    """Of the chosen videos' frames."""
    folders = [folder for folder in sorted(frames.iterdir()) if is_chosen(folder.name)] if frames.is_dir() else []
    paths = [path for folder in folders for path in find_photos(folder)]
    if not paths:
        raise InputError(frames, "has no folder of frames for each video", "Give the folder of YouCook2 frames.")
    seen = looks_of(pictures(paths)).astype(np.float64)
    return Photographs(seen.mean(axis=0), np.cov(seen.T))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("youcook2", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=PHOTOGRAPHS)
    given = parser.parse_args()
    try:
        found = measure(given.youcook2 / "frames")
    except InputError as error:
        print(f"photographs: {error}", file=sys.stderr)
        return 3
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(given.out) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **{name: part.astype(np.float32) for name, part in found._asdict().items()})
    seal(given.out.parent, [given.out.name])
    print(f"{given.out}: {len(found.mean)} figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
