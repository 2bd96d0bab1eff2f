"""`python -m benchmarks`: what it lists, runs and returns, on small benchmarks that really run."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.runner import BENCHMARKS, SPEED, VALIDITY, main

ROOT = Path(__file__).parents[2]
COUNTING = """\"\"\"Comparisons needed to sort 1,000 numbers, at most {bound}.

More about it.
\"\"\"

import os
import random
from functools import cmp_to_key

from benchmarks.common import Figures


def main(arguments):
    assert arguments == []
    comparisons = []
    numbers = random.Random(0).sample(range(10_000), 1_000)
    sorted(numbers, key=cmp_to_key(lambda a, b: comparisons.append((a, b)) or a - b))
    figures = Figures()
    figures.at_most("comparisons to sort", len(comparisons), {bound})
    figures.at_least("process", os.getpid(), 1)
    return figures.measured
"""
BROKEN = {
    "raises": "raise ValueError('no such disk')",
    "exits": "raise SystemExit(0)",
    "dies": "import os; os._exit(3)",
    "stops": "raise KeyboardInterrupt",
}


@pytest.fixture
def benchmarks(tmp_path, monkeypatch) -> dict[str, str]:
    """Sorting n numbers takes more than n - 1 comparisons unless they are sorted, and fewer than n²."""
    (tmp_path / "made_up_few.py").write_text(COUNTING.format(bound=1_000_000))
    (tmp_path / "made_up_many.py").write_text(COUNTING.format(bound=999))
    for name, line in BROKEN.items():
        (tmp_path / f"made_up_{name}.py").write_text(f"def main(arguments):\n    {line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return {name: f"made_up_{name}" for name in ("few", "many", *BROKEN)}


def table(printed: str) -> list[list[str]]:
    """The rows of the table at the end."""
    return [line.split() for line in printed.split("benchmark    figure")[1].splitlines()[1:]]


def test_met_bounds_give_0_each_in_its_own_process(benchmarks, capfd):
    assert main(["--only", "few"], benchmarks) == main(["--only", "few"], benchmarks) == 0
    printed = capfd.readouterr().out
    assert "few: Comparisons needed to sort 1,000 numbers, at most 1000000." in printed
    assert len(set(re.findall(r"^process +(\d+)", printed, re.MULTILINE))) == 2
    rows = table(printed)
    assert [rows[0][:4], rows[0][-1]] == [["few", "comparisons", "to", "sort"], "ok"]
    assert "2 figures, 0 out of bounds; 0 benchmarks failed" in printed


def test_a_missed_bound_gives_1_and_the_rest_still_runs(benchmarks, capfd):
    assert main(["--only", "many, few"], benchmarks) == 1
    rows = table(capfd.readouterr().out)
    assert [(row[0], row[-1]) for row in rows[:4]] == [
        ("many", "MISSED"), ("many", "ok"), ("few", "ok"), ("few", "ok")
    ]  # fmt: skip
    assert rows[-1] == "4 figures, 1 out of bounds; 0 benchmarks failed".split()


@pytest.mark.parametrize(
    ("name", "reason"), [("raises", "ValueError: no such disk"), ("exits", "SystemExit: 0"), ("dies", "BrokenProcess")]
)
def test_a_benchmark_that_fails_gives_1_and_the_rest_still_runs(benchmarks, capfd, name, reason):
    assert main(["--only", f"{name},few"], benchmarks) == 1
    printed = capfd.readouterr().out
    assert re.search(rf"^{name} +FAILED: {reason}", printed, re.MULTILINE)
    assert "2 figures, 0 out of bounds; 1 benchmarks failed" in printed


def test_ctrl_c_gives_130_and_the_table_so_far(benchmarks, capfd):
    assert main(["--only", "few,stops,many"], benchmarks) == 130
    assert {row[0] for row in table(capfd.readouterr().out) if row and row[-1] in ("ok", "MISSED")} == {"few"}


@pytest.mark.parametrize("only", ["few,mamy", "", "few,"])
def test_an_unknown_name_is_exit_2_with_the_known_ones(benchmarks, capfd, only):
    with pytest.raises(SystemExit) as end:
        main(["--only", only], benchmarks)
    assert end.value.code == 2
    printed = capfd.readouterr()
    assert not printed.out and "known: few, many, raises, exits, dies, stops" in printed.err


def test_list_shows_every_benchmark_and_imports_none(capfd):
    command = "import sys, benchmarks.runner as r; r.main(['--list']); assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=True)
    listed = dict(line.split(maxsplit=1) for line in capfd.readouterr().out.splitlines())
    assert list(listed) == list(BENCHMARKS)
    assert all(line.endswith(".") and len(line) < 110 for line in listed.values())


def test_every_script_is_registered():
    scripts = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in (ROOT / "benchmarks").rglob("*.py")
        if "finish(main())" in path.read_text()
    }
    assert scripts == set(BENCHMARKS.values())
    assert not set(SPEED) & set(VALIDITY)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_script_takes_flags_and_its_help_names_its_module(name, capsys):
    with pytest.raises(SystemExit) as end:
        importlib.import_module(BENCHMARKS[name]).main(["--help"])
    assert end.value.code == 0
    help_text = capsys.readouterr().out
    assert f"python -m {BENCHMARKS[name]}" in help_text


def test_a_module_runs_as_a_command():
    done = subprocess.run([sys.executable, "-m", "benchmarks", "--only", "x"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "known: captions" in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_bench_passes_only_on():
    for setting, expected in (([], "-m benchmarks"), (["ONLY=read,leaks"], '-m benchmarks --only "read,leaks"')):
        done = subprocess.run(
            ["make", "-n", "--no-print-directory", "bench", *setting],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1].strip().endswith(expected)


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md", "docs/kitchen.md", "docs/training.md"])
def test_every_command_in_the_documents_exists(page, capsys):
    """Modules are known, flags are in their help, and names after ONLY= or --only are registered."""
    text = (ROOT / page).read_text()
    for module, words in re.findall(r"python -m (benchmarks(?:\.\w+)*)([^`\n]*)", text):
        assert module in {"benchmarks", *BENCHMARKS.values()}, module
        called = main if module == "benchmarks" else importlib.import_module(module).main
        with pytest.raises(SystemExit):
            called(["--help"])
        assert set(re.findall(r"--[a-z-]+", words)) <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out)), words
    for names in re.findall(r"(?:ONLY=|--only )([a-z,]+)", text):
        assert set(names.split(",")) <= set(BENCHMARKS)


def test_the_page_of_benchmarks_describes_each():
    page = (ROOT / "docs/benchmarks.md").read_text()
    assert [name for name in BENCHMARKS if f"`{name}`" not in page] == []
