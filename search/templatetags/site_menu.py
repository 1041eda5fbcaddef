"""Decides which entries of the site's menu a user sees."""

from __future__ import annotations

from typing import Any

from django import template
from django.db import InterfaceError, OperationalError

register = template.Library()


@register.simple_tag(takes_context=True)
def is_keeper(context: Any) -> bool:
    """Whether the current user may change knowledge bases; False while Postgres does not answer."""
    return _may(context, "search.change_knowledgebase", staff=True)


@register.simple_tag(takes_context=True)
def reads_evaluations(context: Any) -> bool:
    """Whether the current user may view evaluations; False while Postgres does not answer."""
    return _may(context, "training.view_evaluation")


@register.simple_tag(takes_context=True)
def annotates(context: Any) -> bool:
    """Whether the current user may judge items; False while Postgres does not answer."""
    return _may(context, "training.add_judgement")


@register.simple_tag(takes_context=True)
def signed_in(context: Any) -> dict[str, Any]:
    """Return `name` and `staff` of whoever looks at the page; nobody is known while Postgres is away."""
    user = getattr(context.get("request"), "user", None)
    try:
        if user is not None and user.is_authenticated:
            return {"name": user.get_username(), "staff": bool(user.is_staff)}
    except (OperationalError, InterfaceError):
        pass
    return {"name": "", "staff": False}


@register.simple_tag(takes_context=True)
def may(context: Any, right: str) -> bool:
    """Whether the current user has a right such as `search.add_job`; the context of a list will do."""
    return _may(context, right)


def _may(context: Any, right: str, *, staff: bool = False) -> bool:
    user = getattr(context.get("request") or getattr(context, "request", None), "user", None)
    try:
        return bool(user is not None and (user.is_staff or not staff) and user.has_perm(right))
    except (OperationalError, InterfaceError):
        return False
