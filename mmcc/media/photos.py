"""Photos as people keep them, read upright, in 8-bit colours on white. The only code that opens a photo.

It reads JPEG, PNG and WebP, and HEIC where the package pillow-heif is installed. Untrusted photos are read in a worker:
`mmcc/media/photo_worker.py`.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePath

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from mmcc.errors import InputError
from mmcc.media.pictures import Fit, PictureMaker, Pixels

PHOTO_SUFFIXES = frozenset({".jpg", ".jpeg", ".jpe", ".png", ".webp", ".heic", ".heif"})
MAX_PIXELS = 120_000_000  # width times height: 360 MB once decoded. Phones take 12 to 108 million
HEIC_PACKAGE = "pillow_heif"
_FORMATS = ("JPEG", "PNG", "WEBP")  # Pillow reads fifty more, which no camera writes: less to attack
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_REMEDY = "Copy it again, or export it as JPEG, PNG or WebP."


def find_photos(folder: Path) -> list[Path]:
    """The photos directly in a folder, sorted by name, without hidden files."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 (names may be any bytes)
    except OSError as error:
        raise _unreadable(folder, error) from None
    return [folder / name for name in names if is_photo_name(name) and not name.startswith(".")]


def is_photo_name(name: str) -> bool:
    return PurePath(name).suffix.lower() in PHOTO_SUFFIXES


def reads_heic() -> bool:
    return find_spec(HEIC_PACKAGE) is not None


def photo_checksum(path: Path) -> str:
    """SHA-256 of the file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from None


def read_photo(path: Path, *, longest: int | None = None, max_pixels: int = MAX_PIXELS) -> Pixels:
    """[H, W, 3] as a viewer shows it: rotated as its EXIF says, transparency on white.

    `longest`: scale a larger photo down until neither side exceeds this many pixels.
    """
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except OSError as error:
        raise _unreadable(path, error) from None
    if not start:
        raise InputError(path, "is empty", "Copy it again from the camera.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about Pillow's own limit and odd metadata: harmless here
            return _decoded(path, _formats(path, start), longest, max_pixels)
    except (InputError, MemoryError):
        raise
    except Image.DecompressionBombError:  # so large that Pillow does not even give the size
        raise _too_large(path, "far too large", max_pixels) from None
    except UnidentifiedImageError:
        raise InputError(path, "is not a readable photo", _REMEDY) from None
    except Exception as error:  # decoders raise nearly anything on damaged bytes
        raise InputError(path, f"is damaged ({str(error) or type(error).__name__})", _REMEDY) from None


def fitted(photo: Pixels, path: Path, size: int, fit: Fit) -> Pixels:
    """A photo scaled and cropped by the code that prepares frames for the corpus."""
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(photo), format="rgb24")
    return PictureMaker(path, size, fit, MAX_PIXELS).make(frame, None)


def _decoded(path: Path, formats: tuple[str, ...], longest: int | None, max_pixels: int) -> Pixels:
    with Image.open(path, formats=formats) as opened:
        width, height = opened.size
        if width * height > max_pixels:  # only its header has been read so far
            raise _too_large(path, f"{width}x{height}", max_pixels)
        opened.load()
        picture = _on_white(_upright(opened))
    if longest is not None:
        picture.thumbnail((longest, longest))
    return np.asarray(picture, np.uint8)


def _upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # do not lose a photo because its EXIF is damaged
        return image


def _on_white(image: Image.Image) -> Image.Image:
    """Any kind of image as 8-bit RGB."""
    if image.mode.startswith("I"):  # 16 bits of grey, which Pillow would clip at 255
        grey: NDArray[np.int64] = np.asarray(image).astype(np.int64) >> 8
        return Image.fromarray(grey.clip(0, 255).astype(np.uint8)).convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    picture = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")


def _formats(path: Path, start: bytes) -> tuple[str, ...]:
    """Decided by its first bytes: its name may be wrong."""
    if start[4:8] != b"ftyp" or start[8:12] not in _HEIC_BRANDS:
        return _FORMATS
    if not reads_heic():
        remedy = "Install it with: pip install pillow-heif; or export the photo as JPEG."
        raise InputError(path, "is HEIC, which the package pillow-heif reads", remedy)
    import_module(HEIC_PACKAGE).register_heif_opener()
    return ("HEIF",)


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(path, f"cannot be read ({error.strerror or error})", "Check the path and its permissions.")


def _too_large(path: Path, size: str, limit: int) -> InputError:
    return InputError(path, f"is {size}, over the limit of {limit:,} pixels", "Scale it down.")
