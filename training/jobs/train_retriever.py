"""train_retriever: learn to read questions for a retrieval of fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.jobs.train_learner import TrainLearnerJob


@dataclass(frozen=True)
class TrainRetrieverJob(TrainLearnerJob):
    """Trains a retriever of fields (Kind); it goes on from its checkpoints after an interruption."""

    learner: ClassVar[str] = "retriever"
    shares: ClassVar[Mapping[str, float]] = {
        "questions": 30.0, "synthesised questions": 30.0, "folds": 30.0, "all questions": 10.0,
    }  # fmt: skip
