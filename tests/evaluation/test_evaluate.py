"""`mmcc evaluate`: a run, a checkpoint, a model by name; corpora that lack something."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding, register_adapter
from mmcc.evaluation.evaluate import evaluate
from mmcc.evaluation.runs import find_checkpoint
from tests.reproduce.tiny_reproduction import own_videos
from tests.sealed import reseal


def test_all_there_is_to_measure_of_a_run(run_of, steps_corpus):
    found = evaluate(run_of("mmcc+"), steps_corpus)
    assert found.model == "mmcc+" and found.skipped == {}
    assert list(found.results) == [
        *("cycle", "anticipation", "unshuffling", "arrow", "transitions", "neurons"),
        *("transfer-anticipation", "transfer-unshuffling"),
    ]
    assert 0 <= found.results["cycle"].figures["cycle_rank"].mean <= 100
    assert {"recall@5", "recall@5/current_removed"} <= found.results["anticipation"].figures.keys()
    assert {"kendall_tau", "kendall_tau/text", "kendall_tau/all_pairs"} <= found.results["unshuffling"].figures.keys()
    accuracy = {name for name in found.results["arrow"].figures if name.startswith("accuracy")}
    assert accuracy == {"accuracy/mmcc+/at_random", "accuracy/mmcc+/own_choice"}
    primary = set(found.results["anticipation"].figures["recall@1"].videos)
    related = set(found.results["transfer-anticipation"].figures["recall@1"].videos)
    assert len(primary) == 9 and len(related) == 3 and not primary & related


def test_a_run_gives_what_reproduce_found_of_it(finished, run_of, steps_corpus):
    found = evaluate(run_of("tap"), steps_corpus, tasks=["anticipation"]).results["anticipation"]
    figures = finished[1].content["tables"]["table2"]["figures"]["tap"]["anticipation"]
    assert {name: figure.mean for name, figure in found.figures.items()} == pytest.approx(
        {name: content["mean"] for name, content in figures.items()}, rel=1e-6
    )


@pytest.mark.parametrize(
    ("row", "skipped"), [("cross_modal", []), ("tap", []), ("memdpc", ["cycle"]), ("random", ["cycle"])]
)
def test_what_a_model_was_not_trained_for_is_left_out(run_of, steps_corpus, row, skipped):
    source = row if row == "random" else run_of(row)
    found = evaluate(source, steps_corpus, tasks=["cycle", "transitions"])
    assert list(found.skipped) == skipped
    if not skipped:
        forward = {"future_rank", "goes_forward", "stays_in_place"} if row == "tap" else set()
        figures = {part for name in found.results["cycle"].figures for part in name.split("/")}
        assert figures - {"vision", "text", "uniform_starts"} == {
            "cross_modal_rank",
            "cross_modal_rank_steps",
            "cross_modal_rank_batch",
            *forward,
        }


def test_the_verb_prints_figures_with_chance(capsys, run_of, steps_corpus, tmp_path):
    command = ["evaluate", run_of("mmcc"), "--corpus", str(steps_corpus), "--tasks", "anticipation,unshuffling"]
    assert main([*command, "-o", str(tmp_path / "r.json")]) == 0
    out = capsys.readouterr().out
    assert "| recall@1" in out and "chance" in out and "task known" in out and "mmcc" in out
    written = json.loads((tmp_path / "r.json").read_text())
    assert written["schema"] == 1 and written["tasks"].keys() == {"anticipation", "unshuffling"}
    figure = written["tasks"]["anticipation"]["figures"]["recall@1"]
    assert len(figure["videos"]) == 9 and figure["low"] is figure["high"] is None  # too few for an interval
    assert "(9 videos) |" in out and 0 <= figure["mean"] <= 100
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == written


def test_a_checkpoint_can_be_chosen(run_of, steps_corpus):
    run = run_of("mmcc")
    last = evaluate(run, steps_corpus, tasks=["anticipation"], checkpoint="last")
    assert last.checkpoint.endswith("00000004")
    same = evaluate(last.checkpoint, steps_corpus, tasks=["anticipation"])
    assert same.results["anticipation"].to_json() == last.results["anticipation"].to_json()
    with pytest.raises(InputError, match="no checkpoint 77"):
        evaluate(run, steps_corpus, checkpoint=77)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere", "--corpus", "{corpus}"], 3, "no model is named 'nowhere'"),
        (["{run}", "--corpus", "nowhere"], 3, "not a corpus"),
        (["{run}", "--corpus", "{corpus}", "--tasks", "cooking"], 2, "no evaluation task is named 'cooking'"),
        (["{run}", "--corpus", "{corpus}", "--checkpoint", "77"], 3, "no checkpoint 77"),
        (["imagenet", "--corpus", "{corpus}"], 3, "feature vectors"),
        (["{run}", "--corpus", "{corpus}", "-o", "nowhere/r.json"], 2, "there is no folder nowhere"),
        (["{run}"], 2, "--corpus"),
    ],
)
def test_wrong_input_gets_a_line_and_a_code(capsys, run_of, steps_corpus, arguments, code, message):
    words = [word.format(corpus=steps_corpus, run=run_of("mmcc")) for word in arguments]
    try:
        given = main(["evaluate", *words])
    except SystemExit as stop:
        given = stop.code
    err = capsys.readouterr().err
    assert given == code and message in err and "Traceback" not in err


def test_a_corpus_without_steps_leaves_cycles_and_the_arrow(capsys, run_of, unlabelled):
    found = evaluate(run_of("mmcc+"), unlabelled)
    assert list(found.results) == ["cycle", "arrow"]
    assert set(found.skipped.values()) == {
        *("none of the videos has labelled steps", "the corpus has no test video of a related task"),
    }
    command = ["evaluate", run_of("mmcc+"), "--corpus", str(unlabelled), "--tasks"]
    assert main([*command, "cycle,anticipation"]) == 4  # asked for, and not had
    assert "none of the videos has labelled steps" in capsys.readouterr().out
    assert main([*command, "anticipation,transfer"]) == 3
    assert "nothing can be measured of mmcc+" in capsys.readouterr().err


def test_a_corpus_that_does_not_fit_the_model_is_named(capsys, run_of, tmp_path):
    corpus = own_videos(tmp_path, dims=144)
    for task in ("cycle", "arrow"):
        assert main(["evaluate", run_of("mmcc+"), "--corpus", str(corpus), "--tasks", task]) == 3
        assert "does not fit mmcc+" in capsys.readouterr().err


def test_a_damaged_embedding_is_named(run_of, steps_corpus):
    class Nothing:
        name, modalities, temperature, past, combine = "nothing", ("vision",), 0.1, None, None

        def embed_frames(self, frames):
            return Embedding.of(frames * np.nan)

        def future(self, node):
            return node.pi

    register_adapter("nothing", lambda corpus: Nothing())
    with pytest.raises(InputError, match="contains NaN or Inf"):
        evaluate("nothing", steps_corpus, tasks=["anticipation"])


def with_other_words(run, folder):
    """A run whose vocabulary is of another language."""
    checkpoint = find_checkpoint(Path(run)).folder
    shutil.copytree(checkpoint, folder)
    words = (folder / "vocabulary.txt").read_text().split("\n")
    (folder / "vocabulary.txt").write_text("\n".join([*words[:2], *(f"{word}ová" for word in words[2:-1]), ""]))
    return str(reseal(folder))


def test_a_run_of_another_vocabulary_is_told(capsys, run_of, steps_corpus, tmp_path):
    for row in ("mmcc+", "tap"):
        stranger = with_other_words(run_of(row), tmp_path / row)
        found = evaluate(stranger, steps_corpus, tasks=["anticipation", "unshuffling"])
        assert f"{row} knows no word of them" in found.skipped["anticipation"]
        assert found.results["unshuffling"].notes[-1] == (
            f"{row} does not know 100 % of the words said: they are not in its vocabulary"
        )
    assert main(["evaluate", stranger, "--corpus", str(steps_corpus), "--tasks", "anticipation"]) == 3
    assert "knows no word of them" in capsys.readouterr().err


def test_frames_of_another_size_are_told(pictures):
    found = evaluate("kitchen", pictures, tasks=["transitions"])
    (note,) = [note for note in found.results["transitions"].notes if "pixels" in note]
    assert note == "mmcc+ was trained on frames of 48 pixels, and these have 32: ingest the videos with --size 48"


def test_imagenet_weights_are_named_by_a_file(capsys, run_of, pictures, pictures_as_they_are, resnet, tmp_path):
    command = ["--corpus", str(pictures), "--tasks", "transitions", "--imagenet"]
    assert main(["evaluate", "imagenet", *command, str(resnet(0))]) == 0
    assert "imagenet on" in capsys.readouterr().out
    assert main(["evaluate", "imagenet", *command, str(tmp_path / "none.safetensors")]) == 3
    assert "none.safetensors: no such file" in capsys.readouterr().err
    assert main(["evaluate", run_of("mmcc"), *command, str(resnet(0))]) == 2
    assert "--imagenet is for the model imagenet" in capsys.readouterr().err
