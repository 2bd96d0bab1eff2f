"""Whatever a file is called, a terminal gets plain text; and a quiet command says little."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.progress import bar
from mmcc.terminal import be_quiet, complain, encodable, is_quiet, note, show
from mmcc.training.bar import say

NASTY = "a\x1b[31m\x07\x9b2J\x7f\u202egpj\u2028\udcff"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture
def quiet():
    be_quiet(True)
    yield
    be_quiet(False)


def test_nothing_reaches_a_terminal_raw(capsys):
    show(f"one {NASTY}\ntwo")
    note(NASTY, "a\nb")
    complain(NASTY, NASTY)
    say(NASTY)
    out, err = capsys.readouterr()
    assert out.splitlines()[1] == "two" and not UNSAFE.search(out + err)
    assert "a\N{REPLACEMENT CHARACTER}b" in err and err.count("gpj") == 4


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_can_be_shown_in_any_encoding(text):
    for encoding in ("ascii", "latin-1", "utf-8"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", stream)
            show(text)
            stream.flush()
        assert not UNSAFE.search(stream.buffer.getvalue().decode(encoding))


def test_terminals_without_arrows_get_plain_letters():
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert encodable("0:12 → 0:40 · 3 × “ü”", ascii_only) == '0:12 -> 0:40 | 3 x "?"'
    assert encodable("0:12 → 0:40", io.StringIO()) == "0:12 → 0:40"


def test_scripts_that_need_joiners_keep_them(capsys):
    show("می\u200cخواهم 👩\u200d🍳\u3000です")
    assert capsys.readouterr().out == "می\u200cخواهم 👩\u200d🍳\u3000です\n"


def test_quiet_leaves_the_answer_and_the_errors(capsys, quiet):
    show("the answer")
    note("a remark")
    say("a remark")
    assert list(bar("look")(["a", "b"])) == ["a", "b"] and is_quiet()
    complain("it failed")
    assert capsys.readouterr() == ("the answer\n", "mmcc: it failed\n")
