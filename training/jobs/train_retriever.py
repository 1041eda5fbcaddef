"""train_retriever: learn to read questions for a retrieval of fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from search.domain.errors import InvalidRequest
from search.domain.job_kinds import JobTarget
from search.ingest.size import Size
from search.services.knowledge.expected import index_parts, snapshot_size
from training.data.synthesis import PART
from training.jobs.train_learner import TrainLearnerJob, made_seconds
from training.services.find_release import find_release
from training.services.train_documents import learns_documents


@dataclass(frozen=True)
class TrainRetrieverJob(TrainLearnerJob):
    """Trains a retriever, which weighs the fields of documents by the question (Kind).

    It goes on from its checkpoints after an interruption.
    """

    learner: ClassVar[str] = "retriever"
    of_documents: ClassVar[Mapping[str, float]] = {"questions": 10.0, "learning": 300.0}
    """Like `shares`, if the documents' encoder is trained; the parts of indexing follow."""
    shares: ClassVar[Mapping[str, float]] = {
        "questions": 30.0, "synthesised questions": 30.0, "folds": 30.0, "all questions": 10.0,
    }  # fmt: skip

    def own_parts(self) -> Mapping[str, float]:
        """Return the parts of the learning; where the documents' encoder is trained, all vectors are computed anew."""
        if not learns_documents(self.settings):
            return super().own_parts()
        made = {PART: made_seconds(self.synthesised)} if self.synthesised else {}
        return {**made, **self.of_documents, **index_parts(Size(nodes=10_000, edges=30_000, characters=3_000_000))}

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes: learning from the questions, vectors from the snapshot."""
        parts = super().expected(target)
        if not learns_documents(self.settings):
            return parts
        try:
            release = find_release(target.knowledge_base, target.release)
        except InvalidRequest:
            return self.parts()
        return {**parts, **index_parts(snapshot_size(release.snapshot))}
