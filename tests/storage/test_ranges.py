"""A corpus in a bucket is read as one on this machine, and no more of it than is asked for."""

import json
import shutil

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.verify import verify
from mmcc.errors import InputError
from mmcc.storage import Unreachable
from mmcc.storage.copies import upload
from mmcc.storage.ranges import Ranges, read_range
from tests.corpus.invented import invent_corpus
from tests.s3 import proxy_to, upload_folder


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Two videos in two shards."""
    folder = tmp_path_factory.mktemp("local") / "corpus"
    invent_corpus(folder, shards=2)
    return folder


@pytest.fixture(scope="module")
def remote(local, s3):
    """The same in a bucket."""
    return upload_folder(local, s3.bucket() / "my corpora" / "cüisine")


def test_a_remote_corpus_equals_the_local_one(local, remote):
    here, there = Corpus.open(local), Corpus.open(str(remote))
    assert there.ids == here.ids == ["v0", "v1"] and there.path == remote and there.lost() == {}
    for video in here:
        assert there[video.id].utterances == video.utterances
        np.testing.assert_array_equal(there[video.id].frames(), video.frames())
        np.testing.assert_array_equal(there[video.id].frames(3, 150, 7), video.frames(3, 150, 7))
        np.testing.assert_array_equal(there[video.id].excerpt(30, 64).frames, video.excerpt(30, 64).frames)


def test_a_segment_takes_one_request_and_at_most_half_as_many_bytes_again(local, s3):
    with proxy_to(s3) as proxy:
        there = Corpus.open(upload_folder(local, s3.bucket(proxy.port)))
        segment = there["v0"].frames(0, 64).nbytes  # opens the shard
        for first in (64, 65, 79, 127):
            video = Corpus.open(there.path)["v0"]
            proxy.forget()
            assert video.frames(first, first + 64).nbytes == segment
            assert len(proxy.requests) == 1 and segment < proxy.received <= 1.5 * segment, first


def test_what_was_fetched_is_not_fetched_again(remote, s3, local):
    with proxy_to(s3) as proxy:
        video = Corpus.open(upload_folder(local, s3.bucket(proxy.port)))["v1"]
        video.frames(0, 64)
        proxy.forget()
        video.frames(10, 60)
        assert proxy.requests == []
        video.frames(0, 80)
        assert len(proxy.requests) == 1


def test_what_is_kept_is_bounded(remote):
    ranges, path = Ranges(most=1000), remote / "shards" / "00000.arrow"
    for at in range(0, 10_000, 400):
        ranges.read(path, at, 400)
    assert ranges._size <= 1000 and len(ranges._kept) == 2
    assert ranges.read(path, 0, 2000).size == 2000  # alone it may be larger


def test_a_file_that_ends_before_says_so(remote):
    path = remote / "manifest.json"
    size = path.stat().st_size
    assert read_range(path, size - 3, 3).size == 3
    with pytest.raises(EOFError, match="ends before byte"):
        read_range(path, size - 3, 4)
    with pytest.raises(FileNotFoundError):
        read_range(remote / "none", 0, 1)


def damaged(local, s3, tmp_path, damage):
    """A copy of the corpus in a new bucket, whose first shard is damaged."""
    shutil.copytree(local, tmp_path / "copy")
    damage(tmp_path / "copy" / "shards" / "00000.arrow")
    return upload_folder(tmp_path / "copy", s3.bucket())


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "cannot be read .it ends before byte"),
        (flip, "checksum of 16 frames"),
    ],
    ids=["lost", "truncated", "changed"],
)
def test_damage_in_a_bucket_is_found_and_named(local, s3, tmp_path, damage, cause):
    path = damaged(local, s3, tmp_path, damage)
    corpus = Corpus.open(path)
    with pytest.raises(InputError, match=cause) as error:
        corpus["v0"].frames()
    assert error.value.path == str(path / "shards" / "00000.arrow")
    assert len(corpus["v1"].frames()) == 200
    assert {each.path for each in verify(path).damaged} == {str(path / "shards" / "00000.arrow")}
    assert set(corpus.lost()) == (set() if damage is flip else {"v0"})


def test_a_damaged_part_of_the_index_is_not_kept(local, s3, tmp_path):
    shutil.copytree(local, tmp_path / "copy")
    (part,) = (tmp_path / "copy" / "index").glob("*.arrow")
    sound = part.read_bytes()
    flip(part)
    path = upload_folder(tmp_path / "copy", s3.bucket())
    with pytest.raises(InputError, match="its checksum is wrong"):
        Corpus.open(path)
    part.write_bytes(sound)
    upload(part, path / "index" / part.name)
    assert len(Corpus.open(path)) == 2


def test_the_index_is_kept_on_this_machine(local, s3):
    with proxy_to(s3) as proxy:
        path = upload_folder(local, s3.bucket(proxy.port))
        Corpus.open(path)
        proxy.forget()
        Corpus.open(path)
        assert not any("/index/" in request for request in proxy.requests)


@pytest.mark.slow
def test_a_server_that_dies_ends_reading_with_a_line(local, s3):
    with proxy_to(s3) as proxy:
        corpus = Corpus.open(upload_folder(local, s3.bucket(proxy.port)))
        proxy.cut_after = 1000
        with pytest.raises(Unreachable, match="reached"):
            corpus["v0"].frames()


def test_inspect_reads_it(remote, capsys):
    assert main(["inspect", str(remote), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["path"] == str(remote) and (found["videos"], found["frames"]) == (2, 400) and found["complete"]
    assert main(["inspect", str(remote), "--verify"]) == 0
    assert "no damage found in 2 videos" in capsys.readouterr().out


def test_no_corpus_there_is_told_in_a_line(remote, capsys):
    assert main(["inspect", str(remote.parent)]) == 3
    assert "is not a corpus (it has no manifest.json)" in capsys.readouterr().err
    assert main(["inspect", str(remote / "none")]) == 3
    assert "is not a corpus (no such folder)" in capsys.readouterr().err


def test_credentials_in_an_address_are_not_printed(remote, capsys):
    address = str(remote).replace("s3://", "s3://AKIAOWN:topsecret@")
    assert main(["inspect", address]) == 0
    assert main(["inspect", f"{address.partition('?')[0]}/none?{address.partition('?')[2]}", "--json"]) == 3
    with pytest.raises(SystemExit):
        main(["inspect", str(remote), address])
    with pytest.raises(SystemExit):
        main(["train", str(remote), "-o", address])
    out, err = capsys.readouterr()
    assert "must be on this machine" in err and "topsecret" not in out + err and "AKIAOWN" not in out + err
