"""The effect of the number of training questions on prime-ibd's val questions: retriever of fields and light ranker.

`GRASP_BENCH_SIZES` (0,50,100,200,435) are the numbers, evenly spaced over the train questions; 0 is the untrained site.
`GRASP_BENCH_SYNTHESISED` (0) questions made of the knowledge base join each training, and alone are the row 0. Each
size leaves two artifacts and three versions that nobody uses.
"""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.arms import answered
from benchmarks.bases import imported
from benchmarks.common import show, table
from search.models import KnowledgeBase, PipelineVersion
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from training.data.examples import BadQuestions, Example, read_examples, spread
from training.evaluation.measures import intervals, means
from training.services.train import train

BASE, PIPELINE = "prime-ibd", "grasp"
SIZES = "0,50,100,200,435"
PARTS = ("retriever", "ranker")
MEASURES = ("H@1", "H@5", "R@20", "MRR")


def main() -> None:
    """Print one row for each number of training questions."""
    name, folder = imported(BASE)
    questions = next(folder.glob("questions.jsonl*"))
    taught, asked = read_examples(questions, "train"), read_examples(questions, "val")
    made = int(os.environ.get("GRASP_BENCH_SYNTHESISED", "0"))
    versions, seconds = {}, {}
    for size in map(int, os.environ.get("GRASP_BENCH_SIZES", SIZES).split(",")):
        began = time.perf_counter()
        versions[size] = _trained(name, spread(taught, size) if size else [], made)
        seconds[size] = time.perf_counter() - began
        show(f"{size} questions: trained in {seconds[size]:.0f} s")
    found = answered(name, {str(size): f"{PIPELINE}@{number}" for size, number in versions.items()}, asked)
    rows: list[tuple[Any, ...]] = []
    for title, one in found.items():
        figures, (low, high) = means(one.values), intervals(one.values)["H@1"]
        measured = (figures[measure] for measure in MEASURES)
        rows.append((title, *measured, f"{low:.1f} to {high:.1f}", seconds[int(title)]))
    columns = ("questions", *MEASURES, "H@1, 95%", "seconds of training")
    joined = f", and {made:,} synthesised ones" if made else ""
    table(f"{' and '.join(PARTS)} by number of training questions{joined}: {BASE}, val, {len(asked)}", columns, rows)


def _trained(name: str, examples: list[Example], synthesised: int) -> int:
    """Return the number of a version in which every part has learned from these questions, one after the other."""
    base = KnowledgeBase.objects.get(name=name)
    version = save_pipeline_version(
        knowledge_base=base, pipeline=PIPELINE, options={}, whole=True, activate=False,
        note=f"{len(examples)} training questions.",
    )  # fmt: skip
    for kind in PARTS if examples or synthesised else ():
        try:
            report = train(
                kind=kind, knowledge_base=name, examples=examples, settings={}, activate=False, on=version,
                synthesised=synthesised,
            )  # fmt: skip
        except BadQuestions as refused:
            show(f"{kind}, {len(examples)} questions: {refused}")
            continue
        version = PipelineVersion.objects.get(
            knowledge_base=base, pipeline=PIPELINE, version=report["pipeline_version"]
        )
    return version.version
