"""A command's answer: on stdout the answer alone, on stderr the rest."""

import json
from pathlib import Path

from mmcc.cli.output import answer, note, wrote
from mmcc.corpus.source import Skipped

SKIPPED = [Skipped("a\x1b[31m.mp4", "is not a video")]


def test_text_or_json_and_what_was_skipped(capsys):
    assert answer({"a": "ü"}, "the answer", as_json=False, warnings=["odd\nfootage"], skipped=SKIPPED) == 4
    out, err = capsys.readouterr()
    assert out == "the answer\n"
    assert err == "odd\N{REPLACEMENT CHARACTER}footage\nskipped a\N{REPLACEMENT CHARACTER}[31m.mp4: is not a video\n"
    assert answer({"a": "ü"}, "the answer", as_json=True) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"a": "ü"} and "ü" in out and err == ""


def test_what_was_written_is_said_beside_the_answer(capsys):
    wrote("sheet", Path("out\n.png"))
    note("one", "two")
    out, err = capsys.readouterr()
    assert out == "" and err == "sheet: out\N{REPLACEMENT CHARACTER}.png\none\ntwo\n"
