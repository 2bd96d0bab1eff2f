"""Things by name."""

import pytest

from mmcc.registry import Registry, UnknownName


def test_a_name_belongs_to_one_thing():
    encoders = Registry("encoder")
    one = object()
    encoders.add("b", one)
    encoders.add("b", one)  # its module was imported twice
    encoders.add("a", object())
    assert encoders.find("b") is one and list(encoders) == ["b", "a"] and len(encoders) == 2
    assert "a" in encoders and "c" not in encoders
    with pytest.raises(ValueError, match="an encoder named 'b' is registered already"):
        encoders.add("b", object())


def test_an_unknown_name_lists_the_known_ones():
    models = Registry("model")
    models.add("random", 1)
    models.add("imagenet", 2)
    with pytest.raises(UnknownName, match=r"no model is named 'dino' \(known: imagenet, random\)") as caught:
        models.find("dino")
    assert "--import" in caught.value.remedy
