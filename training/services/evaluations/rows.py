"""rows: write and read the rows of an evaluation: its questions, and the outcome of each with each pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from search import wiring
from search.models import Release
from search.services.searches.search_batch import copy_rows, store_searches
from search.services.searches.storable import storable_text, stored_json
from training.data.examples import Example
from training.data.hashes import question_hash
from training.evaluation.measures import MEASURES, Values, measure
from training.evaluation.runner import QuestionOutcome
from training.models import AskedQuestion, Evaluation, Outcome
from training.services.evaluations.ask import EvaluationAsked

A_BATCH = 1_000
_COLUMNS = (
    "evaluation_id", "question_id", "pipeline", "run", "state", "error", "rank", "ids", "scores", "measures",
    "seconds", "stages", "plan_shape", "probability", "cached_calls", "lost_at", "lost", "leads",
    "model_use",
)  # fmt: skip
_READ = ("question__position", "ids", "scores", "seconds", "error", "stages", "probability", "cached_calls",
         "plan_shape", "run", "lost_at", "leads", "model_use")  # fmt: skip


def question_rows(
    evaluation_id: UUID, examples: Sequence[Example], release: Release, settings_version: int
) -> list[AskedQuestion]:
    """Return the questions as rows of an evaluation, with their unknown answers and the type of the others.

    It reads the release and writes nothing, so that the transaction that writes the rows is short.
    """
    nodes = wiring.tools(release, settings_version).nodes
    rows = []
    for position, example in enumerate(examples):
        keys = nodes.keys(example.answers)
        known = [key for key in keys if key is not None]
        types = Counter(node.type for node in nodes.references(known))
        rows.append(
            AskedQuestion(
                evaluation_id=evaluation_id, position=position, identifier=storable_text(example.id),
                text=storable_text(example.text), answers=[storable_text(one) for one in example.answers],
                unknown=[storable_text(one) for one, key in zip(example.answers, keys, strict=True) if key is None],
                answer_type=min(types, key=lambda name: (-types[name], name)) if types else "",
                split=storable_text(example.split), hash=question_hash(example),
                slices={storable_text(key): storable_text(value) for key, value in example.slices.items()},
                grades={storable_text(node): grade for node, grade in example.grades.items()},
            )
        )  # fmt: skip
    return rows


def unknown_answers(examples: Sequence[Example], release: Release, settings_version: int) -> tuple[int, list[str]]:
    """Return how many questions have no answer in the release, and ids of unknown answers in order."""
    nodes = wiring.tools(release, settings_version).nodes
    without, unknown = 0, []
    for example in examples:
        missing = [one for one, key in zip(example.answers, nodes.keys(example.answers), strict=True) if key is None]
        without += len(missing) == len(example.answers)
        unknown += missing
    return without, unknown


def read_examples(evaluation: Evaluation) -> list[Example]:
    """Return the questions of an evaluation in their order."""
    rows = evaluation.asked.order_by("position").values_list(
        "identifier", "text", "answers", "split", "slices", "grades"
    )  # fmt: skip
    return [
        Example(name, text, tuple(answers), split, slices, grades)
        for name, text, answers, split, slices, grades in rows
    ]


def store_outcomes(
    evaluation: Evaluation, examples: Sequence[Example], questions: Mapping[int, int], asked: Sequence[EvaluationAsked]
) -> None:
    """Write outcomes with the rows of their searches. The caller opens the transaction.

    `questions` maps the place of a question to the key of its row. Outcomes that are stored already are left alone,
    and so are their searches: another process has asked the same question.
    """
    places = {one.task.place for one in asked}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT question_id, pipeline FROM training_outcome WHERE question_id = ANY(%s)",
            [[questions[place] for place in places]],
        )
        there = set(cursor.fetchall())
    new = [one for one in asked if (questions[one.task.place], one.task.label) not in there]
    store_searches(one.search for one in new if one.search is not None)
    copy_rows(Outcome._meta.db_table, _COLUMNS, _outcome_rows(evaluation, examples, questions, new))


def _outcome_rows(
    evaluation: Evaluation, examples: Sequence[Example], questions: Mapping[int, int], asked: Sequence[EvaluationAsked]
) -> list[tuple[Any, ...]]:
    values = measured(asked, examples)
    rows = []
    for at, one in enumerate(asked):
        outcome, example = one.outcome, examples[one.task.place]
        rows.append((
            evaluation.pk, questions[one.task.place], one.task.label, outcome.run, outcome.state,
            storable_text(outcome.error), first_rank(outcome, example.answers), [node for node, _ in outcome.ranking],
            [score for _, score in outcome.ranking], _json({name: values[name][at] for name in MEASURES}),
            outcome.seconds, _json(outcome.stages), outcome.plan_shape[:200], outcome.probability,
            outcome.cached_calls, outcome.lost_at, None if one.lost is None else stored_json(one.lost),
            outcome.leads, None if outcome.model_use is None else stored_json(outcome.model_use),
        ))  # fmt: skip
    return rows


def measured(asked: Sequence[EvaluationAsked], examples: Sequence[Example]) -> Values:
    """Return the measures of each outcome, in the order of `asked`."""
    rankings = {str(at): [node for node, _ in one.outcome.ranking] for at, one in enumerate(asked)}
    return measure(rankings, {str(at): examples[one.task.place].answers for at, one in enumerate(asked)})


def first_rank(outcome: QuestionOutcome, answers: Sequence[str]) -> int | None:
    """Return the rank of the first answer, from 1; None when the ranking has none."""
    wanted = set(answers)
    return next((rank for rank, (node, _) in enumerate(outcome.ranking, 1) if node in wanted), None)


def read_outcomes(evaluation_id: UUID, label: str, examples: Sequence[Example]) -> dict[str, QuestionOutcome]:
    """Return the stored outcomes of a specification by question's id, in the order of the questions."""
    rows = (
        Outcome.objects.filter(evaluation=evaluation_id, pipeline=label)
        .order_by("question__position")
        .values_list(*_READ)
    )
    return {
        examples[place].id: QuestionOutcome(
            tuple(zip(ids, scores, strict=True)),
            seconds,
            error,
            stages,
            probability,
            cached,
            shape,
            run,
            lost_at,
            leads,
            use,
        )
        for place, ids, scores, seconds, error, stages, probability, cached, shape, run, lost_at, leads, use in rows
    }


def answered_places(evaluation: Evaluation) -> dict[str, set[int]]:
    """Return the places of the questions that have an outcome, by label."""
    found: dict[str, set[int]] = {}
    for label, place in evaluation.outcomes.order_by().values_list("pipeline", "question__position"):
        found.setdefault(label, set()).add(place)
    return found


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(value), option=orjson.OPT_SERIALIZE_NUMPY).decode()
