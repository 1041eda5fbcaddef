"""begin_and_end: write the row of an evaluation when it begins and when it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from search.domain.errors import SearchCancelled
from search.domain.run_context import LeaseLost, RunCancelled, RunContext
from search.services.code_version import code_version
from search.services.searches.pin import Pin, pins_as_json
from training.data.examples import Example
from training.evaluation.measures import SEED
from training.models import Evaluation, QuestionSet


def create_evaluation(
    pins: Mapping[str, Pin], examples: Sequence[Example], split: str | None, question_set: QuestionSet | None,
    *, purpose: str = Evaluation.Purpose.REPORT, seed: int = SEED, options: Mapping[str, Any] | None = None,
) -> Evaluation:  # fmt: skip
    """Create the row of an evaluation that begins now."""
    first = next(iter(pins.values()))
    assert first.evaluation is not None
    return Evaluation.objects.create(
        id=first.evaluation, knowledge_base=first.release.knowledge_base, purpose=purpose, question_set=question_set,
        split=split or "", questions=len(examples), release=first.release, release_name=first.release.name,
        settings_version=first.settings_version, pipelines={label: pin.to_json() for label, pin in pins.items()},
        specifications=pins_as_json(pins), code_version=code_version(),
        seed=seed, options=dict(options or {}),
    )  # fmt: skip


@contextmanager
def ending(evaluation: Evaluation, run: RunContext) -> Iterator[None]:
    """Write the end of an evaluation after the block: `done`, `cancelled`, or `failed` with the reason.

    Nothing is written after LeaseLost, because another process goes on with the evaluation.
    """
    try:
        yield
        evaluation.status, evaluation.reason = Evaluation.Status.DONE, ""
    except LeaseLost:
        raise
    except (RunCancelled, SearchCancelled, KeyboardInterrupt) as error:
        evaluation.status, evaluation.reason = Evaluation.Status.CANCELLED, str(error) or "It was interrupted."
        _write_end(evaluation, run)
        raise
    except BaseException as error:
        evaluation.status, evaluation.reason = Evaluation.Status.FAILED, str(error) or type(error).__name__
        _write_end(evaluation, run)
        raise
    _write_end(evaluation, run)


def _write_end(evaluation: Evaluation, run: RunContext) -> None:
    evaluation.finished = timezone.now()
    with run.fenced(), transaction.atomic():
        evaluation.save(update_fields=["status", "reason", "report", "options", "finished"])
