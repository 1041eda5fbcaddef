"""The order of answers: the value that orders each, and the places, which equal values share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from search.domain.linking import Placed

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
    return min(items, key=_rank) if way == "asc" else max(items, key=_rank)


def places(values: Mapping[int, Value | None], way: Way) -> dict[int, Placed]:
    """Return key → value and place. Places are counted without gaps; nodes without a value share the last one."""
    ranks = {_rank(value) for value in values.values() if value is not None}
    place_of = {rank: place for place, rank in enumerate(sorted(ranks, reverse=way == "desc"), 1)}
    last = len(place_of) + 1
    return {key: Placed(v, last if v is None else place_of[_rank(v)]) for key, v in values.items()}


def kept_keys(placed: Mapping[int, Placed], limit: int | None) -> Iterable[int]:
    """Return the keys whose place is within the limit."""
    return (key for key, one in placed.items() if limit is None or one.place <= limit)


def _rank(value: Value) -> tuple[bool, Any]:
    return (True, value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else (False, value)
