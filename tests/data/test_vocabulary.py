"""Words and their numbers, by hand."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.data import DataConfig, Vocabulary
from mmcc.data.vocabulary import PADDING, UNKNOWN, has_words, words_of
from mmcc.errors import InputError

TEXTS = ["Now add the Flour.", "don't add flour!", "the egg, the EGG", "flour"]


def test_words_are_counted_and_ordered():
    # the 3, flour 3, add 2, egg 2, don't 1, now 1
    assert Vocabulary.build(TEXTS, min_count=1, max_size=100).words[2:] == (
        *("flour", "the"),
        *("add", "egg"),
        *("don't", "now"),
    )
    assert Vocabulary.build(TEXTS, min_count=2, max_size=100).words[2:] == ("flour", "the", "add", "egg")


def test_the_size_counts_padding_and_unknown():
    vocabulary = Vocabulary.build(TEXTS, min_count=1, max_size=5)
    assert len(vocabulary) == 5 and vocabulary.words[2:] == ("flour", "the", "add")


def test_encoding_by_hand():
    vocabulary = Vocabulary(["flour", "the", "add"])
    ids = vocabulary.encode(["Add the salt", "", "the the the the FLOUR"], max_words=4)
    assert ids.tolist() == [[4, 3, UNKNOWN, PADDING], [PADDING] * 4, [3, 3, 3, 3]]


def test_what_has_no_words():
    assert [has_words(text) for text in ("♪ ♪", "--", "", "ok", "Ünïcode", "7")] == [False] * 3 + [True] * 3
    assert words_of("Crème brûlée, don't") == ["crème", "brûlée", "don't"]


@given(st.lists(st.text(max_size=20), max_size=8))
def test_it_survives_a_round_trip_through_a_file(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.txt"
    vocabulary = Vocabulary.build(texts, min_count=1, max_size=1000)
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary


@given(st.lists(st.text(alphabet=string.ascii_lowercase + " '", max_size=20), max_size=8), st.randoms())
def test_the_order_of_texts_does_not_matter(texts, random):
    shuffled = random.sample(texts, len(texts))
    assert Vocabulary.build(texts, 1, 1000) == Vocabulary.build(shuffled, 1, 1000)


@pytest.mark.parametrize("content", [b"flour\nthe\n", b"<padding>\n<unknown>\nthe\nthe\n", b"\xff\xfe", b""])
def test_another_file_is_not_mistaken_for_a_vocabulary(tmp_path, content):
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"vocabulary\.txt"):
        Vocabulary.load(path)


def test_of_a_corpus_only_the_named_videos_count(pixels):
    train = pixels.split("train")
    vocabulary = Vocabulary.of_corpus(pixels, train, DataConfig(min_word_count=1))
    said = {word for each in train for utterance in pixels[each].utterances for word in words_of(utterance.text)}
    assert set(vocabulary.words[2:]) == said


def test_a_corpus_of_rare_words_says_which_setting_to_change(make_corpus):
    corpus = make_corpus({"soup": (20, [(1, 3, "cut the carrot.")])})
    with pytest.raises(InputError, match=r"no word is said 3 times[^$]*min_word_count"):
        Vocabulary.of_corpus(corpus, corpus.ids, DataConfig())
