"""A corpus without what replaced videos left: the same answers in fewer bytes, also for those who are reading."""

import json
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.compact import compact
from mmcc.corpus.embeddings import FOLDER, open_vectors
from mmcc.corpus.format import Manifest, index_folder, shard_path
from mmcc.corpus.index import open_index
from mmcc.corpus.shards import ShardWriter, next_shard
from mmcc.corpus.verify import verify
from mmcc.errors import InputError
from mmcc.locks import only_writer
from tests.corpus.first_version import in_first_version
from tests.corpus.ingesting import content, run
from tests.corpus.test_corpus import build, picture
from tests.corpus.test_embeddings import COLOURS, LENGTHS, SAID, colours, embed, lengths
from tests.schemas import check

TIMES = {"a": [0.0, 1.0], "b": [float(n) for n in range(40)], "c": [], "d": [0.5]}


def add(folder: Path, videos: dict[str, list[float]]) -> None:
    """Ingest videos again, with other frames."""
    manifest = Manifest.load(folder)
    number = next_shard(folder, open_index(folder)[1])
    with adding_to(folder, manifest) as index, closing(ShardWriter(shard_path(folder, number))) as shard:
        for video_id, times in videos.items():
            for time in times:
                shard.add(video_id, time, picture("raw", 100 + int(time)).tobytes())
            batches = [batch._asdict() for batch in shard.finish(video_id)]
            index.append([{"id": video_id, "status": "ok", "split": "train", "times": times, "shard": number,
                           "height": 24, "width": 32, "batches": batches, "fingerprint": str(number),
                           "utterances": SAID}])  # fmt: skip
    complete(folder, manifest, index)


@pytest.fixture
def replaced(tmp_path) -> Path:
    """Of shard 0 half is in use, of 1 nothing, of 2 all. Both encoders have vectors of replaced videos."""
    corpus = build(tmp_path / "c", "raw", TIMES, utterances=SAID)
    embed(corpus, COLOURS, colours)
    embed(corpus, LENGTHS, lengths)
    add(corpus.path, {"b": [0.0, 1.0]})
    embed(Corpus.open(corpus.path), COLOURS, colours)
    add(corpus.path, {"b": [0.0, 1.0, 2.0]})
    embed(Corpus.open(corpus.path), COLOURS, colours)
    return corpus.path


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.arrow"))


def shards(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "shards").iterdir())


def test_the_same_answers_in_fewer_bytes(replaced):
    before, vectors, size = content(replaced), content(replaced / FOLDER / COLOURS.folder), size_of(replaced)
    assert shards(replaced) == ["00000.arrow", "00001.arrow", "00002.arrow"]
    promised = compact(replaced, dry_run=True)
    assert promised.dry_run and size_of(replaced) == size
    report = compact(replaced)
    assert size - size_of(replaced) == report.bytes == promised.bytes > 40 * 24 * 32 * 3
    ours, frames, text = report.folders
    assert (ours.shards_removed, ours.shards_rewritten, ours.rows, ours.lost) == (1, 1, 0, 0)
    assert (frames.shards_removed, frames.shards_rewritten, text.bytes) == (1, 1, 0)
    assert shards(replaced) == ["00002.arrow", "00003.arrow"]
    assert content(replaced) == before and content(replaced / FOLDER / COLOURS.folder) == vectors
    assert not verify(replaced).damaged
    for shard in (replaced / "shards").iterdir():  # each is a whole stream, with nothing in it that no row names
        assert set(pa.ipc.open_stream(shard.read_bytes()).read_all().column("video").to_pylist()) <= set(before)
    again = compact(replaced)
    assert again.bytes == 0 and shards(replaced) == ["00002.arrow", "00003.arrow"]


def test_a_corpus_with_nothing_to_drop_is_not_touched(tmp_path):
    build(tmp_path / "c", "jpeg", TIMES, utterances=SAID)
    before = {path: path.stat() for path in (tmp_path / "c").rglob("*") if path.name not in (".lock", "c")}
    assert compact(tmp_path / "c").bytes == 0
    files = {path: path.stat() for path in (tmp_path / "c").rglob("*") if path.name not in (".lock", "c")}
    assert files == before


def test_after_a_real_ingest_of_changed_videos(folder, tmp_path, make_clip):
    run(folder, tmp_path / "c", workers=2)
    make_clip("src/soup1.mp4", seconds=3)
    run(folder, tmp_path / "c")
    before = content(tmp_path / "c")
    assert compact(tmp_path / "c").folders[0].written_bytes > 0
    assert content(tmp_path / "c") == before and not verify(tmp_path / "c").damaged
    again = run(folder, tmp_path / "c")
    assert again.already_done == 5 and content(tmp_path / "c") == before
    make_clip("src/soup2.mp4", seconds=2)
    run(folder, tmp_path / "c")
    assert len(Corpus.open(tmp_path / "c")["soup2"].times) == 2


def test_replaced_rows_of_a_large_index_are_dropped(replaced, monkeypatch):
    monkeypatch.setattr("mmcc.corpus.index._PART_BYTES", 1)  # parts are not merged
    add(replaced, {"a": [3.0]})
    assert open_index(replaced)[1].num_rows == 5 and len(Manifest.load(replaced).index) == 2
    before = content(replaced)
    assert compact(replaced).folders[0].rows == 1
    assert open_index(replaced)[1].num_rows == 4 and content(replaced) == before
    assert {path.name for path in index_folder(replaced).iterdir()} == set(Manifest.load(replaced).index)


def test_what_killed_commands_left_is_removed(replaced):
    compact(replaced)
    before = content(replaced)
    left = [replaced / ".tmp-manifest.json", shard_path(replaced, 77), index_folder(replaced) / ".tmp-x.arrow"]
    left.append(index_folder(replaced) / "00000000-00000000-deadbeef.arrow")
    for path in left:
        path.write_bytes(b"12345")
    (replaced / "notes.txt").write_text("mine")
    report = compact(replaced)
    assert report.bytes == 20 and report.folders[0].shards_removed == 1
    assert not any(path.exists() for path in left) and (replaced / "notes.txt").exists()
    assert content(replaced) == before


def test_a_part_of_the_index_that_a_killed_compaction_left_does_not_count_for_later_writers(replaced, monkeypatch):
    """It has all rows, in the place of a part that counts, but names shards that are not there."""
    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "save", stop)
        with pytest.raises(KeyboardInterrupt):
            compact(replaced)
    before = content(replaced)
    assert len(list(index_folder(replaced).iterdir())) == 2 and "00003.arrow" in shards(replaced)
    add(replaced, {"e": [0.0]})
    assert not verify(replaced).damaged and before.items() <= content(replaced).items()
    assert len(list(index_folder(replaced).iterdir())) == 1


def stop(*_):
    raise KeyboardInterrupt


def test_who_reads_goes_on_reading(replaced):
    reader, vectors = Corpus.open(replaced), open_vectors(Corpus.open(replaced), COLOURS)
    expected, expected_vectors = content(replaced), content(vectors.path)
    begun = Corpus.open(replaced)
    begun["a"].frames(0, 1)
    compact(replaced)
    assert {video.id: video.frames().tobytes() for video in reader} == {key: each[-1] for key, each in expected.items()}
    assert begun["a"].frames().tobytes() == begun["d"].frames().tobytes() + picture("raw", 1).tobytes()
    for video in vectors:
        assert video.frames().tobytes() == expected_vectors[video.id][-1]
    add(replaced, {"d": [0.0]})
    third = Corpus.open(replaced)
    compact(replaced)  # once more: what was found before has moved, too
    assert {video.id: video.frames().tobytes() for video in third} == {
        video.id: video.frames().tobytes() for video in Corpus.open(replaced)
    }
    late = Corpus.open(replaced)
    add(replaced, {"a": [0.0]})
    compact(replaced)
    assert reader["b"].frames().tobytes() == expected["b"][-1] == late["b"].frames().tobytes()


def test_who_reads_a_video_that_was_replaced_is_told(tmp_path):
    reader = build(tmp_path / "c", "raw", TIMES, utterances=SAID)
    add(tmp_path / "c", {"a": [7.0]})
    compact(tmp_path / "c")
    assert reader["d"].frames().shape == (1, 24, 32, 3)
    with pytest.raises(InputError, match="a has been ingested again since the corpus was opened"):
        reader["a"].frames()


def test_a_shard_that_is_gone_is_said_to_be_missing(tmp_path):
    reader = build(tmp_path / "c", "raw", TIMES)
    shard_path(tmp_path / "c", 0).unlink()
    with pytest.raises(InputError, match="is missing"):
        reader["a"].frames()


def test_videos_without_frames_keep_their_rows(replaced):
    shard_path(replaced, 2).unlink()
    report = compact(replaced)
    assert report.folders[0].lost == 1 and "b" in Corpus.open(replaced).lost()
    assert Corpus.open(replaced)["a"].frames().shape == (2, 24, 32, 3)


def test_a_shard_that_was_cut_is_left_as_it_is(replaced):
    shard = shard_path(replaced, 0)
    shard.write_bytes(shard.read_bytes()[:-500])
    kept = shard.read_bytes()
    report = compact(replaced)
    assert report.folders[0].lost == 1 and shard.read_bytes() == kept
    assert Corpus.open(replaced)["a"].frames().shape == (2, 24, 32, 3)


def test_damaged_frames_are_not_copied_and_the_corpus_stays_as_it_is(replaced):
    shard = shard_path(replaced, 0)
    damaged = bytearray(shard.read_bytes())
    damaged[2000] ^= 1
    shard.write_bytes(damaged)
    manifest = (replaced / "manifest.json").read_bytes()
    with pytest.raises(InputError, match=r"00000\.arrow: is damaged"):
        compact(replaced)
    assert shards(replaced) == ["00000.arrow", "00001.arrow", "00002.arrow"]
    assert (replaced / "manifest.json").read_bytes() == manifest


def test_refuses_while_somebody_writes_or_was_stopped(replaced, tmp_path):
    with only_writer(replaced), pytest.raises(InputError, match="another mmcc process is writing to it"):
        compact(replaced)
    with only_writer(replaced / FOLDER / LENGTHS.folder), pytest.raises(InputError, match="another mmcc process"):
        compact(replaced)
    manifest = Manifest.load(replaced)
    manifest.complete = False
    manifest.save(replaced)
    with pytest.raises(InputError, match=r"is not finished.*\n.*to its end"):
        compact(replaced)
    build(tmp_path / "new", "raw", TIMES)
    with pytest.raises(InputError, match="format version 1"):
        compact(in_first_version(tmp_path / "new", tmp_path / "old"))
    with pytest.raises(InputError, match="is not a corpus"):
        compact(tmp_path)


def test_the_command_says_how_many_bytes(replaced, capsys):
    assert main(["compact", str(replaced), "--dry-run", "--json"]) == 0
    promised = json.loads(capsys.readouterr().out)
    check("compact", promised)
    assert main(["compact", str(replaced)]) == 0
    out = capsys.readouterr().out
    assert f"{promised['bytes'] / 1e6:,.3f} MB freed" in out and "1 shard removed, 1 shard rewritten" in out
    assert main(["compact", str(replaced), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == 0
