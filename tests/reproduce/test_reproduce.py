"""Tables end to end, on a tiny budget: filled, stopped and resumed, never measured twice."""

import json
import re
import shutil
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.locks import only_writer
from mmcc.models.registry import WEIGHTS_FILE
from mmcc.reproduce import plan
from mmcc.reproduce.plan import TablePlan
from mmcc.reproduce.reproduce import reproduce
from mmcc.text import strict_json
from tests.forked import Forked
from tests.reproduce.tiny_reproduction import SMALL, TINY
from tests.schemas import check
from tests.sealed import reseal


def silent(_: str) -> None:
    pass


@pytest.fixture
def small(monkeypatch):
    """Table 2 of two rows and a teacher."""
    monkeypatch.setitem(plan.TABLES, "table2", SMALL)


def test_all_rows_are_trained_and_measured(finished):
    _, found = finished
    tables = found.content["tables"]
    assert list(tables) == ["table2", "table3", "table4", "transfer"]
    for name, task in (("table2", plan.ANTICIPATION), ("table3", plan.UNSHUFFLING), ("table3", plan.TRANSITIONS)):
        assert {row for row, tasks in tables[name]["figures"].items() if task in tasks} == {*plan.TRAINED, plan.RANDOM}
    accuracy = tables["table4"]["figures"][plan.ARROW][plan.ARROW]
    assert {name.split("/")[1] for name in accuracy if name.startswith("accuracy")} == {
        *plan.TRAINED, plan.RANDOM, plan.AVERAGE, plan.SCRATCH}  # fmt: skip
    assert {name.split("/")[2] for name in accuracy if name.startswith("accuracy")} == {*plan.SAMPLERS, plan.AVERAGE}
    assert found.notes == ["imagenet: left out: contains feature vectors, but ImageNet networks expect images"]


def test_what_is_written_can_be_read(finished):
    out, found = finished
    check("reproduce", json.loads(strict_json(found.content)))
    assert json.loads((out / "results.json").read_text()) == json.loads(json.dumps(found.content))
    assert found.content["schema"] == 1 and found.content["budget"]["steps"] == 4
    runs = found.content["runs"]
    assert len(runs) == 6 and all((out / run["folder"] / "config.yaml").is_file() for run in runs)
    assert {run["run"]: run["steps"] for run in runs}["tap"] == 2
    for table in ("table2", "table3", "table4", "transfer"):
        assert "MMCC+" in (out / "tables" / f"{table}.md").read_text()
        assert r"\toprule" in (out / "tables" / f"{table}.tex").read_text()
    page = (out / "index.html").read_text()
    assert page.count("<svg") >= 7 and "Table 2: future actions" in page and "Left out" in page
    assert set(found.content["curves"]["score"]) == set(plan.TRAINED)
    steps = [step for step, _ in found.content["curves"]["score"][plan.TAP]]
    assert steps == [5.0, 6.0]  # counted from where its teacher ended


def test_one_checkpoint_serves_all_tables(finished):
    """The last of each objective and seed."""
    out, found = finished
    for run in found.content["runs"]:
        assert run["checkpoint"] == run["steps"]
        for result in (out / "results" / Path(run["folder"]).name).glob("*.json"):
            assert json.loads(result.read_text())["step"] == run["checkpoint"]


def test_a_smoke_test_names_no_winner_and_says_why(finished, steps_corpus, tmp_path, monkeypatch):
    out = shutil.copytree(finished[0], tmp_path / "out")
    monkeypatch.setattr("mmcc.reproduce.plan.QUICK", TINY)
    found = reproduce(["table2"], steps_corpus, out, budget=TINY, seeds=1)
    texts = [found.to_markdown(), *((out / "tables" / f"table2.{form}").read_text() for form in ("md", "tex"))]
    for text in texts:
        assert "the figures mean nothing" in text and not re.search(r"(\*\*|textbf\{)[-+\d]", text)
    assert "**" in (finished[0] / "tables/table2.md").read_text()


def test_nothing_is_done_twice(finished, steps_corpus):
    out, found = finished
    before = {path: path.stat().st_mtime_ns for path in (out / "results").rglob("*.json")}
    lines: list[str] = []
    again = reproduce(["table2"], steps_corpus, out, budget=TINY, seeds=1, say=lines.append)
    assert {path: path.stat().st_mtime_ns for path in (out / "results").rglob("*.json")} == before
    assert "6 of 6 runs are trained" in lines and not any(line.startswith(("[", "step")) for line in lines)
    assert again.content == found.content  # the other tables are finished, and shown


@pytest.mark.slow
def test_imagenets_row_is_of_the_weights_that_were_named(monkeypatch, pictures, pictures_as_they_are, resnet, tmp_path):
    monkeypatch.setitem(plan.TABLES, "table3", TablePlan({plan.IMAGENET: (plan.TRANSITIONS,)}))

    def found(weights, out="out"):
        lines = []
        tables = reproduce(["table3"], pictures, tmp_path / out, budget=TINY, say=lines.append, imagenet=weights)
        return tables.content["tables"]["table3"]["figures"], [line for line in lines if "imagenet" in line]

    one, measured = found(resnet(0))
    assert measured == ["imagenet: transitions"] and found(resnet(0)) == (one, [])  # not twice
    other, measured = found(resnet(1))
    assert measured == ["imagenet: transitions"] and other != one
    with pytest.raises(InputError, match="no such file"):
        found(tmp_path / "none.safetensors", out="another")


@pytest.mark.slow
def test_a_row_that_embeds_nothing_is_left_out_of_table_4(finished, steps_corpus, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished[0], out)
    shutil.rmtree(out / "results" / "arrow-seed0")
    run = next(run for run in finished[1].content["runs"] if run["run"] == plan.MEMDPC)
    folder = out / run["folder"] / "checkpoints" / f"{run['checkpoint']:08d}"
    weights = load_file(folder / WEIGHTS_FILE)
    save_file({name: each * torch.nan for name, each in weights.items()}, folder / WEIGHTS_FILE)
    reseal(folder)
    found = reproduce(["table4"], steps_corpus, out, budget=TINY, seeds=1, say=silent)
    assert [
        note for note in found.notes if "memdpc's embedding of" in note and note.startswith("arrow: memdpc, seed 0")
    ]
    accuracy = found.content["tables"]["table4"]["figures"][plan.ARROW][plan.ARROW]
    rows = {name.split("/")[1] for name in accuracy if name.startswith("accuracy")}
    assert plan.PLUS in rows and plan.MEMDPC not in rows


def test_stale_and_damaged_results_are_measured_again(finished, steps_corpus):
    out, found = finished
    stale, damaged, whole = sorted((out / "results").rglob("anticipation.json"))[:3]
    kept = whole.stat().st_mtime_ns
    content = json.loads(stale.read_text())
    content["fingerprint"] = "of another corpus"
    content["result"]["notes"] = ["wrong"]
    stale.write_text(json.dumps(content))
    damaged.write_text(damaged.read_text()[:100])
    again = reproduce(["table2"], steps_corpus, out, budget=TINY, seeds=1, say=silent)
    assert again.content == found.content and whole.stat().st_mtime_ns == kept
    assert "wrong" not in stale.read_text() and json.loads(damaged.read_text())["schema"] == 1


class Cut(BaseException):
    """A power failure, as far as the code can tell."""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("step 2: ", 3), ("mmcc, seed 0: anticipation", 1), ("no_lambda2, seed 1", 1)])
def test_stopped_and_gone_on_with_gives_the_same(small, steps_corpus, uncut, tmp_path, words):
    line_begins, times = words
    heard = []

    def cutting(line: str) -> None:
        if line_begins in line:
            heard.append(line)
            if len(heard) == times:
                raise Cut

    with pytest.raises(Cut):
        reproduce(["table2"], steps_corpus, tmp_path / "out", budget=TINY, say=cutting)
    assert not (tmp_path / "out" / "results.json").exists()
    reproduce(["table2"], steps_corpus, tmp_path / "out", budget=TINY, say=silent)
    for name in ("results.json", "index.html", "tables/table2.md", "tables/table2.tex"):
        assert (tmp_path / "out" / name).read_bytes() == (uncut / name).read_bytes(), name


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_to_the_same(small, steps_corpus, uncut, tmp_path):
    def telling(line: str) -> None:
        print(line, flush=True)

    with Forked(reproduce, ["table2"], steps_corpus, tmp_path / "out", budget=TINY, say=telling) as child:
        for line in child.lines():
            if "step 2" in line and any((tmp_path / "out" / "runs").glob("*/checkpoints/0*")):
                time.sleep(0.05)
                child.kill()
                break
    assert not (tmp_path / "out" / "results.json").exists()
    lines: list[str] = []
    reproduce(["table2"], steps_corpus, tmp_path / "out", budget=TINY, say=lines.append)
    assert (tmp_path / "out" / "results.json").read_bytes() == (uncut / "results.json").read_bytes()
    assert any("finished" in line or "resuming from step" in line for line in lines)


@pytest.mark.slow
def test_table1_trains_its_variants(monkeypatch, steps_corpus, tmp_path):
    rows = (plan.NO_CONSTRAINT, plan.MMCC, plan.NO_LAMBDA1, plan.NO_LAMBDA2, plan.UNIMODAL)
    monkeypatch.setitem(plan.TABLES, "table1", TablePlan(dict.fromkeys(rows, (plan.CYCLE,)), seeds=1))
    found = reproduce(["table1"], steps_corpus, tmp_path / "out", budget=TINY, say=silent)
    figures = found.content["tables"]["table1"]["figures"]
    assert figures.keys() == set(rows) and found.notes == []
    for row in rows:
        assert {"cycle_rank", "cycle_rank/uniform_starts", "cross_modal_rank"} <= figures[row][plan.CYCLE].keys()
    assert len({figures[row][plan.CYCLE]["cycle_rank"]["mean"] for row in rows}) == len(rows)
    assert found.to_markdown().startswith("### Table 1")


def test_a_run_that_cannot_be_trained_is_noted_and_the_others_go_on(small, steps_corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(
        plan.TABLES, "table2", TablePlan(dict.fromkeys((plan.RA, plan.MMCC), (plan.ANTICIPATION,)), seeds=1)
    )
    budget = plan.Budget("slow", 4, 10, 2, (*TINY.overrides, "data.frame_rates=[0.5]"))
    found = reproduce(["table2"], steps_corpus, tmp_path / "out", budget=budget, say=silent)
    (note,) = found.notes
    assert note.startswith("ra, seed 0: not trained: data.frame_rates: at 0.5 frames per second")
    assert found.content["tables"]["table2"]["figures"].keys() == {plan.MMCC}
    assert note in (tmp_path / "out" / "index.html").read_text()


def test_what_a_corpus_lacks_is_noted(unlabelled, tmp_path, monkeypatch):
    measures = {plan.MMCC: (plan.CYCLE, plan.ANTICIPATION, plan.TRANSFER_ANTICIPATION)}
    monkeypatch.setitem(plan.TABLES, "table1", TablePlan(measures, seeds=1))
    found = reproduce(["table1"], unlabelled, tmp_path / "out", budget=TINY, say=silent)
    assert found.notes == [
        "anticipation: none of the videos has labelled steps",
        "transfer-anticipation: the corpus has no test video of a related task",
    ]
    assert found.content["tables"]["table1"]["figures"][plan.MMCC].keys() == {plan.CYCLE}


def test_nothing_is_trained_for_nothing(unlabelled, small, tmp_path):
    with pytest.raises(InputError, match="none of the videos has labelled steps"):
        reproduce(["table2"], unlabelled, tmp_path / "out", budget=TINY, say=silent)
    assert not (tmp_path / "out" / "runs").exists()


def test_one_writer_at_a_time(small, steps_corpus, tmp_path):
    (tmp_path / "out").mkdir()
    with only_writer(tmp_path / "out"), pytest.raises(InputError, match="another mmcc process is writing"):
        reproduce(["table2"], steps_corpus, tmp_path / "out", budget=TINY, say=silent)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["table9", "--corpus", "{corpus}", "-o", "{out}"], 2, "there is no table named table9"),
        (["table2", "--corpus", "nowhere", "-o", "{out}"], 3, "not a corpus"),
        (["table2", "--corpus", "{corpus}", "-o", "{corpus}/manifest.json"], 3, "is not a folder"),
        (["table2", "--corpus", "{corpus}", "-o", "{out}", "--seeds", "0"], 2, "at least 1"),
        (["table2", "--corpus", "{corpus}", "-o", "{out}", "--budget", "huge"], 2, "invalid choice"),
        (["table2", "--corpus", "{corpus}"], 2, "-o"),
        (["table2", "--corpus", "{corpus}", "-o", "{out}", "--encoder", "x", "--imagenet", "y"], 2, "--imagenet"),
        (["table2", "--corpus", "{corpus}", "-o", "{out}", "--encoder", "x"], 3, "mmcc embed"),
    ],
)
def test_wrong_arguments_get_a_line_and_a_code(capsys, steps_corpus, tmp_path, arguments, code, message):
    words = [word.format(corpus=steps_corpus, out=tmp_path / "out") for word in arguments]
    try:
        given = main(["reproduce", *words])
    except SystemExit as stop:
        given = stop.code
    err = capsys.readouterr().err
    assert given == code and message in err and "Traceback" not in err


@pytest.mark.slow
def test_every_model_can_read_the_vectors_of_a_pretrained_encoder(kitchens, tmp_path, monkeypatch):
    """Frames two seconds apart, too: RA then predicts the next one."""
    encoder = "efficientnet-lite0?size=32"
    source, corpus = kitchens.kitchen_corpus(videos=20, tasks=1, size=32).kitchen, tmp_path / "corpus"
    assert main(["ingest", str(source), "-o", str(corpus), "--size", "32", "--fps", "0.5"]) == 0
    rows = (plan.RA, plan.PLUS, plan.RANDOM, plan.IMAGENET)
    monkeypatch.setitem(plan.TABLES, "table2", TablePlan(dict.fromkeys(rows, (plan.ANTICIPATION,)), seeds=1))
    with pytest.raises(InputError, match="mmcc embed"):  # which command computes them
        reproduce(["table2"], corpus, tmp_path / "out", budget=TINY, say=silent, encoder=encoder)
    assert main(["embed", str(corpus), "--frames", encoder]) == 0
    found = reproduce(["table2"], corpus, tmp_path / "out", budget=TINY, say=silent, encoder=encoder)
    check("reproduce", json.loads(strict_json(found.content)))
    assert found.notes == [] and found.content["encoder"] == encoder
    assert set(found.content["tables"]["table2"]["figures"]) == {*rows}
    assert {run["run"]: run["config"] for run in found.content["runs"]} == {
        plan.CROSS_MODAL: "cross_modal", plan.RA: "ra", plan.PLUS: "pretrained"}  # fmt: skip
