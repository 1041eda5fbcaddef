"""Values of a job as text for people: of its configuration, its result, and what it used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RESOURCES = {
    "memory_mb": "memory, latest",
    "memory_peak_mb": "memory, most",
    "gpu_memory_peak_mb": "GPU memory, most",
    "processor_seconds": "processor time",
    "written_mb": "written to disk",
}
"""Names of what a job used, in the order in which they are shown; others follow under their own names."""


def text_of(value: Any) -> str:
    """Return a JSON value as text; an object as its names and values, with the names of what its lists hold."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_named, value)) or "none"
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{name} {_inner(inner)}" for name, inner in value.items() if inner not in (None, "", {}, []))
    return "–" if value in (None, "", {}) else str(value)


def _inner(value: Any) -> str:
    """Return a value inside an object: of a list the names of its objects, of an object how many values it has."""
    if isinstance(value, list | tuple):
        return ", ".join(_named(one) for one in value)
    return f"of {len(value)}" if isinstance(value, Mapping) else text_of(value)


def _named(value: Any) -> str:
    """Return an object inside a list by its name, or by how many values it has."""
    if not isinstance(value, Mapping):
        return text_of(value)
    return str(value.get("path") or value.get("name") or f"one of {len(value)} values")


def resource_rows(resources: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a job used, by name, with units."""
    ordered = [*(name for name in RESOURCES if name in resources), *(n for n in resources if n not in RESOURCES)]
    return [
        (RESOURCES.get(name, name.removesuffix("_mb").replace("_", " ")), _amount(name, resources[name]))
        for name in ordered
        if resources[name] is not None
    ]


def _amount(name: str, value: Any) -> str:
    if not isinstance(value, int | float):
        return text_of(value)
    if name.endswith("_mb"):
        return f"{value / 1024:,.1f} GB" if value >= 10 * 1024 else f"{value:,.0f} MB"
    return f"{value:,.1f} s" if "seconds" in name else text_of(value)
