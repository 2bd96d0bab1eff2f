"""Training progress: a bar on a terminal, nothing elsewhere; and messages that are always printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tqdm import tqdm

from mmcc.terminal import bars_hidden, encodable, is_quiet
from mmcc.text import one_line


class StepBar:
    """A bar over training steps with the losses beside it."""

    def __init__(self, total: int, done: int) -> None:
        hidden = bars_hidden()
        self._bar = tqdm(total=total, initial=done, desc="train", unit="step", disable=hidden, dynamic_ncols=True)

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
    if not is_quiet():
        tqdm.write(encodable(one_line(line), sys.stderr), file=sys.stderr)
