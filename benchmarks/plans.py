"""Plans of each kind of question on synthetic graphs: processor time on the memory-mapped files, and how it grows.

The bases are those that `sizes --keep --parts nodes,adjacency,columns` leaves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from benchmarks.common import percentiles, show, table
from benchmarks.synthetic import SIZES
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Count, Filter, Hop, Order, Plan, Target
from search.domain.trace import Limit
from search.interfaces import Adjacency, Keys, NodeStore

TIMES = 15
ONE, OTHER = Anchor("a", "a"), Anchor("b", "b")
PAPERS, AUTHORS = Target("T", ("paper",)), Target("T", ("author",))
TOPIC, WROTE = Hop("T", "HAS_TOPIC", "a", "field", "out"), Hop("T", "WRITTEN_BY", "a", "author", "out")
OF_HUB = (Hop("x", "HAS_TOPIC", "a", "field", "out"), Hop("x", "WRITTEN_BY", "T", "author", "out"))
TOGETHER = (Hop("x", "WRITTEN_BY", "a", "author", "out"), Hop("x", "WRITTEN_BY", "T", "author", "out"))
AFTER, NEWEST = Filter("T", "year", ">", 2015), Order("year", "desc", 1)
PLANS = {
    "one-hop": ("a", Plan((ONE,), (WROTE,), PAPERS)),
    "two-hop": ("a", Plan((ONE,), TOGETHER, AUTHORS)),
    "two names": ("ha", Plan((ONE, OTHER), (TOPIC, Hop("T", "WRITTEN_BY", "b", "author", "out")), PAPERS)),
    "count": ("f", Plan((ONE,), (TOPIC,), PAPERS, ask="how many")),
    "year + order": ("f", Plan((ONE,), (TOPIC,), PAPERS, (AFTER,), order=Order("pages", "desc"))),
    "count of a hub": ("h", Plan((ONE,), (TOPIC,), PAPERS, ask="how many")),
    "hub + year": ("h", Plan((ONE,), (TOPIC,), PAPERS, (AFTER,))),
    "hub + keyword": ("h", Plan((ONE,), (TOPIC,), PAPERS, (Filter("T", "venue", "=", "journal 3"),))),
    "hub newest": ("h", Plan((ONE,), (TOPIC,), PAPERS, order=NEWEST)),
    "mean over a hub": ("h", Plan((ONE,), (TOPIC,), PAPERS, ask="mean", show="pages")),
    "most of a hub": ("h", Plan((ONE,), OF_HUB, AUTHORS, order=Order(Count("WRITTEN_BY", "in", among="x"), "desc", 1))),
    "newest of all": ("", Plan(target=PAPERS, order=NEWEST)),
}
"""Kind → what its anchors are bound to (an author, a middling field, a hub), and the plan."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table for the sizes asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks plans", description=__doc__)
    parser.add_argument("--sizes", default="3k,30k", help=f"of {', '.join(SIZES)}, separated by commas")
    sizes = parser.parse_args(list(arguments)).sizes.split(",")
    cells = {size: _measured(size) for size in sizes}
    columns = ["plan", *(f"{size}: {what}" for size in sizes for what in ("CPU p50 ms", "p95", "found"))]
    columns += [f"× {one} → {other}" for one, other in pairwise(sizes)]
    rows = [
        [kind, *(cell for size in sizes for cell in cells[size][kind]),
         *(cells[other][kind][0] / cells[one][kind][0] for one, other in pairwise(sizes))]
        for kind in PLANS
    ]  # fmt: skip
    table("Plans by kind of question", columns, rows)


def _measured(size: str) -> dict[str, tuple[float, float, str]]:
    """Return kind → p50 and p95 of the processor time in milliseconds, and the engine with what it found."""
    # Imported here because models can be imported only after Django is set up.
    from search.models import Release, Snapshot
    from search.wiring import Tools

    snapshot = Snapshot.objects.filter(knowledge_base__name=f"sizes-{size}").latest("pk")
    # Never stored: what is asked here needs no release but its snapshot.
    tools = Tools(Release(knowledge_base=snapshot.knowledge_base, snapshot=snapshot), 0)
    show(f"{size}: {snapshot.nodes:,} nodes, {snapshot.edges:,} edges")
    named = _named(tools.adjacency)
    found = {}
    for kind, (letters, plan) in PLANS.items():
        seconds = []
        for at in range(TIMES):
            linked = LinkedPlan(
                plan,
                _bindings(
                    tools.nodes,
                    {anchor.var: named[letter][at % 3] for anchor, letter in zip(plan.anchors, letters, strict=True)},
                ),
            )
            began = time.process_time()
            traversal = tools.graph.execute(linked, Limit.seconds(600))
            seconds.append(time.process_time() - began)
        found[kind] = *percentiles(seconds), f"{traversal.backend} {traversal.total:,}"
    return found


def _bindings(nodes: NodeStore, keys: Mapping[str, int]) -> tuple[Binding, ...]:
    return tuple(Binding(var, node, 1.0) for var, key in keys.items() for node in nodes.references([key]))


def _named(adjacency: Adjacency) -> dict[str, list[int]]:
    """Return three authors of some twenty papers, three fields of some 300, and the three largest fields."""

    def nearest(label: str, relation: str, edges: float) -> list[int]:
        keys: Keys = adjacency.of_types([adjacency.schema.type_codes[label]])
        degrees = adjacency.degrees(keys, adjacency.schema.relation_codes[relation], "in")
        order = np.argsort(np.abs(degrees - min(edges, int(degrees.max()))), kind="stable")
        several: list[int] = keys[order[:3]].tolist()
        return several

    return {
        "a": nearest("author", "WRITTEN_BY", 20),
        "f": nearest("field", "HAS_TOPIC", 300),
        "h": nearest("field", "HAS_TOPIC", np.inf),
    }
