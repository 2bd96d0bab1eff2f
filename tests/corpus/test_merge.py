"""Corpora joined are what one ingest of everything would have been, and until then there is nothing."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import FOLDER, Encoder, open_vectors, stored_encoders
from mmcc.corpus.format import Manifest, shard_path
from mmcc.corpus.index import latest_positions, open_index, state_of, whole_row
from mmcc.corpus.merge import RECORD, merge
from mmcc.corpus.part import SourcePart
from mmcc.corpus.source import Task
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.corpus.verify import verify
from mmcc.errors import InputError
from tests.corpus.first_version import in_first_version
from tests.corpus.ingesting import content, run, spoil
from tests.corpus.test_corpus import add_rows, build
from tests.corpus.test_embeddings import COLOURS, LENGTHS, SAID, colours, embed, lengths
from tests.schemas import check


def rows(corpus: Path) -> dict[str, dict]:
    """Every row of the index, but for where its frames are."""
    table = open_index(corpus)[1]
    found = {video_id: whole_row(table, position) for video_id, position in latest_positions(table).items()}
    for row in found.values():
        del row["shard"]
        row["batches"] = [{**batch, "offset": 0} for batch in row["batches"] or []]
    return found


@pytest.fixture
def two(tmp_path) -> list[Path]:
    """Two small corpora with embeddings."""
    for name, times in (("one", {"a": [0.0, 1.0], "b": [float(n) for n in range(40)]}), ("two", {"c": [0.5], "d": []})):
        corpus = build(tmp_path / name, "raw", times, utterances=SAID)
        embed(corpus, COLOURS, colours)
        embed(corpus, LENGTHS, lengths)
    return [tmp_path / "one", tmp_path / "two"]


@pytest.mark.slow
@pytest.mark.parametrize("linked", [True, False])
def test_the_parts_of_an_ingest_become_what_one_ingest_gives(folder, ffmpeg, tmp_path, monkeypatch, linked):
    spoil(folder, ffmpeg)
    (folder / "late.mp4.part").write_text("unfinished")
    whole = run(folder, tmp_path / "whole")
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        run(folder, part, part=SourcePart(number, 3), workers=2)
    if not linked:
        monkeypatch.setattr(os, "link", cannot_link)
    report = merge(parts, tmp_path / "c")
    assert rows(tmp_path / "c") == rows(tmp_path / "whole") and len(rows(tmp_path / "c")) == 8
    assert content(tmp_path / "c") == content(tmp_path / "whole") and not verify(tmp_path / "c").damaged
    joined, alone = Manifest.load(tmp_path / "c"), Manifest.load(tmp_path / "whole")
    for corpus in (joined, alone):
        corpus.index, corpus.sealed, corpus.skipped = [], 0, sorted(corpus.skipped, key=str)
    assert joined == alone and len(alone.skipped) == 1
    assert (report.videos, report.frames, report.utterances) == (whole.ingested, whole.frames, whole.utterances)
    shards = list((tmp_path / "c" / "shards").iterdir())
    assert (report.linked, report.copied) == ((len(shards), 0) if linked else (0, len(shards)))
    assert report.copied_bytes == (0 if linked else sum(path.stat().st_size for path in shards))
    for part in parts:
        shutil.rmtree(part)
    again = run(folder, tmp_path / "c")
    assert again.already_done == whole.ingested and again.healed == 0 and not verify(tmp_path / "c").damaged
    assert rows(tmp_path / "c") == rows(tmp_path / "whole") and content(tmp_path / "c") == content(tmp_path / "whole")


def cannot_link(source, target, **_):
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


def test_a_merged_corpus_grows_like_any_other(two, tmp_path):
    merge(two, tmp_path / "c")
    before = content(tmp_path / "c")
    add_rows(tmp_path / "c", {"id": "e", "status": "ok", "split": "train"})
    assert content(tmp_path / "c").keys() == {"a", "b", "c", "d", "e"}
    assert before.items() <= content(tmp_path / "c").items()


def test_embeddings_come_along(two, tmp_path):
    report = merge(two, tmp_path / "c")
    corpus = Corpus.open(tmp_path / "c")
    assert report.embeddings == ["colours", "lengths"] and stored_encoders(corpus) == [COLOURS, LENGTHS]
    seen = with_vectors(corpus, frames=Wanted("colours"), text=Wanted("lengths"))
    for path in two:
        alone = with_vectors(Corpus.open(path), frames=Wanted("colours"), text=Wanted("lengths"))
        for video in alone:
            assert seen[video.id].frames().tobytes() == video.frames().tobytes()
            assert seen[video.id].text_vectors.tobytes() == video.text_vectors.tobytes()
    assert embed(corpus, COLOURS, colours).already_done == 4
    assert not verify(tmp_path / "c").damaged


def test_the_command_tells_what_it_did_and_the_same_again_finds_it_done(two, tmp_path, capsys):
    words = ["merge", *map(str, two), "-o", str(tmp_path / "c"), "--json"]
    told = []
    for _ in range(2):
        assert main(words) == 0
        told.append(json.loads(capsys.readouterr().out))
        check("merge", told[-1])
    assert [each["already_done"] for each in told] == [False, True]
    assert told[0]["videos"] == told[1]["videos"] == 4 and told[0]["linked"] == 1 + 1 + 2 + 2
    assert main(words[:-1]) == 0
    assert "4 videos, 43 frames, 8 utterances from 2 parts (joined before)" in capsys.readouterr().out
    add_rows(two[0], {"id": "e", "status": "absent"})
    assert main(words) == 3
    assert "is a corpus already, of other parts" in json.loads(capsys.readouterr().out)["error"]["cause"]


def test_a_video_that_two_parts_have_is_taken_once(two, tmp_path):
    shutil.copytree(two[0], tmp_path / "copy")
    report = merge([*two, tmp_path / "copy"], tmp_path / "c")
    assert report.repeated == 2 and report.videos == 4 and report.linked == 6
    assert len(rows(tmp_path / "c")) == 4 and open_index(tmp_path / "c")[1].num_rows == 4


@pytest.mark.parametrize("first", [True, False])
def test_a_video_that_another_part_could_not_find_or_read_is_taken_from_the_one_that_could(tmp_path, first):
    build(tmp_path / "one", "raw", {"a": [0.0], "b": [1.0]})
    build(tmp_path / "two", "raw", {"c": [1.0]})
    add_rows(tmp_path / "two", {"id": "a", "status": "absent"}, {"id": "b", "status": "failed", "reason": "broken"})
    add_rows(tmp_path / "one", {"id": "d", "status": "absent"})
    add_rows(tmp_path / "two", {"id": "d", "status": "failed", "reason": "broken"})
    complete(tmp_path / "one", tmp_path / "two")
    parts = [tmp_path / "one", tmp_path / "two"]
    report = merge(parts if first else parts[::-1], tmp_path / "c")
    assert report.videos == 3 and report.repeated == 0 and content(tmp_path / "c").keys() == {"a", "b", "c"}
    assert rows(tmp_path / "c")["d"]["status"] == "failed"


def complete(*folders: Path) -> None:
    """As after an ingest that has ended."""
    from mmcc.corpus.adding import adding_to
    from mmcc.corpus.adding import complete as end

    for folder in folders:
        manifest = Manifest.load(folder)
        with adding_to(folder, manifest) as index:
            pass
        end(folder, manifest, index)


def other_settings(two, tmp_path):
    build(tmp_path / "x", "jpeg", {"x": [0.0]})
    return r"x: was created with encoding jpeg, not raw as .*one", "same settings"


def other_task(two, tmp_path):
    for path in two:
        shutil.rmtree(path / FOLDER)
    build(tmp_path / "x", "raw", {"x": [0.0]})
    manifest = Manifest.load(tmp_path / "x")
    manifest.tasks["1"] = Task("1", "Stew", ("cut", "boil"))
    manifest.save(tmp_path / "x")
    return r"x: has another task '1' than .*one", "same release"


def other_content(two, tmp_path):
    corpus = build(tmp_path / "x", "raw", {"a": [0.0, 1.5]}, utterances=SAID)
    embed(corpus, COLOURS, colours)
    embed(corpus, LENGTHS, lengths)
    return r"x: has another video a than .*one", "Leave one of the two out"


def no_embeddings(two, tmp_path):
    corpus = build(tmp_path / "x", "raw", {"x": [0.0]}, utterances=SAID)
    embed(corpus, LENGTHS, lengths)
    return r"x: has no embeddings by colours, which .*one has", "mmcc embed .*x --frames colours"


def other_encoder(two, tmp_path):
    corpus = build(tmp_path / "x", "raw", {"x": [0.0]}, utterances=SAID)
    embed(corpus, COLOURS, colours)
    embed(corpus, LENGTHS, lengths)
    embed(corpus, Encoder("greys", "00", "frames", 3), colours)
    return r"one: has no embeddings by greys, which .*x has", "mmcc embed .*one --frames greys"


def other_rate(two, tmp_path):
    corpus = build(tmp_path / "x", "raw", {"x": [0.0]}, utterances=SAID)
    embed(corpus, COLOURS, colours, fps=0.5)
    embed(corpus, LENGTHS, lengths)
    return r"x.*colours.*: was created with fps 0\.5, not 1\.0 as .*one", "same settings"


def old_format(two, tmp_path):
    in_first_version(two[1], tmp_path / "x")
    return "x: has format version 1", "--upgrade"


def unfinished(two, tmp_path):
    build(tmp_path / "x", "raw", {"x": [0.0]})
    manifest = Manifest.load(tmp_path / "x")
    manifest.complete = False
    manifest.save(tmp_path / "x")
    return r"x: is not finished \(a command is writing it, or was stopped\)", "to its end"


def lost_shard(two, tmp_path):
    build(tmp_path / "x", "raw", {"x": [0.0]})
    shard_path(tmp_path / "x", 0).unlink()
    return r"x: has lost frames \(shards/00000\.arrow is missing\)", "reads them anew"


def damaged_index(two, tmp_path):
    build(tmp_path / "x", "raw", {"x": [0.0]})
    (part,) = (tmp_path / "x" / "index").iterdir()
    part.write_bytes(part.read_bytes()[:-1] + b"!")
    return r"x/index/.*: is damaged \(its checksum is wrong\)", "Restore"


def no_corpus(two, tmp_path):
    (tmp_path / "x").mkdir()
    return r"x: is not a corpus", "mmcc ingest"


@pytest.mark.parametrize(
    "spoiled",
    [
        other_settings,
        other_task,
        other_content,
        no_embeddings,
        other_encoder,
        other_rate,
        old_format,
        unfinished,
        lost_shard,
        damaged_index,
        no_corpus,
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(two, tmp_path, spoiled):
    cause, remedy = spoiled(two, tmp_path)
    with pytest.raises(InputError, match=f"(?s){cause}.*\n.*{remedy}"):
        merge([*two, tmp_path / "x"], tmp_path / "c")
    assert not (tmp_path / "c").exists() and not list(tmp_path.glob(".tmp-*"))


def test_a_part_without_videos_fits_any(two, tmp_path):
    """It has no embeddings, since there is nothing to embed."""
    build(tmp_path / "x", "raw", {})
    assert merge([tmp_path / "x", *two], tmp_path / "c").videos == 4


@pytest.mark.parametrize("taken", ["file", "folder", "part"])
def test_nothing_is_written_over(two, tmp_path, taken):
    output = tmp_path / "c"
    if taken == "file":
        output.write_text("precious")
    elif taken == "folder":
        output.mkdir()
        (output / "thesis.tex").write_text("precious")
    else:
        output = two[1]
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="exists already" if taken != "part" else "is one of the parts"):
        merge(two, output)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_folder_is_used(two, tmp_path, monkeypatch):
    (tmp_path / "c").mkdir()
    monkeypatch.chdir(tmp_path / "c")
    assert merge(two, Path()).videos == 4


def test_damaged_frames_are_not_copied(two, tmp_path, monkeypatch):
    shard = shard_path(two[0], 0)
    damaged = bytearray(shard.read_bytes())
    damaged[-1000] ^= 1
    shard.write_bytes(damaged)
    monkeypatch.setattr(os, "link", cannot_link)
    with pytest.raises(InputError, match=r"one/shards/00000\.arrow: is damaged \(the checksum of the frames at byte"):
        merge(two, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_what_a_killed_run_has_copied_is_not_copied_again(two, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", cannot_link)
    with monkeypatch.context() as patch:
        patch.setattr("mmcc.corpus.merge.write_whole_index", stop)
        with pytest.raises(KeyboardInterrupt):
            merge(two, tmp_path / "c")
    draft = tmp_path / ".tmp-c"
    inodes = {path: path.stat().st_ino for path in draft.glob("shards/*")}
    assert len(inodes) == 2 and not (tmp_path / "c").exists()
    report = merge(two, tmp_path / "c")
    assert not draft.exists() and report.copied == 6
    assert {path.name: path.stat().st_ino for path in (tmp_path / "c" / "shards").iterdir()} == {
        path.name: inode for path, inode in inodes.items()
    }


def stop(*_):
    raise KeyboardInterrupt


def test_a_draft_of_other_parts_is_not_continued(two, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("mmcc.corpus.merge.write_whole_index", stop)
        with pytest.raises(KeyboardInterrupt):
            merge(two[::-1], tmp_path / "c")
    merge(two, tmp_path / "c")
    assert not verify(tmp_path / "c").damaged and len(content(tmp_path / "c")) == 4
    assert json.loads((tmp_path / "c" / RECORD).read_text())["parts"][0]["path"] == str(two[0])


def test_many_rows_are_written_in_several_parts_of_the_index(two, tmp_path, monkeypatch):
    monkeypatch.setattr("mmcc.corpus.index._PART_BYTES", 1000)
    for number, path in enumerate(two):
        add_rows(path, *({"id": f"{number}-{each}", "status": "absent"} for each in range(30)))
    complete(*two)
    merge(two, tmp_path / "c")
    assert len(Manifest.load(tmp_path / "c").index) > 1 and len(rows(tmp_path / "c")) == 64
    state = state_of(tmp_path / "c")
    add_rows(tmp_path / "c", {"id": "last", "status": "absent"})
    assert len(rows(tmp_path / "c")) == 65 and state_of(tmp_path / "c") != state


def test_vectors_of_both_encoders_are_told_apart(two, tmp_path):
    merge(two, tmp_path / "c")
    corpus = Corpus.open(tmp_path / "c")
    assert open_vectors(corpus, COLOURS)["b"].frames().shape == (40, 3)
    assert open_vectors(corpus, LENGTHS)["d"].frames().tolist() == [[6, 2], [1, 0]]
