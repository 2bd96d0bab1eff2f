"""What it costs to confine the workers: CPU of an ingest with and without the filter of system calls.

python -m benchmarks.reliability.confinement [--videos 12] [--seconds 20] [--repeats 4]
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Figure, Figures, command_line, finish, ingest, make_clip

UNKNOWN_MACHINE = "import platform\nplatform.machine = lambda: 'unknown'\n"  # for which there is no filter


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--repeats", type=int, default=4)
    options = parser.parse_args(arguments)
    cpu: dict[bool, list[float]] = {True: [], False: []}
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "videos").mkdir()
        (folder / "free").mkdir()
        (folder / "free" / "sitecustomize.py").write_text(UNKNOWN_MACHINE)
        whole = make_clip(folder / "whole.mp4", options.seconds, "640x360")
        for number in range(options.videos):
            (folder / "videos" / f"{number}.mp4").hardlink_to(whole)
        usual = os.environ.get("PYTHONPATH", "")
        for confined in (True, False) * options.repeats:  # in turn: another program may slow down both
            os.environ["PYTHONPATH"] = usual if confined else os.pathsep.join([str(folder / "free"), usual])
            cpu[confined].append(ingest(folder / "videos", folder / "corpus", "--workers", 1)[1])
        os.environ["PYTHONPATH"] = usual
    figures = Figures()
    figures.at_most("CPU of ingest, confined / not", min(cpu[True]) / min(cpu[False]), 1.05)
    return figures.measured


if __name__ == "__main__":
    finish(main())
