"""Plans and whole searches of each kind of question on synthetic graphs: processor time, and how it grows.

The bases are those that `sizes --keep` leaves; without vectors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.common import by_size, percentiles, show
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
QUESTIONS = {
    "one-hop": "papers written by {a}",
    "two-hop": "authors of papers written by {a}",
    "two names": "papers with topic {h} written by {a}",
    "count": "how many papers have topic {f}",
    "year + order": "papers with topic {f} after 2015 with the most pages",
    "hub + year": "papers with topic {h} after 2015",
    "hub newest": "newest paper with topic {h}",
    "most of a hub": "author with the most papers with topic {h}",
    "text": "{f} bace dice fogu lame",
}
"""Kind → a question with the names that its letters stand for, as above."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table for the sizes asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks plans", description=__doc__)
    parser.add_argument("--sizes", default="3k,30k", help=f"of {', '.join(SIZES)}, separated by commas")
    sizes = parser.parse_args(list(arguments)).sizes.split(",")
    cells = {size: _measured(size) for size in sizes}
    by_size("Plans by kind of question", "kind", cells, "found")
    by_size("Whole searches by kind of question", "kind", {size: _searched(size) for size in sizes}, "wall p50 ms")


def _searched(size: str) -> dict[str, tuple[float, float, float]]:
    """Return kind → p50 and p95 of a search's processor time, and p50 of its wall time, in milliseconds."""
    # Imported here because models can be imported only after Django is set up.
    from search.models import SearchRun, Snapshot
    from search.services.jobs.run_context import plain_run
    from search.services.knowledge.index_snapshot import index_snapshot
    from search.services.knowledge.releases import activate_once
    from search.services.searches.request_search import request_search
    from search.services.searches.run_search import run_search
    from search.wiring import Tools

    snapshot = Snapshot.objects.filter(knowledge_base__name=f"sizes-{size}").latest("pk")
    release = index_snapshot(snapshot=snapshot, embed=False)
    activate_once(snapshot.knowledge_base, release, plain_run())
    tools = Tools(release, 0)
    names = {letter: tools.nodes.references(keys) for letter, keys in _named(tools.adjacency).items()}
    found = {}
    for kind, question in QUESTIONS.items():
        spent, took = [], []
        # The first ones open files and fill caches.
        for at in range(-3, TIMES):
            run = request_search(
                knowledge_base=release.knowledge_base.name,
                question=question.format(**{letter: several[at % 3].name for letter, several in names.items()}),
                pipeline="grasp", origin=SearchRun.Origin.EVALUATION, enqueue=False,
            )  # fmt: skip
            began, clock = time.process_time(), time.perf_counter()
            run_search(run.pk)
            if at >= 0:
                spent.append(time.process_time() - began)
                took.append(time.perf_counter() - clock)
        found[kind] = *percentiles(spent), percentiles(took)[0]
    return found


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
