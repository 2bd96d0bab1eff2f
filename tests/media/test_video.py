"""Frames come at their true times, upright and whole, from every kind of file."""

import random
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from mmcc.errors import InputError
from mmcc.media.video import Frame, Sampling, VideoReport, VideoSampler

# Frame number n is a flat picture of luma 16 + 4n, so a picture identifies its frame, up to the 54th.
COUNTER = "color=gray:size={size}:rate={rate},format=yuv420p,geq=lum='16+4*N':cb=128:cr=128"


def sample(path: Path, **settings: object) -> tuple[list[Frame], VideoReport]:
    with VideoSampler(path, Sampling(**{"size": 32, **settings})) as video:  # type: ignore[arg-type]
        return list(video), video.report


def times(frames: list[Frame]) -> list[float]:
    return [round(frame.time, 3) for frame in frames]


def numbers(frames: list[Frame]) -> list[int]:
    """Which frame of a COUNTER clip each is, read off its grey (RGB spreads 16-235 over 0-255)."""
    return [round((frame.pixels.mean() * 219 / 255) / 4) for frame in frames]


def write_frames(path: Path, times: list[float], codec: str = "libx264", **options: str) -> Path:
    """Encode pictures of grey 4n at the given seconds: variable frame rate, by a real encoder."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=30, options=options)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for number, time in enumerate(times):
            plane = np.full((48 * 3 // 2, 64), 128, np.uint8)
            plane[:48] = 16 + 4 * number
            frame = av.VideoFrame.from_ndarray(plane, format="yuv420p")
            frame.pts, frame.time_base = round(time * 1000), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def test_takes_one_frame_per_second_at_its_timestamp(make_clip):
    frames, report = sample(make_clip("soup.mp4", seconds=5, picture=COUNTER), exact=True)
    assert times(frames) == [0, 1, 2, 3, 4]
    assert numbers(frames) == [0, 10, 20, 30, 40]
    assert (report.mode, report.partial) == ("exact", False)
    assert report.decoded_seconds == pytest.approx(5) and report.expected_seconds == pytest.approx(5)


@pytest.mark.parametrize("fps", [0.25, 0.5, 2, 3, 10])
def test_follows_the_rate_asked_for(make_clip, fps):
    frames, _ = sample(make_clip("soup.mp4", seconds=8, picture=COUNTER), fps=fps, exact=True)
    assert len(frames) == 8 * fps
    for place, frame in enumerate(frames):
        assert place / fps - 0.1 < frame.time <= place / fps + 1e-3  # the frame on display at that moment


def test_a_rate_above_the_sources_gives_each_frame_once(make_clip):
    frames, _ = sample(make_clip("soup.mp4", seconds=2, rate=5, picture=COUNTER), fps=30)
    assert numbers(frames) == list(range(10))


def test_b_frames_come_in_time_order_with_true_times(make_clip):
    path = make_clip("soup.mp4", "-bf", 3, "-g", 30, "-x264-params", "b-adapt=0", seconds=2, rate=25, picture=COUNTER)
    frames, _ = sample(path, exact=True, fps=5)
    assert [round(frame.time * 25) for frame in frames] == numbers(frames) == list(range(0, 50, 5))


def test_fast_mode_is_at_most_one_source_frame_early_and_says_so(make_clip):
    path = make_clip("soup.mp4", "-bf", 3, "-x264-params", "b-adapt=0", seconds=2, rate=25, picture=COUNTER)
    exact, _ = sample(path, exact=True)
    fast, report = sample(path)
    assert report.mode == "fast"
    assert len(fast) == len(exact)
    for quick, true in zip(fast, exact, strict=True):
        assert true.time - 1 / 25 - 1e-3 <= quick.time <= true.time + 1e-3
    assert [round(frame.time * 25) for frame in fast] == numbers(fast)  # the time is that of the picture given


@pytest.mark.parametrize("frames_between", [3, 8, 16])
def test_fast_mode_never_loses_a_sample_to_frames_it_skips(make_clip, frames_between):
    params = f"b-adapt=0:b-pyramid=none:bframes={frames_between}"
    path = make_clip("soup.mp4", "-x264-params", params, seconds=20, rate=5)
    exact, _ = sample(path, exact=True)
    fast, report = sample(path)
    assert len(fast) == len(exact) == 20
    for quick, true in zip(fast, exact, strict=True):
        assert true.time - 0.25 - 1e-3 <= quick.time <= true.time + 1e-3
    assert report.mode == "exact"


def test_fast_mode_decodes_all_where_frames_are_few(make_clip):
    frames, report = sample(make_clip("soup.mp4", "-bf", 3, seconds=6, rate=2, picture=COUNTER))
    assert report.mode == "exact"
    assert times(frames) == [0, 1, 2, 3, 4, 5]


def test_variable_frame_rate_gives_the_frame_on_display(tmp_path):
    # 0.9 is on display from 0.9 to 5.0: it is what a viewer sees at 1, 2, 3 and 4 s, and it is given once.
    path = write_frames(tmp_path / "slides.mp4", [0, 0.3, 0.6, 0.9, 5.0, 5.1, 6.2, 9.0])
    frames, _ = sample(path, exact=True)
    assert times(frames) == [0, 0.9, 5.0, 5.1, 6.2, 9.0]
    assert numbers(frames) == [0, 3, 4, 5, 6, 7]


def test_times_count_from_the_start_of_playback(make_clip):
    frames, _ = sample(make_clip("soup.ts", "-output_ts_offset", 100, seconds=3, picture=COUNTER), exact=True)
    assert times(frames) == [0, 1, 2]


def test_pictures_that_start_after_the_sound_keep_their_delay(make_clip, ffmpeg, tmp_path):
    picture, path = make_clip("picture.mp4", seconds=3), tmp_path / "late.mkv"
    ffmpeg("-itsoffset", 0.7, "-i", picture, "-f", "lavfi", "-i", "sine", "-t", 4, "-map", "0:v", "-map", "1:a", path)
    frames, _ = sample(path, exact=True)
    assert times(frames) == pytest.approx([0.7, 1.7, 2.7], abs=0.03)


DISPLAYS = [["-display_rotation", 90], ["-display_rotation", 180], ["-display_rotation", 270], ["-display_hflip"],
            ["-display_vflip"], ["-display_rotation", 90, "-display_hflip"]]  # fmt: skip


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda words: "".join(map(str, words)))
def test_rotation_and_mirrors_are_applied_as_ffmpeg_does(make_clip, ffmpeg, tmp_path, display):
    upright, turned, shown = make_clip("a.mp4", size="96x64"), tmp_path / "turned.mp4", tmp_path / "shown.mp4"
    ffmpeg(*display, "-i", upright, "-c", "copy", turned)
    ffmpeg("-i", turned, "-qp", 0, shown)  # ffmpeg rotates the picture itself when it re-encodes
    ours, _ = sample(turned, fit="short", size=64)
    theirs, _ = sample(shown, fit="short", size=64)
    assert ours[0].pixels.shape == theirs[0].pixels.shape
    assert np.abs(ours[0].pixels.astype(int) - theirs[0].pixels).mean() < 6


def test_interlaced_pictures_do_not_comb(make_clip):
    # A bar that jumps 8 pixels between fields: woven together, every second row of it would be elsewhere.
    bar = "color=size=64x64:rate=50,format=gray,geq=lum='255*between(X,mod(8*N,56),mod(8*N,56)+7)',tinterlace=4"
    path = make_clip("tv.mkv", "-flags", "+ildct+ilme", "-c:v", "mpeg2video", "-q:v", 1, picture=bar, seconds=1)
    with av.open(str(path)) as container:
        assert next(container.decode(video=0)).interlaced_frame
    frames, _ = sample(path, exact=True, size=64, fps=25)
    for frame in frames[:10]:
        grey = frame.pixels.mean(axis=2)
        assert np.abs(np.diff(grey, axis=0)).mean() < 4


def test_pixels_that_are_not_square_are_stretched(make_clip):
    frames, _ = sample(make_clip("tv.mp4", "-vf", "setsar=2", size="64x64"), fit="short", size=48)
    assert frames[0].pixels.shape == (48, 96, 3)


@pytest.mark.parametrize("size", ["65x37", "33x101", "2x2", "16x300"])
def test_odd_sizes_fill_the_square(make_clip, size):
    path = make_clip("odd.mkv", "-c:v", "ffv1", size=size, seconds=1)
    assert sample(path)[0][0].pixels.shape == (32, 32, 3)
    assert sample(path, fit="letterbox")[0][0].pixels.shape == (32, 32, 3)


def test_letterbox_keeps_the_whole_picture_between_black_bars(make_clip):
    frames, _ = sample(make_clip("wide.mp4", size="64x32", picture="color=white:size={size}"), fit="letterbox", size=32)
    grey = frames[0].pixels.mean(axis=(1, 2))
    assert (grey[:7] < 5).all() and (grey[9:23] > 240).all() and (grey[25:] < 5).all()


def test_crop_keeps_the_middle(make_clip):
    picture = "color=white:size=96x32,drawbox=x=32:y=0:w=32:h=32:color=black:t=fill"
    frames, _ = sample(make_clip("wide.mp4", "-qp", 0, picture=picture), size=32)
    assert frames[0].pixels[:, 2:-2].mean() < 12


@pytest.mark.parametrize("tags", [("bt709", "tv"), ("smpte170m", "tv"), ("bt709", "pc")])
def test_colours_survive(make_clip, tags):
    space, scale = tags
    options = ["-vf", f"scale=out_color_matrix={space}:out_range={scale}", "-colorspace", space, "-color_range", scale]
    picture = "color=0xC83214:size={size}:rate={rate}"
    frames, _ = sample(make_clip("red.mp4", *options, "-crf", 1, picture=picture))
    assert np.abs(frames[0].pixels.reshape(-1, 3).mean(0) - (0xC8, 0x32, 0x14)).max() < 4


def test_untagged_high_definition_is_read_as_bt709(make_clip):
    options = ["-vf", "scale=out_color_matrix=bt709", "-colorspace", "unknown", "-crf", 1]
    picture = "color=0xC83214:size={size}:rate={rate}"
    frames, _ = sample(make_clip("red.mp4", *options, size="1280x720", seconds=1, rate=5, picture=picture))
    assert np.abs(frames[0].pixels.reshape(-1, 3).mean(0) - (0xC8, 0x32, 0x14)).max() < 6  # read as BT.601: 14 off


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.mkv", ["-c:v", "libvpx-vp9"]), ("a.webm", ["-c:v", "libvpx"]), ("a.avi", ["-c:v", "mpeg4", "-bf", 2]),
        ("a.mov", ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"]), ("a.mpg", ["-c:v", "mpeg2video", "-r", 25]),
        ("a.flv", ["-c:v", "flv1"]),
        ("a.mp4", ["-c:v", "libx265", "-x265-params", "log-level=none"]), ("a.ogv", ["-c:v", "libtheora"]),
        ("a.wmv", ["-c:v", "wmv2"]), ("a.gif", []), ("a.y4m", []), ("a.h264", ["-bf", 2]),
    ],
)  # fmt: skip
def test_containers_and_codecs(make_clip, name, options):
    frames, _ = sample(make_clip(name, *options, seconds=4))
    assert times(frames) == pytest.approx([0, 1, 2, 3], abs=0.11)


def test_one_frame_is_enough(make_clip):
    frames, report = sample(make_clip("still.mp4", "-frames:v", 1))
    assert times(frames) == [0] and not report.partial


def test_sound_without_pictures_is_refused(ffmpeg, tmp_path):
    path = tmp_path / "voice.mp4"
    ffmpeg("-f", "lavfi", "-i", "sine", "-t", 1, path)
    with pytest.raises(InputError, match="no video stream"):
        sample(path)


def test_cover_art_is_not_a_video(make_clip, ffmpeg, tmp_path):
    cover, path = make_clip("cover.png", "-frames:v", 1), tmp_path / "song.m4a"
    ffmpeg("-f", "lavfi", "-i", "sine", "-i", cover, "-t", 1, "-map", "0", "-map", "1", "-c:v", "copy",
           "-disposition:v", "attached_pic", path)  # fmt: skip
    with pytest.raises(InputError, match="no video stream"):
        sample(path)


@pytest.mark.parametrize("name", ["bare.mp4", "bare.mkv", "bare.avi"])
def test_a_file_without_frames_is_refused(make_clip, name):
    with pytest.raises(InputError, match=r"no frame|cannot be opened|no video stream"):
        sample(make_clip(name, "-t", 0))


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\0" * 4096, random.Random(0).randbytes(4096)])
def test_bytes_that_are_not_a_video_are_refused(tmp_path, content):
    (tmp_path / "noise.mp4").write_bytes(content)
    with pytest.raises(InputError):
        sample(tmp_path / "noise.mp4")


def test_a_codec_that_nobody_knows_is_refused(make_clip, tmp_path):
    content = make_clip("whole.mkv").read_bytes()
    (tmp_path / "odd.mkv").write_bytes(content.replace(b"V_MPEG4/ISO/AVC", b"V_MPEG9/ISO/XYZ"))
    with pytest.raises(InputError, match="its video is in no known format"):
        sample(tmp_path / "odd.mkv")


def test_a_truncated_file_is_kept_as_partial(make_clip, tmp_path):
    # mp4 with its tables in front, cut in the middle: the usual broken download
    options = ["-movflags", "+faststart", "-c:v", "libx264", "-g", 10]
    content = make_clip("whole.mp4", *options, seconds=20).read_bytes()
    (tmp_path / "cut.mp4").write_bytes(content[: len(content) // 2])
    frames, report = sample(tmp_path / "cut.mp4")
    assert report.partial and 3 < len(frames) < 18
    assert report.expected_seconds == pytest.approx(20)
    assert report.decoded_seconds < 18


def test_damage_inside_costs_only_the_damaged_frames(make_clip, tmp_path):
    content = bytearray(make_clip("whole.ts", "-g", 5, seconds=20).read_bytes())
    middle = len(content) // 2
    content[middle : middle + 20 * 188] = random.Random(0).randbytes(20 * 188)
    (tmp_path / "hit.ts").write_bytes(content)
    frames, report = sample(tmp_path / "hit.ts", exact=True)
    assert report.partial
    assert len(frames) >= 16 and frames[-1].time > 17


@pytest.mark.parametrize("name", ["whole.mp4", "whole.mkv", "whole.ts", "whole.mpg", "whole.flv", "whole.avi"])
def test_damage_is_noticed_and_the_missing_middle_is_counted(make_clip, tmp_path, name):
    options = ["-movflags", "+faststart"] if name.endswith("mp4") else []
    content = bytearray(make_clip(name, *options, seconds=20, rate=25).read_bytes())
    third = len(content) // 3
    content[third : 2 * third] = random.Random(0).randbytes(third)
    (tmp_path / f"hit-{name}").write_bytes(content)
    frames, report = sample(tmp_path / f"hit-{name}")
    assert report.partial and 3 < len(frames) < 19
    assert report.decoded_seconds < 18


@pytest.mark.parametrize("name", ["slides.mp4", "slides.mkv"])
def test_a_still_slide_is_not_a_loss(tmp_path, name):
    at = [n / 10 for n in range(40)] + [30.0, 30.1, 60.0]
    frames, report = sample(write_frames(tmp_path / name, at, bf="0"))
    assert not report.partial and report.decoded_seconds == pytest.approx(60, abs=0.2)
    assert times(frames) == [0, 1, 2, 3, 3.9, 30, 30.1, 60]


def test_a_copied_cut_is_whole(make_clip, ffmpeg, tmp_path):
    # Its first frames serve the decoder only: an edit list keeps them from being shown.
    whole, cut = make_clip("whole.mp4", "-g", 250, seconds=20, rate=25), tmp_path / "cut.mp4"
    ffmpeg("-ss", 6.3, "-i", whole, "-c", "copy", cut)
    frames, report = sample(cut)
    assert not report.partial and len(frames) in (14, 15)


def test_pictures_that_start_late_in_matroska_are_whole(make_clip, ffmpeg, tmp_path):
    picture, path = make_clip("picture.mp4", seconds=6), tmp_path / "late.mkv"
    ffmpeg("-itsoffset", 3.3, "-i", picture, "-f", "lavfi", "-i", "sine", "-t", 10, "-map", "0:v", "-map", "1:a", path)
    _, report = sample(path)
    assert not report.partial and report.expected_seconds == pytest.approx(6, abs=0.2)


def test_stills_that_end_before_the_sound_in_matroska_are_whole(tmp_path, ffmpeg):
    stills, path = (
        write_frames(tmp_path / "stills.mkv", [n / 10 for n in range(30)] + [20.0], bf="0"),
        tmp_path / "s.mkv",
    )
    ffmpeg("-i", stills, "-f", "lavfi", "-i", "sine", "-map", "0:v", "-map", "1:a", "-t", 30, "-c:v", "copy", path)
    assert not sample(path)[1].partial


def test_recordings_joined_by_copying_follow_each_other(make_clip, tmp_path):
    once = make_clip("once.ts", seconds=20, rate=25).read_bytes()
    (tmp_path / "twice.ts").write_bytes(once + once)
    frames, report = sample(tmp_path / "twice.ts")
    assert len(frames) == 40 and report.decoded_seconds == pytest.approx(40, abs=0.2) and not report.partial
    assert [round(frame.time) for frame in frames] == list(range(40))


def test_frames_over_the_limit_are_refused_before_they_are_decoded(make_clip):
    path = make_clip("large.mp4", size="640x480", seconds=1)
    with pytest.raises(InputError, match="640x480"):
        sample(path, max_pixels=640 * 480 - 1)


def test_long_files_are_refused(make_clip):
    with pytest.raises(InputError, match="hours"):
        sample(make_clip("long.mp4", seconds=5), max_seconds=4)


def test_a_file_that_hides_its_length_is_stopped_at_the_limit(make_clip):
    with pytest.raises(InputError, match="hours"):
        sample(make_clip("long.h264", seconds=5), max_seconds=3)


def test_a_size_that_changes_midway_keeps_one_shape(make_clip, tmp_path):
    first, second = make_clip("a.ts", size="64x48"), make_clip("b.ts", "-output_ts_offset", 3, size="96x64")
    (tmp_path / "both.ts").write_bytes(first.read_bytes() + second.read_bytes())
    frames, _ = sample(tmp_path / "both.ts", fit="short")
    assert len(frames) == 6 and len({frame.pixels.shape for frame in frames}) == 1


def test_the_pancake_clip(shared):
    frames, report = sample(shared / "clips" / "flipping_a_pancake.mkv")
    assert len(frames) in (10, 11, 12) and not report.partial


# autoeditor_example.mp4 shows a timecode at 30 frames per second (hours:minutes:seconds:frames, from 01:00:00:00).
# These samples at 3.7 per second, checked by eye, showed:
SEEN = {1: "0008", 6: "0118", 11: "0229", 23: "0606", 27: "0708", 34: "0905", 50: "1315", 65: "1717", 67: "1803",
        85: "2229", 99: "2622", 120: "3212", 133: "3528", 141: "3803", 150: "4016"}  # fmt: skip


def test_the_timecode_in_the_picture_is_the_time_stored(shared):
    path = shared / "clips" / "autoeditor_example.mp4"

    def digits(frame: Frame) -> list[np.ndarray]:
        """The last four digits of the timecode, seconds and frames, as black and white pictures."""
        return [frame.pixels[605:672, left : left + 40].min(axis=2) > 160 for left in (1053, 1094, 1156, 1197)]

    frames, report = sample(path, fps=3.7, size=720, fit="short", exact=True)
    glyphs = {
        shown: glyph for place, code in SEEN.items() for shown, glyph in zip(code, digits(frames[place]), strict=True)
    }

    def read(frame: Frame) -> str:
        return "".join(min(glyphs, key=lambda shown: np.sum(glyphs[shown] ^ digit)) for digit in digits(frame))

    assert len(glyphs) == 10 and {place: read(frames[place]) for place in SEEN} == SEEN
    fast, _ = sample(path, fps=1, size=720, fit="short")
    for frame in frames + fast:
        code = read(frame)
        assert frame.time == pytest.approx(int(code[:2]) + int(code[2:]) / 30, abs=1e-3)
    assert len(frames) == 157 and len(fast) == 43 and report.expected_seconds == pytest.approx(42.4)
