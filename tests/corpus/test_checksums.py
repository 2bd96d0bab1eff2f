"""JSON files that notice when they were changed."""

import json
import zlib

import pytest

from mmcc.corpus.checksums import with_checksum, without_checksum
from mmcc.untrusted import Malformed

CONTENT = {"format": "mmcc-corpus", "fps": 1.5, "tasks": {"7": {"title": "Soupe à l'oignon", "crc32": "no"}}, "n": [1]}


def test_what_is_written_is_read_and_is_json():
    data = with_checksum(CONTENT)
    assert without_checksum(data) == (CONTENT, True)
    lines = data.splitlines(keepends=True)
    assert json.loads(data)["crc32"] == f"{zlib.crc32(b''.join(lines[:-2])):08x}", "as the page on the format says"


def test_every_changed_bit_is_noticed_or_changes_nothing():
    data = with_checksum(CONTENT)
    noticed = 0
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            content, checked = without_checksum(bytes(changed))
            assert content == CONTENT or not checked, "whoever needs a checksum sees that it has none"
        except Malformed:
            noticed += 1
    assert noticed > 0.95 * 8 * len(data)


def test_a_cut_file_is_malformed():
    data = with_checksum(CONTENT)
    for end in range(len(data) - 2):
        with pytest.raises(Malformed):
            without_checksum(data[:end])


def test_files_of_older_versions_have_none():
    assert without_checksum(json.dumps(CONTENT).encode()) == (CONTENT, False)
