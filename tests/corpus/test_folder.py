"""Folders of real (empty) video files and small caption files: the reader goes by names and never opens a video."""

import json
import os
import random
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.folder import CAPTION_SUFFIXES, VIDEO_SUFFIXES, read_folder
from mmcc.corpus.source import CaptionFile, Item, Source
from mmcc.errors import InputError

ID, OTHER_ID = "dQw4w9WgXcQ", "-_0123456aB"
MANUAL = "1\n00:00:01,000 --> 00:00:03,000\nPour the water.\n"
ROLLING = "WEBVTT\nKind: captions\nLanguage: en\n\n" + "".join(
    f"00:00:{2 * n:02}.000 --> 00:00:{2 * n + 2:02}.000 align:start position:0%\n"
    f"line {n - 1}\nline<00:00:{2 * n:02}.400><c> {n}</c>\n\n"
    for n in range(1, 9)
)


def put(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_subtitles = path.suffix in (".srt", ".vtt")
        path.write_text(text or (MANUAL if is_subtitles else ""), encoding="utf-8")


def by_id(source: Source) -> dict[str, Item]:
    assert len({item.id for item in source.items}) == len(source.items)
    return {item.id: item for item in source.items}


def captions_of(source: Source) -> dict[str, str | None]:
    return {item.id: item.captions and item.captions.path.name for item in source.items}


def kinds(source: Source) -> list[str]:
    return [item.captions.kind for item in source.items if item.captions]


def reasons(source: Source) -> dict[str, str]:
    return {Path(path).name: reason for path, reason in source.skipped}


def test_a_yt_dlp_download_gives_id_title_and_captions(tmp_path: Path) -> None:
    stem = f"Soup. [HD] v1.5 – naïve [{ID}]"
    put(tmp_path, f"{stem}.mp4", f"{stem}.en.vtt")
    item = read_folder(tmp_path).items[0]
    assert (item.id, item.title) == (ID, "Soup. [HD] v1.5 – naïve")
    assert item.media == tmp_path / f"{stem}.mp4"
    assert item.captions == CaptionFile(tmp_path / f"{stem}.en.vtt", "manual")


@pytest.mark.parametrize(
    "stem", ["Soup [tooshort]", f"Soup [{ID}] again", "Soup [has space 1]", f"[{ID}]x", "[twelve_chars]"]
)
def test_brackets_that_do_not_end_a_name_in_eleven_characters_are_not_an_id(tmp_path: Path, stem: str) -> None:
    put(tmp_path, f"{stem}.mp4")
    assert read_folder(tmp_path).items[0].id == stem


def test_info_json_overrules_the_name(tmp_path: Path) -> None:
    put(tmp_path, f"soup [{ID}].mp4")
    put(tmp_path, f"soup [{ID}].info.json", text=json.dumps({"id": OTHER_ID, "title": "The [real] title"}))
    item = read_folder(tmp_path).items[0]
    assert (item.id, item.title) == (OTHER_ID, "The [real] title")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b"[" * 200_000, b"[]", b'"id"', b"1" * 10_000, b'{"a":' * 100_000],
    ids=["empty", "cut off", "no text", "deep", "a list", "a string", "a huge number", "deep objects"],
)
def test_a_bad_info_json_is_noted_and_otherwise_ignored(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, f"soup [{ID}].mp4", f"soup [{ID}].en.vtt")
    (tmp_path / f"soup [{ID}].info.json").write_bytes(content)
    source = read_folder(tmp_path)
    assert captions_of(source) == {ID: f"soup [{ID}].en.vtt"}
    assert ["info.json" in line for line in source.choices] == [True]
    assert source.skipped == []


def test_info_json_with_wrong_types_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    put(tmp_path, f"soup [{ID}].mp4", f"soup [{ID}].en.vtt")
    info = {"id": 7, "title": ["x"], "subtitles": ["en"], "automatic_captions": "en"}
    put(tmp_path, f"soup [{ID}].info.json", text=json.dumps(info))
    item = read_folder(tmp_path).items[0]
    assert (item.id, item.title, item.captions and item.captions.kind) == (ID, "soup", "manual")


@pytest.mark.parametrize("captions", ["soup.srt", "soup.en.srt", "soup.moonshine-asr.srt", "soup.vtt", "soup.en.SRT"])
def test_captions_of_the_same_stem_belong_to_the_video(tmp_path: Path, captions: str) -> None:
    put(tmp_path, "soup.mp4", captions)
    assert captions_of(read_folder(tmp_path)) == {"soup": captions}


def test_a_caption_goes_to_the_longest_stem_it_extends(tmp_path: Path) -> None:
    put(tmp_path, "soup.mp4", "soup.part2.mp4", "soup.part2.srt", "soup.en.srt", "soupspoon.srt")
    source = read_folder(tmp_path)
    assert captions_of(source) == {"soup": "soup.en.srt", "soup.part2": "soup.part2.srt"}
    assert reasons(source) == {"soupspoon.srt": "captions without a video"}


def test_ids_are_paths_so_equal_names_in_two_folders_differ(tmp_path: Path) -> None:
    put(tmp_path, "a/01.mp4", "a/01.srt", "b/01.mp4", "b/01.srt", "b/c/01.MKV")
    items = by_id(read_folder(tmp_path))
    found = {video_id: item.captions and item.captions.path for video_id, item in items.items()}
    assert found == {"a/01": tmp_path / "a/01.srt", "b/01": tmp_path / "b/01.srt", "b/c/01": None}


def test_the_second_of_two_formats_keeps_its_suffix_and_the_captions_stay_with_the_first(tmp_path: Path) -> None:
    put(tmp_path, "soup.mkv", "soup.mp4", "soup.srt")
    assert captions_of(read_folder(tmp_path)) == {"soup": "soup.srt", "soup.mp4": None}


def test_the_second_file_of_a_youtube_id_is_skipped_naming_the_first(tmp_path: Path) -> None:
    put(tmp_path, f"a/Soup [{ID}].mp4", f"b/Other title [{ID}].webm", f"b/Other title [{ID}].en.vtt")
    source = read_folder(tmp_path)
    assert captions_of(source) == {ID: f"Other title [{ID}].en.vtt"}
    assert source.items[0].media == tmp_path / f"a/Soup [{ID}].mp4"
    assert f"a/Soup [{ID}].mp4" in reasons(source)[f"Other title [{ID}].webm"]


def test_a_file_named_like_an_id_by_accident_does_not_take_it(tmp_path: Path) -> None:
    put(tmp_path, f"{ID}.mp4", f"Zucchini [{ID}].mp4")
    items = by_id(read_folder(tmp_path))
    assert items[ID].media == tmp_path / f"Zucchini [{ID}].mp4"
    assert items[f"{ID}.mp4"].media == tmp_path / f"{ID}.mp4"


def test_yt_dlp_leftovers_are_not_videos(tmp_path: Path) -> None:
    whole, cut = f"Soup [{ID}]", f"Stew [{OTHER_ID}]"
    put(tmp_path, f"{whole}.mp4", f"{whole}.f137.mp4", f"{whole}.f251.webm", f"{whole}.temp.mp4", f"{whole}.mp4.ytdl")
    put(tmp_path, f"{cut}.mp4.part", f"{cut}.f140.m4a.part")
    source = read_folder(tmp_path)
    assert [item.id for item in source.items] == [ID]
    assert reasons(source) == {
        f"{whole}.f137.mp4": "one track of a download whose merged file is here",
        f"{whole}.f251.webm": "one track of a download whose merged file is here",
        f"{whole}.temp.mp4": "left by a yt-dlp merge that did not finish",
        f"{cut}.mp4.part": "unfinished download",
    }


def test_a_track_that_was_never_merged_is_used_as_its_video(tmp_path: Path) -> None:
    stem = f"Soup [{ID}]"
    put(tmp_path, f"{stem}.f251.webm", f"{stem}.f399.mp4", f"{stem}.en.vtt", "lap.f1.mp4", "lap.f2.mp4", "lap.f2.srt")
    source = read_folder(tmp_path)
    assert captions_of(source) == {ID: f"{stem}.en.vtt", "lap.f1": None, "lap.f2": "lap.f2.srt"}
    assert by_id(source)[ID].media == tmp_path / f"{stem}.f399.mp4"
    assert reasons(source) == {f"{stem}.f251.webm": "the sound track of a download that was not merged"}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("en", "fr"), ("en", "en-US"), ("en-US", "en-GB"), ("en-GB", "en-AU"), ("en-AU", ""), ("", "fr"),
        ("eng", "fr"), ("sdh.en", ""), ("en", "en-orig"), ("en-US", "en.whisper"), ("", "moonshine-asr"),
        ("en.whisper", "fr"), ("", "en-orig"),
    ],
)  # fmt: skip
def test_the_wanted_language_comes_first_and_then_manual_before_automatic(
    tmp_path: Path, better: str, worse: str
) -> None:
    names = ["soup" + (f".{tag}" if tag else "") + ".srt" for tag in (better, worse)]
    put(tmp_path, "soup.mp4", *names)
    source = read_folder(tmp_path)
    assert captions_of(source) == {"soup": names[0]}
    assert len(source.choices) == 1 and source.choices[0].startswith(f"soup: took {names[0]} ")
    assert names[1] in source.choices[0].split("; ignored ")[1]


def test_another_language_can_be_wanted(tmp_path: Path) -> None:
    put(tmp_path, "soup.mp4", "soup.en.srt", "soup.fr-CA.srt", "soup.srt")
    assert captions_of(read_folder(tmp_path, language="fr")) == {"soup": "soup.fr-CA.srt"}


def test_info_json_distinguishes_manual_from_automatic(tmp_path: Path) -> None:
    stem = f"Soup [{ID}]"
    put(tmp_path, f"{stem}.mp4", f"{stem}.en.vtt", f"{stem}.en-GB.vtt")
    info = {"id": ID, "subtitles": {"en-GB": []}, "automatic_captions": {"en": [], "en-GB": []}}
    put(tmp_path, f"{stem}.info.json", text=json.dumps(info))
    source = read_folder(tmp_path)
    assert captions_of(source) == {ID: f"{stem}.en-GB.vtt"}
    assert kinds(source) == ["manual"]
    assert "manual before automatic" in source.choices[0]
    (tmp_path / f"{stem}.en-GB.vtt").unlink()
    assert kinds(read_folder(tmp_path)) == ["automatic"]


def test_the_content_decides_where_no_name_does(tmp_path: Path) -> None:
    put(tmp_path, "talk.mp4", "talk.srt")
    put(tmp_path, "talk.vtt", text=ROLLING)
    source = read_folder(tmp_path)
    assert captions_of(source) == {"talk": "talk.srt"}
    (tmp_path / "talk.srt").unlink()
    assert kinds(read_folder(tmp_path)) == ["automatic"]


def test_json_and_csv_beside_a_video_count_only_if_they_start_like_captions(tmp_path: Path) -> None:
    put(tmp_path, "a.mp4", "b.mp4", "c.mp4", "d.mp4")
    put(tmp_path, "a.json", text='{"text": "Pour.", "segments": [{"start": 0, "end": 1, "text": "Pour."}]}')
    put(tmp_path, "b.json", text='{"width": 1280}')
    put(tmp_path, "c.csv", text="start,end,text\n0,1,pour\n")
    put(tmp_path, "d.csv", text="5,2.1,5.7\n")
    put(tmp_path, "d.live_chat.json", text='{"text": "hi"}')
    source = read_folder(tmp_path)
    assert captions_of(source) == {"a": "a.json", "b": None, "c": "c.csv", "d": None}
    assert kinds(source) == ["automatic", "automatic"]
    assert len(source.choices) == 2


def test_captions_elsewhere_are_found_by_id_by_place_and_by_a_unique_name(tmp_path: Path) -> None:
    videos, subtitles = tmp_path / "videos", tmp_path / "subtitles"
    put(videos, f"Soup [{ID}].mp4", "a/01.mp4", "b/01.mp4", "stew.mp4")
    put(subtitles, f"{ID}.en.srt", "a/01.srt", "b/01.en.srt", "deep/stew.en.srt", "nobody.srt")
    source = read_folder(videos, captions=subtitles)
    assert captions_of(source) == {ID: f"{ID}.en.srt", "a/01": "01.srt", "b/01": "01.en.srt", "stew": "stew.en.srt"}
    assert by_id(source)["a/01"].captions == CaptionFile(subtitles / "a/01.srt", "manual")
    assert source.skipped == []  # a separate captions folder may serve other collections


def test_captions_that_could_mean_several_videos_are_not_guessed(tmp_path: Path) -> None:
    put(tmp_path, "a/01.mp4", "b/01.mp4", "c/01.srt", "stew.mp4", "x/stew.srt", "y/stew.srt")
    source = read_folder(tmp_path)
    assert set(captions_of(source).values()) == {None}
    assert [(Path(path).relative_to(tmp_path).as_posix(), reason) for path, reason in source.skipped] == [
        ("c/01.srt", "captions that match several videos"),
        ("x/stew.srt", "captions of this name are in more than one folder"),
        ("y/stew.srt", "captions of this name are in more than one folder"),
    ]


@pytest.mark.parametrize("relative", [False, True])
def test_the_folder_named_for_captions_wins_among_equals(
    tmp_path: Path, relative: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "soup.mp4", "soup.srt", "corrected/soup.srt")
    monkeypatch.chdir(tmp_path)
    root = Path() if relative else tmp_path
    for captions, taken in ((tmp_path / "corrected", "corrected/soup.srt"), (None, "soup.srt")):
        assert read_folder(root, captions=captions).items[0].captions == CaptionFile(root / taken, "manual")


def test_captions_without_a_video_are_reported_but_unrelated_tables_are_not(tmp_path: Path) -> None:
    put(tmp_path, "soup.mp4", "stew.srt", "prices.csv", "package.json", f"{ID}.csv", f"{ID}.info.json")
    put(tmp_path, "talk.json", text='{"segments": []}')
    assert set(reasons(read_folder(tmp_path))) == {"stew.srt", f"{ID}.csv", "talk.json"}


def test_one_video_file_is_a_root_too(tmp_path: Path) -> None:
    put(tmp_path, "soup.mkv", "soup.mp4", "soup.srt", "soup.part2.mp4", "soup.part2.srt", "other.srt", "sub/soup.srt")
    source = read_folder(tmp_path / "soup.mp4")
    assert captions_of(source) == {"soup": "soup.srt"}
    assert source.items[0].media == tmp_path / "soup.mp4"
    assert source.skipped == []
    assert captions_of(read_folder(tmp_path / "soup.mp4", captions=tmp_path / "sub")) == {"soup": "soup.srt"}


@pytest.mark.parametrize("stem", ["-rf", "new\nline", "[x]", "汤 – é", "'\"<b>&", "a..b", " "])
def test_odd_names_are_only_names(tmp_path: Path, stem: str) -> None:
    put(tmp_path, f"{stem}.mp4", f"{stem}.en.srt", f"{stem}.fr.srt")
    source = read_folder(tmp_path)
    assert captions_of(source) == {stem: f"{stem}.en.srt"}
    assert len(source.choices) == 1 and "\n" not in source.choices[0]


def test_composed_and_decomposed_names_are_one_name(tmp_path: Path) -> None:
    put(tmp_path, "cafe\u0301.mp4", "caf\u00e9.srt")
    assert captions_of(read_folder(tmp_path)) == {"caf\u00e9": "caf\u00e9.srt"}


def test_a_name_that_is_not_text_gets_an_id_that_is(tmp_path: Path) -> None:
    for raw in (b"s\xfcppe.mp4", b"s\xfdppe.mp4"):
        try:
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).touch()
        except OSError:
            pytest.skip("this file system takes only UTF-8 names")
    source = read_folder(tmp_path)
    assert len(by_id(source)) == 2
    assert all(item.media is not None and item.media.exists() and item.id.encode() for item in source.items)


def test_links_in_a_loop_end_and_folders_keep_their_own_name(tmp_path: Path) -> None:
    put(tmp_path / "root", "z/soup.mp4")
    put(tmp_path / "outside", "stew.mp4")
    (tmp_path / "root/a").symlink_to(tmp_path / "root/z")
    (tmp_path / "root/z/up").symlink_to(tmp_path / "root")
    (tmp_path / "root/linked").symlink_to(tmp_path / "outside")
    (tmp_path / "root/self.mp4").symlink_to(tmp_path / "root/self.mp4")
    (tmp_path / "root/gone.mp4").symlink_to(tmp_path / "nowhere")
    source = read_folder(tmp_path / "root")
    assert sorted(by_id(source)) == ["linked/stew", "z/soup"]
    assert set(reasons(source)) == {"self.mp4", "gone.mp4"}


def test_a_folder_that_may_not_be_read_is_reported_and_the_rest_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "soup.mp4", "locked/stew.mp4")
    scandir = os.scandir

    def guarded(folder: str) -> object:  # chmod does not stop root, who may run the tests
        if str(folder).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", guarded)
    source = read_folder(tmp_path)
    assert [item.id for item in source.items] == ["soup"]
    assert reasons(source) == {"locked": "folder cannot be read: Permission denied"}
    with pytest.raises(InputError, match="Permission denied"):
        read_folder(tmp_path / "locked")


@pytest.mark.parametrize("names", [[], ["soup.srt"], [".hidden.mp4", ".git/x.mp4"], ["soup.mp4.part"]])
def test_a_root_without_video_is_refused_naming_what_was_looked_for(tmp_path: Path, names: list[str]) -> None:
    put(tmp_path, *names)
    with pytest.raises(InputError, match="has no videos") as refusal:
        read_folder(tmp_path)
    assert ".mp4" in refusal.value.remedy and ".webm" in refusal.value.remedy


def test_paths_that_are_nothing_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "soup.mp4", "notes.txt")
    for nothing in (tmp_path / "absent", tmp_path / "notes.txt"):
        for root, captions in ((nothing, None), (tmp_path, nothing)):
            with pytest.raises(InputError) as refusal:
                read_folder(root, captions=captions)
            assert refusal.value.remedy


def test_feature_arrays_replace_video(tmp_path: Path) -> None:
    put(tmp_path, "soup.npy", "soup.mp4", "soup.srt")
    source = read_folder(tmp_path, media_suffixes=frozenset({".npy"}))
    assert [item.media for item in source.items] == [tmp_path / "soup.npy"]
    assert captions_of(source) == {"soup": "soup.srt"}


YOUTUBE_STEMS = [f"Title [{ID}]", f"Other [{ID}]", f"Title [{ID}].f137", f"A [1] [{OTHER_ID}]", ID]
PLAIN_STEMS = ["soup", "soup.part2", "soup.en", "soup.f137", "soup.temp", "a.b.c", "a.b", "-dash", "né", "new\nline"]
STEMS = st.sampled_from(YOUTUBE_STEMS + PLAIN_STEMS)
VIDEOS = st.tuples(st.sampled_from(["", "a/", "a/b/", "c/"]), STEMS, st.sampled_from([".mp4", ".mkv", ".WEBM"]))
CAPTIONS = st.tuples(
    st.sampled_from(["", "a/", "a/b/", "c/"]),
    STEMS,
    st.sampled_from(["", ".en", ".fr", ".en-US", ".whisper"]),
    st.sampled_from(CAPTION_SUFFIXES),
)


@given(st.sets(VIDEOS, min_size=1, max_size=12), st.sets(CAPTIONS, max_size=12), st.randoms(use_true_random=False))
def test_pairing_is_a_function_of_the_names(videos: set, captions: set, shuffler: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = {"".join(parts) for parts in videos}
        put(root, *names, *("".join(parts) for parts in captions))
        try:
            source = read_folder(root)
        except InputError as refusal:
            assert "has no videos" in refusal.cause and all(".temp." in name for name in names)
            return

        every_video = {str(root / name) for name in names}
        media = [str(item.media) for item in source.items]
        left_out = [path for path, _ in source.skipped if Path(path).suffix.lower() in VIDEO_SUFFIXES]
        assert Counter(media + left_out) == Counter(every_video)
        assert len(by_id(source)) == len(media)

        taken = [item.captions.path for item in source.items if item.captions]
        assert len(set(taken)) == len(taken)
        for item in source.items:
            if item.captions and item.captions.path.parent == item.media.parent:
                assert_longest_stem(item, [other for other in source.items if other.media.parent == item.media.parent])

        scandir = os.scandir
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                os, "scandir", lambda folder: nullcontext(sorted(scandir(folder), key=lambda _: shuffler.random()))
            )
            assert read_folder(root) == source


def assert_longest_stem(item: Item, neighbours: list[Item]) -> None:
    name = item.captions.path.name

    def fits(video: Item) -> int:
        stem = video.media.stem.removesuffix(".f137") if ID in video.media.stem else video.media.stem
        return len(stem) if name.startswith(f"{stem}.") else 0

    assert fits(item) == max(map(fits, neighbours)) or not any(map(fits, neighbours))
