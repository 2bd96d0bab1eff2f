"""What single neurons stand for: those that go best with a word, with pictures that excite them and where (Figure 7).

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
from mmcc.errors import InputError
from mmcc.report.gallery import Thumbnail, card, heated, row
from mmcc.report.html import Markup, element
from mmcc.report.page import Section, write_page
from mmcc.report.sheets import clock
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.domain import domain_warnings
from mmcc.tools.footage import Footage, at_size, open_footage
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from torch import nn

    from mmcc.evaluation.adapter import ModelAdapter
    from mmcc.evaluation.neurons import Neuron, Place

SCHEMA = 1
EACH, PICTURES = 6, 6  # words of each kind, and pictures of each
_AMONG = 50  # frames that excite a neuron most, or the paper's 0.01 % if that is more: of 44,000 it would be four
_STAGES = ((128, "layer4"), (64, "layer3"), (0, "layer2"))  # by the picture's side: maps of some 4 to 8 places across
_KINDS = {"verbs": "verb", "nouns": "noun"}


class ExcitingFrame(NamedTuple):
    """A frame that excites a neuron."""

    video: str
    time: float
    text: str  # what is said there


@dataclass(frozen=True)
class FoundNeuron:
    """A dimension of z and the word it goes with."""

    kind: str  # "verb" or "noun" as steps use them; "word" if it was asked for
    word: str
    neuron: int
    correlation: float  # Spearman's ρ
    chance: float  # the best of any neuron with this word, if frames and words are of different moments
    moments: tuple[ExcitingFrame, ...]


@dataclass(frozen=True)
class FoundNeurons:
    """What there is to show."""

    neurons: tuple[FoundNeuron, ...]  # the surest first, of each kind
    arrays: Mapping[str, NDArray[Any]]  # "picture K P", "map K P": not of vectors, nor of encoders but ResNets
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # words that were asked for, and of which too little is said

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "neurons": [each.__dict__ | {"moments": [m._asdict() for m in each.moments]} for each in self.neurons],
            "skipped": [],
            "warnings": list(self.warnings),
        }


def find_neurons(
    model: ToolModel, corpus: Corpus, cache: Cache, *, words: Sequence[str] = (), each: int = EACH, progress: Any = None
) -> FoundNeurons:
    """The neurons that go best with the words given, or with verbs and nouns of the corpus's steps.

    On the videos that are kept for tests, where the corpus has any. Asked again, it answers from the cache.
    """
    asked = sorted({word.strip().lower() for word in words} - {""})
    seen_at = "as is" if model.assumed else str(model.size)
    key = [model.checksum, model.name, seen_at, fingerprint(corpus), str(each), *asked]  # a warning names the model
    answer = cache.remember("neurons", key, lambda: _dissect(model, corpus, cache, asked, each, progress))
    neurons = tuple(_from_json(content) for content in answer.facts["neurons"])
    return FoundNeurons(neurons, answer.arrays, tuple(answer.facts["warnings"]), tuple(answer.facts["left_out"]))


def render_neurons(found: FoundNeurons) -> str:
    """As text, a line for each pair."""
    lines = [f"{'kind':<5} {'word':<14} neuron      ρ  chance  excited by"]
    for each in found.neurons:
        where = f"{each.moments[0].video} {clock(each.moments[0].time)}" if each.moments else ""
        lines.append(
            f"{each.kind:<5} {each.word:<14} {each.neuron:>6} {each.correlation:>6.2f} {each.chance:>7.2f}  {where}"
        )
    return "\n".join(lines)


def neurons_page(found: FoundNeurons, model: str, corpus: str) -> str:
    """A whole page."""
    lead = [f"The neurons of {model} that go best with a word, over {corpus}.", *found.warnings]
    return write_page("What single neurons stand for", lead, [neurons_section(found)])


def neurons_section(found: FoundNeurons) -> Section:
    """A card for each pair: the pictures, and below them where in each the neuron looks."""
    told = (
        "A neuron is one number of a frame's embedding. These go best with a word said at the same moment "
        "(ρ: Spearman’s correlation; chance: the best that any neuron reaches with that word when frames and words are "
        f"of different moments). The pictures are drawn at random from the {_AMONG} that excite the neuron most (from "
        "the top 0.01 % where that is more), of different videos as far as there are, whatever is said there; below "
        "each, red, what in it does (Grad-CAM)."
    )
    shown = [_card(found, at) for at in range(len(found.neurons))]
    return Section("Neurons", (element("p", told, class_="note"), *shown))


def _card(found: FoundNeurons, at: int) -> Markup:
    neuron, pictures = found.neurons[at], []
    for number, moment in enumerate(neuron.moments):
        pixels, seen = (found.arrays.get(f"{what} {at} {number}") for what in ("picture", "map"))
        below = None if pixels is None or seen is None else heated(pixels, seen)
        said = moment.text or (moment.video if pixels is None else "")
        pictures.append(Thumbnail(pixels, clock(moment.time), said, below=below))
    note = f"neuron {neuron.neuron}, ρ = {neuron.correlation:.2f} (chance {neuron.chance:.2f})"
    return card(f"“{neuron.word}” ({neuron.kind})", row(pictures), note=note)


def fingerprint(corpus: Corpus) -> str:
    """Of a corpus as it is now: its settings, and every row of its index."""
    digest = hashlib.sha256(str(corpus.path.resolve()).encode("utf-8", "surrogatepass"))
    for name in ("manifest.json", "index.arrow"):
        with (corpus.path / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _dissect(model: ToolModel, corpus: Corpus, cache: Cache, asked: list[str], each: int, progress: Any) -> Answer:
    """All that takes torch, and time."""
    import torch

    from mmcc.evaluation.neurons import LEAST_FRAMES, by_chance, dissect, spoken_words

    footage = _looked_at(model, corpus, cache)
    ids = list(footage)
    videos = [footage[video].embedded(model, cache) for video in (progress(ids) if progress else ids)]
    wanted: dict[str, Any] = {"verbs": asked, "nouns": asked, "each": len(asked)} if asked else {"each": each}
    by_kind = dissect(videos, corpus, pictures=_AMONG, **wanted)
    found = [(("word" if asked else _KINDS[kind]), neuron) for kind, some in by_kind.items() for neuron in some]
    if not found:
        which = f"of the words {', '.join(asked)}" if asked else "of the words that name steps"
        cause = f"none {which} is said over {LEAST_FRAMES} frames or more"
        raise InputError(corpus.path, cause, "Name words that are said in it with --words.")
    chance = by_chance(torch.cat([video.frames.z for video in videos]), spoken_words(videos, corpus))
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
    warnings = [f"“{word}” is said over fewer than {LEAST_FRAMES} frames: too few to tell." for word in missing]
    warnings += domain_warnings(model, list(footage.values()), cache)
    arrays: dict[str, NDArray[Any]] = {}
    if corpus.manifest.encoding != "float32":
        for at, (_, neuron) in enumerate(found):
            arrays |= _drawn(model, corpus, at, neuron)
    return Answer(arrays, {"neurons": facts, "warnings": warnings, "left_out": missing})


def _looked_at(model: ToolModel, corpus: Corpus, cache: Cache) -> dict[str, Footage]:
    """The corpus's test videos, where it has any with frames; else all that have."""
    from mmcc.data.splits import videos_for

    footage = {each.video.id: each for each in open_footage(model, [corpus.path], cache).footage}
    test = [video for video in videos_for(corpus, "test", 0.0) if video in footage]
    return {video: footage[video] for video in test} if test else footage


def _drawn(model: ToolModel, corpus: Corpus, at: int, neuron: Neuron) -> dict[str, NDArray[Any]]:
    """The pictures of a neuron, one by one since they may differ in size, and the maps that Grad-CAM gives of them: of
    what the model saw, and as large as the picture."""
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
    """What gives a learner's z of a picture. RA and TAP have a second encoder, frozen, which gives π alone."""
    model: Any = getattr(adapter, "model", None)
    encoders: list[nn.Module] = model.frame_encoders() if hasattr(model, "frame_encoders") else []
    return next(iter(encoders), None)


def _spread(frames: Sequence[Place]) -> list[Place]:
    """A few of them, of different videos as far as there are: neighbouring frames look alike."""
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
