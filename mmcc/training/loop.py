"""Train a model on a corpus, into a run's folder; it can be stopped at any time, and resumed.

>>> report = train(Path("kitchen.corpus"), Path("runs/kitchen"), load_config("mmcc_plus"))
>>> load_network(report.checkpoint)
"""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils import deterministic

from mmcc.corpus import Corpus
from mmcc.corpus.local_copy import local_copy
from mmcc.data.batch import Batch
from mmcc.data.loader import training_batches, validation_batches
from mmcc.data.segments import SegmentSampler, UsableVideos
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import Diverged, InputError
from mmcc.models.encoders import load_published_weights
from mmcc.models.registry import Network
from mmcc.models.weights import WeightsError
from mmcc.objectives.spec import spec_of
from mmcc.storage import is_remote
from mmcc.training import checkpoints, environment, initialization, perception, readiness
from mmcc.training.bar import StepBar, say
from mmcc.training.checkpoints import Checkpoints, TrainingProgress
from mmcc.training.closed_form import start_in_closed_form
from mmcc.training.config import Config
from mmcc.training.memory import explained_out_of_memory
from mmcc.training.processes import ProcessGroup, join_world
from mmcc.training.run import CONFIG, CORPUS, VOCABULARY, Metrics, check_run, describe_corpus, open_run, recorded
from mmcc.training.schedule import Schedule
from mmcc.training.signals import Stop
from mmcc.training.step import NotFinite, Stepper
from mmcc.training.validation import summary_line, validate

Say = Callable[[str], None]


@dataclass
class TrainReport:
    """The outcome of a run."""

    run: str
    checkpoint: str  # the last
    best: str  # the best by validation score; the last if there was no validation
    steps: int
    planned: int  # more than `steps` if the run was stopped
    frames: int
    seconds: float
    score: float | None = None  # of the best
    validation: dict[str, float | None] = field(default_factory=dict)  # the last one of this call
    unusable: dict[str, str] = field(default_factory=dict)  # training videos without a usable segment, and why

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def render_training(report: TrainReport) -> str:
    steps = f"{report.steps} steps" if report.steps >= report.planned else f"{report.steps} of {report.planned} steps"
    lines = [f"{steps}, {report.frames} frames in {report.seconds:.0f} s"]
    if report.validation:
        lines.append(summary_line(report.steps, report.validation))
    score = "" if report.score is None else f" (score {report.score:.1f})"
    return "\n".join([*lines, f"last: {report.checkpoint}", f"best: {report.best}{score}"])


def train(
    corpus: Path,
    run: Path,
    config: Config,
    *,
    resume: bool = False,
    anyway: bool = False,
    progress: Callable[[int, int], StepBar] = StepBar,
    say: Say = say,
) -> TrainReport:
    """Train, or resume a stopped run. `anyway`: even on too little to learn from. `progress` makes a bar from (all
    training steps, steps done)."""
    with ExitStack() as stack:
        world = stack.enter_context(join_world(config.train.device))
        if not world.writes:
            say = _silent
        stack.enter_context(_same_every_time(world))
        opened = perception.for_encoders(Corpus.open(corpus), config.model)
        if is_remote(corpus):
            here = Path(config.data.local) if config.data.local else None
            most = None if config.data.local_gb is None else int(config.data.local_gb * 1e9)
            copy = stack.enter_context(local_copy(opened, here, most, say))
            opened = perception.for_encoders(Corpus.open(copy), config.model)
        config = initialization.with_absolute_init(perception.fit_to_corpus(config, opened))
        config = initialization.with_own_imports(config, say)
        start = initialization.first_weights(config, run, say)  # before anything is written
        if config.train.batch_size % (world.size * config.train.accumulation):
            cause = f"{config.train.batch_size} cannot be divided among {world.size} processes"
            raise InputError("train.batch_size", f"{cause} x {config.train.accumulation} parts", "Choose a multiple.")
        if world.writes:
            check_run(run, config, resume=resume)
        videos, held_out = UsableVideos(opened, "train", config.data), _held_out(opened, config)
        initialization.check_frame_rates(config, videos)
        if not Checkpoints(run).steps():  # a run that has one was checked when it began
            words = initialization.first_words(start, videos, config) if perception.reads_words(config.model) else None
            found = readiness.assess(videos, held_out, words, config.train.batch_size)
            readiness.check(found, corpus, anyway=anyway, say=say)
        if world.writes:
            stack.enter_context(open_run(run, config, opened, resume=resume))
        with explained_out_of_memory(run, config.train), _weights():
            return _Training(videos, held_out, run, config, start, world, say).train(progress)


class _Training:
    """One call of `train`: its inputs, what it built, and its progress."""

    def __init__(
        self,
        videos: UsableVideos,
        held_out: UsableVideos | None,
        run: Path,
        config: Config,
        start: Path | None,
        world: ProcessGroup,
        say: Say,
    ) -> None:
        self.corpus, self.videos, self.held_out = videos.corpus, videos, held_out
        self.run, self.config, self.start, self.world, self.say = run, config, start, world, say
        self.checkpoints = Checkpoints(run, config.train.keep)
        found = self.checkpoints.newest(say) if world.writes else None
        self.newest = Path(shared) if (shared := world.broadcast_text(str(found or ""))) else None
        self.vocabulary = self._vocabulary()
        self.schedule = Schedule(config.train, len(self.videos.ids))
        model = build_model(config, len(self.vocabulary or ()), world)
        optimizer = torch.optim.AdamW(
            [parameter for parameter in model.parameters() if parameter.requires_grad],
            lr=config.train.lr,
            betas=config.train.betas,
            weight_decay=config.train.weight_decay,
            fused=True,  # one pass over the weights instead of ten
        )
        self.stepper = Stepper(model, config.objective, optimizer, self.schedule, config.train, world)
        self.progress = self._restore()
        self.saved = asdict(self.progress) if self.progress.step else {}
        self.figures: dict[str, float | None] = {}

    def train(self, progress: Callable[[int, int], StepBar]) -> TrainReport:
        with ExitStack() as stack:
            stop = stack.enter_context(Stop())
            known = (self.progress.step, self.progress.metrics)
            metrics = stack.enter_context(closing(Metrics(self.run, *known, self.say))) if self.world.writes else None
            shown = progress(self.schedule.steps, self.progress.step) if self.world.writes else None
            bar = stack.enter_context(shown or nullcontext())
            batches = stack.enter_context(_ending(self._batches()))
            stopping = self._validate_if_due(metrics, stop)  # it may have stopped between a step and its validation
            while not stopping and not self._is_last():
                stopping = self._step(batches, metrics, bar, stop) or self._validate_if_due(metrics, stop)
                due = self.progress.step % self.config.train.checkpoint_every == 0
                if stopping or due or self._is_last():
                    self._save()
            if stopping:
                stop.act(signal.SIGTERM)
        return self._report()

    def _step(self, batches: Iterator[Batch], metrics: Metrics | None, bar: StepBar | None, stop: Stop) -> bool:
        """Do one training step and count it; returns whether to stop after it."""
        started = time.perf_counter()
        parts = list(islice(batches, self.config.train.accumulation))
        waited = time.perf_counter() - started
        try:
            figures, stopping = self.stepper.step(self.progress.step, parts, stop.asked)
            stopping = stopping or (self.world.size == 1 and stop.asked)  # several processes must stop at the same step
        except NotFinite as error:
            raise Diverged(
                f"{self.run}: non-finite {error.what} at step {self.progress.step + 1} ({error})",
                "The last checkpoint is intact. Lower --train.lr, or set --train.grad_clip 1.",
            ) from None
        seconds = time.perf_counter() - started
        frames = int(figures.pop("frames"))
        self.progress.step += 1
        self.progress.frames += frames
        self.progress.seconds += seconds
        figures |= {"frames_per_second": frames / seconds, "waiting_share": waited / seconds}
        if bar:
            watched = ("loss", *spec_of(self.config.objective).terms, "frames_per_second")
            bar.step({name: figures[name] for name in watched if name in figures})
        if metrics and (self.progress.step % self.config.train.log_every == 0 or self._is_last()):
            metrics.write(self.progress.step, "train", figures)
        return stopping

    def _validate_if_due(self, metrics: Metrics | None, stop: Stop) -> bool:
        """Validate and save, so that the counters never lag behind metrics.jsonl. Returns whether to stop instead."""
        step, progress = self.progress.step, self.progress
        due = step > 0 and (step % self.config.train.validate_every == 0 or self._is_last())
        if self.held_out is None or not due or progress.validated == step:
            return False
        batches = validation_batches(
            self.held_out,
            self.vocabulary,
            batch_size=max(1, self.config.train.batch_size // self.world.size // self.config.train.accumulation),
            limit=self.config.train.validation_segments,
            rank=self.world.rank,
            world_size=self.world.size,
            workers=min(self.config.train.workers, 1),
            pin_memory=self.world.device.type == "cuda",
        )
        spec = spec_of(self.config.objective)
        with _ending(batches):
            figures = validate(
                self.stepper.model,
                batches,
                self.corpus,
                spec.walk_of(self.config.objective),
                starts=self.config.train.validation_starts,
                world=self.world,
                skills=spec.skills_of(self.config.objective),
                stopped=lambda: stop.asked,
            )
        if figures is None:
            return True
        self.figures, progress.validated = figures, step
        if metrics:
            metrics.write(step, "validation", figures)
        self.say(summary_line(step, figures))
        score = figures["score"]
        if score is not None and (progress.best_score is None or score > progress.best_score):
            progress.best_step, progress.best_score = step, score
        self._save()
        return False

    def _is_last(self) -> bool:
        return self.progress.step >= self.schedule.steps

    def _batches(self) -> Iterator[Batch]:
        """Each part of a training step is one step of the loader: the samples are the same."""
        parts = self.config.train.accumulation
        return training_batches(
            SegmentSampler(self.videos, self.config.train.seed),
            self.vocabulary,
            start_step=self.progress.step * parts,
            steps=(self.schedule.steps - self.progress.step) * parts,
            batch_size=self.config.train.batch_size // parts,
            rank=self.world.rank,
            world_size=self.world.size,
            workers=self.config.train.workers,
            pin_memory=self.world.device.type == "cuda",
        )

    def _save(self) -> None:
        if not self.world.writes:
            return
        self.progress.metrics = recorded(self.run)
        if self.saved != asdict(self.progress):
            texts = {CONFIG: self.config.to_yaml(), CORPUS: describe_corpus(self.corpus)}
            texts[environment.FILE] = environment.as_text(environment.environment(self.world))
            if self.vocabulary is not None:
                texts[VOCABULARY] = "".join(f"{word}\n" for word in self.vocabulary.words)
            tensors = checkpoints.optimizer_tensors(self.stepper.optimizer, self.stepper.model)
            self.checkpoints.save(self.stepper.model, tensors, self.progress, texts)
            self.saved = asdict(self.progress)

    def _restore(self) -> TrainingProgress:
        """The run's progress so far. Every process reads the folder, so several machines must share it."""
        fingerprint = hashlib.sha256("\n".join(self.videos.ids).encode("utf-8", "surrogatepass")).hexdigest()
        if not self.newest or self.config.train.anchor:
            self._begin()
        if not self.newest:
            return TrainingProgress(samples=fingerprint)
        progress = checkpoints.load(self.newest, self.stepper.model, self.stepper.optimizer)
        self.say(f"resuming from step {progress.step} of {self.schedule.steps} ({self.newest})")
        if changed := environment.changes(self.newest, environment.environment(self.world)):
            self.say(f"it was made elsewhere ({'; '.join(changed)}): results may differ from an uninterrupted run.")
        if progress.samples != fingerprint:
            self.say("the corpus's training videos have changed since the run started; continuing with the new ones.")
            progress.samples = fingerprint
        return progress

    def _begin(self) -> None:
        """The weights before the first step; a resumed run that is anchored to them makes them again."""
        model, config = self.stepper.model, self.config.train
        if self.start is not None:
            initialization.initialize(model, self.start, self.config)
            self.say(f"initialized with the weights of {self.start}")
            return
        perception.fit_heads(model, self.videos)
        if config.start == "closed_form":
            start_in_closed_form(model, self.videos)
        if config.anchor:
            self.stepper.first.update({name: weight.detach().clone() for name, weight in model.named_parameters()})

    def _vocabulary(self) -> Vocabulary | None:
        """The run's vocabulary: built once from the training videos, or taken from the initial run; then kept. None if
        the text encoder is pretrained: it knows its own words."""
        if not perception.reads_words(self.config.model):
            return None
        words: tuple[str, ...] = ()
        if self.world.writes:
            words = initialization.own_words(self.run, self.newest, self.start, self.videos, self.config, self.say)
        shared = self.world.broadcast_text("\n".join(words)).split("\n")
        return Vocabulary(shared[len(Vocabulary([]).words) :])

    def _report(self) -> TrainReport:
        progress = self.progress
        last = self.checkpoints.path(progress.step)
        best = self.checkpoints.path(progress.best_step) if progress.best_score is not None else last
        return TrainReport(
            run=str(self.run),
            checkpoint=str(last),
            best=str(best),
            steps=progress.step,
            planned=self.schedule.steps,
            frames=progress.frames,
            seconds=progress.seconds,
            score=progress.best_score,
            validation=self.figures,
            unusable=self.videos.unusable,
        )


def build_model(config: Config, vocabulary_size: int, world: ProcessGroup) -> Network:
    """A new model; the seed decides its weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.train.seed)
        model = spec_of(config.objective).model(config.model, config.objective, vocabulary_size)
    if config.train.frame_weights is not None:
        for encoder in model.frame_encoders():
            load_published_weights(encoder, Path(config.train.frame_weights))
    model = model.to(world.device)
    if config.train.channels_last:
        model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    if world.size > 1 and world.device.type == "cuda":  # torch has none for CPUs: each process normalizes its own part
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)  # type: ignore[no-untyped-call]
    if config.train.compile:
        for encoder in model.frame_encoders():
            encoder.compile()
    return model.train()


def _held_out(corpus: Corpus, config: Config) -> UsableVideos | None:
    """The videos that select the checkpoint; without any, the last one counts as the best."""
    try:
        return UsableVideos(corpus, "validation", config.data)
    except InputError:
        return None


@contextmanager
def _ending(batches: Iterator[Batch]) -> Iterator[Iterator[Batch]]:
    """End a loader's workers with the loop, not at the next garbage collection."""
    try:
        yield batches
    finally:
        if isinstance(batches, Generator):
            batches.close()


def _silent(_: str) -> None:
    """For all processes but the first, which prints for all."""


@contextmanager
def _same_every_time(world: ProcessGroup) -> Iterator[None]:
    """On a CPU, fix the order of sums, so that a resumed run equals an uninterrupted one bit for bit."""
    fill: Any = deterministic
    before = torch.are_deterministic_algorithms_enabled(), fill.fill_uninitialized_memory
    if world.device.type == "cpu":
        torch.use_deterministic_algorithms(True)
        fill.fill_uninitialized_memory = False  # slow, and only helps to debug reads of uninitialized memory
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        fill.fill_uninitialized_memory = before[1]


@contextmanager
def _weights() -> Iterator[None]:
    """Weights that do not fit are bad input, like any other file."""
    try:
        yield
    except WeightsError as error:
        raise InputError(error.path, error.cause, error.remedy) from None
