"""Steps that a person marks, over HTTP: saved beside the library, and never lost to another tab."""

from mmcc.app import answers
from mmcc.corpus.crosstask import read_crosstask
from tests.app.conftest import API
from tests.app.test_videos import checked


def test_marks_are_saved_as_annotations_that_ingest_reads(client, explorer, video, annotations):
    place = f"{API}/videos/{video}/marks"
    footage = explorer.library.footage(video)
    before = checked(answers.Marks, client.get(place))
    assert before["revision"] == 0 and before["task"]["steps"] == list(footage.step_texts)
    assert len(before["marks"]) == len(footage.video.steps)
    own = {"task": {"title": "Fry an <b>egg</b>", "steps": ["heat the pan", "crack the egg"]}}
    marks = [{"step": 2, "start": 5.25, "end": 8}, {"step": 1, "start": 0, "end": 4.5}]
    saved = checked(answers.Marks, client.put(place, json={**own, "marks": marks, "revision": 0}))
    assert saved["task"] == own["task"] and [each["step"] for each in saved["marks"]] == [1, 2]
    assert checked(answers.Marks, client.get(place)) == saved
    read = read_crosstask(annotations)
    (item,) = [item for item in read.items if item.steps]
    assert item.id == footage.video.id and [tuple(clip) for clip in item.steps] == [(1, 0, 4.5), (2, 5.25, 8)]
    assert read.tasks[item.tasks[0]].steps == ("heat the pan", "crack the egg") and not read.skipped

    stale = client.put(place, json={**own, "marks": [], "revision": 0})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "conflict")
    assert client.get(place).json() == saved
    removed = client.put(place, json={"task": None, "marks": [], "revision": saved["revision"]})
    assert checked(answers.Marks, removed) == {"task": None, "marks": [], "revision": 0}
    assert checked(answers.Marks, client.get(place)) == before


def test_what_the_format_has_no_room_for_is_refused(client, video):
    place = f"{API}/videos/{video}/marks"
    good = {"task": {"title": "x", "steps": ["a"]}, "marks": [], "revision": 0}
    for change in (
        {"task": {"title": "", "steps": ["a"]}},
        {"task": {"title": "x", "steps": []}},
        {"task": {"title": "x", "steps": ["a, b"]}},
        {"task": {"title": "x" * 200, "steps": ["a"]}},
        {"task": {"title": "x\u202e", "steps": ["a"]}},
        {"marks": [{"step": 2, "start": 0, "end": 1}]},
        {"marks": [{"step": 1, "start": 2, "end": 1}]},
        {"marks": [{"step": 1, "start": -1, "end": 1}]},
        {"marks": [{"step": 1, "start": 0, "end": 1e300}]},
        {"marks": "all"},
        {"revision": "x"},
        {"revision": False},
        {"marks": [{"step": 1, "start": False, "end": 1}]},
        {"path": "/etc/passwd"},
    ):
        found = client.put(place, json={**good, **change})
        assert found.status_code == 422, change
        answers.Error.model_validate(found.json())
    assert client.get(place).json()["revision"] == 0
