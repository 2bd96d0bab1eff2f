"""Property tests draw the same examples in every run of `make test`, and many new ones in `make fuzz`."""

import importlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tqdm import tqdm

from tests.forked import Forked

FEW = """
from pathlib import Path
from hypothesis import given, settings
from hypothesis import strategies as st
from tqdm import tqdm

from tests.forked import Forked
drawn = []

@settings(max_examples=3)
@given(st.integers())
def test_few(number):
    drawn.append(number)

def test_all():
    Path("drawn.txt").write_text(str(len(drawn)))
"""


def drawn_numbers():
    numbers = []

    @settings(settings.get_profile("repeatable"))
    @given(st.integers())
    def draw(number):
        numbers.append(number)

    draw()
    return numbers


def test_examples_do_not_depend_on_the_modules_that_are_loaded(tmp_path, monkeypatch):
    before = drawn_numbers()
    (tmp_path / "many_numbers.py").write_text(f"NUMBERS = {[7919 * n for n in range(1, 400)]}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("many_numbers")
    assert drawn_numbers() == before and len(before) == 100


@pytest.mark.slow
def test_fuzzing_draws_many_new_examples_however_few_a_test_asks_for(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_few.py").write_text(FEW)

    def run(profile):
        command = [sys.executable, "-m", "pytest", "-q", f"--hypothesis-profile={profile}"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}  # the copy imports our helpers
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        return int((tmp_path / "drawn.txt").read_text())

    assert run("repeatable") == 3 and run("fuzz") == 1000
    assert not settings.get_profile("fuzz").derandomize


def test_a_child_that_was_killed_does_not_keep_the_next_from_showing_progress():
    def hold() -> None:
        tqdm.get_lock().acquire()
        print("held", flush=True)
        time.sleep(60)

    tqdm.get_lock()  # made here, it is shared
    with Forked(hold) as child:
        assert next(child.lines()) == "held\n"
    with Forked(lambda: list(tqdm([1]))) as child:
        assert child.ends_within(30)
