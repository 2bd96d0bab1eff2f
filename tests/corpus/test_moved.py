"""Where frames are now, for those who opened a corpus before they moved."""

import pytest

from mmcc.corpus.compact import compact
from mmcc.corpus.moved import Present
from mmcc.errors import InputError
from tests.corpus.test_compact import TIMES, add
from tests.corpus.test_corpus import build


def test_the_place_now_or_none(tmp_path):
    corpus = build(tmp_path, "raw", TIMES)
    shard, runs = corpus["a"]._place
    present = Present(tmp_path)
    assert present.find("a", shard, runs) is None, "they have not moved"
    assert present.find("nobody", shard, []) is None
    add(tmp_path, {"d": [0.0]})
    compact(tmp_path)
    number, places = present.find("a", shard, runs)
    assert number == 2 and [run.crc32 for run in places] == [run.crc32 for run in runs]
    with pytest.raises(InputError, match="d has been ingested again since the corpus was opened"):
        present.find("d", shard, corpus["d"]._place[1])
