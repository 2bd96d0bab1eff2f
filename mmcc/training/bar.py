"""Training progress: a bar on a terminal, nothing elsewhere; and messages that are always printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tqdm import tqdm


class StepBar:
    """A bar over training steps with the losses beside it."""

    def __init__(self, total: int, done: int) -> None:
        off = None if sys.stderr else True  # None: tqdm checks whether stderr is a terminal
        self._bar = tqdm(total=total, initial=done, desc="train", unit="step", disable=off, dynamic_ncols=True)

    def __enter__(self) -> StepBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def step(self, shown: Mapping[str, float]) -> None:
        if not self._bar.disable:
            self._bar.set_postfix({name: f"{value:.3g}" for name, value in shown.items()}, refresh=False)
            self._bar.update(1)


def say(line: str) -> None:
    """A line on stderr, above any bar."""
    tqdm.write(line, file=sys.stderr)
