"""Damaged files in numbers. The benchmark itself takes a thousand videos and photos, and 100,000 captions."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_corrupted_files_end_with_an_outcome_and_a_reason():
    counts = ["--videos", "120", "--photos", "200", "--captions", "3000", "--seed", "7"]
    command = [sys.executable, "-m", "benchmarks.robustness", *counts]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok") == 5
