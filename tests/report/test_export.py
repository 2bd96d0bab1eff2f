"""What `--export` writes: whole folders, with warnings in every file."""

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.media.captions import read_captions
from mmcc.report import export
from mmcc.report.export import write_exports
from mmcc.text import parse_clock
from tests.report.made_up_changes import video_changes

FILES = {"chapters.ffmetadata", "chapters.txt", "chapters.vtt", "guide.html", "guide.md"}


def test_a_short_video_gets_no_lines_for_youtube(tmp_path):
    (note,) = write_exports(tmp_path, [video_changes([(3, 9)], seconds=15)], 10)
    assert "no chapters.txt" in note and not (tmp_path / "chapters.txt").exists()
    assert (tmp_path / "chapters.vtt").exists()


def test_several_videos_have_a_folder_each(tmp_path):
    names = ["a/soup.mp4", "b/soup.mp4", "../x:y.mp4"]
    write_exports(tmp_path / "out", [video_changes([(30, 60)], name=name) for name in names], 10)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["soup", "soup 2", "x_y"]


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_exports(tmp_path / "file", [video_changes([(30, 60)])], 10)


def test_every_file_of_a_video_carries_its_warnings(tmp_path):
    videos = [video_changes([(30, 60), (80, 100)], name=name) for name in ("odd.mp4", "plain.mp4")]
    assert write_exports(tmp_path, videos, 10, {"odd.mp4": ["Warning: do not rely on it."]}) == []
    for folder, warned in (("odd", True), ("plain", False)):
        texts = {path.name: path.read_text() for path in (tmp_path / folder).iterdir() if path.suffix != ".jpg"}
        assert texts.keys() == FILES
        assert all(("do not rely on it" in text) == warned for text in texts.values())


def test_an_export_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    """Not even the files that were finished; an older export stays as it was."""
    out = tmp_path / "out"
    write_exports(out, [video_changes([(30, 60), (80, 100)])], 10)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    too_long = {"x" * 300 + ".jpg": b""}  # no file system takes such a name

    monkeypatch.setattr(export, "still_files", lambda guide: too_long)
    for place, expected in ((out, before), (tmp_path / "new", {})):
        with pytest.raises(InputError, match="cannot be written"):
            write_exports(place, [video_changes([(20, 50)])], 10)
        assert {path.name: path.read_bytes() for path in place.iterdir()} == expected


def test_an_interrupted_export_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(guide):
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "guide_html", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_exports(tmp_path / "out", [video_changes([(20, 50)])], 10)
    assert not (tmp_path / "out").exists()


def test_the_verb_warns_in_what_people_pass_on(make_clip, tmp_path, capsys):
    clip = make_clip("card.mp4", seconds=60, rate=2, size="160x120")
    out = tmp_path / "out"
    assert main(["transitions", "kitchen", str(clip), "--export", str(out)]) == 0
    assert {path.name for path in out.iterdir() if path.suffix != ".jpg"} == FILES
    for name in FILES:
        assert "this video is unlike what kitchen was trained on" in (out / name).read_text(), name
    assert (out / "chapters.txt").read_text().startswith("0:00 ")


def test_the_verb_exports(kitchen, tmp_path):
    """By YouTube's rules: from 0:00 on, in order, three or more, each ten seconds or more."""
    asked = ["transitions", str(kitchen.run), str(kitchen.videos[0]), "--top", "5", "--export", str(tmp_path / "out")]
    assert main(asked) == 0
    text, _, warnings = (tmp_path / "out" / "chapters.txt").read_text().partition("\n\n")
    assert warnings.startswith("Warning: run does not know many") and str(kitchen.run) not in warnings
    lines = text.splitlines()
    times = [parse_clock(line.split()[0]) for line in lines]
    assert times[0] == 0 and len(times) >= 3 and all(line.split(" ", 1)[1] for line in lines)
    assert min(np.diff([*times, kitchen.footage()[0].video.duration])) >= 10
    assert [cue.start for cue in read_captions(tmp_path / "out" / "chapters.vtt")] == times
    assert len(list((tmp_path / "out").glob("step-*.jpg"))) >= 2
