"""Which videos are learnt from, which choose the checkpoint, and which are left for the tests.

A corpus that names test videos has said it all. One that names only two kinds (CrossTask and the kitchen do) keeps the
second for the tests: a checkpoint chosen on them would have seen the exam. A share of its training videos is held out
to choose by, the same ones in every run.
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
    learnt = corpus.split("train")
    choosing = set(sorted(learnt, key=_lot)[: round(held_out * len(learnt))])
    return [video for video in learnt if (video in choosing) == (purpose == "validation")]


def some_of(videos: list[str], count: int) -> list[str]:
    """So many of them (0: all) in their order; whoever is among the first hundred is among the first thousand."""
    chosen = set(sorted(videos, key=_lot)[: count or len(videos)])
    return [video for video in videos if video in chosen]


def _lot(video: str) -> bytes:
    return hashlib.sha256(b"held out " + video.encode("utf-8", "surrogatepass")).digest()
