"""The corpus on disk: the files of its folder. `docs/corpus.md` documents the format for other programs.

    manifest.json                              what the corpus is: version, frame encoding, size, rate, counts, tasks
    index/00000000-00000063-9a0f5e21.arrow     parts of the index, with a row per video: everything but its frames
    shards/00000.arrow                         frames, in record batches of one video each

All of them have checksums: the manifest its own, a part of the index in its name, a record batch in its video's row.
Parts are never changed. A part is written once the frames that its rows name are safely on disk, so whenever a process
is killed, the index lists exactly what is finished.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from mmcc.corpus.checksums import with_checksum, without_checksum
from mmcc.corpus.source import Task
from mmcc.errors import InputError
from mmcc.files import replace_bytes
from mmcc.untrusted import LARGEST, Malformed, read_start, typed

FORMAT = "mmcc-corpus"
FORMAT_VERSION = 2
FIRST_VERSION = 1  # one index.arrow, no checksums: read, and rewritten by `mmcc inspect --upgrade`

RESTORE = "Restore a copy of it, or ingest into a new folder."  # where the manifest or the index is damaged
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # of Arrow

Encoding = Literal["jpeg", "raw", "float32"]

FRAMES_SCHEMA = pa.schema([("video", pa.string()), ("time", pa.float64()), ("frame", pa.binary())])

INDEX_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),  # ok, partial, failed, or absent: listed but not found
        ("reason", pa.string()),  # why it failed
        ("title", pa.string()),
        ("split", pa.string()),
        ("tasks", pa.list_(pa.string())),
        ("source", pa.string()),  # the file the frames came from
        ("captions", pa.string()),  # the file the utterances came from
        ("caption_kind", pa.string()),  # manual, automatic, embedded, transcribed
        ("caption_error", pa.string()),  # why a caption file could not be used
        ("mode", pa.string()),  # fast, exact, or features
        ("duration", pa.float64()),  # seconds, as declared by the file
        ("decoded", pa.float64()),  # seconds that could be decoded
        ("height", pa.int32()),  # of each frame; 0 where a frame is a feature vector
        ("width", pa.int32()),
        ("times", pa.list_(pa.float64())),  # of each frame, ascending
        (
            "utterances",
            pa.list_(pa.struct([("start", pa.float64()), ("end", pa.float64()), ("text", pa.string())])),
        ),
        ("steps", pa.list_(pa.struct([("step", pa.int32()), ("start", pa.float64()), ("end", pa.float64())]))),
        ("shard", pa.int32()),
        (
            "batches",
            pa.list_(
                pa.struct(
                    [("offset", pa.int64()), ("length", pa.int64()), ("frames", pa.int32()), ("crc32", pa.uint32())]
                )
            ),
        ),
        ("fingerprint", pa.string()),  # of the source files: shows whether they have changed since
    ]
)

READABLE = ("ok", "partial")  # states of a video that has frames or utterances

SPLITS = ("train", "validation", "test")


def split_of(video_id: str) -> str:
    """80/15/5, as in the paper, by a hash of the id: a video falls in the same split in every corpus."""
    share = int.from_bytes(hashlib.sha256(video_id.encode("utf-8", "surrogatepass")).digest()[:8], "big") / 2**64
    return "train" if share < 0.80 else "validation" if share < 0.95 else "test"


@dataclass
class Manifest:
    """What a corpus is. Its settings are fixed when it is created, its counts when an ingest ends."""

    encoding: Encoding
    fps: float  # frames per second, at most
    size: int  # side of a picture, or dims of a feature vector
    fit: str = "crop"
    mode: str = "fast"  # as requested; each video's row says how it was decoded
    quality: int | None = None  # of JPEG
    counts: dict[str, int] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)  # files that have no row
    tasks: dict[str, Task] = field(default_factory=dict)
    sealed: int = 0  # shards with a smaller number will not change again
    complete: bool = False  # the last ingest ran to its end
    index: list[str] = field(default_factory=list)  # the parts of the index when the last ingest ended
    version: int = FORMAT_VERSION

    def settings(self) -> dict[str, Any]:
        """What must not change while a corpus grows."""
        return {name: getattr(self, name) for name in ("encoding", "fps", "size", "fit", "mode", "quality")}

    def save(self, folder: Path) -> None:
        content = {"format": FORMAT, "version": self.version} | dataclasses.asdict(self)
        replace_bytes(folder / "manifest.json", with_checksum(content))

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        path = folder / "manifest.json"
        if not is_corpus(folder):
            lacks = "it has no manifest.json" if folder.exists() else "no such folder"
            raise InputError(folder, f"is not a corpus ({lacks})", "Create one with: mmcc ingest SRC -o CORPUS")
        try:
            content, checked = without_checksum(read_start(path, LARGEST))
            if typed(content, "format", str) != FORMAT:
                raise ValueError(f"its format is {content['format']!r}")
            version = typed(content, "version", int)
            if version > FORMAT_VERSION:
                raise InputError(path, f"has format version {version}", "Update mmcc to read it.")
            if version < FIRST_VERSION or checked != (version > FIRST_VERSION):
                raise ValueError("its version or its checksum is wrong")
            return cls._of(content)
        except OSError as error:
            raise InputError(path, f"cannot be read ({error.strerror})", RESTORE) from None
        except (ValueError, TypeError) as error:
            raise InputError(path, f"is damaged ({error})", RESTORE) from None

    @classmethod
    def _of(cls, content: dict[str, Any]) -> Manifest:
        """With values of the right types; ValueError or TypeError says which is not."""
        kinds = {"encoding": str, "fps": float, "size": int, "fit": str, "mode": str, "counts": dict, "skipped": list}
        kinds |= {"tasks": dict, "sealed": int, "complete": bool, "version": int}
        kinds |= {"index": list} if content["version"] > FIRST_VERSION else {}
        fields: dict[str, Any] = {name: typed(content, name, kind) for name, kind in kinds.items()}
        fields["quality"] = typed(content, "quality", int, optional=True)
        if fields["encoding"] not in get_args(Encoding):
            raise Malformed(f"its encoding is {fields['encoding']!r}")
        if not fields["fps"] > 0 or fields["size"] < 0 or fields["sealed"] < 0:
            raise Malformed("fps, size or sealed is negative, or fps is 0")
        if not all(isinstance(name, str) for name in fields.get("index", ())):
            raise Malformed("index should list the names of files")
        for state in fields["counts"]:
            typed(fields["counts"], state, int)
        for each in fields["skipped"]:
            if not isinstance(each, dict) or not all(isinstance(each.get(name), str) for name in ("path", "reason")):
                raise Malformed("skipped should list paths and reasons")
        fields["tasks"] = {name: _task(typed(fields["tasks"], name, dict)) for name in fields["tasks"]}
        return cls(**fields)


def _task(content: dict[str, Any]) -> Task:
    steps = typed(content, "steps", list)
    if not all(isinstance(step, str) for step in steps):
        raise Malformed("the steps of a task should be text")
    names = {name: typed(content, name, str) for name in ("id", "title", "url")}
    return Task(**names, steps=tuple(steps), primary=typed(content, "primary", bool))


def is_corpus(folder: Path) -> bool:
    """Whether a folder is a corpus; it may still be damaged."""
    return (folder / "manifest.json").is_file()


def shard_path(folder: Path, number: int) -> Path:
    return folder / "shards" / f"{number:05d}.arrow"


def index_folder(folder: Path) -> Path:
    return folder / "index"
