"""pin_searches: choose release, settings and specification once, for all searches of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings as site

from search.domain.errors import Fault, InvalidRequest
from search.models import SearchRun
from search.services.code_version import code_version
from search.services.searches.check_request import SearchRejected, check_k, check_question
from search.services.searches.pin import Pin, PipelineChoice
from search.services.searches.resolve_request import choose_release, point_at_release, specify
from search.services.searches.storable import storable_text


def pin_searches(
    *,
    knowledge_base: str,
    pipelines: Sequence[str | PipelineChoice],
    settings: Mapping[str, Any],
    evaluation: UUID | None = None,
    release: str = "",
) -> dict[str, Pin]:
    """Return one pin for each choice, by its label; all have the same release and version of the settings.

    A choice may be a text (`PipelineChoice.parse`). `settings` apply to every choice and give way to its own. `release`
    is the name of a release; empty means the active one. Raises InvalidRequest with every fault of the request.
    """
    run = SearchRun()
    faults = point_at_release(run, knowledge_base, None)
    if release and run.knowledge_base is not None:
        faults = choose_release(run, run.knowledge_base, release)
    pins: dict[str, Pin] = {}
    for given in pipelines:
        try:
            choice = PipelineChoice.parse(given) if isinstance(given, str) else given
        except InvalidRequest as error:
            faults += error.faults
            continue
        label = choice.label or choice.pipeline
        run.pipeline, run.pipeline_version = choice.pipeline, None
        found = specify(run, {**settings, **choice.settings}, None, choice.version)
        if label in pins:
            found.append(Fault("/pipelines", f"{label!r} is given twice."))
        faults += [fault for fault in found if fault not in faults]
        if not found and run.release is not None:
            pins[label] = Pin(
                run.release, run.settings_version, choice.pipeline, run.pipeline_version, run.specification, evaluation
            )  # fmt: skip
    if faults:
        raise InvalidRequest(faults)
    return pins


def pinned_run(pin: Pin, *, question: str, k: int, purpose: str) -> SearchRun:
    """Return a search of an evaluation, without a row. Raises SearchRejected if the question cannot be searched."""
    if found := [*check_question(question), *check_k(k)]:
        raise SearchRejected(found)
    run = SearchRun(
        question=storable_text(question), k=k, origin=SearchRun.Origin.EVALUATION, purpose=storable_text(purpose)[:200],
        time_limit=site.GRASP_SEARCH_SECONDS, code_version=code_version(),
    )  # fmt: skip
    pin.apply(run)
    return run
