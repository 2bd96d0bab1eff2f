"""The licence of everything that `make` installs, from the metadata of the installed packages.

    python -m scripts.licences            print the table
    python -m scripts.licences --write    write it into docs/licences.md

Packages are those of constraints.txt. What a wheel carries beside its own code (`<name>.libs/`) is listed where its
licence asks for more than a notice.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- made by scripts/licences.py -->", "<!-- end -->"
# Of libraries inside wheels: those that ask for more than a notice.
CARRIED = {
    "libx264": "GPL-2.0-or-later",
    "libx265": "GPL-2.0-or-later",
    **dict.fromkeys(("libavcodec", "libavfilter", "libavformat", "libavutil"), "GPL, as built with x264 and x265"),
    **dict.fromkeys(("libmp3lame", "libasound", "libquadmath"), "LGPL-2.0-or-later"),
    **dict.fromkeys(("libgnutls", "libgmp", "libnettle", "libhogweed", "libunistring"), "LGPL-2.1-or-later or -3.0"),
    "libgfortran": "GPL-3.0 with the runtime exception",
}
# What metadata does not say.
KNOWN = {"imageio-ffmpeg": "an ffmpeg program, GPL"}


class Package(NamedTuple):
    """A row of the table."""

    name: str
    version: str
    licence: str
    carries: str  # libraries whose licences ask for more than a notice


def packages(names: Iterable[str]) -> list[Package]:
    """The named ones, as they are installed here."""
    found = []
    for name in names:
        try:
            package = distribution(name)
        except PackageNotFoundError:
            found.append(Package(name, "–", "not installed here", ""))
            continue
        found.append(Package(name, package.version.split("+")[0], licence_of(package), _carried(package)))
    return found


def pinned() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("==")[0] for line in lines if line and not line.startswith("#")]


def licence_of(package: Distribution) -> str:
    """By its expression, its classifiers, or the first line of what it says."""
    facts = package.metadata
    if "License-Expression" in facts:
        return str(facts["License-Expression"])
    classes = [each.rpartition("::")[2].strip() for each in facts.get_all("Classifier") or () if "License ::" in each]
    if classes:
        return ", ".join(classes)
    said = facts["License"].strip().splitlines() if "License" in facts else []
    return said[0] if said and said[0] != "UNKNOWN" else "not stated"


def _carried(package: Distribution) -> str:
    files = {re.split(r"[-.]", file.name)[0] for file in package.files or () if ".libs/" in str(file)}
    found = {licence: [name for name in sorted(files) if CARRIED.get(name) == licence] for licence in CARRIED.values()}
    parts = [f"{', '.join(names)} ({licence})" for licence, names in found.items() if names]
    return "; ".join([*parts, *filter(None, [KNOWN.get(package.metadata["Name"], "")])])


def table(rows: Iterable[Package]) -> str:
    lines = ["| package | version | licence | carries |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write it into docs/licences.md")
    text = table(packages(pinned()))
    if parser.parse_args().write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
