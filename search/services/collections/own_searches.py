"""own_searches: the searches of one person, newest first, and how they are forgotten."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from search.domain.errors import Fault, InvalidRequest, NotAllowed
from search.models import CollectionItem, SearchRun
from search.services.access.visitors import User, Visitor, person_columns
from search.services.searches.watch_search import ENDED

LOOKED_AT = 60
"""Newest searches among which the home page looks for different questions."""


def own_searches(
    user: User, visitor: Visitor, *, words: str = "", knowledge_base: str = "", programs: bool = False
) -> QuerySet[SearchRun]:
    """Return the searches of an account, or of a visitor with a cookie, newest first; nothing for somebody unknown.

    `words` limits them to questions that contain this text, `knowledge_base` to one knowledge base. Searches through
    the API and by commands are left out unless `programs`.
    """
    person = person_columns(user, visitor)
    if not person or user is None:
        return SearchRun.objects.none()
    own = SearchRun.objects.visible_to(user).of_people().filter(**person).order_by("-created")
    if not programs:
        own = own.filter(origin=SearchRun.Origin.PAGE)
    if words:
        own = own.filter(question__icontains=words.replace("\x00", ""))
    return own.filter(knowledge_base_name=knowledge_base.replace("\x00", "")) if knowledge_base else own


def recent_searches(user: User, visitor: Visitor, most: int = 8) -> list[SearchRun]:
    """Return the newest searches of a person, each question of a knowledge base once."""
    newest: dict[tuple[str, str], SearchRun] = {}
    for run in own_searches(user, visitor).only("id", "question", "knowledge_base_name", "created")[:LOOKED_AT]:
        newest.setdefault((run.question, run.knowledge_base_name), run)
    return list(newest.values())[:most]


def forget_search(run: SearchRun, *, user: User, visitor: Visitor) -> bool:
    """Delete a search of the caller, and return whether its row is gone.

    A search that others rely on (judgments, saved searches, collections, questions that follow it) stays, without the
    name of the caller. Raises NotAllowed for the search of somebody else, and InvalidRequest while it runs.
    """
    person = person_columns(user, visitor)
    if not person or any(getattr(run, column) != value for column, value in person.items()):
        raise NotAllowed("A search can be deleted only by the person who requested it.")
    if run.status not in ENDED:
        raise InvalidRequest([Fault("", "The search has not ended yet; cancel it first, or wait for its end.")])
    with transaction.atomic():
        run.saved.filter(**person).delete()
        if _is_needed(run):
            SearchRun.objects.filter(pk=run.pk).update(user=None, asker="")
            return False
        run.delete()
    return True


def _is_needed(run: SearchRun) -> bool:
    return (
        run.feedback.exists()
        or run.saved.exists()
        or SearchRun.objects.filter(follows=run.pk).exists()
        or CollectionItem.objects.filter(run=run.pk, removed=None).exists()
    )
