"""Paths of objects behave as paths of files do, as far as a reader sees."""

import pickle
from pathlib import Path

import pytest

from mmcc.errors import InputError
from mmcc.storage import RemotePath, Unreachable, inner_name, is_remote, place, spelled, split_id, stored_name
from mmcc.storage.copies import upload
from tests.s3 import ACCESS_KEY, SECRET, Server, credentials, proxy_to


@pytest.fixture
def bucket(s3: Server, tmp_path: Path) -> RemotePath:
    """Three objects, one with a strange name."""
    found = s3.bucket()
    (tmp_path / "file").write_bytes(b"one\ntwo\n")
    for name in ("top.txt", "a b/ünï?.txt", "a b/c/deep.npy"):
        upload(tmp_path / "file", found / name)
    return found


def test_a_path_of_this_machine_stays_one(tmp_path):
    assert place(str(tmp_path)) == tmp_path and place(tmp_path) == tmp_path
    assert not is_remote(place("s3")) and not is_remote(place("folder/s3:/bucket"))
    assert spelled(tmp_path) == str(tmp_path) and stored_name(tmp_path / "x" / "..") == str(tmp_path)


@pytest.mark.parametrize("options", ["", "?region=eu-west-1", "?endpoint_override=localhost:9000&scheme=http"])
def test_an_address_survives_pathlib_and_text(options):
    path = place(f"s3://bucket/a b/c.corpus{options}") / "index" / "part?.arrow"
    assert str(path) == f"s3://bucket/a b/c.corpus/index/part?.arrow{options}"
    assert (
        path == place(str(path)) == place(Path(str(path))) == place(spelled(path)) == pickle.loads(pickle.dumps(path))
    )
    assert path.parent.parent == place(f"s3://bucket/a b/c.corpus{options}") and path.name == "part?.arrow"
    assert spelled(path).startswith(f"{spelled(path.parent)}/") and path.absolute() is path.resolve() is path


def test_an_endpoint_may_name_its_scheme_and_pathlib_may_have_had_a_slash():
    wanted = place("s3://bucket/x?endpoint_override=localhost:9000&scheme=http")
    assert place("s3://bucket/x?endpoint_override=http://localhost:9000") == wanted
    assert place(Path("s3://bucket/x?endpoint_override=http://localhost:9000")) == wanted


@pytest.mark.parametrize("address", ["s3://", "s3://b/x", "s3://bucket/a/../b", "s3://bucket?region=x&colour=red"])
def test_a_malformed_address_is_told_in_a_line(address):
    with pytest.raises(InputError):
        place(address)


def test_credentials_of_an_address_are_in_no_path():
    path = place("s3://AKIAOWN:se%2Fcret@bucket/x?region=eu-west-1")
    assert str(path) == "s3://bucket/x?region=eu-west-1" and "cret" not in repr(path) + spelled(path)
    with pytest.raises(InputError) as error:
        place("s3://AKIAOWN:se/cret@bucket/..")
    assert "cret" not in str(error.value) and "AKIAOWN" not in str(error.value)


def test_it_is_no_file_of_this_machine():
    with pytest.raises(TypeError, match="is not on this machine"):
        open(place("s3://bucket/x"))  # noqa: PTH123, SIM115
    with pytest.raises(InputError, match="cannot be written to"):
        place("s3://bucket/x").open("wb")


def test_files_and_folders_are_told_apart(bucket):
    assert (bucket / "top.txt").is_file() and not (bucket / "top.txt").is_dir() and (bucket / "top.txt").exists()
    assert (bucket / "a b").is_dir() and not (bucket / "a b").is_file() and (bucket / "a b").exists()
    assert not (bucket / "none").exists() and not (bucket / "none").is_file() and not (bucket / "none").is_dir()
    assert (bucket / "top.txt").stat().st_size == 8 and (bucket / "top.txt").stat().st_mtime_ns > 0


def test_what_is_in_it_is_listed(bucket):
    assert {path.name for path in bucket.iterdir()} == {"top.txt", "a b"}
    assert [path.name for path in (bucket / "a b").glob("*.txt")] == ["ünï?.txt"]
    assert [inner_name(path, bucket) for path in bucket.rglob("*.npy")] == ["a b/c/deep.npy"]
    assert list(bucket.glob("a b/*.txt")) == [bucket / "a b" / "ünï?.txt"]
    assert list((bucket / "none").iterdir()) == []


def test_it_is_read_whole_in_pieces_and_as_text(bucket):
    path = bucket / "a b" / "ünï?.txt"
    assert path.read_bytes() == b"one\ntwo\n" and path.read_text().splitlines() == ["one", "two"]
    with path.open("rb") as file:
        assert file.seek(-4, 2) == 4 and file.read() == b"two\n" and file.read(1) == b""
        assert file.seek(1) == 1 and file.read(2) == b"ne"
    with pytest.raises(FileNotFoundError) as error:
        (bucket / "none").read_bytes()
    assert error.value.strerror == "no such object" and error.value.filename == str(bucket / "none")


def test_keys_that_no_path_can_name_are_left_out(bucket, s3):
    for key in ("m//n.txt", "../up.txt", "x/./z.txt", "x/../y.txt", "/lead.txt", "folder/"):
        s3.put(bucket, key, b"x")
    names = {inner_name(path, bucket) for path in bucket.rglob("*.txt")}
    assert names == {"top.txt", "a b/ünï?.txt"}


def test_a_video_of_a_corpus_is_named_after_a_colon():
    options = "endpoint_override=localhost:9000&scheme=http"
    corpus, video = split_id(place(f"s3://bucket/c.corpus:a/01?{options}"))
    assert (corpus, video) == (place(f"s3://bucket/c.corpus?{options}"), "a/01")
    assert split_id(place(f"s3://bucket/c.corpus?{options}"))[1] == ""
    assert split_id(Path("c.corpus:a/01")) == (Path("c.corpus"), "a/01")


def test_the_environment_may_name_the_endpoint(s3, bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3.port}/")
    assert (place(f"s3://{bucket.object}") / "top.txt").is_file()


def test_a_bucket_that_is_not_there_is_told_from_an_object_that_is_not(s3):
    there = s3.bucket()
    missing = RemotePath("s3:", there.connection.replace("bucket-", "nobucket-"), "x")
    with pytest.raises(InputError, match="there is no such bucket"):
        missing.exists()


def test_who_may_not_is_told_what_to_do(s3):
    with proxy_to(s3) as proxy:
        proxy.answer = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        path = s3.bucket(proxy.port) / "x"
        with pytest.raises(InputError, match="permission denied") as error:
            path.exists()
    assert "AWS_ACCESS_KEY_ID" in error.value.remedy and error.value.path == str(path)
    assert SECRET not in str(error.value) and ACCESS_KEY not in str(error.value)


def test_a_bucket_in_another_region_is_told(s3):
    with proxy_to(s3) as proxy:
        where = b"x-amz-bucket-region: eu-west-1\r\n"
        proxy.answer = b"HTTP/1.1 301 Moved Permanently\r\n" + where + b"Content-Length: 0\r\nConnection: close\r\n\r\n"
        with pytest.raises(InputError, match="another region"):
            (s3.bucket(proxy.port) / "x").read_bytes()


def test_nobody_there_is_an_error_not_a_wait(s3):
    with proxy_to(s3) as proxy:
        path = s3.bucket(proxy.port) / "x"
    with pytest.raises(Unreachable, match="cannot be reached"):
        path.exists()


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_given_up(s3, monkeypatch):
    monkeypatch.setattr("mmcc.storage.s3.REQUEST_SECONDS", 1.0)
    with proxy_to(s3) as proxy:
        path = s3.bucket(proxy.port) / "x"
        proxy._requests = lambda client, server: client.recv(1)  # it listens, and says nothing
        with pytest.raises(Unreachable, match="does not answer"):
            path.exists()


@pytest.mark.slow
def test_a_server_that_dies_while_it_is_read_is_an_error(s3, tmp_path):
    (tmp_path / "large").write_bytes(bytes(3 << 20))
    with proxy_to(s3) as proxy:
        path = s3.bucket(proxy.port) / "large"
        upload(tmp_path / "large", path)
        with path.open("rb") as file:
            file.read(10)
            proxy.cut_after = 1 << 20
            with pytest.raises(Unreachable):
                file.read()


@pytest.mark.slow
def test_a_thousand_and_more_objects_are_listed(s3):
    bucket = s3.bucket()
    for number in range(1203):
        s3.put(bucket, f"many/{number:04d}.txt")
    assert len(list((bucket / "many").iterdir())) == 1203


def test_credentials_are_not_asked_for_where_none_are_needed(s3, bucket):
    with credentials():
        assert place(f"{bucket / 'top.txt'}&anonymous=true").is_file()
