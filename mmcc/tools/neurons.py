"""What single neurons respond to: the words they correlate with, and the pictures that activate them (Figure 7).

>>> found = find_neurons(open_model("runs/kitchen"), Corpus.open("kitchen.corpus"), Cache.default())
>>> found.neurons[0].word, round(found.neurons[0].correlation, 2)
('add', 0.07)

Shapes: A all frames, D neurons, W words; H × W pixels of one picture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from mmcc.corpus import Corpus
from mmcc.corpus.index import state_of
from mmcc.errors import InputError
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.familiar import domain_warnings
from mmcc.tools.footage import Footage, at_size, open_footage
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from torch import nn

    from mmcc.evaluation.adapter import ModelAdapter
    from mmcc.evaluation.neurons import Neuron, Place, SpokenWords

SCHEMA = 1
EACH, PICTURES = 6, 6  # words of each kind, and pictures of each
AMONG = 50  # frames that activate a neuron most, or the paper's 0.01 % if that is more: of 44,000 it would be four
_STAGES = ((128, "layer4"), (64, "layer3"), (0, "layer2"))  # by the picture's side: maps some 4 to 8 cells across
_KINDS = {"verbs": "verb", "nouns": "noun"}


class ExcitingFrame(NamedTuple):
    """A frame that activates a neuron."""

    video: str
    time: float
    text: str  # what is said there


@dataclass(frozen=True)
class FoundNeuron:
    """A dimension of z and the word it correlates with."""

    kind: str  # "verb" or "noun" as steps use them; "word" if the user named it
    word: str
    neuron: int
    correlation: float  # Spearman's ρ
    chance: float  # the best of any neuron with this word when frames and words come from different moments
    moments: tuple[ExcitingFrame, ...]

    @property
    def above_chance(self) -> bool:
        """Whether it stands for the word at all: chance is the best of all neurons, so few reach it by accident."""
        return self.correlation > self.chance

    def to_json(self) -> dict[str, Any]:
        moments = [moment._asdict() for moment in self.moments]
        return self.__dict__ | {"above_chance": self.above_chance, "moments": moments}


@dataclass(frozen=True)
class FoundNeurons:
    """The neurons of a model that correlate best with words."""

    neurons: tuple[FoundNeuron, ...]  # the strongest first, of each kind
    arrays: Mapping[str, NDArray[Any]]  # "picture K P", "map K P": pictures only, and maps only of ResNets
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # words the user named that are said too rarely

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "neurons": [each.to_json() for each in self.neurons],
            "skipped": [],
            "warnings": list(self.warnings),
        }


def find_neurons(
    model: ToolModel, corpus: Corpus, cache: Cache, *, words: Sequence[str] = (), each: int = EACH, progress: Any = None
) -> FoundNeurons:
    """The neurons that correlate best with the words given, or with the verbs and nouns of the corpus's steps.

    Uses the corpus's test videos, or all if it has none. A repeated query is answered from the cache.
    """
    asked = sorted({word.strip().lower() for word in words} - {""})
    seen_at = "as is" if model.assumed else str(model.size)
    key = [model.checksum, model.name, seen_at, fingerprint(corpus), str(each), *asked]  # a warning names the model
    answer = cache.remember("neurons", key, lambda: _dissect(model, corpus, cache, asked, each, progress))
    neurons = tuple(_from_json(content) for content in answer.facts["neurons"])
    return FoundNeurons(neurons, answer.arrays, tuple(answer.facts["warnings"]), tuple(answer.facts["left_out"]))


def fingerprint(corpus: Corpus) -> str:
    """Identifies a corpus by its place and its present state."""
    place = str(corpus.path.resolve()).encode("utf-8", "surrogatepass")
    return hashlib.sha256(place + state_of(corpus.path).encode()).hexdigest()


def _dissect(model: ToolModel, corpus: Corpus, cache: Cache, asked: list[str], each: int, progress: Any) -> Answer:
    """Everything that needs torch, and takes time."""
    import torch

    from mmcc.evaluation.neurons import LEAST_FRAMES, by_chance, dissect, spoken_words

    footage = _looked_at(model, corpus, cache)
    ids = list(footage)
    videos = [footage[video].embedded(model, cache) for video in (progress(ids) if progress else ids)]
    wanted: dict[str, Any] = {"verbs": asked, "nouns": asked, "each": len(asked)} if asked else {"each": each}
    by_kind = dissect(videos, corpus, pictures=AMONG, **wanted)
    found = [(("word" if asked else _KINDS[kind]), neuron) for kind, some in by_kind.items() for neuron in some]
    spoken = spoken_words(videos, corpus)
    if not found:
        which = f"of the words {', '.join(asked)}" if asked else "of the words that name steps"
        cause = f"none {which} is said over {LEAST_FRAMES} frames or more"
        raise InputError(corpus.path, cause, _often_said(spoken))
    chance = by_chance(torch.cat([video.frames.z for video in videos]), spoken)
    facts = [
        {
            "kind": kind,
            "word": neuron.word,
            "neuron": neuron.neuron,
            "correlation": neuron.correlation,
            "chance": chance[neuron.word],
            "moments": [_moment(corpus, place.video, place.frame) for place in _spread(neuron.frames)],
        }
        for kind, neuron in found
    ]
    missing = sorted(set(asked) - {neuron.word for _, neuron in found})
    warnings = [f"“{word}” is said over fewer than {LEAST_FRAMES} frames, which is too few." for word in missing]
    warnings += domain_warnings(model, list(footage.values()), cache)
    arrays: dict[str, NDArray[Any]] = {}
    if corpus.manifest.encoding != "float32":
        for at, (_, neuron) in enumerate(found):
            arrays |= _drawn(model, corpus, at, neuron)
        if not any(name.startswith("map") for name in arrays):
            warnings.append(f"Pictures have no heat maps: Grad-CAM needs a ResNet, which {model.name} does not have.")
    return Answer(arrays, {"neurons": facts, "warnings": warnings, "left_out": missing})


def _often_said(spoken: SpokenWords) -> str:
    """What to ask for instead: the words said most, but for those that carry no meaning."""
    from mmcc.evaluation.neurons import LEAST_FRAMES
    from mmcc.tools.words import FUNCTION_WORDS

    counts = dict(zip(spoken.words, spoken.counts().tolist(), strict=True))
    usable = [word for word, count in counts.items() if count >= LEAST_FRAMES and word not in FUNCTION_WORDS]
    most = sorted(usable, key=lambda word: -counts[word])[:5]
    return f"Said often enough are, for example: --words {','.join(most)}." if most else "It has too little narration."


def _looked_at(model: ToolModel, corpus: Corpus, cache: Cache) -> dict[str, Footage]:
    """The corpus's test videos with frames, or all with frames if there are none."""
    from mmcc.data.splits import videos_for

    footage = {each.video.id: each for each in open_footage(model, [corpus.path], cache).footage}
    test = [video for video in videos_for(corpus, "test", 0.0) if video in footage]
    return {video: footage[video] for video in test} if test else footage


def _drawn(model: ToolModel, corpus: Corpus, at: int, neuron: Neuron) -> dict[str, NDArray[Any]]:
    """A neuron's pictures, one by one since their sizes may differ, and their Grad-CAM maps: computed at the model's
    size, enlarged to the picture's."""
    import torch
    import torch.nn.functional as F

    from mmcc.evaluation.gradcam import grad_cam
    from mmcc.evaluation.neurons import pictures_of
    from mmcc.models.encoders import ResNetEncoder

    encoder = _encoder(model.adapter)
    arrays: dict[str, NDArray[Any]] = {}
    for number, place in enumerate(_spread(neuron.frames)):
        shown_1HWC = pictures_of(corpus, [place])
        arrays[f"picture {at} {number}"] = shown_1HWC[0].numpy()
        if isinstance(encoder, ResNetEncoder):
            seen_1HWC = shown_1HWC if model.assumed else at_size(shown_1HWC, model.size)
            stage = next(stage for side, stage in _STAGES if min(seen_1HWC.shape[1:3]) >= side)
            map_11HW = torch.from_numpy(grad_cam(encoder, seen_1HWC, neuron.neuron, stage=stage))[None]
            arrays[f"map {at} {number}"] = F.interpolate(map_11HW, shown_1HWC.shape[1:3], mode="bilinear")[0, 0].numpy()
    return arrays


def _encoder(adapter: ModelAdapter) -> nn.Module | None:
    """The encoder that gives z. RA and TAP have a second, frozen one, which only gives π."""
    model: Any = getattr(adapter, "model", None)
    encoders: list[nn.Module] = model.frame_encoders() if hasattr(model, "frame_encoders") else []
    return next(iter(encoders), None)


def _spread(frames: Sequence[Place]) -> list[Place]:
    """A few of them, from different videos where possible: neighbouring frames look alike."""
    firsts = {place.video: place for place in reversed(frames)}.values()
    chosen = [place for place in frames if place in firsts]
    return [*chosen, *(place for place in frames if place not in firsts)][:PICTURES]


def _moment(corpus: Corpus, video: str, frame: int) -> dict[str, Any]:
    opened = corpus[video]
    time = float(opened.times[frame])
    said = next((each.text for each in opened.utterances if each.start <= time < each.end), "")
    return {"video": video, "time": time, "text": said}


def _from_json(content: dict[str, Any]) -> FoundNeuron:
    moments = tuple(ExcitingFrame(**moment) for moment in content["moments"])
    return FoundNeuron(**{**content, "moments": moments})
