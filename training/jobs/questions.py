"""The questions that a job asks or learns from: those of a stored question set, or a part of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import JobTarget
from training.data.examples import BadQuestions, Example, select
from training.models import QuestionSet
from training.services.question_sets import examples_of, find_set


def chosen(target: JobTarget, split: str, limit: int) -> tuple[QuestionSet, list[Example]]:
    """Return the question set and its questions of a split ("" means all), at most `limit` (0 means all).

    Raises InvalidRequest when there is no such set, BadQuestions when no question is left.
    """
    question_set = find_set(target.knowledge_base, target.question_set)
    return question_set, select(examples_of(question_set), question_set.name, split or None, limit or None)


def splits_of(target: JobTarget) -> list[str]:
    """Return the names of the splits of the target's question set."""
    return [name for name in find_set(target.knowledge_base, target.question_set).splits if name]


@contextmanager
def question_faults(faults: list[Fault]) -> Iterator[None]:
    """Add what is wrong with the questions to `faults` if the block raises BadQuestions or InvalidRequest."""
    try:
        yield
    except BadQuestions as error:
        faults += [Fault("/question_set", fault) for fault in error.faults]
    except InvalidRequest as error:
        faults += error.faults


def pointed(faults: Sequence[Fault], places: dict[str, str]) -> list[Fault]:
    """Return faults of a service with pointers into the specification; `places` maps the beginnings of pointers."""
    moved = []
    for fault in faults:
        place = next((to + fault.pointer[len(at) :] for at, to in places.items() if fault.pointer.startswith(at)), "")
        moved.append(Fault(place or fault.pointer, fault.message, fault.nearest))
    return moved
