"""However an ingest ends, what was finished is there, and nothing that somebody reads has moved."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.verify import verify
from tests.corpus.ingesting import SRT, content, run
from tests.forked import Forked
from tests.power_cut import moments, recording


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


def ingest_command(folder: Path, output: Path) -> Forked:
    words = ["ingest", folder, "-o", output, "--size", "32", "--workers", "2", "--json"]
    return Forked(lambda: sys.exit(main(list(map(str, words)))))


@pytest.mark.slow
def test_killed_at_any_time_and_run_again_nothing_is_lost_doubled_or_redone(make_clip, tmp_path):
    first = make_clip("src/v00.mp4", "-g", 10, seconds=40, rate=25, size="320x240")
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
            if command.ends_within(0.5 + 0.4 * kills + 0.5 * chance.random()):  # longer and longer, to end anywhere
                break
        kills += 1  # at the end of `with`
        if (tmp_path / "c" / "manifest.json").exists():
            rows = len(Corpus.open(tmp_path / "c"))
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


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_politely_it_saves_says_so_and_resumes_later(make_clip, tmp_path, stop, code):
    first, of_a_video = make_clip("src/v00.mp4", seconds=30, rate=10, size="320x240"), 30 * 32 * 32 * 3
    for number in range(1, 24):
        shutil.copy(first, tmp_path / "src" / f"v{number:02d}.mp4")
    with ingest_command(tmp_path / "src", tmp_path / "c") as command:
        # Each of two workers has at most one video unfinished, so some are finished.
        while sum(shard.stat().st_size for shard in (tmp_path / "c" / "shards").glob("*.arrow")) < 4 * of_a_video:
            assert not command.ends_within(0.01)
        os.kill(command.pid, stop)
        done = command.end()
    assert done.code == code and "run the same command again" in done.err and "Traceback" not in done.err
    finished = len(Corpus.open(tmp_path / "c"))
    assert 0 < finished < 24
    with ingest_command(tmp_path / "src", tmp_path / "c") as again:
        report = json.loads(again.end().out)
    assert report["already_done"] == finished and report["ingested"] == 24


@pytest.mark.slow
def test_whatever_a_power_cut_leaves_is_a_corpus_without_damage_that_the_next_run_completes(folder, tmp_path):
    tree = tmp_path / "disk"
    tree.mkdir()
    words = [sys.executable, "-m", "mmcc", "ingest", folder, "-o", tree / "c", "--size", "32", "--workers", "2"]
    with recording(tree, tmp_path / "record") as environment:
        for _ in range(2):  # the second finds something new
            subprocess.run([str(word) for word in words], env=environment, check=True, capture_output=True)
            shutil.copy(folder / "soup0.mp4", folder / "zoup.mp4")
    whole = content(tree / "c")
    assert len(whole) == 6
    before = {True: 0, False: 0}
    for moment in moments(tree, tmp_path / "record"):
        disk = moment.restore(tmp_path / "after")
        if not (disk / "c" / "manifest.json").exists():
            assert not before[moment.strict], "the corpus is gone"
            continue
        found = verify(disk / "c")
        assert not found.damaged, (moment.number, moment.strict, found.damaged)
        kept = content(disk / "c")
        assert kept.items() <= whole.items(), "a video differs"
        assert len(kept) >= before[moment.strict], "a video that was permanent is lost"
        before[moment.strict] = len(kept)
        if moment.number % 5 == 0 and moment.strict:
            run(folder, disk / "c")
            assert content(disk / "c") == whole
    assert before == {True: 6, False: 6} and moment.number > 15
