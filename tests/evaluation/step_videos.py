"""Videos of labelled steps whose frames are the steps' texts, and models that look them up."""

import numpy as np
import torch

from mmcc.corpus.source import LabelledClip, Task
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.models.nodes import TEXT, VISION

TEA = Task("tea", "Make Tea", ("boil water", "add tea", "pour water", "add sugar"))
JAM = Task("jam", "Make Jam", ("cut fruit", "add sugar", "boil fruit"))
TASKS = {"tea": TEA, "jam": JAM}
TEXTS = ["add sugar", "add tea", "boil fruit", "boil water", "cut fruit", "pour water"]  # as candidates stand


class Table:
    """Frames are one-hot numbers of texts; a text is itself, and becomes what a test writes down."""

    name, modalities, temperature, past, combine = "table", (VISION, TEXT), 0.1, None, None

    def __init__(self, becomes=lambda z: z):
        self.becomes = becomes

    def embed_texts(self, texts):
        return Embedding.of(torch.stack([one_hot(text) for text in texts]))

    def future(self, node):
        return self.becomes(node.z)


class Blind(Table):
    modalities = (VISION,)


def one_hot(text):
    return torch.eye(len(TEXTS), dtype=torch.float64)[TEXTS.index(text)]


def step_video(name, task, *steps):
    """A second of each step, seen at its middle; steps are 1-based."""
    texts = [TASKS[task].steps[step - 1] for step in steps]
    return EmbeddedVideo(
        id=name,
        tasks=(task,),
        steps=[LabelledClip(step, float(at), at + 1.0) for at, step in enumerate(steps)],
        times=np.arange(len(steps)) + 0.5,
        frames=Embedding.of(torch.stack([one_hot(text) for text in texts])),
        text_times=np.empty(0),
        utterances=None,
    )
