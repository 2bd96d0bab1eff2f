"""A folder has one writer, and its lock dies with that writer."""

import errno
import fcntl
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


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path):
    (tmp_path / "precious.txt").write_text("years of work")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".lock").symlink_to(tmp_path / "precious.txt")
    with pytest.raises(InputError, match="is a link"), only_writer(tmp_path / "folder"):
        pass
    assert (tmp_path / "precious.txt").read_text() == "years of work"


def test_a_lock_that_is_there_is_not_emptied(tmp_path):
    (tmp_path / ".lock").write_text("of another program")
    with only_writer(tmp_path):
        pass
    assert (tmp_path / ".lock").read_text() == "of another program"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said_to_be_that(tmp_path, monkeypatch, number):
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(InputError, match="does not support locks") as caught, only_writer(tmp_path):
        pass
    assert "another mmcc" not in str(caught.value) and os.strerror(number) in caught.value.cause
