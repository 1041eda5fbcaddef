"""Permissions of API views by method: which right of an account a call needs."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from search.services.access.rights import may

ANYBODY = ""
"""In a table of rights: the method is for everybody; what it shows is decided by the view."""


class HasRight(BasePermission):
    """Lets a call through if the account has the right that the view's table `rights` names for the method.

    Every view of the API has this permission unless it names others, and so every view has a table: {method: right of
    Django, such as `training.add_questionset`, or ANYBODY}. HEAD needs what GET needs, and OPTIONS any of the rights of
    the table. What the table does not have is refused, unless the view does not know the method: that is 405 for all.
    """

    message = "Your account may not do this; whoever manages accounts can put it into a group that may."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the account has the right; nobody without an account has one."""
        method, rights = request.method or "", getattr(view, "rights", {})
        if method == "HEAD" and "HEAD" not in rights:
            method = "GET"
        if method == "OPTIONS" and "OPTIONS" not in rights:
            return any(_has(request, right) for right in rights.values())
        if method not in rights:
            return method.lower() not in view.http_method_names or not hasattr(view, method.lower())
        return _has(request, rights[method])


def _has(request: Request, right: str) -> bool:
    return right == ANYBODY or may(request.user, right)
