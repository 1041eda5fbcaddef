"""choose_pins: the specifications that an evaluation searches with, chosen once and checked before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from search.domain.errors import Fault, InvalidRequest
from search.models import Release, SearchRun
from search.models.knowledge import BuildStatus
from search.services.searches.pin import Pin, PipelineChoice, pins_from_json
from search.services.searches.pin_searches import pin_searches
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.data.examples import Example
from training.services.evaluations.rows import unknown_answers


def checked_pins(
    knowledge_base: str, examples: Sequence[Example], pipelines: Sequence[str | PipelineChoice],
    settings: Mapping[str, Any], release: str, pinned: Sequence[Mapping[str, Any]],
) -> dict[str, Pin]:  # fmt: skip
    """Return the pins of a new evaluation. Raises InvalidRequest with every fault of the request."""
    faults = [] if examples else [Fault("/questions", "There is no question to ask.")]
    if not pipelines:
        faults.append(Fault("/pipelines", "Name at least one pipeline."))
    pins: dict[str, Pin] = {}
    try:
        pins = frozen_pins(knowledge_base, pinned) or pin_searches(
            knowledge_base=knowledge_base, pipelines=pipelines, settings=settings, evaluation=uuid4(), release=release
        )  # fmt: skip
    except InvalidRequest as error:
        faults += error.faults
    if pins and examples:
        first = next(iter(pins.values()))
        without, unknown = unknown_answers(examples, first.release, first.settings_version)
        if without == len(examples):
            shown = ", ".join(repr(answer[:60]) for answer in unknown[:3])
            message = f"No answer of these {len(examples):,} questions is a node of {first.release.name}, such as"
            faults.append(Fault("/questions", f"{message} {shown}. Are they about another knowledge base?"))
    if faults:
        raise InvalidRequest(faults)
    return pins


def frozen_pins(knowledge_base: str, pinned: Sequence[Mapping[str, Any]]) -> dict[str, Pin]:
    """Return the pins of a new evaluation that were chosen at launch; nothing if `pinned` is empty.

    Raises InvalidRequest if their release has been dropped since.
    """
    if not pinned:
        return {}
    name = pinned[0]["release"]
    releases = Release.objects.select_related("knowledge_base", "snapshot", "vector_set")
    ready = releases.filter(knowledge_base__name=knowledge_base, status=BuildStatus.READY)
    release = next((one for one in ready if one.name == name), None)
    if release is None:
        raise InvalidRequest([Fault("/release", dropped(name))])
    return pins_from_json(pinned, release, uuid4())


def dropped(name: str) -> str:
    """Say that a release cannot be searched any more."""
    return f"The release {name} has been dropped, so its questions cannot be asked any more; begin a new evaluation."


def purpose_of(example: Example) -> str:
    """Return the purpose of a question's search, by which it is found again."""
    return example.id[:200]


def search_pinned(pin: Pin, example: Example, k: int = 20) -> SearchRun:
    """Search one question of an evaluation and return the row of the search. Raises InvalidRequest, StageError."""
    row = request_search(
        knowledge_base=pin.release.knowledge_base.name, question=example.text, pipeline=pin.pipeline, k=k,
        origin=SearchRun.Origin.EVALUATION, purpose=purpose_of(example), enqueue=False, pin=pin,
    )  # fmt: skip
    return run_search(row.pk)
