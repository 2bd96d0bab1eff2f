"""`mmcc serve` on the command line: what it refuses before it serves."""

import importlib.util

import pytest

from mmcc.cli.main import main


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr("mmcc.cli.serve.find_spec", lambda name: None if name == "fastapi" else found(name))
    assert main(["serve", "kitchen", "nowhere"]) == 5
    told = capsys.readouterr().err
    assert "fastapi" in told and "pip install 'mmcc[app]'" in told


@pytest.mark.parametrize("token", ["short", "with\nbreak-in-it", "ü" * 20])
def test_tokens_that_no_header_can_have(token, capsys):
    assert main(["serve", "kitchen", "nowhere", "--token", token]) == 2
    assert "--token" in capsys.readouterr().err


def test_a_library_that_is_not_there(capsys):
    assert main(["serve", "kitchen", "nowhere"]) == 3
    assert "nowhere" in capsys.readouterr().err
