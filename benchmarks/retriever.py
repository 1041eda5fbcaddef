"""Duration of the retrieval by fields, untrained and trained, on movies and prime-ibd; and of training it.

`GRASP_BENCH_BASES` names other bases, `GRASP_BENCH_QUESTIONS` (100) is the number of questions that are timed, and
`GRASP_BENCH_TRAINED` (435) the number that a training learns from: all that prime-ibd has, and as many of movies.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from benchmarks.bases import imported
from benchmarks.common import percentiles, table
from search import wiring
from search.domain.question import Question
from search.domain.trace import Limit
from search.models import KnowledgeBase
from search.stages.retrieve_fields import Fields
from training.data.examples import Example, read_examples
from training.services.train import train

BASES, QUESTIONS, TRAINED_ON, WARM = "movies,prime-ibd", "100", "435", 10


def main() -> None:
    """Print p50 and p95 of the stage on each base, and the seconds of a training."""
    rows, trained = [], []
    timed = int(os.environ.get("GRASP_BENCH_QUESTIONS", QUESTIONS))
    number = int(os.environ.get("GRASP_BENCH_TRAINED", TRAINED_ON))
    for wanted in os.environ.get("GRASP_BENCH_BASES", BASES).split(","):
        name, folder = imported(wanted)
        examples = read_examples(folder / "questions.jsonl.gz", "train", number)
        began = time.perf_counter()
        report = train(kind="retriever", knowledge_base=name, examples=examples, settings={}, activate=False)
        trained.append((wanted, len(examples), time.perf_counter() - began, report["metrics"]["passes"]))
        asked = read_examples(folder / "questions.jsonl.gz", "val", timed + WARM)
        release = KnowledgeBase.objects.get(name=name).active_release
        assert release is not None
        tools = wiring.tools(release)
        parts = (
            tools.field_retrievers, tools.encoder, tools.vectors, tools.text, tools.mentions, tools.adjacency,
            tools.nodes,
        )  # fmt: skip
        for title, artifact in (("untrained", ""), ("trained", report["artifact"])):
            stage = Fields(*parts, artifact=artifact)
            rows.append((wanted, title, tools.adjacency.size, *percentiles(_seconds(stage, asked))))
    table(f"Retrieval by fields, {timed} questions", ("base", "retriever", "nodes", "p50 ms", "p95 ms"), rows)
    table("Training the retriever of fields", ("base", "questions", "seconds", "passes"), trained)


def _seconds(stage: Callable[[Question, Limit], object], asked: list[Example]) -> list[float]:
    """Return the seconds of each question after the warm-up."""
    taken = []
    for example in asked:
        began = time.perf_counter()
        stage(Question(example.text), Limit())
        taken.append(time.perf_counter() - began)
    return taken[WARM:]
