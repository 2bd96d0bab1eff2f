"""Modules of yours that register encoders, objectives, evaluation tasks or data sets: `--import my.module`.

A run stores the names of the modules it was trained with, and whoever loads it imports them again.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable

from mmcc.errors import InputError

_IMPORTED: dict[str, None] = {}  # in order


def import_extensions(modules: Iterable[str], source: object) -> None:
    """Import modules by their dotted names; the working folder is searched last. InputError names the `source`."""
    for module in modules:
        if module in _IMPORTED:
            continue
        if (here := os.getcwd()) not in sys.path:  # noqa: PTH109  (a console script does not search it)
            sys.path.append(here)
        try:
            importlib.import_module(module)
        except ImportError as error:
            remedy = f"Install it, or run from the folder that {module.split('.')[0]} is in."
            raise InputError(str(source), f"needs the module {module} ({error})", remedy) from None
        _IMPORTED[module] = None


def imported_extensions() -> tuple[str, ...]:
    """All that this process has imported so."""
    return tuple(_IMPORTED)
