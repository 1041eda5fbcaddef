"""Duration of a search on movies by stage: 200 val questions, warm models, one process."""

from __future__ import annotations

from benchmarks.bases import imported
from benchmarks.common import percentiles, table
from search.models import SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.data.examples import read_examples

QUESTIONS = 200
WARM = 20


def main() -> None:
    """Print p50 and p95 of each stage and of the whole search, for `grasp` and each baseline."""
    name, folder = imported("movies")
    examples = read_examples(folder / "questions.jsonl.gz", "val")
    spread = examples[:: len(examples) // (QUESTIONS + WARM)][: QUESTIONS + WARM]
    for pipeline in ("grasp", "bm25", "vss", "hybrid"):
        seconds: dict[str, list[float]] = {}
        for number, example in enumerate(spread):
            run = request_search(
                knowledge_base=name, question=example.text, pipeline=pipeline, origin=SearchRun.Origin.EVALUATION,
                enqueue=False,
            )  # fmt: skip
            run = run_search(run.pk)
            if number < WARM:
                continue
            for step in run.steps.all():
                seconds.setdefault(step.name, []).append(step.seconds)
            seconds.setdefault("whole search", []).append(run.seconds or 0.0)
        rows = [(stage, *percentiles(times)) for stage, times in seconds.items()]
        table(f"Search on movies, {pipeline}, {QUESTIONS} questions", ("stage", "p50 ms", "p95 ms"), rows)
