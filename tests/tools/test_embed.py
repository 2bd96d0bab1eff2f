"""A video is embedded batch by batch, and others are let pass before each."""

from types import SimpleNamespace

import numpy as np
import torch

from mmcc.api import load_model
from mmcc.evaluation.adapter import Embedding
from mmcc.tools import embed
from mmcc.tools.cache import Cache
from mmcc.tools.footage import AT_ONCE


def test_between_batches_it_says_how_far_it_is(kitchen_footage, tmp_path):
    shares = []
    model = load_model(kitchen_footage.run, cache=tmp_path / "one", between=shares.append)
    library = model.open_library(kitchen_footage.corpus)
    footage = library.footage(library.cards[0].key)
    assert not model.has_seen(footage)
    seen = model.see(footage)
    batches = -(-len(footage.video.times) // AT_ONCE)
    assert shares == [batch / batches for batch in range(batches)] and model.has_seen(footage)
    model.see(footage)
    assert len(shares) == batches  # it is cached
    same = footage.embedded(kitchen_footage.model(), Cache(tmp_path / "two"))
    np.testing.assert_array_equal(seen.embedded.frames.pi, same.frames.pi)


def test_between_batches_of_utterances_others_pass_too():
    """Of an encoder that takes its time; each utterance gets its own vector, whatever batch it was in."""
    shares, batches = [], []

    def embed_texts(texts: list[str]) -> Embedding:
        batches.append(texts)
        lengths = torch.tensor([[float(len(text))] for text in texts])
        return Embedding(lengths, -lengths)

    slow = SimpleNamespace(
        adapter=SimpleNamespace(embed_texts=embed_texts),
        text_encoder="minilm",
        frozen_encoder=None,
        between=shares.append,
    )
    said = ["x" * (7 * place % 50) for place in range(50)]
    found = embed._AsTrained(slow, calls=1).embed_texts(said)
    assert found.z.flatten().tolist() == [len(text) for text in said] == (-found.pi).flatten().tolist()
    at_once = embed._TEXTS_PER_CORE * torch.get_num_threads()
    assert len(shares) == len(batches) == -(-len(said) // at_once) and max(map(len, batches)) == at_once
    quick = SimpleNamespace(**vars(slow) | {"text_encoder": None})
    embed._AsTrained(quick, calls=1).embed_texts(said)
    assert batches[-1] is said
