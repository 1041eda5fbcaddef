"""visitors: who asks, beyond their account, and what an asker may do."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from search.domain.errors import NotAllowed
from search.models import SearchRun

User = AbstractBaseUser | AnonymousUser | None
"""Who asks; None stands for the machine itself: commands and evaluations."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """What a door knows of a caller beyond the account.

    `address` is the network address, `key` a random text that only this browser or program holds (empty where it
    brought none), `token` the number of the API token that it came with.
    """

    address: str = ""
    key: str = ""
    token: int | None = None

    @property
    def network(self) -> str:
        """The address as limits count it: one IPv4 address, or the 64 bits that an IPv6 network is given as a whole."""
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            return self.address
        if isinstance(address, ipaddress.IPv6Address):
            if address.ipv4_mapped is not None:
                return str(address.ipv4_mapped)
            return str(ipaddress.ip_network((address, 64), strict=False))
        return str(address)

    @property
    def asker(self) -> str:
        """Hash of the key, which the run of a visitor without an account keeps; empty without a key."""
        return hashlib.sha256(self.key.encode()).hexdigest() if self.key else ""


NOBODY = Visitor()
"""A caller without address, key and token."""


def is_privileged(user: User) -> bool:
    """Whether every setting may be given: by staff, and by the machine itself."""
    return user is None or bool(getattr(user, "is_staff", False) or getattr(user, "is_superuser", False))


def may_cancel(run: SearchRun, user: User, visitor: Visitor) -> bool:
    """Whether a search is this caller's to stop: staff any, an account its own, others with the key they asked with."""
    if is_privileged(user):
        return True
    if run.user_id is not None:
        return user is not None and run.user_id == user.pk
    return bool(run.asker) and run.asker == visitor.asker


def check_may_cancel(run: SearchRun, user: User, visitor: Visitor) -> None:
    """Raise NotAllowed where a search is not this caller's to stop."""
    if not may_cancel(run, user, visitor):
        raise NotAllowed("Only who asked a search, or staff, may cancel it.")
