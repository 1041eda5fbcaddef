"""The order of answers: the value that orders each, and how values are compared."""

from __future__ import annotations

from typing import Any, Literal

Value = int | float | str
Way = Literal["asc", "desc"]


def order_value(field: Any, way: Way) -> Value | None:
    """Return the value of a field that comes first in the order, or None if the node has none.

    A field may hold a list. Numbers come before texts in ascending order, and texts are compared bytewise, so that ISO
    dates are in the order of time.
    """
    items = [item for item in (field if isinstance(field, list) else [field]) if isinstance(item, int | float | str)]
    if not items:
        return None
    return min(items, key=rank) if way == "asc" else max(items, key=rank)


def rank(value: Value) -> tuple[bool, Any]:
    """Return what values are sorted by."""
    return (True, value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else (False, value)
