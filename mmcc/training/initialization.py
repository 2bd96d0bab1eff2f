"""Initialization of a run: weights and vocabulary of another run, and checks that training can start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch

from mmcc.data.segments import NodeTimes, UsableVideos
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.files import replace_bytes, replace_text
from mmcc.models.registry import CONFIG_FILE, WEIGHTS_FILE, Network, load_network
from mmcc.objectives.spec import spec_of
from mmcc.settings import flatten, to_mapping
from mmcc.training.checkpoints import Checkpoints, damage, read_progress
from mmcc.training.config import Config
from mmcc.training.intact import FOLDER
from mmcc.training.run import CONFIG, VOCABULARY

_VIDEOS_CHECKED = 8  # for the frames that an objective needs; a single one may be unusual


def with_absolute_init(config: Config) -> Config:
    """Make train.init absolute: a run may be resumed from another folder."""
    if config.train.init is None:
        return config
    return replace(config, train=replace(config.train, init=str(Path(config.train.init).absolute())))


def with_own_imports(config: Config, say: Callable[[str], None]) -> Config:
    """The modules that registered the run's objective and encoders, so that whoever loads the run can import them."""
    sections = (config.objective, config.model.frame_encoder, config.model.text_encoder)
    modules = [type(section).__module__ for section in sections]
    own = [module for module in modules if module.split(".")[0] not in ("mmcc", "__main__")]
    if "__main__" in modules:
        say("the run uses code of the main program: put it into a module, or the run can be loaded from there only.")
    return replace(config, imports=tuple(dict.fromkeys([*config.imports, *own])))


def first_weights(config: Config, run: Path, say: Callable[[str], None]) -> Path | None:
    """The checkpoint `train.init` refers to: itself, or a run's best. None if not set, or no longer needed because
    the run has a checkpoint of its own."""
    needed, name = spec_of(config.objective).starts_from, config.objective.name
    if needed and config.train.init is None:
        cause = f"{name} starts from a trained {needed} model, but none is given"
        remedy = f"Train one with --objective.name {needed} first, then pass its run: --train.init RUN."
        raise InputError("train.init", cause, remedy)
    if config.train.init is None or Checkpoints(run).steps():
        return None
    init = Path(config.train.init)
    if not (init / CONFIG_FILE).is_file():
        if not (init / FOLDER).is_dir():
            cause = "is neither a run nor a checkpoint" if init.exists() else "no such folder"
            raise InputError(init, cause, "Give a folder that mmcc train wrote, or one of its checkpoints.")
        init = _best_of(init, say)
    if problem := damage(init, needs=(CONFIG_FILE, WEIGHTS_FILE)):
        raise InputError(init, f"is damaged ({problem})", "Choose another checkpoint.")
    trained_for = Config.from_yaml(init / CONFIG).objective.name
    if needed and trained_for not in (needed, name):
        cause = f"was trained for {trained_for}, but {name} starts from a {needed} model"
        raise InputError(init, cause, f"Choose a run with objective.name {needed}.")
    return init


def initialize(model: Network, checkpoint: Path, config: Config) -> None:
    """Copy a trained model's weights into a new one; InputError says what does not fit."""
    trained = load_network(checkpoint)
    ours, theirs = flatten(to_mapping(config.model)), flatten(to_mapping(trained.config))
    for name in ours | theirs:
        if ours.get(name) != theirs.get(name):
            cause = f"was trained with model.{name} = {theirs.get(name)}, not {ours.get(name)}"
            raise InputError(checkpoint, cause, f"Set --model.{name} {theirs.get(name)}, or start from another run.")
    try:
        model.start_from(trained)
    except ValueError as problem:
        raise InputError(checkpoint, str(problem), "Choose a run of another objective.") from None


def first_words(checkpoint: Path | None, videos: UsableVideos, config: Config) -> Vocabulary:
    """The vocabulary of the model that a run starts from, or that of its training videos."""
    if checkpoint is not None:
        return Vocabulary.load(checkpoint / VOCABULARY)
    return Vocabulary.of_corpus(videos.corpus, videos.ids, config.data)


def own_words(
    run: Path, newest: Path | None, start: Path | None, videos: UsableVideos, config: Config, say: Callable[[str], None]
) -> tuple[str, ...]:
    """The words of a run, which are kept in its folder: those of its newest checkpoint, which has their checksum and
    whose weights belong to them; else built once from the training videos, or taken from the initial run."""
    path = run / VOCABULARY
    if newest is not None:
        words = Vocabulary.load(newest / VOCABULARY).words
        text = (newest / VOCABULARY).read_bytes()
        if not path.is_file() or path.read_bytes() != text:
            say(f"{path}: is not that of the newest checkpoint; it is restored.")
            replace_bytes(path, text)
        return words
    if path.is_file():
        return Vocabulary.load(path).words
    words = first_words(start, videos, config).words
    replace_text(path, "".join(f"{word}\n" for word in words))
    return words


def check_frame_rates(config: Config, videos: UsableVideos) -> None:
    """Refuse a frame rate at which the objective would have nothing to train on."""
    spec = spec_of(config.objective)
    seen = (video for video in videos.ids if len(videos.corpus[video].times))  # others have words only
    nodes = [NodeTimes.of(videos.corpus[video]) for video in islice(seen, _VIDEOS_CHECKED)]
    for rate in videos.cutter.rates:
        segments = [next(videos.cutter.consecutive(each, rate)) for each in nodes]
        missing = [spec.misses(config.objective, torch.from_numpy(segment.frame_times)) for segment in segments]
        if missing and all(missing):
            remedy = f"Choose a higher rate (the corpus has {videos.corpus.manifest.fps:g} frames per second)."
            raise InputError("data.frame_rates", f"at {rate:g} frames per second, {missing[0]}", remedy)


def _best_of(run: Path, say: Callable[[str], None]) -> Path:
    checkpoints = Checkpoints(run)
    newest = checkpoints.newest(say)
    if newest is None:
        raise InputError(run, "has no checkpoint yet", "Wait for the first one, or resume the run with --resume.")
    progress = read_progress(newest)
    return newest if progress.best_score is None else checkpoints.path(progress.best_step)
