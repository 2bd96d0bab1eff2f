"""The public API: instant to import, names that load when they are used, docstrings that are true."""

import doctest
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

import mmcc
import mmcc.api
from mmcc.corpus import Corpus
from mmcc.errors import UsageError


@pytest.fixture
def folder(kitchen_footage, tmp_path, monkeypatch):
    """What the docstrings speak of: soup.mp4 with captions, three photos, a corpus."""
    video = kitchen_footage.videos[0]
    shutil.copy(video, tmp_path / "soup.mp4")
    shutil.copy(next(video.parent.glob(f"{video.stem}*.vtt")), tmp_path / "soup.en.vtt")
    shutil.copytree(kitchen_footage.corpus, tmp_path / "cooking.corpus")
    stored = Corpus.open(kitchen_footage.corpus)[video.stem]
    (tmp_path / "photos").mkdir()
    for at, place in enumerate(np.linspace(0, len(stored.times) - 1, 3).astype(int)):
        from PIL import Image

        Image.fromarray(stored.frames(int(place), int(place) + 1)[0]).save(tmp_path / "photos" / f"{at}.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_docstrings_run(folder):
    results = doctest.testmod(mmcc.api)
    assert results.attempted > 20 and results.failed == 0


def test_the_packages_own_example_runs(folder, capsys):
    examples = doctest.DocTestParser().get_examples(mmcc.__doc__)
    exec("".join(example.source for example in examples), {})
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_every_public_name_is_there_and_loads_nothing_before_it_is_used():
    for name in mmcc.__all__:
        assert getattr(mmcc, name) is not None
    assert set(dir(mmcc)) == set(mmcc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mmcc.nothing  # noqa: B018
    script = "import sys, mmcc; mmcc.InputError; print({'numpy', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "set()\n"


def test_pictures_of_any_size_are_read_at_the_models():
    model = mmcc.load_model("kitchen")
    large = torch.randint(0, 256, (2, 96, 96, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    small = large.reshape(2, 48, 2, 48, 2, 3).float().mean(dim=(2, 4)).round().byte()
    assert torch.allclose(model.embed_frames(large).pi, model.embed_frames(small.numpy()).pi, atol=1e-5)


def test_the_same_answers_as_the_tools(folder):
    """The API adds nothing to what the tools compute, and asks them in the same way."""
    from mmcc.tools.cache import Cache
    from mmcc.tools.footage import open_footage
    from mmcc.tools.model import open_model
    from mmcc.tools.transitions import find_changes

    opened, cache = open_model("kitchen"), Cache(folder / "other-cache")
    found = find_changes(opened, open_footage(opened, [folder / "soup.mp4"], cache).footage, cache, top=5).best(5)
    ours = mmcc.load_model("kitchen", cache=folder / "cache").transitions("soup.mp4", top=5)
    assert [(c.from_frame, c.to_frame, c.score) for c in ours] == [(c.from_frame, c.to_frame, c.score) for c in found]


def test_transitions_takes_what_the_verb_takes(folder):
    model = mmcc.load_model("kitchen", cache=folder / "cache")
    assert all(each.to_time - each.from_time >= 4 for each in model.transitions("soup.mp4", gap=4, keep_blank=True))
    with pytest.raises(mmcc.InputError, match="no two frames that are 600 s apart"):
        model.transitions("soup.mp4", gap=600)


def test_wrong_calls_are_said(folder):
    model = mmcc.load_model("kitchen")
    with pytest.raises(UsageError, match="search for one thing"):
        model.search("cooking.corpus")
    with pytest.raises(UsageError, match="overrides are for a named configuration"):
        mmcc.train(mmcc.Config(), "cooking.corpus", "run", overrides=["train.steps=1"])
    with pytest.raises(mmcc.InputError, match="no such folder"):
        mmcc.load_model("nowhere")


def test_what_the_tools_would_print_is_warned_about(folder):
    (folder / "broken.mp4").write_bytes(b"no video")
    with pytest.warns(UserWarning) as caught:
        mmcc.load_model("kitchen").transitions("soup.mp4", "broken.mp4", top=1)
    said = [str(each.message) for each in caught]
    assert any(line.startswith("skipped broken.mp4:") for line in said)
    assert any("unlike what kitchen was trained on" in line for line in said)
    assert all(each.filename == __file__ for each in caught)
    with pytest.raises(UsageError, match="no evaluation task is named 'cooking'"):
        mmcc.evaluate("kitchen", "cooking.corpus", tasks=["cooking"])
