"""What the table of contents proves is true: a video that it says is usable has a usable segment."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus import Corpus
from mmcc.corpus import index as index_module
from mmcc.corpus.contents import MOST, SpanCounts, contents_of
from mmcc.corpus.format import INDEX_SCHEMA
from mmcc.data import DataConfig, UsableVideos, usable
from mmcc.data.segments import Cutter, NodeTimes
from mmcc.data.usable import certainly_usable

# Multiples of 4 lie on the edges of spans, others within.
times = st.lists(st.integers(0, 60).map(lambda n: n * 4.0) | st.floats(0, 240), max_size=40).map(sorted)
configs = st.builds(
    DataConfig,
    segment_seconds=st.floats(1, 140),
    frame_rates=st.just((0.5, 1.0)),
    min_frames=st.integers(0, 4),
    max_frames=st.integers(4, 20),
    min_utterances=st.integers(1, 4),
    max_utterances=st.integers(4, 20),
)


def counts_of(frames, centres) -> list[SpanCounts]:
    said = [{"start": centre, "end": centre, "text": "word"} for centre in centres]
    row = {"id": "v", "status": "ok", "times": frames, "utterances": said}
    contents = pa.Table.from_batches([contents_of(pa.RecordBatch.from_pylist([row], schema=INDEX_SCHEMA))])
    return [SpanCounts.of(contents.column(name), np.array([0])) for name in ("seen", "said")]


@given(times, times, configs)
def test_what_is_proven_is_so(frames, centres, config):
    nodes = NodeTimes("v", np.array(frames), np.array(centres), ["word"] * len(centres), np.arange(len(centres)))
    (proven,) = certainly_usable(*counts_of(frames, centres), config)
    assert not (proven and Cutter(1.0, config).unusable(nodes))


def test_most_videos_are_proven():
    frames, centres = np.arange(300.0).tolist(), np.arange(1, 300, 3.5).tolist()
    assert certainly_usable(*counts_of(frames, centres), DataConfig()).all()
    assert certainly_usable(*counts_of(frames, centres[::20]), DataConfig(segment_seconds=128, max_frames=128)).all()


def test_what_begins_late_or_slowly_is_proven_by_a_look_at_all_of_it():
    late = np.arange(200, 300, 3.5).tolist()
    assert certainly_usable(*counts_of(np.arange(300.0).tolist(), late), DataConfig()).all()


def test_the_spans_of_a_video_that_begins_well_are_not_all_looked_at(monkeypatch):
    looked = []
    monkeypatch.setattr(
        usable, "_have_window", lambda seen, *_: looked.append(len(seen.lengths)) or looked[-1] * [False]
    )
    frames = np.arange(300.0).tolist()
    assert certainly_usable(*counts_of(frames, np.arange(1, 300, 3.5).tolist()), DataConfig()).all()
    assert not sum(looked)


def test_too_few_and_too_many_nodes_are_not_proven():
    frames, few = np.arange(100.0).tolist(), [5.0]
    assert not certainly_usable(*counts_of(frames, few), DataConfig()).any()
    assert not certainly_usable(*counts_of(frames, [5.0] * 65), DataConfig(max_utterances=64)).any()
    many = DataConfig(max_utterances=MOST + 10)
    assert not certainly_usable(*counts_of(frames, [5.0] * (MOST + 20)), many).any()  # the count ends at MOST
    assert certainly_usable(*counts_of(frames, [5.0] * (MOST - 1)), many).all()


def test_uncounted_and_empty_videos_are_not_proven():
    nobody = pa.chunked_array([pa.nulls(2, pa.list_(pa.uint8()))])
    uncounted = SpanCounts.of(nobody, np.array([1, 0]))
    assert certainly_usable(uncounted, uncounted, DataConfig()).tolist() == [False, False]
    assert certainly_usable(*counts_of([], []), DataConfig()).tolist() == [False]
    none = SpanCounts.of(nobody, np.zeros(0, np.int64))
    assert certainly_usable(none, none, DataConfig()).tolist() == []


def test_usable_videos_are_the_same_without_a_table_of_contents(pixels, monkeypatch):
    expected = UsableVideos(pixels, "train", DataConfig())
    monkeypatch.setattr(index_module, "read_contents", lambda path, crc32: None)
    found = UsableVideos(Corpus.open(pixels.path), "train", DataConfig())
    assert (found.ids, found.unusable) == (expected.ids, expected.unusable) and found.ids
