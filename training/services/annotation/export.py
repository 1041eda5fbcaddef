"""export: the judgements of a queue as qrels, as JSON lines, and as a new version of a question set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from search.domain.errors import Fault, InvalidRequest, nearest
from training.annotation.final_grades import GradingWay
from training.data.examples import BadQuestions
from training.evaluation.trec import encode
from training.models import AnnotationQueue, QuestionSet
from training.services.annotation.agree import agreement_of
from training.services.annotation.corrected import corrected_questions, merged
from training.services.annotation.grades import GivenGrade, GradedItem, QueueGrades, pseudonym, read_grades
from training.services.check_questions import KEEP, SplitOptions, prepare_questions
from training.services.export_report import Export
from training.services.question_sets import examples_of, existing_base, name_of, store_prepared

_UNSAFE = re.compile(r"[^\w.-]+")
MOST_DIGITS = 10
PROVENANCE = "provenance"
"""Key of a question set's checks under which the queue that it was made of is told."""


def export_queue(queue: AnnotationQueue, format: str) -> Export:
    """Return a queue in a format of `FORMATS`. Raises InvalidRequest for another one."""
    if format not in FORMATS:
        message = f"An export is one of: {', '.join(FORMATS)}; not {format[:80]!r}."
        raise InvalidRequest([Fault("/format", message, nearest(format, FORMATS))])
    return FORMATS[format](queue, read_grades(queue))


def queue_named(knowledge_base: str, name: str) -> AnnotationQueue:
    """Return a queue by its name or its number. Raises InvalidRequest if the knowledge base has none of these."""
    base = existing_base(knowledge_base)
    queues = AnnotationQueue.objects.filter(knowledge_base=base).select_related("knowledge_base", "evaluation")
    found = queues.filter(name=name.replace("\x00", "")).first()
    if found is None and name.isdecimal() and len(name) < MOST_DIGITS:
        found = queues.filter(pk=int(name)).first()
    if found is None:
        names = list(queues.order_by("name").values_list("name", flat=True)[:20])
        message = f"{knowledge_base} has no annotation queue {name[:80]!r}; there are: {', '.join(names) or 'none'}."
        raise InvalidRequest([Fault("/queue", message, nearest(name, names))])
    return found


def provenance(queue: AnnotationQueue, grades: QueueGrades) -> dict[str, Any]:
    """Return where judgements come from: queue, rule, time, annotators by pseudonym, agreement, and final grades."""
    agreement = agreement_of(queue, grades)
    changed = [one.judgement.changed for item in grades.items for one in item.given]
    ways = [item.final.way for item in grades.items]
    return {
        "queue": queue.name,
        "queue_id": queue.pk,
        "knowledge_base": queue.knowledge_base.name,
        "release": queue.release_name,
        "chosen_by": queue.rule,
        "question_set": name_of(of_set) if (of_set := set_of(queue)) else None,
        "judged_from": min(changed).isoformat() if changed else None,
        "judged_until": max(changed).isoformat() if changed else None,
        "annotators": [grades.pseudonyms[key] for key, one in grades.graders.items() if not one.model],
        "language_models": [one.name for one in grades.graders.values() if one.model],
        "language_models_counted": list(grades.rule.models),
        "items": len(grades.items),
        "alpha": agreement["alpha"],
        "final_grades": {
            "rule": grades.rule.rule, "answers_from": grades.rule.relevant_from,
            **{way.value: ways.count(way) for way in GradingWay},
        },
    }  # fmt: skip


def _qrels(queue: AnnotationQueue, grades: QueueGrades) -> Export:
    """Return the final grades as `question 0 node grade`; open items are left out."""
    return Export(f"{_stem(queue, grades)}.qrels", "text/plain; charset=utf-8", _qrels_lines(grades))


def _qrels_lines(grades: QueueGrades) -> Iterator[str]:
    for question in corrected_questions(grades).values():
        for node, grade in question.grades.items():
            yield f"{encode(question.identifier)} 0 {encode(node)} {grade}\n"


def _jsonl(queue: AnnotationQueue, grades: QueueGrades) -> Export:
    """Return a first line about the queue, then a line for each item with every judgement and decision."""
    return Export(f"{_stem(queue, grades)}.jsonl", "application/x-ndjson", _json_lines(queue, grades))


def _json_lines(queue: AnnotationQueue, grades: QueueGrades) -> Iterator[str]:
    yield orjson.dumps({"provenance": provenance(queue, grades), "guideline": queue.guideline}).decode() + "\n"
    for one in grades.items:
        yield orjson.dumps(_item(one)).decode() + "\n"


def _item(one: GradedItem) -> dict[str, Any]:
    item = one.item
    return {
        "item": item.pk,
        "question": {
            "id": item.question_identifier or None, "text": item.question, "hash": item.question_hash or None,
            "split": item.split, "answers": item.answers,
        },
        "node": {"id": item.node_id, "name": item.node_name, "type": item.node_type},
        "state": item.state,
        "origin": item.origin,
        "judgements": [_judgement(given) for given in one.given],
        "adjudications": [
            {
                "who": pseudonym(_account(row.adjudicator_id, row.adjudicator_name)), "grade": row.grade,
                "note": row.note, "created": row.created.isoformat(),
                "seen": [{"who": pseudonym(seen["annotator"]), "grade": seen["grade"]} for seen in row.seen],
            }
            for row in item.adjudications.order_by("pk")
        ],
        "final": {"grade": one.final.grade, "way": one.final.way},
    }  # fmt: skip


def _account(pk: int | None, name: str) -> str:
    return f"gone:{name}" if pk is None else f"account:{pk}"


def _judgement(given: GivenGrade) -> dict[str, Any]:
    one = given.judgement
    return {
        "who": pseudonym(given.grader), "language_model": bool(one.model), "verdict": one.verdict, "grade": given.grade,
        "blind_grade": given.blind, "informed": one.informed, "cause": one.cause, "stage": one.stage, "note": one.note,
        "expected": one.expected, "seconds": one.seconds, "revision": one.revision,
        "created": one.created.isoformat(), "changed": one.changed.isoformat(),
    }  # fmt: skip


def _stem(queue: AnnotationQueue, grades: QueueGrades) -> str:
    """Return the beginning of a file's name; it says so when language models count."""
    models = "-with-language-models" if grades.rule.models else ""
    return f"{_UNSAFE.sub('_', queue.name)[:80].strip('_') or 'queue'}{models}"


def set_of(queue: AnnotationQueue) -> QuestionSet | None:
    """Return the question set that the queue's evaluation asked."""
    return queue.evaluation.question_set if queue.evaluation else None


def make_question_set(
    queue: AnnotationQueue, *, name: str = "", user: AbstractBaseUser | AnonymousUser | None = None
) -> tuple[QuestionSet, bool]:
    """Store a new version of the queue's question set with its judgements; return it, and whether it is new.

    All questions of the set are kept; those that were judged get their corrected answers and their grades. A queue
    whose questions come from no set makes one of its own name, or `name`. Raises BadQuestions when nothing was judged
    or no question has an answer.
    """
    grades = read_grades(queue)
    corrected = corrected_questions(grades)
    if not any(one.grades for one in corrected.values()):
        raise BadQuestions(["No item of this queue has a final grade yet, so there is nothing to make a version of."])
    of_set = set_of(queue)
    examples = merged(examples_of(of_set) if of_set else [], corrected)
    if not examples:
        raise BadQuestions(["None of the judged questions has an answer, so they make no question set."])
    told = provenance(queue, grades)
    prepared = prepare_questions(queue.knowledge_base, examples, SplitOptions(duplicates=KEEP))
    prepared.checks[PROVENANCE] = told
    return store_prepared(
        knowledge_base=queue.knowledge_base.name, prepared=prepared,
        name=name.strip() or (of_set.name if of_set else queue.name), source=source_told(told), author=user,
    )  # fmt: skip


def source_told(told: Mapping[str, Any]) -> str:
    """Return where a question set comes from, in a sentence."""
    found = told["alpha"]["ordinal"]
    alpha = "not defined" if found["value"] is None else f"{found['value']:.2f}"
    if found["interval"]:
        alpha += f" ({found['interval'][0]:.2f} to {found['interval'][1]:.2f})"
    alpha += f", {found['claim']}" if found["claim"] else ""
    people = len(told["annotators"])
    counted = told["language_models_counted"]
    models = f" Language models count too: {', '.join(counted)}." if counted else ""
    on = f"{told['question_set']} and " if told["question_set"] else ""
    return (
        f"{on}the annotation queue “{told['queue']}”, judged until {(told['judged_until'] or '')[:10]} by {people} "
        f"{'person' if people == 1 else 'people'}: α {alpha}; final grades by {told['final_grades']['rule']}, "
        f"{told['final_grades']['adjudicated']} adjudicated; answers from grade "
        f"{told['final_grades']['answers_from']}.{models}"
    )


FORMATS: Mapping[str, Callable[[AnnotationQueue, QueueGrades], Export]] = {"qrels": _qrels, "jsonl": _jsonl}
