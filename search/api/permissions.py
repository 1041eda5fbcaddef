"""Permissions of API views by method: which right of an account a call needs."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request


class HasRight(BasePermission):
    """Lets a call through if the account has the right that the view's table `rights` names for the method.

    `rights` is {method: right of Django, such as `training.add_questionset`}. Methods that are missing there need none.
    """

    message = "Your account has no right to do this; staff can add it to a group that has the right."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the account has the right; nobody without an account has one."""
        right = view.rights.get(request.method or "")
        return right is None or bool(request.user.is_authenticated and request.user.has_perm(right))
