"""JSON files that end with the checksum of everything before it.

    {
     "format": "mmcc-corpus",
     …
     "crc32": "9a0f5e21"
    }

The CRC-32 is that of all bytes before the line that holds it. It finds whatever a disk, a cable or an editor changed;
it is no protection against somebody who changes both.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from mmcc.untrusted import Malformed, parse_json

_KEY = "crc32"
_LAST_LINE = b' "crc32": "'


def with_checksum(content: Mapping[str, Any]) -> bytes:
    """The file of an object that has at least one value."""
    text = json.dumps({**content, _KEY: ""}, indent=1, ensure_ascii=False).encode()
    checked = text[: text.rindex(_LAST_LINE)]
    return checked + _LAST_LINE + f'{zlib.crc32(checked):08x}"\n}}\n'.encode()


def without_checksum(data: bytes) -> tuple[dict[str, Any], bool]:
    """The object, and whether it had a checksum, as files of older versions have not; Malformed if it is wrong."""
    content = parse_json(data, dict)
    if _KEY not in content:
        return content, False
    if content.pop(_KEY) != f"{zlib.crc32(data[: max(0, data.rfind(_LAST_LINE))]):08x}":
        raise Malformed("its checksum is wrong")
    return content, True
