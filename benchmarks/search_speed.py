"""What a search costs by stage: processor time of warm models in one process, and the whole in wall time too.

200 val questions of movies, and those that people asked of biotools. Nothing else should run beside it: processor time
grows with the load of the machine too, if less than wall time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from benchmarks.bases import imported
from benchmarks.common import NotHere, percentiles, table
from benchmarks.question_sets import question_sets
from search.domain import trace
from search.models import SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.data.examples import Example, spread

QUESTIONS = 200
WARM = 20
PIPELINES = ("grasp", "bm25", "vss", "hybrid")


def main() -> None:
    """Print p50 and p95 of each stage and of the whole search, for `grasp` and each baseline."""
    asked = {one.base: one.examples("all") for one in question_sets(["asked"]) if one.base == "biotools"}
    (movies,) = question_sets(["movies"])
    for base, examples in ({"movies": movies.examples()} | asked).items():
        imported(base)
        for pipeline in PIPELINES if base == "movies" else PIPELINES[:1]:
            _measure(base, pipeline, spread(examples, QUESTIONS + WARM))


def _measure(base: str, pipeline: str, examples: Sequence[Example]) -> None:
    seconds: dict[str, list[float]] = {}
    with _processor_time():
        for number, example in enumerate(examples):
            run = request_search(
                knowledge_base=base, question=example.text, pipeline=pipeline, origin=SearchRun.Origin.EVALUATION,
                enqueue=False,
            )  # fmt: skip
            spent, began = time.process_time(), time.perf_counter()
            run = run_search(run.pk)
            whole, wall = time.process_time() - spent, time.perf_counter() - began
            if number < WARM:
                continue
            if run.error:
                raise NotHere(f"{base}, {pipeline}: {run.error['detail']}")
            steps = {step.name: step.seconds for step in run.steps.all()}
            told = {"all beside the stages": whole - sum(steps.values()), "whole": whole, "whole, wall": wall}
            for name, took in (steps | told).items():
                seconds.setdefault(name, []).append(took)
    rows = [(stage, *percentiles(times)) for stage, times in seconds.items()]
    title = f"Search on {base}, {pipeline}, {len(examples) - WARM} questions, processor time"
    table(title, ("stage", "p50 ms", "p95 ms"), rows)


@contextmanager
def _processor_time() -> Iterator[None]:
    """Let the steps of a trace measure the processor time of this process."""
    clock = SimpleNamespace(monotonic=time.monotonic, perf_counter=time.process_time)
    with patch.object(trace, "time", clock):
        yield
