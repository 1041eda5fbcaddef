"""What an expansion over the graph adds to a list: neighbours of its first nodes, each with the edge that led to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from search.domain.conditions import CheckedConditions
from search.domain.evidence import Evidence, Path, Result
from search.domain.fusion import Fusion
from search.domain.linking import LinkedPlan
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, StepOutput

Explained = Callable[[Question, Fusion, Sequence[LinkedPlan], CheckedConditions, Limit], list[Result]]


@dataclass(frozen=True)
class Neighbours(Fusion):
    """The neighbours that an expansion keeps, best first; its lists are the scorers that ordered them.

    `paths` holds for each of them the edge from a seed. `missing` says that a part of the expansion was not possible;
    `detail` says in a sentence what was done. `seeds` is the number of first nodes that were expanded.
    """

    seeds: int = 0
    paths: Mapping[int, Path] = field(default_factory=dict)
    missing: bool = False

    @property
    def status(self) -> Literal["ok", "degraded"]:
        """`degraded` if a part of the expansion was not possible."""
        return "degraded" if self.missing else "ok"

    @classmethod
    def nothing(cls, why: str, *, missing: bool = False) -> Neighbours:
        """Return no neighbours, with a sentence that says why."""
        return cls(Ranking(), {}, {}, 0.0, detail=why, missing=missing)


@dataclass(frozen=True)
class ExplainWithPaths:
    """Explains results by another stage, and puts the edge from a seed before the evidence of each neighbour."""

    explain: Explained
    paths: Mapping[int, Path]

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, limit: Limit
    ) -> StepOutput[Result]:
        """Return the results of the stage; those that have a path show it first."""
        results = self.explain(question, fusion, plans, checked, limit)
        shown = [
            replace(result, evidence=self._with(result.evidence, path))
            if (path := self.paths.get(result.node.key))
            else result
            for result in results
        ]
        return StepOutput(shown, getattr(results, "detail", ""), getattr(results, "status", "ok"))

    def _with(self, evidence: Evidence | None, path: Path) -> Evidence:
        evidence = evidence or Evidence(0)
        return replace(evidence, paths=(path, *evidence.paths))
