"""CPU time of `mmcc ingest` against ffmpeg, and the gain from a second worker and from one pass.

    python -m benchmarks.speed.ingest

Both programs process the same 720p file. `mmcc ingest` runs as a user runs it, including interpreter start, JPEG
encoding and writing to disk; ffmpeg decodes, takes one frame per second, scales it and discards the result. With the
extra `encoders`, `mmcc ingest --encode` is compared with `mmcc ingest` and then `mmcc embed`.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.common import FFMPEG, Figure, Figures, command_line, finish, ingest, make_clip, run, run_mmcc
from mmcc.backbones.efficientnet import SIZES

ROUNDS = 3
ENCODER = "efficientnet-lite0"


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    command_line(__doc__).parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory() as name:
        folder = Path(name)
        clip = make_clip(folder / "clip.mp4", seconds=20, repeat=18)
        command = [FFMPEG, "-v", "error", "-i", clip, "-vf", "fps=1,scale=-2:128", "-f", "null", "-"]
        fast, exact = [], []
        for _ in range(ROUNDS):  # in turn, so that a busy moment affects all three
            baseline = run(command)[1]
            fast.append(ingest(clip, folder / "fast", "--workers", 1)[1] / baseline)
            exact.append(ingest(clip, folder / "exact", "--workers", 1, "--exact")[1] / baseline)
        figures.at_most("CPU time of fast mode / ffmpeg fps=1,scale", median(fast), 0.65)
        figures.at_most("CPU time of exact mode / ffmpeg fps=1,scale", median(exact), 1.05)

        clips = folder / "clips"
        clips.mkdir()
        short = make_clip(folder / "short.mp4", seconds=20, repeat=6)
        for number in range(4):
            (clips / f"{number}.mp4").symlink_to(short)
        gains = []
        for _ in range(ROUNDS):
            one = ingest(clips, folder / "one", "--workers", 1)[0]
            gains.append(one / ingest(clips, folder / "two", "--workers", 2)[0])
        figures.at_least("wall-clock time of 4 files, 1 worker / 2 workers", median(gains), 1.6)

        if find_spec("efficientnet_lite_pytorch") is not None:
            shares = []
            for _ in range(ROUNDS):
                two = ingest(clips, folder / "two", "--size", SIZES[ENCODER])[0]
                two += run_mmcc("embed", folder / "two", "--frames", ENCODER, "--text", "minilm")[0]
                shares.append(ingest(clips, folder / "one", "--encode", ENCODER)[0] / two)
            figures.at_most("wall-clock time of ingest --encode / ingest, then embed, 4 files", median(shares), 1)
    return figures.measured


if __name__ == "__main__":
    finish(main())
