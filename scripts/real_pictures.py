"""Read what `scripts.real_results` measures besides videos: sets of photos, and HD-EPIC's pairs of pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mmcc.errors import InputError
from mmcc.evaluation.picture_sets import Pairs, PhotoSet, Pictures
from mmcc.media.photos import find_photos, fitted, read_photo


def read_photo_sets(folder: Path, size: int) -> list[PhotoSet]:
    """A folder of folders; the names of the photos give their order."""
    sets = [(each.name, find_photos(each)) for each in sorted(folder.iterdir()) if each.is_dir()]
    found = [PhotoSet(name, _read(paths, size)) for name, paths in sets if len(paths) > 1]
    if not found:
        raise InputError(folder, "contains no folder of photos", "Name a folder with one folder for each set.")
    return found


def read_pairs(folder: Path, labels: Path, size: int) -> Pairs:
    """HD-EPIC's pairs, `<n>_1.jpg` and `<n>_2.jpg`; "n 0" says that the second is later, "n 1" that it is earlier.

    Pairs of different recipes (2) are left out. A picture that is in several pairs is known by its bytes.
    """
    place: dict[str, int] = {}
    paths: list[Path] = []
    rows = []
    for line in labels.read_text(encoding="utf-8").splitlines():
        try:
            number, label = (int(word) for word in line.split())
        except ValueError:
            raise InputError(
                labels, f"has a line {line!r}", 'Each line is "number label", the label 0, 1 or 2.'
            ) from None
        if label not in (0, 1):
            continue
        both = [folder / f"{number}_{side}.jpg" for side in (1, 2)]
        keys = [hashlib.sha256(path.read_bytes()).hexdigest() for path in both]
        for path, key in zip(both, keys, strict=True):
            if place.setdefault(key, len(paths)) == len(paths):
                paths.append(path)
        rows.append((place[keys[0]], place[keys[1]], label == 0))
    if not rows:
        raise InputError(labels, "has no pair of one recipe", "Labels 0 and 1 are such pairs.")
    first, second, later = (np.array(column) for column in zip(*rows, strict=True))
    return Pairs(_read(paths, size), first, second, later.astype(bool))


def _read(paths: Sequence[Path], size: int) -> Pictures:
    return np.stack([fitted(read_photo(path), path, size, "crop") for path in paths])
