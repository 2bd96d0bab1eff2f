"""The same batches for any number of workers and processes, and from any training step on."""

import os
import pickle
import signal
from dataclasses import fields
from itertools import islice
from multiprocessing import active_children

import numpy as np
import pytest
import torch

from mmcc.corpus import Corpus
from mmcc.corpus.format import shard_path, split_of
from mmcc.data import DataConfig, SegmentSampler, UsableVideos, Vocabulary, training_batches, validation_batches
from mmcc.data.batch import Batch
from mmcc.data.loader import _Batches, read_frames
from mmcc.data.segments import NodeTimes
from mmcc.errors import InputError
from tests.forked import Forked

CONFIG = DataConfig(augment=True, max_frames=24)


@pytest.fixture(scope="module")
def vocabulary(pixels):
    return Vocabulary.of_corpus(pixels, pixels.split("train"), CONFIG)


@pytest.fixture(scope="module")
def sampler(pixels):
    return SegmentSampler(UsableVideos(pixels, "train", CONFIG), seed=5)


def equal(one: Batch, other: Batch) -> bool:
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(Batch)]
    return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in pairs)


def test_batches_hold_what_the_corpus_holds(pixels, vocabulary):
    sampler = SegmentSampler(UsableVideos(pixels, "train", DataConfig()), seed=5)
    (batch,) = training_batches(sampler, vocabulary, start_step=3, steps=1, batch_size=4)
    assert batch.samples.tolist() == [12, 13, 14, 15]
    frames = batch.frames.split(batch.frame_valid.sum(1).tolist())
    words = batch.words.split(batch.text_valid.sum(1).tolist())
    for row, number in enumerate(batch.samples.tolist()):
        segment = sampler.segment(number)
        video = pixels[segment.nodes.video]
        assert batch.videos[row] == video.id
        assert np.array_equal(frames[row].numpy(), video.frames()[segment.frames])
        times = batch.frame_times[row][batch.frame_valid[row]].numpy()
        assert np.allclose(times, video.times[segment.frames], atol=1e-4)
        spoken = [each for each in video.utterances if segment.start <= (each.start + each.end) / 2 < segment.end]
        encoded = vocabulary.encode([each.text for each in spoken], 20)[:, : words[row].shape[1]]
        assert np.array_equal(words[row].numpy(), encoded)


def test_workers_change_nothing(sampler, vocabulary):
    alone, two = (
        list(training_batches(sampler, vocabulary, start_step=2, steps=5, batch_size=6, workers=workers))
        for workers in (0, 2)
    )
    assert len(alone) == 5 and all(map(equal, alone, two))


def test_a_dataset_sent_to_another_process_gives_the_same(sampler, vocabulary):
    dataset = _Batches(sampler.videos, vocabulary, sampler.segment, sampler.seed)
    assert equal(pickle.loads(pickle.dumps(dataset))[range(6)], dataset[range(6)])


def test_resumed_at_any_step_the_batches_continue(sampler, vocabulary):
    whole = list(training_batches(sampler, vocabulary, start_step=0, steps=6, batch_size=4))
    for step in (0, 1, 5):
        again = SegmentSampler(sampler.videos, sampler.seed)
        rest = list(training_batches(again, vocabulary, start_step=step, steps=6 - step, batch_size=4))
        assert len(rest) == 6 - step and all(map(equal, whole[step:], rest))


def rows_of(batch: Batch) -> list[tuple]:
    """Each segment of a batch, without its padding."""
    frames = batch.frames.split(batch.frame_valid.sum(1).tolist())
    words = batch.words.split(batch.text_valid.sum(1).tolist())
    return [
        (
            batch.videos[row],
            batch.samples[row].item(),
            frames[row].numpy().tobytes(),
            batch.frame_times[row][batch.frame_valid[row]].tolist(),
            batch.text_times[row][batch.text_valid[row]].tolist(),
            [[word for word in utterance if word] for utterance in words[row].tolist()],
        )
        for row in range(len(batch))
    ]


@pytest.mark.parametrize("world_size", [2, 3])
def test_processes_share_each_batch(sampler, vocabulary, world_size):
    steps = {"start_step": 1, "steps": 3, "batch_size": 6}
    whole = training_batches(sampler, vocabulary, **steps)
    shares = [
        training_batches(sampler, vocabulary, **steps, rank=rank, world_size=world_size) for rank in range(world_size)
    ]
    for batch, *parts in zip(whole, *shares, strict=True):
        assert rows_of(batch) == [row for part in parts for row in rows_of(part)]


def test_a_batch_that_cannot_be_shared_is_refused(sampler, vocabulary):
    with pytest.raises(ValueError, match="batch_size 5 cannot be shared equally by 2"):
        training_batches(sampler, vocabulary, start_step=0, steps=1, batch_size=5, world_size=2)


def test_augmentation_changes_frames_and_nothing_else(pixels, vocabulary):
    plain, augmented = (
        next(training_batches(SegmentSampler(UsableVideos(pixels, "train", config), 5), vocabulary,
                              start_step=0, steps=1, batch_size=4))
        for config in (DataConfig(), DataConfig(augment=True))
    )  # fmt: skip
    assert not torch.equal(plain.frames, augmented.frames)
    augmented.frames = plain.frames
    assert equal(plain, augmented)


def test_vectors_are_batched_as_they_are(vectors, vocabulary):
    sampler = SegmentSampler(UsableVideos(vectors, "train", CONFIG), seed=5)
    (batch,) = training_batches(sampler, vocabulary, start_step=0, steps=1, batch_size=3)
    assert batch.frames.dtype == torch.float32 and batch.frames.shape[1:] == (vectors.manifest.size,)
    segment = sampler.segment(0)
    assert np.array_equal(batch.frames[: len(segment.frames)], vectors[segment.nodes.video].frames()[segment.frames])


@pytest.mark.parametrize("wanted", [[3], [0, 1, 2], [1, 5, 9], [0, 2, 4, 5, 6, 20], [7, 9, 10, 30, 31]])
def test_uneven_frames_are_read_in_runs(pixels, wanted):
    video = pixels[pixels.ids[0]]
    assert np.array_equal(read_frames(video, np.array(wanted)), video.frames()[wanted])


def test_loading_takes_nothing_from_the_generator_of_training(sampler, vocabulary):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    for workers in (0, 1):
        list(training_batches(sampler, vocabulary, start_step=0, steps=1, batch_size=2, workers=workers))
    assert torch.equal(torch.get_rng_state(), before)


def test_validation_uses_consecutive_segments(pixels, vocabulary):
    videos = UsableVideos(pixels, "train", CONFIG)
    batches = list(validation_batches(videos, vocabulary, batch_size=8))
    rows = [row for batch in batches for row in rows_of(batch)]
    assert [len(batch) for batch in batches[:-1]] == [8] * (len(batches) - 1)
    assert [number for _, number, *_ in rows] == list(range(len(rows)))
    seen = {}
    for video, _, frames, times, *_ in rows:
        assert frames == pixels[video].frames()[np.searchsorted(pixels[video].times, times)].tobytes()  # not augmented
        seen.setdefault(video, []).extend(times)
    assert list(seen) == videos.ids
    for video, times in seen.items():
        assert times == sorted(set(times)) and len(times) > 0.4 * len(pixels[video].times)
    again = list(validation_batches(videos, vocabulary, batch_size=8, workers=1))
    assert all(map(equal, batches, again))


def test_processes_share_the_validation_segments(pixels, vocabulary):
    videos = UsableVideos(pixels, "train", CONFIG)
    whole, *shares = (
        [row for batch in validation_batches(videos, vocabulary, batch_size=4, limit=11, rank=rank, world_size=size)
         for row in rows_of(batch)]
        for rank, size in ((0, 1), (0, 2), (1, 2))
    )  # fmt: skip
    assert len(whole) == 11 and sorted(shares[0] + shares[1]) == sorted(whole)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_damaged_shard_is_an_input_error_from_a_worker_too(make_corpus, workers):
    names = [name for name in (f"v{n}" for n in range(20)) if split_of(name) == "train"][:2]
    talk = [(start, start + 2, "cut the carrot.") for start in (3, 13, 23)]
    corpus = make_corpus(dict.fromkeys(names, (40, talk)))
    videos, vocabulary = UsableVideos(corpus, "train", DataConfig()), Vocabulary(["carrot"])
    shard_path(corpus.path, 0).write_bytes(b"")
    fresh = SegmentSampler(videos, seed=0)
    fresh.videos.corpus = Corpus.open(corpus.path)
    with pytest.raises(InputError, match=r"00000\.arrow: cannot be read"):
        list(training_batches(fresh, vocabulary, start_step=0, steps=1, batch_size=2, workers=workers))


def test_an_iterator_left_early_leaves_no_process(sampler, vocabulary):
    before = set(active_children())
    batches = training_batches(sampler, vocabulary, start_step=0, steps=1000, batch_size=2, workers=2)
    assert len(list(islice(batches, 2))) == 2
    assert len(set(active_children()) - before) == 2
    batches.close()
    assert set(active_children()) <= before


def test_workers_survive_ctrl_c_until_their_parent_ends_them(sampler, vocabulary):
    before = set(active_children())
    steps = {"start_step": 0, "steps": 12, "batch_size": 2}
    batches = training_batches(sampler, vocabulary, **steps, workers=1)
    first = next(batches)
    (worker,) = set(active_children()) - before
    os.kill(worker.pid, signal.SIGINT)
    assert all(map(equal, [first, *batches], list(training_batches(sampler, vocabulary, **steps))))


def test_ctrl_c_ends_workers_silently(pixels):
    def load():
        sampler = SegmentSampler(UsableVideos(Corpus.open(pixels.path), "train", DataConfig()), 0)
        vocabulary = Vocabulary(["the"])
        try:
            for _ in training_batches(sampler, vocabulary, start_step=0, steps=10**9, batch_size=2, workers=2):
                print("batch", flush=True)
        except KeyboardInterrupt:
            print("stopped", flush=True)

    with Forked(load) as process:
        assert next(process.lines()) == "batch\n"
        os.killpg(process.pid, signal.SIGINT)  # a terminal's Ctrl-C reaches the whole group
        done = process.end()
    assert done.out.endswith("stopped\n") and done.err == "" and done.code == 0


def test_node_times_are_those_of_the_corpus(pixels):
    for video in pixels:
        nodes = NodeTimes.of(video)
        assert np.array_equal(nodes.frames, video.times)
        assert len(nodes.texts) == len(nodes.centres) == len(video.utterances)
