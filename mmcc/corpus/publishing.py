"""Adding to a corpus in a bucket: S3 can neither append nor lock, so that is done on this machine, and published
whole. The vectors of an encoder (`mmcc.corpus.embeddings`) are a corpus of their own here.

    CACHE/staging/<name>-<digest>/
        corpus/        a corpus: the index of what is published already, and the shards that are not
        base.json      the published manifest that it continues
        .lock          held by the command that writes

New shards are uploaded under numbers that no other writer chooses, then the parts of the index, whose names have their
checksums, and last the manifest, which names them: whoever reads sees the old corpus or the new one. Another writer is
noticed by the manifest, which is compared with the one that was continued just before it is replaced; between these
two requests, and only there, the later of two writers wins.
"""

from __future__ import annotations

import hashlib
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mmcc.corpus.format import Manifest, index_folder, is_corpus, shard_path
from mmcc.corpus.index import present_parts, read_part
from mmcc.corpus.shards import shard_sizes
from mmcc.errors import InputError
from mmcc.files import cache_folder, make_folder, replace_bytes, writing
from mmcc.locks import only_writer
from mmcc.storage import RemotePath
from mmcc.storage.copies import download, replace_object, sizes_in, upload

_MANIFEST, _BASE = "manifest.json", "base.json"
_APART = 1 << 20  # two writers that start from one corpus choose the same numbers once in thousands of times


@dataclass
class Staging:
    """Where to write."""

    folder: Path
    published: dict[int, int] = field(default_factory=dict)  # shards that are in the bucket alone, with their sizes
    skip_numbers: int = 0  # of shards


@contextmanager
def staged(
    output: Path, say: Callable[[str], None] = lambda line: None, beside: Sequence[str] = ()
) -> Iterator[Staging]:
    """A folder to write to; what it then holds is published when the block ends without an error. `beside`: the names
    of files that lie beside the manifest and never change."""
    if not isinstance(output, RemotePath):
        yield Staging(output)
        return
    own = cache_folder() / "staging" / _name(output)
    with writing(own):
        make_folder(own)
    with only_writer(own):
        folder = own / "corpus"
        published = _continue(output, own, folder)
        yield Staging(folder, published, random.SystemRandom().randrange(_APART))
        _publish(output, own, folder, published, beside, say)


def _name(output: RemotePath) -> str:
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", output.name)[:60]
    return f"{plain}-{hashlib.sha256(str(output).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _manifest_of(output: RemotePath) -> bytes:
    """The published manifest; b"" where there is none."""
    try:
        return (output / _MANIFEST).read_bytes()
    except FileNotFoundError:
        output.exists()  # says so if there is no such bucket
        return b""


def _continue(output: RemotePath, own: Path, folder: Path) -> dict[int, int]:
    """Take up what an earlier ingest left here, or what is published. Returns the published shards."""
    base, now = own / _BASE, _manifest_of(output)
    if is_corpus(folder) and (base.read_bytes() if base.exists() else b"") != now:
        if any(shard_sizes(folder).values()):
            raise _changed(output, own)
        shutil.rmtree(folder)
    if not is_corpus(folder) and now:
        _take_over(output, folder)
    replace_bytes(base, now)
    return shard_sizes(output) if now else {}


def _take_over(output: RemotePath, folder: Path) -> None:
    """The index of what is published, without its frames."""
    manifest = Manifest.load(output)
    if not manifest.complete:
        remedy = "Finish that ingest where it runs, and copy the corpus again."
        raise InputError(output, "is a copy of a corpus that was not finished", remedy)
    with writing(folder):
        make_folder(folder / "shards")
        make_folder(index_folder(folder))
    for part in present_parts(output, manifest):
        source = index_folder(output) / part.name
        assert isinstance(source, RemotePath)
        download(source, index_folder(folder) / part.name)
        read_part(folder, part)
    manifest.save(folder)


def _publish(
    output: RemotePath,
    own: Path,
    folder: Path,
    published: dict[int, int],
    beside: Sequence[str],
    say: Callable[[str], None],
) -> None:
    content = (folder / _MANIFEST).read_bytes()
    if content == (own / _BASE).read_bytes():
        return
    new = shard_sizes(folder)
    if new:
        say(f"{output}: uploading {sum(new.values()) / 1e9:,.2f} GB")
    there = shard_sizes(output)
    for number, size in new.items():
        if number in published and published[number] != size:
            raise _changed(output, own)
        if there.get(number) != size:
            _upload(shard_path(folder, number), shard_path(output, number))
    parts = sizes_in(index_folder(output))
    for name in Manifest.load(folder).index:
        if name not in parts:
            _upload(index_folder(folder) / name, index_folder(output) / name)
    for name in beside:
        if (folder / name).exists():
            _upload(folder / name, output / name)
    if _manifest_of(output) != (own / _BASE).read_bytes():
        raise _changed(output, own)
    replace_object(folder / _MANIFEST, output / _MANIFEST)
    replace_bytes(own / _BASE, content)
    for number in new:
        shard_path(folder, number).unlink()


def _upload(source: Path, target: Path) -> None:
    assert isinstance(target, RemotePath)
    upload(source, target)


def _changed(output: RemotePath, own: Path) -> InputError:
    cause = "another command has changed it since this one began"
    return InputError(output, cause, f"Remove {own}, and run it again: it continues from what is there now.")
