"""What a checkpoint was made on, and what has changed since."""

import platform

import torch

from mmcc.training.environment import FILE, as_text, changes, environment
from mmcc.training.processes import ProcessGroup


def test_the_facts_name_versions_threads_and_the_kind_of_machine_and_nobody():
    found = environment(ProcessGroup())
    assert (found["torch"], found["python"]) == (torch.__version__, platform.python_version())
    assert found["threads"] == str(torch.get_num_threads()) and found["processes"] == "1"
    assert platform.machine() in found["machine"] and platform.node() not in found.values()


def test_what_has_changed_is_told(tmp_path):
    now = environment(ProcessGroup())
    (tmp_path / FILE).write_text(as_text(now))
    assert changes(tmp_path, now) == []
    then = now | {"threads": "64", "torch": "1.0", "of_a_later_version": "x"}
    (tmp_path / FILE).write_text(as_text(then))
    assert changes(tmp_path, now) == [f"torch 1.0, now {now['torch']}", f"threads 64, now {now['threads']}"]


def test_a_checkpoint_that_does_not_say_is_not_questioned(tmp_path):
    assert changes(tmp_path, {"threads": "1"}) == []
    (tmp_path / FILE).write_text("[]")
    assert changes(tmp_path, {"threads": "1"}) == []
