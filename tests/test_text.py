"""Text that others can read."""

import math

from mmcc.text import strict_json


def test_json_has_no_nan():
    assert strict_json({"a": math.nan, "b": [1.0, math.inf], "c": {"d": 2.0}}) == '{"b": [1.0, null], "c": {"d": 2.0}}'
