"""Frames that show nothing, as ffmpeg encodes them; and frames that show something."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from mmcc.corpus import Corpus
from mmcc.media.photos import find_photos, fitted, read_photo
from mmcc.media.video import Sampling, VideoSampler
from mmcc.tools.blank import blank_frames, uniform_or_text

SIZE = 144


def read(path, fps=1.0):
    with VideoSampler(path, Sampling(fps, SIZE, "crop")) as video:
        return np.stack([pixels for _, pixels in video])


@pytest.fixture
def encoded(tmp_path, ffmpeg):
    """A filter graph, encoded as H.264 and sampled at a frame per second."""

    def make(graph, seconds=6, inputs=(), crf=30):
        path = tmp_path / "clip.mp4"
        ffmpeg(*inputs, "-filter_complex", graph, "-t", seconds, "-pix_fmt", "yuv420p", "-crf", crf, path)
        return read(path)

    return make


@pytest.mark.parametrize("colour", ["black", "white", "gray", "0x204060"])
def test_plain_colours_are_blank(encoded, colour):
    frames = encoded(f"color={colour}:size=256x192:rate=5,noise=alls=4:allf=t")
    assert blank_frames([frames]).all()


def test_a_vignette_is_plain_and_a_test_card_is_not(encoded):
    assert blank_frames([encoded("color=gray:size=256x192:rate=5,vignette=PI/5")]).all()
    assert not blank_frames([encoded("testsrc2=size=256x192:rate=5")]).any()


def lettered(path: Path, paper: tuple[int, int, int], ink: tuple[int, int, int], size: int, lines: list[str]) -> Path:
    """A card, as an editor would make it: this ffmpeg draws no text."""
    card = Image.new("RGB", (640, 480), paper)
    font = ImageFont.load_default(size)
    for row, line in enumerate(lines):
        width = font.getlength(line)
        top = 240 - len(lines) * size * 0.7 + row * size * 1.4
        ImageDraw.Draw(card).text(((640 - width) / 2, top), line, ink, font)
    card.save(path)
    return path


@pytest.mark.parametrize(
    ("paper", "ink", "size", "lines"),
    [
        ((0, 0, 0), (255, 255, 255), 60, ["THE END"]),
        ((255, 255, 255), (20, 20, 20), 40, ["Tomato soup", "in ten minutes"]),
        ((0, 0, 0), (230, 230, 230), 24, ["Filmed by Ann", "Edited by Bo", "Music by Cy", "Thanks to Di", "2021"]),
        ((30, 80, 160), (250, 220, 90), 48, ["Subscribe!"]),
    ],
)
def test_titles_and_credits(encoded, tmp_path, paper, ink, size, lines):
    card = lettered(tmp_path / "card.png", paper, ink, size, lines)
    assert blank_frames([encoded("[0]fps=5", 3, ["-loop", 1, "-i", card])]).all()


def test_rolling_credits(encoded, tmp_path):
    card = lettered(tmp_path / "card.png", (0, 0, 0), (240, 240, 240), 24, ["Filmed by Ann", "Edited by Bo", "Thanks"])
    rolling = "[0]fps=10,pad=640:960:0:240[tall];[tall]crop=640:480:0:'t*40'"
    assert blank_frames([encoded(rolling, 4, ["-loop", 1, "-i", card])]).all()


def scene(moving=True):
    """A picture with large shapes, as of a table; in motion."""
    shapes = "color=0x8a6a48:size=320x240:rate=10[t];testsrc2=size=320x240:rate=10,boxblur=6,hue=s=0.5[p];"
    return shapes + "[t][p]blend=all_mode=average"


@pytest.mark.parametrize("colour", ["black", "white"])
def test_fades_end_where_the_picture_is_clear(encoded, colour):
    graph = f"{scene()},fade=t=in:st=1:d=3:color={colour},fade=t=out:st=9:d=3:color={colour}"
    blank = blank_frames([encoded(graph, seconds=14)])
    assert blank[:2].all() and blank[12:].all()  # black, and the frames next to it
    assert blank[2] and blank[11] and not blank[5:9].any()


def test_a_video_may_begin_or_end_in_a_fade(encoded):
    graph = f"{scene()},fade=t=in:st=0:d=4,fade=t=out:st=7:d=4,trim=start=1,setpts=PTS-STARTPTS"
    blank = blank_frames([encoded(graph, seconds=9)])  # a quarter of the brightness at first
    assert blank[0] and blank[-1] and not blank[3:6].any()


def test_a_cut_from_black_is_no_fade(encoded):
    graph = f"color=black:size=320x240:rate=10:d=3[a];{scene()}[b];[a][b]concat=n=2"
    assert blank_frames([encoded(graph, seconds=7)]).tolist() == [True] * 3 + [False] * 4


def test_it_does_not_matter_how_the_frames_are_dealt_out(encoded):
    frames = encoded(f"{scene()},fade=t=in:st=1:d=3", seconds=7)
    expected = blank_frames([frames])
    np.testing.assert_array_equal(blank_frames(frames[at : at + 1] for at in range(len(frames))), expected)
    assert blank_frames([]).tolist() == []


@given(st.integers(0, 255), st.integers(8, 300), st.integers(8, 300))
def test_any_size_of_a_plain_frame(level, height, width):
    assert blank_frames([np.full((1, height, width, 3), level, np.uint8)]).all()


def test_large_shapes_are_no_text():
    """A plate on a table, a pan that is cut by the border, and a knife."""
    picture = Image.new("RGB", (SIZE, SIZE), (150, 110, 70))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((40, 40, 110, 110), (235, 235, 230))
    plate = np.asarray(picture)
    draw.rectangle((0, 100, 60, SIZE), (30, 30, 30))
    assert not uniform_or_text(np.stack([plate, np.asarray(picture)]).astype(np.float32) / 255)[1].any()


def test_real_cooking_is_not_blank(shared):
    """One of these frames is black; the whole set, 1,350 frames, has two that show nothing, and both are found."""
    folders = sorted((shared / "youcook2/frames").iterdir())[:60]
    paths = [path for folder in folders for path in find_photos(folder)]
    frames = np.stack([fitted(read_photo(path), path, SIZE, "crop") for path in paths])
    assert len(frames) == 180 and np.stack(uniform_or_text(frames.astype(np.float32) / 255)).sum() <= 1


@pytest.mark.slow
def test_the_closing_titles_of_a_real_clip(shared):
    blank = blank_frames([read(shared / "clips/wannaworktogether.mp4")])
    assert blank[147:].all() and blank[0]  # credits on a grey grid
    assert not blank[7:23].any()
    assert not blank_frames([read(shared / "clips/flipping_a_pancake.mkv")]).any()


@pytest.mark.slow
def test_kitchen_frames_are_not_blank_but_for_its_own_title_cards(kitchens):
    videos = Corpus.open(kitchens.kitchen_corpus(videos=12, size=48, features=True).pictures)
    found = np.concatenate([blank_frames([video.frames(0, len(video.times))]) for video in videos])
    assert len(found) > 1000 and found.mean() <= 0.02
