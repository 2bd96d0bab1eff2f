"""What a step frees, the next one has."""

import subprocess
import sys

SECOND_ALLOCATION = """
import resource, sys, torch
from mmcc.training.memory import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
torch.ones(2**25)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.ones(2**25)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(how):
    command = [sys.executable, "-c", SECOND_ALLOCATION, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_freed_memory_is_not_faulted_in_again():
    assert page_faults("keep") < 10 < page_faults("give back")
