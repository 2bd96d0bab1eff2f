"""CrossTask: the real release where available, and small ones with every kind of damage."""

from collections import Counter
from pathlib import Path

import pytest

from mmcc.corpus import crosstask
from mmcc.corpus.crosstask import is_crosstask, read_crosstask
from mmcc.corpus.source import Item, LabelledClip, Source, Task
from mmcc.errors import InputError

SHARED = Path(__file__).parents[3] / "shared/data/crosstask"
needs_release = pytest.mark.skipif(
    not (SHARED / "crosstask_release").is_dir(), reason="the CrossTask release is not in ../shared/data"
)
JELLO, SHELF = "5sOPNTbFe6A", "-YtYoSwdUf8"
TASKS = "23521\nMake Jello Shots\nhttp://x/jello\n2\npour water,stir mixture\n\n"
MORE = "59684\nBuild Shelves\nhttp://x/shelves\n3\ncut shelve, sand shelve ,paint shelve\n"
SRT = "1\n00:00:01,000 --> 00:00:03,000\nPour the water.\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    root = tmp_path / "release"
    (root / "annotations").mkdir(parents=True)
    (root / "tasks_primary.txt").write_text(TASKS)
    (root / "tasks_related.txt").write_text(MORE)
    (root / "videos.csv").write_text(f"23521,{JELLO},http://y\n59684,{SHELF},http://y\n59684,{JELLO},http://y\n")
    (root / "videos_val.csv").write_text(f"23521,{JELLO},http://y\n")
    (root / "annotations" / f"23521_{JELLO}.csv").write_text("2,1.5,3\n1,4,4\n")
    return root


def by_id(source: Source) -> dict[str, Item]:
    assert len({item.id for item in source.items}) == len(source.items)
    return {item.id: item for item in source.items}


def reasons(source: Source, root: Path) -> dict[str, str]:
    return {Path(path).relative_to(root).as_posix(): reason for path, reason in source.skipped}


@needs_release
def test_the_real_release_comes_out_exactly() -> None:
    source = read_crosstask(SHARED / "crosstask_release")
    primary = [task for task in source.tasks.values() if task.primary]
    assert (len(primary), sum(len(task.steps) for task in primary), len(source.tasks)) == (18, 133, 18 + 65)
    annotated = [item for item in source.items if item.steps]
    assert (len(annotated), sum(len(item.steps) for item in annotated)) == (2750, 20919)
    assert len(by_id(source)) == 4607  # 4,700 lines: 85 videos are listed twice, 4 three times
    several = [item for item in source.items if len(item.tasks) > 1]
    assert len(several) == 89
    assert all(source.tasks[item.tasks[0]].primary for item in several if item.steps)
    assert Counter(item.split for item in source.items) == {"validation": 360, "train": 4247}
    assert source.skipped == []
    assert not any(item.media or item.captions for item in source.items)
    assert source.summary[-1].split() == ["all", "tasks", "0/4607", "0", "2750"]
    assert len(source.summary) == 1 + 83 + 1 and len({len(line) for line in source.summary}) == 1


@needs_release
def test_real_narration_is_found_and_steps_are_not_mistaken_for_it() -> None:
    samples = SHARED / "narration_samples_105222"
    source = read_crosstask(SHARED / "crosstask_release", captions=samples)
    found = {item.id: item.captions for item in source.items if item.captions}
    assert {video: captions.path.name for video, captions in found.items()} == {
        "5sOPNTbFe6A": "105222_5sOPNTbFe6A.srt",  # not the .csv of the same name, which lists steps
        "L0MVdMNihGI": "105222_L0MVdMNihGI.srt",
    }


def test_every_listed_video_is_an_item_with_its_tasks_steps_and_split(release: Path) -> None:
    source = read_crosstask(release)
    items = by_id(source)
    assert items[JELLO] == Item(
        JELLO, None, None, "", ("23521", "59684"), (LabelledClip(2, 1.5, 3.0), LabelledClip(1, 4.0, 4.0)), "validation"
    )
    assert items[SHELF] == Item(SHELF, None, None, "", ("59684",), (), "train")
    steps = ("cut shelve", "sand shelve", "paint shelve")
    assert source.tasks["59684"] == Task("59684", "Build Shelves", steps, "http://x/shelves", primary=False)
    assert source.skipped == []


def test_the_labelled_task_comes_first(release: Path) -> None:
    (release / "videos.csv").write_text(f"59684,{JELLO},http://y\n23521,{JELLO},http://y\n")
    assert by_id(read_crosstask(release))[JELLO].tasks == ("23521", "59684")


@pytest.mark.parametrize("name", ["{id}", "23521_{id}", "Jello. [HD] [{id}]"])
def test_videos_and_captions_are_found_by_id_under_any_usual_name(release: Path, tmp_path: Path, name: str) -> None:
    stem = name.format(id=SHELF)
    (release / "videos").mkdir()
    (release / "videos" / f"{stem}.mp4").touch()
    (release / "captions").mkdir()
    (release / "captions" / f"{stem}.en.srt").write_text(SRT)
    for source in (read_crosstask(release), read_crosstask(release, videos=release / "videos")):
        item = by_id(source)[SHELF]
        assert item.media == release / "videos" / f"{stem}.mp4"
        assert item.captions is not None and item.captions.path == release / "captions" / f"{stem}.en.srt"
        assert item.title == ("Jello. [HD]" if "[" in name else "")
    elsewhere = by_id(read_crosstask(release, videos=tmp_path / "release/captions"))[SHELF]
    assert elsewhere.media is None and elsewhere.captions is not None


def test_annotations_are_never_mistaken_for_captions(release: Path) -> None:
    source = read_crosstask(release)
    assert not any(item.captions for item in source.items) and source.choices == []
    copy = release / "videos"
    copy.mkdir()
    (copy / f"23521_{JELLO}.csv").write_text("2,1.5,3\n")
    source = read_crosstask(release, captions=copy)
    assert not any(item.captions for item in source.items)


def test_a_second_file_of_a_video_is_skipped_naming_the_first(release: Path) -> None:
    for name in (f"{SHELF}.mp4", f"59684_{SHELF}.webm", "unlisted.mp4"):
        (release / name).touch()
    source = read_crosstask(release)
    assert by_id(source)[SHELF].media == release / f"{SHELF}.mp4"
    assert list(reasons(source, release)) == [f"59684_{SHELF}.webm"]
    assert f"{SHELF}.mp4" in source.skipped[0].reason


def test_features_replace_video(release: Path) -> None:
    (release / f"{JELLO}.npy").touch()
    (release / f"{SHELF}.mp4").touch()
    items = by_id(read_crosstask(release, media_suffixes=frozenset({".npy"})))
    assert (items[JELLO].media, items[SHELF].media) == (release / f"{JELLO}.npy", None)


def test_an_annotation_without_a_line_in_the_list_is_still_an_item(release: Path) -> None:
    (release / "annotations" / "23521_unlisted_ID.csv").write_text("1,0,1\n")
    item = by_id(read_crosstask(release))["unlisted_ID"]
    assert (item.tasks, item.steps, item.split) == (("23521",), (LabelledClip(1, 0, 1),), None)


def test_without_a_validation_list_the_split_is_left_open(release: Path) -> None:
    (release / "videos_val.csv").unlink()
    assert {item.split for item in read_crosstask(release).items} == {None}


def test_videos_of_tasks_that_are_not_described_are_kept(release: Path) -> None:
    (release / "tasks_related.txt").unlink()
    source = read_crosstask(release)
    assert by_id(source)[SHELF].tasks == ("59684",)
    assert source.tasks["59684"].steps == () and not source.tasks["59684"].primary


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,2", "3 fields"), ("1,2,3,4", "3 fields"), ("0,1,2", "step 0"), ("3,1,2", "step 3"), ("-1,1,2", "step -1"),
        ("1,5,4", "ends before"), ("1,nan,2", "finite"), ("1,0,inf", "finite"), ("1,-1,2", "negative"),
        ("one,1,2", "numbers"), ("1.0,1,2", "numbers"), ("1,\0,2", "numbers"), ("1,1e999,2", "finite"),
        ("\N{REPLACEMENT CHARACTER}" * 200_000, "3 fields"), ("9" * 5000 + ",1,2", "numbers"),
    ],
)  # fmt: skip
def test_a_bad_line_of_an_annotation_is_skipped_and_named(release: Path, line: str, reason: str) -> None:
    (release / "annotations" / f"23521_{JELLO}.csv").write_text(f"\n1,0,1\n{line}\n2,3,4\n", encoding="utf-8")
    source = read_crosstask(release)
    assert by_id(source)[JELLO].steps == (LabelledClip(1, 0, 1), LabelledClip(2, 3, 4))
    assert list(reasons(source, release)) == [f"annotations/23521_{JELLO}.csv:3"]
    assert reason in source.skipped[0].reason


@pytest.mark.parametrize("line", ["23521", f"23521,{SHELF}", ",x,y", "23521,,y", "a,b,c,d", "\0\0"])
def test_a_bad_line_of_the_list_is_skipped_and_named(release: Path, line: str) -> None:
    (release / "videos.csv").write_text(f"\ufeff23521,{JELLO},u\r\n{line}\r\n59684,{SHELF},u\r\n", encoding="utf-8")
    source = read_crosstask(release)
    assert list(by_id(source)) == [JELLO, SHELF]
    assert list(reasons(source, release)) == ["videos.csv:2"]


def test_annotations_without_a_task_or_given_twice_are_skipped(release: Path) -> None:
    for name in ("99_abc.csv", "readme.csv", f"59684_{JELLO}.csv"):
        (release / "annotations" / name).write_text("1,0,1\n")
    (release / "annotations" / "notes.txt").touch()
    source = read_crosstask(release)
    assert set(reasons(source, release)) == {
        f"annotations/{name}" for name in ("99_abc.csv", "readme.csv", f"59684_{JELLO}.csv")
    }
    assert by_id(source)[JELLO].steps == (LabelledClip(2, 1.5, 3.0), LabelledClip(1, 4.0, 4.0))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "no task"),
        ("1\nTitle\nurl\n2\na,b\n\n2\nTitle\n", "line 7"),
        ("1\nTitle\nurl\ntwo\na,b\n", "line 4"),
        ("1\nTitle\nurl\n3\na,b\n", "line 5"),
        ("1\nTitle\nurl\n2\na,\n", "line 5"),
        ("a task\nTitle\nurl\n2\na,b\n", "line 1"),
        (TASKS + TASKS, "line 7"),
    ],
)
def test_a_malformed_file_of_tasks_is_refused_naming_the_line(release: Path, text: str, where: str) -> None:
    (release / "tasks_primary.txt").write_text(text)
    with pytest.raises(InputError, match=where) as refusal:
        read_crosstask(release)
    assert refusal.value.remedy


def test_an_incomplete_release_is_refused(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_crosstask(tmp_path / "absent")
    with pytest.raises(InputError, match="no such folder"):
        read_crosstask(release, videos=tmp_path / "absent")
    (release / "videos.csv").unlink()
    with pytest.raises(InputError, match=r"videos\.csv"):
        read_crosstask(release)


def test_a_file_of_absurd_size_is_refused(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crosstask, "_LARGEST", (release / "videos.csv").stat().st_size - 1)
    with pytest.raises(InputError, match=r"no file of the release: it has more than [\d,]+ bytes"):
        read_crosstask(release)


def test_a_release_is_recognised_by_its_tasks(release: Path, tmp_path: Path) -> None:
    assert is_crosstask(release)
    assert not is_crosstask(tmp_path)
    assert not is_crosstask(release / "videos.csv")


def test_the_summary_counts_what_was_found_per_task(release: Path) -> None:
    (release / f"{JELLO}.mp4").touch()
    (release / f"{SHELF}.srt").write_text(SRT)
    assert read_crosstask(release).summary == [
        "task              videos  captions  annotated",
        "Make Jello Shots     1/1         0          1",
        "Build Shelves        1/2         1          1",
        "all tasks            1/2         1          1",
    ]
