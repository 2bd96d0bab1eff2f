"""Which words of a text are known."""

import pytest

from mmcc.tools.words import FUNCTION_WORDS, understood


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "vocabulary.txt").write_text("<padding>\n<unknown>\nthe\nin\npour\npan\nit\n")
    return tmp_path


def test_only_content_words_count(folder):
    eggs, pan, both = understood(folder, ["Pour in the eggs", "in the pan", "in the eggs and the wok, the eggs"])
    assert (eggs.unknown, eggs.known, eggs.stranger) == (["eggs"], ["pour"], False)
    assert (pan.unknown, pan.known) == ([], ["pan"])
    assert (both.unknown, both.stranger) == (["eggs", "wok"], True)


def test_a_text_of_function_words_alone_is_judged_by_them(folder):
    known, unknown, nothing = understood(folder, ["in it", "you and me", "…"])
    assert (known.known, known.stranger) == (["in", "it"], False)
    assert unknown.stranger and unknown.unknown == ["you", "and", "me"]
    assert nothing.stranger and nothing.unknown == []


def test_without_a_vocabulary_everything_is_known(tmp_path):
    for text in understood(tmp_path, ["flambé the tofu", "in the", "…"]):
        assert text.unknown == [] and not text.stranger


def test_function_words_are_words():
    assert {"the", "in", "and", "it's"} <= FUNCTION_WORDS and not {"pour", "eggs", "cut"} & FUNCTION_WORDS
