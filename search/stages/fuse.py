"""Fuses the graph's list and the text's list into one list, by weighted reciprocal ranks (GRASP, section on fusion)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from search.cosines import QuestionCosines
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking
from search.domain.options import option
from search.domain.plan import RISKS
from search.domain.precedence import without_reordering
from search.domain.question import Question
from search.domain.ranking import Cosines, Ranking
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import Encoder, VectorIndex

BUCKETS = ((10, "[1,10]"), (50, "[11,50]"), (100, "[51,100]"), (500, "[101,500]"), (float("inf"), ">500"))
"""Ranges of the number of candidates, as (upper end, name)."""

TEXT = "text"

LEARNED = 2.0
"""A text's list that has learned counts as much as this many that have not (docs/decisions.md has the figures)."""

FIXED_BY_LEAD = 100
"""When the graph leads, the text cannot reorder its first `FIXED_BY_LEAD` candidates."""


@dataclass(frozen=True)
class FusionWeights:
    """Weights of the graph's list and of the text's list in their fusion: the settings of `Fuse`, and its formulas.

    Static: the score is weight / (k + graph's rank) + (1 - weight) / (k + text's rank). Dynamic: the graph's weight is
    the weight of the bucket of `n_cand` times the multiplier of the risk level; the text's weight is 1. A text's list
    that has learned takes a part of the graph's weight (`left_to_graph`, new against GRASP). The
    defaults are for a knowledge base that has not been tuned: the weight of a confident plan exceeds 1, so its
    candidates go first. The candidates of other plans are mixed with the text's.

    With either method the graph leads if its best plan is probable enough (new against GRASP). The text's weight is
    then so small that the text cannot reorder the graph's first `FIXED_BY_LEAD` candidates and only fills up behind.
    A plan of risk level `weak` never leads. It may be right, but it leaves a large part of the question to the text, so
    the text must order its nodes. A plan that leaves a word over does not lead either, however probable it is: its
    candidates still come first, in the order of the graph's list, which the words left over decide. Only a plan that
    leads with at least the probability `sure` is called almost surely right (docs/decisions.md has figures).
    """

    method: str = option("dynamic", "How the graph's weight is chosen.", choices=("dynamic", "static"))
    k: float = option(
        3.0, "Constant of 1 / (k + rank). The larger it is, the less the first places count.", low=0, high=1_000
    )
    weight: float = option(0.5, "Method static: weight of the graph; the text has the rest.", low=0, high=1)
    bucket_weights: tuple[float, ...] = option(
        (2.0, 1.6, 1.4, 1.0, 0.5),
        "Method dynamic: weights of the graph for 1–10, 11–50, 51–100, 101–500 and more possible answers.",
        low=0,
        high=10,
    )
    risk_multipliers: tuple[float, ...] = option(
        (0.0, 0.5, 1.25, 1.5),
        "Method dynamic: factors of the graph's weight at no_trade, weak, normal and aggressive.",
        low=0,
        high=10,
    )
    lead: float = option(
        0.7,
        "The graph's order is kept if the best plan is at least this probable and not weak. Above 1: never.",
        low=0,
        high=2,
    )
    sure: float = option(
        0.9, "A plan that leads is called almost surely right if it is at least this probable.", low=0, high=2
    )

    def fuse(self, graph: GraphRanking, text: Ranking | Fusion, cosines: Cosines) -> Fusion:
        """Return the fused list; only the text counts if the graph found nothing or has weight 0.

        Raises StageError if the graph's list has no `trust`.
        """
        trust, name = _trust(graph), graph.name
        bucket = risk = ""
        if self.method == "static":
            weights = {name: self.weight, TEXT: 1.0 - self.weight}
        else:
            place = next(i for i, (most, _) in enumerate(BUCKETS) if trust.n_cand <= most)
            bucket, risk = BUCKETS[place][1] if trust.n_cand else "", trust.risk_level
            multiplier = self.risk_multipliers[RISKS.index(trust.risk_level)]
            weights = {name: self.bucket_weights[place] * multiplier, TEXT: 1.0}
        if trust.n_cand == 0:
            weights = {name: 0.0, TEXT: 1.0}
        first = weights[name] > 0 and may_lead(trust, self.lead)
        if self.method == "dynamic" and not first:
            weights[name] *= left_to_graph(trust)
        if first:
            weights[TEXT] = min(weights[TEXT], without_reordering(weights[name], FIXED_BY_LEAD, self.k))
        leads = first and trust.exact
        return Fusion.of(
            {name: graph.ranking, TEXT: text}, weights, self.k, cosines,
            method=self.method, bucket=bucket, risk=risk, leads=leads, trust={name: trust},
            surely=leads and trust.probability >= self.sure,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Fuse(FusionWeights):
    """Fuses the graph's list with the text's list."""

    encoder: Encoder
    vectors: VectorIndex

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        """Return the fused list; see `FusionWeights`. Raises StageError if the graph's list has no `trust`."""
        if isinstance(text, Fusion) and text.probability:
            graph = replace(graph, trust=replace(_trust(graph), against=text.probability))
        return self.fuse(graph, text, QuestionCosines(question, self.encoder, self.vectors, limit, "fuse"))


def may_lead(trust: Trust, least: float) -> bool:
    """Whether the graph may lead: its probability is at least `least` and its risk level at least `normal`."""
    return trust.probability >= least and RISKS.index(trust.risk_level) >= RISKS.index("normal")


def left_to_graph(trust: Trust) -> float:
    """Return the part of the graph's weight that the text's list leaves to it: all if that has learned nothing.

    A list that has learned counts `LEARNED` times, and takes the part that its first candidate is probable.
    """
    return (1.0 - trust.against) / LEARNED if trust.against else 1.0


def _trust(graph: GraphRanking) -> Trust:
    """Return the trust in the graph's list. Raises StageError if it has none, so that no list is dropped silently."""
    trust: object = getattr(graph, "trust", None)
    if isinstance(trust, Trust):
        return trust
    name = getattr(graph, "name", type(graph).__name__)
    reason = f"The list {name!r} cannot be joined with others: it does not say how far it is to be trusted"
    raise StageError("fuse", reason, permanent=True)


@dataclass(frozen=True)
class Merge:
    """Fuses lists of text retrieval with equal weights."""

    encoder: Encoder
    vectors: VectorIndex
    k: float = option(
        60.0, "Constant of 1 / (k + rank). The larger it is, the less the first places count.", low=0, high=1_000
    )

    def __call__(self, question: Question, rankings: Mapping[str, Ranking | Fusion], limit: Limit) -> Fusion:
        """Return the fused list."""
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "fuse")
        return Fusion.of(rankings, dict.fromkeys(rankings, 1.0), self.k, cosines)
