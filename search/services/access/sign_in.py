"""sign_in: check a name and a password, with a limit on failures that every door shares."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from search.domain.errors import NotNow
from search.services.access import gate
from search.services.access.visitors import Visitor

PERIOD = 300.0
"""Seconds over which failures are counted."""
MOST_TOGETHER = 5
"""Failures that are allowed for one name from one address."""
MOST_OF_ADDRESS = 20
"""Failures that are allowed from one address, for all names together."""
MOST_OF_NAME = 100
"""Failures that are allowed for one name from all addresses. It is high, because reaching it also locks out the
owner."""


class TooManyAttempts(NotNow):
    """Too many wrong passwords; for a while, no password is checked."""


class LimitedBackend(ModelBackend):
    """Django's accounts, with a limit on wrong passwords by address, by name, and by both together.

    It is an authentication backend, so that it protects every door that takes a password. Raises TooManyAttempts, which
    Django passes on to the door, and ServiceUnavailable when Valkey, which holds the counts, does not answer.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """Return the account if the password is right, else None."""
        if username is None or password is None:
            return None
        network = Visitor(request.META.get("REMOTE_ADDR", "")).network if request is not None else ""
        named = hashlib.sha256(username.lower().encode("utf-8", "replace")).hexdigest()[:24]
        together = f"sign-in:{named}:{network}"
        limits = {together: MOST_TOGETHER, f"sign-in:{network}": MOST_OF_ADDRESS, f"sign-in:{named}": MOST_OF_NAME}
        for name, most in limits.items():
            # An attempt that one limit refuses is not counted against the limits after it.
            if seconds := gate.take(name, most, PERIOD):
                minutes = math.ceil(seconds / 60)
                raise TooManyAttempts(f"Too many attempts to sign in. Try again in {minutes} min.", math.ceil(seconds))
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is not None:
            for name in limits:
                gate.give_back(name)
        return user
