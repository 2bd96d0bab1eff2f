"""A checkpoint that is damaged is refused, with a remedy that fits where it is."""

import json
import shutil

import pytest

from mmcc.checksums import seal
from mmcc.errors import InputError
from mmcc.pretrained import SHIPPED
from mmcc.training import intact
from mmcc.training.intact import (
    COUNTERS,
    STATE,
    listed_checkpoints,
    require_intact,
    require_own_checksum,
    with_own_checksum,
)

FILES = ("config.json", "config.yaml", "model.safetensors", "vocabulary.txt", STATE, COUNTERS)


@pytest.fixture
def checkpoint(tmp_path):
    folder = tmp_path / "run" / "checkpoints" / "00000002"
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(name)
    seal(folder, FILES)
    return folder


def test_what_an_answer_depends_on_is_checked_and_the_rest_only_if_asked_for(checkpoint):
    whole = require_intact(checkpoint)
    assert whole.keys() == {*FILES}
    for name in FILES:
        (checkpoint / name).write_text("damaged")
        if name in (STATE, COUNTERS):
            assert require_intact(checkpoint) == whole
        else:
            with pytest.raises(InputError, match=f"{name}: has a wrong checksum: it is damaged"):
                require_intact(checkpoint)
        with pytest.raises(InputError, match="--resume trains it again"):
            require_intact(checkpoint, only=(name,))
        (checkpoint / name).write_text(name)


def test_the_remedy_is_that_of_the_place(checkpoint, tmp_path, monkeypatch):
    for place, remedy in ((tmp_path / "copy", "Copy the folder again"), (tmp_path / "shipped" / "x", "Install mmcc")):
        shutil.copytree(checkpoint, place)
        (place / "config.json").unlink()
        monkeypatch.setattr(intact, "SHIPPED", tmp_path / "shipped")
        with pytest.raises(InputError, match=r"config\.json: is missing") as error:
            require_intact(place)
        assert error.value.remedy.startswith(remedy)
    assert SHIPPED.is_dir()


def test_a_run_knows_its_checkpoints(checkpoint):
    run = checkpoint.parents[1]
    assert listed_checkpoints(run) == {}
    (run / "checkpoints.json").write_text(json.dumps({"00000002": "0" * 64}))
    with pytest.raises(InputError, match="is that of another checkpoint"):
        require_intact(checkpoint)
    (checkpoint / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"manifest\.json: is missing"):
        require_intact(checkpoint)
    for wrong in ("[]", '{"two": "x"}', '{"00000002": 1}'):
        (run / "checkpoints.json").write_text(wrong)
        with pytest.raises(InputError, match="delete it"):
            listed_checkpoints(run)


def test_settings_know_their_own_checksum(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(with_own_checksum("train:\n  steps: 4000\n"))
    require_own_checksum(path)
    whole = path.read_bytes()
    for bit in range(8 * whole.index(b"#")):
        path.write_bytes(bytes(byte ^ (1 << bit % 8 if at == bit // 8 else 0) for at, byte in enumerate(whole)))
        with pytest.raises(InputError, match="has a wrong checksum"):
            require_own_checksum(path)
    path.write_text("train:\n  steps: 5000\n")  # of an earlier version, or edited
    require_own_checksum(path)
    with pytest.raises(InputError, match="cannot be read"):
        require_own_checksum(tmp_path)
