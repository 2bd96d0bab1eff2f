"""A command's answer: on stdout the answer alone, on stderr the rest."""

import json
from pathlib import Path

from mmcc.cli.output import answer, answer_error, deliver, wrote
from mmcc.corpus.source import Skipped
from mmcc.terminal import note

SKIPPED = [Skipped("a\x1b[31m.mp4", "is not a video")]


def test_text_or_json_and_what_was_skipped(capsys):
    assert answer({"a": "ü"}, "the answer", as_json=False, warnings=["odd\nfootage"], skipped=SKIPPED) == 4
    out, err = capsys.readouterr()
    assert out == "the answer\n"
    assert err == "odd\N{REPLACEMENT CHARACTER}footage\nskipped a\N{REPLACEMENT CHARACTER}[31m.mp4: is not a video\n"
    assert answer({"a": "ü"}, "the answer", as_json=True) == 0
    assert capsys.readouterr().out == ""  # the command has not ended
    deliver()
    out, err = capsys.readouterr()
    assert json.loads(out) == {"schema": 1, "a": "ü"} and "ü" in out and err == ""


def test_an_error_takes_the_place_of_the_answer(capsys):
    answer({"a": 1}, "", as_json=True)
    answer_error("a\x1b.mp4", "is gone", "", 3)
    deliver()
    told = json.loads(capsys.readouterr().out)
    assert told == {"schema": 1, "error": {"path": "a\x1b.mp4", "cause": "is gone", "remedy": "", "code": 3}}


def test_what_was_written_is_said_beside_the_answer(capsys):
    wrote("sheet", Path("out\n.png"))
    note("one", "two")
    out, err = capsys.readouterr()
    assert out == "" and err == "sheet: out\N{REPLACEMENT CHARACTER}.png\none\ntwo\n"
