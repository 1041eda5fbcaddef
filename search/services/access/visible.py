"""visible: which rows a person may see, by their knowledge bases; which searches, and how much of them.

Every door asks here, at each request: who was removed from a knowledge base sees no more of it from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Exists, ForeignKey, Model, OuterRef, Q, QuerySet

from search.domain.errors import NotAllowed
from search.models import KnowledgeBase, SearchRun
from search.services.access.visitors import User

M = TypeVar("M", bound=Model)

NO_MORE = (
    "You may not search the knowledge base of this search any more, so nothing is looked up there for you. "
    "What the search stored is still on its page."
)


def rows_for(rows: QuerySet[M], user: User) -> QuerySet[M]:
    """Return the rows that are of no knowledge base, or of one that `user` may see.

    `user` None stands for the site itself, which sees all, as superusers do. A row whose knowledge base was deleted, or
    was not there yet, has only its name: it is hidden from others than who made it if a knowledge base that they may
    not see has that name now.
    """
    path = path_to_base(rows.model)
    if path is None or user is None or getattr(user, "is_superuser", False):
        return rows
    visible = KnowledgeBase.objects.visible_to(user)
    allowed = Q(**{f"{path}__in": visible.values("pk")})
    if path in _columns(rows.model) and _columns(rows.model)[path].null:
        without = Q(**{path: None})
        if "knowledge_base_name" in _columns(rows.model):
            hidden = KnowledgeBase.objects.exclude(pk__in=visible.values("pk")).values("name")
            allowed |= without & (~Q(knowledge_base_name__in=hidden) | Q(user=user.pk))
        else:
            allowed |= without
    return rows.filter(allowed)


def check_sees(user: User, row: Model) -> None:
    """Raise NotAllowed if the row is of a knowledge base that `user` may not see."""
    if not rows_for(type(row)._default_manager.filter(pk=row.pk), user).exists():
        raise NotAllowed("This belongs to a knowledge base that your account may not see.")


def may_write(name: str, user: User) -> bool:
    """Whether `user` may see the knowledge base of this name, or there is none."""
    return not KnowledgeBase.objects.filter(name=name).exists() or (
        KnowledgeBase.objects.visible_to(user).filter(name=name).exists()
    )


def taken(name: str) -> str:
    """Return the sentence for a name that somebody may not write into; it says nothing of the knowledge base."""
    return f"The name {name[:80]!r} is taken, and not by a knowledge base that you may see; give another one."


def told_to(services: Iterable[Mapping[str, Any]], user: User) -> list[dict[str, Any]]:
    """Return the states of services without the names of knowledge bases that `user` may not see.

    Reasons name the knowledge bases that lack something, and pages of states are for everybody.
    """
    states = [dict(service) for service in services]
    if any(state["reason"] for state in states):
        hidden = hiding_names(user)
        for state in states:
            state["reason"] = hidden(state["reason"])
    return states


def hiding_names(user: User) -> Callable[[str], str]:
    """Return a function that takes the names of knowledge bases that `user` may not see out of a text."""
    visible = KnowledgeBase.objects.visible_to(user).values("pk")
    try:
        names = list(KnowledgeBase.objects.exclude(pk__in=visible).values_list("name", flat=True))
    except DatabaseError:
        # What a text says of knowledge bases comes from Postgres too, so that it names none now.
        names = []
    named = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"
    hidden = re.compile(rf"(?<![\w-])(?:{named})(?:-\d+)?(?![\w-])")
    return lambda text: hidden.sub("a hidden knowledge base", text)


@cache
def path_to_base(model: type[Model]) -> str | None:
    """Return the lookup from a model to its knowledge base, such as `run__knowledge_base`; None if it has none.

    It is the shortest one along foreign keys.
    """
    if model is KnowledgeBase:
        return "pk"
    reached: list[tuple[str, type[Model]]] = [("", model)]
    seen = {model}
    for prefix, there in reached:
        for column in there._meta.concrete_fields:
            target = column.related_model if isinstance(column, ForeignKey) else None
            if target is KnowledgeBase:
                return f"{prefix}{column.name}"
            if isinstance(target, type) and target not in seen:
                seen.add(target)
                reached.append((f"{prefix}{column.name}__", target))
    return None


def _columns(model: type[Model]) -> dict[str, Any]:
    return {column.name: column for column in model._meta.concrete_fields}


def find_search(run_id: UUID, user: User, *, stored: bool = False, related: Sequence[str] = ()) -> SearchRun | None:
    """Return a search whose knowledge base the caller may see now, None without one; `related` is read with it.

    With `stored` also the caller's own searches of other knowledge bases; they come without knowledge base and release,
    so that nobody can look anything up there: whoever reads them has what the search stored, and nothing else.
    """
    found = searches_for([run_id], user, related).get(run_id)
    return found if stored or found is None or not found.only_stored else None


def searches_for(run_ids: Iterable[UUID], user: User, related: Sequence[str] = ()) -> dict[UUID, SearchRun]:
    """Return by its id each of these searches that the caller may read, as `find_search` with `stored` does."""
    bases = KnowledgeBase.objects.visible_to(user).filter(pk=OuterRef("knowledge_base"))
    rows = SearchRun.objects.visible_to(user).annotate(seen=Exists(bases)).select_related(*related)
    found: dict[UUID, Any] = rows.in_bulk(list(run_ids))
    for run in found.values():
        if run.knowledge_base_id is not None and not run.seen:
            run.knowledge_base = run.release = None
            run.only_stored = True
    return found
