"""Subtitles inside a video file.

The packets of text subtitles are read as they are, not through FFmpeg's decoders, which turn everything into ASS and
lose the inline word times of WebVTT.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mmcc.errors import InputError
from mmcc.media.captions import Cue, cues_from_shown, decode
from mmcc.media.rolling_captions import ShownCue

if TYPE_CHECKING:
    from av.subtitles.stream import SubtitleStream

# ISO 639-2 codes that do not begin with the two letters of ISO 639-1.
_THREE_LETTERS = {
    "cs": {"cze", "ces"}, "de": {"ger", "deu"}, "es": {"spa"}, "et": {"est"}, "eu": {"baq", "eus"},
    "fa": {"per", "fas"}, "ja": {"jpn"}, "ms": {"may", "msa"}, "nl": {"dut", "nld"}, "pl": {"pol"}, "pt": {"por"},
    "sk": {"slo", "slk"}, "sv": {"swe"}, "tr": {"tur"}, "uk": {"ukr"}, "zh": {"chi", "zho"},
}  # fmt: skip

REMEDY = "Check that it is a complete video file, or put a caption file beside it."


def _plain(packet: bytes) -> str:
    return decode(packet)


def _mov_text(packet: bytes) -> str:
    """Two bytes of length, the text, then boxes of style."""
    return decode(packet[2 : 2 + int.from_bytes(packet[:2], "big")])


def _ass(packet: bytes) -> str:
    """ReadOrder, layer, style, name, three margins and an effect come before the text."""
    fields = decode(packet).split(",", 8)
    return fields[8].replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ") if len(fields) == 9 else ""


_TEXT_OF: dict[str, Callable[[bytes], str]] = {
    "subrip": _plain, "srt": _plain, "text": _plain, "webvtt": _plain, "mov_text": _mov_text, "ass": _ass, "ssa": _ass,
}  # fmt: skip


def read_subtitle_stream(path: Path, language: str = "en", reached: Callable[[float], None] | None = None) -> list[Cue]:
    """The cues of the best text subtitles in a video file, on its playback clock; [] where it has none.

    A stream in `language` comes first, then the default one, then the first in the file. `reached` is called with the
    time of each cue: a large file takes long to read.
    """
    import av

    from mmcc.media.video import open_container

    try:
        with open_container(path) as container:
            known = [stream for stream in container.streams.subtitles if stream.codec_context is not None]
            streams = [stream for stream in known if stream.codec_context.name in _TEXT_OF]
            if not streams:
                return []
            stream = min(streams, key=lambda stream: _preference(stream, language))
            text_of = _TEXT_OF[stream.codec_context.name]
            origin = (container.start_time or 0) / av.time_base
            shown = []
            for packet in container.demux(stream):
                if packet.pts is None or packet.time_base is None:
                    continue
                start = float(packet.pts * packet.time_base) - origin
                end = start + float((packet.duration or 0) * packet.time_base)
                lines = [line for line in text_of(bytes(packet)).split("\n") if line.strip()]
                shown.append(ShownCue(start, end, "\n".join(lines)))
                if reached is not None:
                    reached(start)
    except MemoryError:
        raise
    except (av.FFmpegError, OSError, ValueError) as error:
        cause = f"its subtitles cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InputError(path, cause, REMEDY) from error
    return cues_from_shown(shown)


def _preference(stream: "SubtitleStream", language: str) -> tuple[bool, bool, bool, int]:
    """Smaller is better. Forced subtitles translate signs and foreign speech only."""
    from av.stream import Disposition

    spoken = stream.metadata.get("language", "").lower()
    wanted = language.lower()[:2]
    matches = spoken.startswith(wanted) or spoken in _THREE_LETTERS.get(wanted, set())
    forced, default = Disposition.forced in stream.disposition, Disposition.default in stream.disposition
    return not matches, forced, not default, stream.index
