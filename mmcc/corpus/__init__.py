"""Narrated video on disk: the format, ingest, and readers for released data sets."""

from mmcc.corpus.corpus import Corpus, Excerpt, Video

__all__ = ["Corpus", "Excerpt", "Video"]
