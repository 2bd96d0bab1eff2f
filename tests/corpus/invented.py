"""Corpora of invented frames: quickly written, each frame different, of any size."""

from pathlib import Path

import numpy as np

from mmcc.corpus import Corpus
from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.format import Manifest, shard_path
from mmcc.corpus.shards import ShardWriter


def invent_corpus(folder: Path, videos: int = 2, frames: int = 200, size: int = 16, shards: int = 1) -> Corpus:
    """Videos v0, v1, … of one frame a second, dealt to the shards in turn."""
    (folder / "shards").mkdir(parents=True)
    rng = np.random.default_rng(0)
    writers = [ShardWriter(shard_path(folder, number)) for number in range(shards)]
    manifest = Manifest("raw", 1.0, size)
    with adding_to(folder, manifest) as index:
        for number in range(videos):
            name, writer = f"v{number}", writers[number % shards]
            for time in range(frames):
                writer.add(name, float(time), rng.integers(0, 256, (size, size, 3), np.uint8).tobytes())
            row = {"id": name, "status": "ok", "split": "train", "mode": "fast", "tasks": [], "duration": float(frames)}
            row |= {"decoded": float(frames), "height": size, "width": size, "shard": number % shards}
            said = [{"start": at, "end": at + 2.0, "text": f"word{at % 7:.0f}"} for at in np.arange(0.0, frames, 4)]
            row |= {"times": [float(time) for time in range(frames)], "utterances": said, "source": f"{name}.mp4"}
            index.append([row | {"batches": [run._asdict() for run in writer.finish(name)]}])
        for writer in writers:
            writer.close()
    complete(folder, manifest, index)
    return Corpus.open(folder)
