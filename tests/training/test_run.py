import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.errors import InputError
from mmcc.training.config import Config, load_config
from mmcc.training.run import Metrics, keep_lines_until, open_run, read_metrics


def test_a_run_starts_in_a_new_folder(tmp_path):
    open_run(tmp_path / "runs" / "one", load_config("paper"), resume=False)
    assert Config.from_yaml(tmp_path / "runs" / "one" / "config.yaml") == load_config("paper")


def test_a_run_is_not_written_over(tmp_path):
    open_run(tmp_path, Config(), resume=False)
    with pytest.raises(InputError, match="already contains a run") as caught:
        open_run(tmp_path, Config(), resume=False)
    assert "--resume" in caught.value.remedy


def test_someone_elses_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="neither empty nor a run"):
        open_run(tmp_path, Config(), resume=False)
    with pytest.raises(InputError, match="is not a folder"):
        open_run(tmp_path / "thesis.tex", Config(), resume=False)


def test_resuming_a_run_that_never_started_starts_it(tmp_path):
    open_run(tmp_path / "new", Config(), resume=True)
    assert (tmp_path / "new" / "config.yaml").is_file()


def test_resuming_needs_the_same_settings(tmp_path):
    open_run(tmp_path, load_config("paper"), resume=False)
    with pytest.raises(InputError, match=r"was started with train.lr = 0.0001, not 0.001"):
        open_run(tmp_path, load_config("paper", ["train.lr=1e-3"]), resume=True)
    longer = load_config("paper", ["train.epochs=200", "train.workers=3"])
    open_run(tmp_path, longer, resume=True)
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
