"""Dataclasses from nested mappings, with sections that their name decides."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from mmcc.errors import InputError, UsageError
from mmcc.registry import Registry
from mmcc.settings import (
    EitherOr,
    NamedSettings,
    UnknownSetting,
    WrongSetting,
    build,
    flatten,
    merge,
    parse_overrides,
    read_yaml,
    to_mapping,
)

SHAPES: Registry[Any] = Registry("shape")


@dataclass(frozen=True)
class Shape(NamedSettings):
    registry: ClassVar[Registry[Any]] = SHAPES
    name: str = "square"


@dataclass(frozen=True)
class Square(Shape):
    side: float = 1.0


@dataclass(frozen=True)
class Circle(Shape):
    name: str = "circle"
    radius: float = 2.0


@dataclass(frozen=True)
class Drawing(EitherOr):
    either_or: ClassVar = (("ink", "pencil"),)
    shape: Shape = field(default_factory=Square)
    ink: int | None = 3
    pencil: int | None = None

    def __post_init__(self) -> None:
        self.check_pairs()


for kind in (Square, Circle):
    SHAPES.add(kind.own_name(), SimpleNamespace(settings=kind))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, Drawing()),
        ({"shape": "circle"}, Drawing(Circle())),
        ({"shape": {"name": "circle", "radius": 3}}, Drawing(Circle(radius=3.0))),
        ({"shape": {"side": 4}}, Drawing(Square(side=4.0))),
        ({"pencil": 2}, Drawing(ink=None, pencil=2)),
    ],
)
def test_a_section_is_of_the_class_that_its_name_chooses(values, expected):
    built = build(Drawing, values)
    assert built == expected and type(built.shape) is type(expected.shape)
    assert build(Drawing, to_mapping(built)) == built


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"shape": "oval"}, r"shape: no shape is named 'oval' \(known: circle, square\)"),
        ({"shape": {"name": "circle", "side": 1}}, "there is no setting 'shape.side'; known here: name, radius"),
        ({"shape": {"name": 3}}, "shape.name must be text"),
        ({"shape": 3}, "shape must be a section"),
        ({"ink": 1, "pencil": 1}, "ink"),
        ({"ink": None}, "ink"),
    ],
)
def test_what_does_not_fit_is_named(values, said):
    with pytest.raises(WrongSetting, match=said) as caught:
        build(Drawing, values)
    assert isinstance(caught.value, UnknownSetting) == ("oval" in said)


@pytest.mark.parametrize(
    ("below", "over", "expected"),
    [
        ({"shape": {"side": 4}}, {"shape": "circle"}, {"shape": {"name": "circle"}}),
        ({"shape": {"side": 4}}, {"shape": {"name": "circle"}}, {"shape": {"name": "circle"}}),
        ({"shape": {"side": 4}}, {"shape": "square"}, {"shape": {"side": 4, "name": "square"}}),
        ({"shape": "circle"}, {"shape": {"radius": 5}}, {"shape": {"name": "circle", "radius": 5}}),
        ({"ink": 1}, {"pencil": 2}, {"pencil": 2}),
        ({"ink": 1}, {"ink": 2}, {"ink": 2}),
    ],
)
def test_a_section_with_another_name_keeps_nothing_of_the_first(below, over, expected):
    assert merge(Drawing, below, over) == expected


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_and_a_setting_of_its_section_go_together(order):
    overrides = ["shape=circle", "shape.radius=7"][::order]
    assert build(Drawing, merge(Drawing, {}, parse_overrides(overrides))) == Drawing(Circle(radius=7.0))


@pytest.mark.parametrize("override", ["shape", "=3", "shape..side=3"])
def test_an_override_without_a_value_or_a_name_is_refused(override):
    with pytest.raises(UsageError):
        parse_overrides([override])


def test_settings_have_dotted_names():
    assert flatten(to_mapping(Drawing())) == {"shape.name": "square", "shape.side": 1.0, "ink": 3, "pencil": None}


def test_aliases_within_aliases_end_at_once(tmp_path):
    """Nine of them, one in another, took hours to turn into an error message."""
    levels = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    path = tmp_path / "config.yaml"
    path.write_text(f"train:\n  a0: &a0 [1, 2]\n{levels}  lr: *a9\n")
    with pytest.raises(InputError, match="alias"):
        read_yaml(path)
    path.write_text("train: " + "[" * 100_000)
    with pytest.raises(InputError, match="nested too deeply"):
        read_yaml(path)
    assert parse_overrides(["train.lr=" + "[" * 5000]) == {"train": {"lr": "[" * 5000}}
