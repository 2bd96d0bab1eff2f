"""`--import my.module`: what a module registers is trained, stored with the run, and imported again."""

import json
import re
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from tests.forked import forked, forked_code, load_torch

MODULE = """
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from mmcc.models.encoders import FrameEncoderSettings, register_frame_encoder
from mmcc.objectives.losses import Losses
from mmcc.objectives.spec import FUTURE, ObjectiveConfig, ObjectiveSpec, register_objective


@dataclass(frozen=True)
class StretchSettings(FrameEncoderSettings):
    reads_features: ClassVar[bool] = True
    name: str = "stretch"
    factor: float = 1.0
    feature_dims: int = 0


@register_frame_encoder(StretchSettings)
class Stretch(nn.Module):
    def __init__(self, settings: StretchSettings, dims: int) -> None:
        super().__init__()
        self.factor, self.layer = settings.factor, nn.Linear(settings.feature_dims, dims)

    def forward(self, frames):
        return self.factor * self.layer(frames)


@dataclass(frozen=True)
class NextFrameConfig(ObjectiveConfig):
    name: str = "next-frame"
    weight: float = 1.0


def next_frame(config: NextFrameConfig):
    def loss(model, nodes, batch, weights, rng):
        frames = nodes["vision"]
        pairs = frames.valid[:, 1:] & frames.valid[:, :-1]
        cosine = (model.future(frames.z[:, :-1]) * frames.pi[:, 1:]).sum(dim=-1)
        total = -config.weight * (cosine * pairs).sum() / pairs.sum().clamp(min=1)
        return Losses(total, {"cosine": -total.detach()})

    return loss


register_objective(
    ObjectiveSpec(
        NextFrameConfig,
        label="Next frame",
        purpose="to predict the next frame",
        loss=next_frame,
        skills=frozenset({FUTURE}),
    )
)
"""
SMALL = "--model.dims 8 --train.batch_size 2 --train.workers 0 --train.steps 2 --train.validation_segments 2"


def mmcc(folder, *words):
    """A separate process, like a user's: its imports do not affect other tests."""
    return forked(lambda: sys.exit(main(list(map(str, words)))), cwd=folder)


@pytest.fixture(scope="module")
def trained(vectors_path, tmp_path_factory):
    load_torch()
    folder = tmp_path_factory.mktemp("extension")
    (folder / "plugins").mkdir()
    (folder / "plugins" / "toy.py").write_text(textwrap.dedent(MODULE))
    own = "--import plugins.toy --objective.name next-frame --model.frame_encoder stretch"
    done = mmcc(
        folder, "train", vectors_path, "-o", "run", *own.split(), "--model.frame_encoder.factor", 2, *SMALL.split()
    )
    assert done.code == 0, done.err
    return folder


def test_the_run_says_what_it_imported(trained):
    config = yaml.safe_load((trained / "run" / "config.yaml").read_text())
    assert config["imports"] == ["plugins.toy"]
    assert config["objective"] == {"name": "next-frame", "weight": 1.0}
    assert config["model"]["frame_encoder"] == {"name": "stretch", "factor": 2.0, "feature_dims": 256}


def test_it_is_measured_by_its_skills_alone(trained, vectors_path):
    """It was trained to predict the future: neither a past, nor a state, nor text may take part."""
    tasks = "cycle,anticipation,transitions,unshuffling"
    done = mmcc(trained, "evaluate", "run", "--corpus", vectors_path, "--tasks", tasks, "--json")
    assert done.code == 4, done.err
    found = json.loads(done.out)
    assert found["model"] == "next-frame" and "does not embed text" in found["skipped"]["cycle"]
    assert {"kendall_tau/text", "kendall_tau/step_text"}.isdisjoint(found["tasks"]["unshuffling"]["figures"])
    check = (
        "from mmcc.evaluation.adapters import open_adapter; adapter = open_adapter('run'); "
        "print(adapter.skills, adapter.past, adapter.combine, adapter.modalities)"
    )
    asked = forked_code(check, cwd=trained)
    assert asked.out == "frozenset({'future'}) None None ('vision',)\n", asked.err


def test_it_is_resumed_without_naming_the_module_again(trained, vectors_path):
    done = mmcc(trained, "train", vectors_path, "-o", "run", "--resume", "--train.steps", 3)
    assert done.code == 0 and "3 steps" in done.out, done.err


def test_a_module_that_is_missing_is_named_with_the_run(trained, vectors_path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", str(trained / "run"), "--corpus", str(vectors_path)]) == 3
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    assert "config.yaml: needs the module plugins.toy" in printed and "run from the folder" in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model.frame_encoder", "stretch"], "no frame encoder is named 'stretch' (known: efficientnet-lite0, "),
        (["--objective.name", "next-frame"], "no objective is named 'next-frame' (known: cross_modal, memdpc,"),
        (["--import", "plugins.nothing"], "--import: plugins.nothing (No module named 'plugins'"),
        (["--train.lrr", "1"], "there is no setting 'train.lrr'"),
    ],
)
def test_an_unregistered_name_is_a_usage_error(vectors_path, tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert main(["train", str(vectors_path), "-o", "run", *words]) == 2
    printed = capsys.readouterr().err
    assert said in printed and "Traceback" not in printed
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("broken", ["1 / 0", "import mmcc.no_such_module"])
def test_a_module_that_fails_to_import_is_not_our_bug(vectors_path, tmp_path, monkeypatch, capsys, broken):
    (tmp_path / "broken_extension.py").write_text(broken)
    monkeypatch.chdir(tmp_path)
    assert main(["train", str(vectors_path), "-o", "run", "--import", "broken_extension"]) == 2
    told = capsys.readouterr().err
    assert "--import: broken_extension" in told and "Traceback" not in told


def test_a_run_trained_from_python_knows_its_modules(trained, vectors_path):
    script = (
        "import sys; sys.path.insert(0, '')\n"  # as `python -c` does
        "import plugins.toy, mmcc\n"
        "small = ['model.dims=8', 'train.batch_size=2', 'train.workers=0', 'train.steps=1']\n"
        "own = ['objective.name=next-frame', 'model.frame_encoder=stretch']\n"
        f"mmcc.train(None, {str(vectors_path)!r}, 'from-python', overrides=[*small, *own])\n"
        "print(mmcc.load_config('from-python/config.yaml').imports)"
    )
    done = forked_code(script, cwd=trained)
    assert done.out == "('plugins.toy',)\n", done.err


DOCUMENT = Path(__file__).parents[1] / "docs" / "extending.md"
EXAMPLES = dict(
    re.findall(
        r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL | re.MULTILINE
    )
)
# One new process for all of it, as a user's commands one after another; it prints what each of them ended with.
SESSION = """
import sys
from mmcc.cli.main import main

corpus, source = sys.argv[1:]
small = "--anyway --model.dims 8 --train.batch_size 2 --train.workers 0 --train.steps 2 --train.validation_segments 2"
own = "--import my.frame --import my.text --import my.objective --objective.name next-frame --objective.margin 0.2"
own += " --model.frame_encoder average-colour --model.frame_encoder.power 2 --model.text_encoder mean-of-words"
print(main(["train", corpus, "-o", "run", *own.split(), *small.split()]), file=sys.stderr)
print(main(["evaluate", "run", "--corpus", corpus, "--import", "my.task", "--tasks", "steadiness"]), file=sys.stderr)
print(main(["ingest", source, "-o", "mine.corpus", "--size", "32", "--import", "my.dataset"]), file=sys.stderr)
wanted = ["--import", "my.model", "--tasks", "steadiness"]
print(main(["evaluate", "brightness", "--corpus", corpus, *wanted]), file=sys.stderr)
"""


def test_every_example_of_the_document_is_short():
    assert len(EXAMPLES) == 6
    for title, code in EXAMPLES.items():
        assert len(code.splitlines()) <= 30, title


def test_the_examples_of_the_document_work_from_the_command_line(kitchen_footage, tmp_path, make_clip):
    (tmp_path / "my").mkdir()
    for name, code in zip(("frame", "text", "objective", "task", "dataset", "model"), EXAMPLES.values(), strict=True):
        (tmp_path / "my" / f"{name}.py").write_text(code)
    clip = make_clip("set/soup.mp4", seconds=4)
    content = {
        "tasks": [{"id": "7", "title": "Make soup", "steps": ["cut leek", "boil water"]}],
        "videos": [{"id": "soup", "file": "soup.mp4", "task": "7", "clips": [[1, 0.0, 1.5], [2, 2.0, 4.0]]}],
    }
    (clip.parent / "my-set.json").write_text(json.dumps(content))
    done = forked_code(SESSION, kitchen_footage.corpus, clip.parent, cwd=tmp_path)
    assert [line for line in done.err.splitlines() if line.isdecimal()] == ["0"] * 4, done.err
    assert "next-frame" in done.out and "brightness on" in done.out and done.out.count("| cosine |") == 2
    video = Corpus.open(tmp_path / "mine.corpus")["soup"]
    assert video.tasks == ["7"] and video.steps == [(1, 0.0, 1.5), (2, 2.0, 4.0)] and len(video.times) == 4
