"""Studies of settings: the tuning grid, and how MMCC+ scales with training videos and width."""

from __future__ import annotations

from functools import cache

from mmcc.report.tables import Cell, Column, Row, Table
from mmcc.reproduce import plan
from mmcc.reproduce.findings import Findings
from mmcc.reproduce.tables_rows import LABELS, FigureColumn, columns_of, intervals_note
from mmcc.training.config import load_config

_FIGURES = (
    ("anticipation", FigureColumn("recall@1", "R@1")),
    ("anticipation", FigureColumn("recall@5", "R@5")),
    ("anticipation", FigureColumn("recall@10", "R@10")),
    ("anticipation", FigureColumn("percentile_mean", "mean rank")),
    ("anticipation", FigureColumn("dyn", "dyn")),
    ("unshuffling", FigureColumn("kendall_tau", "τ", 3)),
    ("unshuffling", FigureColumn("kendall_tau/all_pairs", "τ, all pairs", 3)),
)
_SCALE = (
    ("Training videos", "100", plan.VIDEOS_100),
    ("Training videos", "300", plan.VIDEOS_300),
    ("Training videos", "all", plan.QUARTER),
    ("Width", "8", plan.WIDTH_8),
    ("Width", "16", plan.QUARTER),
    ("Width", "32", plan.WIDTH_32),
)


def tuning(findings: Findings) -> list[Table]:
    """Every objective with every choice, on the validation videos."""
    tasks = {"anticipation": plan.CHOOSING_ANTICIPATION, "unshuffling": plan.CHOOSING_UNSHUFFLING}
    rows = []
    for name in plan.TRAINED:
        for place, (choice, label) in enumerate(_choices(name).items()):
            cells = tuple(
                findings.cell(plan.tuned(name, choice), tasks[kind], figure.name) for kind, figure in _FIGURES
            )
            labels = ("" if place else LABELS[name], label)
            rows.append(Row(labels, cells, competes=False, rule=not place))
    notes = (intervals_note(findings), "An eighth of the steps each, on the validation videos.")
    columns = columns_of([figure for _, figure in _FIGURES], False)
    return [Table("Tuning: the same grid for every objective", ("objective", "settings"), columns, tuple(rows), notes)]


def _choices(name: str) -> dict[str, str]:
    return {
        plan.OWN: f"its own: rate 1e-3, segments of {longest_segment(name, plan.OWN):.0f} s",
        plan.SLOW: "rate 3e-4",
        plan.FAST: "rate 3e-3",
        plan.OTHER_SEGMENTS: f"segments of {longest_segment(name, plan.OTHER_SEGMENTS):.0f} s",
    }


def longest_segment(name: str, choice: str) -> float:
    """In seconds: the allowed length, or what its frames span if that is shorter."""
    run = plan.runs()[plan.tuned(name, choice)]
    data = load_config(run.config, list(run.overrides)).data
    return min(data.segment_seconds, data.max_frames / min(data.frame_rates))


def scale(findings: Findings) -> list[Table]:
    """MMCC+ by number of training videos, and by cost."""
    tasks = {"anticipation": plan.ANTICIPATION, "unshuffling": plan.UNSHUFFLING}
    rows = []
    shown = ""
    learns_to_see = widths_measured(findings)
    for group, label, run in _SCALE:
        if group == "Width" and not learns_to_see:
            continue
        if label == "all" and findings.training_videos:
            label = f"{findings.training_videos} (all)"
        cells = [findings.cell(run, tasks[kind], figure.name) for kind, figure in _FIGURES]
        cost = [Cell(multiplications(plan.runs()[run].overrides) / 1e6)] if learns_to_see else []
        rows.append(Row((group if group != shown else "", label), (*cost, *cells), competes=False, rule=group != shown))
        shown = group
    notes = [intervals_note(findings), "MMCC+ at a quarter of the steps."]
    columns = columns_of([figure for _, figure in _FIGURES], False)
    if learns_to_see:
        notes.append("Cost: the frame encoder's multiplications for 48 px.")
        columns = (Column("million / frame", 1, 0), *columns)
    title = "Scale: videos and width" if learns_to_see else "Scale: videos"
    return [Table(title, ("", ""), columns, tuple(rows), tuple(notes))]


def widths_measured(findings: Findings) -> bool:
    """Whether the encoders are trained; a pretrained one has no width to choose."""
    return any(run in plan.WIDTHS for run, _ in findings.results)


@cache  # the table and the plot both ask
def multiplications(overrides: tuple[str, ...], side: int = 48) -> float:
    """Multiplications of the frame encoder for one picture."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from mmcc.models.encoders import FrameResNetSettings
    from mmcc.models.resnet import ResNet18

    encoder = load_config("mmcc_plus", list(overrides)).model.frame_encoder
    assert isinstance(encoder, FrameResNetSettings)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        ResNet18(encoder.width).eval()(torch.zeros(1, 3, side, side))
    return float(counter.get_total_flops()) / 2  # a multiplication and an addition each
