"""mmcc: learn how the world changes from narrated video."""

__version__ = "0.1.0"
