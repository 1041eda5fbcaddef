"""Processor time of planning a question on bases of few and of many relations, in turn in one process, warm.

The questions are synthesised of each base. Bases are warmed as a search worker warms them: wordings of likely walks.
"""

from __future__ import annotations

import time

from benchmarks.bases import opened
from benchmarks.common import NotHere, percentiles, show, table
from search.domain.question import Question
from search.domain.trace import Limit
from search.services.warm_up import learn_ahead
from search.stages.plan import Planner
from training.data.synthesis.stream import synthesise

BASES = ("movies", "biotools", "wikipathways", "acl-anthology")
"""The first is the measure of the others."""
QUESTIONS = 60
WARM = 10
SEED = 5
SECONDS = 60.0
"""Most seconds in which wordings are encoded ahead."""


def main() -> None:
    """Print for each base p50 and p95 of planning, and p50 as a multiple of that of the first base."""
    planners, questions = {}, {}
    for name in BASES:
        try:
            tools, _ = opened(name)
        except NotHere as reason:
            show(f"{name}: {reason}")
            continue
        learn_ahead(tools, Limit.seconds(SECONDS))
        planners[name] = Planner(
            tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, None, tools.graph, tools.values,
            tools.text, tools.vectors,
        )  # fmt: skip
        questions[name] = [one.text for one in synthesise(tools, QUESTIONS + WARM, SEED)]
    seconds: dict[str, list[float]] = {name: [] for name in planners}
    for at in range(QUESTIONS + WARM):
        for name, planner in planners.items():
            if at < len(questions[name]):
                began = time.process_time()
                planner(Question(questions[name][at]), Limit())
                if at >= WARM:
                    seconds[name].append(time.process_time() - began)
    found = {name: percentiles(times) for name, times in seconds.items() if times}
    first = next(iter(found.values()))[0] if found else 1.0
    rows = [(name, *both, f"{float(both[0]) / float(first):.2f}") for name, both in found.items()]
    table("Planning a synthesised question, processor time", ("base", "p50 ms", "p95 ms", "of the first"), rows)
