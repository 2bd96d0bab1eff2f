"""From a folder to a corpus: whole, resumable at any time, and never taken down by a bad file."""

import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.corpus.source import LabelledClip, Source, Task
from mmcc.corpus.summary import render_ingest
from mmcc.errors import InputError
from mmcc.media.sandbox import Limits
from mmcc.media.video import Sampling
from tests.forked import Forked

SRT = "1\n00:00:00,500 --> 00:00:02,000\nCut the onion.\n\n2\n00:00:02,500 --> 00:00:04,000\nFry it.\n"


def settings(**changes: object) -> IngestSettings:
    return IngestSettings(**{"sampling": Sampling(size=32), "workers": 1, **changes})


def run(folder: Path, output: Path, **changes: object):
    return ingest(find_source(folder, features="feature_rate" in changes), output, settings(**changes))


def content(corpus: Path) -> dict[str, tuple]:
    """Everything a corpus holds about each video, whatever its shard."""
    return {
        video.id: (video.status, video.times.tolist(), video.utterances, video.steps, video.frames().tobytes())
        for video in Corpus.open(corpus)
    }


@pytest.fixture
def folder(make_clip, tmp_path) -> Path:
    """Five narrated clips and the ways a file can be bad."""
    for number in range(5):
        make_clip(f"src/soup{number}.mp4", seconds=4 + number)
        (tmp_path / f"src/soup{number}.srt").write_text(SRT)
    return tmp_path / "src"


def spoil(folder: Path, ffmpeg) -> None:
    (folder / "noise.mp4").write_bytes(random.Random(0).randbytes(5000))
    (folder / "empty.mp4").write_bytes(b"")
    ffmpeg("-f", "lavfi", "-i", "sine", "-t", 1, folder / "voice.mp4")
    (folder / "soup0.srt").write_bytes(b"\x00\x01 no captions here")


def test_a_folder_becomes_a_corpus(folder, tmp_path):
    report = run(folder, tmp_path / "c", workers=2)
    assert (report.videos, report.ingested, report.frames, report.utterances) == (5, 5, 30, 10)
    assert not report.skipped and not report.partial and not report.uncaptioned
    video = Corpus.open(tmp_path / "c")["soup1"]
    assert video.times == pytest.approx([0, 1, 2, 3, 4], abs=0.101)  # fast: at most a frame early
    assert [utterance.text for utterance in video.utterances] == ["Cut the onion.", "Fry it."]
    assert video.details["caption_kind"] == "manual" and video.details["mode"] == "fast"
    assert video.frames().shape == (5, 32, 32, 3) and video.frames().std() > 20


def test_bad_files_are_reported_and_the_others_kept(folder, tmp_path, ffmpeg):
    spoil(folder, ffmpeg)
    report = run(folder, tmp_path / "c", workers=2)
    assert report.ingested == 5
    reasons = {Path(path).name: reason for path, reason in report.skipped}
    assert set(reasons) == {"noise.mp4", "empty.mp4", "voice.mp4", "soup0.srt"}
    assert "is empty" in reasons["empty.mp4"] and "no video stream" in reasons["voice.mp4"]
    assert [Path(path).name for path in report.uncaptioned] == ["soup0.mp4"]


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


def test_other_settings_need_another_folder(folder, tmp_path):
    run(folder, tmp_path / "c")
    with pytest.raises(InputError, match=r"fps 1\.0, not 2\.0"):
        ingest(find_source(folder), tmp_path / "c", settings(sampling=Sampling(fps=2.0, size=32)))


def test_a_folder_with_other_things_in_it_is_not_touched(folder, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="not a corpus"):
        run(folder, tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.tex"]


def test_one_worker_or_many_the_corpus_is_the_same(folder, tmp_path):
    run(folder, tmp_path / "one", workers=1)
    run(folder, tmp_path / "many", workers=3)
    assert content(tmp_path / "one") == content(tmp_path / "many")


@pytest.mark.parametrize("encoding", ["jpeg", "raw"])
def test_frames_are_stored_as_asked(folder, tmp_path, encoding):
    run(folder, tmp_path / "c", encoding=encoding)
    run(folder, tmp_path / "plain")
    assert Corpus.open(tmp_path / "c").manifest.encoding == encoding
    pairs = zip(Corpus.open(tmp_path / "c"), Corpus.open(tmp_path / "plain"), strict=True)
    errors = [np.abs(asked.frames().astype(int) - plain.frames()).mean() for asked, plain in pairs]
    assert max(errors) < (8 if encoding == "jpeg" else 1e-9)


def test_progress_reaches_every_file(folder, tmp_path):
    calls = []
    ingest(
        find_source(folder), tmp_path / "c", settings(), lambda total: lambda path, share: calls.append((total, share))
    )
    assert [total for total, share in calls if share == 1] == [5] * 5


def test_what_follows_gets_every_video_as_soon_as_it_can_be_read(folder, tmp_path, ffmpeg):
    spoil(folder, ffmpeg)
    output, seen, shares, waiting = tmp_path / "c", {}, [], []

    def then(video, report):
        assert not Corpus.open(output).manifest.complete and video.id in Corpus.open(output)
        seen[video.id] = video.status, video.times.tolist(), video.utterances, video.steps, video.frames().tobytes()
        report(0.5)
        waiting.append(report)

    report = ingest(find_source(folder), output, settings(), lambda total: lambda *at: shares.append(at), then)
    assert seen == content(output) and len(seen) == 5 and len(report.skipped) == 4
    ended = {Path(path).stem for path, share in shares if share == 1}
    assert ended == {"noise", "empty", "voice"}, "nothing follows those that cannot be read"
    assert max(share for _, share in shares if share < 1) == 0.75, "half of it was decoding"
    for each in waiting:
        each(1.0)
    assert sum(share == 1 for _, share in shares) == 8


def test_a_file_that_takes_too_long_is_given_up(folder, tmp_path, ffmpeg):
    short = tmp_path / "short.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-t", 2, "-preset", "ultrafast", short)
    ffmpeg("-stream_loop", 299, "-i", short, "-c", "copy", folder / "long.mp4")
    report = run(folder, tmp_path / "c", limits=Limits(seconds=4), workers=2)
    assert {Path(path).name: reason for path, reason in report.skipped}["long.mp4"].startswith("took over 4 s")
    assert report.ingested == 5


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_a_file_that_takes_too_much_memory_is_given_up(folder, tmp_path, ffmpeg):
    options = ["-preset", "ultrafast", "-x264-params", "ref=16"]  # holds 16 frames of 48 MB at a time
    ffmpeg("-f", "lavfi", "-i", "color=size=8000x4000:rate=5", "-t", 4, *options, folder / "huge.mp4")
    report = run(folder, tmp_path / "c", limits=Limits(memory=900 << 20))
    assert "memory" in {Path(path).name: reason for path, reason in report.skipped}["huge.mp4"]
    assert report.ingested == 5


def test_features_replace_video(tmp_path):
    (tmp_path / "src").mkdir()
    values = np.random.default_rng(0).normal(size=(40, 12)).astype(np.float16)
    np.save(tmp_path / "src" / "soup.npy", values)
    (tmp_path / "src" / "soup.srt").write_text(SRT)
    np.save(tmp_path / "src" / "wide.npy", np.zeros((5, 13)))
    np.save(tmp_path / "src" / "hole.npy", np.full((5, 12), np.nan))
    report = run(tmp_path / "src", tmp_path / "c", feature_rate=2.0)
    reasons = {Path(path).name: reason for path, reason in report.skipped}
    assert set(reasons) == {"hole.npy", "wide.npy"}
    video = Corpus.open(tmp_path / "c")["soup"]
    assert np.array_equal(video.frames(), values.astype(np.float32))
    assert video.times.tolist() == [number / 2 for number in range(40)] and len(video.utterances) == 2


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


def test_frames_that_somebody_reads_stay_where_they_are(folder, tmp_path, make_clip):
    run(folder, tmp_path / "c", workers=1)
    reader = Corpus.open(tmp_path / "c")
    before = {video.id: video.frames().tobytes() for video in reader}
    for seconds in (3, 2):
        for number in range(5):
            make_clip(f"src/soup{number}.mp4", seconds=seconds)
        run(folder, tmp_path / "c", workers=1)
    assert {video.id: video.frames().tobytes() for video in reader} == before
    assert [len(video.times) for video in Corpus.open(tmp_path / "c")] == [2] * 5


def test_names_that_are_not_text_are_ingested_like_others(make_clip, tmp_path):
    clip = make_clip("clip.mp4", seconds=2)
    (tmp_path / "src").mkdir()
    shutil.copy(clip, tmp_path / "src" / os.fsdecode(b"caf\xe9.mp4"))
    shutil.copy(clip, tmp_path / "src" / "line\nbreak \x1b[31m.mp4")
    shutil.copy(clip, tmp_path / "src" / "plain.mp4")
    report = run(tmp_path / "src", tmp_path / "c")
    assert report.ingested == 3 and not report.skipped
    assert run(tmp_path / "src", tmp_path / "c").already_done == 3
    lines = render_ingest(report, tmp_path / "c").splitlines()
    assert all(line.isprintable() for line in lines) and len(lines) == 5


def test_a_full_disk_stops_the_run_and_blames_no_video(folder, tmp_path):
    arguments = f"-m mmcc ingest {folder} -o {tmp_path / 'c'} --size 64 --json"
    command = f"ulimit -f 60; {sys.executable} {arguments}"  # no file may grow beyond 60 KB
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 3 and "File too large" in done.stderr and "Free some space" in done.stderr
    assert "Traceback" not in done.stderr
    report = json.loads(subprocess.run(["bash", "-c", f"{sys.executable} {arguments}"], capture_output=True).stdout)
    assert report["ingested"] == 5 and report["skipped"] == []


def test_most_arrays_decide_how_many_dims_a_corpus_has(tmp_path):
    (tmp_path / "src").mkdir()
    np.save(tmp_path / "src" / "a.npy", np.zeros((3, 9), np.float32))
    for name in "bcd":
        np.save(tmp_path / "src" / f"{name}.npy", np.zeros((3, 4), np.float32))
    report = run(tmp_path / "src", tmp_path / "c", feature_rate=1.0)
    assert report.ingested == 3 and "has 9 dims, but the corpus has 4" in report.skipped[0].reason


def ingest_command(folder: Path, output: Path) -> Forked:
    words = ["ingest", folder, "-o", output, "--size", "32", "--workers", "2", "--json"]
    return Forked(lambda: sys.exit(main(list(map(str, words)))))


def test_killed_at_any_time_and_run_again_nothing_is_lost_doubled_or_redone(make_clip, tmp_path):
    first = make_clip("src/v00.mp4", "-g", 10, seconds=30, rate=25, size="320x240")
    (tmp_path / "src" / "v00.srt").write_text(SRT)
    for number in range(1, 16):
        shutil.copy(first, tmp_path / "src" / f"v{number:02d}.mp4")
        (tmp_path / "src" / f"v{number:02d}.srt").write_text(SRT)
    with ingest_command(tmp_path / "src", tmp_path / "whole") as uncut:
        whole = json.loads(uncut.end().out)
    chance = random.Random(0)
    finished = 0
    kills = 0
    while finished < 16:
        with ingest_command(tmp_path / "src", tmp_path / "c") as command:
            if command.ends_within(0.3 + 0.1 * kills + 0.5 * chance.random()):  # longer and longer, to end anywhere
                break
        kills += 1  # at the end of `with`
        if (tmp_path / "c" / "index.arrow").exists():
            rows = len(Corpus.open(tmp_path / "c")) if (tmp_path / "c" / "index.arrow").stat().st_size else 0
            assert rows >= finished, "a finished video was lost"
            finished = rows
    assert kills >= 2, "it was never interrupted: the test proves nothing"
    with ingest_command(tmp_path / "src", tmp_path / "c") as last:
        report = json.loads(last.end().out)
    assert report["already_done"] >= finished
    for key in ("videos", "ingested", "frames", "utterances"):
        assert report[key] == whole[key]
    assert content(tmp_path / "c") == content(tmp_path / "whole")
    for shard in (tmp_path / "c" / "shards").iterdir():  # and every shard is a whole stream again
        assert pa.ipc.open_stream(shard.read_bytes()).read_all().num_rows > 0


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_politely_it_saves_says_so_and_resumes_later(make_clip, tmp_path, stop, code):
    first = make_clip("src/v00.mp4", seconds=30, rate=10, size="320x240")
    for number in range(1, 16):
        shutil.copy(first, tmp_path / "src" / f"v{number:02d}.mp4")
    index = tmp_path / "c" / "index.arrow"
    with ingest_command(tmp_path / "src", tmp_path / "c") as command:
        while not (index.exists() and index.stat().st_size > 20_000):  # several videos are finished
            assert not command.ends_within(0.02)
        os.kill(command.pid, stop)
        done = command.end()
    assert done.code == code and "run the same command again" in done.err and "Traceback" not in done.err
    finished = len(Corpus.open(tmp_path / "c"))
    assert 0 < finished < 16
    with ingest_command(tmp_path / "src", tmp_path / "c") as again:
        report = json.loads(again.end().out)
    assert report["already_done"] == finished and report["ingested"] == 16


def test_all_the_real_clips(shared, tmp_path):
    report = run(shared / "clips", tmp_path / "c", sampling=Sampling(size=64))
    assert report.ingested == 5 and not report.skipped and not report.partial
    corpus = Corpus.open(tmp_path / "c")
    seconds = {"autoeditor_example": 42.4, "flipping_a_pancake": 10.333, "friday": 6.166, "manifesto": 88.08,
               "wannaworktogether": 180.247}  # fmt: skip
    for video_id, length in seconds.items():
        assert abs(len(corpus[video_id].times) - length) <= 1
    said = " ".join(utterance.text for utterance in corpus["manifesto"].utterances)
    lines = (shared / "clips" / "manifesto.srt").read_text().split("\n\n")
    assert said.split() == [word for cue in lines for word in " ".join(cue.strip().split("\n")[2:]).split()]
    assert "lord of the universe" in " ".join(utterance.text for utterance in corpus["friday"].utterances)
    assert corpus["flipping_a_pancake"].utterances == []
