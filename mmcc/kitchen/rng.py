"""Random numbers that are the same on every machine.

Python guarantees the stream of `random.Random(text).random()` and nothing else of that module, so every draw here uses
only that. Normal draws are sums of uniform ones: no logarithm or cosine, whose last digit differs between maths
libraries.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Rng:
    """A named random stream. Streams of different names are independent, in whatever order they are used."""

    def __init__(self, *name: object) -> None:
        self.name = "/".join(map(str, name))
        self._next = random.Random(self.name).random

    def child(self, *name: object) -> Rng:
        """Another stream, named after this one; it does not advance this one."""
        return Rng(self.name, *name)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * self._next()

    def integer(self, low: int, high: int) -> int:
        """From low to high, both inclusive."""
        return low + int(self._next() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        return self._next() < probability

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._next() * len(options))]

    def weighted(self, options: Mapping[T, float]) -> T:
        """One of the keys, with probability proportional to its weight."""
        total = 0.0
        for weight in options.values():
            total += weight
        left = self._next() * total
        for option, weight in options.items():
            left -= weight
            if left < 0:
                return option
        return option  # the sum was rounded down

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return [option for _, _, option in sorted((self._next(), at, option) for at, option in enumerate(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        return self.shuffled(options)[:count]

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        total = 0.0
        for _ in range(12):  # not sum(), which rounds differently from Python 3.12 on
            total += self._next()
        return mean + deviation * (total - 6.0)

    def lognormal(self, median: float, sigma: float) -> float:
        return median * math.exp(sigma * self.normal())
