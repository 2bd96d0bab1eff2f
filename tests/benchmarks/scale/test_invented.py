"""Invented corpora are real ones: sound, usable for training, and an ingest of their files finds nothing to do."""

from benchmarks.scale import invented
from mmcc.cli.main import main as mmcc
from mmcc.corpus import Corpus
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.corpus.verify import verify
from mmcc.data import DataConfig, UsableVideos


def test_an_invented_corpus_is_sound_and_can_be_trained_on(tmp_path, monkeypatch):
    monkeypatch.setattr(invented, "LONGEST", 320)
    folder = invented.make_corpus(tmp_path / "corpus", 30)
    assert not verify(folder).damaged
    corpus = Corpus.open(folder)
    assert len(corpus) == 30 and len(corpus[corpus.ids[0]].utterances) > 5
    assert not UsableVideos(corpus, "train", DataConfig()).unusable


def test_its_vectors_are_those_of_its_frames(tmp_path, monkeypatch):
    monkeypatch.setattr(invented, "LONGEST", 320)
    folder = invented.make_corpus(tmp_path / "corpus", 30)
    invented.add_vectors(folder)
    assert not verify(folder).damaged
    corpus = with_vectors(Corpus.open(folder), frames=Wanted(invented.ENCODER.name))
    for video, pictures in zip(corpus, Corpus.open(folder), strict=True):
        assert video.times.tolist() == pictures.times.tolist() and video.frames().shape == (len(video.times), 64)


def test_files_that_were_ingested_are_done(tmp_path, capsys):
    invented.make_ingested(tmp_path / "files", tmp_path / "corpus", 5)
    assert mmcc(["ingest", str(tmp_path / "files"), "-o", str(tmp_path / "corpus"), "--features", "1"]) == 0
    assert "(5 done before)" in capsys.readouterr().out
