"""A folder has one writer, and its lock dies with that writer."""

import os
import signal
import subprocess
import sys

import pytest

from mmcc.errors import InputError
from mmcc.locks import only_writer

PARENT_WITH_A_CHILD = """
import os, sys, time
from pathlib import Path
from mmcc.locks import only_writer
with only_writer(Path(sys.argv[1])):
    if not os.fork():
        print(os.getpid(), flush=True)  # the child itself: the parent would be killed before the child has run at all
        time.sleep(60)
        os._exit(0)
    time.sleep(60)
"""


def test_a_child_does_not_keep_its_killed_parents_lock(tmp_path):
    parent = subprocess.Popen([sys.executable, "-c", PARENT_WITH_A_CHILD, tmp_path], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    try:
        with pytest.raises(InputError, match="another mmcc"), only_writer(tmp_path):
            pass
        parent.kill()
        parent.wait()
        os.kill(child, 0)  # it lives
        with only_writer(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        parent.kill()


def test_a_child_leaves_its_parents_lock_alone(tmp_path):
    with only_writer(tmp_path):
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
        with pytest.raises(InputError, match="another mmcc"), only_writer(tmp_path):
            pass
