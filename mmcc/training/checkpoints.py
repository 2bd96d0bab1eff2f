"""Checkpoints that are either complete or absent.

    checkpoints/00000500/
        config.json, model.safetensors      what MMCC.from_pretrained reads
        config.yaml, vocabulary.txt         the run's settings and words
        corpus.json                         what it was trained on
        training_state.safetensors          the optimizer's tensors, named <parameter>/<state>
        training_state.json                 the counters
        environment.json                    threads, versions, kind of machine
        manifest.json                       sha256 of each of them, written last
    checkpoints.json                        sha256 of the manifest of each checkpoint

A folder is written under another name, flushed to disk and renamed; one without a manifest, or whose files do not
match it, is damaged. It contains no pickle. All randomness follows from (seed, sample), so weights, optimizer and
counters are the whole state.

The list of checkpoints is written after a checkpoint has its name, and before older ones are removed: whatever it
lists was there, and what it does not list may be there all the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as serialize
from torch import Tensor, nn
from torch.optim import Optimizer

from mmcc.checksums import MANIFEST, checksum, damage_of, seal
from mmcc.errors import InputError, OutputError
from mmcc.files import flush_to_disk, replace_text, sync_folder, writing
from mmcc.training.intact import COUNTERS, FOLDER, LIST, STATE, listed_checkpoints
from mmcc.untrusted import read_json, typed

_MODEL = "model.safetensors"
RESUMED = (_MODEL, STATE, COUNTERS)  # what a run is resumed from
_LEFTOVERS = (".tmp-", ".old-")  # of an interrupted save or removal


class Pretrained(Protocol):
    """A model that writes itself as config.json and model.safetensors."""

    def save_pretrained(self, path: Path, /) -> None: ...


@dataclass
class TrainingProgress:
    """How far a run is: the counters of a checkpoint."""

    step: int = 0
    validated: int = 0  # the last step after which the model was validated
    best_step: int = 0
    best_score: float | None = None
    samples: str = ""  # fingerprint of the training videos: shows whether the corpus has changed
    frames: int = 0  # so far
    seconds: float = 0.0  # of training so far
    metrics: str = ""  # checksum and bytes of metrics.jsonl so far


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, run: Path, keep: int = 2) -> None:
        self.run, self.folder, self.keep = run, run / FOLDER, keep

    def steps(self) -> list[int]:
        """The steps that have a folder, damaged or not, ascending."""
        if not self.folder.is_dir():
            return []
        return sorted(int(path.name) for path in self.folder.iterdir() if path.is_dir() and path.name.isdecimal())

    def path(self, step: int) -> Path:
        return self.folder / f"{step:08d}"

    def save(
        self,
        model: Pretrained,
        tensors: Mapping[str, Tensor],
        progress: TrainingProgress,
        texts: Mapping[str, str],
    ) -> Path:
        """Write the checkpoint of `progress.step`, then remove those that are no longer kept.

        If writing fails, earlier checkpoints stay intact, and OutputError is raised.
        """
        final = self.path(progress.step)
        temporary = self.folder / f".tmp-{final.name}"
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self.sweep()
        try:
            with writing(final):
                temporary.mkdir()
                model.save_pretrained(temporary)
                whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
                (temporary / STATE).write_bytes(serialize(whole))  # by Python: a full disk is an OSError like any other
                for name, text in {**texts, COUNTERS: json.dumps(asdict(progress), indent=1)}.items():
                    (temporary / name).write_text(text, encoding="utf-8")
                written = sorted(temporary.iterdir())
                for path in written:
                    flush_to_disk(path)
                seal(temporary, [path.name for path in written])
                if final.exists():  # saved again after resuming from an earlier one, or damaged
                    final.rename(self.folder / f".old-{final.name}")
                temporary.rename(final)
                sync_folder(self.folder)
        except OutputError:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        earlier = [step for step in self.steps() if step <= progress.step]
        self._keep({*earlier[-self.keep :], progress.best_step}, progress.step)
        return final

    def newest(self, say: Callable[[str], None]) -> Path | None:
        """The newest intact checkpoint; damaged and missing ones are skipped, each with a message."""
        present = self.steps()
        listed = self._listed(say)
        for step in sorted({*present, *listed} if present else (), reverse=True):
            problem = damage(self.path(step), listed.get(step))
            if problem is None:
                return self.path(step)
            say(f"{self.path(step)}: damaged ({problem}); falling back to the previous checkpoint.")
        if present:
            cause = f"none of its {len(present)} checkpoints is intact"
            raise InputError(self.folder, cause, "Restore one from a backup, or train in another folder.")
        return None

    def _listed(self, say: Callable[[str], None]) -> dict[int, str]:
        try:
            return listed_checkpoints(self.run)
        except InputError as error:  # each checkpoint has a manifest of its own
            say(f"{error.path}: {error.cause}; it is written again with the next checkpoint.")
            return {}

    def sweep(self) -> None:
        """Remove what an interrupted save or removal left."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name.startswith(_LEFTOVERS):
                shutil.rmtree(path, ignore_errors=True)

    def _keep(self, kept: set[int], written: int) -> None:
        """List these, then remove all others: older ones, and later ones, which predate a fallback."""
        with writing(self.folder):
            listed = self._listed(lambda line: None)
            listed.pop(written, None)  # of an earlier attempt; others stay as they were when they were written
            for step in kept & {*self.steps()}:
                if (manifest := self.path(step) / MANIFEST).is_file():
                    listed.setdefault(step, checksum(manifest))
            known = {f"{step:08d}": listed[step] for step in sorted(listed.keys() & kept)}
            replace_text(self.run / LIST, json.dumps(known, indent=1) + "\n")
            for step in self.steps():
                if step not in kept:
                    self.path(step).rename(self.folder / f".old-{step:08d}")
        self.sweep()


def damage(checkpoint: Path, listed: str | None = None, *, needs: Collection[str] = RESUMED) -> str | None:
    """What is wrong with a checkpoint, or None. `listed`: the checksum of its manifest, where the run lists it."""
    problem = damage_of(checkpoint, needs=needs)
    if problem is None and listed is not None and checksum(checkpoint / MANIFEST) != listed:
        return f"{MANIFEST} is that of another checkpoint"
    return str(problem) if problem else None


def read_progress(checkpoint: Path) -> TrainingProgress:
    """Its counters; InputError where they cannot be read."""
    path, usual = checkpoint / COUNTERS, asdict(TrainingProgress())
    usual.pop("best_score")  # a number, or null
    try:
        content = read_json(path, dict)
        score = typed(content, "best_score", float, optional=True) if "best_score" in content else None
        counters: dict[str, Any] = {name: typed(content, name, type(usual[name])) for name in content if name in usual}
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Resume from another checkpoint.") from None
    return TrainingProgress(**counters, best_score=score)


def load(checkpoint: Path, model: nn.Module, optimizer: Optimizer) -> TrainingProgress:
    """Load a checked checkpoint's tensors, and return its counters."""
    try:
        model.load_state_dict(load_file(checkpoint / _MODEL))
        with torch.no_grad():
            load_optimizer(optimizer, model, load_file(checkpoint / STATE))
    except (SafetensorError, RuntimeError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        remedy = "Resume with the run's original settings and version of mmcc."
        raise InputError(checkpoint, f"does not fit the model: {first}", remedy) from None
    return read_progress(checkpoint)


def optimizer_tensors(optimizer: Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """The optimizer's state as flat tensors, named after the parameters."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"{name}/{key}"] = value
    return tensors


def load_optimizer(optimizer: Optimizer, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """The inverse of `optimizer_tensors`. A parameter that never had a gradient has no state."""
    parameters = dict(model.named_parameters())
    places = {id(p): i for i, p in enumerate(p for group in optimizer.param_groups for p in group["params"])}
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        owner, _, key = name.rpartition("/")
        if owner not in parameters:
            raise KeyError(f"the optimizer's state names {owner!r}, which the model does not have")
        parameter = parameters[owner]
        if tensor.ndim:  # in the parameter's memory layout, which fused Adam requires
            tensor = torch.empty_like(parameter).copy_(tensor)
        state.setdefault(places[id(parameter)], {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
