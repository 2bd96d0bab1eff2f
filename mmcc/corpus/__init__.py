"""Narrated video at rest: the format, ingest, and adapters for released data sets."""

from mmcc.corpus.corpus import Corpus, Excerpt, Video

__all__ = ["Corpus", "Excerpt", "Video"]
