"""Small sound files of every kind, and how they are damaged."""

import random
from typing import Any

VIDEO_KINDS = {
    ".mp4": ["-c:v", "libx264", "-movflags", "+faststart"],
    ".mkv": ["-c:v", "libx264"],
    ".webm": ["-c:v", "libvpx", "-deadline", "realtime"],
    ".avi": ["-c:v", "mpeg4"],
    ".ts": ["-c:v", "mpeg2video"],
    ".flv": ["-c:v", "flv1"],
    ".ogv": ["-c:v", "libtheora"],
    ".wmv": ["-c:v", "wmv2"],
    ".mov": ["-c:v", "libx265", "-x265-params", "log-level=none"],
}

# Pillow's mode, and how it saves the photo.
PHOTO_KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "jpeg": ("RGB", {"format": "JPEG", "quality": 90}),
    "progressive jpeg": ("RGB", {"format": "JPEG", "progressive": True}),
    "grey jpeg": (
        "L",
        {"format": "JPEG", "exif": b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"},
    ),
    "cmyk jpeg": ("CMYK", {"format": "JPEG"}),
    "png": ("RGB", {"format": "PNG"}),
    "transparent png": ("RGBA", {"format": "PNG"}),
    "png of 16 bits": ("I;16", {"format": "PNG"}),
    "palette png": ("P", {"format": "PNG", "transparency": 3}),
    "webp": ("RGB", {"format": "WEBP"}),
    "transparent webp": ("RGBA", {"format": "WEBP", "lossless": True}),
}

CAPTIONS = {
    "a.srt": (
        "1\n00:00:01,000 --> 00:00:02,500\nAdd the <i>flour</i> &amp; stir\n\n2\n00:00:03,000 --> 00:00:04,000\n- Yes\n"
    ),
    "a.vtt": (
        "WEBVTT\n\nNOTE hi\n\n1\n00:01.000 --> 00:02.500 align:start\n<v Ann>Add the flour\n\n"
        "00:03.000 --> 00:04.000\n[Music]\n"
    ),
    "rolling.vtt": (
        "WEBVTT\nKind: captions\n\n00:00:01.000 --> 00:00:02.500 align:start position:0%\n \n"
        "add<00:00:01.400><c> the</c><00:00:01.900><c> flour</c>\n\n"
        "00:00:02.500 --> 00:00:02.510 align:start position:0%\nadd the flour\n \n\n"
        "00:00:02.510 --> 00:00:04.000 align:start position:0%\nadd the flour\nand<00:00:03.000><c> stir</c>\n"
    ),
    "a.csv": 'start,end,text\n1.0,2.5,"add, the flour"\n3.0,4.0,and stir\n',
    "caption.json": '{"abc": {"start": [1.0, 3.0], "end": [2.5, 4.0], "text": ["add the flour", "and stir"]}}',
    "whisper.json": (
        '{"text": "x", "segments": [{"start": 1.0, "end": 2.5, "text": " Add the flour.", "no_speech_prob": 0.1, '
        '"words": [{"word": " Add", "start": 1.0, "end": 1.4, "probability": 0.9}]}]}'
    ),
}


def corrupt(content: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Damage a file in one to four ways at random places."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0:  # flip some bytes
                for _ in range(rng.randint(1, 40)):
                    data[rng.randrange(len(data))] = rng.randrange(256)
            case 1:  # cut the end off
                del data[max(1, place) :]
            case 2:  # delete a stretch
                del data[place : place + rng.randint(1, 2000)]
            case 3:  # splice in part of another
                other = rng.choice(others)
                begin = rng.randrange(len(other))
                data[place:place] = other[begin : begin + rng.randint(1, 4000)]
            case 4:  # repeat a stretch
                data[place:place] = data[place : place + rng.randint(1, 4000)]
            case 5:  # write absurd numbers
                data[place : place + 8] = rng.choice([b"\xff" * 8, b"\0" * 8, b"\x7f\xff\xff\xff" * 2, b"99999999"])
        data = data or bytearray(b"\0")
    return bytes(data)
