"""Frames as JPEG, alone and side by side."""

import io

import numpy as np
import pytest
from PIL import Image

from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.report.frames import frame_jpeg, frame_size, strip_jpeg
from mmcc.tools.footage import footage_of


def decoded(jpeg):
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB")).astype(float)


def test_a_frame_is_what_the_corpus_stores(pictures_corpus):
    footage = footage_of(pictures_corpus, pictures_corpus.ids[0])
    stored = footage.video.frames(4, 5)[0].astype(float)
    found = decoded(frame_jpeg(footage, 4))
    assert found.shape == (32, 32, 3) == (*frame_size(footage)[::-1], 3) and np.abs(found - stored).mean() < 6
    small = decoded(frame_jpeg(footage, 4, 16))
    averaged = stored.reshape(16, 2, 16, 2, 3).mean(axis=(1, 3))
    assert small.shape == (16, 16, 3) and np.abs(small - averaged).mean() < 8
    assert decoded(frame_jpeg(footage, 4, 500)).shape == (32, 32, 3)  # never enlarged


def test_a_strip_has_its_frames_from_left_to_right(pictures_corpus):
    footage = footage_of(pictures_corpus, pictures_corpus.ids[0])
    strip = decoded(strip_jpeg(footage, [0, 30, 60], 16))
    assert strip.shape == (16, 48, 3)
    for place, frame in enumerate((0, 30, 60)):
        assert np.abs(strip[:, 16 * place : 16 * (place + 1)] - decoded(frame_jpeg(footage, frame, 16))).mean() < 8


def test_vectors_have_no_look(vectors_path):
    corpus = Corpus.open(vectors_path)
    footage = footage_of(corpus, corpus.ids[0])
    assert frame_size(footage) is None
    with pytest.raises(InputError, match="vectors"):
        frame_jpeg(footage, 0)
