"""A video is embedded batch by batch, and others are let pass before each."""

import numpy as np

from mmcc.api import load_model
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
