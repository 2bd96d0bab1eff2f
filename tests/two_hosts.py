"""Two hosts on this machine: network namespaces joined by a virtual cable, with one file system.

    with two_hosts() as (first, second):
        subprocess.run(first.command("ping", "-c", "1", second.address))

Only root may make them; elsewhere the test is skipped. They are removed at the end, with whatever runs in them.
"""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest


class Host(NamedTuple):
    name: str  # of the namespace
    device: str
    address: str

    def command(self, *words: object) -> list[str]:
        """The words of a command that runs there."""
        return ["ip", "netns", "exec", self.name, *map(str, words)]

    def kill_all(self) -> None:
        """As if its plug were pulled, but that the other end learns of it."""
        for pid in _ip("netns", "pids", self.name).split():
            os.kill(int(pid), signal.SIGKILL)


@contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("only root can make network namespaces, with ip (iproute2)")
    mark = secrets.token_hex(3)
    hosts = [Host(f"mmcc-{mark}-{number}", f"mm{mark}{number}", f"10.77.0.{number}") for number in (1, 2)]
    made: list[Host] = []
    try:
        for host in hosts:
            try:
                _ip("netns", "add", host.name)
            except subprocess.CalledProcessError as error:
                pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
            made.append(host)
        first, second = hosts
        _ip("link", "add", first.device, "netns", first.name, "type", "veth",
            "peer", "name", second.device, "netns", second.name)  # fmt: skip
        for host in hosts:
            _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", host.device)
            for device in ("lo", host.device):
                _ip("-n", host.name, "link", "set", device, "up")
        yield first, second
    finally:
        for host in made:
            host.kill_all()
            _ip("netns", "delete", host.name)  # and with it its end of the cable


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout
