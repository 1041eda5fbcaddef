"""What each part of GRASP adds on validation questions: planner, fusion, retriever, reranker, each with and without.

`GRASP_BENCH_BASES` (movies,prime-ibd,ottqa-small,asked) names the knowledge bases, where `asked` stands for all bases
of the questions as people ask them, together. `GRASP_BENCH_QUESTIONS` (200) is the most questions of a base.
Learned parts are the newest artifacts of each base: those that have learned from real questions, and those that have
learned from synthesised ones alone. Train them first (`train all NAME --questions FILE`, `train all NAME
--synthesised`); rows without an artifact are left out. `GRASP_BENCH_NEURAL` (prime-ibd) names the bases on which rows
with a cross-encoder are measured, because it takes half a second for each question.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from benchmarks.arms import Answered, answered
from benchmarks.bases import imported
from benchmarks.common import DATA, PROJECT, NotHere, show, table
from search import wiring
from search.models import Artifact
from training.data.examples import Example, read_examples, spread
from training.evaluation.comparisons import comparisons, holm
from training.evaluation.measures import intervals, means

BASES, NEURAL, QUESTIONS = "movies,prime-ibd,ottqa-small,asked", "prime-ibd", 200
ASKED = "asked"
DEMOS = ("products", "papers", "biomedical")
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
REFERENCE = "graph and text, dynamic fusion"
UNTRAINED = "untrained"
"""Name of the packaged cross-encoder as it is before training, among the scorers of this process."""


def main() -> None:
    """Print a table for each knowledge base, and the published figures."""
    settings.GRASP_SCORERS[UNTRAINED] = {"BACKEND": "search.neural.scorers.configured_cross_encoder"}
    wiring.forget()
    most = int(os.environ.get("GRASP_BENCH_QUESTIONS", QUESTIONS))
    neural = os.environ.get("GRASP_BENCH_NEURAL", NEURAL).split(",")
    for name in os.environ.get("GRASP_BENCH_BASES", BASES).split(","):
        began = time.perf_counter()
        measured = [one for part, file in _files(name) if (one := _measured(part, file, most, name in neural))]
        if measured:
            _show(name, _together(measured))
            show(f"{name}: {time.perf_counter() - began:.0f} s")
    columns = ("published for GRASP, means of three STaRK sets", *MEASURES)
    table("Published", columns, PUBLISHED)


def _files(name: str) -> list[tuple[str, Path]]:
    """Return the knowledge bases that a name stands for, each with its questions."""
    if name == ASKED:
        return [(path.stem, path) for path in sorted((DATA / ASKED).glob("*.jsonl"))]
    folder = _bundle(name) or DATA / name
    return [(name, path) for path in folder.glob("questions.jsonl*")]


def _bundle(name: str) -> Path | None:
    """Return the folder of a demo base; None for others."""
    return PROJECT / "search" / "fixtures" / "demo" / name if name in DEMOS else None


def _measured(name: str, questions: Path, most: int, neural: bool) -> dict[str, Answered]:
    """Return title → measures on a knowledge base; nothing if it is not there."""
    try:
        base, _ = imported(name, _bundle(name))
    except NotHere as reason:
        show(f"ablation on {name}: {reason}; not measured.")
        return {}
    rows = dict(rows_of(artifacts_of(base), neural))
    examples: Sequence[Example] = spread(read_examples(questions, "val"), most)
    return answered(base, rows, examples)


def _together(measured: Sequence[Mapping[str, Answered]]) -> dict[str, Answered]:
    """Return the arms that all of the knowledge bases have, over the questions of all of them."""
    titles = [title for title in measured[0] if all(title in one for one in measured)]
    return {
        title: Answered(
            {name: np.concatenate([one[title].values[name] for one in measured]) for name in measured[0][title].values},
            [second for one in measured for second in one[title].seconds],
            sum(one[title].failed for one in measured),
        )
        for title in titles
    }


def artifacts_of(base: str) -> Mapping[tuple[str, str], str]:
    """Return (what it has learned from, kind) → the newest artifact of that kind.

    Questions that people asked are those of the split `train`; synthesised ones have none.
    """
    found = {}
    for artifact in Artifact.objects.filter(knowledge_base__name=base).order_by("created"):
        learned = REAL if "train" in artifact.configuration.get("splits", {}) else SYNTHESISED
        found[learned, artifact.kind] = artifact.id
    return found


def rows_of(artifacts: Mapping[tuple[str, str], str], neural: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the title of each row and the choice of a pipeline that it measures; each title is there once.

    All but the last are laid over the site's specification (version 0), so that nothing tuned is among them.
    """
    yield "BM25", "bm25@0"
    yield "vectors", "vss@0"
    yield "words and vectors", "hybrid@0"
    yield "fields, untrained", "mfar@0 retrieve.artifact="
    yield "graph alone", f"grasp@0 {BARE} {BEFORE['graph']}"
    yield "graph and text, static fusion", f"grasp@0 {BARE} {BEFORE['static']}"
    yield REFERENCE, f"grasp@0 {BARE}"
    yield "graph and fields, untrained", "grasp@0 plan.artifact= retrieve=mfar retrieve.artifact= rerank=none"
    if neural:
        scorer = f"rerank=neural rerank.scorer={UNTRAINED} rerank.neural_seconds=30"
        yield "and a cross-encoder, untrained", f"grasp@0 plan.artifact= retrieve=hybrid {scorer}"
    for learned in (SYNTHESISED, REAL):
        have = {kind: artifacts[learned, kind] for kind in OPTIONS if (learned, kind) in artifacts}
        if not neural:
            have.pop("reranker", None)
        yield from ((f"{title}, {learned}", choice) for title, choice in _learned(have))
    yield "as it is in use", "grasp"


def _learned(have: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the rows in which one learned part after the other is added, and those that leave one out.

    A row is named after the parts that have learned; `graph` is the untrained planner.
    """
    planner = f"plan.artifact={have.get('planner', '')}"
    first = "planner" if "planner" in have else "graph"
    lists = f"{first}, fields" if "retriever" in have else first
    text = "retrieve=hybrid"
    if "planner" in have:
        yield "planner", f"grasp@0 {planner} {text} rerank=none"
    if "retriever" in have:
        fields = f"retrieve=mfar retrieve.artifact={have['retriever']}"
        yield "fields", f"mfar@0 retrieve.artifact={have['retriever']}"
        if "ranker" in have:
            light = f"rerank=light rerank.light_artifact={have['ranker']}"
            yield f"{first} and light ranker", f"grasp@0 {planner} {text} {light}"
        text = fields
        yield f"{first} and fields", f"grasp@0 {planner} {text} rerank=none"
    if "ranker" in have:
        light = f"rerank.light_artifact={have['ranker']}"
        yield f"{lists} and light ranker", f"grasp@0 {planner} {text} rerank=light {light}"
    if "reranker" in have:
        neural = f"rerank.neural_artifact={have['reranker']} rerank.neural_seconds=30"
        yield f"{lists} and neural reranker", f"grasp@0 {planner} {text} rerank=neural {neural}"
        if "ranker" in have:
            both = f"rerank=light_neural rerank.light_artifact={have['ranker']} {neural}"
            yield f"{lists}, light and neural", f"grasp@0 {planner} {text} {both}"


def _show(name: str, measured: Mapping[str, Answered]) -> None:
    """Print a base's table; differences are to the row of dynamic fusion, in MRR, with p-values after Holm."""
    others = [title for title in measured if title != REFERENCE]
    found = [_against(measured[title], measured[REFERENCE]) for title in others if REFERENCE in measured]
    compared = dict(zip(others, zip(found, holm([one["p"] for one in found]), strict=True), strict=bool(found)))
    shown = []
    for title, one in measured.items():
        metrics, (low, high) = means(one.values), intervals(one.values)["H@1"]
        shown.append(
            (title, *(f"{metrics[measure]:.1f}" for measure in MEASURES), f"{low:.1f} to {high:.1f}",
             *_difference(*compared.get(title, ({}, 1.0))), 1000 * float(np.median(one.seconds or [0.0])),
             str(one.failed or ""))
        )  # fmt: skip
    columns = ("", *MEASURES, "H@1, 95%", "MRR against dynamic fusion", "p (Holm)", "p50 ms", "failed")
    count = len(next(iter(measured.values())).values["MRR"])
    table(f"{name}, val, {count} questions", columns, shown)


def _against(one: Answered, reference: Answered) -> Mapping[str, Any]:
    """Return the comparison of an arm with the reference in MRR."""
    compared = comparisons({"one": one.values, "reference": reference.values})
    return next(found for found in compared if found["metric"] == "MRR")


def _difference(compared: Mapping[str, Any], p: float) -> tuple[str, str]:
    """Return a difference in MRR with its interval, and its corrected p-value; empty for the reference itself."""
    if not compared:
        return "", ""
    low, high = compared["interval"]
    return f"{compared['difference']:+.1f} ({low:+.1f} to {high:+.1f})", f"{p:.4f}"
