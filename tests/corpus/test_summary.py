"""The figures of `inspect`, against values worked out by hand."""

import pytest

from mmcc.corpus.summary import render_summary, summarize
from tests.corpus.small_corpus import write_corpus


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(tmp_path / "c")


def test_counts_coverage_and_speed_of_speech(corpus):
    summary = summarize(corpus)
    assert (summary.videos, summary.frames, summary.utterances, summary.words) == (2, 3, 3, 12)
    assert summary.hours == pytest.approx(180 / 3600) and summary.median_seconds == 90
    assert summary.words_per_minute == pytest.approx(12)  # in the 60 s of the video that has captions
    assert summary.speech_coverage == pytest.approx((4 + 4) / 60)
    assert summary.step_coverage == pytest.approx((10 + 10) / 60)  # a step does not outlast its video
    assert summary.decoded_coverage == pytest.approx(120 / 180)


def test_caption_lag_is_from_a_step_to_the_words_that_name_it(corpus):
    # "cut the onion" at 2 s is named at 0 s: -2. "heat oil" at 8 s is named at 10 s: +2. The third, at 50 s, is named
    # by no utterance within 30 s.
    summary = summarize(corpus)
    assert summary.caption_lag_pairs == 2 and summary.caption_lag == pytest.approx(0)


def test_what_is_missing_is_listed(corpus):
    summary = summarize(corpus)
    assert summary.failed == [{"path": "c.mp4", "reason": "broken"}] and summary.absent == 1
    assert summary.partial == [{"path": "b.mp4", "decoded": 60.0, "expected": 120.0}]
    assert summary.uncaptioned == ["b.mp4"]
    assert (summary.annotated, summary.segments) == (2, 4)
    assert summary.tasks["7"][2:] == (1, 3, 4)  # found, listed, clips
    page = render_summary(summary)
    for fact in ("Fry an onion", "c.mp4: broken", "60.0 of 120.0 s", "12 words per minute"):
        assert fact in page


def test_an_index_is_read_in_batches_and_none_of_it_stays(corpus, monkeypatch):
    """Maps of the index of a million videos would be 6 GB of resident memory."""
    expected = summarize(corpus)
    monkeypatch.setattr("mmcc.corpus.rows.Rows.columns", lambda *_: pytest.fail("it was mapped"))
    assert summarize(corpus) == expected
