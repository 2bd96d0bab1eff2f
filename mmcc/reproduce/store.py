"""Results on disk, a JSON file for each model and task, so that nothing is measured twice.

Each carries a fingerprint of what it was measured on and with; a result with another fingerprint, or a damaged file, is
ignored.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import mmcc
from mmcc.evaluation.results import SCHEMA, TaskResult
from mmcc.files import replace_text, writing
from mmcc.text import strict_json
from mmcc.untrusted import read_json

MEASURES = 2  # raised when tasks measure something else or more, so that stored results are measured again


def fingerprint(*parts: Any) -> str:
    """A hash of everything that affects a result, given as JSON values."""
    content = json.dumps([SCHEMA, MEASURES, mmcc.__version__, *parts], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


class Store:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str, task: str) -> Path:
        return self.folder / key / f"{task}.json"

    def load(self, key: str, task: str, expected: str) -> TaskResult | None:
        """None where there is no valid result."""
        try:
            content = read_json(self.path(key, task), dict)
            return TaskResult.from_json(content["result"]) if content["fingerprint"] == expected else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, key: str, task: str, found: str, result: TaskResult, step: int | None) -> None:
        """`step`: of the checkpoint; None for a model that was not trained."""
        path = self.path(key, task)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        content = {"schema": SCHEMA, "fingerprint": found, "step": step, "result": result.to_json()}
        replace_text(path, strict_json(content) + "\n")
