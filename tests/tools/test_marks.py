"""Marks beside a library: whole files, tasks that never disagree, and nothing lost to another writer."""

import pytest

from mmcc.corpus.crosstask import read_crosstask
from mmcc.corpus.source import LabelledClip
from mmcc.errors import InputError, UsageError
from mmcc.tools.marks import Annotations, Conflict, VideoMarks

VIDEOS = ["soup", "a/01", "b/01", "x_y", "with, comma", "sub/eggs"]


@pytest.fixture
def annotations(tmp_path):
    return Annotations(tmp_path / "cooking.annotations", VIDEOS)


def marks(*clips, title="Fry eggs", steps=("heat pan", "crack egg")):
    return VideoMarks(title, tuple(steps), tuple(LabelledClip(*clip) for clip in clips))


def stored(annotations):
    """As `mmcc ingest` reads it: title, steps and clips by video."""
    read = read_crosstask(annotations.folder)
    assert not read.skipped
    tasks = {item.id: read.tasks[item.tasks[0]] for item in read.items}
    return {item.id: (tasks[item.id].title, tasks[item.id].steps, item.steps) for item in read.items}


def test_what_is_written_is_read_again(annotations):
    assert annotations.read("soup") is None
    saved = annotations.write("soup", marks((2, 3.0004, 9), (1, 0, 2.5)), 0)
    assert saved.marks == ((1, 0, 2.5), (2, 3, 9)) and saved.revision
    assert annotations.read("soup") == saved
    assert stored(annotations) == {"soup": ("Fry eggs", ("heat pan", "crack egg"), saved.marks)}


def test_videos_of_one_task_share_it_and_a_longer_list_takes_over_the_shorter(annotations):
    annotations.write("soup", marks((1, 0, 1)), 0)
    annotations.write("x_y", marks((2, 5, 6)), 0)
    tasks = {item.tasks for item in read_crosstask(annotations.folder).items}
    assert len(tasks) == 1
    longer = ("heat pan", "crack egg", "serve")
    annotations.write("sub/eggs", marks((3, 1, 2), steps=longer), 0)
    assert {steps for _, steps, _ in stored(annotations).values()} == {longer}
    assert annotations.read("soup").marks == ((1, 0, 1),) and annotations.read("x_y").steps == longer


def test_other_steps_of_the_same_title_are_another_task(annotations):
    annotations.write("soup", marks((1, 0, 1)), 0)
    annotations.write("x_y", marks((1, 0, 1), steps=("crack egg", "heat pan")), 0)
    found = stored(annotations)
    assert found["soup"][1] == ("heat pan", "crack egg") and found["x_y"][1] == ("crack egg", "heat pan")


def test_a_changed_task_leaves_nothing_behind(annotations):
    first = annotations.write("soup", marks((1, 0, 1)), 0)
    second = annotations.write("soup", marks((1, 0, 1), title="Boil eggs"), first.revision)
    assert stored(annotations) == {"soup": ("Boil eggs", ("heat pan", "crack egg"), second.marks)}
    assert "Fry" not in (annotations.folder / "tasks_primary.txt").read_text()
    annotations.write("soup", VideoMarks(), second.revision)
    assert annotations.read("soup") is None and not list((annotations.folder / "annotations").iterdir())


def test_another_writer_is_noticed(annotations):
    first = annotations.write("soup", marks((1, 0, 1)), 0)
    elsewhere = Annotations(annotations.folder, VIDEOS)
    second = elsewhere.write("soup", marks((1, 0, 2)), first.revision)
    for revision in (0, first.revision, 12345):
        with pytest.raises(Conflict):
            annotations.write("soup", marks((2, 0, 1)), revision)
    assert annotations.read("soup") == second


def test_a_disk_that_fails_leaves_what_was_there(annotations, monkeypatch):
    first = annotations.write("soup", marks((1, 0, 1)), 0)

    def fail(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mmcc.tools.marks.replace_text", fail)
    with pytest.raises(Exception, match="No space left"):
        annotations.write("soup", marks((2, 0, 1)), first.revision)
    assert annotations.read("soup") == first


@pytest.mark.parametrize("video", ["a/01", "with, comma", "", "a\nb", "x" * 300])
def test_videos_that_the_format_cannot_name(annotations, video):
    with pytest.raises(InputError):
        annotations.write(video, marks((1, 0, 1)), 0)


@pytest.mark.parametrize(
    "bad",
    [
        marks((3, 0, 1)),
        marks((0, 0, 1)),
        marks((1, 2, 1)),
        marks((1, float("nan"), 1)),
        marks(steps=("a,b",)),
        marks(steps=()),
        marks(steps=("",)),
        marks(title=""),
        marks(title="x\x1b[31m"),
        marks(steps=[str(n) for n in range(300)]),
    ],
)
def test_what_the_format_has_no_room_for(annotations, bad):
    with pytest.raises(UsageError):
        annotations.write("soup", bad, 0)
    assert not annotations.folder.exists()
