"""The command line: commands with typed signatures, exit codes, and one-line errors. It contains no other logic."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from typing import NamedTuple, NoReturn

from mmcc import __version__
from mmcc.cli.anticipate import anticipate
from mmcc.cli.arguments import Misused, build_parser, call
from mmcc.cli.cache import cache
from mmcc.cli.compact import compact
from mmcc.cli.compare import compare
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
from mmcc.cli.merge import merge
from mmcc.cli.neurons import neurons
from mmcc.cli.output import answer_error, deliver
from mmcc.cli.report import report
from mmcc.cli.reproduce import reproduce
from mmcc.cli.search import search
from mmcc.cli.serve import serve
from mmcc.cli.train import train
from mmcc.cli.transitions import transitions
from mmcc.cli.unshuffle import unshuffle
from mmcc.errors import Diverged, InputError, MissingDependency, OutputError, UsageError
from mmcc.terminal import be_quiet, complain, encodable
from mmcc.text import printable

_RESUME = "Finished work is saved; run the same command again to continue (train: with --resume)."


VERBS = (
    kitchen,
    ingest,
    embed,
    inspect,
    merge,
    compact,
    train,
    evaluate,
    compare,
    reproduce,
    transitions,
    cycles,
    unshuffle,
    anticipate,
    search,
    neurons,
    report,
    serve,
    demo,
    cache,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; turn errors into a message for people, JSON for programs that asked for it, and an exit code."""
    parser = build_parser("mmcc", "Learn how the world changes from narrated video.", __version__, VERBS)
    signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # help has letters that not every terminal has
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    try:
        code = call(parser, arguments)
        deliver()
        return code
    except Misused as error:
        _fail(_Failure(str(error), code=EXIT_USAGE), as_json, error.usage)
        raise SystemExit(EXIT_USAGE) from None  # as argparse does
    except BrokenPipeError:  # the reader of our output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except (Exception, KeyboardInterrupt, _Terminated) as error:
        failure = _failure(error)
        _fail(failure, as_json)
        return failure.code
    finally:
        be_quiet(False)


class _Failure(NamedTuple):
    """What went wrong, as it is told."""

    cause: str
    remedy: str = ""
    path: str | None = None
    code: int = EXIT_BAD_INPUT


def _failure(error: BaseException) -> _Failure:
    match error:
        case UsageError():
            return _Failure(str(error), error.remedy, code=EXIT_USAGE)
        case Diverged():
            return _Failure(str(error), error.remedy, code=EXIT_DIVERGED)
        case InputError():
            return _Failure(error.cause, error.remedy, error.path)
        case OutputError():
            return _Failure(str(error), error.remedy)
        case MissingDependency():
            cause, remedy = str(error).split("\n", 1)
            return _Failure(cause, remedy, code=EXIT_MISSING_DEPENDENCY)
        case KeyboardInterrupt():
            return _Failure(f"stopped. {_RESUME}", code=EXIT_INTERRUPTED)
        case _Terminated():
            return _Failure(f"terminated. {_RESUME}", code=EXIT_TERMINATED)
        case OSError():
            cause, place = error.strerror or str(error), error.filename
            remedy = "Check its permissions and its disk."
            return _Failure(cause, remedy, str(place)) if place else _Failure(f"the system: {cause}", remedy)
    sys.stderr.write(encodable(printable("".join(traceback.format_exception(error))), sys.stderr))
    return _Failure("internal error.", "Please report it with the lines above.", code=EXIT_BUG)


def _fail(failure: _Failure, as_json: bool, usage: str = "") -> None:
    if as_json:
        answer_error(failure.path, failure.cause, failure.remedy, failure.code)
    if usage:
        sys.stderr.write(usage)
    complain(f"{failure.path}: {failure.cause}" if failure.path else failure.cause, failure.remedy)


class _Terminated(BaseException):
    """SIGTERM as an exception, so that open resources are closed."""


def _terminate(*_: object) -> NoReturn:
    raise _Terminated
