"""A run is published with what inference needs and nothing of the machine it was made on."""

import json
import shutil

import numpy as np
import pytest

from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.models import MMCC
from mmcc.tools.domain import load_domain
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.model import open_model
from scripts import publish_model
from scripts.publish_model import publish
from tests.sealed import reseal


@pytest.fixture(scope="module")
def published(heads, tmp_path_factory):
    out = tmp_path_factory.mktemp("published") / "cook"
    publish(heads.run, Corpus.open(heads.corpus), out)
    return out


def test_a_model_of_heads_has_no_vocabulary_and_no_local_paths(heads, published):
    assert {path.name for path in published.iterdir()} == {
        "config.json",
        "config.yaml",
        "corpus.json",
        "domain.npz",
        "manifest.json",
        "model.safetensors",
    }
    described = json.loads((published / "corpus.json").read_text())
    assert "path" not in described
    assert described.items() >= {"videos": 12, "encoding": "raw", "size": 32, "fit": "crop", "fps": 1.0}.items()
    model = open_model(published)
    assert (model.size, model.feature_dims, model.trained_on, model.assumed) == (32, 0, None, False)
    assert MMCC.from_pretrained(published).config.frame_encoder.name == heads.encoder


def test_every_file_but_the_card_has_its_checksum(heads, published, tmp_path, monkeypatch):
    copy = shutil.copytree(published, tmp_path / "copy")
    (copy / "card.md").write_text("mine")
    for name in json.loads((copy / "manifest.json").read_text()):
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(InputError, match="has a wrong checksum: it is damaged"):
            open_model(copy)
        (copy / name).write_bytes(content)
    (copy / "order.json").write_text('{"sharpness": 2.0}')
    monkeypatch.setattr("sys.argv", ["publish_model", "--seal", str(copy)])
    assert publish_model.main() == 0
    assert {*json.loads((copy / "manifest.json").read_text())} == {path.name for path in copy.iterdir()} - {
        "card.md",
        "manifest.json",
    }
    assert open_model(copy).sharpness == 2.0


def test_its_domain_is_of_vectors_and_small(heads, published):
    domain = load_domain(published / "domain.npz")
    assert isinstance(domain, EmbeddingDomain) and domain.axes.shape == (27, 13)
    wide = np.random.default_rng(0).normal(size=(40, 3, 1280)).astype(np.float32)
    publish_model.save_domain(EmbeddingDomain.fit(list(wide)), published.parent / "wide.npz")
    assert (published.parent / "wide.npz").stat().st_size < 1_000_000


def test_the_same_run_gives_the_same_bytes(heads, published, tmp_path):
    again = tmp_path / "again"
    again.mkdir()
    (again / "vocabulary.txt").write_text("of an earlier model")
    (again / "card.md").write_text("mine")
    publish(heads.run, Corpus.open(heads.corpus), again)
    assert (again / "card.md").read_text() == "mine"
    files = {path.name: path.read_bytes() for path in again.iterdir() if path.name != "card.md"}
    assert files == {path.name: path.read_bytes() for path in published.iterdir()}


def test_without_stored_vectors_it_says_how_to_get_them(heads, tmp_path, monkeypatch, capsys):
    with pytest.raises(InputError, match=r"has no embeddings by the onnx:.* of the run") as error:
        publish(heads.run, Corpus.open(heads.plain), tmp_path / "out")
    assert error.value.remedy == f"Run mmcc embed {heads.plain} --frames {heads.encoder}"
    monkeypatch.setattr("sys.argv", ["publish_model", str(heads.run), str(heads.plain), str(tmp_path / "out")])
    assert publish_model.main() == 3
    assert "publish_model: " in capsys.readouterr().err


def test_a_large_model_is_refused(heads, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(heads.checkpoint, run)
    with (run / "model.safetensors").open("ab") as file:
        file.truncate(16_000_000)
    reseal(run)
    with pytest.raises(InputError, match=r"is 16\.0 MB; a published model may have at most 15 MB"):
        publish(run, Corpus.open(heads.corpus), tmp_path / "out")
    assert not (tmp_path / "out").exists()
