"""The final list → explained results: the reasons for each rank, and which conditions of the plan each result meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from search.breaks import Breaks
from search.domain.conditions import CheckedConditions, Conditions
from search.domain.errors import StageError
from search.domain.evidence import Evidence, Path, Residual, Result
from search.domain.filtering import NAME
from search.domain.fusion import Fusion
from search.domain.graph import FieldValue, Node
from search.domain.linking import LinkedPlan
from search.domain.options import option
from search.domain.plan import Plan, walks
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.explained import explained
from search.interfaces import Encoder, GraphStore, NodeStore, VectorIndex

_RANGES = ("<", "<=", ">", ">=", "between")
"""Comparisons that more than one value meets."""


@dataclass(frozen=True)
class Explain:
    """Explains the first results, all of them together, with a few statements.

    The conditions of the results were checked before. The graph is queried only for the paths of the results: the paths
    of the whole plan if the result matches it, else one path for each anchor that is met. A result meets the residual
    text if the cosine of text and document reaches the given percentile among documents of the result's type.
    """

    graph: GraphStore
    nodes: NodeStore
    encoder: Encoder
    vectors: VectorIndex
    percentile: float = option(
        95.0, "The remaining text counts as met above this percentile of the type's documents.", low=0, high=100
    )
    background: int = option(
        1_000,
        "Number of documents of the answer's type whose likeness is compared with the result's.",
        low=10,
        high=10_000,
        public_high=2_000,
    )
    width: int = option(240, "Length of the snippet, in characters.", low=40, high=2_000)

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, limit: Limit
    ) -> StepOutput[Result]:
        """Return the first `question.k` results with snippet, parts of the score, and evidence."""
        keys = fusion.ranking.keys[: question.k]
        whole = self.nodes.nodes(keys, limit)
        nodes = dict(zip(keys, whole, strict=True))
        shown = {key: held for key in keys if (held := checked.of_shown(key)) is not None}
        evidence, problems = self._evidence({linked.index: linked for linked in plans}, shown, nodes, limit)
        results = explained(question, fusion, whole, evidence, self.width)
        return StepOutput(results, detail=" ".join(problems), status="degraded" if problems else "ok")

    def _evidence(
        self, plans: Mapping[int, LinkedPlan], shown: Mapping[int, Conditions], nodes: Mapping[int, Node], limit: Limit
    ) -> tuple[dict[int, Evidence], list[str]]:
        """Return the evidence by key, and a sentence for each kind of failed look-up."""
        evidence: dict[int, Evidence] = {}
        problems: list[str] = []
        for index in dict.fromkeys(held.plan_index for held in shown.values()):
            linked = plans[index]
            own = {key: held for key, held in shown.items() if held.plan_index == index}
            paths = self._paths(linked, own, limit, problems)
            text = linked.plan.target.relevance_text
            residuals = self._residuals(text, [nodes[key] for key in own], limit, problems)
            compared = _compared(linked.plan)
            shown_values = self._shown(linked, list(own), nodes, limit, problems)
            breaks = Breaks(self.graph, self.nodes, linked, limit, problems).of(own, paths)
            for key, held in own.items():
                evidence[key] = Evidence(
                    index, held.anchors, held.hops, residuals[key], tuple(paths[key]), held.filters, held.plans,
                    held.whole, breaks[key], held.order,
                    shown_values.get(key),
                    {name: value for name in compared if (value := nodes[key].fields.get(name)) is not None},
                )  # fmt: skip
        return evidence, list(dict.fromkeys(problems))

    def _shown(
        self, linked: LinkedPlan, keys: Sequence[int], nodes: Mapping[int, Node], limit: Limit, problems: list[str]
    ) -> dict[int, FieldValue | None]:
        """Return the value that the plan shows of each result: of a field of its own, or of an edge from it."""
        plan = linked.plan
        if plan.shown_edge is None:
            return {key: nodes[key].fields.get(plan.show) for key in keys} if plan.show else {}
        try:
            several = self.graph.edge_values(linked, plan.shown_edge, keys, limit)
        except StageError as error:
            problems.append(f"Values could not be looked up: {error.reason}.")
            return {}
        found: dict[int, Any] = {key: values[0] if len(values) == 1 else values for key, values in several.items()}
        return {key: value for key, value in found.items() if value != []}

    def _paths(
        self, linked: LinkedPlan, own: Mapping[int, Conditions], limit: Limit, problems: list[str]
    ) -> dict[int, list[Path]]:
        """Return the paths of each result: of the whole match if there is one, else of each anchor that is met."""
        found: dict[int, list[Path]] = {key: [] for key in own}
        whole = [key for key, held in own.items() if held.whole == "met"]
        self._look_up(linked, whole, found, limit, problems)
        for anchor in linked.plan.anchors:
            met = [key for key, held in own.items() if held.whole != "met" and (anchor.var, "met") in held.anchors]
            branch = walks.of_anchor(linked.plan, anchor.var)
            alone = replace(linked, plan=branch, bindings=linked.bindings_of(anchor.var))
            self._look_up(alone, met, found, limit, problems)
        return found

    def _look_up(
        self,
        linked: LinkedPlan,
        keys: Sequence[int],
        found: dict[int, list[Path]],
        limit: Limit,
        problems: list[str],
    ) -> None:
        """Add the paths of the best match of each key to `found`; a failure is added to `problems`."""
        if not keys or not linked.plan.anchors:
            return
        try:
            for key, matches in self.graph.paths(linked, keys, limit).items():
                found[key] += matches[0]
        except StageError as error:
            problems.append(f"Paths could not be looked up: {error.reason}.")

    def _residuals(self, text: str, nodes: Sequence[Node], limit: Limit, problems: list[str]) -> dict[int, Residual]:
        """Return by key whether each node's document meets the residual text.

        The threshold is a percentile of the cosines in a sample of the documents of the node's type.
        """
        if not text:
            return {node.key: Residual() for node in nodes}
        try:
            limit.check("explain")
            vector = self.encoder.encode([text])[0]
            types = {node.type for node in nodes}
            samples = {label: self.vectors.background(vector, label, self.background, limit) for label in types}
            cosines = self.vectors.cosines(vector, sorted(node.key for node in nodes))
        except StageError as error:
            problems.append(f"The remaining text could not be checked: {error.reason}.")
            return {node.key: Residual(text) for node in nodes}
        thresholds = {
            label: float(np.percentile(sample.astype(np.float64), self.percentile))
            for label, sample in samples.items()
            if len(sample)
        }
        return {node.key: _residual(text, cosines.get(node.key), thresholds.get(node.type)) for node in nodes}


def _compared(plan: Plan) -> tuple[str, ...]:
    """Return the fields of the target whose values a plan compares; a value that must be just so says nothing new."""
    own = [one for one in plan.filters if one.var == plan.target.var and one.count is None and one.field != NAME]
    return tuple(dict.fromkeys(one.field for one in own if one.op in _RANGES))


def _residual(text: str, score: float | None, threshold: float | None) -> Residual:
    if score is None or threshold is None:
        return Residual(text, "unknown", score, threshold)
    return Residual(text, "met" if score >= threshold else "not_met", score, threshold)
