"""Photos come out upright, in true colours, on white; anything else is refused with a reason."""

import random
import struct
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from mmcc.errors import InputError
from mmcc.media import photos
from mmcc.media.photos import find_photos, fitted, photo_checksum, read_photo
from mmcc.media.video import Sampling, VideoSampler

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def two_halves(width=40, height=20):
    """Red on the left, blue on the right."""
    picture = Image.new("RGB", (width, height), RED)
    picture.paste(BLUE, (width // 2, 0, width, height))
    return picture


def colours(pixels):
    """The corners' colours, clockwise from the top left, rounded: lossy formats are slightly off."""
    h, w = pixels.shape[0] - 3, pixels.shape[1] - 3
    return [tuple((np.round(pixels[y, x] / 85) * 85).astype(int).tolist()) for y, x in ((2, 2), (2, w), (h, w), (h, 2))]


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "A.JPEG", "without"])
def test_every_format_is_read_whatever_its_name(tmp_path, name):
    kind = {".png": "PNG", ".webp": "WEBP"}.get((tmp_path / name).suffix, "JPEG")
    two_halves().save(tmp_path / name, kind, quality=95)
    pixels = read_photo(tmp_path / name)
    assert pixels.shape == (20, 40, 3) and pixels.dtype == np.uint8
    assert colours(pixels) == [RED, BLUE, BLUE, RED]


@pytest.mark.parametrize(
    "orientation, corners",
    [
        (1, [RED, GREEN, BLUE, WHITE]),
        (2, [GREEN, RED, WHITE, BLUE]),
        (3, [BLUE, WHITE, RED, GREEN]),
        (4, [WHITE, BLUE, GREEN, RED]),
        (5, [RED, WHITE, BLUE, GREEN]),
        (6, [WHITE, RED, GREEN, BLUE]),
        (7, [BLUE, GREEN, RED, WHITE]),
        (8, [GREEN, BLUE, WHITE, RED]),
    ],
)
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp"])
def test_exif_turns_a_photo(tmp_path, orientation, corners, suffix):
    stored = Image.new("RGB", (40, 20), RED)
    stored.paste(GREEN, (20, 0, 40, 10))
    stored.paste(BLUE, (20, 10, 40, 20))
    stored.paste(WHITE, (0, 10, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / f"a.{suffix}", exif=exif, quality=95)
    pixels = read_photo(tmp_path / f"a.{suffix}")
    assert pixels.shape == ((20, 40, 3) if orientation < 5 else (40, 20, 3))
    assert colours(pixels) == corners


def test_damaged_exif_does_not_lose_a_photo(tmp_path):
    two_halves().save(tmp_path / "a.jpg", exif=b"Exif\0\0II*\0\xff\xff\xff\xff" + bytes(20), quality=95)
    assert colours(read_photo(tmp_path / "a.jpg")) == [RED, BLUE, BLUE, RED]


@pytest.mark.parametrize("suffix", ["png", "webp"])
def test_transparency_becomes_white(tmp_path, suffix):
    picture = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    picture.paste((255, 0, 0, 255), (10, 0, 20, 20))
    picture.save(tmp_path / f"a.{suffix}", lossless=True)
    assert colours(read_photo(tmp_path / f"a.{suffix}")) == [WHITE, RED, RED, WHITE]
    half = Image.new("RGBA", (8, 8), (0, 0, 0, 128))
    half.save(tmp_path / "half.png")
    assert read_photo(tmp_path / "half.png")[0, 0].tolist() == [127] * 3


def test_palettes_and_their_transparent_colour(tmp_path):
    picture = two_halves().convert("P", palette=Image.Palette.ADAPTIVE)
    picture.save(tmp_path / "plain.png")
    assert colours(read_photo(tmp_path / "plain.png")) == [RED, BLUE, BLUE, RED]
    picture.save(tmp_path / "see_through.png", transparency=int(np.asarray(picture)[0, 0]))
    assert colours(read_photo(tmp_path / "see_through.png")) == [WHITE, BLUE, BLUE, WHITE]


@pytest.mark.parametrize("mode, ink", [("1", 1), ("L", 255), ("LA", (255, 255)), ("CMYK", (0, 0, 0, 0))])
def test_other_kinds_of_colour(tmp_path, mode, ink):
    name = "a.jpg" if mode == "CMYK" else "a.png"
    Image.new(mode, (16, 16), ink).save(tmp_path / name)
    assert read_photo(tmp_path / name).min() > 250


def test_sixteen_bits_are_scaled_and_not_clipped(tmp_path, ffmpeg):
    ramp = np.linspace(0, 65535, 64).astype(np.uint16)
    Image.fromarray(np.tile(ramp, (8, 1))).save(tmp_path / "grey.png")
    pixels = read_photo(tmp_path / "grey.png")
    assert np.abs(pixels[0, :, 0] - ramp / 257).max() <= 1 and (pixels[..., 0] == pixels[..., 2]).all()
    ffmpeg("-f", "lavfi", "-i", "color=0x4080C0:size=16x16", "-frames:v", 1, "-pix_fmt", "rgb48be", tmp_path / "c.png")
    assert np.abs(read_photo(tmp_path / "c.png").astype(int) - [0x40, 0x80, 0xC0]).max() <= 3


def test_only_the_first_picture_of_an_animation_counts(tmp_path):
    first, second = Image.new("RGB", (8, 8), RED), Image.new("RGB", (8, 8), BLUE)
    for name in ("a.webp", "a.png"):
        first.save(tmp_path / name, save_all=True, append_images=[second], lossless=True)
        assert colours(read_photo(tmp_path / name))[0] == RED


def png_of(width, height, data=b""):
    """A header that claims any size."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def test_a_zip_bomb_is_refused_by_its_header(tmp_path):
    path = tmp_path / "bomb.png"
    for side, reason in ((100_000, "far too large"), (11_000, "11000x11000")):
        path.write_bytes(png_of(side, side, bytes(10**6)))
        with pytest.raises(InputError, match=f"is {reason}, over the limit of 120,000,000 pixels"):
            read_photo(path)
    two_halves().save(tmp_path / "a.png")
    with pytest.raises(InputError, match="over the limit of 799"):
        read_photo(tmp_path / "a.png", max_pixels=799)
    assert read_photo(tmp_path / "a.png", max_pixels=800).shape == (20, 40, 3)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp"])
def test_a_truncated_file_is_damaged(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.effect_noise((64, 64), 90).convert("RGB").save(path)
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(InputError, match=r"is damaged|not a readable photo") as caught:
        read_photo(path)
    assert caught.value.path == str(path) and "Copy it again" in caught.value.remedy


@pytest.mark.parametrize(
    "content", [b"these are notes\n" * 9, b"\xff\xd8\xff", b"GIF89a" + bytes(40), b"\x89PNG\r\n\x1a\n"]
)
def test_anything_but_a_photo_is_refused(tmp_path, content):
    (tmp_path / "a.jpg").write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged|not a readable photo"):
        read_photo(tmp_path / "a.jpg")


def test_missing_empty_and_folders(tmp_path):
    (tmp_path / "empty.jpg").touch()
    with pytest.raises(InputError, match="is empty"):
        read_photo(tmp_path / "empty.jpg")
    for path in (tmp_path / "none.jpg", tmp_path):
        for read in (read_photo, photo_checksum):
            with pytest.raises(InputError, match="cannot be read"):
                read(path)


def test_damaged_bytes_never_give_anything_but_an_input_error(tmp_path):
    rng = random.Random(0)
    for suffix in ("jpg", "png", "webp"):
        path = tmp_path / f"a.{suffix}"
        two_halves().save(path)
        whole = path.read_bytes()
        for _ in range(120):
            damaged = bytearray(whole)
            for _ in range(rng.randint(1, 6)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            path.write_bytes(damaged)
            try:
                assert read_photo(path).shape[2] == 3
            except InputError as caught:
                assert caught.remedy


HEIC = struct.pack(">I", 24) + b"ftypheic" + bytes(4) + b"mif1heic" + bytes(64)


def test_heic_without_its_package_is_refused_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.setattr(photos, "find_spec", lambda name: None)
    (tmp_path / "IMG_1.jpg").write_bytes(HEIC)  # its bytes decide, not its name
    with pytest.raises(InputError, match="is HEIC, which the package pillow-heif reads") as caught:
        read_photo(tmp_path / "IMG_1.jpg")
    assert "pip install pillow-heif" in caught.value.remedy


def test_heic_with_its_package(tmp_path):
    heif = pytest.importorskip("pillow_heif", reason="pillow-heif is not installed: HEIC is refused here")
    heif.from_pillow(two_halves(64, 32)).save(tmp_path / "a.heic", quality=-1)
    assert colours(read_photo(tmp_path / "a.heic")) == [RED, BLUE, BLUE, RED]
    (tmp_path / "b.heic").write_bytes(HEIC)
    with pytest.raises(InputError, match=r"is damaged|not a readable photo"):
        read_photo(tmp_path / "b.heic")


def test_a_photo_may_be_read_small(tmp_path):
    two_halves(400, 200).save(tmp_path / "a.png")
    assert read_photo(tmp_path / "a.png", longest=100).shape == (50, 100, 3)
    assert read_photo(tmp_path / "a.png", longest=1000).shape == (200, 400, 3)


@pytest.mark.parametrize("fit", ["crop", "letterbox", "short"])
def test_a_photo_is_fitted_like_a_frame_of_the_same_picture(tmp_path, ffmpeg, fit):
    rng = np.random.default_rng(0)
    picture = Image.fromarray(rng.integers(0, 256, (9, 16, 3), np.uint8)).resize((320, 180))
    picture.save(tmp_path / "a.png")
    ffmpeg("-i", tmp_path / "a.png", "-c:v", "ffv1", "-pix_fmt", "bgr0", tmp_path / "a.mkv")  # without loss
    with VideoSampler(tmp_path / "a.mkv", Sampling(size=48, fit=fit)) as video:
        (frame,) = list(video)
    own = fitted(read_photo(tmp_path / "a.png"), tmp_path / "a.png", 48, fit)
    assert own.shape == frame.pixels.shape == ((48, 85, 3) if fit == "short" else (48, 48, 3))
    assert np.abs(own.astype(int) - frame.pixels).max() <= 1


def test_photos_of_a_folder(tmp_path):
    for name in ("b.JPG", "a.png", ".hidden.jpg", "notes.txt", "c.heic", "clip.mp4"):
        (tmp_path / name).touch()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "d.jpg").touch()
    assert [path.name for path in find_photos(tmp_path)] == ["a.png", "b.JPG", "c.heic"]
    with pytest.raises(InputError, match="cannot be read"):
        find_photos(tmp_path / "none")


def test_real_photos(shared):
    for path in sorted((shared / "photos").glob("*/*.jpg"))[:6]:
        assert max(read_photo(path).shape) == 512
