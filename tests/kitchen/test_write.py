"""A kitchen on disk: read back by the code that reads real data, resumed, and refused where it must be."""

import json
import os
import shutil
import signal
import sys

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.crosstask import read_crosstask
from mmcc.errors import InputError
from mmcc.kitchen.plan import KitchenSettings, plan, script_of, timeline_of
from mmcc.kitchen.recipes import PRIMARY
from mmcc.kitchen.write import write_kitchen
from mmcc.locks import only_writer
from tests.forked import Forked

SMALL = KitchenSettings(videos=12, size=48, fps=1)
FLAGS = ["--videos", "12", "--seed", "0", "--size", "48", "--fps", "1"]


@pytest.fixture(scope="module")
def kitchen(kitchens, tmp_path_factory):
    """Twelve videos, with vectors: a copy, which tests may change."""
    out = tmp_path_factory.mktemp("small") / "kitchen"
    shutil.copytree(kitchens.kitchen_corpus(videos=12, size=48, features=True).kitchen, out)
    return out


def snapshot(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_crosstask_reader_reads_it(kitchen):
    source = read_crosstask(kitchen)
    planned = plan(SMALL)
    assert source.skipped == []
    assert {item.id for item in source.items} == {each.id for each in planned}
    by_id = {item.id: item for item in source.items}
    for each in planned:
        item = by_id[each.id]
        assert item.media and item.captions and item.split == each.split and item.tasks == (each.recipe.id,)
        shown = timeline_of(each).shown
        assert [tuple(step) for step in item.steps] == [(at + 1, start, end) for at, start, end in shown]
        task = source.tasks[each.recipe.id]
        assert task.steps == tuple(step.text for step in each.recipe.steps) and task.primary == each.recipe.primary
    assert sum(task.primary for task in source.tasks.values()) == len(PRIMARY)


def test_ingest_skips_nothing_and_keeps_words_and_times(kitchen, tmp_path):
    assert main(["ingest", str(kitchen), "-o", str(tmp_path / "corpus"), "--size", "48"]) == 0
    corpus = Corpus.open(tmp_path / "corpus")
    for each in plan(SMALL):
        video, script = corpus[each.id], script_of(each, SMALL)
        assert video.status == "ok"
        assert len(video.steps) == len(script.timeline.shown)
        assert len(video.times) == int(script.timeline.duration)
        said = sum(len(spoken.text.split()) for spoken in script.spoken)
        heard = sum(len(utterance.text.split()) for utterance in video.utterances)
        assert heard == pytest.approx(said, rel=0.15)  # automatic captions drop and double words
    kinds = {corpus[each.id].details["caption_kind"] for each in plan(SMALL)}
    assert kinds == {"manual", "automatic"}


def test_vectors_are_ingested_too(kitchen, tmp_path):
    assert main(["ingest", str(kitchen), "-o", str(tmp_path / "corpus"), "--features", "1"]) == 0
    each = plan(SMALL)[0]
    video = Corpus.open(tmp_path / "corpus")[each.id]
    stored = np.load(kitchen / "features" / f"{each.id}.npy", allow_pickle=False)
    assert np.array_equal(video.frames(0, len(stored)), stored)


def test_a_second_run_changes_nothing_and_a_lost_file_comes_back(kitchen, capsys):
    before = snapshot(kitchen)
    victim = kitchen / "videos" / f"{plan(SMALL)[7].id}.mp4"
    victim.unlink()
    (kitchen / "features" / f"{plan(SMALL)[8].id}.npy").write_bytes(b"")
    assert main(["kitchen", str(kitchen), *FLAGS, "--features", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == 2
    assert snapshot(kitchen) == before


@pytest.mark.slow
def test_a_killed_run_is_resumed(kitchen, tmp_path):
    out = tmp_path / "killed"
    with Forked(main, ["kitchen", str(out), *FLAGS, "--features"]) as command:
        while len(list((out / "videos").glob("k*.mp4")) if (out / "videos").is_dir() else []) < 3:
            assert not command.ends_within(0.02)
        command.kill()
    assert main(["kitchen", str(out), *FLAGS, "--features"]) == 0
    left_behind = {name: data for name, data in snapshot(out).items() if ".tmp-" not in name}
    assert left_behind == snapshot(kitchen)
    assert list(out.rglob(".tmp-*")) == []


def test_two_runs_do_not_write_at_once(kitchen, capsys):
    with only_writer(kitchen):
        assert main(["kitchen", str(kitchen), *FLAGS, "--features"]) == 3
    assert "another mmcc process is writing to it" in capsys.readouterr().err


def test_a_run_that_died_before_its_first_file_is_resumed(tmp_path):
    (tmp_path / ".tmp-kitchen.json.123-4").write_text("{")
    (tmp_path / ".lock").touch()
    assert main(["kitchen", str(tmp_path), "--videos", "2", "--size", "32", "--fps", "0.2"]) == 0
    assert len(list((tmp_path / "videos").iterdir())) == 2 and not list(tmp_path.glob(".tmp-*"))


def test_an_interrupted_run_says_how_to_resume(tmp_path):
    out = tmp_path / "stopped"
    with Forked(lambda: sys.exit(main(["kitchen", str(out), "--videos", "200"]))) as command:
        while not (out / "videos").is_dir():
            assert not command.ends_within(0.02)
        os.kill(command.pid, signal.SIGINT)
        done = command.end()
    assert "run the same command again" in done.err and done.code == 130


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--seed", "6"], "seed is 0, not 6"),
        (["--bookends"], "bookends is False, not True"),
        (["--videos", "21"], "videos is 12, not 21"),
    ],
)
def test_another_kitchen_is_not_written_over(kitchen, capsys, flags, word):
    before = snapshot(kitchen)
    assert main(["kitchen", str(kitchen), *FLAGS, *flags]) == 3
    assert word in capsys.readouterr().err
    assert snapshot(kitchen) == before


def test_a_folder_of_other_things_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("precious")
    assert main(["kitchen", str(tmp_path), "--videos", "2"]) == 3
    assert "thesis.tex" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_not_a_folder(tmp_path, capsys):
    (tmp_path / "out").write_text("")
    assert main(["kitchen", str(tmp_path / "out"), "--videos", "2"]) == 3
    assert "is a file" in capsys.readouterr().err


def test_a_damaged_kitchen_json_is_named(tmp_path):
    (tmp_path / "kitchen.json").write_text("{")
    with pytest.raises(InputError, match=r"kitchen\.json"):
        write_kitchen(tmp_path, plan(SMALL), SMALL)


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--recipes", "19"], "at most 18"),
        (["--size", "97"], "even"),
        (["--timelines", "release"], "--features"),
        (["--timelines", "release", "--features", "--videos", "3"], "--videos cannot be combined"),
        (["--size", "100000"], "at most 1024"),
        (["--no-pixels"], "--features"),
        (["--videos", "0"], "at least 1"),
        (["--fps", "nan"], "finite"),
    ],
)
def test_impossible_flags_are_refused(tmp_path, capsys, flags, word):
    try:
        code = main(["kitchen", str(tmp_path / "out"), *flags])
    except SystemExit as stopped:  # argparse's own
        code = stopped.code
    assert code == 2 and word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_vectors_alone_need_no_pixels(tmp_path, capsys):
    out = tmp_path / "vectors"
    assert main(["kitchen", str(out), "--videos", "3", "--features", "--no-pixels"]) == 0
    assert len(list((out / "features").iterdir())) == 3 and not (out / "videos").exists()
    assert main(["ingest", str(out), "-o", str(tmp_path / "corpus")]) == 3
    assert "--features" in capsys.readouterr().err


def test_the_semi_real_variant(shared, tmp_path):
    """Three real videos of a real release, written and read back."""
    release = shared / "crosstask" / "crosstask_release"
    part = tmp_path / "part"
    (part / "annotations").mkdir(parents=True)
    for name in ("tasks_primary.txt", "tasks_related.txt"):
        (part / name).write_bytes((release / name).read_bytes())
    chosen = sorted((release / "annotations").iterdir())[:3]
    for path in chosen:
        (part / "annotations" / path.name).write_bytes(path.read_bytes())
    lines = [f"{path.stem.partition('_')[0]},{path.stem.partition('_')[2]},x\n" for path in chosen]
    (part / "videos.csv").write_text("".join(lines))
    out = tmp_path / "semi-real"
    assert main(["kitchen", str(out), "--timelines", str(part), "--features"]) == 0
    assert main(["ingest", str(out), "-o", str(tmp_path / "corpus"), "--features", "1"]) == 0
    corpus, real = Corpus.open(tmp_path / "corpus"), read_crosstask(part)
    for item in real.items:
        assert [step.step for step in corpus[item.id].steps] == [
            step.step for step in sorted(item.steps, key=lambda step: step.start)
        ]
        assert corpus.tasks[item.tasks[0]].steps == real.tasks[item.tasks[0]].steps
