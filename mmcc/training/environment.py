"""What a checkpoint was made on: where these facts differ, sums are rounded differently, and so are results.

A run resumed on the same machine equals an uninterrupted one bit for bit. With another number of threads, another
version of torch or another kind of processor it is as good, but not the same.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

import mmcc
from mmcc.training.processes import ProcessGroup
from mmcc.untrusted import read_json

FILE = "environment.json"  # in a checkpoint


def environment(world: ProcessGroup) -> dict[str, str]:
    """The facts of this process, for people to read; nothing that names a machine or a person."""
    device = torch.cuda.get_device_name(world.device) if world.device.type == "cuda" else world.device.type
    return {
        "mmcc": mmcc.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": f"{platform.machine()} ({torch.backends.cpu.get_cpu_capability()})",  # its vector instructions
        "device": device,
        "threads": str(torch.get_num_threads()),
        "processes": str(world.size),
    }


def as_text(facts: Mapping[str, str]) -> str:
    return json.dumps(facts, indent=1) + "\n"


def changes(checkpoint: Path, now: Mapping[str, str]) -> list[str]:
    """What has changed since a checkpoint was made: "threads 4, now 2". Nothing of one that does not say."""
    try:
        then = read_json(checkpoint / FILE, dict)
    except (OSError, ValueError):
        return []
    return [f"{name} {then[name]}, now {now[name]}" for name in now if name in then and str(then[name]) != now[name]]
