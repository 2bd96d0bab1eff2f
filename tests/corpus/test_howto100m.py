"""HowTo100M: small indexes beside the few videos and captions a user has."""

import json
import time
from pathlib import Path

import pytest

from mmcc.corpus.howto100m import is_howto100m, read_howto100m
from mmcc.corpus.source import CaptionFile, Item, Source
from mmcc.errors import InputError

SOUP, SHELF, YOGA, ABSENT = "dQw4w9WgXcQ", "-_0123456aB", "a_b-c_d-e_f", "zzzzzzzzzzz"
HEADER = "video_id,category_1,category_2,rank,task_id\n"
ROWS = (
    f"{SOUP},Food and Entertaining,Soups,1,42\n"
    f"{SHELF},Home and Garden,Building,7,43\n"
    f"{YOGA},Sports and Fitness,Yoga,2,44\n"
    f"{ABSENT},Food and Entertaining,Bread,3,45\n"
)
CSV = "start,end,text\n0,1,pour\n"


def put(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    put(tmp_path, "HowTo100M_v1.csv", text=HEADER + ROWS)
    return tmp_path / "HowTo100M_v1.csv"


def by_id(source: Source) -> dict[str, Item]:
    assert len({item.id for item in source.items}) == len(source.items)
    return {item.id: item for item in source.items}


def test_only_files_on_disk_become_items_and_the_rest_is_counted(index: Path, tmp_path: Path) -> None:
    put(tmp_path, f"videos/{SOUP}.mp4", f"videos/Shelf [{SHELF}].webm", "videos/unlisted.mp4")
    put(tmp_path, f"captions/{SOUP}.csv", f"captions/{YOGA}.csv", text=CSV)
    source = read_howto100m(index, videos=tmp_path / "videos", captions=tmp_path / "captions")
    assert by_id(source) == {
        SOUP: Item(
            SOUP,
            tmp_path / f"videos/{SOUP}.mp4",
            CaptionFile(tmp_path / f"captions/{SOUP}.csv", "automatic"),
            tasks=("42",),
        ),
        SHELF: Item(SHELF, tmp_path / f"videos/Shelf [{SHELF}].webm", title="Shelf", tasks=("43",)),
        YOGA: Item(YOGA, None, CaptionFile(tmp_path / f"captions/{YOGA}.csv", "automatic"), tasks=("44",)),
    }
    assert source.summary == ["videos found  2/4", "with captions  2/4", "neither found  1 (skipped)"]
    assert sorted(source.tasks) == ["42", "43", "44"]
    assert source.skipped == []


def test_videos_and_captions_are_looked_for_beside_the_index(index: Path, tmp_path: Path) -> None:
    put(tmp_path, f"any/{SOUP}.mp4", f"{SOUP}.csv")
    items = by_id(read_howto100m(index))
    assert items[SOUP].media == tmp_path / f"any/{SOUP}.mp4"
    assert items[SOUP].captions == CaptionFile(tmp_path / f"{SOUP}.csv", "automatic")


@pytest.mark.parametrize("name", ["caption.json", "raw_caption.json"])
def test_one_json_file_gives_each_video_its_span(index: Path, tmp_path: Path, name: str) -> None:
    entries = {video: {"start": [0], "end": [1], "text": [f"pour {video} ü"]} for video in (YOGA, "unlisted", SOUP)}
    put(tmp_path, f"c/{name}", text=json.dumps(entries, ensure_ascii=False))
    put(tmp_path, f"{SOUP}.mp4")
    for captions in (tmp_path / "c" / name, tmp_path / "c"):
        items = by_id(read_howto100m(index, captions=captions))
        assert set(items) == {SOUP, YOGA}
        for video, item in items.items():
            assert item.captions is not None and item.captions.span is not None
            offset, length = item.captions.span
            assert item.captions.kind == "automatic" and item.captions.path == tmp_path / "c" / name
            assert json.loads(item.captions.path.read_bytes()[offset : offset + length]) == entries[video]


def test_a_videos_own_captions_win_over_the_common_file(index: Path, tmp_path: Path) -> None:
    put(tmp_path, f"{SOUP}.csv", text=CSV)
    entry = {"start": [0], "end": [1], "text": ["pour"]}
    put(tmp_path, "raw_caption.json", text=json.dumps({SOUP: entry, YOGA: entry}))
    items = by_id(read_howto100m(index))
    assert items[SOUP].captions == CaptionFile(tmp_path / f"{SOUP}.csv", "automatic")
    assert items[YOGA].captions is not None and items[YOGA].captions.span is not None


def test_the_wanted_language_is_taken_and_the_choice_reported(index: Path, tmp_path: Path) -> None:
    put(tmp_path, f"{SOUP}.en.vtt", f"{SOUP}.fr.vtt")
    source = read_howto100m(index, language="fr")
    assert by_id(source)[SOUP].captions == CaptionFile(tmp_path / f"{SOUP}.fr.vtt", "automatic")
    assert len(source.choices) == 1 and f"{SOUP}.en.vtt" in source.choices[0]


@pytest.mark.parametrize(
    ("category", "expected"), [("food", {SOUP}), ("YOGA", {YOGA}), ("and", {SOUP, SHELF, YOGA}), (" Soups ", {SOUP})]
)
def test_a_category_is_part_of_either_name(index: Path, tmp_path: Path, category: str, expected: set[str]) -> None:
    put(tmp_path, *(f"{video}.mp4" for video in (SOUP, SHELF, YOGA)))
    assert set(by_id(read_howto100m(index, category=category))) == expected


def test_the_total_is_that_of_the_category(index: Path, tmp_path: Path) -> None:
    put(tmp_path, f"{SOUP}.mp4")
    assert read_howto100m(index, category="food").summary[0] == "videos of category 'food' found  1/2"


def test_an_unknown_category_is_refused_naming_the_known_ones(index: Path) -> None:
    with pytest.raises(InputError, match="no category like 'pottery'") as refusal:
        read_howto100m(index, category="pottery")
    for name in ("Food and Entertaining", "Yoga", "Building"):
        assert name in refusal.value.remedy


def test_a_category_needs_its_column(tmp_path: Path) -> None:
    put(tmp_path, "index.csv", text=f"video_id\n{SOUP}\n")
    with pytest.raises(InputError, match="category_1"):
        read_howto100m(tmp_path / "index.csv", category="food")


def test_video_paths_lead_to_files_and_stems_are_ids(tmp_path: Path) -> None:
    put(tmp_path, "index.csv", text="video_path\na/01.mp4\nb/01.mp4\n./c/soup.mkv\n../outside.mp4\nd\\stew.mp4\n")
    put(tmp_path, "outside.mp4", "v/a/01.mp4", "v/a/01.srt", "v/b/01.mp4", "v/b/01.srt", "v/c/soup.mp4", "v/d/stew.mp4")
    source = read_howto100m(tmp_path / "index.csv", videos=tmp_path / "v")
    videos = tmp_path / "v"
    assert {item.id: item.media for item in source.items} == {
        "01": videos / "a/01.mp4",
        "b/01": videos / "b/01.mp4",
        "soup": videos / "c/soup.mp4",
        "stew": videos / "d/stew.mp4",
    }
    items = by_id(source)
    assert items["01"].captions is not None and items["01"].captions.path == videos / "a/01.srt"
    assert items["b/01"].captions is not None and items["b/01"].captions.path == videos / "b/01.srt"
    assert source.summary[0] == "videos found  4/5"


def test_features_replace_video_by_path_and_by_id(index: Path, tmp_path: Path) -> None:
    put(tmp_path, "paths.csv", text=f"video_path,video_id\na/x.mp4,{SOUP}\n")
    put(tmp_path, "a/x.npy", f"b/{YOGA}.npy", f"b/{SHELF}.mp4")
    features = frozenset({".npy"})
    by_path = read_howto100m(tmp_path / "paths.csv", media_suffixes=features)
    assert {item.id: item.media for item in by_path.items} == {SOUP: tmp_path / "a/x.npy"}
    found = read_howto100m(index, media_suffixes=features)
    assert {item.id: item.media for item in found.items} == {YOGA: tmp_path / f"b/{YOGA}.npy"}


def test_a_second_file_of_a_video_is_skipped_naming_the_first(index: Path, tmp_path: Path) -> None:
    put(tmp_path, f"a/{SOUP}.mp4", f"b/{SOUP}.webm")
    source = read_howto100m(index)
    assert by_id(source)[SOUP].media == tmp_path / f"a/{SOUP}.mp4"
    assert [path for path, _ in source.skipped] == [str(tmp_path / f"b/{SOUP}.webm")]
    assert f"a/{SOUP}.mp4" in source.skipped[0].reason


def test_a_video_listed_for_two_tasks_has_both(tmp_path: Path) -> None:
    put(tmp_path, "index.csv", text=f"{HEADER}{SOUP},A,B,1,42\n{SOUP},A,B,9,7\n{SOUP},A,B,9,7\n")
    put(tmp_path, f"{SOUP}.mp4")
    assert [item.tasks for item in read_howto100m(tmp_path / "index.csv").items] == [("42", "7")]


@pytest.mark.parametrize(
    "rubbish", [",,,,", "\x00", '"' + "x" * 200_000 + '"', "  ,Food,Soups,1,2"], ids=["empty", "NUL", "long", "blank"]
)
def test_a_bad_row_costs_no_other(tmp_path: Path, rubbish: str) -> None:
    put(tmp_path, "index.csv", text=f"\ufeff{HEADER}{SOUP},A,B,1,42\n\n{rubbish}\n{YOGA}\n")
    put(tmp_path, f"{SOUP}.mp4", f"{YOGA}.mp4")
    source = read_howto100m(tmp_path / "index.csv")
    assert set(by_id(source)) == {SOUP, YOGA}
    assert [path for path, _ in source.skipped] == [f"{tmp_path / 'index.csv'}:4"]


@pytest.mark.parametrize("text", ["", "\n", "title,length\nSoup,3\n", HEADER, "\xff\xfe\x00"])
def test_anything_but_an_index_is_refused(tmp_path: Path, text: str) -> None:
    put(tmp_path, "index.csv", text=text)
    with pytest.raises(InputError) as refusal:
        read_howto100m(tmp_path / "index.csv")
    assert "video_id" in refusal.value.remedy


def test_paths_that_are_nothing_are_refused(index: Path, tmp_path: Path) -> None:
    put(tmp_path, "notes.txt")
    absent = tmp_path / "absent"
    with pytest.raises(InputError):
        read_howto100m(absent / "index.csv")
    for options in ({"videos": absent}, {"captions": absent}, {"captions": tmp_path / "notes.txt"}):
        with pytest.raises(InputError) as refusal:
            read_howto100m(index, **options)
        assert refusal.value.remedy


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("i.csv", HEADER, True),
        ("i.CSV", '\ufeff"Video_ID", rank\r\n', True),
        ("i.csv", "video_path\n", True),
        ("i.csv", "start,end,text\n", False),
        ("i.csv", "", False),
        ("i.txt", HEADER, False),
    ],
)
def test_an_index_is_recognised_by_its_header(tmp_path: Path, name: str, text: str, answer: bool) -> None:
    put(tmp_path, name, text=text)
    assert is_howto100m(tmp_path / name) is answer
    assert not is_howto100m(tmp_path) and not is_howto100m(tmp_path / "absent.csv")


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "index.csv", text=HEADER + "x" * (2 << 20))
    with pytest.raises(InputError, match="line of more than 1,048,576 letters"):
        read_howto100m(tmp_path / "index.csv")


def test_a_long_index_takes_no_longer_than_its_length(tmp_path: Path) -> None:
    put(tmp_path, "00000000007.mp4")

    def cost(videos: int) -> float:
        with (tmp_path / "index.csv").open("w") as file:
            file.write(HEADER)
            file.writelines(f"{n:011d},Food and Entertaining,Soups,{n % 200},{n % 23_000}\n" for n in range(videos))
        start = time.process_time()
        source = read_howto100m(tmp_path / "index.csv", category="food")
        assert [item.id for item in source.items] == ["00000000007"]
        return time.process_time() - start

    # A quadratic reader would need 100 times as long every time, a linear one 40 times as long once in a busy while.
    assert any(cost(300_000) < 40 * max(cost(30_000), 0.01) for _ in range(5))  # a quarter of the real index
