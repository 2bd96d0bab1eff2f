"""Every damage is listed, with the videos that cannot be read for it."""

import json
from pathlib import Path

import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import FOLDER
from mmcc.corpus.format import index_folder, shard_path
from mmcc.corpus.verify import render_verification, verify
from mmcc.errors import InputError
from tests.corpus.first_version import in_first_version
from tests.corpus.test_corpus import build
from tests.corpus.test_embeddings import COLOURS, SAID, colours, embed
from tests.schemas import check


@pytest.fixture
def folder(tmp_path) -> Path:
    corpus = build(tmp_path / "c", "jpeg", {"a": [float(n) for n in range(40)], "b": [0.0], "d": []}, utterances=SAID)
    embed(corpus, COLOURS, colours)
    return corpus.path


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def told(folder: Path, capsys) -> tuple[int, dict]:
    capsys.readouterr()
    code = main(["inspect", str(folder), "--verify", "--json"])
    found = json.loads(capsys.readouterr().out)
    check("verify", found)
    return code, found


def test_an_embedding_that_was_killed_before_it_wrote_anything_is_no_damage(folder):
    (folder / FOLDER / "lengths-fedcba987654" / "shards").mkdir(parents=True)
    assert not verify(folder).damaged
    (folder / FOLDER / COLOURS.folder / "manifest.json").unlink()
    assert [damage.cause for damage in verify(folder).damaged] == ["is not a corpus (it has no manifest.json)"]


def test_a_sound_corpus_is_read_whole(folder, capsys):
    code, found = told(folder, capsys)
    assert code == 0 and found["damaged"] == [] and found["kind"] == "corpus" and found["checksums"]
    assert (found["videos"], found["frames"]) == (6, 82), "the embeddings are read, too"
    lengths = [run["length"] for video in Corpus.open(folder) for run in video._value("batches") or []]
    assert found["bytes"] > sum(lengths) > 0
    assert render_verification(verify(folder)).startswith(f"{folder}: no damage found in 6 videos")


def test_all_damage_is_listed_at_once(folder, capsys):
    vectors = folder / FOLDER / COLOURS.folder
    for run in Corpus.open(folder)["a"]._value("batches")[1:]:
        flip(shard_path(folder, 0), run["offset"] + 300)
    (part,) = index_folder(vectors).iterdir()
    flip(part, 2000)
    flip(vectors / "encoder.json", 30)
    code, found = told(folder, capsys)
    assert code == 3 and found["frames"] == 41
    causes = [(Path(each["path"]).name, each["videos"]) for each in found["damaged"]]
    assert causes == [("00000.arrow", ["a"]), ("00000.arrow", ["a"]), ("encoder.json", []), (part.name, [])]
    assert main(["inspect", str(folder), "--verify"]) == 3
    text = capsys.readouterr().out
    assert "4 damaged places in" in text and "1 videos: a" in text and "Remove it, and run the command" in text


def test_a_lost_shard_is_one_damage_of_all_its_videos(folder, capsys):
    shard_path(folder, 0).unlink()
    code, found = told(folder, capsys)
    assert code == 3 and [each["videos"] for each in found["damaged"]] == [["a", "b"]]
    assert found["damaged"][0]["cause"] == "is missing"


def test_a_lost_part_of_the_index_is_listed(folder, capsys):
    (part,) = index_folder(folder).iterdir()
    part.unlink()
    code, found = told(folder, capsys)
    assert code == 3 and [Path(each["path"]).name for each in found["damaged"]] == [part.name]
    assert found["videos"] == 3, "those of the embeddings"


def test_what_is_no_corpus_is_refused(tmp_path, capsys):
    with pytest.raises(InputError, match="is not a corpus"):
        verify(tmp_path)
    assert main(["inspect", str(tmp_path), "--verify", "--upgrade"]) == 2
    assert "at most one of" in capsys.readouterr().err


def test_an_old_corpus_is_decoded_and_said_to_have_no_checksums(folder, tmp_path, capsys):
    old = in_first_version(folder, tmp_path / "old")
    code, found = told(old, capsys)
    assert code == 0 and not found["checksums"] and "no checksums" in render_verification(verify(old))
    run = Corpus.open(old)["b"]._value("batches")[0]
    content = bytearray(shard_path(old, 0).read_bytes())
    picture = content.index(b"\xff\xd8\xff", run["offset"])
    content[picture : picture + 4] = bytes(4)
    shard_path(old, 0).write_bytes(content)
    code, found = told(old, capsys)
    assert code == 3 and [each["videos"] for each in found["damaged"]] == [["b"]]
