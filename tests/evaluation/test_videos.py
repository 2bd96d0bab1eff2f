"""Which videos of a corpus an evaluation uses, and what for."""

import shutil

from mmcc.corpus import Corpus
from mmcc.evaluation.task import PRIMARY, RELATED, VALIDATION, Needs
from mmcc.evaluation.videos import EvaluationVideos


def test_a_corpus_is_known_by_its_content(steps_corpus, tmp_path, unlabelled):
    first = EvaluationVideos(Corpus.open(steps_corpus)).fingerprint
    shutil.copytree(steps_corpus, tmp_path / "copy")
    assert EvaluationVideos(Corpus.open(tmp_path / "copy")).fingerprint == first
    assert EvaluationVideos(Corpus.open(unlabelled)).fingerprint != first


def test_settings_are_chosen_on_other_videos_than_tests_are_made_on(steps_corpus):
    corpus = Corpus.open(steps_corpus)
    tested, chosen_on = EvaluationVideos(corpus), EvaluationVideos(corpus, on="validation", held_out=0.5)
    assert chosen_on.primary and set(chosen_on.primary) <= set(corpus.split("train"))
    assert not set(chosen_on.primary + chosen_on.related) & set(tested.primary + tested.related)
    assert not set(chosen_on.primary) & set(chosen_on.training)


def test_what_a_corpus_lacks_is_named(steps_corpus, unlabelled):
    whole, bare = (EvaluationVideos(Corpus.open(path)) for path in (steps_corpus, unlabelled))
    for which in (PRIMARY, RELATED, VALIDATION):
        assert whole.of(which) and not whole.lacks(Needs(which, steps=True, training_videos=True))
    assert bare.lacks(Needs(steps=True)) == "none of the videos has labelled steps" and not bare.lacks(Needs())
    assert bare.lacks(Needs(RELATED)) == "the corpus has no test video of a related task"
