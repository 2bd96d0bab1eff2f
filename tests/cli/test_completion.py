"""Completion, as the shells themselves do it."""

import re
import shutil
import subprocess

import pytest

from mmcc.cli.completion import SHELLS
from mmcc.cli.main import VERBS, main


def script(capsys, shell: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["--completion", shell])
    assert not stopped.value.code
    return capsys.readouterr().out


def completed(made: str, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    line = " ".join(f"'{word}'" for word in ("mmcc", *words))
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _mmcc; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"{made}\n{asked}"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_flags_and_choices(capsys):
    made = script(capsys, "bash")
    assert completed(made, "tra") == ["train", "transitions"]
    assert completed(made, "") == [*(verb.__name__ for verb in VERBS), "-h", "--help", "--version", "--completion"]
    assert completed(made, "ingest", "--me") == ["--memory-limit"]
    assert completed(made, "ingest", "src", "--fit", "") == ["crop", "letterbox", "short"]
    assert completed(made, "--completion", "") == list(SHELLS)
    assert completed(made, "ingest", "--output", "x") == completed(made, "ingest", "x") == []  # names of files
    assert {"-q", "--quiet"} <= set(completed(made, "cache", "-"))


@pytest.mark.parametrize("shell", SHELLS)
def test_every_flag_is_in_every_script(capsys, shell):
    made = script(capsys, shell)
    for verb in VERBS:
        with pytest.raises(SystemExit):
            main([verb.__name__, "--help"])
        flags = re.findall(r"^  (?:-\w(?: [A-Z]+)?, )?--([a-z-]+)", capsys.readouterr().out, re.MULTILINE)
        assert "import" in flags and all(f"-l {each}" in made or f"--{each}" in made for each in flags)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_it(capsys, shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    (tmp_path / "script").write_text(script(capsys, shell))
    done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_quotes_in_a_help_text_stay_within_theirs(capsys):
    """`mmcc evaluate` says "a model's", for one: an odd quote would swallow the rest of the script."""
    for shell in ("zsh", "fish"):
        for line in script(capsys, shell).splitlines():
            plain = line.replace("'\\''", "") if shell == "zsh" else line.replace("\\'", "")
            assert plain.count("'") % 2 == 0, line


def test_another_shell_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--completion", "tcsh"])
    assert stopped.value.code == 2 and "bash" in capsys.readouterr().err
