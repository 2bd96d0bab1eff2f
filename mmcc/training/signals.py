"""Ctrl-C and SIGTERM take effect between two training steps, never within one."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Within this context, a first signal only requests a stop; a second one acts at once, as it would outside.

    The loop checks `asked`, saves, and calls `act`, which lets the signal do what it does outside: raise
    KeyboardInterrupt, or whatever the program has set for SIGTERM. A signal that is ignored outside (Ctrl-C, in a
    background job of a shell) stays ignored.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def asked(self) -> bool:
        return self.signal is not None

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():  # Python delivers signals there only
            handled = [number for number in _SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
            self._before = {number: signal.signal(number, self._ask) for number in handled}
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._restore()
        if kind is None and self.signal is not None:  # requested after the last step
            self.act()

    def act(self, number: int | None = None) -> None:
        """Raise the pending signal; or `number`, in a process that learned of the stop from another."""
        asked = self.signal if self.signal is not None else number
        self.signal = None
        self._restore()
        if asked is not None:
            signal.raise_signal(asked)

    def _ask(self, number: int, _: FrameType | None) -> None:
        if self.asked:
            self._restore()
            signal.raise_signal(number)
        self.signal = number

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
