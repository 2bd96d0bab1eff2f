"""What checksums cost: of reading frames for the first time, again, and of the index of 20,000 videos.

    python -m benchmarks.reliability.checks [--videos 20000]

A batch is checked when a process reads it for the first time. Pictures larger than 64 pixels are stored as JPEG, and
to decode them takes far longer than to check them; raw ones are only copied, so there it is the second reading that
must cost nothing. What any checksum would cost there is measured beside it: adding up the bytes is the least that can
be done with all of them.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish, ingest, make_clip
from mmcc.corpus import Corpus, Video
from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.format import Manifest, index_folder
from mmcc.files import flush_to_disk

ROUNDS, SEGMENT = 15, 64
_WORDS = 1 << 15  # as much at once as a batch of raw frames has: 256 KB, which the processor's cache holds


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """Of CPU time: other programs on the machine do not count."""
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def read(video: Video) -> None:
    for first in range(0, len(video.times), SEGMENT):
        video.frames(first, first + SEGMENT)


def read_all(corpus: Corpus) -> None:
    for video in corpus:
        read(video)


def first_over_known(folder: Path) -> float:
    """Time to read everything for the first time / by a reader that has checked all of it before. Of each video the
    least of each, in turn: whatever else the machine does only adds to them."""
    checked = Corpus.open(folder)
    read_all(checked)
    times: dict[tuple[bool, str], float] = {}
    for number in range(ROUNDS):
        readers = {False: Corpus.open(folder), True: Corpus.open(folder)}
        readers[True]._shards._sound |= checked._shards._sound
        for video in checked.ids:
            for known in (True, False) if number % 2 else (False, True):
                took = seconds(read, readers[known][video])
                times[known, video] = min(took, times.get((known, video), took))
    return sum(times[False, video] for video in checked.ids) / sum(times[True, video] for video in checked.ids)


def adding_up_over_reading(folder: Path) -> float:
    """Time to add up the bytes of the shards as 64-bit numbers / to read their frames, all of which is in memory."""
    known, shards = Corpus.open(folder), []
    for path in (folder / "shards").iterdir():
        shards.append(np.memmap(path, np.uint64, "r", shape=path.stat().st_size // 8))
    return least(add_up, shards) / least(read_all, known)


def least(work: Callable[..., object], *arguments: object) -> float:
    return min(seconds(work, *arguments) for _ in range(ROUNDS))


def add_up(shards: Iterable[NDArray[np.uint64]]) -> int:
    total = 0
    for words in shards:
        for first in range(0, len(words), _WORDS):
            total ^= int(words[first : first + _WORDS].sum())
    return total


def make_rows(folder: Path, videos: int) -> Path:
    """Ten-minute videos with an utterance every fifteen seconds, which nobody has filmed: an index of 4 KB a row."""
    (folder / "shards").mkdir(parents=True)
    times = [float(second) for second in range(600)][::2]
    said = [{"start": start, "end": start + 4, "text": "now stir it until it is golden"} for start in times[::8]]
    runs = [{"offset": 16_000 * n, "length": 16_000, "frames": 16, "crc32": n} for n in range(len(times) // 16)]
    runs.append({"offset": 0, "length": 16_000, "frames": len(times) % 16, "crc32": 1})
    row = {"status": "ok", "split": "train", "times": times, "utterances": said, "shard": 0, "batches": runs}
    row |= {"height": 128, "width": 128, "duration": 600.0, "decoded": 600.0, "fingerprint": "1024.17+-"}
    manifest = Manifest("jpeg", 0.5, 128)
    with adding_to(folder, manifest) as index:
        for first in range(0, videos, 1000):
            index.append([{**row, "id": f"video-{first + n:07d}"} for n in range(min(1000, videos - first))])
    complete(folder, manifest, index)
    return folder


def speed_of_crc32() -> float:
    """GB per second, of pieces as large as a batch of raw frames."""
    piece = np.random.default_rng(0).bytes(8 * _WORDS)
    return 256 * len(piece) / 1e9 / least(lambda: [zlib.crc32(piece) for _ in range(256)])


def check_index(folder: Path) -> None:
    """What reading every row does for safety alone."""
    for path in index_folder(folder).iterdir():
        with pa.memory_map(str(path)) as source:
            content = source.read_buffer()
        zlib.crc32(content)
        pa.ipc.open_stream(content).read_all().validate(full=True)


def _ingest_to_disk(clips: Path, corpus: Path, size: int) -> None:
    """What is still being written to the disk takes longer to read for the first time, checks or none."""
    ingest(clips, corpus, "--size", size)
    for path in (corpus / "shards").iterdir():
        flush_to_disk(path)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=20_000)
    options = parser.parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "clips").mkdir()
        clip = make_clip(folder / "clip.mp4", seconds=60, size="320x240", rate=10, repeat=5)
        for number in range(8):
            (folder / "clips" / f"{number}.mp4").symlink_to(clip)
        _ingest_to_disk(folder / "clips", folder / "jpeg", 128)
        ratio = first_over_known(folder / "jpeg")
        figures.at_most("CPU time, reading JPEG frames for the first time / checked before", ratio, 1.03)
        _ingest_to_disk(folder / "clips", folder / "raw", 64)
        print(f"the same of raw frames, which are only copied: {first_over_known(folder / 'raw'):.2f}")
        print(f"adding up their bytes / reading them: {adding_up_over_reading(folder / 'raw'):.2f}")
        print(f"crc32: {speed_of_crc32():.1f} GB per second of CPU time")
        large = make_rows(folder / "large", options.videos)
        size = sum(path.stat().st_size for path in index_folder(large).iterdir())
        opening = least(Corpus.open, large)
        print(
            f"{options.videos:,} videos: an index of {size / 1e6:.0f} MB, opened in {1000 * opening:.0f} ms of CPU time"
        )
        checking = least(check_index, large)
        figures.at_most(
            f"checks of all rows of a corpus of {options.videos:,} videos: CPU milliseconds", 1000 * checking, 50
        )
    return figures.measured


if __name__ == "__main__":
    finish(main())
