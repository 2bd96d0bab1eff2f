"""Labelled clips as nodes: the mean over the frames, or the utterances, between a clip's start and its end.

Shapes: C clips, n frames or k utterances of a video, D dims.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus.source import LabelledClip
from mmcc.evaluation.adapter import Embedding, Remember
from mmcc.evaluation.embedding import EmbeddedVideo

Times = NDArray[np.float64]


def clips_in_time(video: EmbeddedVideo) -> list[LabelledClip]:
    """A video's labelled clips in order of time."""
    return sorted(video.steps, key=lambda clip: (clip.start, clip.end))


def clip_nodes(video: EmbeddedVideo, clips: Sequence[LabelledClip]) -> Embedding:
    """The frames of each clip as one node [C, D]: mean z, unit-norm mean π.

    A clip too short to contain a frame takes the one nearest to its middle.
    """
    inside_Cn = within(video.times, clips)
    middles = np.array([(clip.start + clip.end) / 2 for clip in clips])
    nearest = np.abs(video.times - middles[:, None]).argmin(axis=1)
    alone = np.flatnonzero(~inside_Cn.any(axis=1))
    inside_Cn[alone, nearest[alone]] = True
    return video.frames.mean(_shares(inside_Cn, video.frames))


def clips_so_far(video: EmbeddedVideo, clips: Sequence[LabelledClip], remember: Remember) -> Embedding:
    """The same by a model that remembers: with the mean z of all frames before each clip, if there are any."""
    nodes = clip_nodes(video, clips)
    before_Cn = video.times < np.array([clip.start for clip in clips])[:, None]
    known_C = torch.from_numpy(before_Cn.any(axis=1))
    before_CD = _shares(before_Cn, video.frames) @ video.frames.z
    return Embedding(torch.where(known_C[:, None], remember(nodes, before_CD).z, nodes.z), nodes.pi)


def said_in(video: EmbeddedVideo, clips: Sequence[LabelledClip]) -> tuple[Embedding, NDArray[np.bool_]]:
    """The utterances centred in each clip as one node [C, D], and which clips [C] have any."""
    assert video.utterances is not None, "the model does not embed text"
    inside_Ck = within(video.text_times, clips)
    return video.utterances.mean(_shares(inside_Ck, video.utterances)), np.asarray(inside_Ck.any(axis=1))


def within(times: Times, clips: Sequence[LabelledClip]) -> NDArray[np.bool_]:
    """[C, n]: start ≤ t < end."""
    starts, ends = (np.array([getattr(clip, side) for clip in clips]) for side in ("start", "end"))
    return np.asarray((starts[:, None] <= times) & (times < ends[:, None]))


def _shares(inside_Cn: NDArray[np.bool_], nodes: Embedding) -> Tensor:
    """Equal weights for what is inside; all 0 where nothing is."""
    shares = inside_Cn / np.maximum(inside_Cn.sum(axis=1, keepdims=True), 1)
    return torch.from_numpy(shares).to(nodes.z.dtype)
