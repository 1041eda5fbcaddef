"""Texts of empty lists of questions and evaluations: how a first entry is made, and by which command."""

from __future__ import annotations

from search.admin.empty import WhenEmpty

_MANAGE = ".venv/bin/python manage.py"
_LAUNCH = "admin:search_job_launch"

QUESTION_SETS = WhenEmpty(
    "No question sets yet",
    "A question set holds questions with known answers. Importing a file makes one; training, tuning and evaluating "
    "keep their questions here too.",
    f"{_MANAGE} import_questions NAME questions.jsonl",
)
QUESTIONS = WhenEmpty(
    "No questions yet",
    "Questions come with the question set that they belong to.",
    f"{_MANAGE} import_questions NAME questions.jsonl",
    page="admin:training_questionset_add",
    button="Import questions",
    right="training.add_questionset",
)
EVALUATIONS = WhenEmpty(
    "No evaluations yet",
    "An evaluation asks questions with known answers of one or more pipelines and measures what they find. Tuning is "
    "recorded here too.",
    f"{_MANAGE} evaluate NAME --questions questions.jsonl --output DIR",
    page=_LAUNCH,
    kind="evaluate",
    button="Evaluate a question set",
)
ANNOTATION_QUEUES = WhenEmpty(
    "No annotation queues yet",
    "A queue holds questions with possible answers that a rule chose: lost answers, disagreement, feedback, "
    "close calls, or a random sample. Annotators judge them at /annotate/.",
    f"{_MANAGE} evaluate NAME --questions questions.jsonl --output DIR",
)
