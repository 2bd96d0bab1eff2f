"""What tests of ingest share: small settings, all that a corpus holds, and ways in which files are bad."""

import random
from pathlib import Path

from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.media.video import Sampling

SRT = "1\n00:00:00,500 --> 00:00:02,000\nCut the onion.\n\n2\n00:00:02,500 --> 00:00:04,000\nFry it.\n"


def settings(**changes: object) -> IngestSettings:
    return IngestSettings(**{"sampling": Sampling(size=32), "workers": 1, **changes})


def run(folder: Path, output: Path, **changes: object):
    return ingest(find_source(folder, features="feature_rate" in changes), output, settings(**changes))


def content(corpus: Path) -> dict[str, tuple]:
    """Everything a corpus holds about each video, whatever its shard."""
    return {
        video.id: (video.status, video.times.tolist(), video.utterances, video.steps, video.frames().tobytes())
        for video in Corpus.open(corpus)
    }


def spoil(folder: Path, ffmpeg) -> None:
    (folder / "noise.mp4").write_bytes(random.Random(0).randbytes(5000))
    (folder / "empty.mp4").write_bytes(b"")
    ffmpeg("-f", "lavfi", "-i", "sine", "-t", 1, folder / "voice.mp4")
    (folder / "soup0.srt").write_bytes(b"\x00\x01 no captions here")
