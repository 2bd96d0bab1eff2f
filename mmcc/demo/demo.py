"""The demo: from nothing to a trained model, its figures and its report, in a few minutes on two cores.

Every stage leaves its results in the demo's folder and is not repeated; an interrupted demo resumes when run again.

>>> results = Demo(Path("demo"), DemoSettings(), print).run()
>>> results["anticipation"]["mmcc+"]["recall@10"]
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import mmcc
from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.data.embed import embedding_alongside, require_encoders
from mmcc.demo.results import CROSS_MODAL, MMCC_PLUS, PARTS, demo_results, share_of_the_way
from mmcc.errors import InputError, OutputError
from mmcc.evaluation.evaluate import evaluate
from mmcc.evaluation.runs import LAST, find_checkpoint
from mmcc.files import is_draft, replace_text
from mmcc.kitchen.plan import KitchenSettings, plan
from mmcc.kitchen.write import write_kitchen
from mmcc.media.video import Sampling
from mmcc.progress import bar, file_progress
from mmcc.report.model_report import held_out, model_report, read_results
from mmcc.settings import to_mapping
from mmcc.text import strict_json
from mmcc.tools.cache import Cache
from mmcc.tools.model import open_model
from mmcc.training.config import load_config
from mmcc.training.loop import train
from mmcc.training.run import CONFIG
from mmcc.untrusted import read_json

STAGES = "stages.json"
_OURS = (STAGES, "kitchen", "corpus", "runs", "evaluations", "footage", "tools", "report.html", "results.json")
_SHOWN = 3  # held-out videos that the tools are run on


@dataclass(frozen=True)
class DemoSettings:
    """As much as fits into about 7 minutes on 2 cores.

    An encoder that learns to see from so few videos recognizes next to nothing in new ones (docs/training.md), so a
    pretrained one sees for the model; what follows what is learned from nothing.
    """

    videos: int = 440  # 95 s to draw on two cores; 63 of them are held out for testing
    tasks: int = 7  # of the kitchen's 18: 50 videos of each, enough to learn more than who cooks where
    size: int = 96  # pixels a side, as in the full kitchen
    fps: float = 0.5  # of the corpus: each of its frames is embedded
    encoder: str = "efficientnet-lite0?size=128&grid=4"
    steps: int = 1200  # training steps of MMCC+ and of its baseline
    overrides: tuple[str, ...] = ()


class Tool(Protocol):
    """A command that takes videos and draws a sheet."""

    def __call__(self, run: str, videos: list[Path], /, *, sheet: Path) -> int: ...


class Stage(NamedTuple):
    """One stage of the demo."""

    name: str
    sentence: str
    work: Callable[[], None]


@dataclass
class _Done:
    """stages.json: what is finished, and how long it took."""

    path: Path
    identity: dict[str, Any]
    finished: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def save(self) -> None:
        content = {"identity": self.identity, "finished": self.finished, "seconds": self.seconds}
        replace_text(self.path, json.dumps(content, indent=1) + "\n")


class Demo:
    """One demo in one folder."""

    def __init__(
        self, out: Path, settings: DemoSettings, say: Callable[[str], None], tools: Mapping[str, Tool] | None = None
    ) -> None:
        self.out, self.settings, self._say, self.tools = out, settings, say, tools or {}
        self.cache = Cache.default()

    def run(self) -> dict[str, Any]:
        """Run the stages that are not finished; returns the results, as in results.json."""
        require_encoders([self.settings.encoder], [])  # before minutes are spent on drawing
        done = _open(self.out, {"version": mmcc.__version__, **_plain(asdict(self.settings))})
        stages = self.stages(done)
        for number, stage in enumerate(stages, 1):
            head = f"[{number}/{len(stages)}] {stage.name}"
            if stage.name in done.finished:
                self._say(f"{head}: already done.")
                continue
            self._say(f"{head}: {stage.sentence}")
            self._timed(stage, done)
        evaluations = {name: read_results(self._evaluation(name)) for name in (MMCC_PLUS, CROSS_MODAL)}
        results = demo_results(evaluations, done.seconds)
        text = strict_json(results, indent=1) + "\n"
        path = self.out / "results.json"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            replace_text(path, text)
        return results

    def stages(self, done: _Done) -> list[Stage]:
        settings = self.settings
        return [
            Stage("kitchen", f"drawing {settings.videos} short cooking videos with narration.", self._kitchen),
            Stage("ingest", "reading their frames and captions, and embedding each frame once.", self._ingest),
            Stage(
                "train mmcc+",
                f"{settings.steps} training steps: to the future and back, through frames and words.",
                lambda: self._train(MMCC_PLUS, "pretrained"),
            ),
            Stage(
                "train cross_modal",
                f"{settings.steps} training steps of its baseline, which learns only which words match which frames.",
                lambda: self._train(CROSS_MODAL, "cross_modal"),
            ),
            Stage(
                "evaluate",
                "anticipation, unshuffling and cycles, on videos that neither model has seen.",
                self._evaluate,
            ),
            Stage("tools", f"running the tools on {_SHOWN} of these videos, as a user would.", self._tools),
            Stage("report", "putting everything on one page.", lambda: self._report(done)),
        ]

    def _timed(self, stage: Stage, done: _Done) -> None:
        """Run a stage; its seconds add up over attempts."""
        started = time.perf_counter()
        try:
            stage.work()
            done.finished.append(stage.name)
        finally:
            done.seconds[stage.name] = done.seconds.get(stage.name, 0.0) + time.perf_counter() - started
            done.save()

    def _kitchen(self) -> None:
        settings = KitchenSettings(
            videos=self.settings.videos, tasks=self.settings.tasks, size=self.settings.size, fps=1.0
        )
        with file_progress("kitchen") as progress:
            report = write_kitchen(
                self.out / "kitchen", plan(settings), settings, workers=os.cpu_count() or 1, progress=progress
            )
        if report.failed:
            video, reason = report.failed[0]
            raise OutputError(f"{self.out / 'kitchen'}: {video} could not be drawn: {reason}")

    def _ingest(self) -> None:
        sampling = Sampling(fps=self.settings.fps, size=self.settings.size)
        settings = IngestSettings(sampling, workers=os.cpu_count() or 1)
        alongside = embedding_alongside(self._corpus, frames=[self.settings.encoder], text=[])
        with file_progress("ingest and embed") as progress, alongside as embedding:
            ingest(find_source(self.out / "kitchen"), self._corpus, settings, progress, embedding)
        embedding.finish(bar)

    def _train(self, name: str, config: str) -> None:
        quarter = max(1, self.settings.steps // 4)
        often = [f"train.{what}_every={quarter}" for what in ("validate", "checkpoint")]
        steps = f"train.steps={self.settings.steps}"
        chosen = load_config(config, [steps, *often, *self._perception(), *self.settings.overrides])
        run = self._run(name)
        train(self._corpus, run, chosen, resume=(run / CONFIG).is_file(), say=lambda line: self._say(f"  {line}"))

    def _perception(self) -> list[str]:
        """The baseline sees with the same eyes as MMCC+."""
        head = to_mapping(load_config("pretrained").model.frame_encoder) | {"name": self.settings.encoder}
        return [f"model.frame_encoder={json.dumps(head)}"]

    def _evaluate(self) -> None:
        (self.out / "evaluations").mkdir(exist_ok=True)
        for name in (MMCC_PLUS, CROSS_MODAL):
            found = evaluate(str(self._run(name)), self._corpus, tasks=list(PARTS), checkpoint=LAST, bars=bar)
            replace_text(self._evaluation(name), strict_json(found.to_json(), indent=1) + "\n")

    def _tools(self) -> None:
        """Run the tools; what they print goes to files beside their sheets."""
        videos = self._footage()
        folder = self.out / "tools"
        folder.mkdir(exist_ok=True)
        checkpoint = str(find_checkpoint(self._run(MMCC_PLUS), LAST).folder)
        for name in bar("tools")(list(self.tools)):
            with (folder / f"{name}.txt").open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
                self.tools[name](checkpoint, videos, sheet=folder / f"{name}.png")

    def _footage(self) -> list[Path]:
        """Some held-out videos as files with captions beside them, as a user would have them."""
        corpus, kitchen, folder = Corpus.open(self._corpus), self.out / "kitchen", self.out / "footage"
        folder.mkdir(exist_ok=True)
        ids = held_out(corpus, find_checkpoint(self._run(MMCC_PLUS), LAST))
        found = []
        for video in (ids[at * len(ids) // _SHOWN] for at in range(min(_SHOWN, len(ids)))):
            for path in [kitchen / "videos" / f"{video}.mp4", *(kitchen / "captions").glob(f"{video}.*")]:
                shutil.copyfile(path, folder / path.name)
            found.append(folder / f"{video}.mp4")
        return found

    def _report(self, done: _Done) -> None:
        model, corpus = open_model(self._run(MMCC_PLUS), LAST), Corpus.open(self._corpus)
        evaluations = {name: read_results(self._evaluation(name)) for name in (MMCC_PLUS, CROSS_MODAL)}
        results = demo_results(evaluations, done.seconds)
        took = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in done.seconds.items() if seconds >= 1)
        extra = [
            f"In anticipation it gets {share_of_the_way(results, 'percentile_mean'):.0f} % of the way from chance to "
            f"knowing every step by mean rank, and {share_of_the_way(results, 'recall@10'):.0f} % by recall@10. "
            f"Its baseline was trained for as long: {self.settings.steps} steps.",
            f"Made by mmcc demo: {took}.",
        ]
        page = model_report(
            model, corpus, list(evaluations.values()), cache=self.cache, title="mmcc: the demo", extra=extra, bars=bar
        )
        replace_text(self.out / "report.html", page)

    @property
    def _corpus(self) -> Path:
        return self.out / "corpus"

    def _run(self, name: str) -> Path:
        return self.out / "runs" / name

    def _evaluation(self, name: str) -> Path:
        return self.out / "evaluations" / f"{name}.json"


def start_over(out: Path) -> None:
    """Remove a demo's files, and nothing else."""
    if not out.exists():
        return
    if not (out / STAGES).is_file():
        raise InputError(out, "does not hold a demo", "Choose another folder, or remove it yourself.")
    for path in (out / name for name in _OURS):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _open(out: Path, identity: dict[str, Any]) -> _Done:
    """A new or empty folder, or one with a demo of the same version and settings."""
    path = out / STAGES
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = sorted(each.name for each in out.iterdir() if each.name != STAGES and not is_draft(each))
    except OSError as error:
        raise InputError(out, f"cannot be used: {error.strerror}", "Choose a folder you can write to.") from None
    if not path.is_file():
        if there:
            raise InputError(out, f"contains other files, such as {there[0]}", "Choose a new folder with -o.")
        new = _Done(path, identity)
        new.save()  # first, so that a demo that is killed at once can be resumed
        return new
    try:
        content = read_json(path, dict)
        known = _Done(path, content["identity"], list(content["finished"]), dict(content["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(path, "cannot be read", "Start over with --fresh (make demo FRESH=1).") from None
    if known.identity != identity:
        raise InputError(out, "contains a demo of another version", "Start over with --fresh (make demo FRESH=1).")
    known.finished = [name for name in known.finished if all((out / each).exists() for each in _LEAVES.get(name, ()))]
    return known


_LEAVES = {
    "kitchen": ("kitchen",),
    "ingest": ("corpus",),
    "train mmcc+": (f"runs/{MMCC_PLUS}",),
    "train cross_modal": (f"runs/{CROSS_MODAL}",),
    "evaluate": (f"evaluations/{MMCC_PLUS}.json", f"evaluations/{CROSS_MODAL}.json"),
    "tools": ("tools",),
    "report": ("report.html",),
}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """As they come back from JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain
