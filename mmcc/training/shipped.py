"""The configurations that come with the package. Loads nothing heavy: the command line lists them."""

from pathlib import Path

SHIPPED = Path(__file__).parent / "configs"


def shipped_configs() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))
