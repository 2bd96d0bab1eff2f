"""Settings: how segments are sampled from a corpus and made into batches."""

from __future__ import annotations

from dataclasses import dataclass

from mmcc.data.splits import Fold


@dataclass(frozen=True)
class DataConfig:
    """From a corpus to batches. Times in seconds, rates in frames per second."""

    segment_seconds: float = 128.0  # twice the paper's: more of a segment's future differs from its present
    frame_rates: tuple[float, ...] = (0.25, 0.5, 1.0)  # the paper's; one is drawn for each segment
    validation_rate: float = 0.5  # 32 frames in 64 s: chance level of returning to the start is 3 %, the paper's 4 %
    max_frames: int = 64  # bounds memory: at 1 fps a segment then lasts 64 s
    max_utterances: int = 64  # utterances last 1 to 4 s: 128 s of steady speech have about 50
    min_frames: int = 2  # a cycle needs another frame to visit; 0: videos without frames teach what follows in words
    min_utterances: int = 2
    held_out: float = 0.05  # share of the training videos that select the checkpoint if a corpus has no test split
    fold: str | None = None  # "0/5": keep a fifth of the training videos for testing; "0/5 by task": of their tasks
    videos: int = 0  # train on this many of the training videos; 0: on all
    tries: int = 8  # random starts before searching for a valid one: if half of them fail, 1 in 256 videos needs it

    min_word_count: int = 3  # rarer words are mostly errors of speech recognition, and too rare to learn
    max_vocabulary: int = 50_000  # about what HowTo100M's captions need; at 512 dims they take 100 MB
    max_words: int = 20  # an utterance lasts at most 4 s, and people speak up to 5 words per second

    local: str | None = None  # of a remote corpus (s3://…): folder for copies of what is read; None: in the cache
    local_gb: float | None = None  # that all copies in it may take; None: as much as the disk has

    augment: bool = False  # pixels only; the paper mentions none
    crop_smallest: float = 0.6  # share of the picture's area; less would cut off hands and tools
    flip: float = 0.5  # kitchens have no left and right
    colour: float = 0.2  # gains, common and per channel, lie in 1 ± this: a different lamp, not a different food

    def __post_init__(self) -> None:
        for name in ("segment_seconds", "validation_rate"):
            _require(getattr(self, name) > 0, name, "must be above 0", getattr(self, name))
        _require(bool(self.frame_rates), "frame_rates", "must have at least one rate", self.frame_rates)
        _require(all(rate > 0 for rate in self.frame_rates), "frame_rates", "must be above 0", self.frame_rates)
        _require(self.min_frames >= 0, "min_frames", "must not be below 0", self.min_frames)
        if self.fold is not None:
            Fold.parse(self.fold)
        for name in ("min_utterances", "tries", "min_word_count", "max_words"):
            _require(getattr(self, name) >= 1, name, "must be at least 1", getattr(self, name))
        _require(self.max_frames >= self.min_frames, "max_frames", "is below min_frames", self.max_frames)
        _require(
            self.max_utterances >= self.min_utterances, "max_utterances", "is below min_utterances", self.max_utterances
        )
        _require(self.max_vocabulary >= 3, "max_vocabulary", "must leave room for a word", self.max_vocabulary)
        _require(self.videos >= 0, "videos", "must not be below 0", self.videos)
        _require(self.local_gb is None or self.local_gb > 0, "local_gb", "must be above 0", self.local_gb)
        _require(0 <= self.held_out < 1, "held_out", "must be a share below 1", self.held_out)
        _require(0 < self.crop_smallest <= 1, "crop_smallest", "must be a share above 0", self.crop_smallest)
        _require(0 <= self.flip <= 1, "flip", "must be a probability", self.flip)
        _require(0 <= self.colour < 1, "colour", "must be in [0, 1)", self.colour)


def _require(holds: bool, name: str, rule: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{name} {rule} (it is {value!r})")
