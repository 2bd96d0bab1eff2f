"""Everything of a run, a checkpoint, a shipped model and a search index is read, and what is damaged is listed."""

import json
import shutil
from pathlib import Path

import pytest

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.pretrained import SHIPPED
from mmcc.tools.cache import Cache
from mmcc.tools.search_index import open_index, open_library
from mmcc.tools.verify import verify
from mmcc.training.intact import with_own_checksum
from tests.schemas import check


@pytest.fixture
def run(kitchen, tmp_path) -> Path:
    return Path(shutil.copytree(kitchen.run, tmp_path / "run"))


def change(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])


def told(source: Path) -> set[tuple[str, str]]:
    return {(Path(each.path).name, each.cause) for each in verify(source).damaged}


def newest(run: Path) -> Path:
    return max((run / "checkpoints").iterdir())


def test_what_is_intact_is_said_to_be(run, kitchen, tmp_path, capsys):
    open_index(
        kitchen.model(),
        open_library(kitchen.model(), kitchen.corpus, Cache(tmp_path)),
        Cache(tmp_path),
        folder=tmp_path / "i",
    )
    for source, kind in (
        ("kitchen", "model"),
        (newest(run), "checkpoint"),
        (run, "run"),
        (tmp_path / "i", "search index"),
    ):
        capsys.readouterr()
        assert main(["inspect", str(source), "--verify", "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        check("verify", content)
        assert (content["kind"], content["damaged"], content["notes"]) == (kind, [], [])
        assert content["files"] > 5 and content["bytes"] > 1000
    assert main(["inspect", str(run), "--verify"]) == 0
    assert "all as they were written" in capsys.readouterr().out


def test_every_file_of_a_run_is_missed_and_its_damage_seen(run, tmp_path):
    files = [path.relative_to(run) for path in run.rglob("*") if path.is_file() and path.name != ".lock"]
    assert {"metrics.jsonl", "vocabulary.txt", "config.yaml", "corpus.json", "checkpoints.json"} < {*map(str, files)}
    for file in files:
        for how in (change, Path.unlink):
            copy = Path(shutil.copytree(run, tmp_path / "copy"))
            how(copy / file)
            found = verify(copy)
            if file.name != "corpus.json" or len(file.parts) > 1 or how is Path.unlink:  # a run's own is not used
                told = " ".join([*(each.path for each in found.damaged), *found.notes])
                assert str(file) in told or (file.name == "checkpoints.json" and found.notes), (file, how)
            shutil.rmtree(copy)


def test_a_checkpoint_that_is_gone_or_another_is_listed(run):
    shutil.copytree(newest(run), run / "checkpoints" / "00000009")
    assert told(run) == set()  # its own files are whole, and nothing says that it should not be there
    (run / "checkpoints.json").write_text(json.dumps({"00000009": "0" * 64, "00000011": "0" * 64}))
    assert told(run) == {("manifest.json", "is that of another checkpoint"), ("00000011", "is missing")}


def test_a_run_that_is_resumed_with_more_steps_is_not_damaged(run):
    path = run / "config.yaml"
    text = path.read_text()
    path.write_text(text.replace("steps: 2\n", "steps: 3\n"))
    assert told(run) == {("config.yaml", "has a wrong checksum: it is damaged, or was changed")}
    path.write_text(own(text.replace("steps: 2\n", "steps: 3\n")))
    assert told(run) == set()
    assert "config.yaml: differs" in verify(run).notes[0] and "in train.steps, as after" in verify(run).notes[0]
    path.write_text(own(text.replace("seed: 0\n", "seed: 1\n")))
    assert told(run) == {("config.yaml", f"differs from that of checkpoint {newest(run).name} in train.seed")}


def own(text: str) -> str:
    """With the last line that it would have been written with."""
    return with_own_checksum("".join(text.splitlines(keepends=True)[:-1]))


def test_damage_ends_with_its_exit_code(run, tmp_path, capsys):
    copy = shutil.copytree(SHIPPED / "kitchen", tmp_path / "kitchen2")
    change(copy / "domain.npz")
    change(newest(run) / "training_state.safetensors")
    for source, name in ((copy, "domain.npz"), (run, "training_state.safetensors")):
        assert main(["inspect", str(source), "--verify"]) == 3
        out = capsys.readouterr().out
        assert f"{name}: has a wrong checksum" in out and "1 damaged" in out
        assert main(["inspect", str(source), "--verify", "--json"]) == 3
        content = json.loads(capsys.readouterr().out)
        check("verify", content)
        assert [Path(each["path"]).name for each in content["damaged"]] == [name]


def test_what_has_no_checksums_is_noted(run, tmp_path):
    copy = shutil.copytree(newest(run), tmp_path / "copy")
    for name in ("manifest.json", "training_state.safetensors"):
        (copy / name).unlink()
    found = verify(copy)
    assert not found.damaged and "nothing in it could be checked" in found.notes[0]
    with pytest.raises(InputError, match="no such folder"):
        verify(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is no corpus, run"):
        verify(tmp_path)
