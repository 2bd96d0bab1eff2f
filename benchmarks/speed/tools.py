"""Asking about a 10-minute video against decoding it, and asking again.

    python -m benchmarks.speed.tools

Both sides are whole processes, interpreter start included. `mmcc transitions` reads the file, its captions, torch and
the model, embeds every frame and writes JSON; the rival only decodes, in the same mode and to the same pictures, and
throws them away. The second call is timed by the wall clock, as its user waits. Search: see benchmarks.speed.search.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.common import Figures, make_clip, run, run_mmcc
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


def main() -> None:
    figures, model = Figures(), open_model("kitchen")
    sampling = (model.fps, stored_size(model), model.fit)
    with TemporaryDirectory() as name:
        clip = make_clip(Path(name) / "clip.mp4", seconds=20, repeat=30)
        cache = Path(name) / "cache"
        os.environ["MMCC_CACHE"] = str(cache)
        wall, cpu, second = [], [], []
        for _ in range(ROUNDS):  # in turns, so that a busy moment hits both
            alone = run([sys.executable, "-c", DECODE, clip, *sampling])
            shutil.rmtree(cache, ignore_errors=True)
            first = run_mmcc("transitions", "kitchen", clip, "--json")
            second.append(run_mmcc("transitions", "kitchen", clip, "--json"))
            wall.append(first[0] / alone[0])
            cpu.append(first[1] / alone[1])
    figures.show("CPU time of transitions on 10 minutes of 720p / decoding alone", median(cpu), most=1.5)
    figures.show("wall-clock of the same", median(wall), most=1.5)
    figures.show("second call, seconds of wall-clock", min(each[0] for each in second), most=1.0)
    figures.show("second call, seconds of CPU time", median(each[1] for each in second), most=1.0)
    figures.exit()


if __name__ == "__main__":
    main()
