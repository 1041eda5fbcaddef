"""people: who owns what is kept, and how much one person may keep."""

from __future__ import annotations

import math
from typing import Any

from search.domain.errors import Fault, NotAllowed, NotNow
from search.domain.unstorable import storable
from search.services.access import gate
from search.services.access.visitors import User, Visitor, person_columns

A_MINUTE, MOST_IN_A_MINUTE = 60.0, 240
LONGEST_NAME, LONGEST_NOTE = 200, 4_000


def keeper(user: User, visitor: Visitor) -> dict[str, Any]:
    """Return the columns of the person who wants to keep something.

    Raises NotAllowed for a caller who cannot be recognised again, and NotNow above the limit of changes.
    """
    person = person_columns(user, visitor)
    if not person:
        raise NotAllowed("What you keep belongs to a person: sign in, or allow the cookie of this site.")
    seconds = gate.take(f"keep:{visitor.network or person}", MOST_IN_A_MINUTE, A_MINUTE)
    if seconds:
        raise NotNow(f"More than {MOST_IN_A_MINUTE} changes in a minute; continue in {math.ceil(seconds)} s.", seconds)
    return person


def text_faults(name: object, note: object, *, named: bool = True) -> list[Fault]:
    """Return the faults of a name and a note; `named` says that the name must not be empty."""
    faults = []
    if not isinstance(name, str) or len(name.strip()) > LONGEST_NAME or not storable(name):
        faults.append(Fault("/name", f"A name is a text of at most {LONGEST_NAME} characters."))
    elif named and not name.strip():
        faults.append(Fault("/name", "Give it a name, by which you find it again."))
    if not isinstance(note, str) or len(note.strip()) > LONGEST_NOTE or not storable(note):
        faults.append(Fault("/note", f"A note is a text of at most {LONGEST_NOTE:,} characters."))
    return faults
