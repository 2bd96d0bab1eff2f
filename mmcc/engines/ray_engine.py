"""The engine for many machines: Ray's actors, each with one worker process. The only module that imports Ray.

    with RayEngine("head:6379") as engine:          # without an address: a Ray of its own on this machine
        ingest(source, folder, IngestSettings(engine=engine))

Ray speaks to those who use it: on stdout, in logs, from its threads. None of that reaches our output. It also takes
SIGTERM for itself, and a handler that raises inside one of its calls ends as a SystemError; so signals wait until a
call has returned, which is within a second.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

from mmcc import __version__
from mmcc.engines.base import Prepare, Progress, Shared, Worn, as_it_is, never_worn, untold
from mmcc.engines.dispatcher import Dispatcher, Lost, News, Ready
from mmcc.engines.host import Hello, Host, Witness
from mmcc.errors import InputError, MissingDependency, UsageError
from mmcc.files import draft_of, writing
from mmcc.media.sandbox import Job, Limits
from mmcc.terminal import note

_STORE_BYTES = 100_000_000  # of Ray's own memory for results, when we start it: ours are a few kB
_CONNECT_SECONDS = 30
_QUIET = {  # read by Ray when it is imported, or by what it starts
    "RAY_USAGE_STATS_ENABLED": "0",  # it would tell its makers about us
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a warning about future versions
}
_TOKEN = "seen-by-all-nodes-"
UNPROTECTED = (
    "This Ray cluster asks nobody for a token: whoever reaches it can run programs on its nodes. "
    "Start it with RAY_AUTH_MODE=token (docs/cluster.md)."
)


class RayEngine:
    """Connected to a cluster, or to a Ray of its own, as long as its `with` block lasts."""

    elsewhere = True

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """`workers`: at the same time; None: one for each CPU of the cluster, or of this machine."""
        self._address, self._workers = address, workers

    def __enter__(self) -> RayEngine:
        _silence()
        with signals_wait():
            if self._address is None:
                self._start_own()
            else:
                self._connect(self._address)
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        with signals_wait():
            ray.shutdown()

    def pool(
        self,
        module: str,
        limits: Limits,
        shared: Shared,
        prepare: Prepare = as_it_is,
        progress: Progress = untold,
        worn: Worn = never_worn,
    ) -> RayPool:
        transport = RayTransport(module, limits, shared, warn=self._address is not None)
        return RayPool(transport, self._workers, prepare, progress, worn, note)

    def _start_own(self) -> None:
        import ray

        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # otherwise Ray leaves one in the home folder
        cores = max(self._workers or 0, os.cpu_count() or 1)
        with _unwell("it could not be started on this machine", "Leave --engine ray out, or try again."):
            # A given address in the environment would be a cluster that nobody asked for.
            own = {"num_cpus": cores, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
            # By default Ray gives its workers the least share of the cores.
            ray.init("local", **own, _system_config={"worker_niceness": 0}, **_SILENT)

    def _connect(self, address: str) -> None:
        import ray

        _require_listener(address)
        with _unwell(f"no connection to {address}", "Run mmcc on a machine of the cluster (docs/cluster.md)."):
            ray.init(address, **_SILENT)


_SILENT: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": logging.CRITICAL}


class RayPool(Dispatcher):
    """A dispatcher that checks that every node sees our folders while it is in use."""

    def __init__(self, transport: RayTransport, workers: int | None, *options: Any) -> None:
        super().__init__(transport, workers, *options)
        self._ray = transport

    def __enter__(self) -> RayPool:
        return self

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Any]:
        self._ray.open()
        yield from super().run(jobs)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._ray.close()


class RayTransport:
    """Hosts as actors of Ray. Each has at most one call on its way."""

    def __init__(self, module: str, limits: Limits, shared: Shared, warn: bool) -> None:
        import ray

        self._module, self._limits, self._shared, self._warn = module, limits, shared, warn
        self._token: Path | None = None
        self._witness = Witness("", "", {})
        # No restarts and no retries: both are ours to decide. SPREAD: fewer workers than CPUs use all nodes.
        options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
        self._remote = ray.remote(**options)(Host)
        self._actors: dict[int, Any] = {}
        self._calls: dict[Any, int] = {}  # host by the reference of its call

    def open(self) -> None:
        """Leave a file in the folder by which nodes know it."""
        if self._token is None:
            folder, content = self._shared.folder.absolute(), secrets.token_hex(16)
            for left in folder.glob(draft_of(folder / f"{_TOKEN}*").name):  # by one that was killed
                left.unlink(missing_ok=True)
            self._token = draft_of(folder / f"{_TOKEN}{content}")
            with writing(folder):
                self._token.write_text(content)
            sizes = {str(path.absolute()): path.stat().st_size for path in self._shared.files}
            self._witness = Witness(str(self._token), content, sizes)

    def close(self) -> None:
        if self._token is not None:
            with suppress(OSError):
                self._token.unlink()
            self._token = None

    def start(self, host: int) -> None:
        with signals_wait():
            self._actors[host] = self._remote.remote(self._module, self._limits)
            self._calls[self._actors[host].hello.remote(self._witness)] = host

    def begin(self, host: int, job: Job, fresh: bool) -> None:
        with signals_wait():
            self._calls[self._actors[host].begin.remote(job, fresh)] = host

    def listen(self, host: int) -> None:
        with signals_wait():
            self._calls[self._actors[host].listen.remote()] = host

    def stop(self, host: int) -> None:
        import ray

        self._calls = {call: number for call, number in self._calls.items() if number != host}
        with signals_wait(), suppress(ray.exceptions.RayError, ValueError):
            ray.kill(self._actors.pop(host, None), no_restart=True)

    def room(self) -> int:
        import ray

        with signals_wait():
            return int(ray.cluster_resources().get("CPU", 0))

    def wait(self, seconds: float) -> Sequence[Ready | News | Lost]:
        import ray

        with signals_wait():
            if not self._calls:  # a host was lost before it was ready, and another is not asked for yet
                threading.Event().wait(seconds)
                return []
            ray.wait(list(self._calls), num_returns=1, timeout=seconds)
            done, _ = ray.wait(list(self._calls), num_returns=len(self._calls), timeout=0)
            return [self._result(call) for call in done]

    def _result(self, call: Any) -> Ready | News | Lost:
        import ray

        host = self._calls.pop(call)
        try:
            found = ray.get(call, timeout=_CONNECT_SECONDS)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None  # our bug, as it would be here
        except ray.exceptions.RayError as error:
            _complain_of_installation(error)
            return Lost(host, _first_line(error))
        return self._welcome(host, Hello(*found)) if isinstance(found, Hello) else News(host, found)

    def _welcome(self, host: int, hello: Hello) -> Ready:
        if hello.version != __version__:
            cause = f"the node {hello.node} has mmcc {hello.version}, this machine {__version__}."
            raise UsageError(cause, "Install the same version on all nodes.")
        if hello.blind:
            remedy = "Mount the folders of the corpus and of its source on all nodes, at the same path."
            raise InputError(hello.blind, f"the node {hello.node} does not see it as this machine does", remedy)
        if self._warn and not hello.token_required:
            self._warn = False
            note(UNPROTECTED)
        return Ready(host, hello.node)


def require_ray() -> None:
    """MissingDependency where Ray is not installed. It is not imported yet, which takes seconds."""
    if find_spec("ray") is None:
        raise MissingDependency("--engine ray needs Ray, which is not installed.", "ray")


def _silence() -> None:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    require_ray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray._private.worker

    logging.getLogger("ray").setLevel(logging.CRITICAL + 1)
    ray._private.worker._worker_logs_enabled = False  # it prints deaths of workers on stdout, whatever it is told


@contextmanager
def _unwell(what: str, remedy: str) -> Iterator[None]:
    """Ray's refusals in a line; what it writes to stderr meanwhile is only read for the reason. They are of many types:
    a machine too busy to start it in half a minute is a bare Exception."""
    with _aside() as said:
        try:
            yield
            return
        except Exception as error:
            cause = _first_line(error)
            if "Unauthenticated" in f"{error} {said()}":
                cause = "it does not accept our token"
                remedy = "Run mmcc with the cluster's RAY_AUTH_MODE and token (docs/cluster.md)."
    raise UsageError(f"Ray: {what} ({cause}).", remedy)


@contextmanager
def _aside() -> Iterator[Callable[[], str]]:
    """What this process writes to stderr, also below Python, goes to a file that is gone afterwards; MMCC_DEBUG=1
    shows it."""
    with tempfile.TemporaryFile() as file:
        if os.environ.get("MMCC_DEBUG"):
            yield lambda: ""
            return
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace")
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _require_listener(address: str) -> None:
    """Ray would try for a minute or more, and tell nobody."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        raise UsageError(f"--address {address}: it must be HOST:PORT, for instance 10.0.0.1:6379.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        remedy = "Start Ray there: RAY_AUTH_MODE=token ray start --head (docs/cluster.md)."
        raise UsageError(f"--address {address}: nothing answers there ({error}).", remedy) from None


def _complain_of_installation(error: Exception) -> None:
    """A host that cannot even be made is no lost node: every other attempt would end the same way."""
    text = str(error)
    for name in ("ModuleNotFoundError", "ImportError"):
        if name in text:
            line = next(line for line in text.splitlines() if name in line).strip()
            raise UsageError(f"a node cannot run mmcc ({line}).", "Install the same version on all nodes.")


def _first_line(error: Exception) -> str:
    """What Ray says in short; the rest is for its own logs."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


Handler = Callable[[int, FrameType | None], Any] | int | None


@contextmanager
def signals_wait() -> Iterator[None]:
    """SIGTERM and Ctrl-C within the block are heard at its end; whoever took them over meanwhile loses them again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before: Mapping[int, Handler] = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in before:
        signal.signal(number, lambda number, frame: heard.append(number))
    try:
        yield
    except SystemExit:  # what Ray does with SIGTERM while it starts
        heard.append(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        for number in heard:
            signal.raise_signal(number)
