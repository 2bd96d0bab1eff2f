"""Which words of a text a model knows. Only content words count: knowing "in the" is not knowing "in the wok".

A model without vocabulary.txt has a pretrained text encoder, to which no word is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VOCABULARY = "vocabulary.txt"
FUNCTION_WORDS = frozenset(
    "a about above after again all also although am an and any are around as at back be because been before being "
    "below between both but by can could did do does doing done down during each either else ever every few for from "
    "further get gets getting go goes going gonna got had has have having he her here hers him his how i i'd i'll i'm "
    "i've if in into is isn't it it'll it's its itself just keep kind let let's like little ll lot make makes making "
    "many may me might mine more most much must my need no nor not now of off okay ok on once one ones only onto or "
    "other our ours out over own per put puts putting quite rather really s same shall she should so some such sure t "
    "take takes taking than that that's the their them then there there's these they they're this those through to "
    "together too until up upon us use used using ve very want was we we'll we're we've well were what when where "
    "which while who will with within without would you you'll you're you've your yours".split()
)


@dataclass(frozen=True)
class Understood:
    """A text as a model's vocabulary sees it."""

    unknown: list[str]  # content words that it does not know, in order
    known: list[str]  # content words that it knows

    @property
    def stranger(self) -> bool:
        """Whether no word that carries the meaning is known."""
        return not self.known


def understood(folder: Path, texts: Sequence[str]) -> list[Understood]:
    """For each text, which of its words the model in this folder knows."""
    from mmcc.data.vocabulary import UNKNOWN, Vocabulary, words_of

    words = [list(dict.fromkeys(words_of(text))) for text in texts]
    # Of "do it again" every word counts, as there are no others.
    content = [[word for word in found if word not in FUNCTION_WORDS] or found for found in words]
    path = folder / VOCABULARY
    if not path.is_file():
        return [Understood([], found or [text]) for found, text in zip(content, texts, strict=True)]
    every = list(dict.fromkeys(word for found in content for word in found))
    ids = Vocabulary.load(path).encode(every, 1)[:, 0]
    unknown = {word for word, number in zip(every, ids, strict=True) if number == UNKNOWN}
    return [
        Understood([word for word in found if word in unknown], [word for word in found if word not in unknown])
        for found in content
    ]
