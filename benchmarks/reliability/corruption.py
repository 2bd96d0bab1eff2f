"""Damage files on purpose, ask a question again, and judge the answer: the same, refused, or silently another.

A case is one file, one kind of damage and a number; the same case damages the same bytes every time. It runs in a
process that is forked from this one, on a copy of its own, so that nothing has to be imported twice.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TextIO

from tqdm import tqdm

from mmcc.cli.exit_codes import EXIT_BAD_INPUT, EXIT_BUG, EXIT_OK, EXIT_SKIPPED

PATIENCE = 120.0  # seconds: what takes longer hangs
KINDS = {"flip": 12, "cut": 4, "zero": 3, "move": 2, "append": 1, "swap": 1, "delete": 1}  # cases of each, per file

SAME, REFUSED, SAID, SILENT, BUG, SIGNAL, HANG = "same", "refused", "said", "silent", "exit 1", "signal", "hang"
OUTCOMES = (SAME, REFUSED, SAID, SILENT, BUG, SIGNAL, HANG)
BAD = (SILENT, BUG, SIGNAL, HANG)


@dataclass(frozen=True)
class Target:
    """Files, and a question whose answer depends on them: `ask(place)` prints it, and returns the exit code. `place` is
    a copy of `folder`, which may be written to."""

    name: str
    folder: Path
    files: tuple[str, ...]  # relative to the folder
    ask: Callable[[Path], int]


class Case(NamedTuple):
    target: Target
    file: str
    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.target.name}: {self.kind} {self.number} of {self.file}"


class Ended(NamedTuple):
    """How a question ended: its exit code (negative: by that signal; None: not at all), and what it wrote."""

    code: int | None
    out: str
    err: str


def cases(targets: Sequence[Target], share: float = 1.0) -> Iterator[Case]:
    """All of them, or about that share, chosen by their names."""
    for target in targets:
        for file in target.files:
            for kind, count in KINDS.items():
                for number in range(count):
                    case = Case(target, file, kind, number)
                    if _seed(case) % 10_000 < share * 10_000 and _changes(case):
                        yield case


def run_cases(targets: Sequence[Target], share: float = 1.0, at_once: int = 2) -> dict[Case, tuple[str, Ended]]:
    """The outcome of each case. Every target is first asked about undamaged files, several cases at a time then."""
    with TemporaryDirectory(prefix="corruption-") as name:
        place = Path(name)
        expected = {target.name: _alone(target, place) for target in targets}
        found: dict[Case, tuple[str, Ended]] = {}
        waiting, running = list(cases(targets, share))[::-1], list[_Running]()
        with tqdm(total=len(waiting), desc="corruptions", unit="", disable=None) as bar:
            while waiting or running:
                while waiting and len(running) < at_once:
                    running.append(_Running(waiting.pop(), place / str(len(waiting))))
                for each in [one for one in running if one.is_over()]:
                    running.remove(each)
                    ended = each.end()
                    found[each.case] = judge(each.case, expected[each.case.target.name], ended), ended
                    bar.update()
                time.sleep(0.002)
        return found


def judge(case: Case, expected: Ended, ended: Ended) -> str:
    """What a question ended in. An answer that differs is `said` if the damaged file was named beside it."""
    if ended.code is None:
        return HANG
    if ended.code < 0:
        return SIGNAL
    if ended.code == EXIT_BAD_INPUT and len(ended.err.strip().splitlines()) > 1:  # the cause, and what to do
        return REFUSED
    if ended.code not in (EXIT_OK, EXIT_SKIPPED):
        return BUG
    if (ended.code, ended.out) == (expected.code, expected.out):
        return SAME
    return SAID if Path(case.file).name in ended.err else SILENT


def table(found: dict[Case, tuple[str, Ended]]) -> str:
    """Outcomes by target."""
    counts: dict[str, Counter[str]] = {}
    for case, (outcome, _) in found.items():
        counts.setdefault(case.target.name, Counter())[outcome] += 1
    counts["all"] = sum(counts.values(), Counter())
    wide = max(map(len, counts))
    lines = [f"{'':<{wide}} {'cases':>7} " + " ".join(f"{outcome:>8}" for outcome in OUTCOMES)]
    for name, count in counts.items():
        lines.append(f"{name:<{wide}} {count.total():>7} " + " ".join(f"{count[each]:>8}" for each in OUTCOMES))
    return "\n".join(lines)


def damage(content: bytes, kind: str, number: int, other: bytes | None, seed: int) -> bytes | None:
    """A file's bytes after one kind of damage; None if the file is gone."""
    rng, size = random.Random(seed), len(content)
    at = rng.randrange(size) if size else 0
    match kind:
        case "flip" if size:
            if number < 2:  # its ends: headers, and checksums
                at = (0, size - 1)[number]
            return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        case "cut":
            return content[: (0, size // 2, size - 1, at)[number]]
        case "zero":
            length = (16, 512, 4096)[number]
            return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]
        case "move":  # two parts in each other's place
            length = min(size // 4, (8, 512)[number])
            start = rng.randrange(max(1, size // 2 - length))
            end = size // 2 + rng.randrange(max(1, size // 2 - length))
            first, second = content[start : start + length], content[end : end + length]
            return content[:start] + second + content[start + length : end] + first + content[end + length :]
        case "append":
            return content + rng.randbytes(100)
        case "swap":
            return content if other is None else other
        case "delete":
            return None
    return content


def _seed(case: Case) -> int:
    words = f"{case.target.name} {case.file} {case.kind} {case.number}"
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big")


def _damaged(case: Case) -> bytes | None:
    path = case.target.folder / case.file
    return damage(path.read_bytes(), case.kind, case.number, _other(case), _seed(case))


def _changes(case: Case) -> bool:
    return _damaged(case) != (case.target.folder / case.file).read_bytes()


def _other(case: Case) -> bytes | None:
    """Another file of the same kind: of the same name elsewhere, or else with the same ending."""
    path = Path(case.file)
    others = [Path(each) for each in case.target.files if each != case.file and Path(each).suffix == path.suffix]
    others.sort(key=lambda each: (each.name != path.name, str(each)))
    return (case.target.folder / others[0]).read_bytes() if others else None


class _Running:
    """A case in a process of its own."""

    def __init__(self, case: Case, place: Path) -> None:
        self.case, self._place, self._started, self._status = case, place, time.monotonic(), -1
        shutil.copytree(case.target.folder, place / "files")
        content, path = _damaged(case), place / "files" / case.file
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        self._process = _fork(case.target, place)

    def is_over(self) -> bool:
        if time.monotonic() - self._started > PATIENCE:
            return True
        ended, status = os.waitpid(self._process, os.WNOHANG)
        self._status = status if ended else -1
        return bool(ended)

    def end(self) -> Ended:
        if self._status == -1:
            os.killpg(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        code = None if self._status == -1 else os.waitstatus_to_exitcode(self._status)
        return _written(self._place, code)


def _alone(target: Target, place: Path) -> Ended:
    """The answer about whole files: twice the same."""
    answers = []
    for number in range(2):
        own = place / f"{target.name}-{number}"
        shutil.copytree(target.folder, own / "files")
        _, status = os.waitpid(_fork(target, own), 0)
        answers.append(_written(own, os.waitstatus_to_exitcode(status)))
    if answers[0].code not in (EXIT_OK, EXIT_SKIPPED) or answers[0][:2] != answers[1][:2]:
        raise RuntimeError(f"{target.name}: no answer to compare with:\n{answers[0]}\n{answers[1]}")
    return answers[0]


def _fork(target: Target, place: Path) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        return process
    code = EXIT_BUG
    try:
        os.setsid()
        sys.stdout, sys.stderr = _stream(place / "out", 1), _stream(place / "err", 2)
        os.environ["MMCC_CACHE"] = str(place / "cache")
        code = target.ask(place / "files")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _stream(path: Path, descriptor: int) -> TextIO:
    with path.open("w") as file:
        os.dup2(file.fileno(), descriptor)
    return os.fdopen(descriptor, "w", closefd=False)


def _written(place: Path, code: int | None) -> Ended:
    """What it wrote, without the place that it was asked in."""
    own = str(place)
    out, err = ((place / name).read_text(errors="replace").replace(own, "") for name in ("out", "err"))
    shutil.rmtree(place, ignore_errors=True)
    return Ended(code, out, err)
