"""Frames by position: a segment reads little more than itself, and nothing that was changed is handed out."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus import shards as module
from mmcc.corpus.format import INDEX_SCHEMA, Manifest, shard_path
from mmcc.corpus.shards import FrameRun, ShardReader, ShardWriter, lost_frames, next_shard, seal_shards
from mmcc.errors import InputError
from tests.corpus.test_corpus import build

SEGMENT = 64


def written(folder: Path, sizes: list[int]) -> list[FrameRun]:
    """One video with frames of these sizes."""
    writer = ShardWriter(folder / "s.arrow")
    for number, size in enumerate(sizes):
        writer.add("dQw4w9WgXcQ", float(number), bytes(size))
    runs = writer.finish("dQw4w9WgXcQ")
    writer.close()
    return runs


def bytes_read(runs: list[FrameRun], first: int, last: int) -> int:
    """Of the batches that hold frames first to last, the last not included."""
    total = begin = 0
    for run in runs:
        if begin < last and begin + run.frames > first:
            total += run.length
        begin += run.frames
    return total


@pytest.mark.parametrize("size", [512, 1024, 4 * 1280, 12_288, 1 << 20])
def test_any_segment_reads_at_most_half_as_much_again_as_its_frames(tmp_path, size):
    frames = 200 if size < 1 << 20 else 80
    runs = written(tmp_path, [size] * frames)
    assert sum(run.frames for run in runs) == frames
    for first in range(frames - SEGMENT + 1):
        assert bytes_read(runs, first, first + SEGMENT) <= 1.5 * SEGMENT * size


@settings(max_examples=20)
@given(st.lists(st.integers(3_000, 4_500), min_size=SEGMENT, max_size=150))
def test_so_do_frames_of_unequal_size(tmp_path_factory, sizes):
    runs = written(tmp_path_factory.mktemp("shard"), sizes)
    for first in range(len(sizes) - SEGMENT + 1):
        wanted = sum(sizes[first : first + SEGMENT])
        assert bytes_read(runs, first, first + SEGMENT) <= 1.5 * wanted


def test_the_segments_of_real_pictures_do_so_too(pictures_corpus):
    for video in pictures_corpus:
        runs = [FrameRun(**run) for run in video._value("batches")]
        size = video.frames(0, 1).nbytes
        for first in range(max(0, len(video.times) - SEGMENT + 1)):
            assert bytes_read(runs, first, first + SEGMENT) <= 1.5 * SEGMENT * size


def test_a_changed_batch_is_refused_and_the_others_are_read(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [float(n) for n in range(48)], "b": [0.0]})
    path, runs = shard_path(corpus.path, 0), corpus["a"]._value("batches")
    content = bytearray(path.read_bytes())
    content[runs[1]["offset"] + runs[1]["length"] - 100] ^= 4
    path.write_bytes(content)
    video = type(corpus).open(corpus.path)["a"]
    assert len(video.frames(0, 16)) == len(video.frames(32, 48)) == 16
    with pytest.raises(InputError, match=r"00000.arrow: .*the checksum of 16 frames at byte [\d,]+ is wrong"):
        video.frames(10, 20)


def test_a_batch_is_checked_once(tmp_path, monkeypatch):
    corpus = build(tmp_path / "c", "raw", {"a": [float(n) for n in range(48)]})
    checked = []
    crc32 = module.zlib.crc32

    class Counting:
        @staticmethod
        def crc32(data):
            checked.append(len(data))
            return crc32(data)

    monkeypatch.setattr(module, "zlib", Counting)
    for _ in range(3):
        corpus._videos.clear()  # as if there were too many to keep
        corpus["a"].frames()
    assert len(checked) == 3
    monkeypatch.setattr(module, "_MOST_REMEMBERED", 2)
    reader = ShardReader(corpus.path, corpus.manifest)
    for _ in range(2):
        for run in corpus["a"]._batches:
            reader.record_batch(0, run)
    assert len(reader._sound) <= 2 and len(checked) > 6


def test_nothing_outside_the_file_is_read(tmp_path):
    build(tmp_path / "c", "raw", {"a": [0.0]})
    reader = ShardReader(tmp_path / "c", Manifest("raw", 1.0, 32))
    for run in (FrameRun(1 << 40, 8, 1), FrameRun(0, 1 << 40, 1), FrameRun(-8, 100, 1), FrameRun(0, 0, 1)):
        with pytest.raises(InputError, match="cannot be read"):
            reader.record_batch(0, run)
    with pytest.raises(InputError, match="is missing"):
        reader.record_batch(7, FrameRun(0, 8, 1))


def rows(*shards_and_ends: tuple[int, int]) -> pa.Table:
    made = [
        {"id": str(n), "status": "ok", "shard": shard, "batches": [{"offset": 0, "length": end, "frames": 1}]}
        for n, (shard, end) in enumerate(shards_and_ends)
    ]
    return pa.Table.from_pylist([*made, {"id": "x", "status": "absent"}], INDEX_SCHEMA)


def test_lost_frames_are_those_beyond_the_end_or_in_no_file(tmp_path):
    (tmp_path / "shards").mkdir()
    shard_path(tmp_path, 1).write_bytes(bytes(100))
    lost = lost_frames(tmp_path, rows((1, 100), (1, 101), (2, 5)).to_batches())
    assert lost == {1: "shards/00001.arrow is too short", 2: "shards/00002.arrow is missing"}


def test_the_number_of_a_lost_shard_is_not_given_again(tmp_path):
    (tmp_path / "shards").mkdir()
    assert next_shard(tmp_path, rows()) == 0
    shard_path(tmp_path, 3).touch()
    assert next_shard(tmp_path, rows((1, 5))) == 4 and next_shard(tmp_path, rows((7, 5))) == 8


def test_sealing_ends_streams_and_removes_what_no_row_names_but_touches_nothing_older(tmp_path):
    (tmp_path / "shards").mkdir()
    for number in range(4):
        shard_path(tmp_path, number).write_bytes(bytes(50))
    assert seal_shards(tmp_path, rows((0, 10), (2, 20), (3, 60)), sealed=1) == 4
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "shards").iterdir()}
    assert sizes == {"00000.arrow": 50, "00002.arrow": 28, "00003.arrow": 50}, "what is too short is not lengthened"


def test_what_other_machines_are_to_read_is_flushed_before_it_is_told(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr("os.fsync", lambda file: flushed.append((tmp_path / "s.arrow").stat().st_size))
    writer = ShardWriter(tmp_path / "s.arrow")
    for flush in (False, True):
        writer.add("soup", 0.0, b"frame")
        (run,) = writer.finish("soup", flush=flush)
    assert flushed == [run.offset + run.length], "the second, with all of its bytes in the file"
    writer.close()
