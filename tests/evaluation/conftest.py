"""Trained models to evaluate."""

import pytest


@pytest.fixture(scope="session")
def run_of(finished):
    """The folder of a trained row."""
    out, found = finished
    return lambda row: str(out / next(run["folder"] for run in found.content["runs"] if run["run"] == row))
