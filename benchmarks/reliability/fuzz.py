"""Whether any bytes make a reader of ours crash, hang or fill the memory, searched for by coverage (atheris).

    python -m benchmarks.reliability.fuzz [--seconds 600] [--only NAME[,NAME…]] [--keep FOLDER]

The seconds are divided among the readers, each in a process of its own. What is found is kept in FOLDER, to be put into
tests/findings/<reader> once it is fixed. Needs the extra `fuzz`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Figure, Figures, command_line, finish

FINDINGS = Path(__file__).parents[2] / "tests" / "findings"
_LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1", "-verbosity=0")
_INSTRUMENTED = ["mmcc", "yaml", "zipfile", "csv", "json"]


def fuzz(name: str, seconds: int, keep: Path) -> None:
    """Fuzz one reader in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=_INSTRUMENTED):
        from benchmarks.reliability.readers import READERS
    reader = READERS[name]
    with TemporaryDirectory() as folder:
        path = reader.prepare(Path(folder, "read"))
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        known = [found.read_bytes() for found in sorted((FINDINGS / name).glob("*"))]
        for number, seed in enumerate([*reader.seeds, *known]):
            (corpus / str(number)).write_bytes(seed)
        options = (f"-max_total_time={seconds}", f"-artifact_prefix={keep}/", *_LIMITS)
        atheris.Setup([name, *options, str(corpus)], lambda content: reader.try_on(path, content) and None)
        atheris.Fuzz()


def run(name: str, seconds: int, keep: Path) -> tuple[int, list[Path], str]:
    """How many inputs one reader was given, those that broke it, and what was printed."""
    (keep / name).mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        __spec__.name,
        "--reader",
        name,
        "--seconds",
        str(seconds),
        "--keep",
        str(keep / name),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    tried = re.search(r"stat::number_of_executed_units:\s+(\d+)", done.stdout)
    found = sorted((keep / name).iterdir())
    if not tried and not found:
        raise RuntimeError(f"{name} could not be fuzzed:\n{done.stdout[-2000:]}")
    return int(tried[1]) if tried else 0, found, done.stdout


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--only", metavar="NAME[,NAME…]", help="fuzz these readers instead of all")
    parser.add_argument("--keep", type=Path, default=Path("build/findings"), metavar="FOLDER")
    parser.add_argument("--reader", metavar="NAME", help="fuzz this one in this process")
    options = parser.parse_args(arguments)
    if options.reader:
        fuzz(options.reader, options.seconds, options.keep)
        return []
    from benchmarks.reliability.readers import READERS

    names = options.only.split(",") if options.only else list(READERS)
    figures, total, broken = Figures(), 0, 0
    for name in names:
        tried, found, printed = run(name, max(1, options.seconds // len(names)), options.keep)
        total, broken = total + tried, broken + len(found)
        print(f"{name:<24} {tried:>9,} inputs, {len(found)} that broke it", flush=True)
        for path in found:
            print(f"  {path}")
        if found:
            print("\n".join(f"    {line}" for line in _traceback(printed)))
    figures.at_most(f"of {total:,} inputs, those that broke one of {len(names)} readers", broken, 0)
    return figures.measured


def _traceback(printed: str) -> list[str]:
    """What Python said, without libFuzzer's own lines."""
    _, _, said = printed.partition("=== Uncaught Python exception: ===")
    return [line for line in said.splitlines() if line.strip() and not line.startswith(("==", "SUMMARY", "INFO"))][:20]


if __name__ == "__main__":
    finish(main())
