"""Chapters as others read them: ffmpeg, our own caption reader, and YouTube's rules."""

import re
import subprocess

import imageio_ffmpeg
import numpy as np

from mmcc.media.captions import read_captions
from mmcc.report.chapters import Chapter, as_ffmetadata, as_webvtt, as_youtube, chapters_of
from mmcc.text import parse_clock
from mmcc.tools.transitions import Change, Narration, VideoChanges
from tests.report.made_up_changes import HOSTILE, footage, video_changes

WARNINGS = ["Warning: unlike what kitchen\nwas trained on (1.5 times).", "Warning: 0:30 [CHAPTER] --> <b>"]


def starts(pairs, top=10, **options):
    return [chapter.start for chapter in chapters_of(video_changes(pairs, **options), top)]


def test_chapters_begin_where_changes_begin_and_end():
    assert starts([(30, 60), (35, 90)]) == [0, 30, 60, 90]  # 35 is too near 30
    assert starts([(30, 60), (5, 115)]) == [0, 30, 60]  # too near the ends
    assert starts([(30, 60), (80, 100)], top=1) == [0, 30, 60]
    assert starts([(30, 32), (80, 100)], top=1) == [0, 30, 80, 100]  # two would be too few, so that more are looked at
    assert starts([(1, 3)], seconds=8) == [0]


def test_fractions_do_not_make_a_chapter_too_short():
    of = footage(seconds=4)
    of.video.times = np.array([0.0, 10.9, 20.95, 31.0])
    of.video.duration = 60.0
    changes = [Change(of, 1, 2, -9.0, 2.0), Change(of, 2, 3, -9.0, 2.0)]
    chapters = chapters_of(VideoChanges(of, changes, Narration([], [], [])), 10)
    assert [each.start for each in chapters] == [0, 10, 20, 31]
    assert all(each.end - each.start >= 10 for each in chapters) and chapters[-1].end == 60


def test_a_chapter_is_called_by_what_can_best_be_seen_in_it():
    said = [(3.0, "hello friends", 0.1), (9.0, "peel  the potatoes", 0.8), (29.9, "um", 0.3), (40.0, "word " * 40, 0.5)]
    chapters = chapters_of(video_changes([(30, 60)], said), 10)
    assert chapters[0].title == "Peel the potatoes"
    assert chapters[1].title.startswith("Word word") and len(chapters[1].title) <= 80 and chapters[1].title[-1] == "…"
    assert chapters[2].title == "Part 3"
    assert [each.end for each in chapters] == [30, 60, 120]


def test_ffmpeg_reads_the_metadata(tmp_path):
    chapters = [Chapter(0, 12.5, "Peel"), Chapter(12.5, 40, HOSTILE)]
    (tmp_path / "chapters.ffmetadata").write_text(as_ffmetadata(chapters, WARNINGS))
    ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y"]
    card = ["-f", "lavfi", "-t", "40", "-i", "testsrc2=size=32x32:rate=1"]
    with_chapters = [*card, "-i", str(tmp_path / "chapters.ffmetadata"), "-map_metadata", "1", str(tmp_path / "v.mkv")]
    subprocess.run([*ffmpeg, *with_chapters], check=True)
    back = subprocess.run(
        [*ffmpeg, "-i", str(tmp_path / "v.mkv"), "-f", "ffmetadata", "-"], check=True, capture_output=True, text=True
    ).stdout
    base = int(re.findall(r"TIMEBASE=1/(\d+)", back)[0])
    assert [int(start) / base for start in re.findall(r"START=(\d+)", back)] == [0, 12.5]
    assert [int(end) / base for end in re.findall(r"END=(\d+)", back)] == [12.5, 40]
    titles = [re.sub(r"\\(.)", r"\1", title) for title in re.findall(r"^title=(.*)$", back, re.MULTILINE)]
    assert titles == ["Peel", HOSTILE]


def test_our_reader_reads_the_webvtt(tmp_path):
    (tmp_path / "c.vtt").write_text(as_webvtt([Chapter(0, 75.25, "Peel & cut"), Chapter(75.25, 7200, "Fry > boil")]))
    cues = read_captions(tmp_path / "c.vtt")
    assert [(cue.start, cue.end, cue.text) for cue in cues] == [(0, 75.25, "Peel & cut"), (75.25, 7200, "Fry > boil")]
    hostile = as_webvtt([Chapter(0, 20, HOSTILE)])
    assert hostile.count("-->") == 1 and "<" not in hostile


def test_youtube_lines():
    text = as_youtube([Chapter(0, 20, "Peel"), Chapter(20, 3700, "<b>Fry</b>"), Chapter(3700, 3800, "Eat")])
    assert text == "0:00 Peel\n0:20 bFry/b\n1:01:40 Eat\n"


def test_warnings_leave_every_format_valid(tmp_path):
    chapters = [Chapter(0, 20, "Peel"), Chapter(20, 40, "Fry"), Chapter(40, 60, "Eat")]
    (tmp_path / "c.vtt").write_text(as_webvtt(chapters, WARNINGS))
    assert [(cue.start, cue.end, cue.text) for cue in read_captions(tmp_path / "c.vtt")] == [tuple(c) for c in chapters]
    notes = [line for line in as_webvtt(chapters, WARNINGS).splitlines() if line.startswith("NOTE")]
    assert notes[0] == "NOTE Warning: unlike what kitchen was trained on (1.5 times)." and "-->" not in notes[1]
    lines = as_ffmetadata(chapters, WARNINGS).splitlines()
    assert lines[0] == ";FFMETADATA1" and lines[1].startswith("; Warning: unlike") and lines[3] == "[CHAPTER]"
    lines = as_youtube(chapters, WARNINGS).splitlines()
    assert lines[:3] == ["0:00 Peel", "0:20 Fry", "0:40 Eat"] and lines[3] == ""
    assert lines[4] == "Warning: unlike what kitchen was trained on (1.5 times)."
    assert not any(re.search(r"\d:\d", line) for line in lines[4:]) and not re.search("[<>]", lines[5])
    assert parse_clock(lines[0].split()[0]) == 0
