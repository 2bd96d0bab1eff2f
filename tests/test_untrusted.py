"""JSON and YAML from anybody: read, or refused with a reason; nothing else happens."""

import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mmcc.untrusted import DEEPEST, LARGEST_YAML, MOST, Malformed, parse_json, parse_yaml, read_json, read_start, typed

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
BOMB = "a: &a [x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(9))


@given(VALUES)
def test_what_is_sound_is_read_as_others_read_it(value):
    text = json.dumps({"value": value})
    assert parse_json(text, dict) == parse_json(text.encode(), dict) == {"value": value}
    assert parse_json(b"\xef\xbb\xbf" + text.encode(), dict) == {"value": value}


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_whatever_the_bytes_they_are_read_or_malformed(data):
    for read in (lambda: parse_json(data, object), lambda: parse_yaml(data.decode("utf-8", "replace"))):
        try:
            read()
        except Malformed as error:
            assert str(error)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[" * (DEEPEST + 2) + "]" * (DEEPEST + 2), "nested too deeply"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested too deeply"),
        ('{"vocabulary_size": 1e999}', "1e999 is not a number"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": -Infinity}', "-Infinity is not a number"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ("{", "not valid JSON"),
        (b"\xff\xfe{", "not UTF-8"),
        ("[" + "[]," * MOST + "[]]", "more than 4,000,000 values"),
        ('{"a": [' + "1," * MOST + "1]}", "more than 4,000,000 values"),
        ("[1]", "it should be an object, not '[1]'"),
        ("true", "it should be an object"),
    ],
)
def test_json_that_is_refused(text, why):
    with pytest.raises(Malformed, match=re.escape(why)):
        parse_json(text, dict)


def test_numbers_that_json_does_not_have_can_be_let_in():
    assert parse_json('{"a": [NaN, 1e999]}', dict, finite=False)["a"][1] == float("inf")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOMB, "alias"),
        ("a: &a [*a]", "alias"),
        ("[" * 10_000, "nested too deeply"),
        ("a: " * 200, "not valid YAML"),
        ("- " * 500 + "x", "nested too deeply"),
        ("a: !!bool maybe", "not valid YAML"),
        ("a: !!timestamp soon", "not valid YAML"),
        ("a: !!int x", "not valid YAML"),
        ("a: 2020-99-99", "not valid YAML"),
        ("a: !!python/object/apply:os.system [true]", "not valid YAML"),
        ("a: " + "9" * 5000, "not valid YAML"),
        ("a" * (LARGEST_YAML + 1), "more than"),
    ],
)
def test_yaml_that_is_refused(text, why):
    with pytest.raises(Malformed, match=why):
        parse_yaml(text)


@given(VALUES)
def test_sound_yaml_is_read_as_others_read_it(value):
    text = json.dumps({"value": value})  # all JSON is YAML, but for some letters
    try:
        expected = yaml.safe_load(text)
    except yaml.YAMLError:
        return
    assert parse_yaml(text) == expected


def test_no_more_is_read_than_is_allowed(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(["x" * 100]))
    assert read_start(path, 200) == path.read_bytes()
    with pytest.raises(Malformed, match="more than 50 bytes"):
        read_json(path, list, largest=50)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none", list)


def test_types():
    content = {"text": "a", "whole": 3, "number": 2.5, "flag": True, "nothing": None}
    assert typed(content, "whole", int) == 3 and typed(content, "whole", float) == 3.0
    assert isinstance(typed(content, "whole", float), float) and typed(content, "number", float) == 2.5
    assert typed(content, "flag", bool) is True and typed(content, "nothing", int, optional=True) is None
    for name, kind in (
        ("text", int),
        ("number", int),
        ("flag", int),
        ("flag", float),
        ("whole", bool),
        ("nothing", str),
    ):
        with pytest.raises(Malformed, match=f"{name} should be"):
            typed(content, name, kind)
    with pytest.raises(Malformed, match="it lacks gone"):
        typed(content, "gone", str)
    with pytest.raises(Malformed, match="whole should be"):
        typed({"whole": 10**400}, "whole", float)
