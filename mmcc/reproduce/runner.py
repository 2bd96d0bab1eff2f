"""Train and measure what is missing. It may be stopped at any time, and resumes where it was.

    OUT/runs/KEY/               a run as `mmcc train` writes it; KEY ends with a hash of everything that affects the run
    OUT/results/KEY/TASK.json   what was measured of it

A run is finished when its last checkpoint has the planned step, and that checkpoint is measured: its learning rate ends
there, and no score chooses among earlier ones, since none is fair to every objective. A run that cannot be trained, or
a task that cannot be measured, becomes a note; the others continue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mmcc.corpus import Corpus
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.errors import Diverged, InputError, MissingDependency
from mmcc.evaluation import arrow_of_time
from mmcc.evaluation.adapter import ModelAdapter
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.arrow_of_time import Scratch, Split
from mmcc.evaluation.evaluator import Bars, Evaluator
from mmcc.evaluation.features_only import encoder_adapter, imagenet_adapter, random_adapter
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.runs import LAST, Checkpoint, find_checkpoint
from mmcc.evaluation.task import NotMeasured, find_task
from mmcc.evaluation.videos import EvaluationVideos
from mmcc.models.encoders import FrameResNetSettings
from mmcc.models.registry import WEIGHTS_FILE
from mmcc.reproduce import plan
from mmcc.reproduce.eta import Estimate
from mmcc.reproduce.findings import Findings
from mmcc.reproduce.plan import Budget, Footage, Job
from mmcc.reproduce.store import Store, fingerprint
from mmcc.reproduce.trainings import Say, Training, train_run, train_side_by_side
from mmcc.training.checkpoints import Checkpoints, TrainingProgress, read_progress
from mmcc.training.config import Config


@dataclass(frozen=True)
class Trained:
    """A finished run's last checkpoint."""

    checkpoint: Checkpoint
    step: int
    weights: str  # their checksum


class Runner:
    """The jobs of one corpus and one budget, in one folder."""

    def __init__(
        self,
        corpus: Path,
        out: Path,
        budget: Budget,
        *,
        say: Say,
        bars: Bars | None = None,
        at_once: int = 1,
        imagenet: Path | None = None,
        encoder: str | None = None,
    ) -> None:
        self.corpus, self.out, self.budget, self.say, self.bars = corpus, out, budget, say, bars
        self.at_once = at_once  # runs to train at a time
        self.imagenet = imagenet  # weights of a ResNet-18; None: the network of the extra
        opened = with_vectors(Corpus.open(corpus), frames=Wanted(encoder) if encoder else None)
        self.videos = EvaluationVideos(opened, most_training=budget.arrow_videos)
        vectors = opened.manifest.encoding == "float32" and encoder is None
        self.footage = Footage(self.videos.fingerprint, opened.manifest.fps, encoder, vectors)
        self.store = Store(out / "results")
        self.findings = Findings(training_videos=self.videos.training_total)
        self.trained: dict[tuple[str, int], Trained] = {}
        self._failed: dict[str, str] = {}  # a job's key → why
        self._untrained: dict[str, Evaluator | None] = {}  # kept, since ImageNet's network is slow
        # Distinguishes weights of the same name.
        self._identity = {name: f"{name} {encoder}" if encoder else name for name in plan.UNTRAINED}

    def folder(self, job: Job) -> Path:
        return self.out / "runs" / job.key

    def progress(self, job: Job) -> TrainingProgress | None:
        """How far a run is; None where it has not started, or has no intact checkpoint."""
        try:
            newest = Checkpoints(self.folder(job)).newest(_silent)
        except InputError:
            return None
        return read_progress(newest) if newest else None

    def run(self, tables: Sequence[str], seeds: int | None) -> list[str]:
        """Train and measure what the tables need; returns those that the corpus allows. InputError if none."""
        if self.imagenet:  # fail now rather than leave it out hours later
            self._untrained[plan.IMAGENET] = self._open_untrained(plan.IMAGENET)
            self._identity[plan.IMAGENET] = f"{plan.IMAGENET} {hashlib.sha256(self.imagenet.read_bytes()).hexdigest()}"
        tables = self._possible(tables)
        jobs = self._needed(tables, seeds)
        estimate = Estimate({key: (job, self.progress(job)) for key, job in jobs.items()}, self.at_once)
        for line in estimate.lines():
            self.say(line)
        if self.at_once > 1:
            self._train_side_by_side(jobs, estimate)
        for key, job in jobs.items():
            if self._train(job, estimate.heading(key)):
                estimate.done(key, self.progress(job))
                self._measure_run(job, self._tasks_of(job.run, job.seed, tables, seeds))
        for name in plan.UNTRAINED:
            self._measure_untrained(name, self._tasks_of(name, 0, tables, seeds))
        if "table4" in tables:
            for seed in plan.seeds_of("table4", seeds):
                self._measure_arrow(seed)
        if not self.findings.results:
            raise self._nothing()
        return tables

    def _possible(self, tables: Sequence[str]) -> list[str]:
        """The tables that the corpus allows to measure, at least in part, so that nothing is trained in vain."""
        possible = []
        for table in tables:
            tasks = dict.fromkeys(task for tasks in plan.measures_of(table).values() for task in tasks)
            lacking = {task: self.videos.lacks(find_task(task).needs) for task in tasks}
            for task, why in lacking.items():
                if why:
                    self._note(f"{task}: {why}")
            if not all(lacking.values()):
                possible.append(table)
        if not possible:
            raise self._nothing()
        return possible

    def _needed(self, tables: Sequence[str], seeds: int | None) -> dict[tuple[str, int], Job]:
        """The runs that something can be measured of, and those they start from."""
        jobs = plan.jobs_of(tables, self.budget, self.footage, seeds)
        needed = set()
        for (name, seed), job in jobs.items():
            in_table4 = "table4" in tables and name in plan.TRAINED and seed in plan.seeds_of("table4", seeds)
            if in_table4 or self._tasks_of(name, seed, tables, seeds):
                needed |= {(name, seed), *([(job.init.run, seed)] if job.init else [])}
        return {key: job for key, job in jobs.items() if key in needed}

    def _nothing(self) -> InputError:
        cause = f"nothing can be measured ({'; '.join(self.findings.notes)})"
        return InputError(self.corpus, cause, "Fix the first of these, and run the same command again.")

    def is_complete(self, table: str, seeds: int | None) -> bool:
        """Whether a table was trained and measured before, so that it can be shown beside those asked for."""
        jobs = self._needed([table], seeds)
        for key, job in jobs.items():
            if key not in self.trained and not self._find_trained(job):
                return False
            if any(not self._known(job, task) for task in self._tasks_of(job.run, job.seed, [table], seeds)):
                return False
        for name in plan.UNTRAINED:  # shown if they are there
            for task in self._tasks_of(name, 0, [table], seeds):
                self._known_untrained(name, task)
        arrow = table != "table4" or all(self._stored_arrow(seed) for seed in plan.seeds_of(table, seeds))
        return bool(jobs) and arrow

    def _tasks_of(self, row: str, seed: int, tables: Iterable[str], seeds: int | None) -> list[str]:
        """The tasks that are measured of this run."""
        wanted = [
            task
            for table in tables
            if seed in plan.seeds_of(table, seeds)
            for task in plan.measures_of(table).get(row, ())
        ]
        return [task for task in dict.fromkeys(wanted) if not self.videos.lacks(find_task(task).needs)]

    def _train_side_by_side(self, jobs: Mapping[tuple[str, int], Job], estimate: Estimate) -> None:
        """Runs that fail here are trained again, one by one."""
        keys = {job.key: key for key, job in jobs.items()}  # rows with the same settings are one run
        trainings = [
            Training(jobs[key], self.folder(jobs[key]), self._config(jobs[key]), left)
            for key in keys.values()
            if (left := estimate.steps_left(key))
        ]
        if trainings:
            train_side_by_side(
                self.corpus,
                trainings,
                self.at_once,
                started=lambda job: self.say(estimate.heading(keys[job.key])),
                ended=lambda job: estimate.done(keys[job.key], self.progress(job)),
            )

    def _train(self, job: Job, heading: str) -> bool:
        """Whether the run is finished."""
        if self._find_trained(job):
            return True
        self.say(heading)
        if job.init is not None and job.init.key in self._failed:
            return self._fail(job, f"the run it starts from failed: {self._failed[job.init.key]}")
        try:
            train_run(self.corpus, self.folder(job), self._config(job), say=self.say)
        except InputError as error:
            return self._fail(job, f"{error.path}: {error.cause}")
        except Diverged as error:
            return self._fail(job, str(error))
        return self._find_trained(job)

    def _config(self, job: Job) -> Config:
        if job.init is None:
            return job.config
        last = Checkpoints(self.folder(job.init)).path(job.init.config.train.steps or 0)  # that of the row of its own
        return replace(job.config, train=replace(job.config.train, init=str(last)))

    def _find_trained(self, job: Job) -> bool:
        progress = self.progress(job)
        if progress is None or progress.step != job.config.train.steps:
            return False
        found = find_checkpoint(self.folder(job), LAST)
        self.trained[job.run, job.seed] = Trained(found, int(found.folder.name), found.checksums[WEIGHTS_FILE])
        return True

    def _fail(self, job: Job, why: str) -> bool:
        self._failed[job.key] = why
        self._note(f"{job.run}, seed {job.seed}: not trained: {why}")
        return False

    def _measure_run(self, job: Job, tasks: Sequence[str]) -> None:
        trained = self.trained[job.run, job.seed]
        missing = [task for task in tasks if not self._known(job, task)]
        if not missing:
            return
        self.say(f"{job.run}, seed {job.seed}: {', '.join(missing)}")
        evaluator = Evaluator(open_adapter(trained.checkpoint.folder), self.videos, trained.checkpoint, self.bars)
        for task in missing:
            result = self._measured(evaluator, task, f"{job.run}, seed {job.seed}")
            if result:
                self.store.save(job.key, task, self._mark(trained.weights, task), result, trained.step)
                self.findings.add(job.run, task, job.seed, result)

    def _known(self, job: Job, task: str) -> bool:
        """Whether a stored result exists; it is added to the findings."""
        trained = self.trained[job.run, job.seed]
        result = self.store.load(job.key, task, self._mark(trained.weights, task))
        if result:
            self.findings.add(job.run, task, job.seed, result)
        return result is not None

    def _measure_untrained(self, name: str, tasks: Sequence[str]) -> None:
        missing = [task for task in tasks if not self._known_untrained(name, task)]
        evaluator = self._find_untrained(name) if missing else None
        if evaluator is None:
            return
        self.say(f"{name}: {', '.join(missing)}")
        for task in missing:
            result = self._measured(evaluator, task, name)
            if result:
                self.store.save(name, task, self._mark(self._identity[name], task), result, None)
                self.findings.add(name, task, 0, result)

    def _known_untrained(self, name: str, task: str) -> bool:
        result = self.store.load(name, task, self._mark(self._identity[name], task))
        if result:
            self.findings.add(name, task, 0, result)
        return result is not None

    def _find_untrained(self, name: str) -> Evaluator | None:
        """None, with a note, where the model is not available."""
        if name not in self._untrained:
            try:
                self._untrained[name] = self._open_untrained(name)
            except (InputError, MissingDependency) as error:
                cause = error.cause if isinstance(error, InputError) else " ".join(str(error).split())
                self._untrained[name] = None
                self._note(f"{name}: left out: {cause}")
        return self._untrained[name]

    def _open_untrained(self, name: str) -> Evaluator:
        if name == plan.IMAGENET:
            return Evaluator(self._imagenet(), self.videos, None, self.bars)
        model = plan.plan_job(plan.PLUS, 0, self.budget, self.footage).config.model  # the size of the trained ones
        width = getattr(model.frame_encoder, "width", FrameResNetSettings.width)
        adapter = random_adapter(self.videos.corpus, width=width, dims=model.dims)
        return Evaluator(adapter, self.videos, None, self.bars)

    def _imagenet(self) -> ModelAdapter:
        if self.footage.encoder:  # what all the others start from, with nothing learnt on top
            return encoder_adapter(self.footage.encoder)
        return imagenet_adapter(self.videos.corpus, weights=self.imagenet)

    def _measured(self, evaluator: Evaluator, task: str, who: str) -> TaskResult | None:
        try:
            return evaluator.measure(find_task(task))
        except NotMeasured as why:
            self._note(f"{task}: {who}: {why}")
        except InputError as error:
            self._note(f"{task}: {who}: {error.cause}")
        return None

    def _measure_arrow(self, seed: int) -> None:
        """Table 4 of one training seed: the features of all rows on the pairs of all columns."""
        if self._stored_arrow(seed):
            return
        evaluators = self._all_evaluators(seed)
        self.say(f"table4, seed {seed}: pairs and classifiers of {', '.join(evaluators)}")
        embedded: dict[str, Split] = {}
        for name, evaluator in evaluators.items():
            try:
                embedded[name] = Split(evaluator.training, evaluator.primary)
            except InputError as error:
                self._note(f"{plan.ARROW}: {name}, seed {seed}: {error.cause}")
        at_random: dict[str, ModelAdapter | None] = {plan.RANDOM: None}
        columns = at_random | {name: evaluators[name].adapter for name in plan.SAMPLERS[1:] if name in embedded}
        scratch = Scratch(self.videos.corpus, steps=self.budget.scratch_steps, seed=seed)
        try:
            result = arrow_of_time.evaluate(columns, embedded, scratch=scratch)
        except InputError as error:
            self._note(f"{plan.ARROW}: seed {seed}: {error.cause}")
            return
        if len(embedded) == len(evaluators):  # otherwise it is measured again the next time
            self.store.save(_arrow_key(seed), plan.ARROW, self._arrow_mark(seed), result, None)
        self.findings.add(plan.ARROW, plan.ARROW, seed, result)

    def _all_evaluators(self, seed: int) -> dict[str, Evaluator]:
        """One for every row of Table 4."""
        untrained = {name: evaluator for name in plan.UNTRAINED if (evaluator := self._find_untrained(name))}
        rows = [name for name in plan.TRAINED if (name, seed) in self.trained]
        adapters = {name: open_adapter(self.trained[name, seed].checkpoint.folder) for name in rows}
        return untrained | {name: Evaluator(each, self.videos, None, self.bars) for name, each in adapters.items()}

    def _stored_arrow(self, seed: int) -> bool:
        result = self.store.load(_arrow_key(seed), plan.ARROW, self._arrow_mark(seed))
        if result:
            self.findings.add(plan.ARROW, plan.ARROW, seed, result)
        return result is not None

    def _arrow_mark(self, seed: int) -> str:
        rows = {name: self.trained[name, seed].weights for name in plan.TRAINED if (name, seed) in self.trained}
        rows |= {name: self._identity[name] for name in plan.UNTRAINED if self._find_untrained(name)}
        return self._mark(rows, plan.ARROW, self.budget.scratch_steps)

    def _mark(self, who: str | dict[str, str], task: str, *rest: int) -> str:
        """A hash of everything that affects a result."""
        return fingerprint(self.videos.fingerprint, self.videos.training, who, task, *rest)

    def _note(self, line: str) -> None:
        self.findings.note(line)
        self.say(line)


def _arrow_key(seed: int) -> str:
    return f"{plan.ARROW}-seed{seed}"


def _silent(_: str) -> None:
    """A damaged checkpoint is reported when the run resumes."""
