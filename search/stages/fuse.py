"""The graph's list and the text's list → one list, by weighted reciprocal ranks (GRASP, section on fusion)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from search.cosines import QuestionCosines
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking
from search.domain.options import option
from search.domain.plan import RISKS
from search.domain.question import Question
from search.domain.ranking import Cosines, Ranking
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import Encoder, VectorIndex

BUCKETS = ((10, "[1,10]"), (50, "[11,50]"), (100, "[51,100]"), (500, "[101,500]"), (float("inf"), ">500"))
"""Ranges of the number of candidates, by their upper end."""

TEXT = "text"
FIXED_BY_LEAD = 100
"""When the graph leads, the text cannot reorder its first `FIXED_BY_LEAD` candidates."""


@dataclass(frozen=True)
class FusionWeights:
    """How the graph's list is laid over the text's list: the settings of `Fuse`, and its arithmetic.

    Static: weight / (k + graph's rank) + (1 - weight) / (k + text's rank). Dynamic: the graph's weight is that of the
    bucket of `n_cand` times the multiplier of the risk level, the text's is 1. The defaults are those of a base that
    has not been tuned: a confident plan goes first, for which its weight must exceed 1, a doubtful one is mixed in.

    With either method a plan that is almost surely right leads: the text's weight becomes so small that it swaps no two
    of the graph's first hundred, and only fills up behind them (ours). A plan of risk level `weak` never does: it may
    well be right about what it says, but it leaves so much of the question to text that text has to order its nodes.
    """

    method: str = option("dynamic", "How the graph's weight is chosen.", choices=("dynamic", "static"))
    k: float = option(5.0, "Added to every rank: the larger, the less the first places count.", low=0, high=1_000)
    weight: float = option(0.5, "Static: the graph's weight; the text has the rest.", low=0, high=1)
    bucket_weights: tuple[float, ...] = option(
        (2.0, 1.6, 1.4, 1.0, 0.5),
        "Dynamic: the graph's weight for 1–10, 11–50, 51–100, 101–500 and more candidates.",
        low=0,
        high=10,
    )
    risk_multipliers: tuple[float, ...] = option(
        (0.0, 0.5, 1.25, 1.5),
        "Dynamic: multiplier of the risk levels no_trade, weak, normal, aggressive.",
        low=0,
        high=10,
    )
    lead: float = option(
        0.7,
        "From this probability of its best plan on the graph's order stands, unless its risk is weak. Above 1: never.",
        low=0,
        high=2,
    )

    def fuse(self, graph: GraphRanking, text: Ranking | Fusion, cosines: Cosines) -> Fusion:
        """Return the fused list; the text's alone where the graph found nothing or its weight is 0.

        Raises StageError for a graph list that does not say how far it is to be trusted.
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
        leads = weights[name] > 0 and may_lead(trust, self.lead)
        if leads:
            weights[TEXT] = min(weights[TEXT], following(weights[name], self.k))
        return Fusion.of(
            {name: graph.ranking, TEXT: text}, weights, self.k, cosines,
            method=self.method, bucket=bucket, risk=risk, leads=leads, trust={name: trust},
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Fuse(FusionWeights):
    """Lays the graph's list over the text's list."""

    encoder: Encoder
    vectors: VectorIndex

    def __call__(self, question: Question, graph: GraphRanking, text: Ranking | Fusion, limit: Limit) -> Fusion:
        """Return the fused list; see `FusionWeights`."""
        return self.fuse(graph, text, QuestionCosines(question, self.encoder, self.vectors, limit, "fuse"))


def may_lead(trust: Trust, least: float) -> bool:
    """Whether the graph's order stands, if it has any weight: from that probability and the risk level `normal` on."""
    return trust.probability >= least and RISKS.index(trust.risk_level) >= RISKS.index("normal")


def following(weight: float, k: float) -> float:
    """Return a weight for the text whose first place adds less than any two neighbours of the graph's lie apart."""
    return weight * (k + 1) / ((k + FIXED_BY_LEAD) * (k + FIXED_BY_LEAD + 1))


def _trust(graph: GraphRanking) -> Trust:
    """Return how far the graph's list is to be trusted: a list that does not say so would be dropped in silence."""
    trust: object = getattr(graph, "trust", None)
    if isinstance(trust, Trust):
        return trust
    name = getattr(graph, "name", type(graph).__name__)
    reason = f"The list {name!r} cannot be fused: it does not say how far it is to be trusted"
    raise StageError("fuse", reason, permanent=True)


@dataclass(frozen=True)
class Merge:
    """Fuses lists of text retrieval with equal weights."""

    encoder: Encoder
    vectors: VectorIndex
    k: float = option(60.0, "Added to every rank: the larger, the less the first places count.", low=0, high=1_000)

    def __call__(self, question: Question, rankings: Mapping[str, Ranking | Fusion], limit: Limit) -> Fusion:
        """Return the fused list."""
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "fuse")
        return Fusion.of(rankings, dict.fromkeys(rankings, 1.0), self.k, cosines)
