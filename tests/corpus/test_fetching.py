"""Files of a bucket become the corpus that the same files on a disk become; what cannot be fetched is skipped."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.fetching import Fetching
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import ingest
from mmcc.corpus.source import CaptionFile, Item
from mmcc.errors import InputError
from mmcc.locks import only_writer
from mmcc.media.sandbox import Limits
from mmcc.storage.listing import Listing, fetch
from tests.corpus.ingesting import SRT, content, run, settings
from tests.s3 import ACCESS_KEY, SECRET, proxy_to, upload_folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def arrays(tmp_path):
    """Three feature arrays, which are read sooner than videos, with captions."""
    rng = np.random.default_rng(0)
    (tmp_path / "src" / "sub").mkdir(parents=True)
    for name in ("soup", "stew", "sub/pie"):
        np.save(tmp_path / "src" / f"{name}.npy", rng.random((4, 3), np.float32))
        (tmp_path / "src" / f"{name}.srt").write_text(SRT)
    return tmp_path / "src"


def from_bucket(bucket, corpus, *options):
    return main(["ingest", str(bucket), "-o", str(corpus), "--features", "1", "--workers", "1", "-q", *options])


def test_it_equals_a_local_ingest_and_a_second_run_fetches_no_video(make_clip, s3, tmp_path, cache, capsys):
    for name in ("soup", "sub/stew"):
        make_clip(f"src/{name}.mp4", seconds=3)
        (tmp_path / f"src/{name}.srt").write_text(SRT)
    with proxy_to(s3) as proxy:
        bucket = upload_folder(tmp_path / "src", s3.bucket(proxy.port) / "my videos")
        address = str(bucket).replace("s3://", f"s3://{ACCESS_KEY}:{SECRET}@")
        command = ["ingest", address, "-o", str(tmp_path / "corpus"), "--size", "32"]
        assert main(command) == 0
        run(tmp_path / "src", tmp_path / "local")
        assert content(tmp_path / "corpus") == content(tmp_path / "local")
        details = Corpus.open(tmp_path / "corpus")["sub/stew"].details
        assert details["source"] == str(bucket / "sub" / "stew.mp4")
        assert details["captions"] == str(bucket / "sub" / "stew.srt") and not list(cache.rglob("*.mp4"))
        written = b"".join(path.read_bytes() for path in (tmp_path / "corpus").rglob("*") if path.is_file())
        assert SECRET.encode() not in written and str(cache).encode() not in written

        proxy.forget()
        assert main(command) == 0 and "(2 done before)" in capsys.readouterr().out
        assert proxy.requests and not [line for line in proxy.requests if ".mp4" in line]


def test_features_of_a_bucket_in_parts_into_a_bucket(arrays, s3, tmp_path):
    bucket, corpora = upload_folder(arrays, s3.bucket()), [s3.bucket() / f"{part}.corpus" for part in (1, 2)]
    for part, corpus in enumerate(corpora, 1):
        assert from_bucket(bucket, corpus, "--part", f"{part}/2") == 0
    run(arrays, tmp_path / "local", feature_rate=1.0)
    first, second = map(content, corpora)
    assert first and second and first | second == content(tmp_path / "local")


def test_the_files_of_a_release_may_be_in_buckets(arrays, s3, tmp_path):
    said = {"start": [0.0, 2.0], "end": [1.0, 3.0], "text": ["cut the onion", "fry it"]}
    (tmp_path / "caption.json").write_text(json.dumps({"stew": said, "other": said}))
    (arrays / "stew.srt").unlink()
    (tmp_path / "index.csv").write_text("video_id,task_id\nsoup,1\nstew,1\npie,2\n")
    bucket = upload_folder(arrays, s3.bucket() / "videos")
    captions = s3.bucket()
    s3.put(captions, "caption.json", (tmp_path / "caption.json").read_bytes())
    places = ["--videos", str(bucket), "--captions", str(captions / "caption.json")]
    assert from_bucket(tmp_path / "index.csv", tmp_path / "corpus", *places) == 0
    places = ["--videos", str(arrays), "--captions", str(tmp_path / "caption.json")]
    assert from_bucket(tmp_path / "index.csv", tmp_path / "local", *places) == 0
    assert content(tmp_path / "corpus") == content(tmp_path / "local")
    stew = Corpus.open(tmp_path / "corpus")["stew"]
    assert [each.text for each in stew.utterances] == said["text"]
    assert stew.details["captions"] == str(captions / "caption.json")


@pytest.mark.slow
def test_what_vanishes_after_the_listing_is_skipped_and_tried_again(arrays, s3, tmp_path, capsys, monkeypatch):
    bucket = upload_folder(arrays, s3.bucket())
    gone = [bucket / "soup.npy", bucket / "stew.srt"]

    def find(*arguments, **options):
        found = find_source(*arguments, **options)
        for path in gone:
            bucket.system.delete_file(path.object)
        return found

    with monkeypatch.context() as patch:
        patch.setattr("mmcc.corpus.find.find_source", find)
        assert from_bucket(bucket, tmp_path / "corpus") == 4
    said = capsys.readouterr().out
    for path in gone:
        assert f"{path}: has been removed since it was listed. Run the same command again." in said
    assert Corpus.open(tmp_path / "corpus").ids == ["stew", "sub/pie"]
    assert not Corpus.open(tmp_path / "corpus")["stew"].utterances
    upload_folder(arrays, bucket)
    assert from_bucket(bucket, tmp_path / "corpus") == 0
    run(arrays, tmp_path / "local", feature_rate=1.0)
    assert content(tmp_path / "corpus") == content(tmp_path / "local")


def test_captions_that_did_not_arrive_are_fetched_by_the_next_run(arrays, s3, tmp_path, monkeypatch):
    def no_captions(source, *arguments):
        if source.suffix == ".srt":
            raise InputError(source, "the storage failed")
        fetch(source, *arguments)

    bucket = upload_folder(arrays, s3.bucket())
    with monkeypatch.context() as patch:
        patch.setattr("mmcc.corpus.fetching.fetch", no_captions)
        assert from_bucket(bucket / "soup.npy", tmp_path / "corpus") == 4
    assert not Corpus.open(tmp_path / "corpus")["soup"].utterances
    assert from_bucket(bucket / "soup.npy", tmp_path / "corpus") == 0
    assert len(Corpus.open(tmp_path / "corpus")["soup"].utterances) == 2


def test_the_earlier_ingest_stays_where_new_captions_cannot_be_fetched(arrays, s3, tmp_path):
    bucket = upload_folder(arrays, s3.bucket())
    assert from_bucket(bucket, tmp_path / "corpus") == 0
    before = content(tmp_path / "corpus")
    s3.put(bucket, "soup.srt", SRT.encode() * 2)
    source = find_source(bucket, features=True)
    bucket.system.delete_file((bucket / "soup.srt").object)
    report = ingest(source, tmp_path / "corpus", settings(feature_rate=1.0))
    ((path, reason),) = report.skipped
    assert path == str(bucket / "soup.npy") and reason.startswith("its captions: has been removed")
    assert reason.endswith("The earlier ingest of it is kept.")
    assert content(tmp_path / "corpus") == before


def test_a_video_that_moves_within_its_bucket_or_to_one_is_not_read_again(arrays, s3, tmp_path):
    run(arrays, tmp_path / "corpus", feature_rate=1.0)
    bucket = upload_folder(arrays, s3.bucket() / "old")
    arrays.rename(tmp_path / "away")

    def again(folder):
        report = ingest(find_source(folder, features=True), tmp_path / "corpus", settings(feature_rate=1.0))
        return report.already_done, Corpus.open(tmp_path / "corpus")["soup"].details["source"]

    assert again(bucket) == (3, str(bucket / "soup.npy"))
    moved = upload_folder(tmp_path / "away", bucket.parent / "new")
    bucket.system.delete_dir(bucket.object)
    assert again(moved) == (3, str(moved / "soup.npy"))


def test_hostile_keys_reach_no_other_object_and_no_other_file(arrays, s3, tmp_path, capsys):
    bucket = s3.bucket() / "v"
    array = (arrays / "soup.npy").read_bytes()
    strange = ["../out.npy", "a//b.npy", "./c.npy"]
    for key in (*strange, "x\x1b[2J.npy", "%2e%2e%2fup.npy", "ordinary.npy", f"{'long' * 100}.npy"):
        s3.put(bucket, f"v/{key}", array)
    s3.put(bucket, "out.npy", b"no array: whoever reads it instead fails")
    assert from_bucket(bucket, tmp_path / "corpus") == 4
    said = capsys.readouterr().out
    assert said.count("so that no address names it. Rename it.") == len(strange) and "\x1b" not in said
    assert {len(video.times) for video in Corpus.open(tmp_path / "corpus")} == {4}
    assert Corpus.open(tmp_path / "corpus").ids == ["%2e%2e%2fup", "long" * 100, "ordinary", "x\x1b[2J"]
    assert not [path for path in tmp_path.rglob("*.npy") if arrays not in path.parents]


def test_one_video_of_a_bucket(arrays, s3, tmp_path):
    bucket = upload_folder(arrays, s3.bucket())
    assert from_bucket(bucket / "sub" / "pie.npy", tmp_path / "corpus") == 0
    assert Corpus.open(tmp_path / "corpus").ids == ["pie"]


def test_a_cluster_and_stills_are_refused_in_a_line(arrays, s3, tmp_path):
    class Elsewhere:
        elsewhere = True

    bucket = upload_folder(arrays, s3.bucket())
    with pytest.raises(InputError, match="which the workers of a cluster cannot read"):
        ingest(find_source(bucket, features=True), tmp_path / "corpus", settings(engine=Elsewhere()))
    s3.put(bucket, "stills/videos.json", b"{}")
    with pytest.raises(InputError, match="is a data set of stills"):
        find_source(bucket / "stills")
    with pytest.raises(InputError, match="no such file or folder"):
        find_source(bucket / "none")


def items_of(bucket):
    """A video for each object."""
    listing = Listing(bucket)
    return [Item(entry.name, entry.file) for entry in listing.entries("/".join(bucket.parts))]


def arrived(fetching):
    """The next video, when it has arrived."""
    return next(files for files in fetching if files is not None)


def test_only_a_few_files_are_here_at_once(s3, cache, monkeypatch):
    bucket = s3.bucket()
    for number in range(6):
        s3.put(bucket, f"{number}.mp4", bytes([number]) * 1000)
    for bound, most in ((16 << 30, 2), (1500, 1), (10, 1)):
        monkeypatch.setattr("mmcc.corpus.fetching.MOST_BYTES", bound)
        seen = []
        with Fetching(items_of(bucket), 1, Limits()) as fetching:
            for files in fetching:
                if files is None:
                    time.sleep(0.01)
                    continue
                here = list(cache.rglob("*.mp4"))
                assert files.media in here and len(here) <= most and not files.problem
                seen.append((files.item.id, files.media.read_bytes()[0]))
                fetching.remove(files.item)
                assert not files.media.exists()
        assert sorted(seen) == [(f"{number}.mp4", number) for number in range(6)]
        assert not [path for path in (cache / "fetched").iterdir() if path.is_dir()]


def test_what_a_killed_run_has_left_is_removed_and_nothing_else(s3, cache):
    left, used = cache / "fetched" / "left", cache / "fetched" / "used"
    for folder in (left, used):
        (folder / "0").mkdir(parents=True)
        (folder / "0" / "media.mp4").write_bytes(b"x")
    bucket = s3.bucket()
    s3.put(bucket, "a.mp4", b"x")
    with only_writer(used), Fetching(items_of(bucket), 1, Limits()) as fetching:
        assert arrived(fetching).media.is_file() and not left.exists() and used.exists()


@pytest.mark.slow
def test_a_lost_connection_costs_the_videos_it_concerns_and_the_rest_is_not_tried(s3):
    with proxy_to(s3) as proxy:
        bucket = s3.bucket(proxy.port)
        for number in range(8):
            s3.put(bucket, f"{number}.mp4", b"x" * 3000)
        items = items_of(bucket)
        proxy.cut_after = 2000
        proxy.forget()
        with Fetching(items, 1, Limits()) as fetching:
            for _ in items:
                files = arrived(fetching)
                assert re.search(r"the storage (cannot be reached|failed).*\. \w.* again", files.problem), files.problem
                fetching.remove(files.item)
        tried = {line.rsplit("/", 1)[1] for line in proxy.requests if ".mp4" in line}
        assert 3 <= len(tried) < 8


def test_captions_that_cannot_be_fetched_cost_no_video(s3):
    bucket = s3.bucket()
    for name in ("a.mp4", "a.srt"):
        s3.put(bucket, name, b"x")
    (video,) = (item for item in items_of(bucket) if item.id == "a.mp4")
    captions = CaptionFile(bucket / "gone.srt", "manual")
    for media, problem in ((video.media, "caption_problem"), (None, "problem")):
        with Fetching([Item("a", media, captions)], 1, Limits()) as fetching:
            files = arrived(fetching)
            assert getattr(files, problem).startswith("has been removed") and files.captions is None
            assert media is None or (files.media.read_bytes() == b"x" and not files.problem)


def test_a_download_without_end_is_given_up(s3):
    bucket = s3.bucket()
    s3.put(bucket, "a.mp4", b"x")
    with Fetching(items_of(bucket), 1, Limits(seconds=0.0, adjustable=True)) as fetching:
        assert arrived(fetching).problem.startswith("took over 0 s to be fetched and was given up (--time-limit)")


def test_who_stops_does_not_wait_for_the_rest_of_a_file(s3, cache, monkeypatch):
    def endless(source, target, tell, span):
        while True:
            tell(1)
            time.sleep(0.01)

    monkeypatch.setattr("mmcc.corpus.fetching.fetch", endless)
    bucket = s3.bucket()
    s3.put(bucket, "a.mp4", b"x")
    with Fetching(items_of(bucket), 1, Limits()) as fetching:
        assert next(iter(fetching)) is None
    assert not [path for path in (cache / "fetched").iterdir() if path.is_dir()]


@pytest.mark.slow  # starts the command twice
def test_killed_while_it_fetches_it_leaves_files_that_the_next_run_removes(arrays, s3, tmp_path, cache):
    for name in ("soup", "stew", "sub/pie"):
        np.save(arrays / f"{name}.npy", np.zeros((3000, 300), np.float32))
    bucket = upload_folder(arrays, s3.bucket())
    command = [sys.executable, "-m", "mmcc", "ingest", str(bucket), "-o", str(tmp_path / "corpus"), "--features", "1"]
    process = subprocess.Popen([*command, "--workers", "1"])
    until = time.monotonic() + 60
    while not list((cache / "fetched").glob("*/*/media.npy")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert list((cache / "fetched").glob("*/*"))
    assert from_bucket(bucket, tmp_path / "corpus") == 0
    assert not [path for path in (cache / "fetched").iterdir() if path.is_dir()]
    run(arrays, tmp_path / "local", feature_rate=1.0)
    assert content(tmp_path / "corpus") == content(tmp_path / "local")
