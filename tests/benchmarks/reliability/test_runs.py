"""Damaged runs, models, indexes and caches in numbers. The benchmark itself takes a thousand."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_damage_is_silent():
    command = [sys.executable, "-m", "benchmarks.reliability.runs", "--share", "0.03", "--list"]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok") == 4
