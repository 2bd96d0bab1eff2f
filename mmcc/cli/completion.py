"""Shell completion: a script for bash, zsh or fish, from the parser that reads the command line.

source <(mmcc --completion bash)
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mmcc.terminal import show


class Flag(NamedTuple):
    """A flag of a command."""

    names: tuple[str, ...]  # "-o", "--output"
    help: str
    takes_value: bool
    choices: tuple[str, ...]


class PrintCompletion(argparse.Action):
    """Print the script for a shell, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: str | None = None) -> None:
        show(completion(str(values), parser))
        parser.exit()


def completion(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script for one of SHELLS."""
    commands = {name: list(_flags(each)) for name, each in _commands(parser).items()}
    return SHELLS[shell](commands, _summaries(parser), list(_flags(parser)))


def _commands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    (found,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    parsers: dict[str, argparse.ArgumentParser] = found.choices
    return parsers


def _summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    return {name: command.description or "" for name, command in _commands(parser).items()}


def _flags(parser: argparse.ArgumentParser) -> Iterator[Flag]:
    for each in parser._actions:
        if each.option_strings:
            help_text = "" if each.help is None else each.help.replace("%%", "%")
            choices = tuple(map(str, each.choices or ()))
            yield Flag(tuple(each.option_strings), help_text, each.nargs != 0, choices)


def _bash(commands: Mapping[str, Sequence[Flag]], summaries: Mapping[str, str], own: Sequence[Flag]) -> str:
    values = []
    for command, flags in (*commands.items(), ("", own)):
        for flag in flags:
            places = "|".join(_quoted(f"{command} {name}") if command else f"*' {name}'" for name in flag.names)
            if flag.choices:
                values.append(f"    {places}) words={_quoted(' '.join(flag.choices))} ;;")
            elif flag.takes_value:
                values.append(f"    {places}) return ;;")  # readline completes the names of files
    flags_of = [f"      {name}) words={_quoted(' '.join(_names(flags)))} ;;" for name, flags in commands.items()]
    lines = [
        "_mmcc() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=',
        "  COMPREPLY=()",
        '  case "${COMP_WORDS[1]} $before" in',
        *values,
        "  esac",
        "  if [[ -z $words && $COMP_CWORD -eq 1 ]]; then",
        f"    words={_quoted(' '.join([*commands, *_names(own)]))}",
        "  elif [[ -z $words && $word == -* ]]; then",
        '    case "${COMP_WORDS[1]}" in',
        *flags_of,
        "    esac",
        "  fi",
        '  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi',
        "}",
        "complete -o default -F _mmcc mmcc",
    ]
    return "\n".join(lines)


def _zsh(commands: Mapping[str, Sequence[Flag]], summaries: Mapping[str, str], own: Sequence[Flag]) -> str:
    lines = ["#compdef mmcc", "_mmcc() {", "  local -a commands", "  commands=("]
    lines += [f"    {_quoted(f'{name}:{summary}')}" for name, summary in summaries.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands"]
    lines += [f"    compadd -- {' '.join(_names(own))}", "    return", "  fi", "  case $words[2] in"]
    for name, flags in commands.items():
        lines.append(f"    {name}) _arguments \\")
        lines += [f"      {_quoted(_zsh_flag(flag, each))} \\" for flag in flags for each in flag.names]
        lines.append("      '*:file:_files' ;;")
    lines += [f"    --completion) compadd -- {' '.join(SHELLS)} ;;", "  esac", "}", "compdef _mmcc mmcc"]
    return "\n".join(lines)


def _zsh_flag(flag: Flag, name: str) -> str:
    said = flag.help.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = f":value:({' '.join(flag.choices)})" if flag.choices else ":value:_files" if flag.takes_value else ""
    return f"{name}[{said}]{value}"


def _fish(commands: Mapping[str, Sequence[Flag]], summaries: Mapping[str, str], own: Sequence[Flag]) -> str:
    lines = [f"complete -c mmcc -n __fish_use_subcommand -f {_fish_flag(flag)}" for flag in own]
    for name, flags in commands.items():
        lines.append(f"complete -c mmcc -n __fish_use_subcommand -f -a {name} -d {_quoted(summaries[name], fish=True)}")
        seen = _quoted(f"__fish_seen_subcommand_from {name}", fish=True)
        lines += [f"complete -c mmcc -n {seen} {_fish_flag(flag)}" for flag in flags]
    return "\n".join(lines)


def _fish_flag(flag: Flag) -> str:
    names = " ".join(f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in flag.names)
    value = " -r" if flag.takes_value else ""
    if flag.choices:
        value = f" -x -a {_quoted(' '.join(flag.choices), fish=True)}"
    return f"{names}{value} -d {_quoted(flag.help, fish=True)}"


def _names(flags: Sequence[Flag]) -> list[str]:
    return [name for flag in flags for name in flag.names]


def _quoted(text: str, *, fish: bool = False) -> str:
    """In single quotes; fish escapes within them, other shells leave them for a moment."""
    inner = text.replace("\\", "\\\\").replace("'", "\\'") if fish else text.replace("'", "'\\''")
    return f"'{inner}'"


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
