"""Loaded by every Python process whose PYTHONPATH has this folder: writes down what a process makes permanent.

$POWER_CUT_TREE is the folder that is watched, $POWER_CUT_LOG the folder of the record, which has one JSON file per
event: the names that the tree has then, and, of what is being flushed, the content. Files that are removed or replaced
keep a name in the record, so that no inode is used twice.
"""

# Not pathlib, which calls the functions that are replaced here.
# ruff: noqa: PTH100, PTH110, PTH113, PTH118, PTH123

import fcntl
import itertools
import json
import os
import shutil
import stat

TREE, LOG = os.environ.get("POWER_CUT_TREE", ""), os.environ.get("POWER_CUT_LOG", "")
_fsync, _unlink, _replace = os.fsync, os.unlink, os.replace


def _names() -> dict[str, int]:
    """Every file and folder of the tree, by its path, with its inode."""
    found = {}
    for folder, folders, files in os.walk(TREE):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            found[os.path.relpath(path, TREE)] = os.lstat(path).st_ino
    return found


def _keep(path: object) -> None:
    """Another name for a file that is about to lose its own."""
    name = os.path.abspath(os.fsdecode(path))
    if name.startswith(TREE) and os.path.isfile(name):
        kept = os.path.join(LOG, f"inode-{os.lstat(name).st_ino}")
        if not os.path.exists(kept):
            os.link(name, kept)


def fsync(descriptor: int) -> None:
    _fsync(descriptor)
    facts = os.fstat(descriptor)
    with open(os.path.join(LOG, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        number = next(n for n in itertools.count() if not os.path.exists(os.path.join(LOG, f"{n:05d}.json")))
        event = {"inode": facts.st_ino, "folder": stat.S_ISDIR(facts.st_mode), "names": _names()}
        if not event["folder"]:
            shutil.copyfile(f"/proc/self/fd/{descriptor}", os.path.join(LOG, f"{number:05d}.content"))
        with open(os.path.join(LOG, f"{number:05d}.json"), "w") as file:
            json.dump(event, file)


def unlink(path, *rest, **options) -> None:
    _keep(path)
    _unlink(path, *rest, **options)


def replace(source, target, *rest, **options) -> None:
    _keep(target)
    _replace(source, target, *rest, **options)


if TREE and LOG:
    os.fsync, os.unlink, os.replace = fsync, unlink, replace
