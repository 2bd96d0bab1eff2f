"""Drop what replaced videos have left behind in a corpus: `mmcc compact CORPUS`.

A video that is ingested again is added again, and its old row and frames stay where they are. Here the frames that rows
still name are copied, undecoded, from shards that have others into new shards; then a new index is written, then the
manifest, whose renaming is the moment of the change; only then the old files are removed. Whenever it is killed, the
corpus is the old one or the new one, and to run it again removes what is left over. Meanwhile it takes the space of
what it copies.

Who has the corpus open goes on reading: `mmcc.corpus.moved` finds frames that have moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mmcc.corpus.adding import refuse_old
from mmcc.corpus.embeddings import has_vectors, with_embeddings
from mmcc.corpus.format import END_OF_STREAM, Manifest, index_folder, shard_path
from mmcc.corpus.index import latest_positions, open_index, unnamed_parts, whole_parts, write_whole_index
from mmcc.corpus.ranges import HEAD, Move, Ranges, ranges_of, relocated
from mmcc.corpus.shards import SHARD_BYTES, lost_frames, next_shard, shard_numbers
from mmcc.errors import InputError
from mmcc.files import flush_to_disk, is_draft, sync_folder, writing
from mmcc.locks import only_writer
from mmcc.text import counted, one_line

Watch = Callable[[list[str]], Iterable[str]]


@dataclass
class CompactedFolder:
    """What was dropped, or would be, in the corpus or in the vectors of one encoder."""

    path: str
    bytes: int = 0  # fewer than before
    shards_removed: int = 0  # of which no row names a frame
    shards_rewritten: int = 0  # of which rows name some frames only
    written_bytes: int = 0  # the frames that are kept of those
    rows: int = 0  # that others have replaced
    lost: int = 0  # videos whose frames are not on disk; their rows are kept, so that an ingest makes them anew


@dataclass
class CompactReport:
    """Of a corpus and its embeddings."""

    path: str
    dry_run: bool
    bytes: int = 0
    folders: list[CompactedFolder] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compact(folder: Path, *, dry_run: bool = False, watch: Watch = iter) -> CompactReport:
    """Drop what no row names; `watch` may show progress, by shard. `dry_run`: only say what would be dropped."""
    Manifest.load(folder)  # refuses what is no corpus
    report = CompactReport(str(folder), dry_run)
    for each in (folder, *filter(has_vectors, with_embeddings(folder)[1:])):
        with nullcontext() if dry_run else only_writer(each):
            work = _Compaction(each)
            if not dry_run:
                work.do(watch)
        report.folders.append(work.report)
    report.bytes = sum(each.bytes for each in report.folders)
    return report


class _Compaction:
    """One folder: what is to be dropped, and where what is kept goes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manifest, self._table = open_index(folder)
        refuse_old(folder, self._manifest)
        if not self._manifest.complete:
            cause = "is not finished (a command is writing it, or was stopped)"
            raise InputError(folder, cause, "Run the command that wrote it again, to its end.")
        latest = np.zeros(self._table.num_rows, bool)
        latest[list(latest_positions(self._table).values())] = True
        self._latest = latest
        lost = [row for row in lost_frames(folder, self._table.to_batches()) if latest[row]]
        self._sizes = {number: shard_path(folder, number).stat().st_size for number in shard_numbers(folder)}
        named = ranges_of(self._table.select(["shard", "batches"]).filter(pa.array(latest)))
        unsound = set(self._table.column("shard").take(pa.array(lost, pa.int64())).to_pylist())
        self._orphans = [number for number in self._sizes if number not in named]
        holed = [number for number in named.keys() & self._sizes.keys() if self._spare(number, named[number])]
        self._moves = self._placed({number: named[number] for number in sorted(holed) if number not in unsound})
        self._rewrites_index = bool(self._moves) or not latest.all()
        self.report = CompactedFolder(
            str(folder),
            shards_removed=len(self._orphans),
            shards_rewritten=len(self._moves),
            written_bytes=sum(move.ranges.bytes for move in self._moves.values()),
            rows=int((~latest).sum()),
            lost=len(lost),
        )
        self.report.bytes = self._bytes()

    def _spare(self, number: int, ranges: Ranges) -> int:
        """Bytes of a shard that nobody needs; one that was not closed lacks its end."""
        return max(0, self._sizes[number] - len(HEAD) - ranges.bytes - len(END_OF_STREAM))

    def _placed(self, wanted: dict[int, Ranges]) -> dict[int, Move]:
        """Where the frames of shards go: into as few new ones as their usual size allows."""
        moves = {}
        number, end = next_shard(self._folder, self._table), len(HEAD)
        for shard, ranges in wanted.items():
            if end > SHARD_BYTES:
                number, end = number + 1, len(HEAD)
            moves[shard] = Move(ranges, number, end)
            end += ranges.bytes
        return moves

    def _bytes(self) -> int:
        """How much smaller the folder will be."""
        old = sum(self._sizes[number] for number in (*self._orphans, *self._moves))
        new = self.report.written_bytes + len(self._new_shards()) * (len(HEAD) + len(END_OF_STREAM))
        old += sum(path.stat().st_size for path in self._leftovers())
        if self._rewrites_index:
            old += sum((index_folder(self._folder) / name).stat().st_size for name in self._manifest.index)
            new += sum(map(len, whole_parts(self._rows())))
        return old - new

    def _new_shards(self) -> list[int]:
        return sorted({move.shard for move in self._moves.values()})

    def _leftovers(self) -> list[Path]:
        """Files that writers have not finished, and parts of the index that were merged."""
        drafts = [path for place in (self._folder, self._folder / "shards") for path in place.glob("*")]
        return [path for path in drafts if is_draft(path) and path.is_file()] + unnamed_parts(
            self._folder, self._manifest
        )

    def _rows(self) -> Iterator[pa.RecordBatch]:
        """The index, with the new places of frames, without rows that others have replaced."""
        first = 0
        for batch in self._table.to_batches():
            kept = batch.filter(pa.array(self._latest[first : first + len(batch)]))
            first += len(batch)
            if len(kept):
                yield relocated(kept, self._moves)

    def do(self, watch: Watch) -> None:
        new = self._new_shards()
        if self._rewrites_index:
            try:
                self._write_shards(watch)
            except BaseException:
                with suppress(OSError):  # the next run removes them
                    for number in new:
                        shard_path(self._folder, number).unlink(missing_ok=True)
                raise
            names = write_whole_index(self._folder, self._rows())
            sealed = max([self._manifest.sealed, *(number + 1 for number in new)])
            self._manifest = replace(self._manifest, index=names, sealed=sealed)
            self._manifest.save(self._folder)
        self._remove()

    def _write_shards(self, watch: Watch) -> None:
        with writing(self._folder / "shards"):
            for number in self._new_shards():
                path = shard_path(self._folder, number)
                with path.open("xb") as file:
                    file.write(HEAD)
                    old = {str(shard_path(self._folder, shard)): move for shard, move in self._moves.items()}
                    for name in watch([name for name, move in old.items() if move.shard == number]):
                        for message in old[name].ranges.read(Path(name)):
                            file.write(message)
                    file.write(END_OF_STREAM)
                flush_to_disk(path)
            sync_folder(self._folder / "shards")

    def _remove(self) -> None:
        """What the manifest that is on disk now does not lead to."""
        shards = [shard_path(self._folder, number) for number in (*self._orphans, *self._moves)]
        with writing(self._folder):
            for path in (*shards, *self._leftovers()):
                path.unlink(missing_ok=True)


def render_compact(report: CompactReport) -> str:
    """As text."""
    verb = "would be freed" if report.dry_run else "freed"
    lines = [f"{one_line(report.path)}: {report.bytes / 1e6:,.3f} MB {verb}"]
    for each in report.folders:
        dropped = [
            f"{counted(each.shards_removed, 'shard')} removed" if each.shards_removed else "",
            f"{counted(each.shards_rewritten, 'shard')} rewritten ({each.written_bytes / 1e6:,.1f} MB)"
            if each.shards_rewritten
            else "",
            f"{counted(each.rows, 'replaced row')} dropped" if each.rows else "",
            f"{counted(each.lost, 'video')} without frames: the same ingest again reads them anew" if each.lost else "",
        ]
        if any(dropped):
            lines.append(f"  {one_line(each.path)}: {', '.join(filter(None, dropped))}")
    return "\n".join(lines)
