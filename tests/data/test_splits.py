"""Which videos train the model, select the checkpoint and test it."""

import pytest

from mmcc.data.splits import some_of, videos_for, why_none_for


class Splits:
    """A stand-in for a corpus: its splits alone."""

    def __init__(self, **videos):
        self.videos = videos

    def split(self, name):
        return self.videos.get(name, [])

    def __len__(self):
        return sum(map(len, self.videos.values()))


TRAINING = [f"video{number:03}" for number in range(100)]


def test_a_corpus_with_test_videos_is_used_as_it_is():
    corpus = Splits(train=["a"], validation=["b"], test=["c"])
    assert [videos_for(corpus, purpose, 0.05) for purpose in ("train", "validation", "test")] == [["a"], ["b"], ["c"]]


def test_without_test_videos_the_validation_videos_are_the_test_and_some_training_videos_select():
    corpus = Splits(train=TRAINING, validation=["x", "y"])
    train, validation = videos_for(corpus, "train", 0.05), videos_for(corpus, "validation", 0.05)
    assert videos_for(corpus, "test", 0.05) == ["x", "y"]
    assert len(validation) == 5
    assert sorted(train + validation) == TRAINING


def test_the_videos_held_out_do_not_depend_on_their_order():
    there = videos_for(Splits(train=TRAINING), "validation", 0.1)
    assert sorted(there) == sorted(videos_for(Splits(train=TRAINING[::-1]), "validation", 0.1))


@pytest.mark.parametrize(("videos", "share"), [(TRAINING, 0.0), (TRAINING[:9], 0.05)])
def test_too_few_videos_hold_none_out(videos, share):
    assert videos_for(Splits(train=videos), "validation", share) == []
    assert videos_for(Splits(train=videos), "train", share) == videos


def test_smaller_selections_are_subsets_and_zero_means_all():
    few, more = some_of(TRAINING, 10), some_of(TRAINING, 30)
    assert len(few) == 10 and len(more) == 30 and set(few) < set(more) < set(TRAINING)
    assert more == sorted(more)
    assert some_of(TRAINING, 0) == some_of(TRAINING, 1000) == TRAINING


def test_validation_videos_that_are_test_videos_are_not_denied():
    """`mmcc inspect` says that there are 4: they cannot be said not to be there."""
    corpus = Splits(train=TRAINING[:6], validation=["w", "x", "y", "z"])
    assert videos_for(corpus, "validation", 0.05) == []
    told = why_none_for(corpus, "validation")
    assert "its 4 validation videos serve as test videos" in told and "6 training videos are too few" in told
    assert why_none_for(Splits(train=["a", "b"]), "test") == "none of its 2 videos is for test"
    assert why_none_for(Splits(train=["a"]), "test") == "has no video for test"
