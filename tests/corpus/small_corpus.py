"""A corpus of four videos, written by hand: one complete, one partial, one failed, one absent."""

from pathlib import Path

from mmcc.corpus import Corpus
from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.format import Manifest, shard_path
from mmcc.corpus.shards import ShardWriter
from mmcc.corpus.source import Task


def said(*utterances: tuple[float, float, str]) -> list[dict[str, object]]:
    return [{"start": start, "end": end, "text": text} for start, end, text in utterances]


def shown(*steps: tuple[int, float, float]) -> list[dict[str, object]]:
    return [{"step": step, "start": start, "end": end} for step, start, end in steps]


def write_corpus(folder: Path) -> Corpus:
    (folder / "shards").mkdir(parents=True)
    tasks = {
        "7": Task("7", "Fry an onion", ("cut the onion", "heat oil", "add onion to pan")),
        "8": Task("8", "Rest", ()),
    }
    manifest = Manifest("raw", 1.0, 8, tasks=tasks)
    writer = ShardWriter(shard_path(folder, 0))
    for time in range(3):
        writer.add("a", float(time), bytes(8 * 8 * 3))
    batches = [batch._asdict() for batch in writer.finish("a")]
    writer.close()
    common = {"status": "ok", "split": "train", "mode": "fast"}
    rows = [
        # 60 s: speech covers 0-4 and 10-14, with an overlap at 12-13; steps cover 2-12 and 50-60
        {"id": "a", **common, "tasks": ["7"], "duration": 60.0, "decoded": 60.0, "caption_kind": "manual",
         "times": [0.0, 1.0, 2.0], "height": 8, "width": 8, "shard": 0, "batches": batches, "source": "a.mp4",
         "utterances": said((0, 4, "now cut this onion small"), (10, 13, "oil in the pan"), (12, 14, "and so on")),
         "steps": shown((1, 2, 12), (2, 8, 10), (3, 50, 70))},
        # 120 s, half of it lost, nothing said
        {"id": "b", **common, "status": "partial", "duration": 120.0, "decoded": 60.0, "source": "b.mp4", "tasks": []},
        {"id": "c", "status": "failed", "reason": "broken", "source": "c.mp4", "tasks": ["7"], "split": "train"},
        {"id": "d", "status": "absent", "tasks": ["7", "8"], "split": "train", "steps": shown((1, 0, 1))},
    ]  # fmt: skip
    with adding_to(folder, manifest) as index:
        index.append(rows)
    complete(folder, manifest, index)
    return Corpus.open(folder)
