"""Trained runs as adapters, by their skills; and what is wrong with a folder."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from mmcc.cli.main import main
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding, build_adapter, memory_of, register_adapter
from mmcc.evaluation.adapters import TrainedAdapter, Words, open_adapter
from mmcc.evaluation.runs import find_checkpoint
from mmcc.models.anticipator import Anticipator
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.mlp import unit_norm
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT, VISION
from mmcc.objectives.spec import FUTURE, SKILLS, TEXT_SKILL
from tests.sealed import reseal

FRAMES = torch.randn(5, 256, generator=torch.Generator().manual_seed(0))
TEXTS = ["crack the egg", "pour milk", "whisk"]


def train(corpus, run, *options):
    small = "--model.dims 8 --train.batch_size 2 --train.workers 0 --train.steps 2 --train.validation_segments 2"
    often = "--train.checkpoint_every 1 --train.validate_every 1 --data.frame_rates [1.0]"
    assert main(["train", str(corpus.path), "-o", str(run), *small.split(), *often.split(), *options]) == 0
    return run


@pytest.fixture(scope="module")
def runs(vectors_corpus, tmp_path_factory):
    """A run of each objective, of two steps."""
    folder = tmp_path_factory.mktemp("runs")
    teacher = train(vectors_corpus, folder / "cross_modal", "--objective.name", "cross_modal")
    begun = ("--train.init", str(teacher))
    return {
        "cross_modal": teacher,
        "mmcc+": train(vectors_corpus, folder / "plus"),
        "ra": train(vectors_corpus, folder / "ra", "--objective.name", "representation_anticipation", *begun),
        "tap": train(vectors_corpus, folder / "tap", "--objective.name", "time_agnostic", *begun),
        "memdpc": train(vectors_corpus, folder / "memdpc", "--objective.name", "memdpc", "--objective.slots", "4"),
    }


@pytest.mark.parametrize(
    "name, past, state",
    [
        ("cross_modal", False, False),
        ("mmcc+", True, True),
        ("ra", False, False),
        ("tap", False, False),
        ("memdpc", True, False),
    ],
)
def test_an_adapter_does_what_its_objective_trained(runs, name, past, state):
    adapter = open_adapter(runs[name])
    assert adapter.name == name and adapter.temperature == 0.1 and adapter.walks_cycles == (name == "mmcc+")
    assert (adapter.past is not None, adapter.combine is not None) == (past, state)
    node = adapter.embed_frames(FRAMES)
    spaces = [node.pi, adapter.future(node), *([adapter.past(node)] if past else [])]
    if TEXT in adapter.modalities:
        said = adapter.embed_texts(TEXTS)
        assert said.z.shape == (3, 8)
        spaces.append(said.pi)
    assert (name == "memdpc") == (adapter.modalities == (VISION,))
    assert node.z.shape == (5, 8)
    for space in spaces:
        assert torch.allclose(space.norm(dim=-1), torch.ones(len(space)), atol=1e-5)


@torch.inference_mode()
def test_mmcc_predicts_as_its_model_does(runs):
    adapter = open_adapter(runs["mmcc+"])
    model = MMCC.from_pretrained(find_checkpoint(runs["mmcc+"]).folder)
    node = adapter.embed_frames(FRAMES)
    z = model.embed_frames(FRAMES)
    assert torch.equal(node.z, z) and torch.equal(node.pi, model.project(z, VISION))
    assert torch.equal(adapter.future(node), model.future(z)) and torch.equal(adapter.past(node), model.past(z))
    words = torch.from_numpy(Vocabulary.load(runs["mmcc+"] / "vocabulary.txt").encode(TEXTS, 20))
    said = adapter.embed_texts(TEXTS)
    assert torch.equal(said.pi, model.project(model.embed_words(words), TEXT))
    state = adapter.combine(Embedding(node.z[:3], node.pi[:3]), said)
    assert torch.equal(state.z, model.combine(z[:3], said.z)) and torch.equal(state.pi, node.pi[:3])


def test_what_predicts_nothing_stays_in_the_present(runs):
    adapter = open_adapter(runs["cross_modal"])
    node = adapter.embed_frames(FRAMES)
    assert torch.equal(adapter.future(node), node.pi)


@torch.inference_mode()
def test_an_anticipator_sees_by_its_own_encoder_and_retrieves_in_the_frozen_space():
    torch.manual_seed(0)
    model = Anticipator(ModelConfig(dims=8, frame_encoder=FeatureSettings(feature_dims=256)), 6)
    words = Words(Vocabulary(["egg", "milk", "pour", "crack"]))
    adapter = TrainedAdapter(model, frozenset({TEXT_SKILL, FUTURE}), words, name="tap")
    node, said = adapter.embed_frames(FRAMES), adapter.embed_texts(TEXTS)
    target = model.target
    assert torch.equal(node.z, model.model.embed_frames(FRAMES))
    assert torch.equal(node.pi, target.project(target.embed_frames(FRAMES), VISION))
    assert torch.equal(said.z, model.model.embed_words(words(TEXTS)))
    assert torch.equal(said.pi, target.project(target.embed_words(words(TEXTS)), TEXT))
    assert torch.equal(adapter.future(node), model.model.predictors.future(node.z))
    assert not torch.allclose(node.z, target.embed_frames(FRAMES))


def test_a_model_that_reads_needs_its_words():
    model = MMCC(ModelConfig(dims=8, frame_encoder=FeatureSettings(feature_dims=256)), 6)
    with pytest.raises(ValueError, match="needs its words"):
        TrainedAdapter(model, SKILLS, name="mmcc")
    blind = TrainedAdapter(model, frozenset({FUTURE}), name="future only")
    assert blind.modalities == (VISION,) and blind.past is None and blind.combine is None and not blind.knows("egg")
    node = blind.embed_frames(FRAMES)
    with torch.inference_mode():
        assert torch.equal(blind.future(node), model.future(node.z))


def test_the_past_of_memdpc_is_not_its_future(runs):
    adapter = open_adapter(runs["memdpc"])
    node = adapter.embed_frames(FRAMES)
    assert torch.equal(node.pi, unit_norm(node.z))
    assert not torch.allclose(adapter.future(node), adapter.past(node))


def test_the_paper_has_no_plus(runs, tmp_path):
    run = shutil.copytree(runs["mmcc+"], tmp_path / "run")
    settings = find_checkpoint(run).folder / "config.yaml"
    text = settings.read_text()
    off = re.sub(r"(leads|arrives|contrast): [0-9.]+", r"\1: 0.0", text)
    assert off != text
    settings.write_text(off)
    reseal(settings.parent)
    assert open_adapter(run).name == "mmcc"
    settings.write_text(
        text.replace("p_unimodal: 0.5", "p_unimodal: 1.0").replace("temperature: 0.1", "temperature: 0.2")
    )
    reseal(settings.parent)
    assert open_adapter(run).combine is None  # nothing has trained f
    assert open_adapter(run).temperature == 0.2


def test_only_what_was_trained_to_remember_does(vectors_corpus, runs, tmp_path):
    assert memory_of(open_adapter(runs["mmcc+"])) is None
    remembers = open_adapter(train(vectors_corpus, tmp_path / "memory", "--model.memory", "true"))
    node = remembers.embed_frames(FRAMES)
    before = torch.ones_like(node.z)
    state = memory_of(remembers)(node, before)
    with torch.inference_mode():
        assert torch.equal(state.z, remembers.model.remember(node.z, before)) and torch.equal(state.pi, node.pi)
    assert not torch.allclose(remembers.future(state), remembers.future(node))
    never = ("--model.memory", "true", "--objective.direction.p_memory", "0")
    assert memory_of(open_adapter(train(vectors_corpus, tmp_path / "never", *never))) is None
    teacher = train(vectors_corpus, tmp_path / "other", "--model.memory", "true", "--objective.name", "cross_modal")
    assert memory_of(open_adapter(teacher)) is None


def test_best_last_or_a_step(runs, tmp_path):
    run = shutil.copytree(runs["mmcc+"], tmp_path / "run")
    assert find_checkpoint(run, "last").folder.name == "00000002"
    assert find_checkpoint(run, 1).folder.name == "00000001"
    state = run / "checkpoints" / "00000002" / "training_state.json"
    progress = json.loads(state.read_text())
    state.write_text(json.dumps(progress | {"best_step": 1}))
    reseal(state.parent)
    assert find_checkpoint(run).folder.name == "00000001"
    state.write_text(json.dumps(progress | {"best_step": 0}))  # never validated
    reseal(state.parent)
    assert find_checkpoint(run).folder.name == "00000002"
    assert find_checkpoint(run / "checkpoints" / "00000001").folder.name == "00000001"


@pytest.mark.parametrize("which", [7, "worst"])
def test_a_checkpoint_that_is_not_there_is_told_with_those_that_are(runs, which):
    with pytest.raises(InputError, match=r"Choose best, last or a step: 1, 2\."):
        open_adapter(runs["mmcc+"], checkpoint=which)


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_adapter(tmp_path / "nowhere")
    with pytest.raises(InputError, match="neither a run nor a checkpoint"):
        open_adapter(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(InputError, match="no checkpoint yet"):
        open_adapter(tmp_path)


def damage(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("vocabulary.txt", "<padding>\n<unknown>\negg\n", "has 3 words, but its model was trained with"),
        ("vocabulary.txt", "egg\n", "is not a vocabulary"),
        ("config.yaml", "a: [", "cannot be read"),
        ("config.yaml", "text", "contains no settings"),
        ("config.yaml", "imports: [no.such.module]", "needs the module no.such.module"),
        ("config.json", "{}", "no model type is named "),
        ("model.safetensors", "", "not a readable .safetensors"),
    ],
)
def test_a_damaged_checkpoint_is_told(runs, tmp_path, name, content, told):
    folder = shutil.copytree(find_checkpoint(runs["mmcc+"]).folder, tmp_path / "checkpoint")
    damage(folder, name, content)
    with pytest.raises(InputError, match="has a wrong checksum: it is damaged") as error:
        open_adapter(folder)
    assert error.value.path == str(folder / name)
    reseal(folder)  # wrong from the beginning
    with pytest.raises(InputError, match=told) as error:
        open_adapter(folder)
    assert name in error.value.path


def test_a_damaged_state_of_training_hides_only_which_is_best(runs, tmp_path):
    run = shutil.copytree(runs["mmcc+"], tmp_path / "run")
    damage(run / "checkpoints" / "00000002", "training_state.json", "{")
    with pytest.raises(InputError, match="Name the checkpoint"):
        open_adapter(run)
    assert open_adapter(run, checkpoint="last").name == "mmcc+"


def test_a_checkpoint_that_is_gone_is_missed(runs, tmp_path):
    run = shutil.copytree(runs["mmcc+"], tmp_path / "run")
    shutil.rmtree(run / "checkpoints" / "00000002")
    for which in ("best", "last"):
        with pytest.raises(InputError, match="00000002: is missing") as error:
            open_adapter(run, checkpoint=which)
        assert "name another checkpoint: 1." in error.value.remedy
    assert open_adapter(run, checkpoint=1).name == "mmcc+"
    (run / "checkpoints.json").unlink()  # as of a run that is older than the list
    assert find_checkpoint(run, "last").folder.name == "00000001"
    (run / "checkpoints.json").write_text("[")
    with pytest.raises(InputError, match=r"checkpoints\.json: cannot be read"):
        find_checkpoint(run)


def test_a_checkpoint_in_the_place_of_another_is_refused(runs, tmp_path):
    run = shutil.copytree(runs["mmcc+"], tmp_path / "run")
    first, second = (run / "checkpoints" / name for name in ("00000001", "00000002"))
    second.rename(tmp_path / "second")
    first.rename(second)
    with pytest.raises(InputError, match="is that of another checkpoint"):
        open_adapter(run)
    with pytest.raises(InputError, match="is that of another checkpoint"):
        open_adapter(second)
    assert open_adapter(tmp_path / "second").name == "mmcc+"  # a copy elsewhere


def test_a_folder_without_checksums_is_read_with_a_note(runs, tmp_path, capsys):
    folder = shutil.copytree(find_checkpoint(runs["mmcc+"]).folder, tmp_path / "copy")
    (folder / "manifest.json").unlink()
    for _ in range(2):
        assert open_adapter(folder).name == "mmcc+"
    assert capsys.readouterr().err.count("has no checksum of config.json") == 1


class Brightness:
    """A user's own, as the docs show it."""

    name, modalities, temperature, past, combine = "brightness", (VISION,), 0.1, None, None

    def embed_frames(self, frames):
        return Embedding.of(frames.float().mean(dim=1, keepdim=True))

    def future(self, node):
        return node.pi


def test_an_adapter_of_ones_own(vectors_corpus):
    register_adapter("brightness", make := lambda corpus: Brightness())
    register_adapter("brightness", make)  # again by the same module: nothing happens
    assert build_adapter("brightness", vectors_corpus).name == "brightness"
    with pytest.raises(ValueError, match="registered already"):
        register_adapter("brightness", lambda corpus: Brightness())
    with pytest.raises(ValueError, match=r"no model is named 'darkness' .*brightness"):
        build_adapter("darkness", vectors_corpus)
