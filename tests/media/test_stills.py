"""Stills at a video's own resolution."""

import numpy as np
import pytest
import simplejpeg

from mmcc.errors import InputError
from mmcc.media.stills import read_stills, still_at
from mmcc.media.video import Sampling, VideoSampler


@pytest.mark.parametrize("options", [(), ("-g", 250, "-bf", 3), ("-output_ts_offset", 7)])
def test_a_still_is_the_frame_that_was_sampled(make_clip, options):
    clip = make_clip("soup.mp4", *options, seconds=6, size="320x240")
    with VideoSampler(clip, Sampling(1.0, 240, "short")) as video:
        sampled = dict(iter(video))
    assert len(sampled) == 6
    for time, pixels in sampled.items():
        assert np.abs(still_at(clip, time).astype(int) - pixels).mean() < 1, time


def test_large_frames_are_scaled_down_and_small_ones_kept(make_clip):
    assert still_at(make_clip("large.mp4", seconds=1, size="1920x1080"), 0).shape == (720, 1280, 3)
    assert still_at(make_clip("tall.mp4", seconds=1, size="240x640"), 0, longest=320).shape == (320, 120, 3)
    assert still_at(make_clip("small.mp4", seconds=1), 0).shape == (48, 64, 3)


def test_they_are_decoded_elsewhere_and_what_fails_is_left_out(make_clip, tmp_path):
    clip = make_clip("soup.mp4", seconds=3, size="160x120")
    found = read_stills(clip, [0.0, 1.5, 99.0])
    assert set(found) >= {0.0, 1.5}
    assert simplejpeg.decode_jpeg(found[1.5]).shape == (120, 160, 3)
    (tmp_path / "broken.mp4").write_bytes(clip.read_bytes()[:500])
    assert read_stills(tmp_path / "broken.mp4", [0.0]) == {}
    assert read_stills(tmp_path / "gone.mp4", [0.0]) == {}


def test_a_file_without_pictures_is_named(tmp_path, ffmpeg):
    sound = tmp_path / "sound.mp4"
    ffmpeg("-f", "lavfi", "-i", "sine", "-t", 1, sound)
    with pytest.raises(InputError, match="has no video stream"):
        still_at(sound, 0)
