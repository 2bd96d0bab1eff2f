"""Benchmarks of what happens to data at rest."""
