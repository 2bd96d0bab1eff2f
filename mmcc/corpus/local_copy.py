"""What a training reads of a remote corpus, copied to this machine: it reads frames in any order, again and again.

    DIR/<name>-<digest of its address>/    a corpus in the usual format, with those shards that are needed
        origin.json                        where it was copied from
        .lock                              held by the trainings that use it

Shards come before the index, and the index before the manifest, so a copy that was cut short is continued. A shard
takes its name when the checksum of every batch in it was found right.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from mmcc.corpus.corpus import Corpus
from mmcc.corpus.embeddings import DESCRIPTION, FOLDER
from mmcc.corpus.format import index_folder, shard_path
from mmcc.corpus.index import present_parts
from mmcc.corpus.shards import shard_sizes
from mmcc.corpus.vectors import VectorCorpus, stored_manifest
from mmcc.errors import InputError
from mmcc.files import cache_folder, make_folder, replace_text, writing
from mmcc.locks import LOCK
from mmcc.storage import RemotePath, place
from mmcc.storage.copies import download, sizes_in
from mmcc.untrusted import read_json, typed

_ORIGIN = "origin.json"
_AT_ONCE = 4  # downloads: one connection seldom fills a line
_CHOOSE = "Choose a folder with more room by --data.local DIR, or free some."


@dataclass
class _Folder:
    """A corpus, or the vectors of an encoder in it: what is needed of it, and what is here."""

    source: RemotePath
    target: Path
    corpus: Corpus  # opened at the source
    shards: dict[int, int] = field(default_factory=dict)  # the needed ones, with their sizes

    def missing(self) -> dict[int, int]:
        here = shard_sizes(self.target)
        return {number: size for number, size in self.shards.items() if here.get(number) != size}

    def unneeded(self) -> list[Path]:
        return [shard_path(self.target, number) for number in shard_sizes(self.target) if number not in self.shards]


@contextmanager
def local_copy(
    corpus: Corpus, folder: Path | None = None, limit: int | None = None, say: Callable[[str], None] = lambda line: None
) -> Iterator[Path]:
    """The copy of an opened corpus, or the corpus itself if it is on this machine; held while the block lasts.

    `folder`: of copies (default: in the cache). `limit`: bytes that all copies in it may take; those that no training
    uses make room, the least recently used first. InputError with the sizes where there is not enough.
    """
    source = corpus.path
    if not isinstance(source, RemotePath):
        yield source
        return
    copies = folder or cache_folder() / "corpora"
    target = copies / _name(source)
    with writing(copies):
        make_folder(target)
    with (target / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one of several processes copies, while the others wait
        parts = _needed(corpus, source, target)
        _make_room(parts, copies, target, limit)
        _copy(parts, source, target, say)
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield target


def origin_of(folder: Path) -> Path:
    """Where a corpus was copied from; its own path if it is no copy."""
    with suppress(OSError, ValueError):
        return place(typed(read_json(folder / _ORIGIN, dict), "address", str))
    return folder


def _name(source: RemotePath) -> str:
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", source.name)[:60]
    return f"{plain}-{hashlib.sha256(str(source).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _needed(corpus: Corpus, source: RemotePath, target: Path) -> list[_Folder]:
    """The corpus's index, and the frames or the vectors that will be read."""
    pictures, vectors = True, list[_Folder]()
    if isinstance(corpus, VectorCorpus):
        pictures = corpus.frame_encoder is None
        both = (corpus.frame_encoder, corpus._frame_vectors), (corpus.text_encoder, corpus._text_vectors)
        for encoder, stored in both:
            if encoder is not None and stored is not None:
                inner = Path(FOLDER) / encoder.folder
                vectors.append(_with_shards(_Folder(source / inner, target / inner, stored)))
    whole = _Folder(source, target, corpus)
    return [*vectors, _with_shards(whole) if pictures else whole]


def _with_shards(part: _Folder) -> _Folder:
    sizes = shard_sizes(part.source)
    for number in sorted(set(part.corpus.columns("shard").column(0).to_pylist()) - {None}):
        if number not in sizes:
            raise InputError(shard_path(part.source, number), "is missing", "Run the ingest that wrote it again.")
        part.shards[number] = sizes[number]
    return part


def _make_room(parts: list[_Folder], copies: Path, target: Path, limit: int | None) -> None:
    needed = sum(sum(part.shards.values()) for part in parts)
    missing = sum(sum(part.missing().values()) for part in parts)
    if limit is not None:
        if needed > limit:
            cause = f"{_gigabytes(needed)} of it are needed, and data.local_gb allows {_gigabytes(limit)}"
            raise InputError(parts[-1].source, cause, "Allow more, or choose fewer videos when you ingest.")
        for part in parts:
            for path in part.unneeded():
                path.unlink(missing_ok=True)
        others = {each: _size(each) for each in copies.iterdir() if each != target and (each / _ORIGIN).is_file()}
        for each in sorted(others, key=lambda each: (each / LOCK).stat().st_mtime):
            if needed + sum(others.values()) > limit and _remove(each):
                del others[each]
        if needed + sum(others.values()) > limit:
            used = f"{_gigabytes(sum(others.values()))} in {copies} are in use by other trainings"
            cause = f"{_gigabytes(needed)} of it are needed, {used}, and data.local_gb allows {_gigabytes(limit)}"
            raise InputError(parts[-1].source, cause, "Wait for them, allow more, or choose another --data.local.")
    free = shutil.disk_usage(target).free
    if missing > free:
        cause = f"{_gigabytes(missing)} of it are still to be copied, and {target} has {_gigabytes(free)} free"
        raise InputError(parts[-1].source, cause, _CHOOSE)


def _copy(parts: list[_Folder], source: RemotePath, target: Path, say: Callable[[str], None]) -> None:
    jobs = [(part, number) for part in parts for number in part.missing()]
    if jobs:
        size = sum(part.shards[number] for part, number in jobs)
        say(f"{source}: copying {_gigabytes(size)} to {target} (see data.local)")
    replace_text(target / _ORIGIN, json.dumps({"address": str(source)}) + "\n")
    for part in parts:
        with writing(part.target):
            for inner in (part.target / "shards", index_folder(part.target)):
                make_folder(inner)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(lambda job: _copy_shard(*job), jobs):
            pass
    for part in parts:
        _copy_index(part)


def _copy_shard(part: _Folder, number: int) -> None:
    source = shard_path(part.source, number)
    assert isinstance(source, RemotePath)
    rows = part.corpus.columns("shard", "batches")
    runs = [run for shard, found in zip(*map(pa.ChunkedArray.to_pylist, rows.columns), strict=True)
            if shard == number for run in found or ()]  # fmt: skip

    def check(draft: Path) -> None:
        with pa.memory_map(str(draft)) as file:
            content = file.read_buffer()
        for run in runs:
            if zlib.crc32(content.slice(run["offset"], run["length"])) != run["crc32"]:
                cause = f"the checksum of {run['frames']} frames at byte {run['offset']:,} is wrong"
                raise InputError(source, cause, "Remove it, and run the ingest that wrote it again.")

    with _found(source):
        download(source, shard_path(part.target, number), check)


def _copy_index(part: _Folder) -> None:
    manifest = stored_manifest(part.corpus)
    here = sizes_in(index_folder(part.target))
    # A part never changes, and its name has its checksum, which whoever reads it checks.
    wanted = [Path("index") / each.name for each in present_parts(part.source, manifest) if each.name not in here]
    wanted += [Path(DESCRIPTION)] if part.target.parent.name == FOLDER else []
    for inner in wanted:
        with _found(part.source / inner):
            download(part.source / inner, part.target / inner)
    manifest.save(part.target)


def _remove(copy: Path) -> bool:
    """Remove a copy, unless a training uses it."""
    with (copy / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        (copy / _ORIGIN).unlink(missing_ok=True)
        shutil.rmtree(copy, ignore_errors=True)
        return True


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.2f} GB"


@contextmanager
def _found(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InputError(path, "is missing", "Run the ingest that wrote it again.") from None
