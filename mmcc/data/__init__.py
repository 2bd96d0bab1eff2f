"""From a corpus to batches: vocabulary, segment sampling, collation, the loader."""

from mmcc.data.batch import Batch
from mmcc.data.config import DataConfig
from mmcc.data.loader import training_batches, validation_batches
from mmcc.data.segments import SegmentSampler, UsableVideos
from mmcc.data.vocabulary import Vocabulary

__all__ = [
    "Batch",
    "DataConfig",
    "SegmentSampler",
    "UsableVideos",
    "Vocabulary",
    "training_batches",
    "validation_batches",
]
