"""The model of RA and TAP: Φ and f are trained, Ψ never is."""

from dataclasses import replace

import pytest
import torch

from mmcc.models import MMCC, TEXT, VISION, Anticipator, MemDPC, load_network
from mmcc.models.encoders import FrameResNetSettings
from tests.models.test_model import CONFIG, VOCABULARY, D, make_batch

PIXELS = replace(CONFIG, frame_encoder=FrameResNetSettings(width=4))


def cross_modal(config=CONFIG, seed=0):
    torch.manual_seed(seed)
    model = MMCC(config, VOCABULARY)
    if config is PIXELS:
        model(make_batch([4, 3], [2, 3], pixels=48, seed=9))  # moves batch norm's running means
    return model


def anticipator(config=CONFIG):
    torch.manual_seed(1)
    model = Anticipator(config, VOCABULARY)
    model.start_from(cross_modal(config))
    return model


def test_both_halves_start_as_the_cross_modal_model():
    model, origin = anticipator(PIXELS), cross_modal(PIXELS).eval()
    batch = make_batch([3, 1], [2, 3], pixels=48, more=2)
    nodes, expected = model.eval()(batch), origin(batch)
    for modality in (VISION, TEXT):
        for field in ("z", "pi", "valid", "times"):
            assert torch.equal(getattr(nodes[modality], field), getattr(expected[modality], field)), field
    assert torch.equal(model.future(nodes[VISION].z), origin.future(nodes[VISION].z))


def test_training_moves_z_and_f_but_never_the_targets():
    model, batch = anticipator(PIXELS).train(), make_batch([4, 3], [2, 3], pixels=48)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    targets = model(batch)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.1, weight_decay=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        nodes = model(batch)
        sum(-(model.future(side.z) * side.pi.flip(0)).sum() for side in nodes.values()).backward()
        optimizer.step()
    after = model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert not any(name.startswith("target.") for name in moved)
    assert {"model.text_encoder.w2.weight", "model.predictors.shared.0.weight"} <= moved
    assert any(name.startswith("model.frame_encoder.resnet.bn1.running") for name in moved)
    idle = ("model.projections.", "model.state.", "model.predictors.backward_head.")
    assert not any(name.startswith(idle) for name in moved)
    assert torch.equal(model(batch)[VISION].pi, targets[VISION].pi)
    assert not torch.equal(model(batch)[VISION].z, targets[VISION].z)


def test_targets_carry_no_gradient_and_stay_in_evaluation_mode():
    model = anticipator(PIXELS).train()
    assert model.training and model.model.training and not any(module.training for module in model.target.modules())
    nodes = model(make_batch([2, 2], [1, 1], pixels=48))
    assert nodes[VISION].z.requires_grad and not nodes[VISION].pi.requires_grad
    assert not any(parameter.requires_grad for parameter in model.target.parameters())
    assert not anticipator().eval().model.training


def test_it_has_no_past_predictor():
    assert not hasattr(anticipator(), "past") and not hasattr(anticipator(), "combine")


def test_a_saved_model_is_self_contained(tmp_path):
    model, batch = anticipator(), make_batch([3, 1], [2, 3])
    with torch.no_grad():
        for parameter in model.model.parameters():
            parameter += 0.1
    model.save_pretrained(tmp_path)
    loaded = load_network(tmp_path)
    assert type(loaded) is Anticipator and not loaded.training
    for modality, side in model.eval()(batch).items():
        assert torch.equal(loaded(batch)[modality].z, side.z) and torch.equal(loaded(batch)[modality].pi, side.pi)
    other = Anticipator(CONFIG, VOCABULARY)
    other.start_from(loaded)  # one of its own kind, both halves as they are
    assert all(
        torch.equal(a, b) for a, b in zip(other.state_dict().values(), loaded.state_dict().values(), strict=True)
    )


def test_both_of_its_frame_encoders_are_found():
    model = anticipator()
    assert model.frame_encoders() == [model.model.frame_encoder, model.target.frame_encoder]
    assert torch.equal(model.embed_frames(torch.ones(1, 5)), model.model.frame_encoder(torch.ones(1, 5)))


def test_a_model_without_words_cannot_initialize_it():
    with pytest.raises(ValueError, match="type memdpc cannot initialize one of type anticipator"):
        anticipator().start_from(MemDPC(CONFIG, 3))


def test_predictions_are_unit_vectors():
    torch.testing.assert_close(anticipator().future(torch.randn(2, 3, D)).norm(dim=-1), torch.ones(2, 3))
