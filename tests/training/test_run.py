import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.errors import InputError
from mmcc.training.checkpoints import Checkpoints
from mmcc.training.config import Config, load_config
from mmcc.training.run import Metrics, check_run, keep_lines_until, open_run, read_metrics


@contextmanager
def saved_in(run, config, corpus, resume=False):
    """A run that gets as far as its first checkpoint."""
    with open_run(run, config, corpus, resume=resume):
        Checkpoints(run).path(1).mkdir(parents=True, exist_ok=True)
        yield


def written_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_run_starts_in_a_new_folder(tmp_path, vectors_corpus):
    with saved_in(tmp_path / "runs" / "one", load_config("paper"), vectors_corpus):
        assert Config.from_yaml(tmp_path / "runs" / "one" / "config.yaml") == load_config("paper")
        assert (tmp_path / "runs" / "one" / "corpus.json").is_file()


def test_a_run_with_a_checkpoint_is_not_written_over(tmp_path, vectors_corpus):
    with saved_in(tmp_path, Config(), vectors_corpus):
        pass
    with pytest.raises(InputError, match="already contains a run") as caught:
        check_run(tmp_path, Config(), resume=False)
    assert "--resume" in caught.value.remedy


@pytest.mark.parametrize("theirs", ["thesis.tex", "config.yaml"])
def test_someone_elses_folder_is_left_alone(tmp_path, vectors_corpus, theirs):
    (tmp_path / theirs).write_text("x")
    with pytest.raises(InputError, match="neither empty nor a run"):
        check_run(tmp_path, Config(), resume=False)
    with (
        pytest.raises(InputError, match="neither empty nor a run"),
        open_run(tmp_path, Config(), vectors_corpus, resume=False),
    ):
        pass
    assert (tmp_path / theirs).read_text() == "x"
    with pytest.raises(InputError, match="is not a folder"):
        check_run(tmp_path / theirs, Config(), resume=False)


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_without_a_checkpoint_starts_over(tmp_path, vectors_corpus, resume):
    """Whatever a killed process has left there, and whatever its settings were."""
    run = tmp_path / "run"
    with open_run(run, load_config("paper"), vectors_corpus, resume=False):
        (run / "vocabulary.txt").write_text("of other videos")
        (run / "metrics.jsonl").write_text("")
        (run / "checkpoints" / ".tmp-00000001").mkdir(parents=True)
        (run / ".tmp-config.yaml").write_text("cut off")
    assert not check_run(run, Config(), resume=resume)
    with open_run(run, Config(), vectors_corpus, resume=resume):
        assert Config.from_yaml(run / "config.yaml") == Config()
        assert written_in(run) == [".lock", "config.yaml", "corpus.json"]


@pytest.mark.parametrize("failure", [InputError("a", "b"), KeyboardInterrupt(), SystemExit()])
def test_a_run_that_fails_at_once_leaves_nothing(tmp_path, vectors_corpus, failure):
    with pytest.raises(type(failure)), open_run(tmp_path / "a" / "b", Config(), vectors_corpus, resume=False):
        (tmp_path / "a" / "b" / "vocabulary.txt").write_text("words")
        raise failure
    assert written_in(tmp_path) == []


@pytest.mark.parametrize("removed", range(7))
def test_a_run_whose_removal_was_cut_short_starts_over(tmp_path, vectors_corpus, monkeypatch, removed):
    left, really_unlink = iter(range(removed)), Path.unlink

    def unlink(path, missing_ok=False):
        if next(left, None) is None:
            raise KeyboardInterrupt  # once more
        really_unlink(path, missing_ok)

    with pytest.raises(KeyboardInterrupt), open_run(tmp_path / "run", Config(), vectors_corpus, resume=False):
        (tmp_path / "run" / "vocabulary.txt").write_text("words")
        monkeypatch.setattr(Path, "unlink", unlink)
        raise KeyboardInterrupt
    monkeypatch.undo()
    assert not check_run(tmp_path / "run", Config(), resume=False)


def test_a_folder_that_was_there_stays(tmp_path, vectors_corpus):
    (tmp_path / "mine").mkdir()
    with pytest.raises(OSError), open_run(tmp_path / "mine" / "run", Config(), vectors_corpus, resume=False):
        raise OSError
    with pytest.raises(OSError), open_run(tmp_path / "mine", Config(), vectors_corpus, resume=False):
        raise OSError
    assert written_in(tmp_path) == ["mine"]


def test_what_a_failed_run_has_to_show_stays(tmp_path, vectors_corpus):
    with pytest.raises(OSError), saved_in(tmp_path / "saved", Config(), vectors_corpus):
        raise OSError
    with pytest.raises(OSError), open_run(tmp_path / "diverged", Config(), vectors_corpus, resume=False):
        (tmp_path / "diverged" / "metrics.jsonl").write_text('{"step": 1}\n')
        raise OSError
    assert {"saved/checkpoints/00000001", "diverged/metrics.jsonl"} <= set(written_in(tmp_path))


def test_resuming_needs_the_same_settings(tmp_path, vectors_corpus):
    with saved_in(tmp_path, load_config("paper"), vectors_corpus):
        pass
    with pytest.raises(InputError, match=r"was started with train.lr = 0.0001, not 0.001"):
        check_run(tmp_path, load_config("paper", ["train.lr=1e-3"]), resume=True)
    longer = load_config("paper", ["train.epochs=200", "train.workers=3"])
    with saved_in(tmp_path, longer, vectors_corpus, resume=True):
        assert Config.from_yaml(tmp_path / "config.yaml") == longer


def test_metrics_are_one_json_object_per_line(tmp_path):
    metrics = Metrics(tmp_path, 0)
    metrics.write(1, "train", {"loss": 2.5, "odd": float("nan"), "nothing": None})
    metrics.write(2, "validation", {"score": 50.0})
    metrics.close()
    assert read_metrics(tmp_path) == [
        {"step": 1, "part": "train", "loss": 2.5, "odd": None, "nothing": None},
        {"step": 2, "part": "validation", "score": 50.0},
    ]


@given(
    st.lists(st.integers(0, 20), max_size=12), st.integers(0, 20), st.sampled_from(["", '{"step": 3, "pa', "\x00\x00"])
)
def test_lines_after_the_checkpoint_are_dropped(tmp_path_factory, steps, until, torn):
    path = tmp_path_factory.mktemp("run") / "metrics.jsonl"
    path.write_text("".join(json.dumps({"step": step}) + "\n" for step in sorted(steps)) + torn)
    keep_lines_until(path, until)
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == sorted(
        s for s in steps if s <= until
    )
    assert path.read_text() == "" or path.read_text().endswith("\n")


def test_a_run_without_metrics_has_none_to_drop(tmp_path):
    keep_lines_until(tmp_path / "metrics.jsonl", 3)
    assert not (tmp_path / "metrics.jsonl").exists()


@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe\x00garbage", b"[" * 100_000, b'{"step": 1e999}', b'{"step": "3"}', b"[3]\n7"]
)
def test_garbage_at_the_end_of_the_metrics_is_left_out(tmp_path, garbage):
    sound = [{"step": 1, "part": "train", "loss": 2.0}, {"step": 2, "part": "train", "loss": None}]
    text = "".join(json.dumps(line) + "\n" for line in sound)
    (tmp_path / "metrics.jsonl").write_bytes(text.encode() + garbage)
    assert read_metrics(tmp_path) == sound
    keep_lines_until(tmp_path / "metrics.jsonl", 2)
    assert (tmp_path / "metrics.jsonl").read_text() == text


@pytest.mark.parametrize("left", [[".tmp-corpus.json"], [".lock", ".tmp-corpus.json"], ["checkpoints/.tmp-00000001/a"]])
def test_a_run_killed_before_its_first_rename_does_not_block_the_next(tmp_path, vectors_corpus, left):
    run = tmp_path / "run"
    for name in left:
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text("half")
    if "checkpoints" in left[0]:
        (run / "corpus.json").write_text("{}")
    with saved_in(run, Config(), vectors_corpus):
        assert not list(run.rglob(".tmp-*"))
