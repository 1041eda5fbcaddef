"""What each part of GRASP adds on validation questions: planner, fusion, retriever, reranker, each with and without.

`GRASP_BENCH_BASES` (movies,prime-ibd,ottqa-small) names the knowledge bases. Learned parts are the newest artifacts of
each base: those that have learned from real questions, and those that have learned from synthesised ones alone. Train
them first (`train all NAME --questions FILE`, `train all NAME --synthesised`); rows without an artifact are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.bases import imported
from benchmarks.common import NotHere, show, table
from search.models import Artifact
from training.data.examples import read_examples
from training.services.evaluate import evaluate

BASES = "movies,prime-ibd,ottqa-small"
MEASURES = ("H@1", "H@5", "R@20", "MRR")
PUBLISHED = (
    ("graph alone", 48.1, 64.3, 63.2, 55.5),
    ("graph and mFAR, fused", 59.1, 81.5, 78.5, 69.2),
    ("and a reranker, zero-shot", 62.3, 85.0, 80.3, 72.3),
    ("and a reranker, fine-tuned", 73.9, 90.4, 83.4, 81.3),
)
"""Published for GRASP (2026): means over STaRK's three synthetic test sets. Other questions, bases and models."""
REAL, SYNTHESISED = "learned from questions", "learned from synthesised questions alone"
OPTIONS = {
    "planner": "plan.artifact", "retriever": "retrieve.artifact", "ranker": "rerank.light_artifact",
    "reranker": "rerank.neural_artifact",
}  # fmt: skip
"""Option that names the artifact of each kind."""
BARE = "plan.artifact= retrieve=hybrid rerank=none"
BEFORE = {"graph": "fuse.method=static fuse.weight=1 fuse.lead=2", "static": "fuse.method=static fuse.lead=2"}


def main() -> None:
    """Print a table for each knowledge base, and the published figures."""
    for name in os.environ.get("GRASP_BENCH_BASES", BASES).split(","):
        try:
            base, folder = imported(name)
        except NotHere as reason:
            show(f"ablation on {name}: {reason}; not measured.")
            continue
        rows = dict(rows_of(artifacts_of(base)))
        examples = read_examples(next(folder.glob("questions.jsonl*")), "val")
        report = evaluate(
            knowledge_base=base, examples=examples, split="val", pipelines=[*rows.values()], settings={},
            attribute=False, repeated=0,
        )  # fmt: skip
        _show(report, rows)
    columns = ("published for GRASP, means of three STaRK sets", *MEASURES)
    table("Published", columns, PUBLISHED)


def artifacts_of(base: str) -> Mapping[tuple[str, str], str]:
    """Return (what it has learned from, kind) → the newest artifact of that kind."""
    found = {}
    for artifact in Artifact.objects.filter(knowledge_base__name=base).order_by("created"):
        found[REAL if artifact.configuration.get("splits") else SYNTHESISED, artifact.kind] = artifact.id
    return found


def rows_of(artifacts: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    """Yield the title of each row and the choice of a pipeline that it measures; each title is there once."""
    yield "BM25", "bm25"
    yield "vectors", "vss"
    yield "words and vectors", "hybrid"
    yield "fields, untrained", "mfar retrieve.artifact="
    yield "graph alone", f"grasp {BARE} {BEFORE['graph']}"
    yield "graph and text, static fusion", f"grasp {BARE} {BEFORE['static']}"
    yield "graph and text, dynamic fusion", f"grasp {BARE}"
    for learned in (SYNTHESISED, REAL):
        have = {kind: artifacts[learned, kind] for kind in OPTIONS if (learned, kind) in artifacts}
        yield from ((f"{title}, {learned}", choice) for title, choice in _learned(have))


def _learned(have: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the rows in which one learned part after the other is added, and those that leave one out."""
    planner = f"plan.artifact={have.get('planner', '')}"
    text = "retrieve=hybrid"
    if "planner" in have:
        yield "planner", f"grasp {planner} {text} rerank=none"
    if "retriever" in have:
        fields = f"retrieve=mfar retrieve.artifact={have['retriever']}"
        yield "fields", f"mfar retrieve.artifact={have['retriever']}"
        if "ranker" in have:
            light = f"rerank=light rerank.light_artifact={have['ranker']}"
            yield "planner and light ranker", f"grasp {planner} {text} {light}"
        text = fields
        yield "planner and fields", f"grasp {planner} {text} rerank=none"
    if "ranker" in have:
        light = f"rerank.light_artifact={have['ranker']}"
        yield "planner, fields and light ranker", f"grasp {planner} {text} rerank=light {light}"
    if "reranker" in have:
        neural = f"rerank.neural_artifact={have['reranker']}"
        yield "planner, fields and neural reranker", f"grasp {planner} {text} rerank=neural {neural}"
        if "ranker" in have:
            both = f"rerank=light_neural rerank.light_artifact={have['ranker']} {neural}"
            yield "planner, fields, light and neural", f"grasp {planner} {text} {both}"


def _show(report: Mapping[str, Any], rows: Mapping[str, str]) -> None:
    """Print a base's table; the difference is to the row of dynamic fusion, in MRR, with the p-value after Holm."""
    parts, reference = report["pipelines"], rows["graph and text, dynamic fusion"]
    shown = []
    for title, choice in rows.items():
        part = parts[choice]
        low, high = part["intervals"]["H@1"]
        shown.append(
            (title, *(f"{part['metrics'][name]:.1f}" for name in MEASURES), f"{low:.1f} to {high:.1f}",
             *_difference(report["comparisons"], choice, reference), part["latency_ms"]["p50"])
        )  # fmt: skip
    columns = ("", *MEASURES, "H@1, 95%", "MRR against dynamic fusion", "p (Holm)", "p50 ms")
    table(f"{report['knowledge_base']}, val, {report['questions']} questions", columns, shown)


def _difference(comparisons: list[Mapping[str, Any]], choice: str, reference: str) -> tuple[str, str]:
    """Return the difference in MRR of a row to the reference with its interval, and its p-value."""
    for one in comparisons:
        if one["metric"] == "MRR" and {one["a"], one["b"]} == {choice, reference}:
            sign = 1.0 if one["a"] == choice else -1.0
            low, high = sorted(sign * end for end in one["interval"])
            return f"{sign * one['difference']:+.1f} ({low:+.1f} to {high:+.1f})", f"{one['p_holm']:.4f}"
    return "", ""
