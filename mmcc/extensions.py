"""Modules of yours that register encoders, objectives, evaluation tasks or data sets: `--import my.module`.

A run stores the names of the modules it was trained with, and whoever loads it imports them again.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
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
        except Exception as error:  # whatever a user's module raises while it is imported
            if os.environ.get("MMCC_DEBUG"):
                traceback.print_exc()
            cause = f"needs the module {module}, which raised {type(error).__name__}: {error}"
            raise InputError(str(source), cause, "MMCC_DEBUG=1 shows where.") from None
        _IMPORTED[module] = None


def imported_extensions() -> tuple[str, ...]:
    """All that this process has imported so."""
    return tuple(_IMPORTED)
