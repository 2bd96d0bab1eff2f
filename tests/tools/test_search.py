"""Search: the model's own scores over all frames, an index that belongs to one model, known the second time."""

import json
import shutil
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from PIL import Image

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.format import Manifest
from mmcc.engines.local import LocalEngine
from mmcc.errors import InputError, MissingDependency
from mmcc.evaluation.embedding import embed_videos
from mmcc.evaluation.search import best_apart
from mmcc.report.search import draw, render
from mmcc.tools import search, search_index
from mmcc.tools.cache import Cache
from mmcc.tools.model import open_model
from mmcc.tools.search import Searcher
from mmcc.tools.search_index import open_index, open_library
from tests.tools.kitchen_footage import train


def searcher(kitchen, source=None, **options):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    library = open_library(model, source or kitchen.corpus, cache)
    return Searcher(model, library, open_index(model, library, cache, **options), cache)


def by_hand(kitchen, query, top=10, hidden=None):
    """All frames of the corpus against a query, from the model itself."""
    corpus, adapter = Corpus.open(kitchen.corpus), kitchen.model().adapter
    videos = embed_videos(adapter, corpus, corpus.ids)
    scores = np.concatenate([(video.frames.pi @ query).numpy() for video in videos])
    number = np.repeat(np.arange(len(videos), dtype=np.int32), [len(video.times) for video in videos])
    times = np.concatenate([video.times for video in videos])
    if hidden:
        scores[(number == corpus.ids.index(hidden[0])) & (np.abs(times - hidden[1]) <= 10)] = -np.inf
    best = best_apart(scores, number, (times,), top, 10.0)
    return [(videos[number[at]].id, float(times[at]), pytest.approx(float(scores[at]), abs=1e-4)) for at in best]


def told(found):
    return [(hit.moments[0].footage.name, hit.moments[0].time, hit.score) for hit in found.hits]


def test_a_text_is_compared_with_every_frame(kitchen):
    with torch.inference_mode():
        query = kitchen.model().adapter.embed_texts(["add sugar"]).pi[0]
        assert told(searcher(kitchen).text("add sugar")) == by_hand(kitchen, query)


def test_after_and_before_a_frame_of_the_corpus_are_its_future_and_past(kitchen):
    corpus, adapter = Corpus.open(kitchen.corpus), kitchen.model().adapter
    video = corpus.ids[1]
    (seen,) = embed_videos(adapter, corpus, [video])
    at = int(np.abs(seen.times - 30).argmin())
    node = type(seen.frames)(*(part[at : at + 1] for part in seen.frames))
    asked, hidden = f"{video}@0:30", (video, float(seen.times[at]))
    for found, query in (
        (searcher(kitchen).after(asked, 5), adapter.future(node)[0]),
        (searcher(kitchen).before(asked, 5), adapter.past(node)[0]),
    ):
        expected = by_hand(kitchen, query, 5, hidden)
        # Futures are kept in half precision: what is found is as good, if not in the same order.
        assert [score for _, _, score in told(found)] == [
            pytest.approx(score.expected, abs=2e-3) for _, _, score in expected
        ]
        assert all(name != video or abs(time - 30) > 10 for name, time, _ in told(found))


def test_a_model_that_predicts_the_same_of_all_frames_says_so(kitchen, tmp_path, monkeypatch):
    frame, said = f"{Corpus.open(kitchen.corpus).ids[1]}@0:30", "every picture: what is found does not depend on yours"
    found = searcher(kitchen)
    assert not any(said in line for way in (found.after, found.before) for line in way(frame).warnings)
    assert not any(said in line for line in found.text("add sugar").warnings)
    always = torch.full((16,), 0.25)  # of unit length
    monkeypatch.setattr(type(kitchen.model().adapter), "future", lambda self, node: always.expand(len(node.z), -1))
    blind = searcher(kitchen, folder=tmp_path / "index")
    assert any(said in line and "after" in line for line in blind.after(frame).warnings)
    assert not any(said in line for line in blind.before(frame).warnings)  # which it does see


def test_a_change_is_two_moments_in_order(kitchen):
    found = searcher(kitchen).change("add sugar", "pour milk", top=4)
    assert len(found.hits) == 4
    for hit in found.hits:
        first, second = hit.moments
        assert first.footage.name == second.footage.name and first.time < second.time
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_files_photos_and_folders_are_searched_with_and_in(kitchen, tmp_path, capsys):
    """A photo of a frame asks what the frame asks, about; a file's frame is found in the file's own folder."""
    folder, clip = kitchen.videos[0].parent, kitchen.videos[0]
    found = searcher(kitchen, folder)
    assert {hit.moments[0].footage.name for hit in found.text("add", top=100).hits} == {
        path.name for path in kitchen.videos
    }
    by_name = found.after(f"{clip.name}@0:30", 3)
    assert told(found.after(f"{clip.stem}@0:30", 3)) == told(by_name)  # without the ending
    by_path = found.after(f"{clip}@0:30", 100)
    assert [score for _, _, score in told(by_name)] != []
    assert by_path.hits[0].score >= by_name.hits[0].score - 2e-3
    still = found.library.footage(clip.name).still(30)
    Image.fromarray(still).save(tmp_path / "still.png")
    photo = found._look(str(tmp_path / "still.png")).node
    assert float(photo.present @ found._look(f"{clip}@0:30").node.present) > 0.98
    sheet = tmp_path / "sheet.png"
    assert (
        main(["search", str(kitchen.run), str(folder), "--after", str(tmp_path / "still.png"), "--sheet", str(sheet)])
        == 0
    )
    assert "moments after" in capsys.readouterr().out
    assert render(found.text("add", 1)).startswith("1 moment like")
    with Image.open(sheet) as drawn:
        assert drawn.width > 500
    draw(sheet, found.change("add", "pour", 3))
    assert "→" in render(found.change("add", "pour", 3))


def test_an_index_is_kept_and_refused_for_another_model(kitchen, tmp_path, capsys, monkeypatch):
    index = tmp_path / "index"
    command = ["search", str(kitchen.run), str(kitchen.corpus), "--text", "add", "--index", str(index), "--json"]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["schema"] == 1 and len(first["hits"]) == 10
    assert first["hits"][0].keys() == {"video", "path", "score", "time", "text"}
    assert json.loads((index / "index.json").read_text())["model"]["checksum"] == kitchen.model().checksum
    monkeypatch.setattr(search_index, "build_index", None)  # a second build would fail
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == first
    other = train(kitchen.corpus, tmp_path / "other", **{"train.seed": 5})
    capsys.readouterr()
    assert main([command[0], str(other), *command[2:]]) == 3
    shown = capsys.readouterr()
    assert "was built with another model" in json.loads(shown.out)["error"]["cause"] and "--rebuild" in shown.err
    monkeypatch.undo()
    monkeypatch.setenv("MMCC_CACHE", str(kitchen.cache))
    assert main([command[0], str(other), *command[2:], "--rebuild"]) == 0
    assert json.loads((index / "index.json").read_text())["model"]["checksum"] == open_model(str(other)).checksum


def test_an_index_that_was_killed_before_its_first_rename_is_not_in_the_way(kitchen, tmp_path):
    index = tmp_path / "index"
    (index / ".tmp-index").mkdir(parents=True)
    (index / ".tmp-index" / "pi.npy").write_bytes(b"cut off")
    assert searcher(kitchen, folder=index).text("add").hits
    assert not list(index.glob(".tmp-*"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    with pytest.raises(InputError, match="something other"):
        searcher(kitchen, folder=tmp_path / "other")


def test_an_index_of_another_corpus_or_a_damaged_one_is_refused(kitchen, tmp_path):
    index, copy = tmp_path / "index", tmp_path / "copy"
    searcher(kitchen, folder=index)
    shutil.copytree(kitchen.corpus, copy)
    manifest = Manifest.load(copy)
    manifest.skipped = [{"path": "x", "reason": "gone"}]
    manifest.save(copy)
    with pytest.raises(InputError, match="not from"):
        searcher(kitchen, copy, folder=index)
    whole = (index / "pi.npy").read_bytes()
    (index / "pi.npy").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"pi\.npy: has a wrong checksum"):
        searcher(kitchen, folder=index).text("add")
    (index / "index.json").write_text("[]")
    with pytest.raises(InputError, match="--rebuild"):
        searcher(kitchen, folder=index)
    (index / "manifest.json").unlink()  # as of an earlier version
    with pytest.raises(InputError, match="--rebuild"):
        searcher(kitchen, folder=index)
    with pytest.raises(InputError, match="something other"):
        searcher(kitchen, folder=kitchen.videos[0].parent)


@pytest.mark.parametrize("name", ["index.json", "pi.npy", "video.npy", "time.npy", "frame.npy", "manifest.json"])
def test_a_damaged_index_in_the_cache_is_built_again(kitchen, tmp_path, capsys, name):
    cache = Cache(tmp_path)
    model, library = kitchen.model(), open_library(kitchen.model(), kitchen.corpus, cache)
    whole = open_index(model, library, cache)
    expected = told(Searcher(model, library, whole, cache).text("add", 3))
    path = whole.folder / name
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    capsys.readouterr()
    again = open_index(model, library, cache)
    assert told(Searcher(model, library, again, cache).text("add", 3)) == expected
    assert "it is built again" in capsys.readouterr().err and path.read_bytes() == content


def test_a_build_that_was_stopped_continues(kitchen, tmp_path, monkeypatch):
    model, cache = kitchen.model(), Cache(kitchen.cache)
    library = open_library(model, kitchen.corpus, cache)
    expected = open_index(model, library, cache, folder=tmp_path / "whole")
    monkeypatch.setattr(search_index, "_AT_ONCE", 2)
    shown = []

    def stop_after(count):
        def progress(numbers):
            for number in numbers[:count]:
                shown.append(number)
                yield number
            if count < len(numbers):
                raise KeyboardInterrupt

        return progress

    for count in (1, 3):  # after one video nothing is worth keeping; after three, two are
        with pytest.raises(KeyboardInterrupt):
            open_index(model, library, cache, folder=tmp_path / "index", progress=stop_after(count))
        assert (tmp_path / ".tmp-index").exists() == (count == 3) and not (tmp_path / "index").exists()
    shown.clear()
    found = open_index(model, library, cache, folder=tmp_path / "index", progress=stop_after(1000))
    assert shown[0] == "2"
    for path in sorted(expected.folder.iterdir()):
        assert (found.folder / path.name).read_bytes() == path.read_bytes(), path.name
    assert sorted(each.name for each in tmp_path.iterdir()) == ["index", "whole"]


def test_what_a_build_of_another_corpus_left_is_not_used(kitchen, tmp_path, monkeypatch):
    monkeypatch.setattr(search_index, "_AT_ONCE", 3)
    draft = tmp_path / ".tmp-index"
    draft.mkdir()
    (draft / "building.json").write_text(json.dumps({"of": "another", "videos": 3, "nodes": 10}))
    (draft / "pi.npy").write_bytes(b"damaged")
    video = Corpus.open(kitchen.corpus).ids[0]
    assert told(searcher(kitchen, folder=tmp_path / "index").after(f"{video}@0:30")) == told(
        searcher(kitchen).after(f"{video}@0:30")
    )


def test_the_second_question_needs_no_torch(kitchen, without_torch):
    video = Corpus.open(kitchen.corpus).ids[0]
    searcher(kitchen).text("add")
    for question in (["--text", "add"], ["--before", f"{video}@0:20"]):  # of the latter, even the first
        done = without_torch.mmcc("search", kitchen.run, kitchen.corpus, *question)
        assert done.code == 0, done.err


def test_faiss_finds_what_an_exact_search_finds(kitchen, tmp_path, monkeypatch):
    pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")
    exact = searcher(kitchen)
    monkeypatch.setattr(search_index, "FAISS_ABOVE", 1)
    monkeypatch.setattr(search_index.nearest, "SHARD_NODES", 100)
    monkeypatch.setattr(search, "_AT_FIRST", 1000)  # every frame is a candidate: as good as exact
    fast = searcher(kitchen, folder=tmp_path / "index")
    assert fast.index.nearest is not None and "nodes" not in vars(fast.index)
    video = Corpus.open(kitchen.corpus).ids[0]
    for top in (3, 500):  # 500: more than there are
        assert told(fast.text("add sugar", top)) == [
            (name, time, pytest.approx(score, abs=1e-5)) for name, time, score in told(exact.text("add sugar", top))
        ]
        after = [score for _, _, score in told(exact.after(f"{video}@0:30", top))]
        assert [score for _, _, score in told(fast.after(f"{video}@0:30", top))] == pytest.approx(after, abs=1e-5)


def test_workers_of_an_engine_build_the_same_index(kitchen, tmp_path, monkeypatch, capsys):
    pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")
    begun = []

    @contextmanager
    def engine():
        begun.append("engine")
        yield LocalEngine(2)

    few = searcher(kitchen, folder=tmp_path / "few", engine=engine)
    assert few.index.nearest is None and "no worker had work" in capsys.readouterr().err
    monkeypatch.setattr(search_index, "FAISS_ABOVE", 1)
    monkeypatch.setattr(search_index.nearest, "SHARD_NODES", 100)
    for name in ("here", "them"):
        searcher(kitchen, folder=tmp_path / name, **({"engine": engine} if name == "them" else {}))
    for path in sorted((tmp_path / "here").iterdir()):
        if path.name not in ("nodes.faiss", "manifest.json"):  # the one names the folder, the other has its checksum
            assert path.read_bytes() == (tmp_path / "them" / path.name).read_bytes(), path.name
    searcher(kitchen, folder=tmp_path / "them", engine=engine)
    assert len(begun) == 2, "an index that is there needs no engine"
    monkeypatch.setattr(search_index, "has_faiss", lambda: False)
    with pytest.raises(MissingDependency, match=r"mmcc\[search\]"):
        searcher(kitchen, folder=tmp_path / "none", engine=engine)
    assert len(begun) == 2


def test_what_was_embedded_is_kept_when_compressing_stops(kitchen, tmp_path, monkeypatch):
    pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")
    monkeypatch.setattr(search_index, "FAISS_ABOVE", 1)
    shown, build = [], search_index.nearest.build

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(search_index.nearest, "build", stop)
    with pytest.raises(KeyboardInterrupt):
        searcher(kitchen, folder=tmp_path / "index")
    monkeypatch.setattr(search_index.nearest, "build", build)
    searcher(kitchen, folder=tmp_path / "index", progress=lambda items: shown.append(items) or items)
    assert shown[0] == [str(len(Corpus.open(kitchen.corpus).ids) - 1)], "the last video alone is embedded again"
    searcher(kitchen, folder=tmp_path / "whole")
    for name in ("pi.npy", "time.npy", "nodes.lists"):
        assert (tmp_path / "index" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.slow
def test_a_damaged_index_of_many_frames_is_refused_or_answers_the_same(kitchen, tmp_path, monkeypatch):
    pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")
    monkeypatch.setattr(search_index, "FAISS_ABOVE", 1)
    whole = searcher(kitchen, folder=tmp_path / "index")
    expected, refused = told(whole.text("add sugar")), set()
    for path in sorted((tmp_path / "index").iterdir()):
        content = path.read_bytes()
        for damaged in (content[:-1] + bytes([content[-1] ^ 1]), content[: len(content) // 2], b""):
            path.write_bytes(damaged)
            try:
                assert told(searcher(kitchen, folder=tmp_path / "index").text("add sugar")) == expected, path.name
            except InputError:
                refused.add(path.name)
        path.write_bytes(content)
    assert refused > {"pi.npy", "pi.npy.crc", "time.npy", "video.npy.crc", "nodes.faiss", "nodes.lists", "index.json"}


def test_wrong_questions_are_told_in_a_line(kitchen, tmp_path, capsys):
    run, corpus = str(kitchen.run), str(kitchen.corpus)
    video = Corpus.open(kitchen.corpus).ids[0]
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.mp4").write_text("no video")
    (tmp_path / "bad.png").write_text("no picture")
    for command, code, said in [
        ([run, corpus], 2, "give exactly one of"),
        ([run, corpus, "--text", "add", "--after", "x"], 2, "give exactly one of"),
        ([run, corpus, "--change", "add", "pour", "--text", "add"], 2, "give exactly one of"),
        ([run, corpus, "--text", "zorkmid"], 3, "knows no content word of 'zorkmid'"),
        ([run, corpus, "--after", "nobody@0:10"], 3, "nobody"),
        ([run, corpus, "--after", f"{video}@99:59"], 3, "ends at"),
        ([run, corpus, "--after", f"{video}@soon"], 3, "is not a time"),
        ([run, corpus, "--after", video], 3, "VIDEO@1:23"),
        ([run, corpus, "--after", str(tmp_path / "bad.png")], 3, "bad.png"),
        ([run, str(tmp_path / "empty"), "--text", "add"], 3, "empty"),
        ([run, str(tmp_path / "text.mp4"), "--text", "add"], 3, "text.mp4"),
        ([run, str(tmp_path / "missing"), "--text", "add"], 3, "missing"),
    ]:
        assert main(["search", *command]) == code, command
        shown = capsys.readouterr()
        assert shown.out == "" and said in shown.err and "Traceback" not in shown.err, shown.err


def test_a_short_name_must_be_that_of_one_video(kitchen, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy2(kitchen.videos[0], tmp_path / folder / "v.mp4")
    found = searcher(kitchen, tmp_path)
    assert told(found.after("a/v@0:10", 2)) == told(found.after("a/v.mp4@0:10", 2))
    with pytest.raises(InputError, match="is the name of 2 videos"):
        found.after("v@0:10", 2)


def test_a_change_has_two_sides_on_the_command_line(kitchen, capsys):
    run, corpus = str(kitchen.run), str(kitchen.corpus)
    assert main(["search", run, corpus, "--change", "add sugar", "pour milk", "--json"]) in (0, 4)
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert hits and all(hit["from_time"] < hit["to_time"] for hit in hits)
    with pytest.raises(SystemExit, match="2"):
        main(["search", run, corpus, "--change", "add"])
    assert "expected 2 arguments" in capsys.readouterr().err
