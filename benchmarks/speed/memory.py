"""Peak memory of ingesting a 10-hour video, parent and worker processes together.

    python -m benchmarks.speed.memory

The figure is the sum of their resident set sizes as Linux reports them, sampled 20 times per second.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Figure, Figures, command_line, finish, make_clip
from mmcc.corpus import Corpus

HOURS = 10


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    command_line(__doc__).parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory() as name:
        folder = Path(name)
        clip = make_clip(folder / "long.mp4", seconds=60, size="320x180", rate=15, repeat=60 * HOURS)
        command = [sys.executable, "-m", "mmcc", "ingest", str(clip), "-o", str(folder / "corpus"), "--workers", "1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, resident_gb(process.pid))
            time.sleep(0.05)
        frames = len(Corpus.open(folder / "corpus")["long"].times)
        figures.at_most(f"peak memory (GB) while ingesting {HOURS} hours ({frames:,} frames)", peak, 1.0)
    return figures.measured


def resident_gb(process: int) -> float:
    """Resident memory of a process and its children."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0.0  # it has ended
    return pages * 4096 / 1e9 + sum(resident_gb(int(child)) for child in children)


if __name__ == "__main__":
    finish(main())
