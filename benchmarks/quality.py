"""Quality of each pipeline on val questions, by number of hops, on three real knowledge bases and the demos."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.bases import imported
from benchmarks.common import PROJECT, NotHere, show, table
from search import wiring
from training.data.examples import read_examples
from training.services.evaluate import evaluate

DEMOS = ("products", "papers", "biomedical")
REAL = ("movies", "prime-ibd", "ottqa-small")
MEASURES = ("H@1", "H@5", "R@20", "MRR")


def main() -> None:
    """Print a table for each knowledge base."""
    for name in (*DEMOS, *REAL):
        try:
            base, folder = imported(name, PROJECT / "search" / "fixtures" / "demo" / name if name in DEMOS else None)
        except NotHere as reason:
            show(f"quality on {name}: {reason}; not measured.")
            continue
        questions = next(folder.glob("questions.jsonl*"))
        with tempfile.TemporaryDirectory() as output:
            report = evaluate(
                knowledge_base=base, examples=read_examples(questions, "val"), split="val",
                pipelines=wiring.pipelines(), settings={}, output=Path(output),
            )  # fmt: skip
        _show(report)


def _show(report: dict[str, Any]) -> None:
    parts = report["pipelines"]
    hops = sorted({value for part in parts.values() for value in part["slices"].get("hops", {})})
    rows = []
    for name, part in parts.items():
        by_hops = [part["slices"]["hops"][value]["metrics"]["H@1"] for value in hops]
        latency = [part["latency_ms"]["p50"], part["latency_ms"]["p95"]]
        low, high = part["intervals"]["H@1"]
        rows.append((name, *(part["metrics"][m] for m in MEASURES), f"{low:.1f} to {high:.1f}", *by_hops, *latency))
    columns = ("pipeline", *MEASURES, "H@1, 95%", *(f"{value} hops" for value in hops), "p50 ms", "p95 ms")
    table(f"{report['knowledge_base']}, val, {report['questions']} questions; H@1 by hops", columns, rows)
