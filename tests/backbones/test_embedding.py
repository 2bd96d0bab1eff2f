"""A stream of pictures gives the vectors of each, whatever pieces it comes in."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.backbones import FrameBackbone, embed_frames


class Corner(FrameBackbone):
    name, dims, size, checksum, trainable = "corner", 3, 4, "0" * 16, False
    seen = 0

    def encode(self, pictures):
        self.seen = max(self.seen, len(pictures))
        return pictures[:, 0, 0].float()


@pytest.mark.parametrize("alone", [False, True])
@given(lengths=st.lists(st.integers(0, 11), max_size=6))
def test_each_batch_has_its_vectors(alone, lengths):
    backbone = Corner()
    backbone.uses_all_cores = alone
    numbers = torch.arange(sum(lengths), dtype=torch.uint8)
    batches = [part[:, None, None, None].expand(-1, 6, 8 + at, 3) for at, part in enumerate(numbers.split(lengths))]
    found = list(embed_frames(backbone, batches))
    assert [len(each) for each in found] == lengths and all(each.shape[1] == 3 for each in found)
    assert torch.cat([torch.zeros(0, 3), *found])[:, 0].tolist() == numbers.tolist()
    assert backbone.seen <= backbone.batch_size
