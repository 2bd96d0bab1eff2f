"""The demo: its results, going on, starting over."""

import json
import shutil
import sys
from dataclasses import replace

import pytest

from mmcc.cli.main import main
from mmcc.demo.demo import Demo, start_over
from mmcc.demo.results import demo_results, demo_table, share_of_the_way
from mmcc.errors import InputError
from tests.demo.tiny_demo import TINY, Made
from tests.schemas import check

pytestmark = pytest.mark.slow  # a whole demo, however small

MODELS = {"mmcc+", "cross_modal", "chance", "oracle"}


def test_results_are_as_documented(made):
    written = json.loads((made.out / "results.json").read_text())
    assert written == made.results
    check("demo", written)
    assert set(written) == {"schema", "seconds", "anticipation", "unshuffling", "cycle"} and written["schema"] == 1
    figures = {
        "anticipation": {"recall@1", "recall@5", "recall@10", "percentile_mean", "dyn"},
        "unshuffling": {"kendall_tau"},
        "cycle": {"percentile_rank", "exact_return", "forward_share"},
    }
    for part, names in figures.items():
        assert set(written[part]) == MODELS
        assert all(set(of_model) == names for of_model in written[part].values())
    known = [value for part in figures for name in ("mmcc+", "chance") for value in written[part][name].values()]
    assert all(isinstance(value, float) for value in known)
    assert set(written["cycle"]["cross_modal"].values()) == {None}
    assert written["anticipation"]["chance"]["percentile_mean"] == pytest.approx(50)
    assert written["anticipation"]["oracle"]["recall@1"] == pytest.approx(100)
    assert len(written["seconds"]) == 7 and written["seconds"]["kitchen"] > 0


def test_the_figures_are_those_that_evaluate_found(made):
    found = json.loads((made.out / "evaluations/mmcc+.json").read_text())["tasks"]
    assert made.results["anticipation"]["mmcc+"]["recall@10"] == found["anticipation"]["figures"]["recall@10"]["mean"]
    assert made.results["cycle"]["mmcc+"]["forward_share"] == found["cycle"]["figures"]["goes_forward"]["mean"]
    assert (
        made.results["unshuffling"]["oracle"]["kendall_tau"]
        == found["unshuffling"]["references"]["step_known/kendall_tau"]
    )


def test_every_stage_has_a_sentence(made):
    heads = [line for line in made.first_said if line.startswith("[")]
    assert [line.split("]")[0] for line in heads] == [f"[{number}/7" for number in range(1, 8)]
    assert all(line.endswith(".") for line in heads)


def test_tools_are_asked_about_videos_that_were_held_out(made):
    ((run, videos, sheet),) = made.tool.calls[:1]
    assert run.endswith("runs/mmcc+/checkpoints/00000004") and sheet == made.out / "tools/ask.png"
    assert (made.out / "tools/ask.txt").read_text() == "an answer\n"
    held_out = (made.out / "kitchen/videos_val.csv").read_text()
    for video in videos:
        assert video.is_file() and f",{video.stem}," in held_out
        assert list(video.parent.glob(f"{video.stem}*.vtt"))


def test_what_is_there_is_not_done_again(made):
    before = {path: path.stat().st_mtime_ns for path in made.out.rglob("*") if path.is_file()}
    assert made.run() == made.results
    assert {path: path.stat().st_mtime_ns for path in made.out.rglob("*") if path.is_file()} == before
    assert len(made.said) == 7 and all(line.endswith("already done.") for line in made.said)


def test_what_is_missing_is_made_again(made, tmp_path):
    copy = Made(tmp_path / "copy")
    shutil.copytree(made.out, copy.out)
    (copy.out / "report.html").unlink()
    again = copy.run()
    assert (copy.out / "report.html").stat().st_size > 10_000
    assert {part: again[part] for part in ("anticipation", "cycle")} == {
        part: made.results[part] for part in ("anticipation", "cycle")
    }
    assert sum(line.endswith("already done.") for line in copy.said) == 6
    assert again["seconds"]["report"] > made.results["seconds"]["report"]


def test_a_demo_that_is_killed_at_once_is_resumed(tmp_path):
    begun = Made(tmp_path / "demo")

    def killed(line: str) -> None:
        (begun.out / "kitchen").mkdir()
        raise SystemExit(line)

    with pytest.raises(SystemExit, match="kitchen: drawing"):
        Demo(begun.out, TINY, killed).run()
    with pytest.raises(SystemExit, match="kitchen: drawing"):
        Demo(begun.out, TINY, sys.exit).run()


def test_a_demo_that_was_killed_before_its_first_rename_is_not_in_the_way(tmp_path):
    (tmp_path / ".tmp-stages.json").write_text("{")
    with pytest.raises(SystemExit, match="kitchen: drawing"):
        Demo(tmp_path, TINY, sys.exit).run()
    assert [path.name for path in tmp_path.iterdir()] == ["stages.json"]


def test_another_demo_in_the_folder_is_refused(made):
    with pytest.raises(InputError, match="another version"):
        made.run(replace(TINY, steps=5))


def test_other_files_are_neither_used_nor_removed(tmp_path, capsys):
    (tmp_path / "letter.txt").write_text("dear")
    assert main(["demo", "-o", str(tmp_path)]) == 3
    assert "contains other files, such as letter.txt" in capsys.readouterr().err
    assert main(["demo", "-o", str(tmp_path), "--fresh"]) == 3
    assert "does not hold a demo" in capsys.readouterr().err
    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_a_damaged_record_says_what_to_do(tmp_path, capsys):
    (tmp_path / "stages.json").write_text("{")
    assert main(["demo", "-o", str(tmp_path)]) == 3
    assert "--fresh" in capsys.readouterr().err


def test_starting_over_removes_the_demo_alone(made, tmp_path):
    shutil.copytree(made.out, tmp_path / "demo")
    (tmp_path / "demo/letter.txt").write_text("dear")
    start_over(tmp_path / "demo")
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["letter.txt"]
    start_over(tmp_path / "nothing")


def by_hand() -> dict:
    def part(figures: dict, references: dict) -> dict:
        return {"figures": {name: {"mean": value} for name, value in figures.items()}, "references": references}

    recalls = ("recall@1", "recall@5", "recall@10", "percentile_mean")
    references = {f"chance/{name}": 20.0 for name in recalls} | {f"step_known/{name}": 100.0 for name in recalls}
    references |= {"chance/dyn": 50.0, "step_known/dyn": 77.0, "done_known/dyn": 100.0}
    order = {"chance/kendall_tau": 0.0, "step_known/kendall_tau": 0.5}
    return {
        "mmcc+": {
            "tasks": {
                "anticipation": part(dict.fromkeys(recalls, 60.0) | {"dyn": 55.5}, references),
                "unshuffling": part({"kendall_tau": 0.25}, order),
                "cycle": part({"cycle_rank": 70.0}, {"chance/cycle_rank": 50.0}),
            }
        },
        "cross_modal": {
            "tasks": {
                "anticipation": part(dict.fromkeys(recalls, 40.0), references),
                "unshuffling": part({"kendall_tau": 0.05}, order),
            }
        },
    }


def test_the_way_from_chance_to_the_oracle():
    results = demo_results(by_hand(), {"train": 12.345})
    assert share_of_the_way(results, "recall@10") == pytest.approx(50)  # 60, from 20 to 100
    assert results["seconds"] == {"train": 12.3}
    assert results["cycle"]["mmcc+"] == {"percentile_rank": 70.0, "exact_return": None, "forward_share": None}


def test_the_table_has_a_row_for_each():
    lines = demo_table(demo_results(by_hand(), {})).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["MMCC+", "cross-modal", "chance", "oracle"]
    assert "**60.0**" in lines[2] and "**" not in lines[3] and "–" in lines[3]
    place = lines[0].split("|").index(next(head for head in lines[0].split("|") if head.strip() == "dyn"))
    assert [line.split("|")[place].strip() for line in lines[2:]] == ["**55.5**", "–", "50.0", "100.0"]
