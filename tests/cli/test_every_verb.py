"""What every command prints: JSON by its schema, nothing raw from hostile names, and errors that programs can read."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mmcc.cli.main import VERBS, main
from tests.schemas import FOLDER, check

ESCAPES = "\x1b[31m\x1b]0;title\x07\x9b2J\x7f\u202egpj"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WITHOUT_JSON = {"report", "serve"}
MEASURED_ELSEWHERE = {"reproduce", "demo", "serve"}  # their own tests check what takes minutes, or does not end
SMALL = "--model.dims 8 --model.frame_encoder.width 4 --train.steps 1 --train.batch_size 2 --train.workers 0".split()


class Hostile(NamedTuple):
    """Videos whose names, captions and folders would write to a terminal."""

    folder: Path
    run: Path
    corpus: Path
    videos: list[Path]


@pytest.fixture(scope="module")
def hostile(kitchen_footage, tmp_path_factory) -> Iterator[Hostile]:
    place = tmp_path_factory.mktemp("hostile") / f"place{ESCAPES}"
    run, source, corpus = place / f"run{ESCAPES}", place / f"src{ESCAPES}", place / f"corpus{ESCAPES}"
    shutil.copytree(kitchen_footage.run, run)
    source.mkdir()
    videos = []
    for number, video in enumerate(kitchen_footage.videos):
        videos.append(Path(shutil.copy(video, source / f"v{number}{ESCAPES}.mp4")))
        captions = kitchen_footage.videos[number % 2].with_suffix(".en.vtt").read_text()
        said = re.sub(r"^([a-z].*)$", rf"the \1 {ESCAPES}", captions, flags=re.MULTILINE)
        videos[-1].with_suffix(".vtt").write_text(said)
    (source / f"notes{ESCAPES}.mp4").write_text("no video")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MMCC_CACHE", str(place / "cache"))
        assert main(["ingest", str(source), "-o", str(corpus), "--size", "32"]) == 4
        yield Hostile(place, run, corpus, videos)


def commands(hostile: Hostile, out: Path) -> dict[str, list[str]]:
    """One of each verb; what it writes goes to a folder."""
    run, corpus, video = str(hostile.run), str(hostile.corpus), str(hostile.videos[0])
    (out / "steps.txt").write_text(f"add the sugar\nzorkmid {ESCAPES}\n")
    results = str(out / "results.json")
    return {
        "kitchen": [str(out / f"k{ESCAPES}"), "--videos", "1", "--size", "32", "--fps", "1"],
        "ingest": [str(hostile.videos[0].parent), "-o", str(out / "c"), "--size", "32", "-v"],
        "embed": [corpus, "--text", "minilm"],
        "inspect": [corpus, "--sheet", str(out / f"s{ESCAPES}.png")],
        "merge": [corpus, "-o", str(out / f"m{ESCAPES}")],
        "compact": [corpus],
        "train": [corpus, "-o", str(out / f"run{ESCAPES}"), "--anyway", *SMALL],
        "evaluate": [run, "--corpus", corpus, "--on", "all", "--tasks", "cycle,transitions", "-o", results],
        "compare": [run, run, "--corpus", corpus, "--on", "all", "--tasks", "cycle,transitions"],
        "transitions": [run, *map(str, hostile.videos), "--sheet", str(out / "t.png"), "--export", str(out / "e")],
        "cycles": [run, video, str(hostile.videos[1].parent), "--sheet", str(out / "c.png")],
        "unshuffle": [run, corpus, video, "--sheet", str(out / "u.png")],
        "anticipate": [run, video, "--steps", str(out / "steps.txt")],
        "search": [run, str(hostile.videos[0].parent), "--change", "add", f"pour {ESCAPES}"],
        "neurons": [run, corpus, "--words", f"the,add,zorkmid{ESCAPES}"],
        "report": [run, "-o", str(out / f"r{ESCAPES}.html"), "--corpus", corpus, "--results", results],
        "cache": [],
    }


def test_every_verb_is_here(hostile, tmp_path):
    assert set(commands(hostile, tmp_path)) | MEASURED_ELSEWHERE == {verb.__name__ for verb in VERBS}
    takes_json = {verb.__name__ for verb in VERBS if "json" in inspect.signature(verb).parameters}
    assert takes_json == {verb.__name__ for verb in VERBS} - WITHOUT_JSON
    assert {path.stem for path in FOLDER.glob("*.json")} == takes_json | {"config", "error", "verify", "upgrade"}


@pytest.mark.slow
def test_no_verb_prints_control_characters_and_json_is_by_the_schema(hostile, tmp_path, capsys):
    pytest.importorskip("tokenizers", reason="needs the extra encoders")
    capsys.readouterr()
    for as_json in (False, True):
        out = tmp_path / str(as_json)
        out.mkdir()
        for verb, words in commands(hostile, out).items():
            json_flag = ["--json"] if as_json and verb not in WITHOUT_JSON else []
            code = main([verb, *words, *json_flag])
            shown = capsys.readouterr()
            assert code in (0, 4), f"{verb}: {shown.err}"
            assert not (found := UNSAFE.search(shown.out + shown.err)), f"{verb}: {found}"
            if json_flag:
                content = json.loads(shown.out)
                assert content["schema"] == 1
                check(verb, content)
            else:
                assert shown.out.strip(), verb


def test_names_survive_json_whole(hostile, capsys):
    main(["transitions", str(hostile.run), str(hostile.videos[0]), "--json"])
    told = json.loads(capsys.readouterr().out)["transitions"]
    assert {each["path"] for each in told} == {str(hostile.videos[0])}


@pytest.mark.parametrize("flags", [[], ["--change", "add", "pour"]])
def test_other_forms_of_an_answer(hostile, kitchen_footage, tmp_path, capsys, flags):
    """One set, of labelled clips; a moment; settings."""
    corpus = str(kitchen_footage.corpus)
    first = f"{corpus}:kitchen0-00001"
    assert main(["unshuffle", str(hostile.run), first, "--json"]) == 0
    check("unshuffle", json.loads(capsys.readouterr().out))
    assert main(["search", str(hostile.run), corpus, *(flags or ["--text", "add"]), "--json"]) == 0
    check("search", json.loads(capsys.readouterr().out))
    assert main(["train", corpus, "--print-config", "--json", "--train.lr", "0.5"]) == 0
    content = json.loads(capsys.readouterr().out)
    check("config", content)
    assert content["config"]["train"]["lr"] == 0.5
    assert main(["evaluate", str(hostile.run), "--corpus", corpus, "--tasks", "anticipation", "--json"]) == 0
    check("evaluate", json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("words", "code", "path", "cause"),
    [
        (["inspect", "nowhere"], 3, "nowhere", "is not a corpus"),
        (["transitions", "no_run", "a.mp4"], 3, "no_run", "there is no such folder"),
        (["search", "kitchen", "nowhere"], 2, None, "give exactly one of"),
        (["ingest", "src"], 2, None, "ingest: the following arguments are required"),
        (["cook"], 2, None, "invalid choice"),
        (["inspect", "x", ESCAPES], 2, None, "unrecognized arguments"),
    ],
)
def test_errors_are_json_too(capsys, tmp_path, monkeypatch, words, code, path, cause):
    monkeypatch.chdir(tmp_path)
    try:
        given = main([*words, "--json"])
    except SystemExit as stopped:
        given = stopped.code
    out, err = capsys.readouterr()
    content = json.loads(out)
    check("error", content)
    assert given == code == content["error"]["code"] and content["error"]["path"] == path
    assert cause in content["error"]["cause"] and cause in err and not UNSAFE.search(out + err)


def test_of_a_command_that_fails_after_its_answer_there_is_one_document(hostile, tmp_path, capsys):
    sheet = tmp_path / "none" / "s.png"
    capsys.readouterr()
    assert main(["inspect", str(hostile.corpus), "--sheet", str(sheet), "--json"]) == 3
    content = json.loads(capsys.readouterr().out)
    check("error", content)
    assert content["error"]["path"] == str(sheet)


@pytest.mark.slow
def test_quiet_commands_say_nothing_but_the_answer(hostile, tmp_path, capsys):
    capsys.readouterr()
    assert main(["transitions", str(hostile.run), *map(str, hostile.videos), "-q"]) == 0
    out, err = capsys.readouterr()
    assert out and not err
    run = ["train", str(hostile.corpus), "-o", str(tmp_path / "run"), "--anyway", *SMALL]
    assert main([*run, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out and not err
    assert main([*run, "--quiet"]) == 3  # errors are said
    out, err = capsys.readouterr()
    assert not out and "already contains a run" in err
    assert main(["transitions", str(hostile.run), *map(str, hostile.videos)]) == 0
    assert capsys.readouterr().err  # the next command is not quiet


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_utf_8(hostile, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    run, video = str(hostile.run), str(hostile.videos[0])
    main(["transitions", run, video])  # so that the others load no torch
    for words in (["transitions", run, video], ["transitions", run, video, "--json"], ["transitions", "--help"]):
        done = subprocess.run([sys.executable, "-m", "mmcc", *words], env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
        shown = done.stdout.decode(encoding)
        assert " -> " in shown or "--json" in words or "? after" in shown
        if "--json" in words:
            told = json.loads(shown)["transitions"]
            assert told[0]["path"] == video
