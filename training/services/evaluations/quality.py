"""quality_over_time: H@1 of finished evaluations, by knowledge base, question set and pipeline."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

MEASURE = "H@1"
NEWEST = 120
"""Evaluations that are looked at, the newest first."""

# The report of an evaluation holds much more than its measures, so Postgres takes these out of it.
_STATEMENT = """
SELECT evaluation.id, evaluation.created, base.name, coalesce(questions.name, ''), evaluation.split,
       evaluation.questions, measured.key, (measured.value -> 'metrics' ->> %s)::float
FROM (SELECT * FROM training_evaluation WHERE status = 'done' AND purpose = 'report'
      ORDER BY created DESC LIMIT %s) evaluation
JOIN search_knowledgebase base ON base.id = evaluation.knowledge_base_id
LEFT JOIN training_questionset questions ON questions.id = evaluation.question_set_id
CROSS JOIN LATERAL jsonb_each(
    CASE WHEN jsonb_typeof(evaluation.report -> 'pipelines') = 'object' THEN evaluation.report -> 'pipelines' END
) measured
WHERE measured.value -> 'metrics' ? %s
ORDER BY evaluation.created, measured.key
"""


def quality_over_time() -> list[dict[str, Any]]:
    """Return a row for each pipeline of each of the newest evaluations, in the order of their time.

    A row has `evaluation`, `at`, `knowledge_base`, `question_set` (empty if it was deleted), `split`, `questions` (how
    many were asked), `pipeline` (the label, such as `grasp@2`), `measure` and `value` in percent. Tunings do not count:
    what they measure was chosen on the same questions.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [MEASURE, NEWEST, MEASURE])
        return [_row(*row) for row in cursor.fetchall()]


def _row(
    evaluation: UUID, at: datetime, base: str, questions: str, split: str, number: int, label: str, value: float
) -> dict[str, Any]:
    return {
        "evaluation": str(evaluation), "at": at, "knowledge_base": base, "question_set": questions, "split": split,
        "questions": number, "pipeline": label, "measure": MEASURE, "value": value,
    }  # fmt: skip
