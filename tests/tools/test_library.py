"""A library's cards, against the videos themselves."""

import pytest

from mmcc.api import load_model
from mmcc.errors import InputError
from mmcc.tools.library import key_of


@pytest.fixture(scope="module")
def library(kitchen_footage):
    return load_model(kitchen_footage.run, cache=kitchen_footage.cache).open_library(kitchen_footage.corpus)


def covered(video, steps=100):
    """Seconds in which something is said, counted in hundredths."""
    said = {tick for each in video.utterances for tick in range(round(each.start * steps), round(each.end * steps))}
    return len(said) / steps


def test_cards_say_what_the_videos_do(library):
    for card in library.cards:
        footage = library.footage(card.key)
        assert footage.video.id == card.id and card.key == key_of(card.id)
        assert (card.frames, card.utterances) == (len(footage.video.times), len(footage.video.utterances))
        assert card.duration == max(footage.video.duration, footage.video.times[-1])
        assert card.task == footage.task.title and card.split == footage.video.split
        assert card.coverage == pytest.approx(min(1, covered(footage.video) / card.duration), abs=0.01)
    assert library.counts.frames == sum(card.frames for card in library.cards)


def test_pages_are_slices_of_one_order(library):
    for sort in ("title", "duration", "coverage", "task"):
        whole = library.page(sort=sort, limit=100).cards
        parts = [card for at in range(0, 10, 3) for card in library.page(sort=sort, offset=at, limit=3).cards]
        assert parts == whole and set(whole) == set(library.cards)
        assert library.page(sort=sort, descending=True, limit=100).cards == whole[::-1]
        values = [getattr(card, sort) for card in whole]
        assert values == sorted(values)


def test_every_word_of_a_query_is_in_the_title_the_task_or_what_is_said(library):
    for query in ("the", "MAKE", "add sugar", "zorkmid", "make zorkmid", ".*", "%", "kitchen0-00003"):
        found = {card.id for card in library.page(query, limit=100).cards}
        expected = set()
        for card in library.cards:
            texts = [card.title, card.task, *(each.text for each in library.footage(card.key).video.utterances)]
            if all(any(word in text.lower() for text in texts) for word in query.lower().split()):
                expected.add(card.id)
        assert found == expected, query
    assert 0 < len(library.page("add sugar").cards) < 8


def test_videos_of_a_task(library):
    task = library.cards[0].task
    found = library.page(task=task, limit=100)
    assert found.total == sum(card.task == task for card in library.cards) and found.cards[0].task == task


def test_a_folder_of_files(kitchen_footage):
    model = load_model(kitchen_footage.run, cache=kitchen_footage.cache)
    library = model.open_library(kitchen_footage.videos[0].parent)
    assert len(library) == 3 and {library.footage(card.key).path for card in library.cards} == set(
        kitchen_footage.videos
    )
    silent = next(card for card in library.cards if not card.utterances)
    assert silent.coverage == 0


def test_keys_that_no_video_has(library, kitchen_footage, tmp_path):
    assert "nothing" not in library
    with pytest.raises(KeyError):
        library.footage("nothing")
    with pytest.raises(InputError):
        load_model("kitchen").open_library(tmp_path)
