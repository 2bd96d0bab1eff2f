"""The whole library, embedded once somebody asks about it."""

from mmcc.app import answers
from tests.app.conftest import API
from tests.app.test_videos import checked


def test_the_clearest_changes_of_the_library(client, explorer):
    first = checked(answers.Changes, client.get(f"{API}/transitions?top=5"))
    assert first["library"]["total"] == 8
    client.portal.call(explorer.scan("run").wait)
    found = checked(answers.Changes, client.get(f"{API}/transitions?top=5&gap=4"))
    assert found["library"] == {"state": "ready", "done": 1.0, "videos": 8, "total": 8, "reason": None}
    model, library = explorer.models["run"], explorer.library
    every = [change for card in library.cards for change in model.transitions(library.footage(card.key), top=20)]
    best = sorted((each.score for each in every if each.to_time - each.from_time >= 4), reverse=True)[:5]
    assert [each["score"] for each in found["changes"]] == best
    titles = {card.key: card.title for card in library.cards}
    assert all(titles[each["video"]["id"]] == each["video"]["title"] for each in found["changes"])


def test_what_comes_next_is_what_search_finds(client, explorer, video):
    client.portal.call(explorer.scan("run").wait)
    asked = {"video": video, "frame": 10, "steps": ["crack the egg", "add the sugar"]}
    found = checked(answers.Next, client.post(f"{API}/next", json=asked))
    footage = explorer.library.footage(video)
    same = explorer.models["run"].search(explorer.library.source, after=f"{footage.name}@10", top=12)
    assert [(each["frame"], each["score"]) for each in found["futures"]] == [
        (hit.moments[0].frame, hit.score) for hit in same.hits
    ]
    assert len(found["pasts"]) == 12 and 0 <= found["none"] <= 1
    assert {each["text"] for each in found["steps"]} <= set(asked["steps"])
