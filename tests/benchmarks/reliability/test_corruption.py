"""The judge of damaged files: it must know a silent wrong answer from a refused one."""

import os
import signal
import sys
import time

import pytest

from benchmarks.reliability import corruption
from benchmarks.reliability.corruption import KINDS, Target, cases, damage, run_cases, table

pytestmark = pytest.mark.slow  # whole commands, several times


def target(folder, ask):
    (folder / "a.txt").write_bytes(bytes(range(200)))
    (folder / "b.txt").write_bytes(bytes(range(100, 200)))
    return Target("files", folder, ("a.txt", "b.txt"), ask)


def careful(place):
    found = {path.name: path.read_bytes() for path in place.iterdir()}
    if found != {"a.txt": bytes(range(200)), "b.txt": bytes(range(100, 200))}:
        sys.stderr.write("mmcc: damaged\n      Copy it again.\n")
        return 3
    print("the answer")
    return 0


def hurried(place):
    """Notices nothing, and has more than one way not to end well."""
    path = place / "a.txt"
    if not path.is_file():
        os.kill(os.getpid(), signal.SIGKILL)
    content = path.read_bytes()
    if not content:
        time.sleep(60)
    if len(content) > 200:
        raise ValueError
    print(content)
    return 0


def test_every_case_changes_its_file_and_is_the_same_every_time(tmp_path):
    files = target(tmp_path, careful)
    made = list(cases([files]))
    assert made == list(cases([files])) and {case.kind for case in made} == {*KINDS} and len(made) > 40
    assert 0 < len(list(cases([files], share=0.3))) < len(made) / 2
    for case in made:
        content = (tmp_path / case.file).read_bytes()
        changed = corruption._damaged(case)
        assert changed != content and changed == corruption._damaged(case)
        if case.kind == "flip":
            assert sum((a ^ b).bit_count() for a, b in zip(content, changed, strict=True)) == 1
        if case.kind == "move":
            assert sorted(changed) == sorted(content)
    assert damage(b"", "flip", 0, None, 0) == b""


def test_the_judge_tells_what_is_silent_from_what_is_refused(tmp_path, monkeypatch):
    found = run_cases([target(tmp_path, careful)], share=0.5)
    assert {outcome for outcome, _ in found.values()} == {"refused"}
    monkeypatch.setattr(corruption, "PATIENCE", 4.0)  # others must answer within it on a busy machine, too
    found = run_cases([target(tmp_path, hurried)])
    by_kind = {(case.file, case.kind, case.number): outcome for case, (outcome, _) in found.items()}
    assert by_kind["a.txt", "flip", 0] == by_kind["a.txt", "swap", 0] == by_kind["a.txt", "cut", 1] == "silent"
    assert by_kind["a.txt", "delete", 0] == "signal" and by_kind["a.txt", "cut", 0] == "hang"
    assert by_kind["a.txt", "append", 0] == "exit 1"
    assert {outcome for (file, _, _), outcome in by_kind.items() if file == "b.txt"} == {"same"}
    assert "silent" in table(found) and str(len(found)) in table(found)


def test_an_answer_that_changes_by_itself_cannot_be_compared(tmp_path):
    with pytest.raises(RuntimeError, match="no answer to compare with"):
        run_cases([target(tmp_path, lambda place: print(time.monotonic_ns()) or 0)])
