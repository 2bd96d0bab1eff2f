"""From a folder to a corpus: whole, and never taken down by a bad file."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import ingest
from mmcc.corpus.summary import render_ingest
from mmcc.errors import InputError
from mmcc.media.sandbox import Limits
from mmcc.media.video import Sampling
from tests.corpus.ingesting import SRT, content, run, settings, spoil


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


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_given_up(folder, tmp_path, ffmpeg):
    short = tmp_path / "short.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-t", 2, "-preset", "ultrafast", short)
    ffmpeg("-stream_loop", 299, "-i", short, "-c", "copy", folder / "long.mp4")
    report = run(folder, tmp_path / "c", limits=Limits(seconds=4), workers=2)
    assert {Path(path).name: reason for path, reason in report.skipped}["long.mp4"].startswith("took over 4 s")
    assert report.ingested == 5


@pytest.mark.slow
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


@pytest.mark.slow
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
