"""Speech recognition against real clips with known words and times, and against broken or unusual files."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import av
import imageio_ffmpeg
import numpy as np
import pytest

from mmcc.errors import InputError, MissingDependency
from mmcc.media import speech
from mmcc.media.captions import Cue
from mmcc.media.speech import _Ear, _Line, require_speech, transcribe

CLIPS = Path(__file__).parents[2].parent / "shared" / "data" / "clips"


@pytest.fixture(scope="module")
def clips() -> Path:
    pytest.importorskip("moonshine_voice", reason="the extra asr is not installed")
    if not CLIPS.is_dir():
        pytest.skip(f"real clips are absent ({CLIPS})")
    return CLIPS


def ffmpeg(*arguments: str | Path) -> None:
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *map(str, arguments)], check=True)


def copy_sound(
    source: Path, target: Path, seconds: float, spoil: Callable[[int, bytes], bytes] = lambda number, data: data
) -> Path:
    """The first seconds of a file's sound, not decoded; `spoil` may replace a packet's bytes."""
    with av.open(str(source)) as old, av.open(str(target), "w") as new:
        track = new.add_stream_from_template(old.streams.audio[0])
        for number, packet in enumerate(old.demux(old.streams.audio[0])):
            if packet.pts is not None and packet.pts * packet.time_base < seconds:
                copy = av.Packet(spoil(number, bytes(packet)))
                copy.pts, copy.dts, copy.duration = packet.pts, packet.dts, packet.duration
                copy.time_base, copy.stream = packet.time_base, track
                new.mux(copy)
    return target


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def srt_words(path: Path, until: float = 1e9) -> list[str]:
    """The words of the cues that start before a time."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", path.read_text()):
        if match := re.search(r"(\d+):(\d+):(\d+),(\d+) -->[^\n]*\n(.*)", block, re.DOTALL):
            hours, minutes, seconds, thousandths = map(int, match.groups()[:4])
            if hours * 3600 + minutes * 60 + seconds + thousandths / 1000 < until:
                found += words(match[5])
    return found


def word_error_rate(truth: list[str], said: list[str]) -> float:
    """The fewest insertions, deletions and replacements per true word."""
    row = list(range(len(said) + 1))
    for i, true_word in enumerate(truth, 1):
        corner, row[0] = row[0], i
        for j, word in enumerate(said, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (true_word != word))
    return row[-1] / len(truth)


def start_of(word: str, cues: Iterable[Cue]) -> float:
    return max(cue.start for cue in cues if word in words(cue.text))


def test_error_rate_counts_edits() -> None:
    assert word_error_rate(["a", "b", "c", "d"], ["a", "x", "d", "e"]) == 0.75


@pytest.mark.slow
def test_manifesto_is_understood_and_timed(clips: Path) -> None:
    signs: list[float] = []
    cues = transcribe(clips / "manifesto.mp4", signs.append)
    said = words(" ".join(cue.text for cue in cues))
    assert word_error_rate(srt_words(clips / "manifesto.srt"), said) < 0.15  # 0.087 when written
    assert all(cue.text.strip() and cue.start <= cue.end for cue in cues)
    assert all(before.end <= after.start for before, after in pairwise(cues))
    # The caption file has "two things result from this fact" at 51.44 s, past a window's edge.
    assert start_of("fact", cues) == pytest.approx(51.44, abs=0.6)
    with av.open(str(clips / "manifesto.mp4")) as container:
        track = container.streams.audio[0]
        assert track.duration is not None and track.time_base is not None
        seconds = float(track.duration * track.time_base)
    assert cues[0].start >= 0 and cues[-1].end <= seconds + 0.05
    assert signs == sorted(set(signs)) and max(np.diff([0, *signs])) < 10
    assert signs[-1] == pytest.approx(seconds, abs=0.1)


@pytest.mark.slow
def test_agrees_with_an_earlier_recognition(clips: Path, tmp_path: Path) -> None:
    """The first 50 s, past a window's edge."""
    cut = copy_sound(clips / "wannaworktogether.mp4", tmp_path / "cut.mp4", seconds=50)
    said = words(" ".join(cue.text for cue in transcribe(cut)))
    truth = srt_words(clips / "wannaworktogether.moonshine-asr.srt", until=50)
    assert word_error_rate(truth, said) < 0.25  # 0.10 when written; both are a machine's guesses


@pytest.mark.slow
def test_banana_at_forty_seconds(clips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The speaker announces it, with a timecode in the picture; the recognizer is replaced on the way."""
    started: list[subprocess.Popen[bytes]] = []
    start_child = speech._start_child

    def start() -> subprocess.Popen[bytes]:
        started.append(start_child())
        return started[-1]

    monkeypatch.setattr(speech, "_start_child", start)
    monkeypatch.setattr(speech, "_LIFE", 0)
    cues = transcribe(clips / "autoeditor_example.mp4")
    assert start_of("banana", cues) == pytest.approx(40, abs=0.5)
    assert len(started) == 2 and all(child.returncode is not None for child in started)


@pytest.mark.slow
def test_a_hole_keeps_the_time(clips: Path, tmp_path: Path) -> None:
    holed = tmp_path / "holed.mkv"
    ffmpeg(
        "-i", clips / "autoeditor_example.mp4", "-vn", "-af", "aselect='not(between(t,18,38))'", "-c:a", "flac", holed
    )
    assert start_of("banana", transcribe(holed)) == pytest.approx(40, abs=0.5)


@pytest.fixture(scope="module")
def on_time(clips: Path) -> list[Cue]:
    return transcribe(clips / "friday.mp4")


@pytest.mark.parametrize("late", [1.5, 7.0])  # filled with silence, and jumped over
def test_late_sound_keeps_its_time(clips: Path, on_time: list[Cue], tmp_path: Path, late: float) -> None:
    file = tmp_path / "late.mkv"
    picture = ("-f", "lavfi", "-i", "color=size=64x64:rate=5:duration=14")
    ffmpeg(*picture, "-itsoffset", str(late), "-i", clips / "friday.mp4", "-map", "0:v", "-map", "1:a", file)
    delayed = transcribe(file)
    assert delayed[0].start - on_time[0].start == pytest.approx(late, abs=0.5)
    assert delayed[-1].end - on_time[-1].end == pytest.approx(late, abs=0.2)


def test_damage_is_skipped(clips: Path, tmp_path: Path) -> None:
    damaged = copy_sound(
        clips / "manifesto.mp4",
        tmp_path / "damaged.mkv",
        seconds=20,
        spoil=lambda number, data: b"\x55" * len(data) if number % 40 == 9 else data,
    )
    said = words(" ".join(cue.text for cue in transcribe(damaged)))
    assert {"audiobook", "public", "workers", "communist"} <= set(said)


def test_nothing_but_damage_is_an_error(clips: Path, tmp_path: Path) -> None:
    file = copy_sound(
        clips / "friday.mp4", tmp_path / "ruin.mkv", seconds=6, spoil=lambda number, data: b"\x55" * len(data)
    )
    with pytest.raises(InputError, match=r"ruin\.mkv: its sound cannot be decoded"):
        transcribe(file)


def test_no_sound_no_cues(clips: Path, tmp_path: Path) -> None:
    silent = tmp_path / "silent.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=size=64x64:rate=5:duration=1", silent)
    assert transcribe(silent) == []


def test_unreadable_files_are_named(clips: Path, tmp_path: Path) -> None:
    noise = tmp_path / "noise.mp4"
    noise.write_bytes(np.random.default_rng(0).bytes(10_000))
    with pytest.raises(InputError, match=r"noise\.mp4"):
        transcribe(noise)
    with pytest.raises(InputError, match=r"absent\.mp4"):
        transcribe(tmp_path / "absent.mp4")
    unknown = tmp_path / "unknown.mkv"
    ffmpeg("-i", clips / "friday.mp4", "-vn", "-c:a", "copy", unknown)
    unknown.write_bytes(unknown.read_bytes().replace(b"A_AAC", b"A_XYZ"))
    with pytest.raises(InputError, match="sound cannot be decoded"):
        transcribe(unknown)


def test_recogniser_that_dies_fails_the_file_only(clips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(speech, "_start_child", start)
    with pytest.raises(InputError, match=r"friday\.mp4: its speech could not be recognized"):
        transcribe(clips / "friday.mp4")


@pytest.mark.slow
def test_a_relay_hears_the_same_and_replaces_a_recognizer_that_died(
    clips: Path, on_time: list[Cue], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, "_relay", None)  # put back what start_recognizer sets
    speech.start_recognizer()
    relay = speech._relay
    assert relay is not None
    try:
        assert transcribe(clips / "friday.mp4") == on_time
        (child,) = Path(f"/proc/{relay.pid}/task/{relay.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        with pytest.raises(InputError, match=r"could not be recognized \(the recognizer ended\)"):
            transcribe(clips / "friday.mp4")
        assert transcribe(clips / "friday.mp4") == on_time
        relay.kill()
        relay.wait()
        with pytest.raises(InputError, match="the relay ended"):
            transcribe(clips / "friday.mp4")
    finally:
        relay.kill()
        relay.__exit__(None, None, None)  # closes its pipes


def test_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"mmcc\[asr\]"):
        require_speech()
    with pytest.raises(MissingDependency):
        transcribe(tmp_path / "any.mp4")


def test_package_without_its_model_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(MissingDependency, match="model"):
        require_speech()


class Script:
    """A recognizer that answers each window with the next lines of a script, and records how much it was given."""

    def __init__(self, *answers: list[_Line]) -> None:
        self.answers, self.windows = list(answers), list[float]()

    def lines(self, samples: speech.Samples) -> list[_Line]:
        self.windows.append(len(samples) / speech._RATE)
        return self.answers.pop(0)


def sound(seconds: float) -> speech.Samples:
    return np.ones(round(seconds * speech._RATE), np.float32)


def test_line_cut_by_a_windows_end_is_heard_again_whole() -> None:
    script = Script([_Line(1, 5, "one", True), _Line(26, 30, "tw", False)], [_Line(0, 6, "two", False)])
    ear = _Ear(script.lines)
    ear.hear(0.0, sound(30))
    ear.hear(30.0, sound(4))
    ear.finish()
    assert [tuple(cue[:3]) for cue in ear.cues] == [(1, 5, "one"), (26, 32, "two")]
    assert script.windows == [30, 8]  # 26 to 34 s


def test_line_as_long_as_a_window_is_not_put_off_forever() -> None:
    ear = _Ear(Script([_Line(0, 30, "endless", False)], []).lines)
    ear.hear(0.0, sound(30))
    ear.finish()
    assert [cue.text for cue in ear.cues] == ["endless"]


def test_lines_no_longer_overlap_and_empty_ones_are_dropped() -> None:
    ear = _Ear(Script([_Line(0, 3, " one\n", True), _Line(2.5, 4, "", True), _Line(2.5, 5, "two", True)]).lines)
    ear.hear(None, sound(6))
    ear.finish()
    assert [tuple(cue[:3]) for cue in ear.cues] == [(0, 3, "one"), (3, 5, "two")]


def test_clock_follows_timestamps() -> None:
    script = Script([_Line(0, 1, "before", True)], [_Line(0.5, 1, "after", True)])
    ear = _Ear(script.lines)
    ear.hear(0.0, sound(2))
    ear.hear(2.05, sound(1))  # jitter: follows directly
    assert ear.clock == 3
    ear.hear(4.0, sound(1))  # a small hole: silence
    assert ear.clock == 5
    ear.hear(4.5, sound(1))  # half of it already heard
    assert ear.clock == 5.5
    ear.hear(0.0, sound(1))  # all of it
    assert ear.clock == 5.5
    ear.hear(1e9, sound(1))  # an absurd timestamp costs no memory
    ear.finish()
    assert script.windows == [5.5, 1]
    assert [cue.start for cue in ear.cues] == [0, 1e9 + 0.5]
