"""The search index of a corpus: every frame as a model embeds it, built once, read in parts.

    index.json    schema, model (name, checksum), corpus, fingerprint, videos (ids), nodes, dims, warnings
    pi.npy        [N, D] float32      future.npy, past.npy   [N, D] float16, for queries by a frame of the corpus
    video.npy     [N] int32           time.npy, frame.npy    [N] float64, int32
    nodes.faiss, nodes.lists, *.npy.crc   above a million nodes, if FAISS is installed: see nearest.py, stored_rows.py
    manifest.json checksums of all of them

An index belongs to one model and one corpus, and is refused for any other. A damaged one in the cache is built again.
Neither building it nor searching takes memory for all videos at once. A build that was stopped continues where it was,
in a folder beside the index.

Shapes: N nodes, D dims.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.checksums import MANIFEST, damage_of, damages, quick_checksum, read_manifest, seal
from mmcc.corpus import Corpus
from mmcc.corpus.format import is_corpus
from mmcc.corpus.index import state_of
from mmcc.engines.base import Engine
from mmcc.errors import InputError, MissingDependency
from mmcc.evaluation.search import SearchableNodes
from mmcc.files import flush_to_disk, is_draft, make_folder, replace_text, sync_folder, writing
from mmcc.locks import LOCK, only_writer
from mmcc.terminal import note
from mmcc.text import counted
from mmcc.tools import nearest
from mmcc.tools.cache import Cache
from mmcc.tools.familiar import domain_warnings
from mmcc.tools.footage import Begin, Footage, footage_of, open_footage, videos_with_frames
from mmcc.tools.model import ToolModel
from mmcc.tools.nearest import Nearest, has_faiss
from mmcc.tools.nearest_jobs import compress_by
from mmcc.tools.stored_rows import AppendedRows, CheckedRows, StoredRows, checksums_path, write_checksums
from mmcc.untrusted import read_json, typed

FAISS_ABOVE = 1_000_000  # nodes: up to here an exact search takes a tenth of a second
_CHECKED = 32  # videos that are compared with the training data
_AT_ONCE = 256  # videos of a corpus that is being indexed: opening it again takes as long as embedding one of them
_FACTS, _STATE = "index.json", "building.json"
FILES = (_FACTS, "pi.npy", "future.npy", "video.npy", "time.npy", "frame.npy")
_REBUILD = "Build it again with --rebuild."
_KINDS = {"model": dict, "corpus": str, "fingerprint": str, "videos": list, "nodes": int, "has_past": bool}
_KINDS |= {"warnings": list}
Progress = Callable[[list[str]], Iterable[str]]
Begun = Callable[[], AbstractContextManager[Engine]]  # an engine, for the time of a build


@dataclass(frozen=True)
class Library:
    """What is searched: a corpus, or the videos in a folder."""

    source: Path
    corpus: Corpus | None
    opened: list[Footage]  # of a folder of videos
    fingerprint: str
    skipped: list[Any]
    notes: list[str]

    def videos(self, model: ToolModel) -> list[str]:
        """Their names, by which `footage` finds them."""
        return [each.name for each in self.opened] if self.corpus is None else videos_with_frames(model, self.corpus)

    def footage(self, video: str) -> Footage:
        if self.corpus is not None:
            return footage_of(self.corpus, video)
        return next(each for each in self.opened if each.name == video)

    def anew(self) -> Library:
        """The same without what was read so far: a corpus keeps the narration of thousands of videos it was asked
        for, which is of use when they are asked for again."""
        return replace(self, corpus=Corpus.open(self.source)) if self.corpus is not None else self


def open_library(model: ToolModel, source: Path, cache: Cache, progress: Begin | None = None) -> Library:
    """Cheap for a corpus; the videos of a folder are read the first time."""
    if is_corpus(source):
        return Library(source, Corpus.open(source), [], state_of(source), [], [])
    opened = open_footage(model, [source], cache, **({"progress": progress} if progress else {}))
    digest = hashlib.sha256("\n".join(each.key for each in opened.footage).encode())
    return Library(source, None, opened.footage, digest.hexdigest(), opened.skipped, opened.notes)


class SearchIndex:
    """An opened index."""

    def __init__(self, folder: Path, facts: dict[str, Any], unchecked: Mapping[str, str]) -> None:
        """`unchecked`: checksums of the files that have yet to be compared with theirs."""
        self.folder, self.facts, self._unchecked = folder, facts, unchecked
        self.videos: list[str] = facts["videos"]
        self._opened: dict[str, StoredRows] = {}

    @cached_property
    def nodes(self) -> SearchableNodes:
        return SearchableNodes(self._rows("pi"), self._read("video"), self._read("time"))

    @cached_property
    def frame(self) -> NDArray[np.int32]:
        frames: NDArray[np.int32] = self._read("frame")
        return frames

    @cached_property
    def future(self) -> StoredRows:
        return self._rows("future")

    @cached_property
    def past(self) -> StoredRows | None:
        return self._rows("past") if self.facts["has_past"] else None

    @cached_property
    def nearest(self) -> Nearest | None:
        """None without such an index, or without FAISS: the search is exact then."""
        if not (self.folder / nearest.LISTS).is_file() or not has_faiss():
            return None
        for name in (nearest.INDEX, nearest.LISTS):
            self._require_intact(name)
        return Nearest(self.folder)

    def of_nodes(self, name: str, places: NDArray[np.int64]) -> NDArray[Any]:
        """Of some nodes: `pi`, `video`, `time` or `frame`. Where there are many, only what is asked for is read."""
        if self.nearest is not None or name == "pi":
            return self._rows(name).take(places)
        whole: NDArray[Any] = self.frame if name == "frame" else getattr(self.nodes, name)
        return whole[places]

    def node_at(self, video: str, time: float) -> int:
        """The node of a video that is nearest to a time."""
        number, videos = self.videos.index(video), self._rows("video")
        first, last = bisect_left(videos, number), bisect_left(videos, number + 1)
        times = self._rows("time")[first:last]
        if time > float(times[-1]) + 60:
            cause = f"ends at {float(times[-1]):.0f} s, before {time:g} s"
            raise InputError(video, cause, "Choose a time within it.")
        return int(first + np.abs(times - time).argmin())

    def _read(self, name: str) -> Any:
        """A whole array: as long as there are nodes, but narrow."""
        return self._rows(name)[:]

    def _rows(self, name: str) -> StoredRows:
        if name not in self._opened:
            self._opened[name] = self._open_rows(self.folder / f"{name}.npy")
        return self._opened[name]

    def _open_rows(self, path: Path) -> StoredRows:
        in_blocks = checksums_path(path).is_file()
        self._require_intact(checksums_path(path).name if in_blocks else path.name)
        try:
            rows = CheckedRows(path) if in_blocks else StoredRows(path)
            if len(rows) != self.facts["nodes"]:
                raise ValueError(f"{len(rows)} rows of {self.facts['nodes']}")
        except (OSError, ValueError) as error:
            raise InputError(path, f"cannot be read ({error})", _REBUILD) from None
        return rows

    def _require_intact(self, name: str) -> None:
        """When it is first used: an index has gigabytes, and a question reads a part of it."""
        for problem in damages(self.folder, self._unchecked, without=self._unchecked.keys() - {name}):
            raise InputError(self.folder / problem.name, f"{problem.cause}: it is damaged", _REBUILD)


def open_index(
    model: ToolModel,
    library: Library,
    cache: Cache,
    *,
    folder: Path | None = None,
    rebuild: bool = False,
    progress: Progress | None = None,
    engine: Begun | None = None,
) -> SearchIndex:
    """The index in a folder (by default in the cache), built if there is none. `engine`: whose workers compress."""
    place = folder or cache.place("search", [model.checksum, library.fingerprint])
    if folder is None and place.is_dir() and (problem := damage_of(place, needs=FILES)):
        note(f"{place}: damaged ({problem}); it is built again.")
        rebuild = True
    facts = None if rebuild else _facts(place)
    if facts is None:
        if folder and not rebuild and folder.is_dir() and not all(map(is_draft, folder.iterdir())):
            raise InputError(folder, "contains something other than an index", "Choose an empty folder, or a new one.")
        facts = build_index(place, model, library, cache, progress, engine)
        if folder is None:
            cache.make_room(sum(path.stat().st_size for path in place.iterdir()))
    _check(place, facts, model, library)
    cache.use(place)
    return SearchIndex(place, facts, (read_manifest(place) or {}) if folder else {})


def _facts(folder: Path) -> dict[str, Any] | None:
    path = folder / _FACTS
    if not path.is_file() and not (folder / MANIFEST).is_file():
        return None
    others = [each.name for each in folder.iterdir() if each.name != _FACTS]
    if problem := damage_of(folder, others, needs=FILES):
        raise InputError(folder / problem.name, f"{problem.cause}: it is damaged, or of an earlier version", _REBUILD)
    return parse_facts(path)


def parse_facts(path: Path) -> dict[str, Any]:
    """What an index says about itself, of the right types."""
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
        raise InputError(path, f"cannot be read ({error})", _REBUILD) from None
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
    folder: Path,
    model: ToolModel,
    library: Library,
    cache: Cache,
    progress: Progress | None = None,
    engine: Begun | None = None,
) -> dict[str, Any]:
    """Embed every frame and write the index: a folder holds a whole index or none."""
    if engine and not has_faiss():
        raise MissingDependency("An index is built by workers with FAISS, which is not installed.", "search")
    videos = library.videos(model)
    cache.make_folder(folder.parent)
    of = f"{model.checksum} {library.fingerprint}"
    # The engine comes first: that nobody answers at its address is to be known now, not when all is embedded.
    with engine() if engine else nullcontext() as workers, _building(folder, of) as draft:
        with writing(folder):
            nodes, has_past, dims = _fill(draft, of, model, library, videos, cache, progress)
        facts = {
            "schema": 1,
            "model": {"name": model.name, "checksum": model.checksum},
            "corpus": str(library.source),
            "fingerprint": library.fingerprint,
            "videos": videos,
            "nodes": nodes,
            "dims": dims,
            "has_past": has_past,
            "warnings": domain_warnings(
                model, [library.footage(each) for each in videos[:: -(-len(videos) // _CHECKED)]], cache
            ),
        }
        with writing(folder):
            if nodes > FAISS_ABOVE:
                _add_nearest(draft, progress, workers)
            elif workers:
                note(f"{counted(nodes, 'frame')}: up to {FAISS_ABOVE:,} nothing is compressed, so no worker had work.")
            (draft / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
            for name in (LOCK, _STATE):
                (draft / name).unlink(missing_ok=True)
            names = [path.name for path in draft.iterdir()]
            for name in names:
                flush_to_disk(draft / name)
            seal(draft, names, quick_checksum)
            shutil.rmtree(folder, ignore_errors=True)
            draft.replace(folder)
            sync_folder(folder.parent)
    return facts


@contextmanager
def _building(folder: Path, of: str) -> Iterator[Path]:
    """A folder to build in: the one that a stopped build of the same has left, or a new one. What is worth continuing
    stays there when a build is stopped."""
    draft = folder.with_name(f".tmp-{folder.name}")
    with ExitStack() as stack:
        try:
            with writing(folder):
                make_folder(draft)
            stack.enter_context(only_writer(draft))
        except InputError:  # somebody else is building it: each to his own
            with writing(folder):
                draft = Path(mkdtemp(prefix=".tmp-", dir=folder.parent))
        if _state(draft).get("of") != of:
            for path in (each for each in draft.iterdir() if each.name != LOCK):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        try:
            yield draft
        finally:
            if not _state(draft):
                shutil.rmtree(draft, ignore_errors=True)


def _state(draft: Path) -> dict[str, Any]:
    """How far a build has come; empty if nothing of it can be used."""
    try:
        state = read_json(draft / _STATE, dict)
        for name, kind in (("of", str), ("videos", int), ("nodes", int)):
            typed(state, name, kind)
        return state
    except (OSError, ValueError):
        return {}


def _fill(
    draft: Path,
    of: str,
    model: ToolModel,
    library: Library,
    videos: Sequence[str],
    cache: Cache,
    progress: Progress | None,
) -> tuple[int, bool, int]:
    """Write the arrays, a video at a time; returns the number of nodes, whether the model has a past, and the dims of
    its space."""
    import torch

    from mmcc.evaluation.adapter import Embedding
    from mmcc.evaluation.calibration import clip_evidence

    state = _state(draft)
    numbers = [str(number) for number in range(state.get("videos", 0), len(videos))]
    with ExitStack() as stack:
        filled: dict[str, AppendedRows] = {}
        for number in progress(numbers) if progress else numbers:
            comes_last = int(number) + 1 == len(videos)
            if int(number) % _AT_ONCE == 0:
                library = library.anew()
            if filled and (int(number) % _AT_ONCE == 0 or (comes_last and filled["pi"].rows > FAISS_ABOVE)):
                _note_state(draft, filled, of, int(number))
            footage = library.footage(videos[int(number)])
            seen = footage.embedding(model, cache).arrays
            node = Embedding(torch.from_numpy(seen["z"]), torch.from_numpy(seen["pi"]))
            with torch.inference_mode():
                future, pi, *past = clip_evidence(model.adapter, node)
            times = np.asarray(footage.video.times, np.float64)
            kinds: dict[str, NDArray[Any]] = {
                "pi": pi.numpy().astype(np.float32),
                "future": future.numpy().astype(np.float16),
                "video": np.full(len(times), int(number), np.int32),
                "time": times,
                "frame": np.arange(len(times), dtype=np.int32),
            }
            if past:
                kinds["past"] = past[0].numpy().astype(np.float16)
            for name, rows in kinds.items():
                if name not in filled:
                    appended = AppendedRows(draft / f"{name}.npy", rows, state.get("nodes", 0))
                    filled[name] = stack.enter_context(appended)
                filled[name].append(rows)
        return filled["pi"].rows, "past" in filled, int(filled["pi"].width[0])


def _note_state(draft: Path, filled: Mapping[str, AppendedRows], of: str, videos: int) -> None:
    """So many videos are on the disk, whatever happens now. The last one never is: there is one left to do."""
    for rows in filled.values():
        rows.flush()
    replace_text(draft / _STATE, json.dumps({"of": of, "videos": videos, "nodes": filled["pi"].rows}))


def _add_nearest(draft: Path, progress: Progress | None, workers: Engine | None) -> None:
    """What makes a search over many frames fast, and what makes it sure of the few that it reads."""
    if not has_faiss():
        note("more than a million frames: pip install 'mmcc[search]' makes search faster")
        return
    compress = partial(compress_by, workers, draft / "pi.npy") if workers else None
    pi = StoredRows(draft / "pi.npy")
    nearest.build(draft, pi, progress=progress, compress=compress, shard_nodes=nearest.SHARD_NODES)
    for path in sorted(draft.glob("*.npy")):
        write_checksums(path)
