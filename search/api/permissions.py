"""Permissions of API views by method: which right of an account a call needs."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from search.services.access.rights import may


class HasRight(BasePermission):
    """Lets a call through if the account has the right that the view's table `rights` names for the method.

    `rights` is {method: right of Django, such as `training.add_questionset`}. HEAD needs what GET needs. Methods that
    are missing there need none.
    """

    message = "Your account may not do this; whoever manages accounts can put it into a group that may."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the account has the right; nobody without an account has one."""
        method = request.method or ""
        right = view.rights.get(method) or (view.rights.get("GET") if method == "HEAD" else None)
        return right is None or may(request.user, right)
