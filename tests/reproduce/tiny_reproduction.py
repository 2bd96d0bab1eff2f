"""A budget that takes seconds: every objective, of next to no size; and videos as people have them."""

from pathlib import Path

import numpy as np

from mmcc.cli.main import main
from mmcc.reproduce import plan
from mmcc.reproduce.plan import Budget, TablePlan

TINY = Budget(
    "tiny",
    steps=4,
    arrow_videos=10,
    scratch_steps=2,
    overrides=("model.dims=16", "train.batch_size=4", "train.workers=0", "train.validation_segments=8"),
)
# Two rows and a teacher that is trained for half as long, so that a row is still in training when it is done.
SMALL = TablePlan(dict.fromkeys((plan.NO_LAMBDA2, plan.MMCC), (plan.ANTICIPATION,)), seeds=2)
SMALLEST = TablePlan(SMALL.measures, seeds=1)  # where every run is a process of its own, which loads torch


def own_videos(folder: Path, dims: int) -> Path:
    """A corpus of vectors with captions and no steps, just large enough to be trained on."""
    (folder / "src").mkdir()
    chance = np.random.default_rng(0)
    for number in range(30):
        np.save(folder / "src" / f"v{number}.npy", chance.normal(size=(40, dims)).astype(np.float32))
        said = [f"add spice{each % 30} to soup{each % 31}" for each in range(9 * number, 9 * number + 9)]
        cues = [f"{at}\n00:00:{at * 4:02d},000 --> 00:00:{at * 4 + 3:02d},000\n{said[at]}\n" for at in range(9)]
        (folder / "src" / f"v{number}.srt").write_text("\n".join(cues))
    assert main(["ingest", str(folder / "src"), "-o", str(folder / "corpus"), "--features", "1"]) == 0
    return folder / "corpus"
