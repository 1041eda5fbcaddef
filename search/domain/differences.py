"""The places where two JSON values differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MISSING = object()
"""Stands for a value that one side does not have."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ: its path, such as `stages.fuse.k`, and both values, `MISSING` if not there."""

    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:
    """Yield each place where two JSON values differ, in the order of `before`; lists are compared as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), inner)
    elif before != after:
        yield Difference(path, before, after)
