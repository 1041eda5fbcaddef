"""take_over: what a visitor asked, kept and judged belongs to the account after the sign-in in the same browser."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest

from search.models import Collection, Feedback, SavedSearch, SearchRun
from search.services.access.visitor_cookie import visitor_of
from search.services.access.visitors import Visitor

_ONCE = ((SavedSearch, ("run",)), (Feedback, ("run", "node_id")))
"""Rows that an account has only once, and the columns in which its own row would be the same."""


def watch_sign_ins() -> None:
    """Begin to hand over at every sign-in, by Django's signal."""
    user_logged_in.connect(_signed_in, dispatch_uid="collections.take_over")


def take_over(user: User, visitor: Visitor) -> int:
    """Give the account what belongs to the visitor, and return the number of rows.

    Where the account has saved the same search, or judged the same result of it, its own row stays and the visitor's is
    left where it was, because the account's was given by somebody who was known.
    """
    if not visitor.asker:
        return 0
    moved = 0
    with transaction.atomic():
        for model, same in _ONCE:
            own = model.objects.filter(user=user, **{column: OuterRef(column) for column in same})
            moved += model.objects.filter(~Exists(own), asker=visitor.asker, user=None).update(user=user, asker="")
        for kept in (Collection, SearchRun):
            moved += kept.objects.filter(asker=visitor.asker, user=None).update(user=user, asker="")
    return moved


def _signed_in(sender: Any, request: HttpRequest | None, user: User, **_: Any) -> None:
    if request is not None:
        take_over(user, visitor_of(request))
