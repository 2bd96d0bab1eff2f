"""Chapters and guides as others read them: ffmpeg, our own caption reader, and YouTube's rules."""

import re
import subprocess
from html.parser import HTMLParser
from types import SimpleNamespace

import imageio_ffmpeg
import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.media.captions import read_captions
from mmcc.report.export import Chapter, as_ffmetadata, as_webvtt, as_youtube, chapters_of, guide_steps, write_exports
from mmcc.text import parse_clock
from mmcc.tools.transitions import Change, Narration, VideoChanges

HOSTILE = "a=b;c#d \\ <img src=x onerror=alert(1)> & `rm` [x](y) --> z"


def footage(name="soup.mp4", seconds=120, duration=None, text="cut <b>onions</b>", encoding="jpeg"):
    video = SimpleNamespace(times=np.arange(float(seconds)), duration=float(duration or seconds))
    corpus = SimpleNamespace(manifest=SimpleNamespace(fps=1.0, encoding=encoding))
    picture = np.zeros((16, 16, 3), np.uint8) if encoding == "jpeg" else None
    return SimpleNamespace(
        name=name, key=name, video=video, corpus=corpus, said_at=lambda time: text, still=lambda frame: picture
    )


def video_changes(pairs, narration=(), **options):
    of = footage(**options)
    times, texts, seen = ([row[at] for row in narration] for at in range(3))
    return VideoChanges(of, [Change(of, u, v, -9.0, 2.0) for u, v in pairs], Narration(times, texts, seen))


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
    (tmp_path / "chapters.ffmetadata").write_text(as_ffmetadata(chapters))
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


def test_a_guide_shows_no_moment_twice_and_goes_with_time():
    changes = video_changes([(50, 90), (52, 110), (10, 88), (20, 60), (5, 30)]).changes
    assert [(c.from_frame, c.to_frame) for c in guide_steps(changes, 10)] == [(5, 30), (20, 60), (50, 90)]
    assert [(c.from_frame, c.to_frame) for c in guide_steps(changes, 1)] == [(50, 90)]


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.images = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.images += [dict(attributes)["src"]] if tag == "img" else []

    def handle_data(self, data):
        self.texts.append(data)


def test_the_guides_escape_what_people_say(tmp_path):
    assert write_exports(tmp_path, [video_changes([(30, 60), (80, 100)], name=HOSTILE, text=HOSTILE)], 10) == []
    page = (tmp_path / "guide.html").read_text()
    reader = Reader()
    reader.feed(page)
    assert "script" not in reader.tags and reader.tags.count("img") == 4
    assert all(source.startswith("data:image/jpeg;base64,") for source in reader.images)
    assert f"“{HOSTILE}”" in reader.texts
    assert "http" not in page.replace("http-equiv", "")
    guide = (tmp_path / "guide.md").read_text()
    assert "<" not in guide and "[x](y)" not in guide and "`rm`" not in guide.replace("\\`", "")
    for name in re.findall(r"\((step-.*?jpg)\)", guide):
        assert (tmp_path / name).read_bytes()[:2] == b"\xff\xd8"
    assert len(re.findall(r"^## ", guide, re.MULTILINE)) == 2


def test_a_short_video_gets_no_lines_for_youtube(tmp_path):
    (note,) = write_exports(tmp_path, [video_changes([(3, 9)], seconds=15)], 10)
    assert "no chapters.txt" in note and not (tmp_path / "chapters.txt").exists()
    assert (tmp_path / "chapters.vtt").exists()


def test_several_videos_have_a_folder_each(tmp_path):
    names = ["a/soup.mp4", "b/soup.mp4", "../x:y.mp4"]
    write_exports(tmp_path / "out", [video_changes([(30, 60)], name=name) for name in names], 10)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["soup", "soup 2", "x_y"]


def test_vectors_have_no_stills(tmp_path):
    write_exports(tmp_path, [video_changes([(30, 60)], encoding="float32")], 10)
    assert "![" not in (tmp_path / "guide.md").read_text() and "<img" not in (tmp_path / "guide.html").read_text()
    assert not list(tmp_path.glob("*.jpg"))


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_exports(tmp_path / "file", [video_changes([(30, 60)])], 10)


def test_the_verb_exports(kitchen, tmp_path):
    """By YouTube's rules: from 0:00 on, in order, three or more, each ten seconds or more."""
    asked = ["transitions", str(kitchen.run), str(kitchen.videos[0]), "--top", "5", "--export", str(tmp_path / "out")]
    assert main(asked) == 0
    lines = (tmp_path / "out" / "chapters.txt").read_text().splitlines()
    times = [parse_clock(line.split()[0]) for line in lines]
    assert times[0] == 0 and len(times) >= 3 and all(line.split(" ", 1)[1] for line in lines)
    assert min(np.diff([*times, kitchen.footage()[0].video.duration])) >= 10
    assert [cue.start for cue in read_captions(tmp_path / "out" / "chapters.vtt")] == times
    assert len(list((tmp_path / "out").glob("step-*.jpg"))) >= 2
