"""What every backbone does: it refuses what is no picture, and puts texts of one length together."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.backbones.base import TEXTS_AT_ONCE, FrameBackbone, TextBackbone, checksum_of


class Corner(FrameBackbone):
    """The first pixel that the network sees."""

    name, dims, size, checksum, trainable = "corner", 3, 4, "0" * 16, False

    def encode(self, pictures):
        assert pictures.shape[1:] == (4, 4, 3)
        return pictures[:, 0, 0].float()


class Letters(TextBackbone):
    """How long a text is, its first letter, and how many texts were in its batch."""

    name, dims, checksum = "letters", 3, "0" * 16

    def forward(self, texts):
        return torch.tensor([[len(text), ord(text[:1] or "\0"), len(texts)] for text in texts], dtype=torch.float64)


def test_pictures_of_any_size_are_fitted():
    pictures = torch.arange(256, dtype=torch.uint8)[:48].view(1, 4, 4, 3)
    wide = torch.cat([torch.zeros(1, 4, 2, 3, dtype=torch.uint8), pictures, torch.zeros(1, 4, 2, 3).byte()], dim=2)
    for given_ in (pictures, wide):
        assert torch.equal(Corner()(given_), torch.tensor([[0.0, 1, 2]]))
    assert Corner()(torch.zeros(3, 90, 160, 3, dtype=torch.uint8)).shape == (3, 3)
    assert Corner()(torch.zeros(0, 9, 16, 3, dtype=torch.uint8)).shape == (0, 3)


@pytest.mark.parametrize(
    "frames", [torch.zeros(1, 4, 4, 3), torch.zeros(4, 4, 3).byte(), torch.zeros(1, 3, 4, 4).byte()]
)
def test_what_is_no_picture_is_refused(frames):
    with pytest.raises(
        ValueError, match=r"corner takes pictures \[P, H, W, 3\] of uint8, not \[.*\] of (float32|uint8)"
    ):
        Corner()(frames)


@given(st.lists(st.text(max_size=9), max_size=3 * TEXTS_AT_ONCE))
def test_each_text_keeps_its_place_whatever_batch_it_was_in(texts):
    vectors = Letters().embed(texts)
    assert vectors.shape == (len(texts), 3) and vectors.dtype == torch.float32
    assert vectors[:, :2].tolist() == [[len(text), ord(text[:1] or "\0")] for text in texts]
    batches = vectors[:, 2].sort(descending=True).values.tolist()
    assert sorted(batches[::TEXTS_AT_ONCE], reverse=True) == [
        min(TEXTS_AT_ONCE, len(texts) - start) for start in range(0, len(texts), TEXTS_AT_ONCE)
    ]


def test_a_checksum_is_of_everything(tmp_path):
    (tmp_path / "one").write_bytes(b"weights")
    (tmp_path / "two").write_bytes(b"other")
    ones, zeros = [("a", torch.ones(2))], [("a", torch.zeros(2))]
    sums = [
        checksum_of("facts"), checksum_of("others"), checksum_of("facts", ones), checksum_of("facts", zeros),
        checksum_of("facts", [("b", torch.ones(2))]), checksum_of("facts", [("a", torch.ones(2, 1))]),
        checksum_of("facts", files=[tmp_path / "one"]), checksum_of("facts", files=[tmp_path / "two"]),
    ]  # fmt: skip
    assert len(set(sums)) == len(sums) and all(len(each) == 32 and int(each, 16) for each in sums)
    assert checksum_of("facts", ones) == sums[2]
