"""train_retriever: learn to read questions for a retrieval of fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from search.ingest.size import Size
from search.services.knowledge.expected import index_parts
from training.data.synthesis import PART
from training.jobs.train_learner import TrainLearnerJob
from training.services.train_documents import learns_documents


@dataclass(frozen=True)
class TrainRetrieverJob(TrainLearnerJob):
    """Trains a retriever of fields (Kind); it goes on from its checkpoints after an interruption."""

    learner: ClassVar[str] = "retriever"
    of_documents: ClassVar[Mapping[str, float]] = {"questions": 10.0, "learning": 300.0}
    """Like `shares`, if the documents' encoder is trained; the parts of indexing follow."""
    shares: ClassVar[Mapping[str, float]] = {
        "questions": 30.0, "synthesised questions": 30.0, "folds": 30.0, "all questions": 10.0,
    }  # fmt: skip

    def parts(self) -> Mapping[str, float]:
        """Return the parts of the work; where the documents' encoder is trained, all vectors are computed anew."""
        if not learns_documents(self.settings):
            return super().parts()
        index = index_parts(Size(nodes=10_000, edges=30_000, characters=3_000_000))
        made = {PART: 20.0} if self.synthesised else {}
        return {**made, **self.of_documents, **index}
