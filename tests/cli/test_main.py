"""The command line: arguments, output, error messages and exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mmcc.cli.arguments import PICTURES
from mmcc.cli.main import VERBS, main
from mmcc.pretrained import shipped_names
from mmcc.report import sheets
from mmcc.training.shipped import shipped_configs

SRT = "1\n00:00:00,500 --> 00:00:02,000\nCut the onion.\n"


@pytest.fixture
def folder(make_clip, tmp_path) -> Path:
    make_clip("src/soup.mp4", seconds=3)
    (tmp_path / "src" / "soup.srt").write_text(SRT)
    return tmp_path / "src"


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    try:
        code = main([str(word) for word in arguments])
    except SystemExit as stop:  # raised by argparse
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize("verb", [[], *[[verb.__name__] for verb in VERBS]])
def test_help_reads_well(capsys, verb):
    code, out, _ = run(capsys, *verb, "--help")
    assert code == 0 and "usage: mmcc" in out
    assert max(map(len, out.splitlines())) <= 130
    for name in verb or ["ingest", "inspect"]:
        assert name in out


def test_train_lists_every_shipped_configuration(capsys):
    _, out, _ = run(capsys, "train", "--help")
    listed = " ".join(out.split())
    assert "mmcc" in shipped_configs() and f"one of {', '.join(shipped_configs())} (default" in listed


def test_every_verb_that_takes_a_model_lists_those_that_come_along(capsys):
    verbs = ("transitions", "cycles", "unshuffle", "anticipate", "search", "neurons", "report")
    for verb in verbs:
        _, out, _ = run(capsys, verb, "--help")
        assert f"a model that comes with mmcc: {', '.join(shipped_names())}" in " ".join(out.split())
    assert "kitchen" in shipped_names()


def test_ingest_and_inspect_a_folder(capsys, folder, tmp_path):
    code, out, err = run(capsys, "ingest", folder, "-o", tmp_path / "c", "--size", 32)
    assert code == 0 and "1 of 1 videos, 3 frames, 1 utterances" in out and not err
    code, out, _ = run(capsys, "inspect", tmp_path / "c", "--sheet", tmp_path / "sheet.png")
    assert code == 0 and "words per minute" in out
    drawn = Image.open(tmp_path / "sheet.png")
    assert drawn.width == 3 * 176 + 2 * 12 + 2 * 24  # three frames side by side, their gaps, both margins


def test_json_is_as_documented(capsys, folder, tmp_path):
    (folder / "bad.mp4").write_bytes(b"\0" * 2000)
    code, out, _ = run(capsys, "ingest", folder, "-o", tmp_path / "c", "--json")
    report = json.loads(out)
    assert code == 4
    assert {key: report[key] for key in ("videos", "ingested", "frames", "utterances")} == {
        "videos": 2, "ingested": 1, "frames": 3, "utterances": 1}  # fmt: skip
    assert report["partial"] == [] and [entry["path"] for entry in report["skipped"]] == [str(folder / "bad.mp4")]
    assert report["skipped"][0]["reason"]
    code, out, _ = run(capsys, "inspect", tmp_path / "c", "--json")
    summary = json.loads(out)
    assert code == 4 and summary["videos"] == 1 and summary["failed"][0]["path"].endswith("bad.mp4")
    assert summary["words_per_minute"] == pytest.approx(3 / (3 / 60))
    assert summary["speech_coverage"] == pytest.approx(0.5, abs=0.05) and summary["decoded_coverage"] == 1


def test_partly_decodable_files_are_listed_with_their_seconds(capsys, make_clip, tmp_path):
    content = make_clip("whole.mp4", "-movflags", "+faststart", "-g", 10, seconds=20).read_bytes()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "cut.mp4").write_bytes(content[: len(content) // 2])
    code, out, _ = run(capsys, "ingest", tmp_path / "src", "-o", tmp_path / "c", "--json")
    (partial,) = json.loads(out)["partial"]
    assert code == 0 and partial["path"].endswith("cut.mp4")
    assert 2 < partial["decoded"] < 18 and partial["expected"] == pytest.approx(20)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "COMMAND"),
        (["cook"], 2, "invalid choice"),
        (["ingest"], 2, "required"),
        (["ingest", "src"], 2, "-o"),
        (["ingest", "src", "-o", "c", "--fps", "0"], 2, "must be more than 0"),
        (["ingest", "src", "-o", "c", "--fps", "many"], 2, "invalid number value"),
        (["ingest", "src", "-o", "c", "--fps", "nan"], 2, "finite"),
        (["ingest", "src", "-o", "c", "--workers", "0"], 2, "at least 1"),
        (["ingest", "src", "-o", "c", "--fit", "stretch"], 2, "invalid choice"),
        (["ingest", "nowhere", "-o", "c"], 3, "no such file or folder"),
        (["ingest", "empty", "-o", "c"], 3, "empty"),
        (["ingest", "src", "-o", "src/soup.mp4"], 3, "not a corpus"),
        (["ingest", "src", "-o", "c", "--category", "Food"], 3, "HowTo100M"),
        (["ingest", "src", "-o", "c", "--videos", "empty"], 3, "CrossTask"),
        (["ingest", "src", "-o", "c", "--features", "1", "--fps", "1"], 2, "--fps"),
        (["ingest", "src", "-o", "c", "--transcribe", "--language", "de"], 2, "English only"),
        (["ingest", "", "-o", "c"], 2, "path is empty"),
        (["ingest", "https://youtu.be/x", "-o", "c"], 3, "yt-dlp"),
        (["ingest", "other.csv", "-o", "c"], 3, "video_id"),
        (["ingest", "arrays", "-o", "c"], 3, "--features RATE"),
        (["inspect", "src"], 3, "not a corpus"),
        (["inspect", "nowhere"], 3, "nowhere: is not a corpus (no such folder)"),
    ],
)
def test_wrong_input_gets_a_line_and_a_code(capsys, folder, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "arrays").mkdir()
    np.save(tmp_path / "arrays" / "a.npy", np.zeros((2, 2)))
    given, out, err = run(capsys, *arguments)
    assert given == code and message in err and not out
    assert code == 2 or err.startswith("mmcc: ")
    assert not (tmp_path / "c").exists()


def test_a_folder_of_nothing_but_broken_files_is_bad_input(capsys, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bad.mp4").write_bytes(b"nothing")
    code, out, _ = run(capsys, "ingest", tmp_path / "src", "-o", tmp_path / "c")
    assert code == 3 and "bad.mp4: cannot be opened as video" in out


def test_a_missing_dependency_comes_with_its_command(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = run(capsys, "ingest", folder, "-o", tmp_path / "c", "--transcribe")
    assert code == 5 and "pip install 'mmcc[asr]'" in err


@pytest.mark.slow
def test_transcribe_is_used_where_captions_are_missing(capsys, shared, tmp_path):
    pytest.importorskip("moonshine_voice", reason="needs the extra asr")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "friday.mp4").symlink_to(shared / "clips" / "friday.mp4")
    assert run(capsys, "ingest", tmp_path / "src", "-o", tmp_path / "c")[0] == 0
    _, out, _ = run(capsys, "inspect", tmp_path / "c", "--json")
    assert json.loads(out)["utterances"] == 0 and len(json.loads(out)["uncaptioned"]) == 1
    code, out, _ = run(capsys, "ingest", tmp_path / "src", "-o", tmp_path / "c", "--transcribe", "--json")
    assert code == 0 and json.loads(out)["utterances"] >= 1 and json.loads(out)["already_done"] == 0
    code, out, _ = run(capsys, "ingest", tmp_path / "src", "-o", tmp_path / "c", "--transcribe", "--json")
    assert json.loads(out)["already_done"] == 1
    _, out, _ = run(capsys, "inspect", tmp_path / "c", "--json")
    assert json.loads(out)["caption_kinds"] == {"transcribed": 1}


def test_verbose_says_when_decoders_are_not_confined(capsys, folder, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sitecustomize.py").write_text("import platform\nplatform.machine = lambda: 'abacus'\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "other"), os.environ.get("PYTHONPATH", "")]))
    _, _, err = run(capsys, "ingest", folder, "-o", tmp_path / "quiet")
    assert "unconfined" not in err
    _, _, err = run(capsys, "ingest", folder, "-o", tmp_path / "told", "-v")
    assert "The decoders ran unconfined: there is no filter of system calls for" in err and "on abacus" in err


def test_verbose_shows_which_captions_were_taken(capsys, folder, tmp_path):
    (folder / "soup.asr.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nother words\n")
    assert "soup.srt" not in run(capsys, "ingest", folder, "-o", tmp_path / "quiet")[2]
    _, _, err = run(capsys, "ingest", folder, "-o", tmp_path / "c", "-v")
    assert "soup.srt" in err and "soup.asr.vtt" in err


def test_the_crosstask_release_comes_out_exactly(capsys, shared, tmp_path):
    release = shared / "crosstask" / "crosstask_release"
    narration = shared / "crosstask" / "narration_samples_105222" / "data"
    code, out, err = run(capsys, "ingest", release, "-o", tmp_path / "c", "--captions", narration, "--json")
    report = json.loads(out)
    assert code == 0 and (report["annotated"], report["segments"]) == (2750, 20919)
    assert (report["videos"], report["ingested"], report["frames"]) == (2, 2, 0) and report["utterances"] > 100
    assert "Make Kimchi Fried Rice" in err
    code, out, _ = run(capsys, "inspect", tmp_path / "c", "--json")
    summary = json.loads(out)
    primary = [task for task in summary["tasks"].values() if task[4]]
    assert len(primary) == 18 and sum(task[1] for task in primary) == 133
    assert (summary["annotated"], summary["segments"]) == (2750, 20919)
    assert summary["caption_lag"] is not None and summary["step_coverage"] > 0


def test_a_feature_corpus_has_no_pictures_to_draw(capsys, tmp_path):
    (tmp_path / "src").mkdir()
    np.save(tmp_path / "src" / "soup.npy", np.zeros((4, 8), np.float32))
    assert run(capsys, "ingest", tmp_path / "src", "-o", tmp_path / "c", "--features", 1)[0] == 0
    code, _, err = run(capsys, "inspect", tmp_path / "c", "--sheet", tmp_path / "s.png")
    assert code == 3 and "features" in err


def test_pictures_are_written_as_their_names_say(capsys, folder, tmp_path):
    assert run(capsys, "ingest", folder, "-o", tmp_path / "c", "--size", 32)[0] == 0
    for name, kind in {"s.png": "PNG", "s.jpg": "JPEG", "s.JPEG": "JPEG", "s.webp": "WEBP", "sheet": "PNG"}.items():
        assert run(capsys, "inspect", tmp_path / "c", "--sheet", tmp_path / name)[0] == 0
        with Image.open(tmp_path / name) as drawn:
            assert drawn.format == kind
    code, out, err = run(capsys, "inspect", tmp_path / "c", "--sheet", tmp_path / "s.gif")
    assert code == 2 and "must end in .png, .jpg, .jpeg, .webp" in err and not out
    assert not (tmp_path / "s.gif").exists()
    assert set(PICTURES) | {""} == set(sheets._KINDS)


def test_a_closed_pipe_is_not_an_error(folder, tmp_path):
    main(["ingest", str(folder), "-o", str(tmp_path / "c")])
    command = f"{sys.executable} -m mmcc inspect {tmp_path / 'c'} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


def test_dotted_settings_reach_the_verb_that_takes_them(capsys):
    code, out, _ = run(capsys, "train", "x", "--print-config", "--train.lr", "1e-3", "--model.frame_encoder.width=16")
    assert code == 0 and "lr: 0.001" in out and "width: 16" in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["inspect", "x", "--train.lr", "1"], "--train.lr"),
        (["train", "x", "--train.lr"], "without a value"),
        (["train", "x", "--nonsense"], "--nonsense"),
        (["train", "x"], "-o RUN"),
    ],
)
def test_unknown_settings_are_refused(capsys, arguments, word):
    code, _, err = run(capsys, *arguments)
    assert code == 2 and word in err
