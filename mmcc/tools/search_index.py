"""The search index of a corpus: every frame as a model embeds it, built once, memory-mapped.

    index.json    schema, model (name, checksum), corpus, fingerprint, videos (ids), nodes, dims, warnings
    pi.npy        [N, D] float32      future.npy, past.npy   [N, D] float16, for queries by a frame of the corpus
    video.npy     [N] int32           time.npy, frame.npy    [N] float64, int32
    nodes.faiss   above a million nodes, if FAISS is installed

An index belongs to one model and one corpus, and is refused for any other.

Shapes: N nodes, D dims.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus
from mmcc.corpus.format import is_corpus
from mmcc.corpus.index import state_of
from mmcc.errors import InputError
from mmcc.evaluation.search import SearchableNodes
from mmcc.files import is_draft, replace_text, writing
from mmcc.terminal import note
from mmcc.tools.cache import Cache
from mmcc.tools.familiar import domain_warnings
from mmcc.tools.footage import Begin, Footage, open_footage
from mmcc.tools.model import ToolModel
from mmcc.untrusted import read_json, typed

FAISS_ABOVE = 1_000_000  # nodes: up to here an exact search takes a tenth of a second
_LISTS = 1024  # FAISS lists: about the square root of a million
_PROBED = 128  # of them: an eighth has a recall@10 of 0.98 over 52,000 kitchen frames, a sixteenth 0.89
_TRAINED_ON = 40  # nodes per list
_CHECKED = 32  # videos that are compared with the training data
_FACTS = "index.json"
_KINDS = {"model": dict, "corpus": str, "fingerprint": str, "videos": list, "nodes": int, "has_past": bool}
_KINDS |= {"warnings": list}
Progress = Callable[[list[str]], Iterable[str]]


@dataclass(frozen=True)
class Library:
    """What is searched: a corpus, or the videos in a folder."""

    source: Path
    corpus: Corpus | None
    opened: list[Footage]  # of a folder of videos
    fingerprint: str
    skipped: list[Any]
    notes: list[str]

    def footage(self, video: str) -> Footage:
        if self.corpus is not None:
            return Footage(video, None, self.corpus, self.corpus[video])
        return next(each for each in self.opened if each.name == video)


def open_library(model: ToolModel, source: Path, cache: Cache, progress: Begin | None = None) -> Library:
    """Cheap for a corpus; the videos of a folder are read the first time."""
    if is_corpus(source):
        return Library(source, Corpus.open(source), [], state_of(source), [], [])
    opened = open_footage(model, [source], cache, **({"progress": progress} if progress else {}))
    digest = hashlib.sha256("\n".join(each.key for each in opened.footage).encode())
    return Library(source, None, opened.footage, digest.hexdigest(), opened.skipped, opened.notes)


class SearchIndex:
    """An opened index."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder, self.facts = folder, facts
        self.videos: list[str] = facts["videos"]

    @cached_property
    def nodes(self) -> SearchableNodes:
        return SearchableNodes(self._read("pi"), self._read("video"), self._read("time"))

    @cached_property
    def frame(self) -> NDArray[np.int32]:
        frames: NDArray[np.int32] = self._read("frame")
        return frames

    @cached_property
    def future(self) -> NDArray[np.float16]:
        future: NDArray[np.float16] = self._read("future")
        return future

    @cached_property
    def past(self) -> NDArray[np.float16] | None:
        return self._read("past") if self.facts["has_past"] else None

    def node_at(self, video: str, time: float) -> int:
        """The node of a video that is nearest to a time."""
        first, last = np.searchsorted(self.nodes.video, [self.videos.index(video), self.videos.index(video) + 1])
        times = self.nodes.time[first:last]
        if time > float(times[-1]) + 60:
            cause = f"ends at {float(times[-1]):.0f} s, before {time:g} s"
            raise InputError(video, cause, "Choose a time within it.")
        return int(first + np.abs(times - time).argmin())

    def _read(self, name: str) -> Any:
        path = self.folder / f"{name}.npy"
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
            if len(array) != self.facts["nodes"]:
                raise ValueError(f"{len(array)} rows of {self.facts['nodes']}")
        except (OSError, ValueError) as error:
            raise InputError(path, f"cannot be read ({error})", "Build it again with --rebuild.") from None
        return array


def open_index(
    model: ToolModel,
    library: Library,
    cache: Cache,
    *,
    folder: Path | None = None,
    rebuild: bool = False,
    progress: Progress | None = None,
) -> SearchIndex:
    """The index in a folder (by default in the cache), built if there is none."""
    place = folder or cache.place("search", [model.checksum, library.fingerprint])
    facts = None if rebuild else _facts(place)
    if facts is None:
        if folder and not rebuild and folder.is_dir() and not all(map(is_draft, folder.iterdir())):
            raise InputError(folder, "contains something other than an index", "Choose an empty folder, or a new one.")
        facts = build_index(place, model, library, cache, progress)
        if folder is None:
            cache.make_room(sum(path.stat().st_size for path in place.iterdir()))
    _check(place, facts, model, library)
    cache.use(place)
    return SearchIndex(place, facts)


def _facts(folder: Path) -> dict[str, Any] | None:
    path = folder / _FACTS
    if not path.is_file():
        return None
    try:
        facts = read_json(path, dict)
        if typed(facts, "schema", int) != 1:
            raise ValueError("it is of another version")
        for name, kind in _KINDS.items():
            typed(facts, name, kind)
        for name in ("name", "checksum"):
            typed(facts["model"], name, str)
        if not all(isinstance(each, str) for each in (*facts["videos"], *facts["warnings"])):
            raise ValueError("its videos and warnings should be text")
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Build it again with --rebuild.") from None
    return dict(facts)


def _check(folder: Path, facts: dict[str, Any], model: ToolModel, library: Library) -> None:
    remedy = "Build it again with --rebuild, or choose another folder with --index."
    if facts["model"]["checksum"] != model.checksum:
        theirs, ours = facts["model"]["checksum"][:12], model.checksum[:12]
        cause = f"was built with another model ({facts['model']['name']}, {theirs}) than {model.name} ({ours})"
        raise InputError(folder, cause, remedy)
    if facts["fingerprint"] != library.fingerprint:
        cause = (
            f"was built from an earlier state of {facts['corpus']}"
            if facts["corpus"] == str(library.source)
            else (f"was built from {facts['corpus']}, not from {library.source}")
        )
        raise InputError(folder, cause, remedy)


def build_index(
    folder: Path, model: ToolModel, library: Library, cache: Cache, progress: Progress | None = None
) -> dict[str, Any]:
    """Embed every frame and write the index in one go: a folder holds a whole index or none."""
    footage = library.opened or open_footage(model, [library.source], cache).footage
    lengths = [len(each.video.times) for each in footage]
    cache.make_folder(folder.parent)
    with writing(folder):
        draft = Path(mkdtemp(prefix=".tmp-", dir=folder.parent))
    try:
        has_past, dims = _fill(draft, model, footage, lengths, cache, progress)
        facts = {
            "schema": 1,
            "model": {"name": model.name, "checksum": model.checksum},
            "corpus": str(library.source),
            "fingerprint": library.fingerprint,
            "videos": [each.name for each in footage],
            "nodes": sum(lengths),
            "dims": dims,
            "has_past": has_past,
            "warnings": domain_warnings(model, footage[:: -(-len(footage) // _CHECKED)], cache),
        }
        if sum(lengths) > FAISS_ABOVE:
            _add_faiss(draft)
        replace_text(draft / _FACTS, json.dumps(facts))
        shutil.rmtree(folder, ignore_errors=True)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return facts


def _fill(
    draft: Path,
    model: ToolModel,
    footage: Sequence[Footage],
    lengths: Sequence[int],
    cache: Cache,
    progress: Progress | None,
) -> tuple[bool, int]:
    """Write the arrays; returns whether the model has a past, and the dims of its space."""
    import torch

    from mmcc.evaluation.adapter import Embedding
    from mmcc.evaluation.calibration import clip_evidence

    np.save(draft / "video.npy", np.repeat(np.arange(len(footage), dtype=np.int32), lengths))
    np.save(draft / "time.npy", np.concatenate([each.video.times for each in footage]))
    np.save(draft / "frame.npy", np.concatenate([np.arange(length, dtype=np.int32) for length in lengths]))
    filled: dict[str, Any] = {}
    first = 0
    numbers = [str(number) for number in range(len(footage))]
    for number in progress(numbers) if progress else numbers:
        seen = footage[int(number)].embedding(model, cache).arrays
        node = Embedding(torch.from_numpy(seen["z"]), torch.from_numpy(seen["pi"]))
        with torch.inference_mode():
            future, pi, *past = clip_evidence(model.adapter, node)
        kinds = {"pi": pi, "future": future} | ({"past": past[0]} if past else {})
        for name, kind in kinds.items():
            if name not in filled:
                form = np.float32 if name == "pi" else np.float16
                shape = (sum(lengths), kind.shape[1])
                filled[name] = np.lib.format.open_memmap(draft / f"{name}.npy", "w+", form, shape)
            filled[name][first : first + len(kind)] = kind.numpy()
        first += len(pi)
    for array in filled.values():
        array.flush()
    return "past" in filled, int(filled["pi"].shape[1])


def _add_faiss(folder: Path) -> None:
    if not has_faiss():
        note("more than a million frames: pip install 'mmcc[search]' makes search faster")
        return
    faiss = import_module("faiss")
    nodes = np.load(folder / "pi.npy", mmap_mode="r", allow_pickle=False)
    faiss.write_index(make_faiss(nodes), str(folder / "nodes.faiss"))


def has_faiss() -> bool:
    return importlib.util.find_spec("faiss") is not None


def make_faiss(pi_ND: NDArray[np.float32], lists: int = _LISTS, probed: int = _PROBED) -> Any:
    """Nodes in lists of near ones; a query looks into the nearest lists."""
    faiss = import_module("faiss")
    index = faiss.index_factory(pi_ND.shape[1], f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT)
    every = max(1, len(pi_ND) // (_TRAINED_ON * lists))
    index.train(np.ascontiguousarray(pi_ND[::every]))
    for first in range(0, len(pi_ND), 1 << 16):
        index.add(np.ascontiguousarray(pi_ND[first : first + (1 << 16)]))
    index.nprobe = probed
    return index


def open_faiss(folder: Path) -> Any | None:
    """None without such an index, or without FAISS: the search is exact then."""
    path = folder / "nodes.faiss"
    if not path.is_file() or not has_faiss():
        return None
    faiss = import_module("faiss")
    return faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
