"""A corpus in a bucket is added to as one on this machine; nobody ever sees half of it."""

import shutil

import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import ingest
from mmcc.corpus.publishing import staged
from mmcc.corpus.verify import verify
from mmcc.errors import InputError
from tests.corpus.ingesting import SRT, content, run, settings


@pytest.fixture(autouse=True)
def own_staging(tmp_path, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def two(make_clip, tmp_path):
    """Two narrated clips."""
    for name in ("soup", "stew"):
        make_clip(f"src/{name}.mp4", seconds=3)
        (tmp_path / f"src/{name}.srt").write_text(SRT)
    return tmp_path / "src"


def publish(source, output):
    with staged(output) as stage:
        return ingest(
            find_source(source), stage.folder, settings(), published=stage.published, skip_numbers=stage.skip_numbers
        )


@pytest.mark.slow
def test_it_equals_a_local_ingest_and_is_continued(two, make_clip, s3, tmp_path, capsys):
    remote = s3.bucket() / "cooking"
    assert main(["ingest", str(two), "-o", str(remote), "--size", "32", "-q"]) == 0
    run(two, tmp_path / "local")
    assert content(remote) == content(tmp_path / "local") and Corpus.open(remote).manifest.complete
    assert not list((tmp_path / "cache").rglob("shards/*.arrow"))  # they are in the bucket

    make_clip("src/pie.mp4", seconds=2)
    shutil.rmtree(tmp_path / "cache")  # as on another machine
    report = publish(two, remote)
    assert (report.ingested, report.already_done, report.healed) == (3, 2, 0)
    run(two, tmp_path / "local")
    assert content(remote) == content(tmp_path / "local") and not verify(remote).damaged
    assert publish(two, remote).already_done == 3


def test_until_it_is_whole_nothing_is_seen_and_the_next_run_continues(two, s3, monkeypatch):
    remote = s3.bucket()

    def fail(*_):
        raise InputError(remote, "the storage cannot be reached")

    with monkeypatch.context() as patch, pytest.raises(InputError):
        patch.setattr("mmcc.corpus.publishing.replace_object", fail)
        publish(two, remote)
    with pytest.raises(InputError, match="is not a corpus"):
        Corpus.open(remote)
    report = publish(two, remote)
    assert report.already_done == 2 and len(Corpus.open(remote)) == 2 and not verify(remote).damaged


def test_a_second_writer_is_noticed(two, s3, tmp_path, monkeypatch):
    remote = s3.bucket()
    with pytest.raises(InputError, match="another command has changed it") as error, staged(remote) as stage:
        ingest(find_source(two), stage.folder, settings(), skip_numbers=stage.skip_numbers)
        with monkeypatch.context() as patch:
            patch.setenv("MMCC_CACHE", str(tmp_path / "other"))
            publish(two / "soup.mp4", remote)
    assert Corpus.open(remote).ids == ["soup"] and not verify(remote).damaged
    shutil.rmtree(error.value.remedy.split()[1].rstrip(","))
    assert publish(two, remote).already_done == 1 and len(Corpus.open(remote)) == 2


def test_a_bucket_that_is_not_there_is_told_before_anything_is_decoded(s3, two, capsys):
    remote = str(s3.bucket()).replace("bucket-", "nobucket-")
    assert main(["ingest", str(two), "-o", remote, "-q"]) == 3
    assert "there is no such bucket" in capsys.readouterr().err
