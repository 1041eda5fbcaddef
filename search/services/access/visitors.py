"""visitors: what is known of a caller apart from the account, and what a caller may do."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from search.domain.errors import NotAllowed
from search.models import SearchRun
from search.services.access.network import network_of

User = AbstractBaseUser | AnonymousUser | None
"""The account of a caller; None stands for the site itself: commands and evaluations."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """What a door knows of a caller apart from the account.

    `address` is the network address. `key` is a random text that only this browser or program has; it may be empty.
    `token` is the primary key of the API token of the request.
    """

    address: str = ""
    key: str = ""
    token: int | None = None

    @property
    def network(self) -> str:
        """The address by which limits count: an IPv4 address, or the first 64 bits of an IPv6 address."""
        return network_of(self.address)

    @property
    def asker(self) -> str:
        """Hash of the key, which is stored in the run of a visitor without an account; empty without a key."""
        return hashlib.sha256(self.key.encode()).hexdigest() if self.key else ""


NOBODY = Visitor()
"""A caller without address, key and token."""


def person_columns(user: User, visitor: Visitor) -> dict[str, Any]:
    """Return the columns `user_id` and `asker` that identify a person; empty for a visitor without a key."""
    if user is not None and user.is_authenticated:
        return {"user_id": user.pk}
    return {"user_id": None, "asker": visitor.asker} if visitor.asker else {}


def is_privileged(user: User) -> bool:
    """Whether the caller may give every setting: staff may, and the site itself."""
    return user is None or bool(getattr(user, "is_staff", False) or getattr(user, "is_superuser", False))


def may_cancel(run: SearchRun, user: User, visitor: Visitor) -> bool:
    """Whether the caller may cancel a search: staff any search, an account its own, others those of their key."""
    if is_privileged(user):
        return True
    if run.user_id is not None:
        return user is not None and run.user_id == user.pk
    return bool(run.asker) and run.asker == visitor.asker


def check_may_cancel(run: SearchRun, user: User, visitor: Visitor) -> None:
    """Raise NotAllowed if the caller may not cancel the search."""
    if not may_cancel(run, user, visitor):
        raise NotAllowed("A search can be cancelled only by the person who requested it, or by staff.")
