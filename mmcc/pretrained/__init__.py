"""Models that come with the package, each a folder like a checkpoint of `mmcc train`. Loads nothing heavy."""

from pathlib import Path

SHIPPED = Path(__file__).parent


def shipped_names() -> list[str]:
    """The models that come with the package, by name; any argument that takes a run takes these."""
    return sorted(path.parent.name for path in SHIPPED.glob("*/config.json"))


def with_shipped(source: str | Path) -> Path:
    """The folder as given, or the shipped model of that name.

    A run or a checkpoint in the working folder takes precedence over a shipped model of the same name; other folders do
    not: `mmcc kitchen kitchen` writes videos to one.
    """
    source = Path(source)
    is_model = (source / "config.json").is_file() or (source / "checkpoints").is_dir()
    return SHIPPED / source if not is_model and str(source) in shipped_names() else source
