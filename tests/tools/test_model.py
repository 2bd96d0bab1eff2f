"""A model by name: a run, a checkpoint, or the one that comes with the package."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from mmcc.checksums import damage_of, read_manifest
from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.evaluation.adapters import open_adapter
from mmcc.models import MMCC, load_network
from mmcc.pretrained import SHIPPED, shipped_names, with_shipped
from mmcc.tools.model import open_model


def test_the_shipped_model_loads_by_name_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = MMCC.from_pretrained("kitchen")
    assert not model.training
    assert model.embed_frames(torch.zeros(2, 48, 48, 3, dtype=torch.uint8)).shape == (2, model.config.dims)
    assert isinstance(load_network("kitchen"), MMCC)
    assert open_adapter("kitchen").name == "mmcc+"


def test_it_says_how_its_frames_were_made():
    model = open_model("kitchen")
    assert (model.name, model.size, model.fit, model.fps, model.feature_dims) == ("kitchen", 48, "crop", 1.0, 0)
    assert model.note == ""
    assert model.adapter is model.adapter


def test_what_is_shipped_is_small_whole_and_of_no_machine():
    assert "kitchen" in shipped_names()
    for name in shipped_names():
        folder = SHIPPED / name
        assert sum(path.stat().st_size for path in folder.iterdir()) < 15_000_000
        names = {path.name for path in folder.iterdir()}
        assert {"card.md", "config.yaml", "corpus.json", "domain.npz", "order.json"} <= names
        assert {*(read_manifest(folder) or ())} == names - {"card.md", "manifest.json"} and damage_of(folder) is None
        assert "path" not in json.loads((folder / "corpus.json").read_text())
        for path in folder.glob("*.[jym]*[nld]"):
            assert "/tmp/" not in path.read_text(encoding="utf-8")


def test_cook_loads_by_name_and_reads_pictures_and_any_words():
    model = MMCC.from_pretrained("cook")
    assert model.frame_nodes(torch.zeros(2, 1280))[1].shape == (2, model.config.dims), "vectors need no encoder"
    adapter = open_adapter("cook")
    assert adapter.name == "mmcc+" and adapter.knows("gochujang")
    assert adapter.embed_frames(torch.zeros(1, 50, 60, 3, dtype=torch.uint8)).pi.isfinite().all()
    opened = open_model("cook")
    assert (opened.size, opened.fit, opened.fps, opened.feature_dims) == (260, "crop", 1.0, 0)


def test_the_sharpness_of_its_orders_comes_with_a_model(kitchen, tmp_path):
    assert open_model("kitchen").sharpness == 1.05 and open_model("cook").sharpness > 1
    assert open_model(kitchen.run).sharpness is None
    assert open_model("cook").orders_up_to == 3 and open_model("kitchen").orders_up_to is None
    shutil.copytree(SHIPPED / "cook", tmp_path / "mine")
    (tmp_path / "mine" / "order.json").write_text("{}")
    (tmp_path / "mine" / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"order\.json"):
        _ = open_model(tmp_path / "mine").sharpness


def test_a_model_in_the_working_folder_goes_before_a_shipped_one_and_other_folders_do_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kitchen" / "videos").mkdir(parents=True)
    assert with_shipped("kitchen") == SHIPPED / "kitchen"
    shutil.copytree(SHIPPED / "kitchen", tmp_path / "kitchen", dirs_exist_ok=True)
    assert with_shipped("kitchen") == Path("kitchen")


def test_a_run_and_its_checkpoint_are_the_same_model(kitchen):
    run = open_model(kitchen.run)
    checkpoint = open_model(run.folder)
    assert (run.checksum, run.size, run.fit) == (checkpoint.checksum, 32, "crop")
    assert run.trained_on == kitchen.corpus.absolute()


def test_other_weights_or_settings_are_another_model(kitchen, tmp_path):
    before = open_model(kitchen.run).checksum
    for name in ("model.safetensors", "config.yaml", "vocabulary.txt"):
        copy = tmp_path / name
        shutil.copytree(open_model(kitchen.run).folder, copy)
        (copy / "manifest.json").unlink()
        (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
        assert open_model(copy).checksum != before, name


def test_a_run_that_does_not_say_how_its_frames_were_made_is_noted(kitchen, tmp_path):
    copy = tmp_path / "a" / "b" / "checkpoint"
    shutil.copytree(open_model(kitchen.run).folder, copy)
    (copy / "corpus.json").unlink()
    (copy / "manifest.json").unlink()
    model = open_model(copy)
    assert model.assumed
    assert "112 pixels, 1 a second" in model.note


@pytest.mark.parametrize("content", ["", "[]", '{"size": 48}'])
def test_a_damaged_corpus_json_is_named(kitchen, tmp_path, content):
    copy = tmp_path / "checkpoint"
    shutil.copytree(open_model(kitchen.run).folder, copy)
    (copy / "corpus.json").write_text(content)
    (copy / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"corpus\.json: cannot be read"):
        open_model(copy)


def test_what_is_no_model_is_refused_with_the_names_there_are(tmp_path, capsys):
    with pytest.raises(InputError, match="no such folder") as error:
        open_model(str(tmp_path / "nowhere"))
    assert "kitchen" in error.value.remedy
    assert main(["transitions", str(tmp_path), str(tmp_path)]) == 3
    assert "is neither a run nor a checkpoint" in capsys.readouterr().err
