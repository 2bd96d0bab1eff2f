"""Which videos train the model, which select the checkpoint, and which are kept for testing.

A corpus with a test split is used as it is. In a corpus with only two splits (CrossTask, the kitchen) the second is
the test set: selecting a checkpoint on it would leak. A share of the training videos is held out for that instead,
the same ones in every run.
"""

from __future__ import annotations

import hashlib

from mmcc.corpus import Corpus


def videos_for(corpus: Corpus, purpose: str, held_out: float) -> list[str]:
    """The ids for "train", "validation" or "test"."""
    if corpus.split("test"):
        return corpus.split(purpose)
    if purpose == "test":
        return corpus.split("validation")
    training = corpus.split("train")
    selecting = set(sorted(training, key=_lot)[: round(held_out * len(training))])
    return [video for video in training if (video in selecting) == (purpose == "validation")]


def some_of(videos: list[str], count: int) -> list[str]:
    """`count` of the videos (0: all), in their order; smaller selections are subsets of larger ones."""
    chosen = set(sorted(videos, key=_lot)[: count or len(videos)])
    return [video for video in videos if video in chosen]


def _lot(video: str) -> bytes:
    return hashlib.sha256(b"held out " + video.encode("utf-8", "surrogatepass")).digest()
