"""Every reader of files that somebody else may have written: what it is given, and what it may answer.

A new reader is one entry of `READERS`: its function, the name of its file, and sound content to begin with.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.reliability.samples import CAPTIONS
from mmcc.arrays import map_array, read_arrays
from mmcc.corpus import Corpus
from mmcc.corpus.contents import _END, Contents, Place, assembled, contents_of, part_of
from mmcc.corpus.crosstask import read_crosstask
from mmcc.corpus.disk import read_info
from mmcc.corpus.features import check_features, read_features
from mmcc.corpus.figures import COLUMNS, figures_of
from mmcc.corpus.format import INDEX_SCHEMA, SPLITS, Manifest
from mmcc.corpus.howto100m import read_howto100m
from mmcc.corpus.index import Part, _rows_of_part
from mmcc.data.config import DataConfig
from mmcc.data.segments import NodeTimes
from mmcc.data.usable import certainly_usable
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError, UsageError
from mmcc.evaluation.calibration import Calibration
from mmcc.evaluation.runs import find_checkpoint
from mmcc.media.captions import looks_automatic, parse_captions
from mmcc.media.transcripts import index_caption_json
from mmcc.media.utterances import to_utterances
from mmcc.tools.anticipate import read_steps
from mmcc.tools.cache import _read as read_cached
from mmcc.tools.described import read_descriptions
from mmcc.tools.domain import _ARRAYS, KIND, load_domain
from mmcc.tools.search_index import parse_facts
from mmcc.training.checkpoints import damage, read_progress
from mmcc.training.config import load_config
from mmcc.training.run import keep_lines_until, read_metrics
from mmcc.untrusted import parse_json, parse_yaml, read_json


@dataclass(frozen=True)
class Reader:
    """Reads the file at a path, or refuses it: any exception but these is a bug, and so is a hang."""

    read: Callable[[Path], object]
    file: str  # its name, in a folder of its own
    seeds: tuple[bytes, ...]
    beside: Mapping[str, bytes] | None = None  # other files of the folder
    refusals: tuple[type[Exception], ...] = (InputError, UsageError, ValueError)

    def prepare(self, folder: Path) -> Path:
        """A folder with all that it reads but the file itself; returns the file's path."""
        for name, content in (self.beside or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def try_on(self, path: Path, content: bytes) -> bool:
        """Whether it reads this; False if it refuses. Other exceptions pass."""
        path.write_bytes(content)
        try:
            self.read(path)
        except self.refusals as error:
            if isinstance(error, UnicodeError) or not str(error).strip():
                raise  # not a refusal that was meant, or none that says why
            return False
        return True


def _captions(name: str) -> Reader:
    def read(path: Path) -> None:
        content = path.read_bytes()
        looks_automatic(content[:2048])
        utterances = to_utterances(parse_captions(content, name))
        starts = [utterance.start for utterance in utterances]
        if starts != sorted(starts):
            raise AssertionError("utterances out of order")

    return Reader(read, name, (CAPTIONS[name].encode(),), refusals=(InputError,))


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


_MANIFEST = {
    **{"format": "mmcc-corpus", "version": 1, "encoding": "raw", "fps": 1.0, "size": 32, "fit": "crop", "mode": "fast"},
    **{"quality": None, "counts": {"videos": 2}, "skipped": [{"path": "a", "reason": "b"}], "sealed": 0},
    **{"complete": True, "tasks": {"1": {"id": "1", "title": "t", "steps": ["a"], "url": "", "primary": True}}},
}
_CALIBRATION = {
    **{"schema": 1, "steps_weights": [0.1] * 5, "none_weights": [0.1] * 4, "figures": {"brier": 0.1}},
    "reliability": {"steps": [[0.1, 0.2, 3]]},
}
_SEARCH = {
    **{"schema": 1, "model": {"name": "m", "checksum": "c"}, "corpus": "c", "fingerprint": "f", "videos": ["v"]},
    **{"nodes": 3, "dims": 4, "has_past": True, "warnings": []},
}
_TASKS = b"1\nMake Soup\nhttps://x\n2\nboil water,add salt\n"
_COUNTERS = {"step": 3, "best_step": 2, "best_score": 0.5}
_FEATURES = _npy(np.arange(8, dtype=np.float32).reshape(2, 4))


def _features(path: Path) -> None:
    check_features(path)
    read_features(path).sum()


def _metrics(path: Path) -> None:
    read_metrics(path.parent)
    keep_lines_until(path, 1)


def _part(path: Path) -> None:
    """A part of an index, of any content, but with the checksums that belong to it: without them nothing is read."""
    content = bytearray(path.read_bytes())
    if len(content) >= _END.size:
        length, _, mark = _END.unpack(content[-_END.size :])
        before = zlib.crc32(content[: max(0, len(content) - _END.size - length)])
        content[-_END.size :] = _END.pack(length, before, mark)
    _look_at_all(path.parent, bytes(content))


def _rows(path: Path) -> None:
    """The same of a record batch, in a part that has nothing else and is sound."""
    message, schema = path.read_bytes(), INDEX_SCHEMA.serialize()
    places = [Place(schema.size, len(message), _ROWS.num_rows, zlib.crc32(message))]
    told = pa.Table.from_batches([contents_of(_ROWS)])
    _look_at_all(path.parent, assembled([schema, message], Contents(told, places)))


def _look_at_all(folder: Path, content: bytes) -> None:
    part = Part(0, 0, zlib.crc32(content))
    place = folder / "index" / part.name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(content)
    try:
        corpus = Corpus(folder, Manifest("raw", 1.0, 8), _rows_of_part(folder, part))
        for name in SPLITS:
            certainly_usable(*corpus.counts(corpus.split(name)), DataConfig())
        corpus.with_frames()
        for _, batch in corpus.scan(corpus.rows(), *COLUMNS):
            sum(each.words for each in figures_of(np.arange(batch.num_rows), batch))
        for video in corpus:
            assert len(NodeTimes.of(video).frames) == len(video.times)
            repr((video, video.details, video.steps, video.tasks, video._batches))
    finally:
        place.unlink()


_ROWS = pa.RecordBatch.from_pylist(
    [
        {
            **{"id": "a", "status": "ok", "split": "train", "tasks": ["7"], "source": "a.mp4", "mode": "fast"},
            **{"duration": 20.0, "decoded": 20.0, "height": 8, "width": 8, "times": [0.0, 1.0, 9.0], "shard": 0},
            "utterances": [{"start": 0.5, "end": 2.0, "text": "stir"}, {"start": 3.0, "end": 4.0, "text": "[Music]"}],
            "steps": [{"step": 1, "start": 0.0, "end": 2.0}],
            "batches": [{"offset": 0, "length": 8, "frames": 3, "crc32": 1}],
        },
        {"id": "b", "status": "failed", "reason": "broken", "split": "test"},
    ],
    schema=INDEX_SCHEMA,
)


READERS: dict[str, Reader] = {
    **{f"captions-{name}": _captions(name) for name in CAPTIONS},
    "calibration": Reader(lambda path: Calibration.from_json(read_json(path, dict)), "a.json", (_json(_CALIBRATION),)),
    "cache": Reader(
        read_cached, "a.npz", (_npz(pi=np.ones((2, 3), np.float32), facts=np.frombuffer(b"{}", np.uint8)),)
    ),
    "caption-index": Reader(index_caption_json, "c.json", (CAPTIONS["caption.json"].encode(),)),
    "checkpoint": Reader(
        lambda path: find_checkpoint(path.parent).setting("model.dims", 0),
        "config.yaml",
        (b"model:\n  dims: 16\n",),
        {"config.json": b"{}"},
    ),
    "config": Reader(load_config, "a.yaml", (b"train:\n  lr: 1e-4\n  steps: 10\nmodel:\n  dims: 16\n",)),
    "corpus-of-run": Reader(
        lambda path: find_checkpoint(path.parent).corpus(),
        "corpus.json",
        (b'{"size": 32, "fit": "crop", "fps": 1.0}',),
        {"config.yaml": b"model: {}\n", "config.json": b"{}"},
    ),
    "corpus-index": Reader(_part, "part.arrow", (part_of([_ROWS]), part_of([_ROWS, _ROWS.slice(1)]))),
    "corpus-rows": Reader(_rows, "rows.arrow", (_ROWS.serialize().to_pybytes(),)),
    "crosstask": Reader(
        lambda path: read_crosstask(path.parent.parent),
        "annotations/1_abcdefghijk.csv",
        (b"1,0.5,2\n2,3,4.5\n",),
        {"tasks_primary.txt": _TASKS, "videos.csv": b"1,abcdefghijk,https://x\n"},
    ),
    "crosstask-tasks": Reader(
        lambda path: read_crosstask(path.parent),
        "tasks_primary.txt",
        (_TASKS,),
        {"videos.csv": b"1,abcdefghijk,https://x\n"},
    ),
    "damage": Reader(
        lambda path: damage(path.parent),
        "manifest.json",
        (_json({"model.safetensors": "0", "optimizer.safetensors": "1", "training_state.json": "2"}),),
    ),
    "descriptions": Reader(read_descriptions, "texts.txt", (b"cut the onions\n\nfry them\n",)),
    "domain": Reader(
        load_domain, "domain.npz", (_npz(kind=np.array(KIND), **dict.fromkeys(_ARRAYS, np.ones((1, 1)))),)
    ),
    "features": Reader(_features, "a.npy", (_FEATURES,)),
    "howto100m": Reader(
        read_howto100m,
        "index.csv",
        (b'video_id,category_1,category_2,rank,task_id\nabcdefghijk,Food,"Soups, hot",1,2\n',),
    ),
    "info": Reader(read_info, "a.info.json", (_json({"id": "abc", "title": "Soup", "subtitles": {"en": []}}),)),
    "json": Reader(
        lambda path: parse_json(path.read_bytes(), dict), "a.json", (b'{"a": [1, 2.5e3, "x", null, true]}',)
    ),
    "manifest": Reader(lambda path: Manifest.load(path.parent), "manifest.json", (_json(_MANIFEST),)),
    "map": Reader(map_array, "a.npy", (_FEATURES, _npy(np.array(["a", "bc"])))),
    "metrics": Reader(_metrics, "metrics.jsonl", (b'{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.25}\n{"st',)),
    "npz": Reader(read_arrays, "a.npz", (_npz(a=np.ones(3), b=np.array("x")),)),
    "progress": Reader(lambda path: read_progress(path.parent), "training_state.json", (_json(_COUNTERS),)),
    "search-index": Reader(parse_facts, "index.json", (_json(_SEARCH),)),
    "steps": Reader(read_steps, "steps.txt", (b"cut the onions\nfry them\n",)),
    "vocabulary": Reader(Vocabulary.load, "vocabulary.txt", (b"<padding>\n<unknown>\nadd\nsalt\n",)),
    "yaml": Reader(
        lambda path: parse_yaml(path.read_bytes().decode("utf-8", "replace")), "a.yaml", (b"a: [1, 2]\nb: {c: 1e-4}\n",)
    ),
}
