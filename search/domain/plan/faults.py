"""Collects the faults of a plan while it is read, each with its pointer and the nearest valid name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from search.domain.errors import MOST_FAULTS, Fault, nearest, pointer
from search.domain.graph import ANY
from search.domain.plan.parts import MAX_TEXT

_SHOWN = 80
"""Most characters of a faulty name that a message quotes."""


class FaultFinder:
    """Reads values from JSON and records their faults; a valid placeholder replaces a value that cannot be read.

    At most `MOST_FAULTS` + 1 faults are recorded: the last one only tells that there are more than can be shown.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def items(
        self, data: Mapping[str, Any], key: str, most: int, at: str = "", *, plural: str = ""
    ) -> Iterable[tuple[str, dict[str, Any]]]:
        """Yield (pointer, object) for the first `most` objects of the list under a key of the object at `at`.

        `plural` names the items where the key does not.
        """
        items = data.get(key, [])
        if not isinstance(items, list):
            self.fault(f"{at}/{key}", f"{key} is a list, not {kind_of(items)}.")
            return
        if len(items) > most:
            whole = "An exclusion" if at else "A plan"
            self.fault(f"{at}/{key}", f"{whole} has at most {most} {plural or key}, not {len(items)}.")
        for i, item in enumerate(items[:most]):
            if isinstance(item, dict):
                yield f"{at}/{key}/{i}", item
            else:
                self.fault(f"{at}/{key}/{i}", f"Each of {key} is an object, not {kind_of(item)}.")

    def keys(self, item: Mapping[str, Any], known: Sequence[str], at: str) -> None:
        """Record a fault for every key that is not known here."""
        for key in item:
            if self.full:
                return
            if key not in known:
                self.fault(at + pointer(key), f"There is no key {quoted(key)} here.", nearest(str(key), known))

    def var(self, item: Mapping[str, Any], key: str, at: str) -> str:
        """Return the variable under a key, or an empty string with a fault."""
        value = item.get(key)
        if isinstance(value, str) and 0 < len(value) <= 64 and value.isprintable():
            return value
        self.fault(f"{at}/{key}", f"{key} is a variable: a string of 1 to 64 characters, not {kind_of(value)}.")
        return ""

    def text(self, item: Mapping[str, Any], key: str, at: str, *, required: bool) -> str:
        """Return the text under a key, without leading and trailing white space."""
        value = item.get(key, "")
        if not isinstance(value, str):
            self.fault(f"{at}/{key}", f"{key} is a string, not {kind_of(value)}.")
            return ""
        if required and not value.strip():
            self.fault(f"{at}/{key}", f"{key} must not be empty.")
        if len(value) > MAX_TEXT:
            self.fault(f"{at}/{key}", f"{key} has {len(value)} characters; {MAX_TEXT} are the most.")
        if not storable(value):
            self.fault(f"{at}/{key}", f"{key} holds a NUL character or half of a character, which no text has.")
        return value.strip()

    def name(self, value: object, valid: Sequence[str], at: str, what: str) -> str:
        """Return the name if it is valid, otherwise ANY with a fault; `what` says what is named."""
        if isinstance(value, str) and value in valid:
            return value
        if not isinstance(value, str):
            self.fault(at, f"A {what} is a string, not {kind_of(value)}.")
            return ANY
        self.fault(at, f"There is no {what} {quoted(value)}.", nearest(value, valid))
        return ANY

    def choice(self, value: object, valid: Sequence[str], at: str) -> str:
        """Return the word if it is valid, otherwise the first valid one with a fault."""
        if isinstance(value, str) and value in valid:
            return value
        shown = quoted(value) if isinstance(value, str) else kind_of(value)
        self.fault(at, f"It is one of {', '.join(valid)}, not {shown}.", nearest(str(value), valid))
        return valid[0]

    def fault(self, pointer: str, message: str, nearest: str | None = None) -> None:
        """Record a fault."""
        if nearest is not None:
            message = f"{message} Did you mean {nearest!r}?"
        if not self.full:
            self.faults.append(Fault(pointer, message, nearest))

    @property
    def full(self) -> bool:
        """Whether no further fault is recorded."""
        return len(self.faults) > MOST_FAULTS


def quoted(name: object) -> str:
    """Return a faulty name in quotation marks, cut after `_SHOWN` characters."""
    text = repr(name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def storable(text: str) -> bool:
    """Whether a text can be written as UTF-8 and stored in Postgres: no NUL character, no lone surrogate."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def kind_of(value: object) -> str:
    """Return the type of a JSON value in words, with its article."""
    if value is None:
        return "nothing"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def article(kind: str) -> str:
    """Return the values of a field of that kind in words, with the article."""
    return {
        "number": "a number",
        "date": "a date as YYYY, YYYY-MM or YYYY-MM-DD",
        "keyword": "a string",
        "text": "a string",
    }[kind]
