"""note: write one entry of the audit log, in the transaction of the action itself.

Services call it where they act, so that pages, the API, commands and schedules are noted alike. Who acts and from where
is known from the caller that the door has declared (`calling`); without one it is a command, and the system's user.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils import timezone

from search.models import AuditEntry
from search.services.observing.carried import carried

NOBODY = "nobody"
LONGEST_DETAILS = 2000
"""Characters of a text in the details."""
User = AbstractBaseUser | AnonymousUser | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts: the door, the IP address, and a function that returns the account, which is known only later."""

    door: str
    address: str = ""
    user: Callable[[], User] = lambda: None


_caller: ContextVar[Caller | None] = ContextVar("audit_caller", default=None)


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Let every note inside the block be one of this caller."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def present_caller() -> Caller | None:
    """Return the caller that the door has declared, or None in a command."""
    return _caller.get()


def note(
    action: str, about: models.Model | None = None, *, name: str = "", user: User = None, **details: Any
) -> AuditEntry:
    """Write who did `action` to `about`; `name` takes the place of the object's own name.

    `user` is for callers that the door does not know, such as the account of a schedule. `details` are values for
    people; never pass a secret.
    """
    caller = _caller.get()
    account = user or (caller.user() if caller else None)
    known = account if account is not None and account.pk else None
    return AuditEntry.objects.create(
        user_id=known.pk if known else None,
        who=(known.get_username() if known else NOBODY if caller else _system_user())[:150],
        action=action,
        object_type=str(about._meta.verbose_name)[:60] if about is not None else "",
        object_id="" if about is None or about.pk is None else str(about.pk)[:200],
        object_name=(name or (str(about) if about is not None else ""))[:300],
        details=_shown(details),
        door=caller.door if caller else AuditEntry.Door.COMMAND,
        address=(caller.address if caller else "")[:45],
        request_id=carried().get("request_id", ""),
    )


def delete_old_entries() -> int:
    """Delete entries older than `GRASP_AUDIT_DAYS` (0 keeps all), and return their number."""
    if not settings.GRASP_AUDIT_DAYS:
        return 0
    old = timezone.now() - timedelta(days=settings.GRASP_AUDIT_DAYS)
    return AuditEntry.objects.filter(at__lt=old).delete()[0]


def _shown(details: Mapping[str, Any]) -> dict[str, Any]:
    plain = (int, float, bool, list, dict, type(None))
    return {key: value if isinstance(value, plain) else str(value)[:LONGEST_DETAILS] for key, value in details.items()}


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "system"
