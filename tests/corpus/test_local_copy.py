"""What a training reads of a remote corpus is copied once, checked, and bounded."""

import shutil

import numpy as np
import pytest

from mmcc.corpus import Corpus
from mmcc.corpus.local_copy import local_copy, origin_of
from mmcc.errors import InputError
from tests.corpus.invented import invent_corpus
from tests.s3 import proxy_to, upload_folder


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Four videos in two shards."""
    folder = tmp_path_factory.mktemp("local") / "corpus"
    invent_corpus(folder, videos=4, frames=40, shards=2)
    return folder


def shard_bytes(folder):
    return sum(path.stat().st_size for path in (folder / "shards").iterdir())


def test_a_corpus_of_this_machine_is_not_copied(local, tmp_path):
    with local_copy(Corpus.open(local), tmp_path / "copies") as folder:
        assert folder == local == origin_of(folder)
    assert not (tmp_path / "copies").exists()


def test_the_copy_is_a_corpus_with_the_same_content_and_is_kept(local, s3, tmp_path):
    said = []
    with proxy_to(s3) as proxy:
        remote = Corpus.open(upload_folder(local, s3.bucket(proxy.port) / "c"))
        with local_copy(remote, tmp_path, say=said.append) as folder:
            here = Corpus.open(folder)
            assert here.manifest == Corpus.open(local).manifest and origin_of(folder) == remote.path
            for video in Corpus.open(local):
                np.testing.assert_array_equal(here[video.id].frames(), video.frames())
        assert len(said) == 1 and "0.00 GB" in said[0]
        proxy.forget()
        (folder / "shards" / "00001.arrow").unlink()
        with local_copy(remote, tmp_path):
            assert len(Corpus.open(folder)["v1"].frames()) == 40
        assert not any("00000.arrow" in request for request in proxy.requests if request.startswith("GET"))


def test_a_damaged_shard_gets_no_name(local, s3, tmp_path):
    shutil.copytree(local, tmp_path / "damaged")
    path = tmp_path / "damaged" / "shards" / "00000.arrow"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    remote = upload_folder(tmp_path / "damaged", s3.bucket())
    with pytest.raises(InputError, match="checksum of"), local_copy(Corpus.open(remote), tmp_path / "copies"):
        pass
    assert not list((tmp_path / "copies").glob("*/shards/00000.arrow"))


def test_it_refuses_with_sizes_what_does_not_fit(local, s3, tmp_path, monkeypatch):
    remote = Corpus.open(upload_folder(local, s3.bucket()))
    with (
        pytest.raises(InputError, match=r"needed, and data.local_gb allows 0.00 GB"),
        local_copy(remote, tmp_path, 1000),
    ):
        pass
    monkeypatch.setattr("mmcc.corpus.local_copy.shutil.disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 1000))
    with pytest.raises(InputError, match="still to be copied"), local_copy(remote, tmp_path):
        pass


def test_only_what_no_training_uses_makes_room(local, s3, tmp_path):
    first, second = (Corpus.open(upload_folder(local, s3.bucket() / name)) for name in ("first", "second"))
    most = int(1.5 * shard_bytes(local))
    with local_copy(first, tmp_path, most) as kept:
        with pytest.raises(InputError, match="in use by other trainings"), local_copy(second, tmp_path, most):
            pass
        assert (kept / "manifest.json").is_file()
    with local_copy(second, tmp_path, most) as now:
        assert not kept.exists() and len(Corpus.open(now)) == 4
