"""Φ_T: an utterance as the maximum over its words.

    z = w2 · max over words of ReLU(w1 · W[word])                                                  (appendix)

Shapes: P utterances, W words of an utterance, Q distinct words of a batch, D dims.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PADDING = 0  # the word id that is no word


class TextEncoder(nn.Module):
    """Utterances as word ids → z. One without a single word embeds as w2 of zeros."""

    def __init__(self, vocabulary_size: int, dims: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, dims, padding_idx=PADDING)
        self.w1 = nn.Linear(dims, dims)
        self.w2 = nn.Linear(dims, dims)

    def forward(self, words_PW: Tensor) -> Tensor:
        # A batch says the same few hundred words over and over: w1 runs once for each of them.
        # One more column of padding, so that there is a maximum also where no utterance has a word.
        distinct_Q, place_PW = torch.unique(F.pad(words_PW, (0, 1), value=PADDING), return_inverse=True)
        seen_QD = F.relu(self.w1(self.words(distinct_Q)))
        # After ReLU nothing is below 0, so a padding of 0 never exceeds a word.
        seen_QD = seen_QD.masked_fill((distinct_Q == PADDING)[:, None], 0.0)
        utterance_PD = F.embedding_bag(place_PW, seen_QD, mode="max")  # without a [P, W, D] in memory
        z_PD: Tensor = self.w2(utterance_PD)
        return z_PD
