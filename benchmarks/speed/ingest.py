"""Ingest against the ffmpeg command, in CPU time, and two workers against one, in wall-clock time.

    python -m benchmarks.speed.ingest

Both sides do their whole job on the same 720p file: `mmcc ingest` as a user runs it, interpreter start, JPEG and
disk included; ffmpeg decodes, takes a frame a second and scales it, and throws the result away.
"""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.common import FFMPEG, Figures, ingest, make_clip, run

ROUNDS = 3


def main() -> None:
    figures = Figures()
    with TemporaryDirectory() as name:
        folder = Path(name)
        clip = make_clip(folder / "clip.mp4", seconds=20, repeat=18)
        command = [FFMPEG, "-v", "error", "-i", clip, "-vf", "fps=1,scale=-2:128", "-f", "null", "-"]
        fast, exact = [], []
        for _ in range(ROUNDS):  # in turns, so that a busy moment hits all three
            baseline = run(command)[1]
            fast.append(ingest(clip, folder / "fast", "--workers", 1)[1] / baseline)
            exact.append(ingest(clip, folder / "exact", "--workers", 1, "--exact")[1] / baseline)
        figures.show("CPU time of fast mode / ffmpeg fps=1,scale", median(fast), most=0.65)
        figures.show("CPU time of exact mode / ffmpeg fps=1,scale", median(exact), most=1.05)

        clips = folder / "clips"
        clips.mkdir()
        short = make_clip(folder / "short.mp4", seconds=20, repeat=6)
        for number in range(4):
            (clips / f"{number}.mp4").symlink_to(short)
        gains = []
        for _ in range(ROUNDS):
            one = ingest(clips, folder / "one", "--workers", 1)[0]
            gains.append(one / ingest(clips, folder / "two", "--workers", 2)[0])
        figures.show("wall-clock of 4 files with 1 worker / with 2 workers", median(gains), least=1.6)
    figures.exit()


if __name__ == "__main__":
    main()
