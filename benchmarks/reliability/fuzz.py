"""Whether any bytes make a reader of ours crash, hang or fill the memory, searched for by coverage (atheris).

    python -m benchmarks.reliability.fuzz [--seconds 600] [--only NAME[,NAME…]] [--keep FOLDER]

The seconds are divided among the readers, each in a process of its own. What is found is kept in FOLDER, to be put into
tests/findings/<reader> once it is fixed. Needs the extra `fuzz`.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.common import Figures, command_line

if TYPE_CHECKING:
    from benchmarks.reliability.readers import Reader

FINDINGS = Path(__file__).parents[2] / "tests" / "findings"
_LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0")
_INSTRUMENTED = ["mmcc", "yaml", "zipfile", "csv", "json"]


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if a reader broke. It is not among the benchmarks, which need no extra."""
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--only", metavar="NAME[,NAME…]", help="fuzz these readers instead of all")
    parser.add_argument("--keep", type=Path, default=Path("build/findings"), metavar="FOLDER")
    options = parser.parse_args(arguments)
    import atheris

    with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=_INSTRUMENTED):  # a line for each module
        from benchmarks.reliability.readers import READERS
    names = options.only.split(",") if options.only else list(READERS)
    figures, total, broken = Figures(), 0, 0
    for name in names:
        tried, found, printed = fuzz(name, READERS[name], max(1, options.seconds // len(names)), options.keep)
        total, broken = total + tried, broken + len(found)
        print(f"{name:<24} {tried:>9,} inputs, {len(found)} that broke it", flush=True)
        for line in [*map(str, found), *(_traceback(printed) if found else ())]:
            print(f"  {line}")
    figures.at_most(f"of {total:,} inputs, those that broke one of {len(names)} readers", broken, 0)
    return 1 if broken else 0


def fuzz(name: str, reader: Reader, seconds: int, keep: Path) -> tuple[int, list[Path], str]:
    """How many inputs a reader was given, those that broke it, and what was printed. Ends at the first of them."""
    kept = keep / name
    kept.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        said = Path(folder, "said")
        child = os.fork()  # libFuzzer ends its process, and importing everything again would take longer than fuzzing
        if not child:
            try:
                os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY), 1)
                os.dup2(1, 2)
                _fuzz_here(name, reader, seconds, kept, Path(folder))
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        os.waitpid(child, 0)
        printed = said.read_text(errors="replace")
    tried, found = re.search(r"stat::number_of_executed_units:\s+(\d+)", printed), sorted(kept.iterdir())
    if not tried and not found:
        raise RuntimeError(f"{name} could not be fuzzed:\n{printed[-2000:]}")
    return int(tried[1]) if tried else 0, found, printed


def _fuzz_here(name: str, reader: Reader, seconds: int, kept: Path, folder: Path) -> None:
    import atheris

    path = reader.prepare(folder / "read")
    known = [found.read_bytes() for found in sorted((FINDINGS / name).glob("*"))]
    (folder / "corpus").mkdir()
    for number, seed in enumerate([*reader.seeds, *known]):
        (folder / "corpus" / str(number)).write_bytes(seed)

    def try_one(content: bytes) -> None:
        try:
            reader.try_on(path, content)
        except Exception:
            (kept / hashlib.sha256(content).hexdigest()[:12]).write_bytes(content)
            raise

    longest = max(4096, 2 * max(map(len, reader.seeds)))
    options = (f"-max_total_time={seconds}", f"-max_len={longest}", f"-artifact_prefix={kept}/", *_LIMITS)
    atheris.Setup([name, *options, str(folder / "corpus")], try_one)
    atheris.Fuzz()


def _traceback(printed: str) -> list[str]:
    """What Python said, without libFuzzer's own lines."""
    _, _, said = printed.partition("=== Uncaught Python exception: ===")
    lines = said.partition("==")[0].splitlines() or printed.splitlines()
    return [f"  {line}" for line in lines if line.strip()][-12:]


if __name__ == "__main__":
    sys.exit(main())
