"""Read everything that a corpus has on disk, and list what is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.corpus.corpus import Corpus
from mmcc.corpus.embeddings import DESCRIPTION, has_vectors, read_description, with_embeddings
from mmcc.corpus.format import FIRST_VERSION, INDEX_SCHEMA, RESTORE, Manifest, index_folder, is_corpus
from mmcc.corpus.index import latest_positions, open_index, present_parts, read_part
from mmcc.corpus.rows import Rows
from mmcc.corpus.shards import FrameRun, ShardReader
from mmcc.errors import InputError
from mmcc.text import one_line

_FETCHED = 64  # batches of a remote corpus that one request gets
_AT_ONCE = 64  # frames that are decoded where there are no checksums
_LIST_AT_MOST = 20  # as text; --json has all


@dataclass
class Damage:
    """What is wrong with a file, and which videos cannot be read for it."""

    path: str
    cause: str
    remedy: str
    videos: list[str] = field(default_factory=list)


@dataclass
class Verification:
    """What was read, and what was found."""

    path: str
    kind: str = "corpus"
    checksums: bool = True  # False: of an older format version, whose values nobody can check
    videos: int = 0
    frames: int = 0
    bytes: int = 0  # of frames
    damaged: list[Damage] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @contextmanager
    def noting(self, video: str | None = None) -> Iterator[None]:
        """Note damage, instead of stopping there. One cause in one file is one damage, of however many videos."""
        try:
            yield
        except InputError as error:
            path, cause = error.path, error.cause
            known = next((each for each in reversed(self.damaged) if (each.path, each.cause) == (path, cause)), None)
            if known is None:
                self.damaged.append(known := Damage(path, cause, error.remedy))
            if video is not None and video not in known.videos:
                known.videos.append(video)


Watch = Callable[[list[str]], Iterable[str]]


def verify(folder: Path, watch: Watch = iter) -> Verification:
    """Read a corpus and its embeddings; `watch` may show progress."""
    if not is_corpus(folder):
        Manifest.load(folder)  # says so
    found = Verification(str(folder))
    for each in with_embeddings(folder):
        with found.noting():
            if each != folder and not has_vectors(each):
                continue  # an embedding that was killed at once: nothing is lost
        with found.noting():
            if each != folder or (each / DESCRIPTION).exists():
                read_description(each)
        with found.noting():
            manifest = Manifest.load(each)
            found.checksums &= manifest.version > FIRST_VERSION
            table = _readable_rows(each, manifest, found)
            _read_frames(Corpus(each, manifest, Rows.of(table)), table, watch, found)
    return found


def _readable_rows(folder: Path, manifest: Manifest, found: Verification) -> pa.Table:
    """The rows of those parts of the index that are sound."""
    if manifest.version == FIRST_VERSION:
        return open_index(folder)[1]
    tables = [INDEX_SCHEMA.empty_table()]
    for part in present_parts(folder, manifest):
        with found.noting():
            try:
                tables.append(read_part(folder, part))
            except FileNotFoundError:
                raise InputError(index_folder(folder) / part.name, "is missing", RESTORE) from None
    return pa.concat_tables(tables)


def _read_frames(corpus: Corpus, table: pa.Table, watch: Watch, found: Verification) -> None:
    reader, positions = ShardReader(corpus.path, corpus.manifest), latest_positions(table)
    for video_id in watch(list(positions)):
        found.videos += 1
        row = table.select(["shard", "batches"]).slice(positions[video_id], 1).to_pylist()[0]
        runs = [FrameRun(**each) for each in row["batches"] or []]
        for number, run in enumerate(runs):
            with found.noting(video_id):
                if number % _FETCHED == 0:
                    reader.fetch(row["shard"], runs[number : number + _FETCHED])
                reader.record_batch(row["shard"], run)
            found.frames += run.frames
            found.bytes += run.length
        if corpus.manifest.version == FIRST_VERSION:
            with found.noting(video_id):
                for first in range(0, len(corpus[video_id].times), _AT_ONCE):
                    corpus[video_id].frames(first, first + _AT_ONCE)


def render_verification(found: Verification) -> str:
    """As text."""
    read = f"{found.videos:,} videos, {found.frames:,} frames, {found.bytes / 1e6:,.1f} MB"
    if not found.damaged:
        sure = "" if found.checksums else " (it has no checksums: values may have changed. See --upgrade)"
        return f"{one_line(found.path)}: no damage found in {read}{sure}"
    lines = [f"{one_line(found.path)}: {len(found.damaged):,} damaged places in {read}:"]
    for damage in found.damaged[:_LIST_AT_MOST]:
        lines.append(f"  {one_line(damage.path)}: {one_line(damage.cause)}")
        lines += [f"    {len(damage.videos):,} videos: {_some(damage.videos)}"] if damage.videos else []
    more = len(found.damaged) - _LIST_AT_MOST
    lines += [f"  … and {more:,} more (--json lists all)"] if more > 0 else []
    return "\n".join([*lines, *dict.fromkeys(damage.remedy for damage in found.damaged)])


def _some(videos: list[str]) -> str:
    return ", ".join(map(one_line, videos[:3])) + (", …" if len(videos) > 3 else "")
