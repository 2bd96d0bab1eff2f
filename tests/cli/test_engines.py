"""`--engine`, and what it needs; without it, Ray is never loaded."""

from pathlib import Path

import pytest

from mmcc.cli.engines import refuse_remote
from mmcc.cli.main import main
from mmcc.errors import UsageError
from mmcc.storage import place
from tests.forked import forked


def without_ray(arguments):
    """In a process of its own: whatever imports Ray would fail."""
    import sys

    sys.modules["ray"] = None
    assert main(arguments) == 0


def test_without_an_engine_ray_is_never_imported(make_clip, tmp_path, capsys):
    make_clip("src/soup.mp4", seconds=2)
    (tmp_path / "src" / "soup.srt").write_text("1\n00:00:00,500 --> 00:00:02,000\nCut the onion.\n")
    corpus = str(tmp_path / "c")
    for arguments in (
        ["ingest", str(tmp_path / "src"), "-o", corpus, "--size", "32"],
        ["embed", corpus, "--text", "minilm"],
        ["kitchen", str(tmp_path / "k"), "--videos", "1", "--features", "--no-pixels"],
    ):
        done = forked(without_ray, arguments)
        assert done.code == 0, done.err


VERBS = [["ingest", "src", "-o", "c"], ["embed", "c", "--text", "minilm"], ["kitchen", "k"]]
VERBS += [["search", "kitchen", "c", "--text", "add"]]


@pytest.mark.parametrize("verb", VERBS)
def test_what_goes_together(capsys, monkeypatch, tmp_path, verb):
    monkeypatch.chdir(tmp_path)
    assert main([*verb, "--address", "10.0.0.1:6379"]) == 2
    assert "--address needs --engine ray" in capsys.readouterr().err
    monkeypatch.setattr("mmcc.engines.ray_engine.find_spec", lambda name: None)
    assert main([*verb, "--engine", "ray"]) == 5
    assert "pip install 'mmcc[ray]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_on_one_machine_an_encoder_uses_all_cores_whatever_the_number_of_workers(capsys):
    assert main(["embed", "c", "--text", "minilm", "--workers", "2"]) == 2
    assert "--workers needs --engine ray" in capsys.readouterr().err


def test_an_index_is_built_on_all_cores_or_where_all_nodes_see_it(capsys, monkeypatch):
    asked = ["search", "kitchen", "c", "--text", "add"]
    assert main([*asked, "--workers", "2"]) == 2
    assert "--workers needs --engine ray" in capsys.readouterr().err
    monkeypatch.setattr("mmcc.cli.search.require_engine", lambda *_: None)
    assert main([*asked, "--engine", "ray", "--address", "10.0.0.1:6379"]) == 2
    assert "--address needs --index DIR: the nodes of a cluster do not see the cache" in capsys.readouterr().err


def test_a_cluster_embeds_into_no_bucket():
    refuse_remote(Path("c"), "mmcc embed")
    with pytest.raises(
        UsageError, match="mmcc embed with --engine ray needs a corpus on a shared disk, not s3://bucket/c"
    ):
        refuse_remote(place("s3://bucket/c"), "mmcc embed")
