"""The library over HTTP: lists, one video, its file, its frames, and how far it is embedded."""

import io

import pytest
from PIL import Image

from mmcc.app import answers
from mmcc.app.videos import media_of
from tests.app.conftest import API


def checked(kind, response):
    """The answer, which is as OpenAPI describes it."""
    assert response.status_code == 200, response.text
    kind.model_validate(response.json())
    return response.json()


def test_about(client, explorer):
    found = checked(answers.About, client.get(f"{API}/about"))
    assert found["corpus"]["videos"] == 8 == len(explorer.library) and found["can"]["compare"]
    assert [model["id"] for model in found["models"]] == ["run", "run-2"]
    assert found["limits"]["photos"] == 30


def test_videos_are_paged_sorted_and_searched(client, explorer):
    everything = checked(answers.Videos, client.get(f"{API}/videos"))
    assert everything["total"] == 8 and len(everything["videos"]) == 8
    page = checked(answers.Videos, client.get(f"{API}/videos?sort=duration&order=desc&offset=2&limit=3"))
    lengths = sorted((card.duration for card in explorer.library.cards), reverse=True)
    assert page["total"] == 8 and [video["duration"] for video in page["videos"]] == lengths[2:5]
    word = explorer.library.footage(everything["videos"][0]["id"]).video.utterances[0].text.split()[-1]
    found = checked(answers.Videos, client.get(f"{API}/videos", params={"q": word.upper()}))
    said = {
        card.key
        for card in explorer.library.cards
        if word in f"{card.title} {card.task}".lower()
        or any(word in each.text.lower() for each in explorer.library.footage(card.key).video.utterances)
    }
    assert {video["id"] for video in found["videos"]} == said
    nothing = checked(answers.Videos, client.get(f"{API}/videos?q=zorkmid"))
    assert nothing == {"total": 0, "videos": []}


def test_a_video(client, explorer, video):
    found = checked(answers.VideoDetails, client.get(f"{API}/videos/{video}"))
    footage = explorer.library.footage(video)
    assert found["frames"]["times"] == footage.video.times.tolist() and found["frames"]["width"] == 32
    assert [said["text"] for said in found["utterances"]] == [said.text for said in footage.video.utterances]
    first = footage.video.steps[0]
    assert found["steps"][0]["text"] == footage.step_texts[first.step - 1]
    assert found["playable"]["type"] == "video/mp4"


def test_its_file_by_ranges(client, explorer, video):
    path, _ = media_of(explorer.library.footage(video))
    content = path.read_bytes()
    place = f"{API}/videos/{video}/media"
    assert client.get(place).content == content
    found = client.get(place, headers={"range": "bytes=100-299"})
    assert (found.status_code, found.content) == (206, content[100:300])
    assert client.head(place).headers["content-length"] == str(len(content))
    for header in ("bytes=0-1,5-6", "bytes=" + ",".join(f"{n}-{n}" for n in range(1000)), f"bytes={len(content)}-"):
        refused = client.get(place, headers={"range": header})
        assert refused.status_code == 416 and refused.json()["error"]["code"] == "range"


def test_a_file_that_is_gone_or_no_video_is_not_sent(client, explorer, video, tmp_path, monkeypatch):
    """A corpus may come from elsewhere, and name any file as its source."""
    secret = tmp_path / "secret.mp4"
    secret.write_text("root:x:0:0")
    for path in (None, tmp_path / "gone.mp4", secret, tmp_path / "notes.txt"):
        footage = explorer.library.footage(video)
        object.__setattr__(footage, "path", path)
        monkeypatch.setattr(type(explorer), "footage", lambda self, key, footage=footage: footage)
        found = client.get(f"{API}/videos/{video}/media")
        assert found.status_code == 404 and found.json()["error"]["code"] == "no_media"


def test_frames_and_strips_are_pictures_that_can_be_kept(client, explorer, video):
    found = client.get(f"{API}/videos/{video}/frames/5.jpg")
    assert found.headers["content-type"] == "image/jpeg" and "immutable" in found.headers["cache-control"]
    assert Image.open(io.BytesIO(found.content)).size == (32, 32)
    again = client.get(f"{API}/videos/{video}/frames/5.jpg", headers={"if-none-match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    small = client.get(f"{API}/videos/{video}/frames/5.jpg?width=16")
    assert Image.open(io.BytesIO(small.content)).size == (16, 16) and small.headers["etag"] != found.headers["etag"]
    strip = client.get(f"{API}/videos/{video}/strip?first=2&count=7&width=16&step=3")
    assert Image.open(io.BytesIO(strip.content)).size == (7 * 16, 16)
    count = explorer.library.card(video).frames
    last = client.get(f"{API}/videos/{video}/strip?first={count - 2}&count=64&width=16")
    assert Image.open(io.BytesIO(last.content)).size == (2 * 16, 16)


@pytest.mark.parametrize(
    "place", ["frames/-1.jpg", "frames/99999.jpg", "strip?first=99999", "strip?count=65", "frames/x.jpg", "nothing"]
)
def test_what_there_is_not_is_refused_with_a_reason(client, video, place):
    found = client.get(f"{API}/videos/{video}/{place}")
    assert found.status_code in (404, 422)
    answers.Error.model_validate(found.json())


def test_a_video_is_embedded_when_asked(client, explorer):
    key = explorer.library.cards[-1].key
    place = f"{API}/videos/{key}/status"
    before = checked(answers.Status, client.get(place, params={"model": "run-2"}))
    assert before["state"] in ("none", "ready")
    begun = checked(answers.Status, client.post(place))
    assert begun["state"] in ("queued", "embedding", "ready")
    client.portal.call(explorer.ready, key, "run")
    assert checked(answers.Status, client.get(place)) == {"state": "ready", "done": 1.0, "reason": None}
    assert client.get(f"{API}/videos/{key}").json()["embedded"]
