"""Reranks the first candidates by a model that reads question and document together (GRASP, section on reranking)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from search.cosines import QuestionCosines
from search.domain.conditions import CheckedConditions
from search.domain.errors import DeadlineExceeded, StageError
from search.domain.fusion import Fusion
from search.domain.linking import LinkedPlan
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.signals import Reranked
from search.domain.trace import Limit
from search.interfaces import Encoder, NodeStore, Scorer, Scorers, VectorIndex
from search.text import DocumentForm, reranker_document

RERANKER, GIVEN = "reranker", "fused"
"""Names of the two lists: the reranker's, and the one that it was given."""
USUAL_MIX = (0.5, 2.0)
"""Weight of the reranker's list and k, if nothing was learned: GRASP's values for STaRK-Prime."""
TIME_SHARE = 0.7
"""Part of the remaining time that reranking may take: the results must still be explained."""
CAUTION = 0.8
"""Part of the time left for which a further call is planned, because documents differ in length."""


@dataclass(frozen=True)
class Rerank:
    """Scores the first candidates, and fuses the new order with the order before, by static reciprocal ranks.

    The order before stays if no model is given, or if the model fails; the step is then degraded and says why. If the
    time does not suffice for all candidates, the first ones are reranked, and the step says how many.
    """

    scorers: Scorers
    nodes: NodeStore
    encoder: Encoder
    vectors: VectorIndex
    neural_artifact: str = option(
        "", "Name of the trained reranker (made by `train reranker`); empty for none.", staff_only=True
    )
    scorer: str = option(
        "", "Name of a reranker of GRASP_SCORERS, used if there is no trained one; empty for none.", staff_only=True
    )
    neural_depth: int = option(30, "Number of first answers that are reranked.", low=1, high=1_000, public_high=100)
    weight: float = option(
        -1.0,
        "Weight of the reranker's list, 0 to 1; the list before has the rest. -1: as chosen in training, else 0.5.",
        low=-1,
        high=1,
    )
    k: float = option(
        -1.0, "Constant of 1 / (k + rank) in this fusion. -1: as chosen in training, else 2.", low=-1, high=1_000
    )
    neural_seconds: float = option(3.0, "Time limit of reranking, in seconds.", low=0.01, high=600, public_high=10)
    field_words: int = option(
        DocumentForm().field_words,
        "Words of each field that the reranker reads. A trained reranker reads what it was trained on.",
        low=1,
        high=10_000,
        public_high=1_000,
    )
    names: int = option(
        DocumentForm().names,
        "Names of neighbours over each relation that the reranker reads. A trained one reads what it was trained on.",
        low=0,
        high=1_000,
        public_high=100,
    )
    keep_lead: bool = option(True, "Whether nothing is reranked when the graph leads, because its plan is sure.")

    @property
    def backend(self) -> str:
        """The name of the reranker, for the trace."""
        return self.neural_artifact or self.scorer

    def load(self) -> None:
        """Load the reranker before the search's clock starts, if there is one; the stage says why there is none."""
        with suppress(StageError):
            self.scorers.get(self.scorer, self.neural_artifact)

    def __call__(
        self,
        question: Question,
        fusion: Fusion,
        plans: Sequence[LinkedPlan],
        checked: CheckedConditions,
        limit: Limit,
    ) -> Fusion:
        """Return the reranked list. Raises SearchCancelled, and DeadlineExceeded if no time was left at the start."""
        limit.check("rerank")
        if self.keep_lead and fusion.leads:
            return fusion
        keys = fusion.ranking.keys[: self.neural_depth]
        if not keys:
            return fusion
        own = limit.share(TIME_SHARE).at_most(self.neural_seconds)
        try:
            scorer = self.scorers.get(self.scorer, self.neural_artifact)
            scores = self._scores(scorer, question.text, keys, own)
        except StageError as error:
            return unchanged(fusion, f"The order before stays: {error.reason}.")
        if not scores:
            reason = f"The order before stays: none could be reranked in {self.neural_seconds:.3g} seconds."
            return unchanged(fusion, reason)
        return self._fused(question, fusion, scorer, dict(zip(keys, scores, strict=False)), len(keys), limit)

    def _scores(self, scorer: Scorer, question: str, keys: Sequence[int], limit: Limit) -> list[float]:
        """Return the scores of the first candidates, as many as the time allows.

        The first call shows how long a candidate takes; it decides how many are scored by the next one.
        """
        form = scorer.form or DocumentForm(self.field_words, self.names)
        documents = read_documents(self.nodes, keys, form, limit)
        scores: list[float] = []
        began, size = time.monotonic(), max(1, scorer.at_once)
        while len(scores) < len(documents) and size >= 1:
            part = documents[len(scores) : len(scores) + size]
            try:
                found = scorer.score(question, part, limit)
            except DeadlineExceeded:
                break
            if len(found) != len(part) or not np.isfinite(found).all():
                reason = f"{scorer.name} gave no number for some of {len(part)} documents"
                raise StageError("rerank", reason, permanent=True)
            scores += map(float, found)
            seconds_each = (time.monotonic() - began) / len(scores)
            size = int(min(len(documents), CAUTION * limit.remaining() / max(seconds_each, 1e-6)))
        return scores

    def _fused(
        self, question: Question, fusion: Fusion, scorer: Scorer, scores: dict[int, float], wanted: int, limit: Limit
    ) -> Fusion:
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "rerank")
        usual_weight, usual_k = scorer.mix or USUAL_MIX
        weight = usual_weight if self.weight < 0 else self.weight
        k = usual_k if self.k < 0 else self.k
        detail = ""
        if len(scores) < wanted:
            detail = (
                f"{scorer.name} read only the first {len(scores)} of {wanted} possible answers; "
                f"more did not fit into {self.neural_seconds:.3g} seconds."
            )
        return Reranked.of(
            {RERANKER: Ranking.of(scores, cosines), GIVEN: fusion}, {RERANKER: weight, GIVEN: 1.0 - weight}, k,
            cosines, trust=fusion.trust, detail=detail,
        )  # fmt: skip


def unchanged(fusion: Fusion, why: str) -> Reranked:
    """Return a fusion as it was, with a sentence that says why."""
    return Reranked(**{**vars(fusion), "detail": why})


def read_documents(nodes: NodeStore, keys: Sequence[int], form: DocumentForm, limit: Limit) -> list[str]:
    """Return the documents of nodes for a reranker, in the order of the keys. Raises the errors of the node store."""
    read = nodes.nodes(keys, limit)
    return [reranker_document(node, nodes.neighbour_names(node.key, form.names), form) for node in read]
