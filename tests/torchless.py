"""A process that has never loaded torch, and forks a child that cannot load it for each question it is asked.

    python -m tests.torchless

Questions and answers are lines of JSON; the first line tells which modules `mmcc` and its tools load by themselves.
"""

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

VERB = "import sys; from mmcc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class Torchless:
    """The other end: what tests ask."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.torchless"],
            cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        loads = self._read()
        self.package_loads, self.tools_load = set(loads["package"]), set(loads["tools"])

    def run(self, code: str, *arguments: object, environment: dict[str, str] | None = None) -> Answer:
        """What becomes of Python code with these arguments where torch cannot be imported."""
        question = {"code": code, "arguments": list(map(str, arguments)), "environment": {**os.environ}}
        question["environment"] |= environment or {}
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return Answer(**self._read())

    def mmcc(self, *arguments: object, environment: dict[str, str] | None = None) -> Answer:
        """What becomes of a command."""
        return self.run(VERB, *arguments, environment=environment)

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        assert line, "the process without torch has ended"
        return json.loads(line)

    def close(self) -> None:
        self._process.communicate()


class NoTorch:
    """Torch cannot be found."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "torch":
            raise ImportError("torch is out of reach in this process")


def _serve() -> None:
    importlib.import_module("mmcc.cli.main")
    package = set(sys.modules)
    for name in ("cache", "model", "footage", "domain"):
        importlib.import_module(f"mmcc.tools.{name}")
    print(json.dumps({"package": sorted(package), "tools": sorted(sys.modules)}), flush=True)
    for line in sys.stdin:
        reading, writing = os.pipe()
        if not (child := os.fork()):
            _answer(json.loads(line), writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        print(answer, flush=True)


def _answer(question: dict[str, Any], pipe: int) -> NoReturn:
    """In the child: run the code, and write what became of it."""
    os.environ.clear()
    os.environ |= question["environment"]
    sys.argv = ["-c", *question["arguments"]]
    sys.meta_path.insert(0, NoTorch)
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(compile(question["code"], "<question>", "exec"), {"__name__": "__main__"})
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
    with os.fdopen(pipe, "w") as file:
        json.dump({"code": code, "out": out.getvalue(), "err": err.getvalue()}, file)
    os._exit(0)


if __name__ == "__main__":
    _serve()
