"""What lies under a prefix is listed by one request, and is fetched only if it is what was listed."""

import pytest

from mmcc.errors import InputError
from mmcc.storage import RemotePath, spelled
from mmcc.storage.listing import ListedPath, Listing, as_listed, fetch, kept_copy
from tests.s3 import proxy_to


def names_in(listing: Listing, folder: RemotePath) -> dict[str, bool]:
    return {entry.name: entry.is_file() for entry in listing.entries(spelled(folder))}


def listed(bucket: RemotePath, name: str) -> ListedPath:
    (found,) = (entry.file for entry in Listing(bucket).entries(spelled(bucket)) if entry.name == name)
    assert found is not None
    return found


def test_folders_are_seen_as_a_walk_sees_them_and_sizes_cost_no_request(s3):
    with proxy_to(s3) as proxy:
        bucket = s3.bucket(proxy.port)
        for key in ("v/a.mp4", "v/sub/b.mp4", "v/sub/deep/c.mp4", "other.mp4"):
            s3.put(bucket, key, b"12345")
        bucket.exists()
        proxy.forget()
        listing = Listing(bucket / "v")
        assert names_in(listing, bucket / "v") == {"a.mp4": True, "sub": False}
        assert names_in(listing, bucket / "v" / "sub") == {"b.mp4": True, "deep": False}
        assert names_in(listing, bucket / "v" / "none") == {} and not listing.nameless
        (file, _) = listing.entries(spelled(bucket / "v"))
        assert file.file == bucket / "v" / "a.mp4" and file.file.stat().st_size == 5
        assert len(proxy.requests) == 1
        assert names_in(Listing(bucket / "v", recurse=False), bucket / "v") == {"a.mp4": True, "sub": False}
        assert (file.file.parent / "a.mp4").stat().st_size == 5, "a path made of it asks the storage"


def test_a_key_that_no_address_names_is_told_apart(s3):
    bucket = s3.bucket()
    strange = ["v/../x.mp4", "v//b.mp4", "v/./c.mp4"]
    for key in (*strange, "v/new\x01line.mp4", "v/per%20cent.mp4", "v/ünï\u202e.mp4", "v/what?.mp4"):
        s3.put(bucket, key, b"x")
    listing = Listing(bucket / "v")
    name = bucket.object
    assert sorted(listing.nameless) == sorted(f"{name}/{key}" for key in strange)
    found = {entry.name for entry in listing.entries(spelled(bucket / "v")) if entry.is_file()}
    assert found == {"new\x01line.mp4", "per%20cent.mp4", "ünï\u202e.mp4", "what?.mp4"}


def test_a_key_is_never_read_as_an_option_of_an_address(s3, monkeypatch):
    """Else somebody who may write to a bucket could lead requests to another server."""
    bucket = s3.bucket()
    s3.put(bucket, "a?endpoint_override=elsewhere&x=.mp4", b"x")
    s3.put(bucket, "a?region=b.mp4", b"x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3.port}")
    plain = RemotePath("s3:", bucket.object)  # an address without options, after which a key may look like one
    assert names_in(Listing(plain), plain) == {} and len(Listing(plain).nameless) == 2


def test_what_is_fetched_is_what_was_listed(s3, tmp_path):
    bucket = s3.bucket()
    s3.put(bucket, "a", b"12345")
    source, told = listed(bucket, "a"), []
    fetch(source, tmp_path / "copy", told.append)
    assert (tmp_path / "copy").read_bytes() == b"12345" and told == [5]
    fetch(source, tmp_path / "part", told.append, (1, 3))
    assert (tmp_path / "part").read_bytes() == b"234"
    with pytest.raises(InputError, match="is shorter than it was"):
        fetch(source, tmp_path / "none", told.append, (3, 4))

    s3.put(bucket, "a", b"another")
    with pytest.raises(InputError, match="has been replaced since it was listed"):
        fetch(source, tmp_path / "none", told.append)
    bucket.system.delete_file((bucket / "a").object)
    with pytest.raises(InputError, match="has been removed since it was listed"):
        fetch(source, tmp_path / "none", told.append)
    assert not (tmp_path / "none").exists()


def test_what_is_replaced_while_it_is_fetched_is_no_copy_of_it(s3, tmp_path):
    bucket = s3.bucket()
    s3.put(bucket, "a", b"12345")
    with pytest.raises(InputError, match="has been replaced"):
        fetch(listed(bucket, "a"), tmp_path / "copy", lambda size: s3.put(bucket, "a", b"123456"))
    assert not list(tmp_path.iterdir())


def test_a_copy_is_kept_until_the_object_changes(s3, tmp_path, monkeypatch):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path))
    with proxy_to(s3) as proxy:
        bucket = s3.bucket(proxy.port)
        s3.put(bucket, "a", b"12345")
        first = kept_copy(as_listed(bucket / "a"))
        asked = as_listed(bucket / "a")
        proxy.forget()
        assert kept_copy(asked) == first and first.read_bytes() == b"12345" and not proxy.requests
        s3.put(bucket, "a", b"123456")
        assert kept_copy(as_listed(bucket / "a")).read_bytes() == b"123456"
    assert as_listed(tmp_path) == kept_copy(tmp_path) == tmp_path
