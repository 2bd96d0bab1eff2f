"""A demo of next to no size, and a tool that is easily asked."""

from pathlib import Path

from mmcc.demo.demo import Demo, DemoSettings

TINY = DemoSettings(
    videos=24,
    tasks=7,
    size=32,
    fps=1.0,
    encoder="efficientnet-lite0?size=32",
    steps=4,
    overrides=("model.dims=16", "train.batch_size=4", "train.workers=0", "train.validation_segments=8"),
)


class Asked:
    """A tool that notes what it was asked, and says something."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Path], Path]] = []

    def __call__(self, run: str, videos: list[Path], /, *, sheet: Path) -> int:
        self.calls.append((run, videos, sheet))
        print("an answer")
        return 0


class Made:
    """What came of the demo."""

    def __init__(self, out: Path) -> None:
        self.out, self.said, self.tool = out, [], Asked()

    def run(self, settings: DemoSettings = TINY) -> dict:
        self.said.clear()
        return Demo(self.out, settings, self.said.append, {"ask": self.tool}).run()
