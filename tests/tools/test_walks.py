"""Walks over a whole video, at settings to play with."""

import numpy as np
import pytest

from mmcc.api import load_model
from mmcc.errors import InputError


@pytest.fixture(scope="module")
def model(kitchen_footage):
    return load_model(kitchen_footage.run, cache=kitchen_footage.cache)


@pytest.fixture(scope="module")
def seen(model, kitchen_footage):
    library = model.open_library(kitchen_footage.corpus)
    return model.see(library.footage(next(card.key for card in library.cards if card.utterances > 5)))


def test_stations_are_where_edges_attend_most(model, seen):
    video = seen.footage.video
    for modality in ("vision", "text"):
        walk = model.walk(seen, 4, modality=modality)
        assert walk.stations[0].index == 4 and walk.stations[0].modality == modality
        for station, edge in zip(walk.stations[1:], walk.edges, strict=True):
            assert station.role == edge.role and station.modality == edge.modality
            assert station.index == int(edge.weights.argmax()) and edge.weights.sum() == pytest.approx(1, abs=1e-4)
            if station.modality == "text":
                said = video.utterances[station.index]
                assert (station.time, station.end, station.text) == (said.start, said.end, said.text)
            else:
                assert station.time == video.times[station.index] and station.end is None
        assert walk.returns == (walk.stations[-1].index == 4)


def test_a_lower_temperature_is_sharper(model, seen):
    def entropy(temperature):
        weights = model.walk(seen, 9, temperature=temperature).edges[0].weights.astype(np.float64)
        return -(weights * np.log(weights + 1e-30)).sum()

    assert entropy(0.02) < entropy(0.1) < entropy(1)


def test_with_the_constraint_the_future_lies_ahead(model, seen):
    for start in (0, 10, 50):
        ahead = model.walk(seen, start, constrain=True).edges[1].weights
        behind = model.walk(seen, start + 1, constrain=True, backward=True).edges[1].weights
        assert not ahead[: start + 1].any() and not behind[start + 1 :].any()


def test_nodes_that_there_are_not(model, seen):
    for modality, index in (("vision", 10_000), ("text", 10_000)):
        with pytest.raises(InputError, match="numbered from 0"):
            model.walk(seen, index, modality=modality)


def test_what_is_seen_is_cached_and_counted(model, seen):
    assert model.has_seen(seen.footage)
    held = seen.nodes[0]["vision"].z.nbytes
    assert held <= seen.bytes <= 20 * held
