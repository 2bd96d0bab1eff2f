"""What an evaluation task gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mmcc.metrics import PerVideo

SCHEMA = 1  # of results as JSON


@dataclass(frozen=True)
class TaskResult:
    """Figures of one model on one evaluation task, by video, so that any of them can be bootstrapped."""

    task: str  # "anticipation", "unshuffling", …
    figures: dict[str, PerVideo]  # "recall@1", "kendall_tau/no_prior", …; percents in percent
    references: dict[str, float] = field(default_factory=dict)  # closed form: "chance/recall@1", …
    notes: list[str] = field(default_factory=list)  # what was left out, and why

    def to_json(self) -> dict[str, Any]:
        """Plain values; every figure lists its own videos, since not all figures cover the same ones."""
        return {
            "task": self.task,
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
            "references": dict(self.references),
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TaskResult:
        return cls(
            task=content["task"],
            figures={name: PerVideo.from_json(figure) for name, figure in content["figures"].items()},
            references=dict(content["references"]),
            notes=list(content["notes"]),
        )
