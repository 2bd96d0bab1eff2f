"""Which videos train the model, which select the checkpoint, and which are kept for testing.

A corpus with a test split is used as it is. In a corpus with only two splits (CrossTask, the kitchen) the second is
the test set: selecting a checkpoint on it would leak. A share of the training videos is held out for that instead,
the same ones in every run. For cross-validation, a fold of the training videos, or of their tasks, takes the place of
the test set.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from mmcc.corpus import Corpus
from mmcc.text import counted


class Fold(NamedTuple):
    """One of several equal parts of the training videos, kept for testing."""

    number: int  # from 0
    of: int
    by_task: bool

    @classmethod
    def parse(cls, text: str) -> Fold:
        """From "2/5" or "2/5 by task"."""
        found = re.fullmatch(r"(\d+)/(\d+)( by task)?", text)
        if not found or not int(found[1]) < int(found[2]):
            raise ValueError(f'fold must be like "0/5" to "4/5", or "0/5 by task", not {text!r}')
        return cls(int(found[1]), int(found[2]), found[3] is not None)

    def videos(self, corpus: Corpus) -> list[str]:
        """The fold's videos. Only videos with frames are divided; by task, only those that name one."""
        seen = set(corpus.with_frames())
        training = [video for video in corpus.split("train") if video in seen]
        group = {video: video for video in training}
        if self.by_task:
            training = [video for video in training if corpus[video].tasks]
            group = {video: corpus[video].tasks[0] for video in training}
        ranked = sorted({group[video] for video in training}, key=_lot)
        chosen = set(ranked[self.number :: self.of])
        return [video for video in training if group[video] in chosen]


def videos_for(corpus: Corpus, purpose: str, held_out: float, fold: str | None = None) -> list[str]:
    """The ids for "train", "validation" or "test"; with a fold, its videos are for testing, whatever the splits."""
    if fold is not None:
        test = Fold.parse(fold).videos(corpus)
        if purpose == "test":
            return test
        tested = set(test)
        return _either_side([each for each in corpus.split("train") if each not in tested], purpose, held_out)
    if corpus.split("test"):
        return corpus.split(purpose)
    if purpose == "test":
        return corpus.split("validation")
    return _either_side(corpus.split("train"), purpose, held_out)


def why_none_for(corpus: Corpus, purpose: str) -> str:
    """Why no video is for a purpose. A corpus may have validation videos by name that are its test videos."""
    named = len(corpus.split("validation"))
    if purpose != "validation" or corpus.split("test") or not named:
        who = f"none of its {len(corpus)} videos is" if len(corpus) > 1 else "has no video"
        return f"{who} for {purpose}"
    tested = f"its {named} validation videos serve as test videos" if named > 1 else "its validation video is its test"
    training = counted(len(corpus.split("train")), "training video")
    return f"none is for validation: {tested}, as it has no test split, and {training} are too few to hold one out"


def _either_side(training: list[str], purpose: str, held_out: float) -> list[str]:
    """The share that selects the checkpoint ("validation"), or the others ("train")."""
    selecting = set(sorted(training, key=_lot)[: round(held_out * len(training))])
    return [video for video in training if (video in selecting) == (purpose == "validation")]


def some_of(videos: list[str], count: int) -> list[str]:
    """`count` of the videos (0: all), in their order; smaller selections are subsets of larger ones."""
    if not count:
        return list(videos)
    chosen = set(sorted(videos, key=_lot)[:count])
    return [video for video in videos if video in chosen]


def _lot(video: str) -> bytes:
    return hashlib.sha256(b"held out " + video.encode("utf-8", "surrogatepass")).digest()
