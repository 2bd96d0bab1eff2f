"""Speech to cues: offline speech recognition for files without captions.

The recognizer is moonshine-voice, whose English model comes inside its wheel, so nothing is ever downloaded. It
finds the stretches of speech itself and gives each a line of text. As of 0.0.48 it keeps all audio of a stream,
leaks some 190 MB per hour, and crashes when its model is freed. So it hears one window at a time, each as a separate
stream, in a child process that is replaced from time to time and never frees anything: memory does not grow with the
length of a file, and a crash costs that file only. A confined worker cannot start programs, so it has a relay started
before (`start_recognizer`), which replaces the child for it, and passes on samples and lines without a look at them.

A line still being spoken when a window ends is heard again in full in the next one.

Times are presentation timestamps counted from the container's start, as in a player, so that cues and frames
share one clock: sound may start late, and may have holes.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import av
import numpy as np
from numpy.typing import NDArray

from mmcc.errors import InputError, MissingDependency
from mmcc.media.captions import Cue
from mmcc.media.confinement import confine
from mmcc.media.sandbox import die_with
from mmcc.media.video import open_container

Samples = NDArray[np.float32]

_MODEL = "tiny-en"  # the one in the wheel
_RATE = 16_000  # samples per second, as the model expects
_WINDOW = 30 * _RATE  # the recognizer ends every line after 10 s; longer windows overlap less but need more memory
_REHEARD = _RATE  # after a window that ends in silence: speech that has just started is not a line yet
_JITTER = 0.1  # seconds a timestamp may differ from the samples counted before it
_LONGEST_FILL = 2.0  # seconds; a longer gap separates two utterances anyway, and a broken clock can claim centuries
_LIFE = 900 * _RATE  # samples until the child, by then grown by 250 MB, is replaced; that takes a second
_LONGEST_WINDOW = 20 * _WINDOW  # samples that a relay takes at once; no window comes near
_SIGN_EVERY = 5.0  # seconds of sound between two calls of `heard`


def require_speech() -> None:
    """Raise MissingDependency unless the recognizer and its model are installed."""
    spec = importlib.util.find_spec("moonshine_voice")
    if spec is None or spec.origin is None:
        raise MissingDependency("Transcribing speech needs the package moonshine-voice, which is not installed.", "asr")
    if not (Path(spec.origin).parent / "assets" / _MODEL).is_dir():
        raise MissingDependency("The installed version of moonshine-voice does not include its speech model.", "asr")


_relay: subprocess.Popen[bytes] | None = None


def start_recognizer() -> None:
    """Have speech recognized by a relay from now on: for a process that will soon be able to start nothing."""
    global _relay
    _relay = _start("relay")


def transcribe(path: Path, heard: Callable[[float], None] | None = None) -> list[Cue]:
    """What is said in a file's first sound track; [] if it has none.

    `heard` is called with the seconds heard so far, every 5 s of sound.
    """
    require_speech()
    reported = 0.0
    with _Recognizer(path) if _relay is None else _Relayed(path, _relay) as recognizer:
        ear = _Ear(recognizer.lines)
        for time, block in _blocks(path):
            ear.hear(time, block)
            if heard is not None and ear.clock >= reported + _SIGN_EVERY:
                reported = ear.clock
                heard(reported)
        ear.finish()
    if heard is not None and ear.clock > reported:
        heard(ear.clock)
    return ear.cues


class _Line(NamedTuple):
    start: float  # seconds into the window
    end: float
    text: str
    complete: bool  # silence followed, or it had grown too long


class _Ear:
    """Gathers sound into windows, passes each to the recognizer, and keeps what the next window must hear again."""

    def __init__(self, recognize: Callable[[Samples], list[_Line]]) -> None:
        self.cues: list[Cue] = []
        self._lines_of = recognize
        self._start = 0.0  # of the pending samples
        self._pending: list[Samples] = []
        self._count = 0

    @property
    def clock(self) -> float:
        """The end of the sound heard so far."""
        return self._start + self._count / _RATE

    def hear(self, time: float | None, block: Samples) -> None:
        """Take in a block of sound; without a time it follows the last one."""
        hole = 0.0 if time is None else time - self.clock
        if time is not None and hole > _LONGEST_FILL:
            self.finish()
            self._start = time
        elif hole > _JITTER:
            self._take(np.zeros(round(hole * _RATE), np.float32))
        elif hole < -_JITTER:  # a clock that runs backward: skip what was already heard
            block = block[round(-hole * _RATE) :]
        self._take(block)
        if self._count >= _WINDOW:
            self._recognize(final=False)

    def finish(self) -> None:
        """Nothing follows the pending sound: recognize all of it."""
        if self._count:
            self._recognize(final=True)

    def _take(self, block: Samples) -> None:
        self._pending.append(block)
        self._count += len(block)

    def _recognize(self, final: bool) -> None:
        samples = np.concatenate(self._pending)
        done = len(samples) if final else len(samples) - _REHEARD
        for line in self._lines_of(samples):
            # Only a line in the second half is put off, so that every window makes progress.
            if not final and not line.complete and line.start * _RATE > len(samples) / 2:
                done = int(line.start * _RATE)
                break
            done = min(len(samples), max(done, int(line.end * _RATE)))
            self._add(line)
        self._pending, self._count = [samples[done:]], len(samples) - done
        self._start += done / _RATE

    def _add(self, line: _Line) -> None:
        # Lines overlap by half a second, since the recognizer looks back from where it first detects a voice.
        start = max(self._start + line.start, self.cues[-1].end if self.cues else 0.0)
        if text := " ".join(line.text.split()):
            self.cues.append(Cue(start, max(start, self._start + line.end), text))


class _Recognizer:
    """The recognizer in its child process; a context manager that leaves no process behind."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._child: subprocess.Popen[bytes] | None = None
        self._heard = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()  # closes its pipes and waits
            self._child = None

    def lines(self, samples: Samples) -> list[_Line]:
        """The lines of one window, in order."""
        if self._child is None or self._heard > _LIFE:
            self.__exit__()
            self._child, self._heard = _start_child(), 0
        self._heard += len(samples)
        if not (answer := _ask(self._child, samples)):
            code = self._child.wait()
            self.__exit__()
            raise _not_recognized(self._path, f"the recognizer exited with code {code}")
        return [_Line(*line) for line in json.loads(answer)]


class _Relayed:
    """The same through the relay, which outlives it."""

    def __init__(self, path: Path, relay: subprocess.Popen[bytes]) -> None:
        self._path, self._child = path, relay

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def lines(self, samples: Samples) -> list[_Line]:
        answer = json.loads(_ask(self._child, samples) or '"the relay ended"')
        if isinstance(answer, str):
            raise _not_recognized(self._path, answer)
        return [_Line(*line) for line in answer]


def _ask(child: subprocess.Popen[bytes], samples: Samples) -> bytes:
    """A child's answer to one window; b"" if it has ended."""
    assert child.stdin is not None and child.stdout is not None
    try:
        child.stdin.write(len(samples).to_bytes(4, "little") + samples.tobytes())
        child.stdin.flush()
        return child.stdout.readline()
    except BrokenPipeError:
        return b""


def _not_recognized(path: Path, reason: str) -> InputError:
    cause = f"its speech could not be recognized ({reason})"
    return InputError(path, cause, "Raise --memory-limit, or add a caption file.")


def _start_child() -> subprocess.Popen[bytes]:
    return _start("recognizer")


def _start(role: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "mmcc.media.speech", role, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},  # otherwise every thread reserves 64 MB of address space
        start_new_session=True,  # Ctrl-C goes to the parent alone
    )


def _windows() -> Iterator[Samples]:
    """From standard input."""
    while header := sys.stdin.buffer.read(4):
        count = int.from_bytes(header, "little")
        if count > _LONGEST_WINDOW:
            return
        yield np.frombuffer(sys.stdin.buffer.read(4 * count), np.float32)


def _serve_relay() -> None:
    """The relay's side: the lines of each window, or why there are none."""
    with _Recognizer(Path("relay")) as recognizer:
        for window in _windows():
            try:
                answer: list[_Line] | str = recognizer.lines(window)
            except InputError:
                answer = "the recognizer ended"
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def _serve() -> None:
    """The child's side: windows of samples on standard input, a line of JSON for each on standard output."""
    from moonshine_voice.moonshine_api import ModelArch
    from moonshine_voice.transcriber import Transcriber
    from moonshine_voice.utils import get_model_path

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep anything the library prints out of the answers
    # Identifying speakers takes a third more time, and we do not need it.
    transcriber = Transcriber(str(get_model_path(_MODEL)), ModelArch.TINY, options={"identify_speakers": "false"})
    confine()
    for window in _windows():
        stream = transcriber.create_stream(update_interval=math.inf)
        stream.start()
        stream.add_audio(window.tolist(), _RATE)
        transcript = stream.update_transcription(Transcriber.MOONSHINE_FLAG_FORCE_UPDATE)  # however short
        stream.close()
        lines = [(x.start_time, x.start_time + x.duration, x.text, x.is_complete) for x in transcript.lines]
        answers.write(json.dumps(lines).encode() + b"\n")
        answers.flush()
    os._exit(0)  # without freeing the model, which crashes


def _blocks(path: Path) -> Iterator[tuple[float | None, Samples]]:
    """The first sound track as mono blocks at `_RATE`, each with its time where it has one."""
    with open_container(path) as container:
        if not container.streams.audio:
            return
        origin = (container.start_time or 0) / av.time_base
        packets = container.demux(container.streams.audio[0])
        resampler, source = av.AudioResampler("flt", "mono", _RATE), None
        damaged = decoded = False
        while True:
            blocks: list[tuple[float | None, Samples]] = []
            try:
                if (packet := next(packets, None)) is None:
                    break
                for frame in packet.decode():
                    assert isinstance(frame, av.AudioFrame)
                    if source != (source := (frame.format.name, frame.layout.name, frame.sample_rate)):
                        resampler = av.AudioResampler("flt", "mono", _RATE)  # a resampler takes one format only
                    time = None if frame.time is None else frame.time - origin
                    for piece in resampler.resample(frame):
                        blocks.append((time, np.clip(np.nan_to_num(piece.to_ndarray()[0]), -1, 1)))
                        time = None
            except (av.FFmpegError, ValueError):  # skip a damaged packet; a broken container gives no more
                damaged = True
            decoded = decoded or bool(blocks)
            yield from blocks
    if damaged and not decoded:
        raise InputError(path, "its sound cannot be decoded", "Download or export it again.")


if __name__ == "__main__":
    die_with(int(sys.argv[2]))
    _serve_relay() if sys.argv[1] == "relay" else _serve()
