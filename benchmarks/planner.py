"""Quality and speed of planning without a language model and training: movies' val questions, graph alone.

Plans are executed on the memory-mapped adjacency. A node's score is the sum of the probabilities of the plans that find
it. Linking and text therefore do not influence the figures.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.bases import opened
from benchmarks.common import percentiles, table
from search.domain.plan import Plan
from search.domain.question import Question
from search.domain.ranking import Ranking, by_key
from search.domain.trace import Limit
from search.interfaces import Keys
from search.stages.plan import Planner
from search.wiring import Tools
from training.data.examples import Example, read_examples
from training.evaluation.measures import means, measure

WARM = 100
"""Questions that are planned before the measurement."""
DEEP = 100
"""Length of the rankings."""
VARIANTS: dict[str, dict[str, Any]] = {
    "ten plans, words and wording": {},
    "one plan": {"plans": 1},
    "words alone": {"evidence": "words"},
    "wording alone": {"evidence": "wording"},
    "up to two hops": {"max_hops": 2},
}


def main() -> None:
    """Print one row for each variant: quality, H@1 by hops, and time for each question."""
    tools, folder = opened("movies")
    examples = read_examples(folder / "questions.jsonl.gz", "val")
    hops = sorted({example.slices["hops"] for example in examples})
    rows = []
    for title, options in VARIANTS.items():
        planner = Planner(
            tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, **options
        )  # fmt: skip
        rankings, seconds = answered(planner, tools, examples)
        values = measure(rankings, {example.id: example.answers for example in examples})
        by_hops = [hits(rankings, [e for e in examples if e.slices["hops"] == count]) for count in hops]
        whole = means(values)
        rows.append((title, *(whole[m] for m in ("H@1", "H@5", "R@20", "MRR")), *by_hops, *percentiles(seconds)))
    columns = ("planner", "H@1", "H@5", "R@20", "MRR", *(f"{count} hops" for count in hops), "p50 ms", "p95 ms")
    table(f"Planning on movies, val, {len(examples)} questions; H@1 by hops", columns, rows)


def answered(planner: Planner, tools: Tools, examples: Sequence[Example]) -> tuple[dict[str, list[str]], list[float]]:
    """Return question id → ranking of the graph, and the seconds that planning each question took."""
    for example in examples[:WARM]:
        planner(Question(example.text), Limit())
    rankings, seconds = {}, []
    for example in examples:
        began = time.perf_counter()
        plans = planner(Question(example.text), Limit())
        seconds.append(time.perf_counter() - began)
        scores: dict[int, float] = {}
        for entry in plans:
            for key in _found(entry.plan, tools).tolist():
                scores[key] = scores.get(key, 0.0) + entry.probability
        rankings[example.id] = tools.nodes.ids(Ranking.of(scores, by_key, DEEP).keys)
    return rankings, seconds


def hits(rankings: Mapping[str, Sequence[str]], examples: Sequence[Example]) -> float:
    """Return H@1 over these questions."""
    values = measure(
        {example.id: rankings[example.id] for example in examples},
        {example.id: example.answers for example in examples},
    )
    return means(values)["H@1"]


def _found(plan: Plan, tools: Tools) -> Keys:
    """Return the nodes that a plan finds: the intersection of all anchors' chains at T, each walked separately."""
    ends: list[Keys] = []
    anchors = [key for anchor in plan.anchors for key in tools.nodes.keys(anchor.ids) if key is not None]
    for anchor in plan.anchors:
        keys = np.array(sorted(key for key in tools.nodes.keys(anchor.ids) if key is not None), dtype=np.int32)
        for hop in plan.branch(anchor.var).hops:
            keys = tools.adjacency.neighbours(keys, tools.schema.relation_codes[hop.rel], hop.direction or "out")
            keys = _typed(keys[~np.isin(keys, anchors)], (hop.to_label,), tools)
        ends.append(_typed(keys, plan.target.labels, tools))
    if not ends:
        return np.empty(0, dtype=np.int32)
    found = ends[0]
    for other in ends[1:]:
        found = np.intersect1d(found, other)
    return found


def _typed(keys: Keys, labels: Sequence[str], tools: Tools) -> Keys:
    codes = [tools.schema.type_codes[label] for label in labels if label in tools.schema.type_codes]
    return keys[np.isin(tools.nodes.types(keys), codes)] if codes else keys
