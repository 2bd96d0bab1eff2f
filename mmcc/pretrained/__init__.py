"""Models that come with the package, each a folder as `mmcc train` writes a checkpoint's. Loads nothing heavy."""

from pathlib import Path

SHIPPED = Path(__file__).parent


def shipped_names() -> list[str]:
    return sorted(path.parent.name for path in SHIPPED.glob("*/config.json"))


def with_shipped(source: str | Path) -> Path:
    """A folder as it was named, or the shipped model of that name.

    A run or a saved model in the working folder goes before a shipped one of its name, as anywhere a path is read;
    another folder does not: `mmcc kitchen kitchen` writes videos to one.
    """
    source = Path(source)
    is_model = (source / "config.json").is_file() or (source / "checkpoints").is_dir()
    return SHIPPED / source if not is_model and str(source) in shipped_names() else source
