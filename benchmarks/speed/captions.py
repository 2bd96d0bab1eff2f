"""Time to parse 25 MB of captions in each format.

    python -m benchmarks.speed.captions

The captions are made up: endless speech from a small vocabulary. The time is the best of three.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.media.captions import parse_captions
from mmcc.media.utterances import to_utterances

SIZE = 25_000_000
WORDS = (
    "so now we add the flour and then mix it with two eggs a bit of salt until you have smooth batter that is "
    "not too thick heat pan over medium fire pour some in wait for bubbles flip serve hot maple syrup butter"
).split()


def clock(seconds: float, mark: str = ".") -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{thousandths:03d}"


def lines(rng: random.Random) -> Iterator[tuple[float, float, list[str]]]:
    """Generate endless speech: lines of four to nine words, two to four seconds each."""
    time = 0.0
    while True:
        end = time + rng.uniform(2, 4)
        yield time, end, rng.choices(WORDS, k=rng.randint(4, 9))
        time = end + rng.choice([0, 0, 0, 1.5])


def srt(rng: random.Random) -> Iterator[str]:
    for number, (start, end, words) in enumerate(lines(rng), 1):
        yield f"{number}\n{clock(start, ',')} --> {clock(end, ',')}\n{' '.join(words)}\n\n"


def vtt(rng: random.Random) -> Iterator[str]:
    yield "WEBVTT\n\n"
    for start, end, words in lines(rng):
        yield f"{clock(start)} --> {clock(end)} align:start\n{' '.join(words).capitalize()}.\n\n"


def rolling(rng: random.Random) -> Iterator[str]:
    yield "WEBVTT\nKind: captions\nLanguage: en\n\n"
    above, until = " ", 0.0
    for start, end, words in lines(rng):
        above = above if start == until else " "  # after a silence the screen is blank
        until = end
        step = (end - start) / len(words)
        timed = "".join(f"<{clock(start + step * n)}><c> {word}</c>" for n, word in enumerate(words) if n)
        yield f"{clock(start)} --> {clock(end - 0.01)} align:start position:0%\n{above}\n{words[0]}{timed}\n\n"
        above = " ".join(words)
        yield f"{clock(end - 0.01)} --> {clock(end)} align:start position:0%\n{above}\n \n\n"


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    command_line(__doc__).parse_args(arguments)
    figures = Figures()
    kinds: dict[str, Callable[[random.Random], Iterator[str]]] = {"a.srt": srt, "a.vtt": vtt, "rolling.vtt": rolling}
    for name, write in kinds.items():
        parts: list[str] = []
        size = 0
        for part in write(random.Random(0)):
            parts.append(part)
            size += len(part)
            if size >= SIZE:
                break
        data = "".join(parts).encode()
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            cues = parse_captions(data, name)
            read = time.perf_counter() - start
            utterances = to_utterances(cues)
            best = min(best, read)
        total = time.perf_counter() - start
        what = f"seconds to read 25 MB of {name} ({len(cues):,} cues; {len(utterances):,} utterances in {total:.2f} s)"
        figures.at_most(what, best, 2.0)
    return figures.measured


if __name__ == "__main__":
    finish(main())
