"""Frozen dataclasses from YAML and the command line: every key known, every value of its type, or an error that helps.

A setting is named by its dotted path (`train.lr`), in files as nesting, on the command line as `--train.lr`.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from mmcc.errors import InputError

Settings = TypeVar("Settings")
REMEDY = "`mmcc train CORPUS --print-config` shows every setting and its value."


class WrongSetting(ValueError):
    """A key that is not known, or a value that does not fit it; the message names the dotted path."""


def build(kind: type[Settings], values: Mapping[str, Any], path: str = "") -> Settings:
    """An instance of a dataclass from nested mappings; what is not given keeps its default."""
    hints = get_type_hints(kind)
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    given: dict[str, Any] = {}
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


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings, the second's values first."""
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        merged[name] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def parse_overrides(overrides: list[str]) -> dict[str, Any]:
    """["train.lr=1e-4"] -> {"train": {"lr": "1e-4"}}."""
    nested: dict[str, Any] = {}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not all(key.split(".")):
            raise InputError(override, "is not of the form train.lr=1e-4", REMEDY)
        try:
            value: Any = yaml.safe_load(text) if text else ""
        except yaml.YAMLError:
            value = text
        for name in reversed(key.split(".")):
            value = {name: value}
        nested = merge(nested, value)
    return nested


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file's mapping; InputError says what is wrong with it."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", "Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(path, "is not UTF-8 text", "Save it as UTF-8.") from None
    except yaml.YAMLError as error:
        raise InputError(path, f"is not valid YAML: {' '.join(str(error).split())}", REMEDY) from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise InputError(path, "does not hold settings (`section:` with `name: value` below it)", REMEDY)
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
        if not isinstance(value, Mapping):
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
