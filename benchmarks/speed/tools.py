"""Time of `mmcc transitions` on a 10-minute video compared with decoding it, and of a second call.

    python -m benchmarks.speed.tools

Both sides are whole processes, interpreter start included. `mmcc transitions` reads the video and its captions, loads
torch and the model, embeds every frame and writes JSON. The process it is compared with decodes the same frames in the
same way and discards them. The second call finds the embeddings cached; its bound is on the time that a user waits.
Search has its own benchmark, benchmarks.speed.search.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.common import Figure, Figures, command_line, finish, make_clip, run, run_mmcc
from mmcc.tools.footage import stored_size
from mmcc.tools.model import open_model

ROUNDS = 3
DECODE = """
import sys
from pathlib import Path
from mmcc.media.video import Sampling, VideoSampler
with VideoSampler(Path(sys.argv[1]), Sampling(float(sys.argv[2]), int(sys.argv[3]), sys.argv[4])) as video:
    print(sum(1 for frame in video))
"""


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    command_line(__doc__).parse_args(arguments)
    figures, model = Figures(), open_model("kitchen")
    sampling = (model.fps, stored_size(model), model.fit)
    with TemporaryDirectory() as name:
        clip = make_clip(Path(name) / "clip.mp4", seconds=20, repeat=30)
        cache = Path(name) / "cache"
        os.environ["MMCC_CACHE"] = str(cache)
        wall, cpu, second = [], [], []
        for _ in range(ROUNDS):  # in turn, so that a busy moment affects both
            alone = run([sys.executable, "-c", DECODE, clip, *sampling])
            shutil.rmtree(cache, ignore_errors=True)
            first = run_mmcc("transitions", "kitchen", clip, "--json")
            second.append(run_mmcc("transitions", "kitchen", clip, "--json"))
            wall.append(first[0] / alone[0])
            cpu.append(first[1] / alone[1])
    figures.at_most("CPU time of transitions on 10 minutes of 720p / decoding alone", median(cpu), 1.5)
    figures.at_most("wall-clock time of transitions on 10 minutes of 720p / decoding alone", median(wall), 1.5)
    figures.at_most("second call, seconds of wall-clock time", min(each[0] for each in second), 1.0)
    figures.at_most("second call, seconds of CPU time", median(each[1] for each in second), 1.0)
    return figures.measured


if __name__ == "__main__":
    finish(main())
