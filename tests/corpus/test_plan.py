"""Run again, an ingest does what is new, changed, failed or lost, and loses nothing."""

import dataclasses
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.format import INDEX_SCHEMA
from mmcc.corpus.ingest import ingest
from mmcc.corpus.plan import fingerprint_of, make_plan, row_of
from mmcc.corpus.source import Item, LabelledClip, Source, Task
from mmcc.errors import InputError
from mmcc.media.video import Sampling
from mmcc.storage import place
from mmcc.storage.listing import ListedPath
from tests.corpus.ingesting import SRT, content, run, settings, spoil
from tests.schemas import check


def test_a_second_run_does_nothing_twice(folder, tmp_path):
    run(folder, tmp_path / "c")
    before = {path: path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()}
    report = run(folder, tmp_path / "c")
    assert (report.already_done, report.ingested, report.frames) == (5, 5, 30)
    assert {path: path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()} == before


def test_new_and_repaired_files_are_ingested(folder, tmp_path, make_clip, ffmpeg):
    spoil(folder, ffmpeg)
    run(folder, tmp_path / "c")
    make_clip("src/extra.mp4", seconds=3)
    make_clip("src/noise.mp4", seconds=2)
    (folder / "soup0.srt").write_text(SRT)
    report = run(folder, tmp_path / "c")
    assert report.already_done == 4  # soup1 to soup4
    assert report.ingested == 7 and {Path(path).name for path, _ in report.skipped} == {"empty.mp4", "voice.mp4"}
    assert len(Corpus.open(tmp_path / "c")["soup0"].utterances) == 2


def test_a_file_that_failed_at_a_limit_is_tried_again(folder, tmp_path):
    tight = settings(sampling=Sampling(size=32, max_seconds=5.5))
    report = ingest(find_source(folder), tmp_path / "c", tight)
    assert report.ingested == 2 and all("--max-hours" in reason for _, reason in report.skipped)
    assert run(folder, tmp_path / "c").ingested == 5


def test_two_videos_with_one_id_do_not_replace_each_other(folder, tmp_path, make_clip):
    run(folder, tmp_path / "c")
    make_clip("other/soup1.mp4", seconds=2)
    report = run(tmp_path / "other", tmp_path / "c")
    assert [Path(path).name for path, _ in report.skipped] == ["soup1.mp4"]
    assert len(Corpus.open(tmp_path / "c")["soup1"].times) == 5


def test_a_video_that_can_no_longer_be_read_keeps_its_frames(folder, tmp_path):
    run(folder, tmp_path / "c")
    (folder / "soup2.mp4").write_bytes(b"overwritten by mistake")
    report = run(folder, tmp_path / "c")
    assert [Path(path).name for path, _ in report.skipped] == ["soup2.mp4"]
    assert "is kept" in report.skipped[0].reason and report.ingested == 5
    assert len(Corpus.open(tmp_path / "c")["soup2"].times) == 6


def test_files_no_longer_found_stay_in_the_corpus(folder, tmp_path, make_clip):
    run(folder, tmp_path / "c")
    (folder / "soup1.srt").unlink()
    (folder / "soup2.mp4").unlink()
    make_clip("src/new.mp4", seconds=2)
    report = run(folder, tmp_path / "c")
    corpus = Corpus.open(tmp_path / "c")
    assert len(corpus["soup1"].utterances) == 2 and len(corpus["soup2"].times) == 6
    assert report.others == 1 and report.already_done == 4 and "new" in corpus


def test_annotations_reach_videos_already_ingested(folder, tmp_path):
    run(folder, tmp_path / "c")
    source = find_source(folder)
    labelled = dataclasses.replace(
        source.items[0], tasks=("7",), steps=(LabelledClip(1, 0.0, 2.0),), split="validation"
    )
    source.items[0], source.tasks["7"] = labelled, Task("7", "Soup", ("stir",))
    assert ingest(source, tmp_path / "c", settings()).already_done == 5
    video = Corpus.open(tmp_path / "c")[labelled.id]
    assert video.steps == [LabelledClip(1, 0, 2)] and video.split == "validation" and len(video.times) == 4
    assert run(folder, tmp_path / "c").already_done == 5  # a plain folder contradicts nothing
    assert Corpus.open(tmp_path / "c")[labelled.id].steps == [LabelledClip(1, 0, 2)]


def test_a_changed_file_keeps_its_annotations_and_its_captions(folder, tmp_path, make_clip):
    source = find_source(folder)
    labelled = dataclasses.replace(source.items[1], tasks=("7",), steps=(LabelledClip(1, 0.0, 2.0),), split="test")
    source.items[1], source.tasks["7"] = labelled, Task("7", "Soup", ("stir",))
    ingest(source, tmp_path / "c", settings())
    (folder / "soup1.srt").unlink()
    make_clip("src/soup1.mp4", seconds=3)
    assert run(folder, tmp_path / "c").already_done == 4
    video = Corpus.open(tmp_path / "c")["soup1"]
    assert len(video.times) == 3 and video.steps == [LabelledClip(1, 0, 2)] and video.split == "test"
    assert len(video.utterances) == 2 and video.details["caption_kind"] == "manual"
    assert run(folder, tmp_path / "c").already_done == 5


def test_new_captions_alone_leave_the_frames(folder, tmp_path):
    run(folder, tmp_path / "c")
    (folder / "soup1.srt").write_text("1\n00:00:00,500 --> 00:00:02,000\nCut two onions.\n")
    source = find_source(folder)
    source.items = [dataclasses.replace(item, media=None) for item in source.items]
    assert ingest(source, tmp_path / "c", settings()).already_done == 4
    video = Corpus.open(tmp_path / "c")["soup1"]
    assert [utterance.text for utterance in video.utterances] == ["Cut two onions."]
    assert len(video.times) == 5 and video.frames().std() > 20
    assert run(folder, tmp_path / "c").already_done == 5


def test_a_video_that_was_only_listed_keeps_its_annotations_when_it_is_found(folder, tmp_path):
    source = find_source(folder)
    away = dataclasses.replace(
        source.items[0], media=None, captions=None, tasks=("7",), steps=(LabelledClip(1, 0.0, 2.0),)
    )
    ingest(Source([away], {"7": Task("7", "Soup", ("stir",))}), tmp_path / "c", settings())
    assert run(folder, tmp_path / "c").ingested == 5
    assert Corpus.open(tmp_path / "c")["soup0"].steps == [LabelledClip(1, 0, 2)]


def test_a_moved_folder_is_resumed_like_any_other(folder, tmp_path, make_clip):
    run(folder, tmp_path / "c")
    folder.rename(tmp_path / "moved")
    for path in (tmp_path / "moved").iterdir():
        os.utime(path, (1, 1))  # as a copy would
    assert run(tmp_path / "moved", tmp_path / "c").already_done == 5
    (tmp_path / "moved" / "soup3.srt").write_text(SRT + "\n3\n00:00:05,000 --> 00:00:06,000\nEat it.\n")
    make_clip("moved/soup2.mp4", seconds=2)
    report = run(tmp_path / "moved", tmp_path / "c")
    assert report.already_done == 3 and not report.skipped
    corpus = Corpus.open(tmp_path / "c")
    assert len(corpus["soup3"].utterances) == 3 and len(corpus["soup2"].times) == 2


def test_a_file_is_judged_by_its_state_before_it_was_read(folder, tmp_path, make_clip):
    def replace_meanwhile(total):
        make_clip("src/soup4.mp4", seconds=2)  # between the plan and the worker's reading
        return lambda path, share: None

    ingest(find_source(folder), tmp_path / "c", settings(), replace_meanwhile)
    assert run(folder, tmp_path / "c").already_done == 4  # soup4 is read again


def test_a_lost_shard_is_read_again_from_the_source(folder, tmp_path, capsys):
    run(folder, tmp_path / "c", workers=2)
    before, corpus = content(tmp_path / "c"), tmp_path / "c"
    for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:2000])):
        shard = max((corpus / "shards").iterdir())
        damage(shard)
        lost = Corpus.open(corpus).lost()
        assert 0 < len(lost) < 5 and all(shard.name in reason for reason in lost.values())
        assert main(["inspect", str(corpus), "--json"]) == 3
        told = json.loads(capsys.readouterr().out)
        check("inspect", told)
        assert len(told["lost"]) == len(lost)
        report = run(folder, corpus, workers=2)
        assert (report.healed, report.already_done, report.ingested) == (len(lost), 5 - len(lost), 5)
        assert content(corpus) == before and not Corpus.open(corpus).lost()
    assert run(folder, tmp_path / "c").healed == 0


def test_frames_that_are_lost_with_their_source_are_said_to_be(folder, tmp_path):
    run(folder, tmp_path / "c")
    shutil.rmtree(tmp_path / "c" / "shards")
    (folder / "soup2.mp4").unlink()
    (folder / "soup3.mp4").write_bytes(b"overwritten by mistake")
    report = run(folder, tmp_path / "c")
    assert report.healed == 3
    reasons = {Path(path).name: reason for path, reason in report.skipped}
    assert "its frames are lost (shards/00000.arrow is missing)" in reasons["soup2.mp4"] and "soup3.mp4" in reasons
    corpus = Corpus.open(tmp_path / "c")
    assert list(corpus.lost()) == ["soup2"] and corpus["soup3"].status == "failed"
    with pytest.raises(InputError, match="is missing"):
        corpus["soup2"].frames()
    assert len(corpus["soup1"].frames()) == 5


def test_of_a_bucket_that_is_not_read_nobody_is_asked_whether_a_video_is_still_there():
    """Nor does an address that somebody put into an index lead a request anywhere."""
    facts = SimpleNamespace(is_file=True, size=10, mtime_ns=1)
    then, now = (Item("soup", ListedPath.of(place(f"s3://{name}/soup.mp4"), facts)) for name in ("old-one", "new-one"))
    for source in (str(then.media), "s3://BAD?endpoint_override=nowhere.invalid/soup.mp4"):
        row = {**row_of(then, {"status": "ok"}, fingerprint_of(then)), "source": source}
        row["fingerprint"] = "10.0+-"
        plan = make_plan(Source([now]), pa.Table.from_pylist([row], INDEX_SCHEMA), False, {})
        assert "is taken by" in plan.clashes["soup"].reason and not plan.todo
