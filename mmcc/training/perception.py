"""What a configuration's encoders read of a corpus: pictures or stored vectors, words or stored vectors.

A frozen pretrained encoder reads the vectors that `mmcc embed` stored; the corpus is opened with them. Facts of the
encoders that only the corpus knows (the length of vectors, whose vectors they are) become part of the configuration.

Shapes: P frames or utterances, F dims.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from mmcc.backbones import embed_frames, open_frame_backbone
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Encoder
from mmcc.corpus.vectors import VectorCorpus, Wanted, with_vectors
from mmcc.data.loader import read_frames
from mmcc.data.segments import NodeTimes, UsableVideos
from mmcc.errors import InputError
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings, FrameResNetSettings
from mmcc.models.pretrained_encoders import (
    HeadSettings,
    PretrainedFrameEncoder,
    PretrainedFrameSettings,
    PretrainedTextEncoder,
    PretrainedTextSettings,
)
from mmcc.models.registry import Network
from mmcc.training.config import Config

_VECTORS = 20_000  # to compute means and principal components from: more change nothing
_PICTURES = 512  # the same, where a backbone has to see them first
_LEAST_OF_A_VIDEO = 16  # evenly spaced: neighbouring frames say the same

Settings = TypeVar("Settings", bound=HeadSettings)


def reads_words(config: ModelConfig) -> bool:
    """Whether the text encoder reads words of a vocabulary."""
    return not isinstance(config.text_encoder, PretrainedTextSettings)


def for_encoders(corpus: Corpus, config: ModelConfig) -> Corpus:
    """The corpus with the stored vectors that the model's encoders read; InputError if it has none."""
    frames, text = config.frame_encoder, config.text_encoder
    return with_vectors(
        corpus,
        frames=_wanted(frames) if isinstance(frames, PretrainedFrameSettings) and frames.frozen else None,
        text=_wanted(text) if isinstance(text, PretrainedTextSettings) else None,
    )


def if_embedded(corpus: Corpus, config: ModelConfig) -> Corpus:
    """The same where the vectors are there; otherwise the corpus as it is, whose pictures the encoders read too."""
    try:
        return for_encoders(corpus, config)
    except InputError:
        return corpus


def fit_to_corpus(config: Config, corpus: Corpus) -> Config:
    """Fill in what the encoders need to know; a corpus of feature vectors needs its own encoder."""
    frames = config.model.frame_encoder
    if isinstance(frames, PretrainedFrameSettings):
        frames = _filled_in(frames, corpus.frame_encoder if isinstance(corpus, VectorCorpus) else None)
        if not frames.feature_dims:  # not frozen: it reads pictures
            backbone = open_frame_backbone(frames.name)
            frames = replace(frames, feature_dims=backbone.dims, checksum=backbone.checksum)
    elif corpus.manifest.encoding != "float32":
        if frames.reads_features:
            raise InputError(corpus.path, "contains frames, not feature vectors", "Set --model.frame_encoder resnet18.")
    else:
        if frames.name == FrameResNetSettings.name:
            frames = FeatureSettings()
        if not frames.reads_features:
            cause = f"contains feature vectors, but the frame encoder {frames.name} reads images"
            raise InputError(corpus.path, cause, "Set --model.frame_encoder features.")
        if "feature_dims" in frames.__dataclass_fields__:
            frames = replace(frames, feature_dims=corpus.manifest.size)  # type: ignore[call-arg]
    text = config.model.text_encoder
    if isinstance(text, PretrainedTextSettings):
        text = _filled_in(text, corpus.text_encoder if isinstance(corpus, VectorCorpus) else None)
    return replace(config, model=replace(config.model, frame_encoder=frames, text_encoder=text))


def fit_heads(model: Network, videos: UsableVideos) -> None:
    """Compute the whitening of every pretrained encoder from the training videos, before the first step."""
    for module in model.modules():
        if isinstance(module, PretrainedFrameEncoder) and module.head.whitens:
            frozen = module.settings.frozen
            frames = torch.from_numpy(_sample(videos, of_text=False, most=_VECTORS if frozen else _PICTURES))
            if not frozen:  # pictures; the backbone is as it was published
                (frames,) = embed_frames(open_frame_backbone(module.settings.name), [frames])
            module.head.fit(frames)
        if isinstance(module, PretrainedTextEncoder) and module.head.whitens:
            module.head.fit(torch.from_numpy(_sample(videos, of_text=True, most=_VECTORS)))


def _sample(videos: UsableVideos, *, of_text: bool, most: int) -> NDArray[Any]:
    """Frames or text vectors of the training videos, from all of them where there is room."""
    order = np.random.default_rng(0).permutation(len(videos.ids))
    each = max(_LEAST_OF_A_VIDEO, most // len(order))
    found: list[NDArray[Any]] = []
    for place in order[: most // _LEAST_OF_A_VIDEO]:
        video = videos.corpus[videos.ids[place]]
        wanted = NodeTimes.of(video).places if of_text else np.arange(len(video.times))
        wanted = wanted[np.unique(np.linspace(0, len(wanted) - 1, min(each, len(wanted))).astype(int))]
        if of_text:
            assert video.text_vectors is not None
            found.append(video.text_vectors[wanted])
        elif len(wanted):
            found.append(read_frames(video, wanted))
    return np.concatenate(found)


def _wanted(settings: PretrainedFrameSettings | PretrainedTextSettings) -> Wanted:
    return Wanted(settings.name, settings.checksum or None)


def _filled_in(settings: Settings, encoder: Encoder | None) -> Settings:
    """With the facts of a stored encoder, if there is one."""
    if encoder is None:
        return settings
    return replace(settings, feature_dims=encoder.dims, checksum=encoder.checksum)
