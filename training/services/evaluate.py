"""evaluate: ask a file of questions of one or more pipelines, and write report and TREC files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from search.domain.errors import InvalidRequest, StageError
from search.models import SearchRun
from search.services.code_version import code_version
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from training.data.examples import Example
from training.evaluation.report import describe_pipeline
from training.evaluation.runner import Outcome, run
from training.evaluation.trec import qrels_lines, run_lines

Progress = Callable[[str, int, int], None]


def evaluate(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    split: str | None,
    pipelines: Sequence[str],
    settings: Mapping[str, Any],
    output: Path,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run every question through every pipeline, in this process, and return the report.

    `output` gets `report.json`, `qrels`, and `<pipeline>.run` for each pipeline. Settings that a pipeline does not have
    are refused by it before the first question is asked. Raises InvalidRequest with every fault of the request.
    """
    first = {name: _probe(knowledge_base, examples[0], name, settings) for name in pipelines}
    report: dict[str, Any] = {
        "knowledge_base": knowledge_base,
        "release": next(iter(first.values())).release_name,
        "split": split,
        "questions": len(examples),
        "code_version": code_version(),
        "pipelines": {},
    }
    output.mkdir(parents=True, exist_ok=True)
    (output / "qrels").write_text("".join(qrels_lines(examples)), encoding="utf-8")
    for name, probe in first.items():
        ask = _asker(knowledge_base, name, settings)
        ask(examples[0])  # The first search loads models and files; it must not count as latency.
        outcomes = run(examples, ask, _named(progress, name))
        report["pipelines"][name] = describe_pipeline(examples, outcomes, probe.specification)
        (output / f"{name}.run").write_text("".join(run_lines(outcomes, name)), encoding="utf-8")
    (output / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return report


def _probe(knowledge_base: str, example: Example, pipeline: str, settings: Mapping[str, Any]) -> SearchRun:
    """Return a run that was checked and never executed: it carries the release and the frozen specification."""
    probe = request_search(
        knowledge_base=knowledge_base, question=example.text[:2000], pipeline=pipeline, settings=settings,
        origin=SearchRun.Origin.EVALUATION, enqueue=False,
    )  # fmt: skip
    SearchRun.objects.filter(pk=probe.pk).delete()
    return probe


def _asker(knowledge_base: str, pipeline: str, settings: Mapping[str, Any]) -> Callable[[Example], Outcome]:
    def ask(example: Example) -> Outcome:
        try:
            row = request_search(
                knowledge_base=knowledge_base, question=example.text, pipeline=pipeline, settings=settings,
                origin=SearchRun.Origin.EVALUATION, purpose=example.id[:200], enqueue=False,
            )  # fmt: skip
            row = run_search(row.pk)
        except (InvalidRequest, StageError) as error:
            return Outcome(error=str(error))
        if row.status != SearchRun.Status.DONE:
            return Outcome(error=str((row.error or {}).get("detail") or row.status))
        return Outcome(tuple(ranking_of(row)), row.seconds or 0.0)

    return ask


def _named(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
