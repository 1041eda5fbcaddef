"""The walks that questions of a base will most likely ask for, so that their wordings can be encoded before a question.

Encoding a wording takes longer than everything else that planning does with a walk. A schema of few relations has all
its wordings in the encoder's cache after some questions; one of many relations meets new ones for a long time.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator

from search.domain.graph import DIRECTIONS, Schema
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape


def likely_walks(shape: Shape, answerable: Collection[int], most: int) -> list[Metapath]:
    """Return up to `most` walks of one or two hops that end at one of the types `answerable`, the likeliest first.

    Every type is as likely to be the start. From there, a step is as likely as its share of the edges of the type at
    which it begins, and a walk of two hops as the product of both.
    """
    found: list[tuple[float, Metapath]] = []
    layer = [(1.0, Metapath(code)) for code in range(len(shape.schema.node_types))]
    for _ in range(2):
        layer = [
            (chance * shape.share(path.end, step.relation, step.direction), path.then(step))
            for chance, path in layer
            for step in _steps(shape, path.end)
        ]
        found += [one for one in layer if one[1].end in answerable and one[0] > 0]
    best = heapq.nsmallest(most, found, key=lambda one: (-one[0], one[1]))
    return [path for _, path in best]


def _steps(shape: Shape, node_type: int) -> Iterator[SchemaStep]:
    """Yield every hop that the schema allows from a type."""
    schema: Schema = shape.schema
    for relation in range(len(schema.relations)):
        for direction in DIRECTIONS:
            for far in sorted(shape.far_ends(node_type, relation, direction)):
                yield SchemaStep(relation, direction, far)
