"""Which nodes a segment has: thinned to a rate, cut at one time, a function of seed and number alone."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmcc.corpus import Corpus
from mmcc.corpus.format import Manifest, split_of
from mmcc.corpus.index import IndexWriter
from mmcc.data import DataConfig, SegmentSampler, UsableVideos
from mmcc.data.rng import Use, generator
from mmcc.data.segments import Cutter, NodeTimes, consecutive_segments, thin
from mmcc.errors import InputError
from mmcc.media.utterances import Utterance

moments_in_time = st.lists(st.floats(0, 200), max_size=60).map(lambda times: np.sort(np.array(times, np.float64)))
made_up = st.builds(
    lambda frames, centres: NodeTimes("v", frames, centres, ["word"] * len(centres), np.arange(len(centres))),
    moments_in_time,
    moments_in_time,
)
tight = st.builds(
    DataConfig,
    segment_seconds=st.floats(1, 100),
    frame_rates=st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=1, max_size=3).map(tuple),
    max_frames=st.integers(2, 20),
    max_utterances=st.integers(2, 20),
)


def evenly(seconds, rate=1.0, centres=()):
    frames = np.arange(round(seconds * rate)) / rate
    texts = [f"word {at}" for at in range(len(centres))]
    return NodeTimes("v", frames, np.array(centres, np.float64), texts, np.arange(len(centres)))


def test_thinning_takes_the_middle_of_each_interval():
    times = np.arange(12.0)
    assert times[thin(times, start=0, rate=0.25)].tolist() == [2, 6, 10]
    assert times[thin(times, start=0, rate=0.5)].tolist() == [1, 3, 5, 7, 9, 11]
    assert times[thin(times[3:], start=2.7, rate=0.25) + 3].tolist() == [5, 9]
    assert times[thin(times, start=0, rate=1.0)].tolist() == times.tolist()


def test_thinning_leaves_gaps_as_they_are():
    times = np.array([0.0, 1, 2, 3, 17, 18, 19, 20])
    assert times[thin(times, start=0, rate=0.25)].tolist() == [2, 18]


def thin_by_hand(times, start, rate):
    kept = {}
    for at, time in enumerate(times):
        interval = int((time - start) * rate // 1)
        middle = start + (interval + 0.5) / rate
        if interval not in kept or abs(time - middle) < abs(times[kept[interval]] - middle):
            kept[interval] = at
    picked = [kept[interval] for interval in sorted(kept)]
    return [at for before, at in pairwise([None, *picked]) if before is None or times[at] - times[before] > 0.6 / rate]


@given(st.lists(st.integers(0, 1600), max_size=60, unique=True), st.integers(-80, 0), st.sampled_from([0.25, 0.5, 1.0]))
def test_thinning_equals_its_rule(eighths, start, rate):
    times, start = np.sort(np.array(eighths, np.float64)) / 8, start / 8  # eighths are exact, and so are ties
    assert thin(times, start, rate).tolist() == thin_by_hand(times, start, rate)


@given(made_up, tight, st.floats(-10, 200), st.sampled_from([0.25, 0.5, 1.0]))
def test_caps_cut_both_modalities_at_one_time(nodes, config, start, rate):
    segment = Cutter(1.0, config).cut(nodes, start, rate)
    frames, centres = segment.frame_times, segment.text_times
    assert len(frames) <= config.max_frames and len(centres) <= config.max_utterances
    assert segment.end <= start + config.segment_seconds
    assert all(start <= time < segment.end for time in [*frames, *centres])
    # No node of the span is missing: all utterances, and all frames of the uncut segment.
    uncut = Cutter(1.0, DataConfig(segment_seconds=config.segment_seconds, max_frames=999, max_utterances=999))
    whole = uncut.cut(nodes, start, rate)
    assert segment.utterances.tolist() == [at for at, time in enumerate(nodes.centres) if start <= time < segment.end]
    assert segment.frames.tolist() == [at for at in whole.frames if nodes.frames[at] < segment.end]
    # And it ends early only where one modality has no room for the next node.
    if segment.end < whole.end:
        full = len(whole.frames) > config.max_frames and segment.end == nodes.frames[whole.frames[config.max_frames]]
        assert full or segment.end == nodes.centres[whole.utterances[config.max_utterances]]


def test_a_cap_by_hand():
    nodes = evenly(64, centres=[1.5, 3.5, 9.5, 10.5, 30.5])
    segment = Cutter(1.0, DataConfig(max_frames=10)).cut(nodes, 0.0, 1.0)
    assert segment.end == 10 and segment.text_times.tolist() == [1.5, 3.5, 9.5]
    assert segment.texts == ["word 0", "word 1", "word 2"]
    segment = Cutter(1.0, DataConfig(max_utterances=2)).cut(nodes, 0.0, 0.5)
    assert segment.end == 9.5 and segment.frame_times.tolist() == [1, 3, 5, 7, 9]


@pytest.mark.parametrize(("corpus_rate", "rates"), [(2.0, (0.25, 0.5, 1.0)), (0.6, (0.25, 0.5)), (0.1, (0.1,))])
def test_rates_never_exceed_the_corpus(corpus_rate, rates):
    assert Cutter(corpus_rate, DataConfig()).rates == rates


@given(made_up, tight, st.integers(0, 9))
def test_a_usable_video_always_gives_a_segment(nodes, config, number):
    cutter = Cutter(1.0, config)
    assume(not cutter.unusable(nodes))
    segment = cutter.draw(nodes, generator(0, Use.SEGMENT, number))
    again = cutter.draw(nodes, generator(0, Use.SEGMENT, number))
    assert cutter.suffices(segment)
    assert (segment.start, segment.rate, segment.frames.tolist()) == (again.start, again.rate, again.frames.tolist())


@given(made_up, tight)
def test_consecutive_segments_neither_overlap_nor_omit_anything(nodes, config):
    assume(len(nodes.frames))
    segments = list(Cutter(1.0, config).consecutive(nodes, rate=1.0))
    assert all(before.end <= after.start for before, after in pairwise(segments))
    frames = [at for segment in segments for at in segment.frames]
    assert frames == sorted(set(frames))
    crowded = np.unique(nodes.frames, return_counts=True)[1].max() > config.max_frames
    crowded |= np.unique(nodes.centres, return_counts=True)[1].max(initial=0) > config.max_utterances
    assert crowded or frames == list(range(len(nodes.frames)))


def test_draws_reach_every_part_of_a_video_even_where_frames_are_capped():
    nodes = evenly(300, centres=np.arange(0.5, 300, 3))
    cutter = Cutter(1.0, DataConfig(max_frames=16))
    seen = {int(at) for number in range(3000) for at in cutter.draw(nodes, generator(0, Use.SEGMENT, number)).frames}
    assert seen == set(range(300))


def test_a_short_video_shows_all_its_frames_at_the_lowest_rate_too():
    nodes = evenly(20, centres=[4.0, 8.0, 12.0])
    cutter = Cutter(1.0, DataConfig(frame_rates=(0.25,)))
    seen = {int(at) for number in range(200) for at in cutter.draw(nodes, generator(0, Use.SEGMENT, number)).frames}
    assert seen == set(range(20))


def test_captions_after_the_end_of_the_video_attract_no_segments():
    nodes = evenly(300, centres=[*np.arange(0.5, 300, 3), 36000.0])
    starts = {Cutter(1.0, DataConfig()).draw(nodes, generator(0, Use.SEGMENT, n)).start for n in range(50)}
    assert len(starts) == 50 and max(starts) < 300


def test_a_video_of_sparse_words_is_searched_and_not_always_at_one_place():
    centres = [1000.0, 1001.0, 9000.0, 9001.0]
    cutter = Cutter(1.0, DataConfig(segment_seconds=8.0))
    segments = [cutter.draw(evenly(10000, centres=centres), generator(0, Use.SEGMENT, n)) for n in range(20)]
    assert {segment.text_times.tolist()[0] for segment in segments} == {1000.0, 9000.0}


def test_utterances_are_in_order_of_their_centres_and_have_words(make_corpus):
    corpus = make_corpus({"soup": (30, [(1, 3, "cut the carrot."), (8, 10, "♪ ♪"), (12, 14, "boil it now.")])})
    nodes = NodeTimes.of(corpus["soup"])
    assert nodes.texts == ["cut the carrot.", "boil it now."]
    assert (np.diff(nodes.centres) > 0).all() and len(nodes.frames) == 30


def test_utterances_that_overlap_are_ordered_by_their_centres():
    said = [Utterance(0.0, 9.0, "long"), Utterance(1.0, 2.0, "short"), Utterance(3.0, 4.0, "after")]
    nodes = NodeTimes.of(SimpleNamespace(id="v", times=np.arange(9.0), utterances=said))
    assert nodes.centres.tolist() == [1.5, 3.5, 4.5] and nodes.texts == ["short", "after", "long"]


@pytest.fixture(scope="module")
def usable(pixels) -> UsableVideos:
    return UsableVideos(pixels, "train", DataConfig())


def test_each_epoch_shows_every_video_once(usable):
    sampler = SegmentSampler(usable, seed=3)
    orders = [[sampler.segment(e * len(sampler) + n).nodes.video for n in range(len(sampler))] for e in range(3)]
    assert all(sorted(order) == sorted(usable.ids) for order in orders)
    assert orders[0] != orders[1] != orders[2]


def test_each_epoch_shows_another_stretch_of_a_video(usable):
    sampler = SegmentSampler(usable, seed=3)
    segments = [sampler.segment(number) for number in range(5 * len(sampler))]
    assert len({segment.start for segment in segments}) == len(segments)


def described(segment):
    return segment.nodes.video, segment.start, segment.end, segment.rate, *segment.frames, *segment.utterances


def test_a_segment_depends_on_seed_and_number_alone(usable):
    forwards, backwards = SegmentSampler(usable, seed=3), SegmentSampler(usable, seed=3)
    numbers = range(50)
    there = [described(forwards.segment(number)) for number in numbers]
    assert [described(backwards.segment(number)) for number in reversed(numbers)] == there[::-1]
    assert [described(SegmentSampler(usable, seed=4).segment(number)) for number in numbers] != there


def test_all_rates_are_drawn_and_times_keep_them(usable):
    sampler = SegmentSampler(usable, seed=0)
    segments = [sampler.segment(number) for number in range(90)]
    rates = [segment.rate for segment in segments]
    assert all(rates.count(rate) > 15 for rate in (0.25, 0.5, 1.0))
    inner = [segment.frame_times[1:-1] for segment in segments]  # at a video's ends frames may be closer
    assert all(np.allclose(np.diff(times), 1 / rate) for times, rate in zip(inner, rates, strict=True))


def test_validation_segments_are_spread_where_they_are_limited(usable):
    every, some = consecutive_segments(usable), consecutive_segments(usable, limit=7)
    assert len(every) > 14 and len(some) == 7 and len({described(segment) for segment in some}) == 7
    assert {described(segment) for segment in some} <= {described(segment) for segment in every}
    assert len({segment.nodes.video for segment in some}) > 3


TALK = [(start, start + 2, "cut the carrot.") for start in (3, 13, 23)]


def train_ids(count):
    """Names that fall in the training split."""
    return [name for name in (f"v{n}" for n in range(100)) if split_of(name) == "train"][:count]


def test_unusable_videos_are_counted_with_their_reasons(make_corpus):
    good, mute, terse, still, apart = train_ids(5)
    corpus = make_corpus(
        {
            good: (40, TALK),
            mute: (40, []),
            terse: (40, TALK[:1]),
            still: (1, TALK),
            apart: (400, [(3, 5, "cut the carrot."), (303, 305, "boil it now.")]),
        }
    )
    videos = UsableVideos(corpus, "train", DataConfig())
    assert videos.ids == [good]
    assert videos.unusable == {
        mute: "no captions",
        terse: "fewer than 2 utterances",
        still: "fewer than 2 frames",
        apart: "no segment of 128 s has 2 frames and 2 utterances",
    }
    assert "fewer than 2 frames (1)" in videos.why_unusable()


def test_a_corpus_without_captions_is_refused_with_the_remedy(make_corpus):
    corpus = make_corpus({name: (40, []) for name in train_ids(3)})
    with pytest.raises(InputError, match="none of its 3 train videos has captions") as caught:
        UsableVideos(corpus, "train", DataConfig())
    assert "caption files" in caught.value.remedy
    assert "--transcribe" not in caught.value.remedy  # there is no speech to recognize in vectors
    corpus.manifest.encoding = "jpeg"
    with pytest.raises(InputError, match=r"none of its 3 train videos has captions\n.*--transcribe"):
        UsableVideos(corpus, "train", DataConfig())


def test_a_corpus_that_cannot_be_used_says_why(make_corpus):
    one, other = train_ids(2)
    corpus = make_corpus({one: (40, []), other: (1, TALK)})
    with pytest.raises(InputError, match=r"no captions \(1\), fewer than 2 frames \(1\)"):
        UsableVideos(corpus, "train", DataConfig())


def test_an_empty_split_is_named(make_corpus):
    corpus = make_corpus({train_ids(1)[0]: (40, TALK)})
    with pytest.raises(InputError, match="has no video for validation"):
        UsableVideos(corpus, "validation", DataConfig())


def test_an_empty_corpus_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    Manifest("raw", 1.0, 48).save(tmp_path / "empty")
    IndexWriter(tmp_path / "empty").close()
    with pytest.raises(InputError, match=r"has no videos\n.*mmcc ingest"):
        UsableVideos(Corpus.open(tmp_path / "empty"), "train", DataConfig())
