"""The whole model: packed in, padded out, saved and loaded.

Shapes: B segments, N frames, K utterances, W words, D dims.
"""

import json
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mmcc.models import MMCC, TEXT, VISION, ModelConfig, WeightsError
from mmcc.models.encoders import FeatureSettings, FrameResNetSettings

D, F, W, VOCABULARY = 8, 5, 4, 30
CONFIG = ModelConfig(dims=D, frame_encoder=FeatureSettings(feature_dims=F))


@dataclass
class Batch:
    frames: Tensor
    frame_valid: Tensor
    frame_times: Tensor
    words: Tensor
    text_valid: Tensor
    text_times: Tensor


def mask(counts, more=0):
    return torch.arange(max(counts) + more) < torch.tensor(counts)[:, None]


def times(valid):
    return valid.float().cumsum(dim=1) * valid


def make_batch(frame_counts, text_counts, pixels=0, more=0, seed=0):
    random = torch.Generator().manual_seed(seed)
    if pixels:
        shape = (sum(frame_counts), pixels, pixels, 3)
        frames = torch.randint(0, 256, shape, dtype=torch.uint8, generator=random)
    else:
        frames = torch.randn(sum(frame_counts), F, generator=random)
    words = torch.randint(1, VOCABULARY, (sum(text_counts), W), generator=random)
    words[::2, 2:] = 0
    frame_valid, text_valid = mask(frame_counts, more), mask(text_counts, more)
    return Batch(frames, frame_valid, times(frame_valid), words, text_valid, times(text_valid))


def make_model(config=CONFIG):
    torch.manual_seed(0)
    return MMCC(config, VOCABULARY).eval()


counts = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=4).filter(
    lambda pairs: max(n for n, _ in pairs) > 0 and max(k for _, k in pairs) > 0
)


@settings(max_examples=30, deadline=None)
@given(counts)
def test_each_node_is_at_its_segment_and_time(pairs):
    frame_counts, text_counts = zip(*pairs, strict=True)
    model, batch = make_model(), make_batch(frame_counts, text_counts)
    nodes = model(batch)
    for modality, valid, when, packed in (
        (VISION, batch.frame_valid, batch.frame_times, model.embed_frames(batch.frames)),
        (TEXT, batch.text_valid, batch.text_times, model.embed_words(batch.words)),
    ):
        ours, row = nodes[modality], 0
        assert torch.equal(ours.valid, valid) and torch.equal(ours.times, when)
        assert ours.z.shape == ours.pi.shape == (*valid.shape, D)
        for b in range(valid.shape[0]):
            for n in range(valid.shape[1]):
                if valid[b, n]:
                    assert torch.equal(ours.z[b, n], packed[row])
                    torch.testing.assert_close(ours.pi[b, n], model.project(packed[row], modality))
                    row += 1
                else:
                    assert not ours.z[b, n].any() and not ours.pi[b, n].any()
        assert row == len(packed)


def test_the_model_sees_neither_time_nor_order():
    model, batch = make_model(), make_batch([4], [3])
    nodes = model(batch)
    order = torch.tensor([2, 0, 3, 1])
    shuffled = model(replace(batch, frames=batch.frames[order], frame_times=batch.frame_times * 100))
    torch.testing.assert_close(shuffled[VISION].pi[0], nodes[VISION].pi[0, order])
    assert torch.equal(shuffled[TEXT].pi, nodes[TEXT].pi)


def test_a_batch_equals_its_segments_alone_from_pixels():
    model = make_model(replace(CONFIG, frame_encoder=FrameResNetSettings(width=4)))
    frame_counts, text_counts = [3, 1, 2], [2, 4, 1]
    batch = make_batch(frame_counts, text_counts, pixels=48)
    together = model(batch)
    frames, words = batch.frames.split(frame_counts), batch.words.split(text_counts)
    for b, (n, k) in enumerate(zip(frame_counts, text_counts, strict=True)):
        alone = model(Batch(frames[b], mask([n]), times(mask([n])), words[b], mask([k]), times(mask([k]))))
        for modality, count in ((VISION, n), (TEXT, k)):
            for space in ("z", "pi"):
                ours = getattr(together[modality], space)[b, :count]
                torch.testing.assert_close(ours, getattr(alone[modality], space)[0], atol=1e-5, rtol=1e-5)


def test_more_padding_changes_nothing_not_even_batch_norm_or_a_gradient():
    config = replace(CONFIG, frame_encoder=FrameResNetSettings(width=4))
    results = []
    for more in (0, 3):
        model = make_model(config).train()
        nodes = model(make_batch([3, 1], [2, 3], pixels=48, more=more))
        (nodes[VISION].z[:, :3].square().sum() + nodes[TEXT].pi[:, :3, 0].sum()).backward()
        results.append(list(model.state_dict().values()) + [p.grad for p in model.parameters() if p.grad is not None])
    assert len(results[0]) > 150
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_batch_norm_sees_each_valid_frame_once():
    model = make_model(replace(CONFIG, frame_encoder=FrameResNetSettings(width=4)))
    seen = []
    model.frame_encoder.resnet.bn1.register_forward_hook(lambda module, inputs, output: seen.append(len(output)))
    model(make_batch([3, 1], [1, 1], pixels=48, more=5))
    assert seen == [4]


def test_pi_predictions_are_unit_vectors_and_states_are_not():
    model, z = make_model(), torch.randn(2, 3, D)
    for pi in (model.project(z, VISION), model.project(z, TEXT), model.future(z), model.past(z)):
        torch.testing.assert_close(pi.norm(dim=-1), torch.ones(2, 3))
    assert (model.combine(z, z).norm(dim=-1) - 1).abs().min() > 1e-3


def test_projections_and_state_are_one_layer():
    model, z, other = make_model(), torch.randn(D), torch.randn(D)
    layer = model.state[0]
    by_hand = layer.weight[:, :D] @ z + layer.weight[:, D:] @ other + layer.bias
    torch.testing.assert_close(model.combine(z, other), by_hand)
    for modality in (VISION, TEXT):
        layer = model.projections[modality][0]
        pi = layer.weight @ z + layer.bias
        torch.testing.assert_close(model.project(z, modality), pi / pi.norm())
    assert len(model.state) == len(model.projections[VISION]) == 1
    assert not torch.equal(model.project(z, VISION), model.project(z, TEXT))


def test_nodes_keep_full_precision_under_autocast():
    model = make_model()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        nodes = model(make_batch([3, 1], [2, 3]))
        assert model.future(nodes[VISION].z).dtype == torch.float32
    for ours in nodes.values():
        assert ours.z.dtype == ours.pi.dtype == torch.float32
        torch.testing.assert_close(ours.pi[ours.valid].norm(dim=-1), torch.ones(int(ours.valid.sum())))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_a_saved_model_comes_back_bit_by_bit(layout, tmp_path):
    model = make_model(replace(CONFIG, frame_encoder=FrameResNetSettings(width=4))).to(memory_format=layout).train()
    batch = make_batch([3, 2], [2, 3], pixels=48)
    model(batch)  # moves batch norm's running means, which must be saved too
    model.save_pretrained(tmp_path / "deep" / "model")
    loaded = MMCC.from_pretrained(tmp_path / "deep" / "model")
    assert loaded.config == model.config and loaded.vocabulary_size == VOCABULARY and not loaded.training
    assert loaded.state_dict().keys() == model.state_dict().keys()
    assert all(torch.equal(loaded.state_dict()[name], tensor) for name, tensor in model.state_dict().items())
    ours, theirs = model.eval()(batch), loaded(batch)
    torch.testing.assert_close(ours[VISION].pi, theirs[VISION].pi)
    assert torch.equal(ours[TEXT].pi, theirs[TEXT].pi)


def test_saving_twice_writes_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        make_model().save_pretrained(tmp_path / name)
    for name in ("config.json", "model.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def infinite_vocabulary(folder):
    path = folder / "config.json"
    path.write_text(path.read_text().replace(f'"vocabulary_size": {VOCABULARY}', '"vocabulary_size": 1e999'))


def damage_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), r"config\.json: no such file"),
        (lambda f: (f / "config.json").write_text("{"), r"config\.json: not the configuration"),
        (lambda f: (f / "config.json").write_text("[]"), r"config\.json: not the configuration"),
        (lambda f: damage_config(f, model_type="bert"), "model_type"),
        (lambda f: damage_config(f, depth=3), "depth"),
        (lambda f: damage_config(f, dims="8"), r"config\.json: not the configuration"),
        (lambda f: damage_config(f, vocabulary_size=10**12), r"config\.json: .* \(vocabulary_size is 1000000000000\)"),
        (lambda f: damage_config(f, vocabulary_size=-1), r"config\.json: not the configuration"),
        (lambda f: damage_config(f, vocabulary_size="30"), r"config\.json: .*vocabulary_size should be a whole number"),
        (lambda f: damage_config(f, dims=10**15), r"config\.json: not the configuration"),
        (lambda f: infinite_vocabulary(f), r"config\.json: .*1e999 is not a number"),
        (lambda f: (f / "config.json").write_text("[" * 10**5), r"config\.json: .*nested too deeply"),
        (lambda f: damage_config(f, vocabulary_size=31), r"text_encoder\.words\.weight \[30, 8\] instead of \[31, 8\]"),
        (lambda f: (f / "model.safetensors").unlink(), r"model\.safetensors: no such file"),
        (lambda f: (f / "model.safetensors").write_bytes(b"not weights"), r"model\.safetensors: not a readable"),
        (lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-9]), "readable"),
    ],
)
def test_a_damaged_model_says_what_is_wrong_and_where(damage, message, tmp_path):
    make_model().save_pretrained(tmp_path)
    damage(tmp_path)
    with pytest.raises(WeightsError, match=message):
        MMCC.from_pretrained(tmp_path)
