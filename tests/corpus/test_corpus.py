"""What was put into a corpus is what comes out, frame by frame, from any segment."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus import Corpus
from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.checksums import with_checksum, without_checksum
from mmcc.corpus.format import SPLITS, Manifest, index_folder, is_corpus, shard_path, split_of
from mmcc.corpus.shards import ShardWriter
from mmcc.corpus.source import LabelledClip, Task
from mmcc.errors import InputError
from mmcc.media.jpeg import encode_jpeg
from mmcc.media.utterances import Utterance

SHAPES = {"jpeg": (24, 32, 3), "raw": (24, 32, 3), "float32": (7,)}


def picture(encoding: str, number: int) -> np.ndarray:
    """A frame that encodes its number: smooth enough that JPEG keeps it to within a few levels."""
    if encoding == "float32":
        return np.arange(7, dtype=np.float32) + 10 * number
    rows, columns = np.mgrid[0:24, 0:32]
    channels = [rows * 3 + number % 180, columns * 2 + number // 4, rows + columns + number % 90]
    return np.stack(channels, axis=-1).clip(0, 255).astype(np.uint8)


def build(folder: Path, encoding: str, videos: dict[str, list[float]], **rows: object) -> Corpus:
    """A corpus with the given frame times, written by the real writers."""
    (folder / "shards").mkdir(parents=True)
    size, tasks = 7 if encoding == "float32" else 32, {"1": Task("1", "Soup", ("cut", "boil"))}
    manifest, shard = Manifest(encoding, 1.0, size, "short", tasks=tasks), ShardWriter(shard_path(folder, 0))
    with adding_to(folder, manifest) as index, closing(shard):
        for video_id, times in videos.items():
            for number, time in enumerate(times):
                frame = picture(encoding, number)
                shard.add(video_id, time, encode_jpeg(frame, 95) if encoding == "jpeg" else frame.tobytes())
            batches = shard.finish(video_id)
            height, width = (0, 0) if encoding == "float32" else SHAPES[encoding][:2]
            index.append([{"id": video_id, "status": "ok", "split": split_of(video_id), "times": times, "shard": 0,
                           "height": height, "width": width, "duration": (times or [0])[-1] + 1,
                           "batches": [batch._asdict() for batch in batches], **rows}])  # fmt: skip
    complete(folder, manifest, index)
    return Corpus.open(folder)


def add_rows(folder: Path, *rows: dict[str, object]) -> None:
    """To a corpus that is complete."""
    manifest = Manifest.load(folder)
    with adding_to(folder, manifest) as index:
        index.append(list(rows))
    complete(folder, manifest, index)


@pytest.mark.parametrize("encoding", SHAPES)
def test_segments_hold_the_frames_of_their_time(tmp_path, encoding):
    corpus = build(tmp_path / "c", encoding, {"a": [0.5 * n for n in range(700)], "b": [0.0, 1.0]})
    for start, seconds in [(0, 64), (100.2, 64), (120, 20), (300, 100), (349.6, 5), (400, 5), (-5, 10), (10, 0)]:
        excerpt = corpus["a"].excerpt(start, seconds)
        wanted = [n for n in range(700) if start <= 0.5 * n < start + seconds]
        assert excerpt.times.tolist() == [0.5 * n for n in wanted]
        assert excerpt.frames.shape == (len(wanted), *SHAPES[encoding])
        expected = np.array([picture(encoding, n) for n in wanted]).reshape(excerpt.frames.shape)
        assert np.abs(excerpt.frames.astype(float) - expected).max(initial=0) <= (12 if encoding == "jpeg" else 0)


@settings(deadline=None, max_examples=60)
@given(first=st.integers(0, 610), last=st.integers(0, 610), step=st.integers(1, 300))
def test_any_slice_of_frames_is_that_slice(tmp_path_factory, first, last, step):
    corpus = _sliced(tmp_path_factory)
    assert np.array_equal(corpus["a"].frames(first, last, step)[:, 0] // 10, np.arange(600)[first:last:step])


def _sliced(factory, made={}):  # noqa: B006  (built once for all examples)
    if "corpus" not in made:
        made["corpus"] = build(factory.mktemp("sliced") / "c", "float32", {"a": [float(n) for n in range(600)]})
    return made["corpus"]


def test_frames_belong_to_the_caller(tmp_path):
    video = build(tmp_path / "c", "raw", {"a": [0.0, 1.0]})["a"]
    excerpt = video.excerpt(0, 2)
    excerpt.frames[:] = 0
    excerpt.times[:] = 9
    assert video.frames().any() and video.times.tolist() == [0.0, 1.0]


def test_utterances_fall_in_the_segment_of_their_centre(tmp_path):
    said = [Utterance(0, 2, "cut it"), Utterance(3, 6, "boil it"), Utterance(6, 9, "eat it")]
    rows = {"utterances": [utterance._asdict() for utterance in said], "steps": [LabelledClip(1, 0.0, 2.0)._asdict()]}
    video = build(tmp_path / "c", "raw", {"a": [0.0, 5.0]}, **rows)["a"]
    assert video.utterances == said and video.steps == [LabelledClip(1, 0, 2)]
    parts = [video.excerpt(start, 2.5).utterances for start in (0, 2.5, 5, 7.5)]
    assert parts == [[said[0]], [said[1]], [], [said[2]]]


def test_a_corpus_can_be_iterated_over(tmp_path):
    corpus = build(tmp_path / "c", "raw", {name: [0.0] for name in ("b", "a", "c")})
    assert [video.id for video in corpus] == corpus.ids == ["a", "b", "c"] and len(corpus) == 3
    assert "a" in corpus and "z" not in corpus
    assert corpus.tasks["1"].steps == ("cut", "boil")
    with pytest.raises(KeyError, match="no video 'z'"):
        corpus["z"]


def test_iteration_skips_failed_videos(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0]})
    add_rows(corpus.path, {"id": "bad", "status": "failed", "reason": "broken"}, {"id": "away", "status": "absent"})
    corpus = Corpus.open(corpus.path)
    assert corpus.ids == ["a"]
    assert {name: corpus[name].status for name in corpus.rows()} == {"a": "ok", "away": "absent", "bad": "failed"}
    assert "away" not in corpus and corpus["away"].excerpt(0, 10).frames.shape[0] == 0


def test_splits_divide_the_corpus_as_in_the_paper():
    names = [f"video-{number}" for number in range(20_000)]
    shares = [sum(split_of(name) == split for name in names) / len(names) for split in SPLITS]
    assert shares == pytest.approx([0.80, 0.15, 0.05], abs=0.01)
    assert split_of("dQw4w9WgXcQ") == "train" and split_of("video-13") == "test"  # fixed forever


def test_a_split_lists_its_videos(tmp_path):
    corpus = build(tmp_path / "c", "raw", {f"v{number}": [0.0] for number in range(30)})
    assert sorted(video_id for name in SPLITS for video_id in corpus.split(name)) == corpus.ids
    with pytest.raises(ValueError, match="choose one of"):
        corpus.split("dev")


def frames_sum(corpus: Corpus) -> int:
    return int(corpus["a"].frames().sum())


def test_a_corpus_can_be_sent_to_another_process(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0, 1.0]})
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(frames_sum, corpus).result() == frames_sum(corpus) > 0


def test_any_arrow_reader_accepts_a_shard(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0, 1.0], "b": [0.5]})
    table = pa.ipc.open_stream(shard_path(corpus.path, 0).read_bytes()).read_all()
    assert table.column("video").to_pylist() == ["a", "a", "b"]
    assert table.column("time").to_pylist() == [0.0, 1.0, 0.5]


def test_a_video_taken_back_leaves_no_trace(tmp_path):
    writer = ShardWriter(tmp_path / "s.arrow")
    writer.add("a", 0.0, b"kept")
    batch = writer.finish("a")[0]
    for number in range(600):  # enough for some of it to reach the file
        writer.add("b", float(number), b"lost" * 1000)
    writer.take_back()
    writer.close()
    assert (tmp_path / "s.arrow").stat().st_size == batch.offset + batch.length


def part(folder: Path) -> Path:
    """The only part of its index."""
    (found,) = index_folder(folder).iterdir()
    return found


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda c: (c / "manifest.json").unlink(), "not a corpus"),
        (lambda c: (c / "manifest.json").write_text("{"), "damaged"),
        (lambda c: (c / "manifest.json").write_text('{"format": "other"}'), "damaged"),
        (lambda c: (c / "manifest.json").write_text('{"format": "mmcc-corpus", "version": 99}'), "version 99"),
        (lambda c: part(c).unlink(), r"index/00000000-00000000-\w{8}\.arrow: is missing"),
        (lambda c: part(c).write_bytes(b""), r"\.arrow: (cannot be read|is damaged)"),
        (lambda c: part(c).write_bytes(part(c).read_bytes()[:-1]), r"\.arrow: is damaged \(its checksum is wrong"),
    ],
)
def test_a_damaged_corpus_is_refused_with_its_cause(tmp_path, damage, message):
    build(tmp_path / "c", "raw", {"a": [0.0]})
    damage(tmp_path / "c")
    with pytest.raises(InputError, match=message):
        Corpus.open(tmp_path / "c")


def test_a_corpus_is_recognised_among_other_folders(tmp_path):
    build(tmp_path / "c", "raw", {"a": [0.0]})
    assert is_corpus(tmp_path / "c")
    assert (
        not is_corpus(tmp_path) and not is_corpus(tmp_path / "nowhere") and not is_corpus(tmp_path / "c/manifest.json")
    )


def test_a_missing_or_short_shard_is_named(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0]})
    shard_path(corpus.path, 0).write_bytes(shard_path(corpus.path, 0).read_bytes()[:700])
    with pytest.raises(InputError, match=r"00000\.arrow"):
        corpus["a"].frames()
    shard_path(corpus.path, 0).unlink()
    with pytest.raises(InputError, match=r"00000\.arrow"):
        Corpus.open(corpus.path)["a"].frames()


WRONG = {
    "format": [3, None],
    "version": ["1", 1.5, None, [1], 0, 1],
    "encoding": ["mp3", 5, None],
    "fps": ["1", 0, -1, None, [], True],
    "size": ["32", 3.5, -1, None],
    "fit": [1, None],
    "mode": [[], None],
    "quality": ["90", 1.5],
    "counts": [[], {"videos": "8"}, {"videos": None}, 3],
    "skipped": [{}, [["x", "gone"]], [3], [{"path": 3, "reason": "r"}], None],
    "tasks": [[], {"1": []}, {"1": {"id": "1"}}, {"1": {**asdict(Task("1", "t", ())), "steps": [3]}}],
    "sealed": ["0", -1, None],
    "complete": ["yes", 1, None],
    "index": [{}, None, [3], "00000000-00000000-00000000.arrow"],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_manifest_of_wrong_types_is_damaged(tmp_path, name):
    Manifest("raw", 1.0, 32).save(tmp_path)
    sound, _ = without_checksum((tmp_path / "manifest.json").read_bytes())
    assert len(Corpus.open(tmp_path)) == 0
    for wrong in WRONG[name]:
        (tmp_path / "manifest.json").write_bytes(with_checksum(sound | {name: wrong}))
        with pytest.raises(InputError, match="is damaged"):
            Corpus.open(tmp_path)
    lacking = {key: value for key, value in sound.items() if key != name}
    (tmp_path / "manifest.json").write_bytes(with_checksum(lacking))
    with pytest.raises(InputError, match=f"it lacks {name}"):
        Corpus.open(tmp_path)
