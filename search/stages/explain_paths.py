"""The final list → explained results, each with the walks that led a stage to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.domain.evidence import Evidence, Path, Result
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.explained import explained
from search.interfaces import NodeStore


@dataclass(frozen=True)
class ExplainPaths:
    """Explains the first results by paths that another stage found; a result without a path has no evidence."""

    nodes: NodeStore
    width: int = option(240, "Length of the snippet, in characters.", low=40, high=2_000)
    paths: int = option(5, "Most paths that are shown of a result.", low=1, high=50)

    def __call__(
        self, question: Question, fusion: Fusion, paths: Mapping[int, Sequence[Path]], limit: Limit
    ) -> list[Result]:
        """Return the first `question.k` results with snippet, parts of the score, and their paths by key."""
        limit.check("explain")
        shown = fusion.ranking.keys[: question.k]
        evidence = {key: Evidence(0, paths=tuple(paths[key][: self.paths])) for key in shown if paths.get(key)}
        return explained(question, fusion, self.nodes.nodes(shown, limit), evidence, self.width)
