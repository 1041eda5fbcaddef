"""corrections: questions whose answers people corrected, kept as training examples."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet

from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase
from training.data.examples import Example
from training.data.splits import TRAIN
from training.models import AnnotationQueue, Correction
from training.services.annotation.corrected import CorrectedQuestion

CORRECTIONS = "corrections"
"""Name of the question set that a learning makes of them."""


def keep_correction(
    queue: AnnotationQueue, question: CorrectedQuestion, user: AbstractBaseUser | AnonymousUser | None
) -> Correction:
    """Keep a corrected question as a training example; the same question's earlier correction is replaced.

    Raises InvalidRequest if the question has no answer left: nothing can be learned from it.
    """
    if not question.answers:
        message = (
            "No node is called an answer to this question, so nothing can be learned from it. Add the expected answer "
            "first."
        )
        raise InvalidRequest([Fault("/question", message)])
    values = {
        "question": question.item.question, "answers": list(question.answers), "rejected": list(question.rejected),
        "queue": queue, "author": user if isinstance(user, User) else None,
    }  # fmt: skip
    kept, _ = Correction.objects.update_or_create(
        knowledge_base=queue.knowledge_base, text_hash=question.item.text_hash, defaults=values
    )
    return kept


def list_corrections(
    user: AbstractBaseUser | AnonymousUser | None = None, knowledge_base: str = ""
) -> QuerySet[Correction]:
    """Return the corrections of the knowledge bases that `user` may see (None: the system), newest first."""
    found = Correction.objects.filter(knowledge_base__in=KnowledgeBase.objects.visible_to(user))
    if knowledge_base:
        found = found.filter(knowledge_base__name=knowledge_base.replace("\x00", ""))
    return found.select_related("knowledge_base", "queue", "author")


def example_of(correction: Correction) -> Example:
    """Return a correction as a question to learn from."""
    grades = dict.fromkeys(correction.answers, 1) | dict.fromkeys(correction.rejected, 0)
    return Example(f"correction-{correction.text_hash[:16]}", correction.question, tuple(correction.answers), TRAIN,
                   {}, grades)  # fmt: skip
