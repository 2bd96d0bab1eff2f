"""A process of its own for a test, forked from this one: whatever is loaded here need not be loaded again.

To import torch takes a second and to build its first optimizer another; a test that is about a kill, a signal, an exit
code or a registry of its own needs another process, but not another interpreter.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple, Self

PATIENCE = 120  # seconds


class Answer(NamedTuple):
    code: int  # as of subprocess: -9 if it was killed
    out: str
    err: str


class Forked:
    """job(*arguments, **options) in a child, whose lines can be read from `stdout` while it runs.

    It leads a session of its own; at the end of a `with` it is killed if it has not ended.
    """

    def __init__(
        self, job: Callable[..., object], *arguments: object, cwd: Path | None = None, **options: object
    ) -> None:
        reading, writing = os.pipe()
        self._err = tempfile.TemporaryFile("w+")  # noqa: SIM115  (__exit__ closes it)
        given = (partial(job, *arguments, **options), cwd, (reading, writing, self._err.fileno()))
        self._process = multiprocessing.get_context("fork").Process(target=_in_the_child, args=given)
        self._process.start()
        os.close(writing)
        self.stdout: TextIOWrapper = os.fdopen(reading)
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.stdout.close()
        self._err.close()

    def kill(self) -> None:
        """At once, if it has not ended."""
        self._process.kill()
        self._process.join()

    def end(self) -> Answer:
        """Wait until it and whatever it started have ended: what it wrote, and its code."""
        out = self.stdout.read()
        self._process.join(PATIENCE)
        assert self._process.exitcode is not None, f"it has not ended within {PATIENCE} s"
        self._err.seek(0)
        return Answer(self._process.exitcode, out, self._err.read())


def forked(job: Callable[..., object], *arguments: object, cwd: Path | None = None, **options: object) -> Answer:
    """How job(*arguments, **options) ends in a child."""
    with Forked(job, *arguments, cwd=cwd, **options) as child:
        return child.end()


def forked_code(code: str, *arguments: object, cwd: Path | None = None) -> Answer:
    """How Python code with these arguments ends, as if given to `python -c`."""
    return forked(_execute, code, list(map(str, arguments)), cwd=cwd)


def _execute(code: str, arguments: list[str]) -> None:
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def _in_the_child(job: Callable[[], object], cwd: Path | None, pipes: tuple[int, int, int]) -> None:
    """As a new process would: with streams and a folder of its own, and the code of an interpreter at the end."""
    reading, out, err = pipes
    os.close(reading)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    if cwd:
        os.chdir(cwd)
    try:
        job()
    except Exception:
        traceback.print_exc()
        sys.exit(1)
