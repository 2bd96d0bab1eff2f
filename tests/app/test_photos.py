"""Uploads over HTTP: photos in order, what follows a photo, and whatever else people may send."""

import io
import struct
import tempfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from mmcc.app import answers
from tests.app.conftest import API
from tests.app.test_videos import checked


def parts(photos, name="photos"):
    return [(name, (f"../../{at}.jpg", each, "image/jpeg")) for at, each in enumerate(photos)]


def bomb(width, height):
    """A PNG of a few hundred bytes that claims to have so many pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 10_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    """No upload outlives its request."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert not [path for path in Path(tmp_path).iterdir() if path.name.startswith("mmcc-photo")]


def test_photos_are_put_in_the_order_of_the_python_api(client, explorer, photos, tmp_path):
    found = checked(answers.Order, client.post(f"{API}/unshuffle", files=parts(photos)))
    paths = [tmp_path / f"{at}.jpg" for at in range(len(photos))]
    for path, photo in zip(paths, photos, strict=True):
        path.write_bytes(photo)
    (same,) = explorer.models["run"].unshuffle(paths).sets
    assert found["order"] == [paths.index(thing.path) for thing in same.ordered]
    assert found["links"] == pytest.approx(same.found.links.tolist()) and len(found["links"]) == 3
    assert found["confidence"] == pytest.approx(same.found.confidence)


def test_copies_lie_side_by_side(client, photos):
    found = checked(answers.Order, client.post(f"{API}/unshuffle", files=parts([photos[0], photos[2], photos[0]])))
    order = found["order"]
    assert sorted(order) == [0, 1, 2] and abs(order.index(0) - order.index(2)) == 1 and 1.0 in found["links"]


def test_what_follows_a_photo(client, photos):
    files = {"photo": ("x.jpg", photos[1], "image/jpeg")}
    found = checked(answers.Next, client.post(f"{API}/next", files=files, data={"steps": "crack the egg\nadd milk\n"}))
    assert len(found["steps"]) + len(found["warning"] or "") > 0 and found["library"]["total"] == 8


def test_a_photo_is_refused_before_the_library_is_embedded(client, explorer, photos, monkeypatch):
    """Else whoever sends one that is broken waits for minutes to hear it."""
    scan = SimpleNamespace(searcher=None, progress=lambda: {"state": "embedding"})
    monkeypatch.setattr(type(explorer), "scan", lambda self, name: scan)
    for photo, status in ((photos[0], 200), (photos[0][:200], 422)):
        assert client.post(f"{API}/next", files=parts([photo], "photo")).status_code == status


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 415, "type"),
        (b"GIF89a" + b"\0" * 50, 415, "type"),
        (b"<svg onload='alert(1)'/>", 415, "type"),
        (b"\xff\xd8\xff" + b"\0" * 500, 422, "photo"),
        (b"\x89PNG\r\n\x1a\n" + b"\xff" * 500, 422, "photo"),
        (b"RIFF" + b"\0" * 500, 422, "photo"),
        (bomb(60_000, 60_000), 422, "photo"),
        (b"\xff\xd8\xff" + b"\0" * (25 << 20), 413, "too_large"),
    ],
)
def test_what_is_no_photo_is_refused(client, photos, content, status, code):
    for place in ("unshuffle", "next"):
        files = parts([*photos[:2], content]) if place == "unshuffle" else parts([content], "photo")
        data = {"steps": "crack the egg"} if place == "next" else {}
        found = client.post(f"{API}/{place}", files=files, data=data)
        assert found.status_code == status, found.text
        assert found.json()["error"]["code"] in (code, "input")
        assert "/tmp" not in found.text and "mmcc-photo" not in found.text
        if place == "unshuffle":
            assert found.json()["error"]["cause"].startswith("Photo 3 ")


def test_too_few_too_many_and_other_forms(client, photos):
    place = f"{API}/unshuffle"
    assert client.post(place, files=parts(photos[:1])).json()["error"]["code"] == "too_few"
    assert client.post(place, files=parts(photos[:1] * 2)).status_code == 422
    for count in (31, 200):
        found = client.post(place, files=parts([photos[0]] * count))
        assert (found.status_code, found.json()["error"]["code"]) == (413, "too_many")
    assert client.post(place, json={}).status_code == 415
    for body in (b"", b"--x", b"--x\r\n\r\n", b"\0" * 100, b"--x\r\nContent-Disposition: form-data\r\n\r\n\r\n--x--"):
        found = client.post(place, content=body, headers={"content-type": "multipart/form-data; boundary=x"})
        assert found.status_code in (400, 422), found.text
    assert client.post(place, content=b"x", headers={"content-type": "multipart/form-data"}).status_code == 400


def test_questions_that_are_no_json(client, video):
    for body in (b"", b"[]", b"{", b"[" * 100_000, b'{"video": 1}', b'{"video": NaN}', b"\xff\xfe"):
        found = client.post(f"{API}/next", content=body, headers={"content-type": "application/json"})
        assert (found.status_code, found.json()["error"]["code"]) == (422, "invalid")
    assert client.post(f"{API}/next", json={"video": video, "frame": 10**9}).status_code == 404
    assert client.post(f"{API}/next", json={"video": "nothing", "frame": 0}).status_code == 404


def test_more_bytes_than_announced_or_allowed(client):
    headers = {"content-type": "multipart/form-data; boundary=x"}
    announced = client.post(f"{API}/unshuffle", content=b"", headers={**headers, "content-length": str(1 << 40)})
    assert announced.status_code == 413
    chunks = (b"--x\r\nContent-Disposition: form-data; name=photos; filename=a\r\n\r\n", *([b"\0" * (8 << 20)] * 22))
    found = client.post(f"{API}/unshuffle", content=iter(chunks), headers=headers)
    assert found.status_code == 413, found.text
    assert client.put(f"{API}/videos/x/marks", content=io.BytesIO(b" " * (2 << 20))).status_code == 413
