"""Training on stored vectors: embedded once by real encoders, trained, resumed, evaluated and asked like any model."""

import json
import shutil

import numpy as np
import pytest
import torch

from mmcc.backbones import open_frame_backbone
from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.evaluate import evaluate
from mmcc.models.pretrained_encoders import VectorHead
from mmcc.training import perception
from mmcc.training.config import load_config
from mmcc.training.loop import build_model, train
from mmcc.training.processes import join_world
from tests.backbones.exported import export
from tests.training.tiny_runs import tiny_config


def grid(pixels):
    """A small picture of the picture, as an encoder would see it."""
    return torch.nn.functional.adaptive_avg_pool2d(pixels, 3).flatten(1)


@pytest.fixture(scope="module")
def embedded(kitchens, tmp_path_factory):
    """A kitchen embedded by a tiny exported network and by MiniLM; the network's name."""
    folder = tmp_path_factory.mktemp("embedded")
    corpus = folder / "kitchen.corpus"
    shutil.copytree(kitchens.kitchen_corpus(videos=12, tasks=3, size=32).pictures, corpus)
    size = torch.zeros(1, 3, 12, 12)
    graph = export(folder / "grid.onnx", grid, {"pixels": size}, ["vector"], {"pixels": {0: "P"}, "vector": {0: "P"}})
    name = f"onnx:{graph}"
    assert main(["embed", str(corpus), "--frames", name, "--text", "minilm", "--fps", "0.25"]) == 0
    return corpus, name


def settings(name, *more):
    heads = [f"model.frame_encoder={name}", "model.frame_encoder.components=6", "model.text_encoder=minilm"]
    # Without a ramp, whose length would depend on the number of steps.
    return tiny_config(*heads, "model.text_encoder.components=8", "objective.ramp_share=0", *more)


def test_it_trains_resumes_to_the_same_weights_and_answers(embedded, tmp_path):
    corpus, name = embedded
    train(corpus, tmp_path / "whole", settings(name), anyway=True, say=lambda line: None)
    train(corpus, tmp_path / "parts", settings(name, "train.steps=2"), anyway=True, say=lambda line: None)
    train(corpus, tmp_path / "parts", settings(name), resume=True, anyway=True, say=lambda line: None)
    whole, parts = ((tmp_path / run / "checkpoints/00000006/model.safetensors") for run in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()
    assert not (tmp_path / "whole" / "vocabulary.txt").exists(), "MiniLM knows its own words"
    described = json.loads((tmp_path / "whole" / "corpus.json").read_text())
    assert (described["encoding"], described["size"]) == ("raw", 32), "tools read pictures as the corpus stores them"

    adapter = open_adapter(tmp_path / "whole")
    pictures = Corpus.open(corpus)
    stored = perception.if_embedded(pictures, adapter.model.config)
    video = stored.ids[0]
    times = stored[video].times
    frames = pictures[video].frames()[np.isin(pictures[video].times, times)]
    from_pictures, from_vectors = (
        adapter.embed_frames(torch.from_numpy(each)) for each in (frames, stored[video].frames())
    )
    assert torch.allclose(from_pictures.pi, from_vectors.pi, atol=1e-5)
    assert adapter.knows("gochujang") and not adapter.knows("♪")
    assert adapter.embed_texts(["fold in the gochujang"]).pi.isfinite().all()
    found = evaluate(str(tmp_path / "whole"), corpus, tasks=["cycle", "anticipation"])
    assert set(found.results) == {"cycle", "anticipation"}


def test_the_whitening_is_that_of_the_training_videos(embedded):
    corpus, name = embedded
    config = settings(name)
    opened = perception.for_encoders(Corpus.open(corpus), config.model)
    config = perception.fit_to_corpus(config, opened)
    assert config.model.frame_encoder.feature_dims == 27 and config.model.text_encoder.feature_dims == 384
    assert config.model.frame_encoder.checksum == opened.frame_encoder.checksum
    videos = perception.UsableVideos(opened, "train", config.data)
    with join_world("cpu") as world:
        model = build_model(config, 0, world)
    perception.fit_heads(model, videos)
    frames = np.concatenate([opened[each].frames() for each in videos.ids])
    head = model.frame_encoder.head
    assert isinstance(head, VectorHead)
    white = head.whitened(torch.from_numpy(frames))
    assert np.allclose(6 * np.cov(white.numpy().T), np.eye(6), atol=0.05)


@pytest.mark.slow
def test_an_encoder_can_be_trained_too(embedded, tmp_path, monkeypatch):
    """From pictures, with the text still frozen: its weights move, and are saved with the run's."""
    corpus, name = embedded
    monkeypatch.setattr(perception, "_PICTURES", 16)
    small = [
        "train.steps=1",
        "train.validation_segments=1",
        "train.batch_size=1",
        "data.max_frames=2",
        "data.frame_rates=[0.25]",
        "data.held_out=0",
    ]
    unfrozen = ["model.frame_encoder.name=efficientnet-lite0", "model.frame_encoder.frozen=false"]
    text = ["model.text_encoder=minilm", "model.text_encoder.components=8", "model.frame_encoder.components=4"]
    config = tiny_config(*unfrozen, *text, *small, "train.lr=1e-2")
    train(corpus, tmp_path / "run", config, anyway=True, say=lambda line: None)
    trained = open_adapter(tmp_path / "run").model.frame_encoder
    published = open_frame_backbone("efficientnet-lite0")
    assert any(
        not torch.equal(*both) for both in zip(trained.backbone.parameters(), published.parameters(), strict=True)
    )
    with pytest.raises(InputError, match="cannot be trained"):
        unfrozen = [f"model.frame_encoder.name={name}", "model.frame_encoder.frozen=false"]
        train(corpus, tmp_path / "onnx", tiny_config(*unfrozen, *text[:2]), anyway=True, say=lambda line: None)


def test_a_corpus_without_vectors_names_the_command(kitchens, tmp_path):
    corpus = kitchens.kitchen_corpus(videos=12, tasks=3, size=32).pictures
    with pytest.raises(InputError, match="has no embeddings by efficientnet-lite2") as error:
        train(corpus, tmp_path / "run", load_config(None, ["model.frame_encoder=efficientnet-lite2"]))
    assert "mmcc embed" in error.value.remedy and not (tmp_path / "run").exists()


def test_embed_says_what_is_missing_or_wrong(embedded, capsys):
    corpus, name = embedded
    for words, code, message in (
        ([str(corpus)], 2, "name an encoder"),
        ([str(corpus), "--frames", "resnet99"], 2, "no frame backbone is named 'resnet99'"),
        ([str(corpus), "--frames", "onnx:nowhere.onnx"], 3, "nowhere.onnx"),
        (["nowhere", "--text", "minilm"], 3, "is not a corpus"),
        ([str(corpus), "--frames", name], 3, "at 0.25 frames per second, not 1"),
    ):
        assert main(["embed", *words]) == code
        assert message in capsys.readouterr().err
    assert main(["embed", str(corpus), "--text", "minilm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["embedded"][0]["already_done"] == 12
