"""What is counted of many videos at once is what a loop over each of them counts."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.figures import COLUMNS, figures_of
from mmcc.corpus.format import INDEX_SCHEMA

moments = st.floats(0, 50)
utterances = st.lists(
    st.fixed_dictionaries({"start": moments, "end": moments, "text": st.text(" a\x1f\u2003\n", max_size=6)}), max_size=8
)
steps = st.lists(st.fixed_dictionaries({"step": st.just(1), "start": moments, "end": moments}), max_size=5)
rows = st.fixed_dictionaries(
    {
        "times": st.none() | st.lists(moments, max_size=5),
        "utterances": st.none() | utterances,
        "steps": st.none() | steps,
        "duration": st.none() | moments,
    }
)


def covered_by_hand(spans, seconds) -> float:
    """Seconds covered by at least one span, within the video."""
    covered = reached = 0.0
    for start, end in sorted((span["start"], span["end"]) for span in spans):
        covered += max(0.0, min(end, seconds) - max(start, reached))
        reached = max(reached, min(end, seconds))
    return covered


@given(st.lists(rows, max_size=6))
def test_figures_equal_a_loop_over_videos(found):
    named = [{"id": f"v{number}", "status": "ok", **row} for number, row in enumerate(found)]
    batch = pa.RecordBatch.from_pylist(named, schema=INDEX_SCHEMA).select(COLUMNS)
    for row, told in zip(found, figures_of(np.arange(len(found)), batch), strict=True):
        said, shown = row["utterances"] or [], row["steps"] or []
        seconds = row["duration"] or (said[-1]["end"] if said else 0.0)
        assert (told.seconds, told.frames, told.utterances) == (seconds, len(row["times"] or []), len(said))
        assert told.words == sum(len(each["text"].split()) for each in said)
        assert told.spoken == covered_by_hand(said, seconds)  # to the last bit
        assert (told.steps, told.shown) == (len(shown), covered_by_hand(shown, seconds))


def test_failed_videos_are_not_readable():
    batch = pa.RecordBatch.from_pylist([{"id": "a", "status": "failed"}], schema=INDEX_SCHEMA).select(COLUMNS)
    (told,) = figures_of(np.arange(1), batch)
    assert not told.readable and told.details["status"] == "failed"
