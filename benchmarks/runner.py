"""Run the benchmarks, each in its own process, and sum up which bounds were met.

    python -m benchmarks [--list] [--only NAME[,NAME…]]

Exit codes: 0 all bounds met, 1 a bound was missed or a benchmark failed, 2 unknown name, 130 stopped.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import multiprocessing
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.common import Figure, command_line

SPEED = (
    *("captions", "ingest", "read", "remote", "memory", "kitchen", "step", "backbones", "real"),
    *("ordering", "evaluation", "tools", "search", "search_memory", "app"),
)
VALIDITY = ("calibration", "references", "narration", "leaks", "domain")
SCALE = {"scale": "benchmarks.scale.corpus", "scale_search": "benchmarks.scale.search"}
RELIABILITY = ("corruptions", "checks", "confinement", "runs", "faults", "kills")
BENCHMARKS = {
    **{name: f"benchmarks.speed.{name}" for name in SPEED},
    **{name: f"benchmarks.validity.{name}" for name in VALIDITY},
    **{name: f"benchmarks.reliability.{name}" for name in RELIABILITY},
    **SCALE,
    "robustness": "benchmarks.robustness",
}
OK, MISSED, STOPPED = 0, 1, 130


def main(arguments: Sequence[str] | None = None, benchmarks: Mapping[str, str] = BENCHMARKS) -> int:
    """`benchmarks` maps names to modules, each with a `main` that takes its own flags and returns its figures."""
    parser = command_line(__doc__)
    parser.prog = "python -m benchmarks"
    parser.add_argument("--list", action="store_true", help="print the name of each benchmark and what it measures")
    parser.add_argument("--only", metavar="NAME[,NAME…]", help="run these benchmarks instead of all")
    options = parser.parse_args(arguments)
    names = list(benchmarks)
    if options.only is not None:
        names = list(dict.fromkeys(name.strip() for name in options.only.split(",")))
        if unknown := [name for name in names if name not in benchmarks]:
            parser.error(f"--only: unknown benchmark {', '.join(map(repr, unknown))} (known: {', '.join(benchmarks)})")
    if options.list:
        for name in names:
            print(f"{name:<12} {summary(benchmarks[name])}")
        return OK
    return run_all({name: benchmarks[name] for name in names})


def run_all(benchmarks: Mapping[str, str]) -> int:
    measured: dict[str, list[Figure]] = {}
    failed: dict[str, str] = {}
    stopped = False
    for name, module in benchmarks.items():
        print(f"\n{name}: {summary(module)}", flush=True)
        try:
            measured[name] = run(module)
        except KeyboardInterrupt:
            stopped = True  # what was measured so far is still worth a table
            break
        except (Exception, SystemExit) as error:
            traceback.print_exception(error)
            failed[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    print_table(measured, failed)
    if stopped:
        return STOPPED
    return OK if not failed and all(figure.ok for figures in measured.values() for figure in figures) else MISSED


def run(module: str) -> list[Figure]:
    """In a new process: threads, caches and memory of one benchmark must not affect the next."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(_measure, module).result()


def _measure(module: str) -> list[Figure]:
    figures: list[Figure] = importlib.import_module(module).main([])
    return figures


def summary(module: str) -> str:
    """The first line of a module's docstring, without importing it: some import torch."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    docstring = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def print_table(measured: Mapping[str, Sequence[Figure]], failed: Mapping[str, str]) -> None:
    rows = [(name, figure) for name, figures in measured.items() for figure in figures]
    name_width = max((len(figure.name) for _, figure in rows), default=0)
    bound_width = max((len(figure.limit) for _, figure in rows), default=0)
    print(f"\n{'benchmark':<12} {'figure':<{name_width}} {'measured':>10}   {'bound':<{bound_width}} ok")
    for name, figure in rows:
        measures = f"{figure.name:<{name_width}} {figure.measured:>10.3f}   {figure.limit:<{bound_width}}"
        print(f"{name:<12} {measures} {'ok' if figure.ok else 'MISSED'}")
    for name, error in failed.items():
        print(f"{name:<12} FAILED: {error}")
    missed = sum(not figure.ok for _, figure in rows)
    print(f"\n{len(rows)} figures, {missed} out of bounds; {len(failed)} benchmarks failed", flush=True)
