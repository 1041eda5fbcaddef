"""evaluate: ask a file of questions of one or more pipelines, and write report and TREC files.

Release, settings and specifications are decided once and handed to every search, so that nothing that is activated in
the meantime changes what is measured; the report is refused where a search used anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.utils import timezone

from search import wiring
from search.domain.errors import InvalidRequest, SearchError, StageError
from search.models import SearchRun
from search.services.code_version import code_version
from search.services.searches.pin import Pin, mixed
from search.services.searches.request_search import pin_searches, request_search
from search.services.searches.run_search import ranking_of, run_search
from training.data.examples import Example
from training.evaluation.report import describe_pipeline
from training.evaluation.runner import QuestionOutcome, run
from training.evaluation.trec import qrels_lines, run_lines
from training.models import Evaluation, QuestionSet
from training.services.learned_from import learned_from
from training.services.question_sets import described_set

Progress = Callable[[str, int, int], None]


class MixedEvaluation(SearchError):
    """Searches of one evaluation used different releases, settings or specifications; there is no report."""


def evaluate(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    split: str | None,
    pipelines: Sequence[str],
    settings: Mapping[str, Any],
    output: Path,
    progress: Progress | None = None,
    question_set: QuestionSet | None = None,
) -> dict[str, Any]:
    """Run every question through every pipeline, in this process, and return the report.

    `output` gets `report.json`, `qrels`, and `<pipeline>.run` for each pipeline. Settings that a pipeline does not have
    are refused by it before the first question is asked. Raises InvalidRequest with every fault of the request,
    StageError where a pipeline cannot be composed (its encoder is not there), MixedEvaluation where somebody's searches
    are among those of this evaluation and used something else.
    """
    pins = pin_searches(knowledge_base=knowledge_base, pipelines=pipelines, settings=settings, evaluation=uuid4())
    with evaluation_of(pins, examples, split, question_set) as evaluation:
        for pin in pins.values():
            _compose(pin)
        report = _begun(evaluation, examples, split, question_set)
        output.mkdir(parents=True, exist_ok=True)
        (output / "qrels").write_text("".join(qrels_lines(examples)), encoding="utf-8")
        for name, pin in pins.items():
            ask = _asker(pin)
            ask(examples[0])  # The first search loads models and files; it must not count as latency.
            outcomes = run(examples, ask, _named(progress, name))
            if reason := mixed(pins, evaluation.id):
                raise MixedEvaluation(reason)
            described = describe_pipeline(examples, outcomes, pin.specification)
            report["pipelines"][name] = described | _used(pin) | learned_from(pin.specification, examples)
            (output / f"{name}.run").write_text("".join(run_lines(outcomes, name)), encoding="utf-8")
        text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
        (output / "report.json").write_text(text, encoding="utf-8")
        evaluation.report = report
    return report


@contextmanager
def evaluation_of(
    pins: Mapping[str, Pin],
    examples: Sequence[Example],
    split: str | None,
    question_set: QuestionSet | None,
    purpose: str = Evaluation.Purpose.REPORT,
) -> Iterator[Evaluation]:
    """Keep the row of an evaluation: running inside, then done, or failed with the reason."""
    first = next(iter(pins.values()))
    assert first.evaluation is not None
    evaluation = Evaluation.objects.create(
        id=first.evaluation, knowledge_base=first.release.knowledge_base, purpose=purpose, question_set=question_set,
        split=split or "", questions=len(examples), release=first.release, release_name=first.release.name,
        settings_version=first.settings_version, pipelines={name: pin.to_json() for name, pin in pins.items()},
        code_version=code_version(),
    )  # fmt: skip
    try:
        yield evaluation
        evaluation.status = Evaluation.Status.DONE
    except BaseException as error:
        evaluation.status = Evaluation.Status.FAILED
        evaluation.reason = str(error) or type(error).__name__
        raise
    finally:
        evaluation.finished = timezone.now()
        evaluation.save(update_fields=["status", "reason", "report", "finished"])


def _begun(
    evaluation: Evaluation, examples: Sequence[Example], split: str | None, question_set: QuestionSet | None
) -> dict[str, Any]:
    """Return the report without its pipelines."""
    return {
        "evaluation": str(evaluation.id),
        "knowledge_base": evaluation.knowledge_base.name,
        "release": evaluation.release_name,
        "settings_version": evaluation.settings_version,
        "question_set": described_set(question_set),
        "split": split,
        "questions": len(examples),
        "code_version": code_version(),
        "pipelines": {},
    }


def _used(pin: Pin) -> dict[str, Any]:
    """Return what every search with this pipeline used, as `mixed` has made sure of."""
    told = pin.to_json()
    return {"version": told["version"], "specification_hash": told["specification_hash"]}


def _compose(pin: Pin) -> None:
    """Build a pipeline's stages once. Raises StageError where a tool is not there, before any question is asked."""
    pipeline = wiring.pipeline(pin.pipeline)
    pipeline.compose(dict(pin.specification), wiring.tools(pin.release, pin.settings_version))


def _asker(pin: Pin) -> Callable[[Example], QuestionOutcome]:
    def ask(example: Example) -> QuestionOutcome:
        try:
            row = search_pinned(pin, example)
        except (InvalidRequest, StageError) as error:
            return QuestionOutcome(error=str(error))
        if row.status != SearchRun.Status.DONE:
            return QuestionOutcome(error=str((row.error or {}).get("detail") or row.status))
        return QuestionOutcome(tuple(ranking_of(row)), row.seconds or 0.0)

    return ask


def search_pinned(pin: Pin, example: Example, k: int = 20) -> SearchRun:
    """Ask one question of an evaluation and return the row of the search. Raises InvalidRequest, StageError."""
    row = request_search(
        knowledge_base=pin.release.knowledge_base.name, question=example.text, pipeline=pin.pipeline, k=k,
        origin=SearchRun.Origin.EVALUATION, purpose=example.id[:200], enqueue=False, pin=pin,
    )  # fmt: skip
    return run_search(row.pk)


def _named(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
