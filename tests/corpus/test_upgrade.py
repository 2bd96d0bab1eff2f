"""An old corpus is rewritten in its place: the same answers, and whole whenever it is killed."""

import json
from pathlib import Path

import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import open_vectors, stored_encoders, with_embeddings
from mmcc.corpus.format import Manifest, shard_path
from mmcc.corpus.upgrade import upgrade
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.corpus.verify import verify
from mmcc.errors import InputError
from tests.corpus.first_version import copy_tree, in_first_version
from tests.corpus.test_corpus import build
from tests.corpus.test_embeddings import COLOURS, LENGTHS, SAID, colours, embed, lengths
from tests.forked import Forked
from tests.schemas import check

TIMES = {"a": [float(n) for n in range(300)], "b": [0.5, 1.0], "c": [], "d": [float(n) for n in range(33)]}


@pytest.fixture(scope="module")
def old(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    corpus = build(folder / "new", "jpeg", TIMES, utterances=SAID)
    embed(corpus, COLOURS, colours)
    embed(corpus, LENGTHS, lengths)
    return in_first_version(corpus.path, folder / "old")


def answers(folder: Path) -> dict[str, object]:
    corpus = Corpus.open(folder)
    told = {}
    for each in (corpus, *(open_vectors(corpus, encoder) for encoder in stored_encoders(corpus))):
        for video in each:
            name = f"{each.path.name if each is not corpus else ''}/{video.id}"
            told[name] = (
                video.details | {"shard": 0},
                video.times.tolist(),
                video.utterances,
                video.frames().tobytes(),
            )
    return told


def test_an_old_corpus_is_read_like_a_new_one(old):
    new = old.parent / "new"
    assert answers(old) == answers(new) and len(answers(old)) == 12
    seen = with_vectors(Corpus.open(old), frames=Wanted("colours"), text=Wanted("lengths"))
    assert seen["a"].frames().shape == (300, 3) and seen["a"].text_vectors.shape == (2, 2)


def test_the_rewritten_corpus_gives_the_same_answers_and_has_checksums(old, tmp_path, capsys):
    folder, before = copy_tree(old, tmp_path / "c"), answers(old)
    assert main(["inspect", str(folder), "--upgrade", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    check("upgrade", told)
    assert told["folders"] == [str(each) for each in with_embeddings(folder)] and len(told["folders"]) == 3
    assert (told["videos"], told["frames"], told["skipped"]) == (12, 335 + 335 + 8, [])
    assert answers(folder) == before
    for each in with_embeddings(folder):
        assert Manifest.load(each).version == 2 and not (each / "index.arrow").exists()
        assert [path.name for path in (each / "shards").iterdir()] == ["00001.arrow"]
    found = verify(folder)
    assert found.checksums and not found.damaged and found.frames == 678
    assert max(run["frames"] for run in Corpus.open(folder)["a"]._value("batches")) == 16
    assert main(["inspect", str(folder), "--upgrade"]) == 0
    assert "has format version 2 already" in capsys.readouterr().out


@pytest.mark.slow
def test_killed_at_any_time_it_is_the_old_or_the_new_one_and_can_be_completed(tmp_path):
    corpus = build(tmp_path / "new", "float32", {"a": [float(n) for n in range(20)], "b": [0.0]}, utterances=SAID)
    embed(corpus, LENGTHS, lengths)
    old = in_first_version(corpus.path, tmp_path / "old")
    before = answers(old)
    versions = set()
    events = 0
    while True:
        folder = copy_tree(old, tmp_path / "c")
        with Forked(_upgrade_until, folder, events) as child:
            ended = child.end().code == 0
        versions.add(Manifest.load(folder).version)
        assert answers(folder) == before, f"killed before event {events}"
        upgrade(folder)
        assert answers(folder) == before and not verify(folder).damaged
        assert [path.name for path in (folder / "shards").iterdir()] == ["00001.arrow"]
        if ended:
            break
        events += 2
    assert events > 20 and versions == {1, 2}, "it was killed before and after the change"


def _upgrade_until(folder: Path, events: int) -> None:
    """End as if killed, before the event of that number: a file flushed, renamed or removed."""
    import os

    left = events

    def counted(action):
        def act(*arguments, **options):
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return action(*arguments, **options)

        return act

    for name in ("fsync", "replace", "unlink", "rmdir"):
        setattr(os, name, counted(getattr(os, name)))
    upgrade(folder)


def test_a_video_whose_frames_are_damaged_has_failed_then_and_the_others_are_kept(old, tmp_path, capsys):
    folder = copy_tree(old, tmp_path / "c")
    shard = shard_path(folder, 0)
    content = bytearray(shard.read_bytes())
    batch = Corpus.open(folder)["d"]._value("batches")[0]
    content[batch["offset"] : batch["offset"] + 200] = bytes(200)
    shard.write_bytes(content)
    assert main(["inspect", str(folder), "--upgrade"]) == 4
    assert "its frames are damaged" in capsys.readouterr().err
    corpus = Corpus.open(folder)
    assert corpus.ids == ["a", "b", "c"] and corpus["d"].status == "failed"
    assert {key: each for key, each in answers(folder).items() if key != "/d"} == {
        key: each for key, each in answers(old).items() if key != "/d"
    }


def test_nothing_is_added_to_an_old_corpus(old, tmp_path):
    folder = copy_tree(old, tmp_path / "c")
    with pytest.raises(InputError, match=r"has format version 1, to which nothing can be added\n.*--upgrade"):
        embed(Corpus.open(folder), COLOURS, colours)
