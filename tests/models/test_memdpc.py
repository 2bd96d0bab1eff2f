"""MemDPC's networks: mixtures of memories, one node at a time."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.models import MMCC, TEXT, VISION, MemDPC, load_network
from mmcc.models.encoders import FrameResNetSettings
from tests.models.test_model import CONFIG, VOCABULARY, D, make_batch

WAYS = ("future", "past")


def memdpc(slots=7, config=CONFIG):
    torch.manual_seed(0)
    return MemDPC(config, slots).eval()


def test_it_has_the_authors_memory_by_default():
    assert MemDPC(CONFIG).memory.shape == (1024, D)


@pytest.mark.parametrize("way", WAYS)
@given(scale=st.floats(0.01, 50), seed=st.integers(0, 99))
def test_a_prediction_is_a_convex_combination_of_memories(way, scale, seed):
    model, c = memdpc(), scale * torch.randn(2, 3, D, generator=torch.Generator().manual_seed(seed))
    weights = model.address(c, way)
    assert weights.shape == (2, 3, 7) and (weights >= 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3))
    mixture = torch.einsum("bnm,md->bnd", weights, model.memory)
    torch.testing.assert_close(model.predict(c, way), mixture / mixture.norm(dim=-1, keepdim=True))


def test_the_memory_is_shared_and_the_rest_is_not():
    model, z = memdpc(), torch.randn(4, D)
    assert not torch.allclose(model.future(z), model.past(z))
    before = model.future(z), model.past(z)
    with torch.no_grad():
        model.memory.mul_(-1)
    torch.testing.assert_close(model.future(z), -before[0])
    torch.testing.assert_close(model.past(z), -before[1])


@pytest.mark.parametrize("way", WAYS)
def test_a_node_alone_is_a_past_of_one_step(way):
    model, z = memdpc(), torch.randn(2, 5, D)
    whole = model.predict(model.aggregate(z, way), way)
    alone = getattr(model, way)(z)
    torch.testing.assert_close(alone[:, 0], whole[:, 0])
    assert not torch.allclose(alone[:, 1:], whole[:, 1:])  # there, more was aggregated
    torch.testing.assert_close(alone.norm(dim=-1), torch.ones(2, 5))
    assert getattr(model, way)(z[0, 0]).shape == (D,)


@pytest.mark.parametrize("way", WAYS)
def test_advancing_by_an_observation_equals_aggregating_it(way):
    model, z = memdpc(), torch.randn(2, 5, D)
    c = model.aggregate(z, way)
    torch.testing.assert_close(model.advance(c[:, :-1], z[:, 1:], way), c[:, 1:])


@pytest.mark.parametrize("way", WAYS)
def test_norms_have_no_influence(way):
    """A clip's mean, and a mixture of memories, are shorter than a node."""
    model, z = memdpc(), torch.randn(2, 5, D)
    torch.testing.assert_close(model.aggregate(z, way), model.aggregate(0.01 * z, way))


def test_a_past_does_not_see_what_follows():
    model, z = memdpc(), torch.randn(1, 6, D)
    changed = torch.cat([z[:, :4], torch.randn(1, 2, D)], dim=1)
    assert torch.equal(model.aggregate(z, "future")[:, :4], model.aggregate(changed, "future")[:, :4])


def test_nodes_are_frames_alone():
    model, batch = memdpc(), make_batch([3, 1], [2, 3], more=2)
    nodes = model(batch)
    packed, row = model.embed_frames(batch.frames), 0
    for b, count in enumerate((3, 1)):
        for n in range(5):
            expected = packed[row] if n < count else torch.zeros(D)
            assert torch.equal(nodes[VISION].z[b, n], expected)
            torch.testing.assert_close(nodes[VISION].pi[b, n], expected / expected.norm().clamp(min=1e-9))
            row += n < count
    assert not nodes[TEXT].valid.any() and nodes[TEXT].valid.shape == batch.text_valid.shape
    other = make_batch([3, 1], [2, 3], more=2)
    other.words[:] = 1
    assert torch.equal(model(other)[VISION].pi, nodes[VISION].pi)


def test_a_saved_model_comes_back_bit_by_bit(tmp_path):
    config = replace(CONFIG, frame_encoder=FrameResNetSettings(width=4))
    model, batch = memdpc(config=config), make_batch([3, 2], [1, 1], pixels=48)
    model.save_pretrained(tmp_path)
    loaded = load_network(tmp_path)
    assert type(loaded) is MemDPC and loaded.slots == 7 and loaded.config == config
    z = model(batch)[VISION].z
    assert torch.equal(loaded(batch)[VISION].z, z) and torch.equal(loaded.past(z), model.past(z))


def test_it_can_start_from_the_frame_encoder_of_mmcc():
    origin, model = MMCC(CONFIG, VOCABULARY), memdpc()
    model.start_from(origin)
    frames = torch.randn(3, 5)
    assert torch.equal(model.embed_frames(frames), origin.embed_frames(frames))
    with pytest.raises(ValueError, match="type memdpc cannot initialize one of type mmcc"):
        origin.start_from(model)
