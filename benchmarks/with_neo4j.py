"""What configuring Neo4j costs a search: the same questions on three engines in turn, in one run. Needs `NEO4J_URL`.

The engines are the mapped graph with Postgres behind it, the mapped graph with Neo4j behind it, which is what the site
uses once `NEO4J_URL` is set, and Neo4j alone. Each question is asked once before, untimed, so that no engine gains from
the embedding that another one had to wait for.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.conf import settings

from benchmarks.bases import imported
from benchmarks.common import NotHere, percentiles, show, table
from benchmarks.question_sets import question_sets
from search import wiring
from search.adapters.graph_memmap import MemmapOrPostgres
from search.adapters.graph_neo4j.connection import Connection, Row
from search.adapters.graph_neo4j.fallback import MemmapOrNeo4j, Neo4jOrPostgres
from search.domain.trace import Limit
from search.interfaces import GraphStore
from search.models import KnowledgeBase, SearchRun
from search.services.knowledge.sync_graph import sync_graph
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.data.examples import Example, spread

QUESTIONS, WARM = 120, 20
WITHOUT, WITH, ALONE = "without Neo4j", "with Neo4j", "Neo4j alone"
ENGINES = (WITHOUT, WITH, ALONE)


class Switched:
    """The engines over one release; `now` is the one that answers."""

    now = WITHOUT

    def __init__(self, **tools: Any) -> None:
        own = {name: tool for name, tool in tools.items() if name != "columns"}
        self._engines: dict[str, GraphStore] = {
            WITHOUT: MemmapOrPostgres(**tools), WITH: MemmapOrNeo4j(**tools), ALONE: Neo4jOrPostgres(**own),
        }  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engines[Switched.now], name)


def main(arguments: Sequence[str] = ()) -> None:
    """Copy the base of each question set (movies, unless named) into Neo4j; print times and ratios on each engine."""
    if not settings.NEO4J_URL:
        raise NotHere("NEO4J_URL is not set (make neo4j prints a value for it)")
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "graph": {"BACKEND": f"{__name__}.Switched"}}
    for asked in question_sets(arguments or ["movies"]):
        imported(asked.base)
        synced = sync_graph(knowledge_base=KnowledgeBase.objects.get(name=asked.base))
        show(f"{asked.base} in Neo4j: {synced.outcome}")
        wiring.forget()
        _compare(asked.base, spread(asked.examples(), QUESTIONS + WARM))


def _compare(base: str, examples: Sequence[Example]) -> None:
    wall: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    own: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    sent, differing = Counter[str](), Counter[str]()
    with _counted(sent):
        for number, example in enumerate(examples):
            _search(base, example.text, WITHOUT)
            turn = number % len(ENGINES)
            answers = {}
            for engine in ENGINES[turn:] + ENGINES[:turn]:
                spent, began = time.process_time(), time.perf_counter()
                run = _search(base, example.text, engine)
                if number >= WARM:
                    own[engine].append(time.process_time() - spent)
                    wall[engine].append(time.perf_counter() - began)
                    answers[engine] = [one["node"]["id"] for one in describe_search(run)["results"]]
            if number < WARM:
                sent.clear()
            differing.update(engine for engine, found in answers.items() if found != answers[WITHOUT])
    asked = len(wall[WITHOUT])
    usual = percentiles(wall[WITHOUT])[0]
    rows = [
        (engine, *percentiles(wall[engine]), percentiles(own[engine])[0], f"{percentiles(wall[engine])[0] / usual:.2f}",
         sent[engine] / asked, differing[engine])
        for engine in ENGINES
    ]  # fmt: skip
    columns = ("engine", "p50 ms", "p95 ms", "CPU p50 ms", "× without", "statements a search", "other results")
    table(f"Search on {base}, {asked} questions on each engine in turn", columns, rows)


def _search(base: str, question: str, engine: str) -> SearchRun:
    Switched.now = engine
    run = request_search(knowledge_base=base, question=question, origin=SearchRun.Origin.EVALUATION, enqueue=False)
    run = run_search(run.pk)
    if run.error:
        raise NotHere(f"{base}, {engine}: {run.error['detail']}")
    return run


@contextmanager
def _counted(sent: Counter[str]) -> Iterator[None]:
    """Count the statements that each engine sends to Neo4j."""
    read = Connection.read

    def counted(self: Connection, stage: str, query: str, parameters: Mapping[str, Any], limit: Limit) -> list[Row]:
        sent[Switched.now] += 1
        return read(self, stage, query, parameters, limit)

    with patch.object(Connection, "read", counted):
        yield
