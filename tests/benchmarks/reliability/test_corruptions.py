"""Damage to a corpus at rest: never a wrong answer, never the end of the program; and the benchmark would notice."""

import faulthandler
import os
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.reliability import corruptions
from benchmarks.reliability.corruptions import REFUSED, Case, answers, cases, files_of, judged, make_corpus, outcomes
from mmcc.corpus import Corpus
from tests.corpus.first_version import in_first_version

pytestmark = pytest.mark.slow  # hundreds of damages


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("damaged"), "--size", 24, "--encoding", "jpeg")


def counted(corpus: Path, count: int) -> Counter[str]:
    damaged = list(cases(files_of(corpus), count, seed=1))
    found = list(outcomes(corpus, damaged))
    assert len(found) == count
    for case, (outcome, said) in zip(damaged, found, strict=True):
        assert outcome not in ("exit 1", "signal", "hang"), (case.kind, [path.name for path in case.changes], said)
    return Counter(outcome for outcome, _ in found)


def test_no_damage_is_answered_from_wrongly(corpus):
    found = counted(corpus, 240)
    assert found["silent"] == 0 and found["refused"] > 200 and found["same"] > 0
    assert Corpus.open(corpus).ids == ["0", "1", "2", "3"], "it is as it was"


def test_an_old_corpus_may_answer_wrongly_but_ends_no_program(corpus, tmp_path):
    old = in_first_version(corpus, tmp_path / "old")
    found = counted(old, 240)
    assert found["refused"] > 60


def test_every_kind_of_damage_changes_its_files(corpus):
    files = files_of(corpus)
    damaged = list(cases(files, 240, seed=3))
    assert {case.kind for case in damaged} >= {"bit", "zeros", "cut", "swap", "remove"}
    changed = [case for case in damaged if any(files[path] != content for path, content in case.changes.items())]
    assert len(changed) > 200, "zeros may meet zeros"
    sorts = {path.parent.name if path.suffix == ".arrow" else path.name for case in damaged for path in case.changes}
    assert sorts == {"manifest.json", "encoder.json", "index", "shards"}


def test_answers_are_judged_one_by_one():
    before = {"a": "1", "b": "2"}
    assert judged(before, before) == "same"
    assert judged(before, {"a": "1", "b": REFUSED}) == "refused"
    assert judged(before, {"corpus": REFUSED}) == "refused"
    assert judged(before, {"a": "3", "b": REFUSED}) == "silent"
    assert judged(before, {"a": "1"}) == "silent", "something is not told any more, and nobody says why"
    assert judged(before, {**before, "c": "3"}) == "silent"


def test_wrong_answers_errors_signals_and_hangs_are_noticed(tmp_path, monkeypatch):
    def answer(folder: Path) -> dict[str, str]:
        match (folder / "file").read_text():
            case "raise":
                raise KeyError("id")
            case "die":
                faulthandler.disable()
                os.kill(os.getpid(), signal.SIGSEGV)
            case "sleep":
                time.sleep(60)
            case content:
                return {"a": content}
        return {}

    monkeypatch.setattr(corruptions, "answers", answer)
    path = tmp_path / "file"
    path.write_text("right")
    damaged = [Case("", {path: content}) for content in (b"right", b"wrong", b"raise", b"die", b"sleep", b"right")]
    found = list(outcomes(tmp_path, damaged, seconds=4.0))
    assert [outcome for outcome, _ in found] == ["same", "silent", "exit 1", "signal", "hang", "same"]
    assert found[2][1] == "KeyError: 'id'" and found[3][1] == str(int(signal.SIGSEGV))


def test_everything_is_asked_for(corpus, tmp_path):
    told = answers(corpus)
    assert REFUSED not in told.values()
    assert set(told) == {"inspect", "corpus", "encoders", "colours", "lengths"} | {
        f"{name}/{video}" for name in ("", "colours", "lengths") for video in ("ids", *"0123")
    }
    copy = Path(shutil.copytree(corpus, tmp_path / "c"))
    assert {what: told[what] for what in told if "/" in what} == {
        what: value for what, value in answers(copy).items() if "/" in what
    }
