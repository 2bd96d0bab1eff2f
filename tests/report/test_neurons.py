"""Neurons as people see them."""

from dataclasses import replace

import numpy as np

from mmcc.report.neurons import neurons_page, render
from mmcc.tools.neurons import ExcitingFrame, FoundNeuron, FoundNeurons


def found(pictures=True) -> FoundNeurons:
    moments = tuple(ExcitingFrame(f"k{number}", 60.0 + number, "stir the pot") for number in range(3))
    neurons = (FoundNeuron("noun", "pot", 90, 0.091, 0.03, moments), FoundNeuron("verb", "add", 101, 0.07, 0.02, ()))
    arrays = {f"picture 0 {number}": np.full((8, 8, 3), 90, np.uint8) for number in range(3)}
    arrays |= {f"map 0 {number}": np.eye(8, dtype=np.float32) for number in range(3)}
    return FoundNeurons(neurons, arrays if pictures else {}, ("an <odd> corpus",))


def test_a_line_for_each_neuron():
    head, pot, add = render(found()).splitlines()
    assert pot.split() == ["noun", "pot", "90", "0.09", "0.03", "k0", "1:00"] and add.split()[:3] == [
        "verb",
        "add",
        "101",
    ]
    assert head.index("activated by") == pot.index("k0")


def test_the_page_shows_each_picture_twice():
    text = neurons_page(found(), "<run>", "corpus")
    assert text.count("<img") == 2 * 3 and "an &lt;odd&gt; corpus" in text
    assert "drawn at random from the 50 that activate the neuron most (from the top 0.01 %" in text
    assert "<run>" not in text and "“pot” (noun)" in text and "ρ = 0.09 (chance 0.03)" in text


def test_vectors_have_no_pictures_but_are_named():
    text = neurons_page(found(pictures=False), "run", "corpus")
    assert "<img" not in text and text.count("stir the pot") == 3


def test_a_neuron_at_chance_is_said_to_be_and_has_no_pictures():
    at_chance = replace(found().neurons[0], chance=0.091)
    neurons = replace(found(), neurons=(at_chance, found().neurons[1]))
    _, pot, add = render(neurons).splitlines()
    assert pot.endswith("0.09    0.09  no better than chance") and "chance" not in add
    text = neurons_page(neurons, "run", "corpus")
    assert "<img" not in text and "“pot” (noun): no better than chance" in text and "“add” (verb)<" in text
    assert [each["above_chance"] for each in neurons.to_json()["neurons"]] == [False, True]
