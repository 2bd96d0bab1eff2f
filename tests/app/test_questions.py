"""Questions about a video over HTTP: cycles, two models, changes, chapters and guides."""

import numpy as np
import pytest

from mmcc.app import answers
from tests.app.conftest import API
from tests.app.test_videos import checked

ROLES = ["start", "counterpart", "future", "future_counterpart", "back"]


def test_a_cycle_is_what_the_python_api_says(client, explorer, video):
    found = checked(answers.Cycle, client.get(f"{API}/videos/{video}/cycle?index=7&temperature=0.05"))
    model, footage = explorer.models["run"], explorer.library.footage(video)
    for way in ("forward", "backward"):
        walk = model.walk(footage, 7, temperature=0.05, backward=way == "backward")
        assert [each["role"] for each in found[way]["stations"]] == ROLES
        assert [each["index"] for each in found[way]["stations"]] == [each.index for each in walk.stations]
        assert found[way]["returns"] == walk.returns
        for edge, same in zip(found[way]["edges"], walk.edges, strict=True):
            nodes = footage.video.times if edge["modality"] == "vision" else footage.video.utterances
            assert len(edge["weights"]) == len(nodes) and sum(edge["weights"]) == pytest.approx(1, abs=1e-3)
            np.testing.assert_allclose(edge["weights"], same.weights, atol=1e-6)
    assert found["settings"] == {"temperature": 0.05, "unimodal": False, "constrain": False}


def test_controls_change_the_answer_and_the_same_question_does_not(client, video):
    place = f"{API}/videos/{video}/cycle?modality=text&index=2"
    plain = client.get(place).content
    assert client.get(place).content == plain
    others = [client.get(place + more).content for more in ("&temperature=1", "&unimodal=1", "&constrain=1")]
    assert len({plain, *others}) == 4


def test_one_direction_and_the_end_of_a_video(client, explorer, video):
    last = explorer.library.card(video).frames - 1
    place = f"{API}/videos/{video}/cycle?index={last}&constrain=1"
    found = checked(answers.Cycle, client.get(f"{place}&direction=forward"))
    assert found["backward"] is None
    assert [each["role"] for each in found["forward"]["stations"]] == ["start", "counterpart"]
    assert not found["forward"]["returns"]
    back = checked(answers.Cycle, client.get(f"{place}&direction=backward"))
    assert back["forward"] is None and [each["role"] for each in back["backward"]["stations"]] == ROLES


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("cycle?index=99999", 404),
        ("cycle?index=99999&modality=text", 404),
        ("cycle?index=-1", 422),
        ("cycle?index=1&temperature=0", 422),
        ("cycle?index=1&temperature=5e-324", 422),
        ("cycle?index=1&temperature=nan", 422),
        ("cycle?index=1&modality=smell", 422),
        ("cycle?index=1&model=nobody", 404),
        ("cycle", 422),
        ("transitions?top=0", 422),
        ("export/secrets.txt", 422),
    ],
)
def test_questions_without_an_answer(client, video, question, status):
    found = client.get(f"{API}/videos/{video}/{question}")
    assert found.status_code == status
    answers.Error.model_validate(found.json())


def test_two_models(client, video):
    found = checked(answers.Comparison, client.get(f"{API}/compare?video={video}&index=3&a=run&b=run-2"))
    assert found["a"]["forward"] == found["b"]["forward"] and found["b"]["model"] == "run-2"


def test_changes_of_a_video_are_those_of_the_python_api(client, explorer, video):
    found = checked(answers.Changes, client.get(f"{API}/videos/{video}/transitions?top=3&gap=5"))
    same = explorer.models["run"].transitions(explorer.library.footage(video), top=3, gap=5)
    assert [(each["from_frame"], each["to_frame"], each["score"]) for each in found["changes"]] == [
        (each.from_frame, each.to_frame, each.score) for each in same
    ]
    assert all(each["to_time"] - each["from_time"] >= 5 for each in found["changes"])


def test_a_video_too_short_for_any_pair_has_none(client, video):
    found = checked(answers.Changes, client.get(f"{API}/videos/{video}/transitions?gap=3600"))
    assert found["changes"] == []


def test_chapters_and_a_guide_are_downloads(client, video):
    for name, start in {
        "chapters.txt": "0:00 ",
        "chapters.vtt": "WEBVTT",
        "chapters.ffmetadata": ";FFMETADATA1",
        "guide.html": "<!doctype html>",
    }.items():
        found = client.get(f"{API}/videos/{video}/export/{name}")
        assert found.status_code == 200 and found.text.startswith(start)
        assert found.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert "sandbox" in found.headers["content-security-policy"]
