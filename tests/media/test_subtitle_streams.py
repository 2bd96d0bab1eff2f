"""Subtitles inside video files, muxed by the ffmpeg command."""

import subprocess
from pathlib import Path

import imageio_ffmpeg
import pytest

from mmcc.errors import InputError
from mmcc.media.captions import parse_captions
from mmcc.media.subtitle_streams import read_subtitle_stream

SRT = (
    "1\n00:00:00,500 --> 00:00:01,500\n<i>chop</i> the onion,\nfinely\n\n"
    "2\n00:00:02,000 --> 00:00:03,000\nand fry &amp; stir\n"
)
VTT = (
    "WEBVTT\n\n00:00.500 --> 00:01.500\n \nchop<00:00:00.800><c> the</c><00:00:01.000><c> onion</c>\n\n"
    "00:01.500 --> 00:01.510\nchop the onion\n \n\n"
    "00:01.510 --> 00:03.000\nchop the onion\nand<00:00:02.000><c> fry</c>\n"
)


def ffmpeg(*arguments: object) -> None:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def mux(folder: Path, name: str, codec: str, *subtitles: str, options: tuple[str, ...] = (), late: float = 0) -> Path:
    inputs: list[object] = []
    for number, text in enumerate(subtitles):
        path = folder / f"{number}.{'vtt' if text.startswith('WEBVTT') else 'srt'}"
        path.write_text(text)
        inputs += ["-i", path]
    maps = [part for number in range(len(subtitles)) for part in ("-map", str(number + 1))]
    video = ["-f", "lavfi", "-i", "color=size=64x48:rate=5:duration=4"]
    offset = ["-output_ts_offset", str(late)] if late else []
    ffmpeg(*video, *inputs, "-map", "0", *maps, "-c:s", codec, *options, *offset, folder / name)
    return folder / name


KINDS = [("a.mkv", "subrip"), ("a.mkv", "ass"), ("a.mkv", "webvtt"), ("a.mp4", "mov_text")]


@pytest.mark.parametrize(("name", "codec"), KINDS)
def test_every_kind_of_text_subtitles_is_read(tmp_path, name, codec):
    cues = read_subtitle_stream(mux(tmp_path, name, codec, SRT))
    assert [cue.text.replace(" & ", " &amp; ") for cue in cues] == ["chop the onion, finely", "and fry &amp; stir"]
    assert [time for cue in cues for time in cue[:2]] == pytest.approx([0.5, 1.5, 2.0, 3.0], abs=0.02)


def test_rolling_webvtt_keeps_its_word_times(tmp_path):
    assert read_subtitle_stream(mux(tmp_path, "a.mkv", "copy", VTT)) == parse_captions(VTT.encode(), "a.vtt")


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4"])
def test_times_are_on_the_playback_clock(tmp_path, name):
    cues = read_subtitle_stream(mux(tmp_path, name, "mov_text" if name == "a.mp4" else "subrip", SRT, late=10))
    assert [cue.start for cue in cues] == pytest.approx([0.5, 2.0], abs=0.05)


def said(text: str) -> str:
    return f"1\n00:00:00,500 --> 00:00:01,500\n{text}\n"


def test_the_language_is_preferred_then_the_default_then_the_first(tmp_path):
    languages = ("-metadata:s:s:0", "language=ger", "-metadata:s:s:1", "language=fre",
                 "-metadata:s:s:2", "language=eng",
                 "-disposition:s:0", "0", "-disposition:s:1", "default", "-disposition:s:2", "0")  # fmt: skip
    path = mux(tmp_path, "a.mkv", "subrip", said("hallo"), said("bonjour"), said("hello"), options=languages)
    assert read_subtitle_stream(path)[0].text == "hello"
    assert read_subtitle_stream(path, "de")[0].text == "hallo"
    assert read_subtitle_stream(path, "ja")[0].text == "bonjour"
    plain = mux(tmp_path, "b.mkv", "subrip", said("one"), said("two"), options=("-disposition:s", "0"))
    assert read_subtitle_stream(plain)[0].text == "one"


def test_bitmap_subtitles_and_none_give_no_text(tmp_path):
    path = tmp_path / "none.mkv"
    ffmpeg("-f", "lavfi", "-i", "color=size=64x48:rate=5:duration=1", path)
    assert read_subtitle_stream(path) == []
    source = mux(tmp_path, "a.mkv", "ass", SRT)
    bitmap = source.read_bytes().replace(b"S_TEXT/ASS", b"S_HDMV/PGS")
    assert b"S_HDMV/PGS" in bitmap
    (tmp_path / "bitmap.mkv").write_bytes(bitmap)
    assert read_subtitle_stream(tmp_path / "bitmap.mkv") == []
    (tmp_path / "unknown.mkv").write_bytes(source.read_bytes().replace(b"S_TEXT/ASS", b"S_TEXT/XYZ"))
    assert read_subtitle_stream(tmp_path / "unknown.mkv") == []


@pytest.mark.parametrize("data", [b"", b"not a video", b"\x1aE\xdf\xa3" + b"\0" * 100])
def test_anything_but_a_video_is_an_input_error(tmp_path, data):
    path = tmp_path / "broken.mkv"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read_subtitle_stream(path)
    assert error.value.path == str(path)
    assert error.value.remedy


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError):
        read_subtitle_stream(tmp_path / "no.mkv")


def test_a_playlist_does_not_reach_other_files(tmp_path):
    path = tmp_path / "list.m3u8"
    path.write_text("#EXTM3U\n#EXTINF:1,\nhttp://localhost:9/secret.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(InputError):
        read_subtitle_stream(path)
