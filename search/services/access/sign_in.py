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
"""Failures of one name from one address."""
MOST_OF_ADDRESS = 20
"""Failures from one address, whatever the names."""
MOST_OF_NAME = 100
"""Failures of one name, from wherever: high, for whoever reaches it keeps its owner from signing in too."""


class TooManyAttempts(NotNow):
    """Too many wrong passwords; nothing is checked for a while."""


class LimitedBackend(ModelBackend):
    """Django's accounts, with a limit on wrong passwords by address, by name, and by both together.

    It is a backend and not part of a page, so that every door that takes a password has it. Raises TooManyAttempts,
    which Django lets through to the door, and ServiceUnavailable when Valkey, which counts, does not answer.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """Return the account where the password is its own."""
        if username is None or password is None:
            return None
        network = Visitor(request.META.get("REMOTE_ADDR", "")).network if request is not None else ""
        named = hashlib.sha256(username.lower().encode("utf-8", "replace")).hexdigest()[:24]
        together = f"sign-in:{named}:{network}"
        limits = {together: MOST_TOGETHER, f"sign-in:{network}": MOST_OF_ADDRESS, f"sign-in:{named}": MOST_OF_NAME}
        for name, most in limits.items():
            # What one limit refuses counts against none of the further ones.
            if seconds := gate.take(name, most, PERIOD):
                minutes = math.ceil(seconds / 60)
                raise TooManyAttempts(f"Too many attempts to sign in. Try again in {minutes} min.", math.ceil(seconds))
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is not None:
            for name in limits:
                gate.give_back(name)
        return user
