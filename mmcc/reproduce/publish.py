"""Write the results: results.json, tables as Markdown and LaTeX, and a page with plots.

They contain no times or dates, so that a command that was stopped and resumed writes the same files.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import mmcc
from mmcc.evaluation.results import SCHEMA
from mmcc.files import replace_text, writing
from mmcc.metrics import bootstrap
from mmcc.report.page import Section, listed, titled, write_page
from mmcc.report.tables import Table, notes_as_markdown, to_html, to_latex, to_markdown, unranked
from mmcc.reproduce import plan
from mmcc.reproduce.findings import Findings, on_common_videos
from mmcc.reproduce.pictures import PICTURES, Picture, learning_curves
from mmcc.reproduce.runner import Runner
from mmcc.reproduce.studies_curves import FIGURES, Points, curve
from mmcc.reproduce.tables import LAYOUTS
from mmcc.text import strict_json

RESULTS, PAGE, TABLES = "results.json", "index.html", "tables"


@dataclass(frozen=True)
class Published:
    """The result of a call of `reproduce`."""

    content: dict[str, Any]  # of results.json
    tables: dict[str, list[Table]]
    notes: list[str]  # what was left out, and why

    def to_markdown(self) -> str:
        return "\n".join(markdown_of(tables) for tables in self.tables.values()) + _left_out(self.notes)


def publish(runner: Runner, shown: list[str], seeds: int | None) -> Published:
    """Lay out the tables and write everything to the runner's folder."""
    found = {name: runner.findings.of_table(plan.measures_of(name), plan.seeds_of(name, seeds)) for name in shown}
    tables = {name: LAYOUTS[name](found[name]) for name in shown}
    if runner.budget.name == plan.QUICK.name:
        tables = {
            name: [unranked(table, f"{_QUICK} None is in bold.") for table in some] for name, some in tables.items()
        }
    lines = _curves(runner, shown, seeds)
    content = {
        "schema": SCHEMA,
        "mmcc": mmcc.__version__,
        "corpus": _corpus(runner),
        "encoder": runner.footage.encoder,
        "budget": asdict(runner.budget),
        "tables": {name: _table_json(name, found[name], tables[name], seeds) for name in shown},
        "runs": _runs(runner, shown, seeds),
        "curves": lines,
        "notes": runner.findings.notes,
    }
    pictures = {name: PICTURES[name](found[name]) for name in shown}
    _write(runner, content, tables, pictures, learning_curves(lines))
    return Published(content, tables, runner.findings.notes)


def markdown_of(tables: list[Table]) -> str:
    parts = []
    for table in tables:
        parts.append(f"### {table.title}\n\n{to_markdown(table)}\n")
        if table.notes:
            parts.append(notes_as_markdown(table.notes) + "\n")
    return "\n".join(parts)


def _write(
    runner: Runner,
    content: dict[str, Any],
    tables: dict[str, list[Table]],
    pictures: dict[str, list[Picture]],
    lines: list[Picture],
) -> None:
    folder = runner.out / TABLES
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, laid in tables.items():
        replace_text(folder / f"{name}.md", markdown_of(laid))
        replace_text(folder / f"{name}.tex", "\n".join(to_latex(table) for table in laid))
    replace_text(runner.out / PAGE, _page(runner, tables, pictures, lines))
    replace_text(runner.out / RESULTS, strict_json(content, indent=1) + "\n")


def _page(
    runner: Runner, tables: dict[str, list[Table]], pictures: dict[str, list[Picture]], lines: list[Picture]
) -> str:
    sections = []
    for name, laid in tables.items():
        drawn = [titled(picture.title, picture.drawn) for picture in pictures[name]]
        sections.append(Section(laid[0].title, (*drawn, *(titled(table.title, to_html(table)) for table in laid))))
    if lines:
        sections.append(Section("Learning curves", tuple(titled(picture.title, picture.drawn) for picture in lines)))
    if runner.findings.notes:
        sections.append(Section("Left out", (listed(runner.findings.notes),)))
    videos, budget = runner.videos, runner.budget
    lead = [
        f"Corpus {runner.corpus}: {len(videos.primary)} test videos, {len(videos.related)} of related tasks. "
        f"Budget {budget.name}: {budget.steps} steps for each objective; RA and TAP have half as many, from the "
        f"cross-modal model on. mmcc {mmcc.__version__}.",
        *([_QUICK] if budget.name == plan.QUICK.name else []),
    ]
    return write_page("Multi-modal temporal cycle consistency: the tables", lead, sections)


_QUICK = "The quick budget is a smoke test: after so few training steps the figures mean nothing."


def _corpus(runner: Runner) -> dict[str, Any]:
    videos = runner.videos
    return {
        "path": str(runner.corpus),
        "fingerprint": videos.fingerprint,
        "test_videos": len(videos.primary),
        "related_test_videos": len(videos.related),
    }


def _table_json(name: str, found: Findings, tables: list[Table], seeds: int | None) -> dict[str, Any]:
    return {
        "seeds": len(plan.seeds_of(name, seeds)),
        "figures": _figures(found),
        "references": {task: found.references(task, [row]) for row, task in sorted(found.results)},
        "layout": [asdict(table) for table in tables],
    }


def _figures(found: Findings) -> dict[str, dict[str, dict[str, Any]]]:
    """Row → task → figure → mean, interval (null below 20 videos), number of videos, and the mean of each seed."""
    figures: dict[str, dict[str, dict[str, Any]]] = {}
    for (row, task), results in sorted(found.results.items()):
        names = dict.fromkeys(name for seed in sorted(results) for name in results[seed].figures)
        for name in names:
            samples = on_common_videos(found.samples(row, task, name))
            if samples:
                interval = bootstrap(samples)
                means = {"videos": interval.over, "seeds": [sample.mean for sample in samples]}
                figures.setdefault(row, {}).setdefault(task, {})[name] = interval.to_json() | means
    return figures


def _runs(runner: Runner, shown: list[str], seeds: int | None) -> list[dict[str, Any]]:
    """Every run behind the tables: its changes to a shipped configuration, and the checkpoint measured."""
    runs = []
    for (name, seed), job in plan.jobs_of(shown, runner.budget, runner.footage, seeds).items():
        trained = runner.trained.get((name, seed))
        run = plan.runs()[name]
        runs.append(
            {
                **{"run": name, "seed": seed, "folder": f"runs/{job.key}", "config": job.file},
                **{"overrides": list(run.overrides), "init": run.init, "steps": job.config.train.steps},
                "checkpoint": trained.step if trained else None,
            }
        )
    return runs


def _curves(runner: Runner, shown: list[str], seeds: int | None) -> dict[str, dict[str, Points]]:
    """Figure → row → points of the models that the tables compare, or of all runs where there are none of these."""
    jobs = plan.jobs_of(shown, runner.budget, runner.footage, seeds)
    names = list(dict.fromkeys(name for name, _ in jobs))
    compared = [name for name in names if name in plan.TRAINED] or names
    found: dict[str, dict[str, Points]] = {figure: {} for figure in FIGURES}
    for name in compared:
        of_name = [job for (run, _), job in jobs.items() if run == name]
        init = of_name[0].init
        first_step = (init.config.train.steps or 0) if init else 0
        for figure in FIGURES:
            found[figure][name] = curve([runner.folder(job) for job in of_name], figure, first_step)
    return found


def _left_out(notes: list[str]) -> str:
    return f"\n### Left out\n\n{notes_as_markdown(notes)}\n" if notes else ""
