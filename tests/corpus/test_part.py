"""Parts of a source: each video in exactly one of them, whatever else there is."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.cli.main import main
from mmcc.corpus import Corpus
from mmcc.corpus.find import find_source
from mmcc.corpus.format import split_of
from mmcc.corpus.part import SourcePart
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.errors import UsageError


def parts(count: int) -> list[SourcePart]:
    return [SourcePart(number, count) for number in range(1, count + 1)]


def source_of(ids: list[str]) -> Source:
    return Source([Item(each, Path(each)) for each in ids], skipped=[Skipped(f"in/{each}.part", "?") for each in ids])


@given(ids=st.lists(st.text(min_size=1), unique=True), count=st.integers(1, 20), seed=st.randoms())
def test_every_video_is_in_one_part_whatever_the_order_and_whatever_is_added(ids, count, seed):
    chosen = [part.select(source_of(ids)) for part in parts(count)]
    together = [item.id for part in chosen for item in part.items]
    assert sorted(together) == sorted(ids) and len(together) == len(ids)
    assert sum(len(part.skipped) for part in chosen) == len(ids)
    shuffled = [*ids, *(f"{each} again" for each in ids)]
    seed.shuffle(shuffled)
    for part, before in zip(parts(count), chosen, strict=True):
        after = {item.id for item in part.select(source_of(shuffled)).items}
        assert {item.id for item in before.items} == after & set(ids)


def test_parts_are_of_like_size_and_have_their_share_of_every_split():
    ids = [f"video {number}" for number in range(16_000)]
    for part in parts(16):
        mine = Counter(split_of(each) for each in ids if part.has(each))
        assert mine.total() == pytest.approx(1000, abs=5 * 31)  # five standard deviations
        for split, share in (("train", 0.8), ("validation", 0.15), ("test", 0.05)):
            assert mine[split] / mine.total() == pytest.approx(share, abs=5 * (share * (1 - share) / 1000) ** 0.5)


@pytest.mark.parametrize("text", ["0/16", "17/16", "3-16", "3", "3/", "/16", "a/b", "-1/16", "3/16/2", "1/0", ""])
def test_what_is_no_part_is_told_in_one_line(text, tmp_path, capsys):
    with pytest.raises(UsageError, match="from 1/16 to 16/16"):
        SourcePart.parse(text)
    assert main(["ingest", str(tmp_path), "-o", str(tmp_path / "c"), f"--part={text}"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_part_is_read_as_it_is_written():
    assert SourcePart.parse("3/16") == (3, 16) and str(SourcePart(3, 16)) == "3/16"
    assert [SourcePart.parse(text) for text in ("1/1", "16/16")] == [(1, 1), (16, 16)]


@pytest.mark.slow
def test_the_parts_of_a_folder_are_corpora_that_have_all_of_it(folder, tmp_path, capsys):
    told = []
    for number in range(1, 10):
        words = ["ingest", folder, "-o", tmp_path / f"{number}", "--part", f"{number}/9", "--size", "32", "--json"]
        assert main(list(map(str, words))) == 0  # also of the parts that have no video
        out, err = capsys.readouterr()
        told.append(json.loads(out))
        assert f"part {number}/9: {told[-1]['videos']} of 5 videos" in err
    assert sum(each["ingested"] for each in told) == 5 and min(each["ingested"] for each in told) == 0
    ids = [video.id for number in range(1, 10) for video in Corpus.open(tmp_path / f"{number}")]
    assert sorted(ids) == sorted(item.id for item in find_source(folder).items)


def test_parts_of_features_agree_on_their_dims(tmp_path):
    """Although one of them has only an array that is like no other."""
    import numpy as np

    for number in range(6):
        np.save(tmp_path / f"v{number}.npy", np.zeros((3, 5 if number else 7), np.float32))
    odd = next(part for part in parts(60) if part.has("v0"))
    assert [item.id for item in odd.select(find_source(tmp_path, features=True)).items] == ["v0"]
    words = ["ingest", tmp_path, "-o", tmp_path / "c", "--part", odd, "--features", "1"]
    assert main(list(map(str, words))) == 3
    assert Corpus.open(tmp_path / "c").manifest.size == 5
