"""Times as people write them, and JSON that others can read."""

import math

import pytest

from mmcc.text import clock, distinct, parse_clock, strict_json


def test_clock():
    times = {0: "0:00", 9.99: "0:09", 83: "1:23", 3599.9: "59:59", 3723: "1:02:03", 36000: "10:00:00", -1: "0:00"}
    assert {seconds: clock(seconds) for seconds in times} == times


def test_parse_clock():
    times = {"1:23": 83, "83": 83, "83.5": 83.5, "1:02:03": 3723, "0:00.5": 0.5, " 2:00 ": 120, "90:00": 5400}
    assert {text: parse_clock(text) for text in times} == times
    for text in ("", "x", "1:", ":3", "1:60", "1:2:3:4", "-1", "1.5:00", "nan", "inf", "1e3", "²"):
        with pytest.raises(ValueError, match="is not a time"):
            parse_clock(text)


def test_json_has_no_nan():
    assert strict_json({"a": math.nan, "b": [1.0, math.inf], "c": {"d": 2.0}}) == '{"b": [1.0, null], "c": {"d": 2.0}}'


def test_names_are_told_apart_by_the_shortest_longer_ones():
    assert distinct([["v", "a/v"], ["v", "b/v"], ["w", "b/w"]]) == ["a/v", "b/v", "w"]
    assert distinct([["v", "b/v", "x/b/v"], ["v", "b/v", "y/b/v"], ["v", "a/v"]]) == ["x/b/v", "y/b/v", "a/v"]
    assert distinct([["v", "a/v"], ["a/v", "x/a/v"]]) == ["v", "a/v"]
    assert distinct([["v"], ["v"]]) == ["v", "v"]  # nothing longer is known
    assert distinct([]) == []
