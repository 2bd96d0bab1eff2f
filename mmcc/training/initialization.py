"""What a run begins with, and whether it can begin: the weights and words of another run, the frames it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from mmcc.data.segments import Moments, UsableVideos
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.models.registry import CONFIG_FILE, Model, load_model
from mmcc.objectives.spec import spec_of
from mmcc.settings import flatten, to_mapping
from mmcc.training.checkpoints import FOLDER, Checkpoints, damage, read_progress
from mmcc.training.config import Config
from mmcc.training.run import CONFIG, VOCABULARY

_VIDEOS_ASKED = 8  # whether they have the frames that an objective needs; one of them may be odd


def with_absolute_init(config: Config) -> Config:
    """A run may be resumed from another folder."""
    if config.train.init is None:
        return config
    return replace(config, train=replace(config.train, init=str(Path(config.train.init).absolute())))


def first_weights(config: Config, run: Path, say: Callable[[str], None]) -> Path | None:
    """The checkpoint that `train.init` means, itself or a run's best; None where there is none, or none is needed any
    more: a run that has a checkpoint of its own stands alone."""
    needed, name = spec_of(config.objective).starts_from, config.objective.name
    if needed and config.train.init is None:
        cause = f"{name} starts from a trained {needed} model, and none is given"
        remedy = f"Train one with --objective.name {needed} first, then name its run: --train.init RUN."
        raise InputError("train.init", cause, remedy)
    if config.train.init is None or Checkpoints(run).steps():
        return None
    init = Path(config.train.init)
    if not (init / CONFIG_FILE).is_file():
        if not (init / FOLDER).is_dir():
            cause = "is no run and no checkpoint" if init.exists() else "there is no such folder"
            raise InputError(init, cause, "Name a folder that mmcc train wrote, or one of its checkpoints.")
        init = _best_of(init, say)
    if problem := damage(init):
        raise InputError(init, f"is damaged ({problem})", "Name another checkpoint.")
    trained_for = Config.from_yaml(init / CONFIG).objective.name
    if needed and trained_for not in (needed, name):
        cause = f"was trained for {trained_for}, but {name} starts from a {needed} model"
        raise InputError(init, cause, f"Name a run with objective.name {needed}.")
    return init


def begin_with(model: Model, checkpoint: Path, config: Config) -> None:
    """Put a trained model's weights into a fresh one; InputError says what does not fit."""
    trained = load_model(checkpoint)
    ours, theirs = flatten(to_mapping(config.model)), flatten(to_mapping(trained.config))
    for name in ours | theirs:
        if ours.get(name) != theirs.get(name):
            cause = f"was trained with model.{name} = {theirs.get(name)}, not {ours.get(name)}"
            raise InputError(checkpoint, cause, f"Set --model.{name} {theirs.get(name)}, or start from another run.")
    try:
        model.start_from(trained)
    except ValueError as problem:
        raise InputError(checkpoint, str(problem), "Name a run of another objective.") from None


def first_words(checkpoint: Path | None, videos: UsableVideos, config: Config) -> Vocabulary:
    """Those of the model that a run begins with, or of the videos it is trained on."""
    if checkpoint is not None:
        return Vocabulary.load(checkpoint / VOCABULARY)
    return Vocabulary.of_corpus(videos.corpus, videos.ids, config.data)


def check_frame_rates(config: Config, videos: UsableVideos) -> None:
    """A rate at which an objective finds nothing to learn from is a mistake, not a run without effect."""
    spec = spec_of(config.objective)
    for rate in videos.cutter.rates:
        moments = [Moments.of(videos.corpus[video]) for video in videos.ids[:_VIDEOS_ASKED]]
        segments = [next(videos.cutter.consecutive(each, rate)) for each in moments]
        missing = [spec.misses(config.objective, torch.from_numpy(segment.frame_times)) for segment in segments]
        if all(missing):
            remedy = f"Choose a rate that has it (the corpus has {videos.corpus.manifest.fps:g} frames a second)."
            raise InputError("data.frame_rates", f"at {rate:g} frames a second {missing[0]}", remedy)


def _best_of(run: Path, say: Callable[[str], None]) -> Path:
    checkpoints = Checkpoints(run)
    newest = checkpoints.newest(say)
    if newest is None:
        raise InputError(run, "has no checkpoint yet", "Wait for its first, or go on with it by --resume.")
    progress = read_progress(newest)
    return newest if progress.best_score is None else checkpoints.path(progress.best_step)
