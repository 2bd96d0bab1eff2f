"""The command line: commands with typed signatures, exit codes, and one-line errors. It contains no other logic."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import NoReturn

from mmcc import __version__
from mmcc.cli.anticipate import anticipate
from mmcc.cli.arguments import build_parser, call
from mmcc.cli.cycles import cycles
from mmcc.cli.demo import demo
from mmcc.cli.embed import embed
from mmcc.cli.evaluate import evaluate
from mmcc.cli.exit_codes import (
    EXIT_BAD_INPUT,
    EXIT_BUG,
    EXIT_DIVERGED,
    EXIT_INTERRUPTED,
    EXIT_MISSING_DEPENDENCY,
    EXIT_OK,
    EXIT_TERMINATED,
    EXIT_USAGE,
)
from mmcc.cli.ingest import ingest
from mmcc.cli.inspect import inspect
from mmcc.cli.kitchen import kitchen
from mmcc.cli.neurons import neurons
from mmcc.cli.report import report
from mmcc.cli.reproduce import reproduce
from mmcc.cli.search import search
from mmcc.cli.train import train
from mmcc.cli.transitions import transitions
from mmcc.cli.unshuffle import unshuffle
from mmcc.errors import Diverged, InputError, MissingDependency, OutputError, UsageError
from mmcc.text import one_line

_RESUME = "Finished work is saved; run the same command again to continue (train: with --resume)."


VERBS = (
    kitchen,
    ingest,
    embed,
    inspect,
    train,
    evaluate,
    reproduce,
    transitions,
    cycles,
    unshuffle,
    anticipate,
    search,
    neurons,
    report,
    demo,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; turn errors into a message for people and an exit code for scripts."""
    parser = build_parser("mmcc", "Learn how the world changes from narrated video.", __version__, VERBS)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return call(parser, arguments)
    except UsageError as error:
        _complain(str(error), error.remedy)
        return EXIT_USAGE
    except Diverged as error:
        _complain(str(error), error.remedy)
        return EXIT_DIVERGED
    except InputError as error:
        _complain(f"{error.path}: {error.cause}", error.remedy)
        return EXIT_BAD_INPUT
    except OutputError as error:
        _complain(str(error), error.remedy)
        return EXIT_BAD_INPUT
    except MissingDependency as error:
        _complain(*str(error).split("\n", 1))
        return EXIT_MISSING_DEPENDENCY
    except KeyboardInterrupt:
        _complain(f"stopped. {_RESUME}")
        return EXIT_INTERRUPTED
    except _Terminated:
        _complain(f"terminated. {_RESUME}")
        return EXIT_TERMINATED
    except BrokenPipeError:  # the reader of our output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except OSError as error:
        _complain(f"{error.filename or 'the system'}: {error.strerror or error}", "Check its permissions and its disk.")
        return EXIT_BAD_INPUT
    except Exception:
        traceback.print_exc()
        _complain("internal error.", "Please report it with the lines above.")
        return EXIT_BUG


class _Terminated(BaseException):
    """SIGTERM as an exception, so that open resources are closed."""


def _terminate(*_: object) -> NoReturn:
    raise _Terminated


def _complain(line: str, remedy: str = "") -> None:
    print(f"mmcc: {one_line(line)}" + (f"\n      {one_line(remedy)}" if remedy else ""), file=sys.stderr)
