"""The public API: a trained model and what it can be asked, training, evaluation. `import mmcc` gives these names.

Shapes: P frames or texts, H × W pixels, F feature dims, D dims.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.corpus.source import Skipped
from mmcc.errors import UsageError
from mmcc.evaluation.adapter import Embedding, TextAdapter
from mmcc.evaluation.evaluate import Evaluation
from mmcc.evaluation.evaluate import evaluate as run_evaluation
from mmcc.models.nodes import TEXT
from mmcc.storage import place
from mmcc.tools.anticipate import CALIBRATION, RankedSteps, anticipate, look_over_clip, open_clip
from mmcc.tools.cache import Cache
from mmcc.tools.cycles import Walk, find_cycles
from mmcc.tools.familiar import domain_warnings
from mmcc.tools.footage import Begin, Footage, at_size, open_footage
from mmcc.tools.library import VideoLibrary, open_videos
from mmcc.tools.model import ToolModel, open_model
from mmcc.tools.orders import Unshuffled, UnshuffleResult
from mmcc.tools.queries import look_over_photo
from mmcc.tools.search import Searcher, SearchResult
from mmcc.tools.search_index import open_index, open_library
from mmcc.tools.transitions import GAP, Change, VideoChanges, find_changes
from mmcc.tools.unshuffle import unshuffle
from mmcc.tools.walks import FreeWalk, SeenVideo, WalkSettings, see, walk
from mmcc.training.config import Config, load_config
from mmcc.training.loop import TrainReport
from mmcc.training.loop import train as run_training

if TYPE_CHECKING:
    from mmcc.evaluation.adapter import ModelAdapter

PathLike = str | Path
Progress = Callable[[list[str]], Iterable[str]]  # wraps what is iterated over


class Model:
    """A trained model. What it computes for a video is cached, so repeated questions return immediately.

    >>> model = load_model("kitchen")
    >>> model.name, model.size
    ('kitchen', 48)
    """

    def __init__(self, opened: ToolModel, cache: Cache) -> None:
        self._opened, self._cache = opened, cache

    @property
    def name(self) -> str:
        """As it was named when it was loaded."""
        return self._opened.name

    @property
    def folder(self) -> Path:
        """The checkpoint's folder."""
        return self._opened.folder

    @property
    def size(self) -> int:
        """The side of the pictures it was trained on, in pixels."""
        return self._opened.size

    @property
    def note(self) -> str | None:
        """What had to be assumed about it, for people."""
        return self._opened.note or None

    @property
    def calibrated(self) -> bool:
        """Whether it comes with a calibration of its probabilities."""
        return (self.folder / CALIBRATION).is_file()

    @property
    def reads_pictures(self) -> bool:
        """Whether it can be asked about photos: a model of feature vectors cannot."""
        return not self._opened.feature_dims

    @property
    def adapter(self) -> ModelAdapter:
        """The model as evaluation tasks use it."""
        return self._opened.adapter

    def embed_frames(self, frames: Tensor | np.ndarray[Any, Any]) -> Embedding:
        """Pictures [P, H, W, 3] uint8 of any size, or feature vectors [P, F], as `z` and unit-norm `pi`, [P, D] each.

        >>> import numpy as np
        >>> nodes = load_model("kitchen").embed_frames(np.zeros((2, 96, 96, 3), np.uint8))
        >>> nodes.z.shape, nodes.pi.shape
        (torch.Size([2, 128]), torch.Size([2, 128]))
        """
        given = torch.as_tensor(frames)
        if given.dtype == torch.uint8 and not self._opened.feature_dims:
            given = at_size(given, self.size)
        return self.adapter.embed_frames(given)

    def embed_texts(self, texts: Sequence[str]) -> Embedding:
        """Texts in the same space as frames; UsageError where the model reads no text.

        >>> model = load_model("kitchen")
        >>> model.embed_texts(["crack the egg", "pour the milk"]).pi.shape
        torch.Size([2, 128])
        """
        if TEXT not in self.adapter.modalities:
            raise UsageError(f"{self.name} reads no text.")
        return cast(TextAdapter, self.adapter).embed_texts(texts)

    def future(self, nodes: Embedding) -> Tensor:
        """Where the futures of nodes lie: unit-norm π [P, D], to be compared with `pi` of frames or texts.

        >>> model = load_model("kitchen")
        >>> texts = model.embed_texts(["crack the egg", "flip the pancake"])
        >>> model.future(texts) @ texts.pi.T  # doctest: +ELLIPSIS
        tensor([[...]])
        """
        return self.adapter.future(nodes)

    def transitions(
        self,
        *videos: PathLike | Footage,
        top: int = 10,
        gap: float = GAP,
        any_direction: bool = False,
        keep_blank: bool = False,
    ) -> list[Change]:
        """The clearest before → after pairs, at least `gap` seconds apart, over all videos, best first. Blank frames,
        fades and titles are left out unless `keep_blank`.

        >>> change = load_model("kitchen").transitions("soup.mp4", top=1)[0]
        >>> change.from_time < change.to_time
        True
        """
        found = find_changes(
            self._opened,
            self._footage(videos),
            self._cache,
            top=top,
            gap=gap,
            any_direction=any_direction,
            keep_blank=keep_blank,
        )
        return found.best(top)

    def changes(self, video: PathLike | Footage, *, top: int = 10) -> VideoChanges:
        """The pairs of one video with its narration, as chapters and guides are made of them."""
        return find_changes(self._opened, self._footage([video]), self._cache, top=top).videos[0]

    def order(self, photos: PathLike | Iterable[PathLike], *, texts: Sequence[str] | None = None) -> Unshuffled:
        """Photos, a folder of them, or the clips of one video, in the order in which things happened.

        `texts` describe the photos, one each, in the order given (in a folder: of their names); the order is then
        judged from both.

        >>> found = load_model("kitchen").order("photos")
        >>> [photo.name for photo in found.ordered]  # doctest: +ELLIPSIS
        ['...', '...', '...']
        >>> 0 <= found.found.confidence <= 1
        True
        """
        found = self.unshuffle(photos, texts=texts)
        _warn(found.warnings, found.skipped)
        if len(found.sets) != 1:
            raise UsageError(f"{len(found.sets)} sets were named; order one at a time.")
        return found.sets[0]

    def unshuffle(
        self,
        photos: PathLike | Iterable[PathLike],
        *,
        texts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> UnshuffleResult:
        """The same for any number of sets, with what was skipped and the warnings as data. `progress` wraps the photos
        that are read, as tqdm does."""
        sources = [photos] if isinstance(photos, str | Path) else list(photos)
        return unshuffle(self._opened, [place(each) for each in sources], self._cache, texts=texts, progress=progress)

    def anticipate(
        self, clip: PathLike | Footage, steps: Sequence[str], *, start: float | None = None, end: float | None = None
    ) -> RankedSteps:
        """Steps by the probability that they are still to come after a clip: a photo, a video (by default its last
        20 s) or CORPUS:ID.

        >>> ranked = load_model("kitchen").anticipate("soup.mp4", ["crack the egg", "serve the soup"])
        >>> [text for text, probability in ranked.steps]  # doctest: +ELLIPSIS
        [...]
        """
        seen = (
            look_over_clip(self._opened, clip, self._cache, start=start, end=end)
            if isinstance(clip, Footage)
            else open_clip(self._opened, str(clip), self._cache, start=start, end=end)
        )
        return anticipate(self._opened, seen, steps, self._cache)

    def cycle(self, video: PathLike | Footage, start: float, *, modality: str = "vision") -> Walk:
        """The cycle from the frame (or utterance: modality "text") nearest to a time in seconds.

        >>> walk = load_model("kitchen").cycle("soup.mp4", 10)
        >>> list(walk.stations)[:1], walk.returns in (True, False)
        (['start'], True)
        """
        found = find_cycles(self._opened, self._footage([video]), self._cache, modality=modality, start=start)
        return found.from_time(start)[0]

    def walk(
        self,
        video: PathLike | Footage | SeenVideo,
        index: int,
        *,
        modality: str = "vision",
        temperature: float | None = None,
        unimodal: bool | None = None,
        constrain: bool = False,
        backward: bool = False,
    ) -> FreeWalk:
        """The cycle from a frame (or utterance: modality "text") by its number, over the whole video and with settings
        of your own; `cycle` stays within a segment, as in training. `backward` goes to the past and back.

        >>> model = load_model("kitchen")
        >>> seen = model.see("soup.mp4")  # keep it: the next walks take milliseconds
        >>> past = model.walk(seen, 10, temperature=0.05, backward=True)
        >>> [station.role for station in past.stations]
        ['start', 'counterpart', 'future', 'future_counterpart', 'back']
        >>> len(past.edges[1].weights) == len(seen.footage.video.times)
        True
        """
        seen = video if isinstance(video, SeenVideo) else self.see(video)
        settings = WalkSettings(temperature, unimodal, constrain, backward)
        return walk(self._opened, seen, self._cache, modality, index, settings)

    def see(self, video: PathLike | Footage) -> SeenVideo:
        """A video as the model sees it: every frame and utterance embedded, in memory."""
        return see(self._opened, self._footage([video])[0], self._cache)

    def has_seen(self, video: Footage) -> bool:
        """Whether a video is embedded already, so that `see` returns at once."""
        return video.is_embedded(self._opened, self._cache)

    def cautions(self, shown: PathLike | Footage) -> list[str]:
        """Why its answers about a video or a photo need caution: pictures or words unlike the training data."""
        if isinstance(shown, Footage):
            return domain_warnings(self._opened, [shown], self._cache)
        return look_over_photo(self._opened, Path(shown), self._cache).warnings

    def open_library(self, source: PathLike, *, progress: Begin | None = None) -> VideoLibrary:
        """The videos of a corpus or a folder, to list, search and sort: `page` has their cards, `footage` a video that
        the other methods take. Video files are read the first time.

        >>> library = load_model("kitchen").open_library("cooking.corpus")
        >>> page = library.page("egg", sort="duration", limit=2)
        >>> [library.footage(card.key).video.id == card.id for card in page.cards]
        [True, True]
        """
        return open_videos(self._opened, place(source), self._cache, progress or _silent)

    def search(
        self,
        corpus: PathLike,
        *,
        text: str | None = None,
        after: str | None = None,
        before: str | None = None,
        change: tuple[str, str] | None = None,
        top: int = 10,
    ) -> SearchResult:
        """Moments of a corpus, a folder of videos or a video: that show a text, that come after or before a frame (a
        photo, or VIDEO@1:23), or that change from one text into another. The first search builds an index.

        >>> found = load_model("kitchen").search("cooking.corpus", text="crack the egg", top=3)
        >>> len(found.hits)
        3
        """
        asked = {"text": text, "after": after, "before": before, "change": change}
        if sum(each is not None for each in asked.values()) != 1:
            raise UsageError("search for one thing: text, after, before or change.")
        searcher = self.open_searcher(corpus)
        if change is not None:
            return searcher.change(*change, top)
        (kind, query), *_ = ((kind, each) for kind, each in asked.items() if each is not None)
        ask: Callable[[str, int], SearchResult] = getattr(searcher, kind)
        return ask(str(query), top)

    def open_searcher(self, corpus: PathLike | VideoLibrary, *, progress: Progress | None = None) -> Searcher:
        """What `search` asks, for many questions: `after`, `before`, `text` and `change`. Builds the index if there is
        none; `progress` wraps the videos that are embedded for it, as tqdm does."""
        if isinstance(corpus, VideoLibrary):
            library = corpus.searched
        else:
            library = open_library(self._opened, place(corpus), self._cache, _silent)
        index = open_index(self._opened, library, self._cache, progress=progress)
        return Searcher(self._opened, library, index, self._cache)

    def _footage(self, videos: Iterable[PathLike | Footage]) -> list[Footage]:
        """What can be read of the videos; what cannot, and footage unlike the training data, is warned about. Videos of
        a library are taken as they are."""
        given = list(videos)
        if known := [video for video in given if isinstance(video, Footage)]:
            if len(known) < len(given):
                raise UsageError("name files, or give videos of a library, not both.")
            return known
        paths = [place(video) for video in given if not isinstance(video, Footage)]
        opened = open_footage(self._opened, paths, self._cache)
        _warn([*opened.notes, *domain_warnings(self._opened, opened.footage, self._cache)], opened.skipped)
        return opened.footage

    def __repr__(self) -> str:
        return f"mmcc.Model({self.name!r})"


def load_model(
    source: PathLike,
    *,
    checkpoint: str | int = "best",
    cache: PathLike | None = None,
    between: Callable[[float], None] = lambda share: None,
) -> Model:
    """A run's folder, a checkpoint's, or a model that comes with the package: "kitchen".

    `checkpoint`: of a run its best, its last, or that of a step. `cache`: where embeddings are kept (default: as for
    the command line). `between`: called before every batch of frames that it embeds, with the share of the video that
    is done.

    >>> load_model("kitchen")
    mmcc.Model('kitchen')
    """
    return Model(open_model(source, checkpoint, between=between), Cache(Path(cache)) if cache else Cache.default())


def train(
    config: Config | PathLike | None,
    corpus: Corpus | PathLike,
    run: PathLike,
    *,
    overrides: Sequence[str] = (),
    resume: bool = False,
    anyway: bool = False,
) -> TrainReport:
    """Train on a corpus, into a run's folder; `resume` continues a run that was stopped.

    `config`: a Config, the name of a shipped one ("mmcc_plus", "paper", …), a YAML file, or None for the defaults.
    A corpus with too little to learn from is an InputError, unless `anyway` is set.

    >>> small = ["model.dims=16", "model.frame_encoder.width=4", "train.steps=2", "train.batch_size=2"]
    >>> report = train("mmcc_plus", "cooking.corpus", "runs/small", overrides=small, anyway=True)
    >>> report.steps
    2
    """
    if isinstance(config, Config):
        if overrides:
            raise UsageError("overrides are for a named configuration; replace the settings of a Config instead.")
        chosen = config
    else:
        chosen = load_config(config, list(overrides))
    return run_training(_path(corpus), Path(run), chosen, resume=resume, anyway=anyway)


def evaluate(model: Model | PathLike, corpus: Corpus | PathLike, *, tasks: Iterable[str] | None = None) -> Evaluation:
    """Measure a model on the test videos of a corpus, by the evaluation tasks named, or by all.

    >>> found = evaluate("kitchen", "cooking.corpus", tasks=["anticipation"])
    >>> 0 <= found.results["anticipation"].figures["recall@5"].mean <= 100
    True
    """
    source = str(model.folder) if isinstance(model, Model) else str(model)
    return run_evaluation(source, _path(corpus), tasks=tasks)


def _warn(lines: Iterable[str], skipped: Iterable[Skipped]) -> None:
    """What the command line prints on stderr, as Python warnings of whoever called the API."""
    for line in (*lines, *(f"skipped {each.path}: {each.reason}" for each in skipped)):
        warnings.warn(line, stacklevel=4)


def _path(corpus: Corpus | PathLike) -> Path:
    return corpus.path if isinstance(corpus, Corpus) else place(corpus)


def _silent(total: int) -> Callable[[str, float], None]:
    """No progress display."""
    return lambda path, share: None
