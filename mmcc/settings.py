"""Frozen dataclasses from YAML and the command line: every key known, every value of its type, or an error that helps.

A setting is named by its dotted path (`train.lr`), in files as nesting, on the command line as `--train.lr`. Of a
section that is a `NamedSettings`, the setting `name` decides which other settings there are; the name alone may stand
for the section (`--model.frame_encoder resnet18`).
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from mmcc.errors import InputError, UsageError
from mmcc.registry import Registry, UnknownName
from mmcc.untrusted import LARGEST_YAML, Malformed, parse_yaml, read_start

Settings = TypeVar("Settings")
REMEDY = "`mmcc train CORPUS --print-config` shows every setting and its value."


class WrongSetting(ValueError):
    """A key that is not known, or a value that does not fit it; the message names the dotted path."""

    remedy = REMEDY


class UnknownSetting(WrongSetting):
    """An unregistered `name`: a module of the user's may be missing."""

    remedy = UnknownName.remedy


@dataclass(frozen=True)
class NamedSettings:
    """A section in which `name` decides what else can be set: each name has a subclass of its own."""

    registry: ClassVar[Registry[Any]]  # of entries that have their class of settings as `settings`
    name: str

    @classmethod
    def class_for(cls, name: str) -> type[Self]:
        """The settings that go with a name; UnknownName lists the names there are."""
        settings: type[Self] = cls.registry.find(cls.entry_name(name)).settings
        return settings

    @staticmethod
    def entry_name(name: str) -> str:
        """What a name is registered under: the part before a colon or a question mark; the rest is for the entry."""
        return name.partition(":")[0].partition("?")[0]

    @classmethod
    def own_name(cls) -> str:
        return str(cls.__dataclass_fields__["name"].default)


class EitherOr:
    """Mixed into settings with pairs where one is set and the other null; naming one replaces the other."""

    either_or: ClassVar[tuple[tuple[str, str], ...]]

    def check_pairs(self) -> None:
        for one, other in self.either_or:
            if (getattr(self, one) is None) == (getattr(self, other) is None):
                raise ValueError(f"{one}: set exactly one of it and {other}")


def build(kind: type[Settings], values: Mapping[str, Any] | str, path: str = "") -> Settings:
    """An instance of a dataclass from nested mappings; what is not given keeps its default."""
    kind, values = _own_class(kind, values, path)
    hints = _hints(kind)  # type: ignore[arg-type]
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    given: dict[str, Any] = dict.fromkeys(_replaced(kind, values))
    for name, value in values.items():
        key = f"{path}.{name}" if path else str(name)
        if name not in known:
            raise WrongSetting(f"there is no setting {key!r}; known here: {', '.join(known)}")
        given[name] = _convert(hints[name], value, key)
    try:
        return kind(**given)
    except WrongSetting:
        raise
    except ValueError as error:  # a dataclass that checks its own values
        message = str(error)
        raise WrongSetting(message if not path or message.startswith(f"{path}.") else f"{path}.{message}") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _own_class(
    kind: type[Settings], values: Mapping[str, Any] | str, path: str
) -> tuple[type[Settings], Mapping[str, Any]]:
    """The class that a section's `name` chooses, and the section as a mapping."""
    if not issubclass(kind, NamedSettings):
        assert not isinstance(values, str)
        return kind, values
    values = {"name": values} if isinstance(values, str) else values
    name = values.get("name", kind.own_name())
    if not isinstance(name, str):
        raise WrongSetting(f"{path}.name must be text, not {name!r}")
    try:
        return kind.class_for(name), values
    except UnknownName as error:
        raise UnknownSetting(f"{path}: {error}") from None


def _replaced(kind: type, given: Mapping[str, Any]) -> list[str]:
    """The settings that naming their partners makes null."""
    pairs = kind.either_or if issubclass(kind, EitherOr) else ()
    both_ways = [*pairs, *((other, one) for one, other in pairs)]
    return [one for one, other in both_ways if one not in given and given.get(other) is not None]


def to_mapping(settings: Any) -> dict[str, Any]:
    """Nested mappings of plain values, as YAML and JSON can hold them."""
    return {field.name: _plain(getattr(settings, field.name)) for field in dataclasses.fields(settings)}


def flatten(values: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Dotted path -> value, for every setting."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        key = f"{path}.{name}" if path else str(name)
        flat |= flatten(value, key) if isinstance(value, Mapping) else {key: value}
    return flat


def merge(kind: type, base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings for `build`, the second's values first. A section that gets another name keeps nothing of the
    first's, whose settings were the other name's."""
    hints = _hints(kind)
    merged = {name: value for name, value in base.items() if name not in _replaced(kind, {**over})}
    for name, value in over.items():
        below, section = merged.get(name), hints.get(name)
        if isinstance(section, type) and dataclasses.is_dataclass(section):
            merged[name] = _merge_section(section, below, value)
        else:
            merged[name] = _merge_plain(below, value)
    return merged


def _merge_section(section: type, below: Any, value: Any) -> Any:
    if issubclass(section, NamedSettings):
        below, value = ({"name": each} if isinstance(each, str) else each for each in (below, value))
    below = {} if below is None else below
    if not (isinstance(below, Mapping) and isinstance(value, Mapping)):
        return value
    if issubclass(section, NamedSettings):
        name = below.get("name", section.own_name())
        if value.get("name", name) != name or name not in section.registry:
            return value if "name" in value else _merge_plain(below, value)
        section = section.class_for(name)
    return merge(section, below, value)


def _merge_plain(below: Any, value: Any) -> Any:
    """Of two values the second, of two sections both; a name beside a section is the section's."""
    if isinstance(below, str) and isinstance(value, Mapping):
        below = {"name": below}
    elif isinstance(below, Mapping) and isinstance(value, str):
        value = {"name": value}
    if not (isinstance(below, Mapping) and isinstance(value, Mapping)):
        return value
    return {**below, **{name: _merge_plain(below.get(name), each) for name, each in value.items()}}


def parse_overrides(overrides: list[str]) -> dict[str, Any]:
    """["train.lr=1e-4"] -> {"train": {"lr": "1e-4"}}."""
    nested: dict[str, Any] = {}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not all(key.split(".")):
            raise UsageError(f"{override} is not of the form train.lr=1e-4.")
        try:
            value: Any = parse_yaml(text) if text else ""
        except Malformed:
            value = text
        for name in reversed(key.split(".")):
            value = {name: value}
        nested = _merge_plain(nested, value)
    return nested


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file's mapping; InputError says what is wrong with it."""
    try:
        content = parse_yaml(read_start(path, LARGEST_YAML).decode("utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", "Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(path, "is not UTF-8 text", "Save it as UTF-8.") from None
    except Malformed as error:
        raise InputError(path, str(error).removeprefix("it "), REMEDY) from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InputError(path, "does not contain settings (`section:` with `name: value` below it)", REMEDY)
    return content


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_mapping(value)
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


def _convert(kind: Any, value: Any, key: str) -> Any:
    """The value as its field wants it. YAML 1.1 reads 1e-4 as text, so text that is a number counts as one."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _convert_union(kind, value, key)
    if origin is Literal:
        if value not in get_args(kind) or isinstance(value, bool) not in {isinstance(a, bool) for a in get_args(kind)}:
            raise WrongSetting(f"{key} must be one of {', '.join(map(str, get_args(kind)))}, not {value!r}")
        return value
    if origin is tuple:
        return _convert_tuple(get_args(kind), value, key)
    if dataclasses.is_dataclass(kind):
        by_name = isinstance(kind, type) and issubclass(kind, NamedSettings) and isinstance(value, str)
        if not isinstance(value, Mapping) and not by_name:
            raise WrongSetting(f"{key} must be a section of settings, not {value!r}")
        return build(kind, value, key)  # type: ignore[arg-type]
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is float and not isinstance(value, bool):
        return _number(value, key)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not kind:
        names = {int: "a whole number", bool: "true or false", str: "text", Path: "a path"}
        raise WrongSetting(f"{key} must be {names.get(kind, kind)}, not {value!r}")
    return value


def _convert_union(kind: Any, value: Any, key: str) -> Any:
    options = get_args(kind)
    if value is None and types.NoneType in options:
        return None
    problems = []
    for option in options:
        if option is not types.NoneType:
            try:
                return _convert(option, value, key)
            except WrongSetting as problem:
                problems.append(str(problem))
    raise WrongSetting("; or ".join(problems) + (" (or null)" if types.NoneType in options else ""))


def _convert_tuple(kinds: tuple[Any, ...], value: Any, key: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise WrongSetting(f"{key} must be a list, not {value!r}")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        raise WrongSetting(f"{key} must have {len(kinds)} values, not {len(value)}")
    return tuple(_convert(kind, item, f"{key}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _number(value: Any, key: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise WrongSetting(f"{key} must be a number, not {value!r}") from None
    if number != number or number in (float("inf"), -float("inf")):
        raise WrongSetting(f"{key} must be a finite number, not {value!r}")
    return number
