"""evaluate: search a file of questions with one or more pipelines, and write the report and TREC files.

Release, settings and specifications are chosen once and passed to every search. So an activation in the meantime does
not change the measures. If a search used anything else, there is no report.
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
from search.domain.conversation import CACHED_CALLS
from search.domain.errors import InvalidRequest, SearchError, StageError
from search.domain.payloads import Plans, UnreadablePayload, read_payload
from search.domain.run_context import Progress
from search.models import SearchRun, SearchStep
from search.services.code_version import code_version
from search.services.searches.pin import Pin, mixed
from search.services.searches.request_search import pin_searches, request_search
from search.services.searches.run_search import ranking_of, run_search
from training.data.examples import Example
from training.evaluation.comparisons import comparisons
from training.evaluation.measures import Values
from training.evaluation.report import describe_pipeline, measured
from training.evaluation.runner import QuestionOutcome, run
from training.evaluation.trec import qrels_lines, run_lines
from training.models import Evaluation, QuestionSet
from training.services.cross_fitting import cross_fitted as cross_fitting
from training.services.learned_from import learned_from
from training.services.question_sets import described_set


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
    cross_fitted: bool = False,
) -> dict[str, Any]:
    """Run every question through every pipeline, in this process, and return the report.

    The folder `output` receives `report.json`, `qrels`, and `<pipeline>.run` for each pipeline. With `cross_fitted`, a
    training question of an artifact is searched with a scorer fitted without it, if the artifact has kept one. A
    pipeline refuses unknown settings before the first question is searched.

    Raises InvalidRequest with every fault of the request; StageError when a pipeline cannot be composed, for example
    because its encoder is not available; MixedEvaluation when a search of this evaluation used another release, other
    settings or another specification.
    """
    pins = pin_searches(knowledge_base=knowledge_base, pipelines=pipelines, settings=settings, evaluation=uuid4())
    with evaluation_of(pins, examples, split, question_set) as evaluation:
        for pin in pins.values():
            _compose(pin)
        report = _begun(evaluation, examples, split, question_set)
        output.mkdir(parents=True, exist_ok=True)
        (output / "qrels").write_text("".join(qrels_lines(examples)), encoding="utf-8")
        values: dict[str, Values] = {}
        for name, pin in pins.items():
            crossed = cross_fitting(pin, examples if cross_fitted else ())
            ask = _asker(pin, dict(zip((example.id for example in examples), crossed.pins, strict=False)))
            ask(examples[0])  # The first search loads models and files; it must not count as latency.
            outcomes = run(examples, ask, _named(progress, name))
            if reason := mixed(pins, evaluation.id, {name: crossed.specifications}):
                raise MixedEvaluation(reason)
            values[name] = measured(examples, outcomes)
            described = describe_pipeline(examples, outcomes, pin.specification)
            learned = learned_from(pin, examples) | {"cross_fitted": crossed.count}
            report["pipelines"][name] = described | _used(pin) | learned
            (output / f"{name}.run").write_text("".join(run_lines(outcomes, name)), encoding="utf-8")
        report["comparisons"] = comparisons(values)
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
    """Create the row of an evaluation: `running` inside the block, then `done`, or `failed` with the reason."""
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
    """Return the version and the specification's hash that every search used; `mixed` has checked this."""
    told = pin.to_json()
    return {"version": told["version"], "specification_hash": told["specification_hash"]}


def _compose(pin: Pin) -> None:
    """Build a pipeline's stages before the first question. Raises StageError when a tool is not available."""
    pipeline = wiring.pipeline(pin.pipeline)
    pipeline.compose(dict(pin.specification), wiring.tools(pin.release, pin.settings_version))


def _asker(pin: Pin, own: Mapping[str, Pin | None]) -> Callable[[Example], QuestionOutcome]:
    """Return a function that searches one question. `own` maps a question's id to its own pin; the default is `pin`."""

    def ask(example: Example) -> QuestionOutcome:
        try:
            row = search_pinned(own.get(example.id) or pin, example)
        except (InvalidRequest, StageError) as error:
            return QuestionOutcome(error=str(error))
        if row.status != SearchRun.Status.DONE:
            return QuestionOutcome(error=str((row.error or {}).get("detail") or row.status))
        return outcome_of(row)

    return ask


def outcome_of(row: SearchRun) -> QuestionOutcome:
    """Return the outcome of a finished search, read from its row and its steps."""
    steps = list(row.steps.all())
    stages: dict[str, float] = {}
    for step in steps:
        if step.status != "skipped":
            stages[step.role] = stages.get(step.role, 0.0) + step.seconds
    planned = next((step for step in steps if step.role == "plan"), None)
    return QuestionOutcome(
        tuple(ranking_of(row)), row.seconds or 0.0, stages=stages,
        probability=_first_probability(planned),
        cached_calls=sum(step.tokens.get(CACHED_CALLS, 0) for step in steps),
    )  # fmt: skip


def _first_probability(step: SearchStep | None) -> float | None:
    """Return the probability of the first plan in a step's output; None when there is no readable plan."""
    try:
        plans = None if step is None else read_payload(step.role, step.output, step.version)
    except UnreadablePayload:
        return None
    return plans.entries[0].probability if isinstance(plans, Plans) and plans.entries else None


def search_pinned(pin: Pin, example: Example, k: int = 20) -> SearchRun:
    """Search one question of an evaluation and return the row of the search. Raises InvalidRequest, StageError."""
    row = request_search(
        knowledge_base=pin.release.knowledge_base.name, question=example.text, pipeline=pin.pipeline, k=k,
        origin=SearchRun.Origin.EVALUATION, purpose=example.id[:200], enqueue=False, pin=pin,
    )  # fmt: skip
    return run_search(row.pk)


def _named(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
