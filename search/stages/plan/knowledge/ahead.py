"""The walks that questions of a base will most likely ask for, so that their wordings can be encoded before a question.

Encoding a wording takes longer than everything else that planning does with a walk. A schema of few relations has all
its wordings in the encoder's cache after some questions; one of many relations meets new ones for a long time.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from itertools import islice

from search.domain.graph import DIRECTIONS, Schema
from search.stages.plan.knowledge.shape import Metapath, SchemaStep, Shape
from search.stages.plan.knowledge.wording import Wording

HOPS = 3
"""Most hops of a walk, as the planner has them by default."""


def likely_wordings(shape: Shape, wording: Wording, most: int) -> list[str]:
    """Return up to `most` wordings of walks, each once, the likeliest first."""
    schema = shape.schema
    answerable = {schema.type_codes[name] for name in schema.answerable}
    told = (wording.plan((path,)) for path in likely_walks(shape, answerable))
    # Relations with one description have one wording, so that there are fewer wordings than walks.
    return list(islice(_once(told), most))


def likely_walks(shape: Shape, answerable: Collection[int]) -> Iterator[Metapath]:
    """Yield the walks of up to `HOPS` hops that end at one of the types `answerable`, the likeliest first.

    Every type is as likely to be the start. From there, a step is as likely as its share of the edges of the type at
    which it begins, and a walk as the product of its steps. Of walks that are as likely, shorter ones come first.
    """
    steps = [_steps(shape, code) for code in range(len(shape.schema.node_types))]
    # A walk is never likelier than the one without its last hop, so the next one is always among those reached so far.
    reached = [(-1.0, 0, Metapath(code)) for code in range(len(steps))]
    while reached:
        chance, hops, path = heapq.heappop(reached)
        if hops and path.end in answerable:
            yield path
        if hops < HOPS:
            for step, share in steps[path.end]:
                heapq.heappush(reached, (chance * share, hops + 1, path.then(step)))


def _steps(shape: Shape, node_type: int) -> list[tuple[SchemaStep, float]]:
    """Return every hop that the schema allows from a type, with its share of the type's edges."""
    schema: Schema = shape.schema
    return [
        (step, share)
        for relation in range(len(schema.relations))
        for direction in DIRECTIONS
        if (share := shape.share(node_type, relation, direction))
        for step in shape.hops(node_type, relation, direction)
    ]


def _once(texts: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text
