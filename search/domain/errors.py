"""What can go wrong, as words: bad input carries every fault, external failure says whether it may pass."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_NAME = 512
"""Characters of a key that a pointer repeats: no identifier is longer."""
MOST_COMPARED = 80
"""Characters of a faulty name that are compared with the valid ones."""


def pointer(*parts: object) -> str:
    """Return the JSON pointer (RFC 6901) of a place in an input, from its keys and positions.

    `pointer("settings", "a/b")` is `/settings/a~1b`; without parts it is the empty pointer of the whole input.
    """
    return "".join(f"/{str(part)[:MOST_NAME].replace('~', '~0').replace('/', '~1')}" for part in parts)


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name closest to a faulty one, ignoring case, or None where none is close."""
    folded = {candidate.casefold(): candidate for candidate in valid}
    close = difflib.get_close_matches(name[:MOST_COMPARED].casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of an input.

    `pointer` is a JSON pointer into the input (RFC 6901), `message` a sentence that says what is wrong and what
    would be right, `nearest` the valid name closest to the faulty one where there is one.
    """

    pointer: str
    message: str
    nearest: str | None = None

    @property
    def sentence(self) -> str:
        """The message, and the nearest valid name where the message does not give it already."""
        if self.nearest is None or repr(self.nearest) in self.message:
            return self.message
        return f"{self.message} Did you mean {self.nearest!r}?"

    def to_json(self) -> dict[str, object]:
        """Return the fault as a JSON object, without `nearest` where there is none."""
        fault: dict[str, object] = {"pointer": self.pointer, "message": self.message}
        if self.nearest is not None:
            fault["nearest"] = self.nearest
        return fault


class SearchError(Exception):
    """Whatever a search answers with instead of a result; the text is a sentence for people."""


class InvalidRequest(SearchError):
    """The request cannot be run as it stands; `faults` lists everything that is wrong with it, at once."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(" ".join(fault.message for fault in self.faults))


class PlanInvalid(InvalidRequest):
    """A plan that does not fit its schema; the pointers are relative to the plan."""


class StageError(SearchError):
    """A stage could not do its work.

    `permanent` tells a task whether trying again is of use: an engine that is down may come back, a plan that cannot
    be compiled will not.
    """

    def __init__(self, stage: str, reason: str, *, permanent: bool = False) -> None:
        self.stage = stage
        self.reason = reason
        self.permanent = permanent
        super().__init__(f"{stage}: {reason}")


class DeadlineExceeded(StageError):
    """The time limit of the search ran out inside this stage."""

    def __init__(self, stage: str, reason: str = "the time limit of the search ran out") -> None:
        super().__init__(stage, reason, permanent=True)


class SearchCancelled(SearchError):
    """Somebody asked for this search to stop."""

    def __init__(self) -> None:
        super().__init__("The search was cancelled.")


class ServiceUnavailable(SearchError):
    """A part that every search needs does not answer; `service` names it (Postgres, Valkey, the search worker)."""

    def __init__(self, service: str, reason: str) -> None:
        self.service = service
        self.reason = reason
        super().__init__(f"{service}: {reason}")
