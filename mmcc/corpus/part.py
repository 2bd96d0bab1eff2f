"""A part of a source, so that many machines that know nothing of each other ingest one: `mmcc ingest … --part 3/16`.

A hash of a video's id decides which part it belongs to, not its place in a list: machines may list a folder in any
order, and videos that are added later move no other. So parts differ a little in size, by about the square root of the
number of their videos. It is another hash than that of the splits, so that every part has its share of each.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mmcc.corpus.source import Source
from mmcc.errors import UsageError
from mmcc.text import counted

_MOST = 1_000_000  # parts; more than anyone has videos for


class SourcePart(NamedTuple):
    """The third of sixteen is (3, 16)."""

    number: int  # from 1
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> SourcePart:
        found = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text, re.ASCII)
        part = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= part.number <= part.of <= _MOST:
            raise UsageError(f"--part {text}: give a part as its number and how many there are, from 1/16 to 16/16.")
        return part

    def has(self, video_id: str) -> bool:
        digest = hashlib.sha256(b"part " + video_id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def select(self, source: Source) -> Source:
        """The part's videos. A file that was skipped has no id: its name decides, so that one part tells of it."""
        items = [item for item in source.items if self.has(item.id)]
        skipped = [each for each in source.skipped if self.has(Path(each.path).name)]
        summary = [*source.summary, f"part {self}: {len(items):,} of {counted(len(source.items), 'video')}"]
        return replace(source, items=items, skipped=skipped, summary=summary)
