"""A command is a typed function; this module turns its signature into a command line.

Positional-only parameters become positional arguments (a list takes one or more), the others become flags (a tuple
takes as many values as it has elements); annotations give types and help:

    def inspect(corpus: Annotated[Path, Arg("a corpus folder")], /, *, json: Annotated[bool, Arg("…")] = False) -> int
"""

from __future__ import annotations

import argparse
import inspect
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from mmcc.cli.completion import SHELLS, PrintCompletion
from mmcc.errors import InputError, UsageError
from mmcc.storage import is_remote, place
from mmcc.terminal import be_quiet

Verb = Callable[..., int]
PICTURES = (".png", ".jpg", ".jpeg", ".webp")  # what pictures are written as
_COMPLETION = f"print a script that completes commands and flags: {', '.join(SHELLS)}"
_QUIET = "print the answer and errors only: no progress, no warnings, no remarks"
_IMPORT = "your module that registers encoders, objectives, evaluation tasks or data sets (repeatable)"


@dataclass(frozen=True)
class Arg:
    """What a signature alone cannot say about an argument."""

    help: str
    short: str = ""  # a one-letter flag, e.g. "-o"
    metavar: str = ""
    above: float | None = None  # numbers must be greater
    least: float | None = None  # numbers must not be less
    most: float | None = None  # numbers must not be greater
    remote: bool = False  # a path may be an address of storage: s3://…
    endings: tuple[str, ...] = ()  # that the name of a file may have; a name without any is fine, too


@dataclass(frozen=True)
class Overrides:
    """Marks a parameter that collects every `--dotted.name VALUE` of the command line in a dictionary."""


class Misused(Exception):
    """Words that are no command: argparse's own message, and how the command is used."""

    def __init__(self, message: str, usage: str) -> None:
        self.usage = usage
        super().__init__(message)


class _Parser(argparse.ArgumentParser):
    """Leaves it to the caller to say what is wrong."""

    def error(self, message: str) -> NoReturn:
        raise Misused(f"{self.prog.removeprefix('mmcc').strip()}: {message}".removeprefix(": "), self.format_usage())


def build_parser(prog: str, description: str, version: str, verbs: Iterable[Verb]) -> argparse.ArgumentParser:
    parser = _Parser(prog=prog, description=description, formatter_class=_Help)
    parser.add_argument("--version", action="version", version=f"{prog} {version}")
    shells: dict[str, Any] = {"choices": SHELLS, "metavar": "SHELL", "default": argparse.SUPPRESS}
    parser.add_argument("--completion", action=PrintCompletion, help=_COMPLETION, **shells)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for verb in verbs:
        summary, _, details = inspect.cleandoc(verb.__doc__ or "").partition("\n")
        command = commands.add_parser(
            verb.__name__, help=summary, description=summary, epilog=details.strip(), formatter_class=_Help
        )
        command.set_defaults(_verb=verb)
        hints = get_type_hints(verb, include_extras=True)
        for name, parameter in inspect.signature(verb).parameters.items():
            if not _is_taker(hints[name]):
                _add(command, name, parameter, hints[name])
        command.add_argument("-q", "--quiet", dest="_quiet", action="store_true", help=_QUIET)
        command.add_argument("--import", dest="_imports", action="append", default=[], metavar="MODULE", help=_IMPORT)
    return parser


def call(parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Parse the arguments and call the command."""
    known, rest = parser.parse_known_args(arguments)
    values = vars(known)
    verb: Verb = values.pop("_verb")
    be_quiet(values.pop("_quiet"))
    _import(values.pop("_imports"))
    dotted, unknown = _take_overrides(rest)
    taker = _overrides_of(verb)
    if unknown or (dotted and not taker):
        parser.error(f"unrecognized arguments: {' '.join(unknown or rest)}")
    if taker:
        values[taker] = dotted
    positional = [
        values.pop(name)
        for name, parameter in inspect.signature(verb).parameters.items()
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    return verb(*positional, **values)


def _import(modules: list[str]) -> None:
    """Import extensions before anything else, so that their registrations are known."""
    if modules:
        from mmcc.extensions import import_extensions

        try:
            import_extensions(modules, "--import")
        except InputError as error:
            raise UsageError(f"--import: {error.cause.removeprefix('needs the module ')}", error.remedy) from None


def _overrides_of(verb: Verb) -> str | None:
    """The name of the parameter that takes dotted settings, if any."""
    hints = get_type_hints(verb, include_extras=True)
    return next((name for name, hint in hints.items() if _is_taker(hint)), None)


def _is_taker(hint: Any) -> bool:
    return any(isinstance(note, Overrides) for note in get_args(hint))


def _take_overrides(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split `--train.lr 1e-4` and `--train.lr=1e-4` from all other words."""
    dotted: dict[str, str] = {}
    unknown: list[str] = []
    left = iter(words)
    for word in left:
        name, given, value = word.removeprefix("--").partition("=")
        if not (word.startswith("--") and "." in name):
            unknown.append(word)
        elif given:
            dotted[name] = value
        elif (following := next(left, None)) is not None:
            dotted[name] = following
        else:
            unknown.append(f"{word} (without a value)")
    return dotted, unknown


def _add(command: argparse.ArgumentParser, name: str, parameter: inspect.Parameter, hint: Any) -> None:
    kind, arg = get_args(hint)
    if get_origin(kind) in (Union, types.UnionType):  # X | None
        kind = next(option for option in get_args(kind) if option is not types.NoneType)
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        several = get_origin(kind) is list
        command.add_argument(
            name,
            type=_converter(get_args(kind)[0] if several else kind, arg),
            nargs="+" if several else None,
            metavar=arg.metavar or name.upper(),
            help=_plain(arg.help),
        )
        return
    options: dict[str, Any] = {"help": _plain(arg.help), "dest": name}
    if kind is bool:
        options["action"] = "store_true"
    else:
        options["metavar"] = arg.metavar or None
        options["default"] = parameter.default
        if parameter.default is inspect.Parameter.empty:
            options |= {"required": True, "default": None}
        elif parameter.default is not None:
            options["help"] += f" (default: {parameter.default})"
        if get_origin(kind) is Literal:
            options["choices"] = get_args(kind)
        elif get_origin(kind) is tuple:  # takes several values
            options |= {"type": _converter(get_args(kind)[0], arg), "nargs": len(get_args(kind))}
        else:
            options["type"] = _converter(kind, arg)
    flags = [arg.short] if arg.short else []
    command.add_argument(*flags, "--" + name.replace("_", "-"), **options)


def _plain(text: str) -> str:
    """Escape per cent signs, which argparse would interpret."""
    return text.replace("%", "%%")


def _converter(kind: Any, arg: Arg) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        if kind is Path and not text:  # an unset variable; Path("") would be the current folder
            raise argparse.ArgumentTypeError("the path is empty")
        value: Any = place(text) if kind is Path else kind(text)
        if kind is Path and is_remote(value) and not arg.remote:
            raise argparse.ArgumentTypeError(f"{value} must be on this machine")
        if arg.endings and value.suffix and value.suffix.lower() not in arg.endings:
            raise argparse.ArgumentTypeError(f"{text!r} must end in {', '.join(arg.endings)}")
        if kind in (int, float):
            if value != value or value in (float("inf"), -float("inf")):
                raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
            if arg.above is not None and not value > arg.above:
                raise argparse.ArgumentTypeError(f"must be more than {arg.above:g}, not {text}")
            if arg.least is not None and not value >= arg.least:
                raise argparse.ArgumentTypeError(f"must be at least {arg.least:g}, not {text}")
            if arg.most is not None and not value <= arg.most:
                raise argparse.ArgumentTypeError(f"must be at most {arg.most:g}, not {text}")
        return value

    convert.__name__ = {int: "whole number", float: "number"}.get(kind, "value")  # argparse names it in errors
    return convert


class _Help(argparse.RawDescriptionHelpFormatter):
    """Wide enough for a flag and its help; keeps the line breaks of examples."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
