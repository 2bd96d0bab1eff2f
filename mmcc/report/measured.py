"""What `mmcc evaluate` found, for people: a sentence for each task, its figures on a scale, all others folded away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mmcc.evaluation.evaluate import reference
from mmcc.report.gallery import Gauge, folded, gauges
from mmcc.report.html import Markup, element, joined
from mmcc.report.page import Section, listed, titled
from mmcc.report.tables import EMPTY, Cell, Column, Row, Table, to_html

Evaluation = Mapping[str, Any]  # as `mmcc evaluate --json` prints it
_KNOWN = "step_known"  # the reference of one who knows which step each clip shows


class _Task(NamedTuple):
    title: str
    question: str
    figures: Mapping[str, str]  # name → in words
    scale: tuple[float, float] = (0.0, 100.0)
    digits: int = 1


_RECALLS = {f"recall@{k}": f"later steps among the first {k}, %" for k in (1, 5, 10)}
_LATER = {"percentile_mean": "mean percentile rank of later steps", **_RECALLS}
_ORDER = {
    "kendall_tau": "seen only",
    "kendall_tau/all_pairs": "seen only, by all pairs",
    "kendall_tau/text": "seen and heard",
    "kendall_tau/step_text": "seen, and the step's description",
}
_ORDER_SCALE = (-0.2, 1.0)
TASKS: dict[str, _Task] = {
    "anticipation": _Task(
        "Anticipation", "From one clip: which steps are still to come, among those of all tasks?", _LATER
    ),
    "unshuffling": _Task(
        "Unshuffling", "A video's steps, shuffled: in which order were they? Kendall's τ.", _ORDER, _ORDER_SCALE, 2
    ),
    "cycle": _Task(
        "Cycles",
        "From a moment to its future and back: is the way back the way it came?",
        {
            "cycle_rank_hard": "percentile rank of the start, on the way back",
            "exact_return_hard": "returns to the very node, %",
            "travelled_rank": "rank, where staying in place counts 50",
            "goes_forward": "goes to a later moment, %",
            "cross_modal_rank": "rank of a moment's words, or frame",
        },
    ),
    "transitions": _Task(
        "Transitions",
        "The ten most salient changes of each video.",
        {
            "forward": "go forward in time, %",
            "joins_steps": "lead from one step to another, %",
            "ordered_of_joined": "of these, in the right order, %",
        },
    ),
    "arrow": _Task("The arrow of time", "Of two frames: which came first?", {}),
    "neurons": _Task(
        "Neurons", "Is there a number of a frame's embedding that goes with a word? Spearman's ρ.", {}, (0.0, 1.0), 2
    ),
    "transfer-anticipation": _Task("Anticipation in tasks never trained on", "The same, in related tasks.", _LATER),
    "transfer-unshuffling": _Task(
        "Unshuffling in tasks never trained on", "The same, in related tasks.", _ORDER, _ORDER_SCALE, 2
    ),
}


def measured(evaluations: Sequence[Evaluation]) -> Section:
    """The first is the model in question; others are shown beside it."""
    names = [str(each.get("model", "?")) for each in evaluations]
    lead = element("p", "On videos that are kept for tests; bars are 95 % intervals over videos.")
    tasks = list(dict.fromkeys(task for each in evaluations for task in each.get("tasks", {})))
    parts = [_part(task, evaluations, names) for task in sorted(tasks, key=_order)]
    skipped = [f"{task}: {why}" for task, why in evaluations[0].get("skipped", {}).items()]
    left_out = [element("p", "Not measured:"), listed(skipped)] if skipped else []
    return Section("What was measured", (lead, *parts, *left_out))


def _order(task: str) -> int:
    return list(TASKS).index(task) if task in TASKS else len(TASKS)


def _part(task: str, evaluations: Sequence[Evaluation], names: Sequence[str]) -> Markup:
    about = TASKS.get(task, _Task(task, "", {}))
    results = [each.get("tasks", {}).get(task) for each in evaluations]
    of_first = next(result for result in results if result)
    wanted = about.figures or {name: words for name in of_first["figures"] if (words := _in_words(name))}
    shown = [
        Gauge(
            words,
            [_interval(result, name) for result in results],
            reference(of_first["references"], "chance", name),
            reference(of_first["references"], _KNOWN, name),
            about.digits,
        )
        for name, words in wanted.items()
        if any(_interval(result, name) for result in results)
    ]
    tables = [
        titled(name, to_html(_table(task, result))) for name, result in zip(names, results, strict=True) if result
    ]
    notes = [str(note) for note in of_first.get("notes", [])]
    return joined(
        [
            element("h3", about.title),
            element("p", about.question),
            gauges(shown, names, *about.scale),
            *([listed(notes)] if notes else []),
            folded("All figures", joined(tables)),
        ]
    )


def _in_words(figure: str) -> str:
    """Of tasks whose figures name the model, or words; "" of those that are for the table alone."""
    kind, *_, last = figure.split("/")
    if kind == "spearman_rho":
        return f"“{last}”"
    chosen = {"at_random": "pairs at random", "own_choice": "pairs that the model chooses"}.get(last)
    return {"accuracy": f"right on {chosen}, %", "forward": f"{chosen} go forward, %"}.get(kind, "") if chosen else ""


def _interval(result: Mapping[str, Any] | None, name: str) -> tuple[float, float, float] | None:
    """None where there is no figure, or none that is a number."""
    figure = result["figures"].get(name) if result else None
    if not figure or any(figure.get(side) is None for side in ("mean", "low", "high")):
        return None
    return figure["mean"], figure["low"], figure["high"]


def _table(task: str, result: Mapping[str, Any]) -> Table:
    """Every figure, and every reference that it has."""
    kinds = list(dict.fromkeys(name.split("/", 1)[0] for name in result["references"]))
    columns = [Column(task, 2, better=0), *(Column(kind.replace("_", " "), 2, better=0) for kind in kinds)]
    rows = []
    for name in result["figures"]:
        interval = _interval(result, name)
        others = [reference(result["references"], kind, name) for kind in kinds]
        cells = [Cell(*interval) if interval else EMPTY, *(EMPTY if each is None else Cell(each) for each in others)]
        rows.append(Row((name,), tuple(cells)))
    return Table(task, ("figure",), tuple(columns), tuple(rows))


def headline(evaluation: Evaluation) -> str:
    """The most telling figure of a model, in a sentence; "" where there is none."""
    result = evaluation.get("tasks", {}).get("anticipation")
    interval = _interval(result, "recall@10")
    if result is None or interval is None:
        return ""
    chance = reference(result["references"], "chance", "recall@10")
    against = "" if chance is None else f" (chance: {chance:.0f} %)"
    return f"Asked for ten steps that may still come, {interval[0]:.0f} % of those that do are among them{against}."
