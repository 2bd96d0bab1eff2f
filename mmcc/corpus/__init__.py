"""Narrated video at rest: the format, ingest, and adapters for released data sets."""

from mmcc.corpus.corpus import Corpus, Segment, Video

__all__ = ["Corpus", "Segment", "Video"]
