"""Narrated video at rest: the format, ingest, and adapters for released data sets."""
