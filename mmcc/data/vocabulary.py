"""Words to numbers: the words of the training split's utterances, most frequent first.

On disk, a vocabulary is a text file with one word per line; a word's id is its line, counted from 0. Lines 0 and 1 are
padding and unknown words, in brackets that no word can contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus
from mmcc.data.config import DataConfig
from mmcc.errors import InputError
from mmcc.text import has_words, words_of
from mmcc.untrusted import LARGEST, read_start

__all__ = ["PADDING", "UNKNOWN", "Vocabulary", "has_words", "words_of"]

PADDING, UNKNOWN = 0, 1
_RESERVED = ("<padding>", "<unknown>")


class Vocabulary:
    """The words a model knows."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = (*_RESERVED, *words)
        self._ids = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def build(cls, texts: Iterable[str], min_count: int, max_size: int) -> Vocabulary:
        """Words said at least `min_count` times, at most the `max_size` most frequent; ties by spelling."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(words_of(text))
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return cls([word for word, count in ranked if count >= min_count][: max_size - len(_RESERVED)])

    @classmethod
    def of_corpus(cls, corpus: Corpus, video_ids: Iterable[str], config: DataConfig) -> Vocabulary:
        said = (batch.column("utterances").flatten() for _, batch in corpus.scan(list(video_ids), "utterances"))
        texts = ("\n".join(each.field("text").to_pylist()) for each in said)  # no word goes beyond a line
        vocabulary = cls.build(texts, config.min_word_count, config.max_vocabulary)
        if len(vocabulary) == len(_RESERVED):
            cause = f"no word is said {config.min_word_count} times in the training videos"
            raise InputError(corpus.path, cause, "Lower data.min_word_count, or ingest more narrated videos.")
        return vocabulary

    def __len__(self) -> int:
        """The rows an embedding needs: padding and unknown included."""
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def encode(self, texts: Sequence[str], max_words: int) -> NDArray[np.int64]:
        """Ids [texts, max_words], padded; a text's words beyond `max_words` are dropped."""
        ids = np.full((len(texts), max_words), PADDING, np.int64)
        for row, text in zip(ids, texts, strict=True):
            known = [self._ids.get(word, UNKNOWN) for word in words_of(text)[:max_words]]
            row[: len(known)] = known
        return ids

    def save(self, path: Path) -> None:
        path.write_text("\n".join(self.words) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        try:
            lines = read_start(path, LARGEST).decode("utf-8").replace("\r\n", "\n").split("\n")
        except (OSError, ValueError) as error:
            raise InputError(path, f"cannot be read ({error})", "Copy it again from the original run.") from None
        reserved, words = lines[:2], lines[2:-1]
        if tuple(reserved) != _RESERVED or lines[-1] or len(set(words)) != len(words):
            raise InputError(path, "is not a vocabulary", f"Its first lines should be {' and '.join(_RESERVED)}.")
        return cls(words)
