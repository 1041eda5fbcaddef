"""The final list → explained results: why each stands where it stands, and which of the plan's conditions it meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from search.domain.errors import StageError
from search.domain.evidence import Evidence, Path, Residual, Result, Share, Status
from search.domain.filtering import meets
from search.domain.graph import Node
from search.domain.linking import GraphRanking, LinkedPlan
from search.domain.options import option
from search.domain.plan import Plan
from search.domain.question import Question
from search.domain.ranking import Fusion
from search.domain.trace import Limit, Noted
from search.interfaces import Encoder, GraphStore, NodeStore, VectorIndex
from search.text import snippet

Matches = dict[int, tuple[Path, ...]]


@dataclass
class _Checked:
    """What is known of one plan: who meets it as a whole, who meets which anchor's branch; None: there was no time."""

    whole: Matches | None
    branches: dict[str, Matches | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Explain:
    """Explains the first results, all of them together, in a few statements.

    A result is held against the best plan that found it, or against the first plan where only the text did: the plan
    is matched with the target bound to the result, as a whole, then each anchor's branch alone. A hop is met when it
    lies on something that is; a filter on the target is held against the result's own fields, so that an anchor is not
    blamed for it. The residual text is met when its cosine with the document is above what all but the best
    documents of the result's type reach.
    """

    graph: GraphStore
    nodes: NodeStore
    encoder: Encoder
    vectors: VectorIndex
    percentile: float = option(
        95.0, "Percentile of the type's cosines above which the residual is met.", low=0, high=100
    )
    background: int = option(
        1_000, "How many documents of the type a cosine is held against.", low=10, high=10_000, public_high=2_000
    )
    width: int = option(240, "Length of the snippet, in characters.", low=40, high=2_000)

    def __call__(
        self,
        question: Question,
        fusion: Fusion,
        plans: Sequence[LinkedPlan],
        graph: GraphRanking,
        limit: Limit,
    ) -> Noted[Result]:
        """Return the first `question.k` results with snippet, arithmetic and evidence."""
        head = fusion.ranking.candidates[: question.k]
        keys = [candidate.key for candidate in head]
        nodes = dict(zip(keys, self.nodes.nodes(keys, limit), strict=True))
        by_index = {linked.index: linked for linked in plans}
        first = plans[0].index if plans else 0
        plan_of = {key: graph.plan_of.get(key, first) for key in keys} if plans else {}
        evidence, problems = self._evidence(by_index, plan_of, nodes, limit)
        results = [
            Result(
                rank=rank,
                score=candidate.score,
                node=nodes[candidate.key],
                snippet=snippet(nodes[candidate.key], question.text, self.width),
                shares=_shares(fusion, candidate.key),
                evidence=evidence.get(candidate.key),
            )
            for rank, candidate in enumerate(head, 1)
        ]
        return Noted(results, detail=" ".join(problems), status="degraded" if problems else "ok")

    def _evidence(
        self, plans: Mapping[int, LinkedPlan], plan_of: Mapping[int, int], nodes: Mapping[int, Node], limit: Limit
    ) -> tuple[dict[int, Evidence], list[str]]:
        """Return the evidence by key, and sentences about what could not be checked."""
        evidence: dict[int, Evidence] = {}
        problems: list[str] = []
        for index in dict.fromkeys(plan_of.values()):
            linked = plans[index]
            keys = [key for key in plan_of if plan_of[key] == index]
            checked = self._check(linked, keys, limit, problems)
            residuals = self._residuals(
                linked.plan.target.relevance_text, [nodes[key] for key in keys], limit, problems
            )
            for key in keys:
                held = _held_against(linked, checked, key, residuals[key])
                evidence[key] = replace(held, filters=_filters(linked.plan, checked, nodes[key]))
        return evidence, list(dict.fromkeys(problems))

    def _check(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, problems: list[str]) -> _Checked:
        """Match the plan as a whole, then the branches for those who do not meet the whole."""
        checked = _Checked(self._paths(linked, keys, limit, problems))
        if checked.whole is None:
            return checked
        missing = [key for key in keys if key not in checked.whole]
        for anchor in linked.plan.anchors:
            branch = linked.plan.branch(anchor.var)
            branch = replace(branch, filters=tuple(f for f in branch.filters if f.var != branch.target.var))
            if not missing or branch == linked.plan:
                checked.branches[anchor.var] = {}
                continue
            alone = replace(linked, plan=branch, bindings=linked.bindings_of(anchor.var))
            checked.branches[anchor.var] = self._paths(alone, missing, limit, problems)
        return checked

    def _paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, problems: list[str]) -> Matches | None:
        if not linked.plan.anchors:
            return {}
        try:
            return {key: matches[0] for key, matches in self.graph.paths(linked, keys, limit).items()}
        except StageError as error:
            problems.append(f"Conditions could not be checked: {error.reason}.")
            return None

    def _residuals(self, text: str, nodes: Sequence[Node], limit: Limit, problems: list[str]) -> dict[int, Residual]:
        """Hold the residual text against each node's document, and against a sample of its type's documents."""
        if not text:
            return {node.key: Residual() for node in nodes}
        try:
            limit.check("explain")
            vector = self.encoder.encode([text])[0]
            types = {node.type for node in nodes}
            samples = {label: self.vectors.sample(label, self.background, limit) for label in types}
            keys = {node.key for node in nodes}.union(*samples.values())
            cosines = self.vectors.cosines(vector, sorted(keys))
        except StageError as error:
            problems.append(f"The remaining text could not be checked: {error.reason}.")
            return {node.key: Residual(text) for node in nodes}
        thresholds = {}
        for label, sample in samples.items():
            known = [cosines[key] for key in sample if key in cosines]
            if known:
                thresholds[label] = float(np.percentile(known, self.percentile))
        return {node.key: _residual(text, cosines.get(node.key), thresholds.get(node.type)) for node in nodes}


def _residual(text: str, score: float | None, threshold: float | None) -> Residual:
    if score is None or threshold is None:
        return Residual(text, "unknown", score, threshold)
    return Residual(text, "met" if score >= threshold else "not_met", score, threshold)


def _held_against(linked: LinkedPlan, checked: _Checked, key: int, residual: Residual) -> Evidence:
    plan = linked.plan
    if checked.whole is None:
        return _evidence_of_all(linked, "unknown", residual)
    if not plan.anchors:
        return Evidence(linked.index, residual=residual)
    if key in checked.whole:
        return _evidence_of_all(linked, "met", residual, checked.whole[key])
    status = {var: _status(matches, key) for var, matches in checked.branches.items()}
    hops: list[Status] = []
    for hop in plan.hops:
        on = [status[anchor.var] for anchor in plan.anchors if hop in plan.branch(anchor.var).hops]
        hops.append("met" if "met" in on else "not_met" if "not_met" in on else "unknown")
    paths = tuple(path for matches in checked.branches.values() for path in (matches or {}).get(key, ()))
    return Evidence(linked.index, tuple(status.items()), tuple(hops), residual, paths)


def _evidence_of_all(linked: LinkedPlan, status: Status, residual: Residual, paths: tuple[Path, ...] = ()) -> Evidence:
    """Return evidence in which every anchor and hop has the same status."""
    anchors = tuple((anchor.var, status) for anchor in linked.plan.anchors)
    return Evidence(linked.index, anchors, (status,) * len(linked.plan.hops), residual, paths)


def _filters(plan: Plan, checked: _Checked, node: Node) -> tuple[Status, ...]:
    """Return how the result stands to each filter; one on another variable is checked with the walk that it is on."""
    found: list[Status] = []
    for condition in plan.filters:
        if condition.var == plan.target.var:
            found.append("met" if meets(node, [condition]) else "not_met")
            continue
        walks = [var for var in checked.branches if condition in plan.branch(var).filters]
        met = node.key in (checked.whole or {}) or any(node.key in (checked.branches[var] or {}) for var in walks)
        found.append("met" if met else "unknown")
    return tuple(found)


def _status(matches: Matches | None, key: int) -> Status:
    if matches is None:
        return "unknown"
    return "met" if key in matches else "not_met"


def _shares(fusion: Fusion, key: int) -> dict[str, Share]:
    """Return what each list gave to the result; the contributions add up to its fused score."""
    return {
        name: Share(
            rank=ranking.ranks.get(key),
            score=ranking.scores.get(key),
            weight=fusion.weights[name],
            contribution=fusion.contribution(name, key),
        )
        for name, ranking in fusion.rankings.items()
    }
