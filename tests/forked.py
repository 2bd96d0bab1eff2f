"""A process of its own for a test, forked from this one: whatever is loaded here need not be loaded again.

To import torch takes a second and to build its first optimizer another; a test that is about a kill, a signal, an exit
code or a registry of its own needs another process, but not another interpreter.
"""

import gc
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self, TextIO

from tqdm import tqdm

PATIENCE = 120  # seconds


def load_torch() -> None:
    """Torch, and what its first optimizer imports: before a fork, so that not every child does it."""
    import torch

    torch.optim.SGD([torch.zeros(1)])


class Answer(NamedTuple):
    code: int  # as of subprocess: -9 if it was killed
    out: str
    err: str


class Forked:
    """job(*arguments, **options) in a child that leads a session of its own.

    At the end of a `with` it is killed if it has not ended.
    """

    def __init__(
        self, job: Callable[..., object], *arguments: object, cwd: Path | None = None, **options: object
    ) -> None:
        self._folder = Path(tempfile.mkdtemp())
        self._out, self._err = self._folder / "out", self._folder / "err"
        for path in (self._out, self._err):
            path.touch()
        given = (partial(job, *arguments, **options), cwd, self._out, self._err)
        self._process = multiprocessing.get_context("fork").Process(target=_in_the_child, args=given)
        self._process.start()
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder)

    def kill(self) -> None:
        """At once, if it has not ended."""
        self._process.kill()
        self._process.join()

    def ends_within(self, seconds: float) -> bool:
        """Whatever it leaves behind is not waited for, as `join` would."""
        deadline = time.monotonic() + seconds
        while self._process.exitcode is None and time.monotonic() < deadline:
            time.sleep(0.005)
        return self._process.exitcode is not None

    def lines(self) -> Iterator[str]:
        """The lines that it prints, while it runs."""
        line, ended = "", False
        with self._out.open() as file:
            while not ended:
                ended = self.ends_within(0.01)
                while (line := line + file.readline()).endswith("\n"):
                    yield line
                    line = ""
        if line:
            yield line

    def end(self) -> Answer:
        """Wait for it: its code, and all that it wrote."""
        assert self.ends_within(PATIENCE), f"it has not ended within {PATIENCE} s"
        assert self._process.exitcode is not None
        return Answer(self._process.exitcode, self._out.read_text(), self._err.read_text())


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


def _in_the_child(job: Callable[[], object], cwd: Path | None, out: Path, err: Path) -> None:
    """As a new process would: with streams and a folder of its own, and the code of an interpreter at the end."""
    sys.stdout, sys.stderr = _stream(out, 1), _stream(err, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    gc.callbacks.clear()  # what the parent has left is not collected here: Ctrl-C in a finalizer or a callback,
    gc.freeze()  # such as hypothesis has, would be lost
    tqdm.set_lock(threading.RLock())  # tqdm's own is shared by all children: one that is killed may hold it for ever
    os.setsid()
    if cwd:
        os.chdir(cwd)
    try:
        job()
    except Exception:
        traceback.print_exc()
        sys.exit(1)


def _stream(path: Path, descriptor: int) -> TextIO:
    with path.open("a") as file:
        os.dup2(file.fileno(), descriptor)
    return os.fdopen(descriptor, "w", closefd=False)
