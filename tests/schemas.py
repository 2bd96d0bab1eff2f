"""The JSON Schema files of the package, as programs would use them."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parents[1] / "mmcc" / "schemas"


def check(name: str, content: Any) -> None:
    """The content is as the schema of that name says; the first thing that is not is named."""
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    for problem in Draft202012Validator(schema).iter_errors(json.loads(json.dumps(content, allow_nan=False))):
        raise AssertionError(f"{name} {'/'.join(map(str, problem.absolute_path))}: {problem.message[:500]}")
