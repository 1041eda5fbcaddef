"""Errors of a search: invalid input carries all its faults, external failures say whether a retry can help."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

MOST_NAME = 512
"""Most characters of a key in a pointer; no identifier is longer."""
MOST_COMPARED = 80
"""Most characters of a faulty name that are compared with the valid names."""
MOST_FAULTS = 50
"""Most faults of one input that are shown."""


def pointer(*parts: object) -> str:
    """Return the JSON pointer (RFC 6901) to a place in an input, given the keys and positions that lead to it.

    `pointer("settings", "a/b")` is `/settings/a~1b`; without parts it is the empty pointer to the whole input.
    """
    return "".join(f"/{str(part)[:MOST_NAME].replace('~', '~0').replace('/', '~1')}" for part in parts)


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name most similar to a faulty one, ignoring case, or None if none is similar."""
    folded = {candidate.casefold(): candidate for candidate in valid}
    close = difflib.get_close_matches(name[:MOST_COMPARED].casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of an input.

    `pointer` is the JSON pointer (RFC 6901) to the faulty place. `message` is a sentence that says what is wrong and
    what would be right. `nearest` is the most similar valid name, if there is one.
    """

    pointer: str
    message: str
    nearest: str | None = None

    @property
    def sentence(self) -> str:
        """The message, followed by the nearest valid name if the message does not contain it."""
        if self.nearest is None or repr(self.nearest) in self.message:
            return self.message
        return f"{self.message} Did you mean {self.nearest!r}?"

    def below(self, place: str) -> Fault:
        """Return the fault of an input that stands at the pointer `place` of a larger one."""
        return replace(self, pointer=place + self.pointer)

    def to_json(self) -> dict[str, object]:
        """Return the fault as a JSON object; `nearest` is left out if there is none."""
        fault: dict[str, object] = {"pointer": self.pointer, "message": self.message}
        if self.nearest is not None:
            fault["nearest"] = self.nearest
        return fault


def first_faults(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """Return the first `MOST_FAULTS` faults, and behind them one that says that there are more."""
    if len(faults) <= MOST_FAULTS:
        return tuple(faults)
    more = f"There are more faults than these {MOST_FAULTS}; the next ones are shown when these are mended."
    return (*faults[:MOST_FAULTS], Fault("", more))


class SearchError(Exception):
    """Base class of all expected errors of a search; the text is a sentence for people."""


class InvalidRequest(SearchError):
    """The request is invalid; `faults` lists all its faults, or the first ones of very many (`first_faults`)."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = first_faults(faults)
        super().__init__(" ".join(fault.message for fault in self.faults))


class PlanInvalid(InvalidRequest):
    """A plan does not fit its schema; the pointers are relative to the plan."""


class StageError(SearchError):
    """A stage failed.

    `permanent` says that a retry cannot help. An unavailable engine may come back (not permanent); a plan that cannot
    be compiled will never compile (permanent).
    """

    def __init__(self, stage: str, reason: str, *, permanent: bool = False) -> None:
        self.stage = stage
        self.reason = reason
        self.permanent = permanent
        super().__init__(f"{stage}: {reason}")


def by_words_alone(error: StageError) -> str:
    """Return the sentence for a list without vectors that cannot be asked at present; raise a permanent error again."""
    if error.permanent:
        raise error
    return f"{error.reason[:1].upper()}{error.reason[1:]}. Documents are found by their words alone meanwhile."


class DeadlineExceeded(StageError):
    """The time limit of the search ran out inside this stage."""

    def __init__(self, stage: str, reason: str = "the time limit of the search ran out") -> None:
        super().__init__(stage, reason, permanent=True)


class SearchCancelled(SearchError):
    """The cancellation of this search was requested."""

    def __init__(self) -> None:
        super().__init__("The search was cancelled.")


class NotNow(SearchError):
    """A request is refused for now; a new one may be accepted after `seconds` seconds."""

    def __init__(self, reason: str, seconds: float) -> None:
        self.reason = reason
        self.seconds = seconds
        super().__init__(reason)


class TooManySearches(NotNow):
    """The caller has reached the limit of searches, or of exports, per minute."""


class QueueFull(NotNow):
    """The queue of waiting searches, or of waiting exports, is full."""


class NotAllowed(SearchError):
    """The caller has no permission for this action; the text says who has it."""


class ServiceUnavailable(SearchError):
    """A service that every search needs does not answer; `service` names it (Postgres, Valkey, the search worker)."""

    def __init__(self, service: str, reason: str) -> None:
        self.service = service
        self.reason = reason
        super().__init__(f"{service}: {reason}")
