"""Models on disk, by their type."""

import json

import pytest
import torch

from mmcc.models import MMCC, MemDPC, WeightsError, load_network, register_network
from tests.models.test_model import CONFIG, VOCABULARY, damage_config, make_model


def test_a_folder_gives_the_class_that_wrote_it(tmp_path):
    make_model().save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "mmcc"
    loaded = load_network(tmp_path)
    assert type(loaded) is MMCC and loaded.vocabulary_size == VOCABULARY and not loaded.training


def test_a_class_does_not_read_anothers_folder(tmp_path):
    MemDPC(CONFIG, 3).save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match="its model_type is memdpc, not mmcc"):
        MMCC.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: damage_config(f, model_type="bert"), r"'bert' \(known: anticipator, memdpc, mmcc"),
        (lambda f: damage_config(f, model_type=None), "no model type is named None"),
        (lambda f: (f / "config.json").write_text("[]"), "it should be an object"),
        (lambda f: (f / "config.json").unlink(), "no such file"),
    ],
)
def test_an_unknown_model_says_what_is_wrong(damage, message, tmp_path):
    make_model().save_pretrained(tmp_path)
    damage(tmp_path)
    with pytest.raises(WeightsError, match=message):
        load_network(tmp_path)


def test_another_class_takes_a_few_lines(tmp_path):
    @register_network
    class Doubled(MMCC):
        model_type = "tests/doubled"

        def future(self, z):
            return super().future(2 * z)

    torch.manual_seed(0)
    model = Doubled(CONFIG, VOCABULARY)
    model.save_pretrained(tmp_path)
    assert type(load_network(tmp_path)) is Doubled
    with pytest.raises(ValueError, match="registered already"):
        register_network(type("Doubled", (MMCC,), {"model_type": "tests/doubled"}))


def test_a_model_can_start_from_another_of_its_kind():
    one, other = make_model(), MMCC(CONFIG, VOCABULARY)
    other.start_from(one)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))
