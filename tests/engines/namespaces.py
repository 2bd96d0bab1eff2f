"""A Ray cluster of two nodes on one machine: each in a network namespace of its own, with a cable between them."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import mmcc

PORT = 6379
_NETWORK = "10.77.0"
_STORE = 100_000_000  # bytes
_STARTS = 4  # attempts
# Nodes are given up within two seconds, not half a minute; workers get their share of the cores.
_HEALTH = (
    '{"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_timeout_ms": 500,'
    ' "health_check_failure_threshold": 3, "worker_niceness": 0}'
)


def why_not() -> str:
    """Why there can be no such cluster here; "" if there can."""
    if find_spec("ray") is None:
        return "Ray is not installed (extra: ray)"
    if shutil.which("ip") is None:
        return "there is no ip command (iproute2)"
    name = f"mmcc-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return f"network namespaces are not permitted: {made.stderr.strip()}" if made.returncode else ""


class Namespaces:
    """The head, with the driver, is in one namespace, the other node in another. Ends with everything in them."""

    def __init__(self) -> None:
        unique = f"{os.getpid():x}{secrets.token_hex(2)}"
        self.head, self.node = f"mmcc-{unique}-head", f"mmcc-{unique}-node"
        self._cables = {self.head: f"mh{unique}"[:15], self.node: f"mn{unique}"[:15]}
        self._addresses = {self.head: f"{_NETWORK}.1", self.node: f"{_NETWORK}.2"}
        self.folder = Path(tempfile.mkdtemp(prefix="mmcc"))  # short: Ray's sockets are in it
        self.address = f"{self._addresses[self.head]}:{PORT}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
            "HOME": str(self.folder),
            "PYTHONPATH": str(Path(mmcc.__file__).parents[1]),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
        }

    def lay(self) -> None:
        """The namespaces and the cable."""
        for name in (self.head, self.node):
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        first, second = self._cables.items()
        _ip("link", "add", first[1], "netns", first[0], "type", "veth", "peer", "name", second[1], "netns", second[0])
        for name, cable in self._cables.items():
            _ip("-n", name, "addr", "add", f"{self._addresses[name]}/24", "dev", cable)
            _ip("-n", name, "link", "set", cable, "up")

    def close(self) -> None:
        for name in (self.head, self.node):
            self.end_all(name)
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_head(self) -> None:
        self._start(self.head, "--head", f"--port={PORT}", "--include-dashboard=false", f"--system-config={_HEALTH}")

    def start_node(self) -> None:
        """A node joins, with nothing left of the one before it."""
        self.end_all(self.node)
        _ip("-n", self.node, "link", "set", self._cables[self.node], "up")
        self._start(self.node, f"--address={self.address}")

    def _start(self, name: str, *options: str) -> None:
        address = f"--node-ip-address={self._addresses[name]}"
        limits = ("--num-cpus=1", f"--object-store-memory={_STORE}", "--disable-usage-stats")
        temporary = () if name == self.node else (f"--temp-dir={self.folder / 'ray'}",)
        command = ["ip", "netns", "exec", name, "ray", "start", address, *limits, *temporary, *options]
        for _ in range(_STARTS):
            # The machine may be too busy for the half minute that Ray waits for itself: it says so, or never ends.
            limited = ["timeout", "--signal=KILL", "100", *command]
            done = subprocess.run(
                limited, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            if done.returncode == 0:
                break
            self.end_all(name)
        assert done.returncode == 0, done.stdout + done.stderr

    def cut(self) -> None:
        """The cable: whoever is on the other side lives on."""
        _ip("-n", self.node, "link", "set", self._cables[self.node], "down")

    def kill_raylet(self) -> None:
        """Of the node; its workers notice by themselves."""
        (raylet,) = self.processes(self.node, "raylet/raylet")
        os.kill(raylet, signal.SIGKILL)

    def processes(self, name: str, command: str) -> list[int]:
        """Those in a namespace whose command line has these words."""
        found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout
        return [int(process) for process in found.split() if command in _command(int(process))]

    def end_all(self, name: str) -> None:
        while processes := self.processes(name, ""):
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)

    def mmcc(self, *arguments: object, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """A command beside the head, on the cluster; with other settings of the environment, if given."""
        return self.python("-m", "mmcc", *arguments, "--engine", "ray", "--address", self.address, **environment or {})

    def python(self, *arguments: object, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["ip", "netns", "exec", self.head, sys.executable, *map(str, arguments)],
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _command(process: int) -> str:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return "" if state == "Z" else Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except (OSError, ValueError):
        return ""


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
