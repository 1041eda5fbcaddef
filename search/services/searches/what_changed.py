"""what_changed: what a search asked again finds differently, and what may be the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from search.models import SearchRun
from search.services.searches.compare_searches import check_comparable, compare_described
from search.services.searches.describe_search import describe_search

Json = Mapping[str, Any]
KINDS = ("new", "gone", "up", "down", "same")


def what_changed(before: SearchRun, after: SearchRun) -> dict[str, Any]:
    """Return how a later search of a question differs from an earlier one. Raises InvalidRequest (`check_comparable`).

    `comparison` is that of `compare_searches`, from which the rest is read: `results` with the rank before and after
    and the `kind` of change, best rank first; `counts` by kind; `plan` with the parts that only one of the plans has;
    `answer` before and after; `reasons`, what differed between the searches themselves.
    """
    check_comparable([before, after])
    earlier, later = describe_search(before), describe_search(after)
    relations = after.release.snapshot.schema.wordings if after.release is not None else None
    comparison = compare_described([earlier, later], relations)
    results = [_moved(row) for row in comparison["nodes"]]
    answers = [one["answer"]["line"] or "no answer" for one in (earlier, later)]
    return {
        "comparison": comparison,
        "finished": comparison["finished"],
        "results": results,
        "counts": {kind: sum(one["kind"] == kind for one in results) for kind in KINDS},
        "plan": list(plan_changes(comparison)),
        "answer": {"before": answers[0], "after": answers[1], "differs": answers[0] != answers[1]},
        "reasons": list(reasons(before, after)),
    }


def _moved(row: Json) -> dict[str, Any]:
    """Return a row of the comparison with the kind of its change; `by` is how many ranks it gained, < 0 if it lost."""
    before, after = row["ranks"]
    if before is None or after is None:
        return {
            "node": row["node"],
            "before": before,
            "after": after,
            "kind": "gone" if after is None else "new",
            "by": 0,
        }
    kind = "same" if before == after else "up" if after < before else "down"
    return {"node": row["node"], "before": before, "after": after, "kind": kind, "by": before - after}


def plan_changes(comparison: Json) -> Iterator[dict[str, str]]:
    """Yield the parts that only the plan before (`removed`) or only the plan after (`added`) has."""
    for at, kind in ((0, "removed"), (1, "added")):
        for part in comparison["searches"][at]["plan"] or ():
            if len(part["searches"]) == 1:
                yield {"kind": kind, "part": part["part"], "text": part["text"]}


def reasons(before: SearchRun, after: SearchRun) -> Iterator[dict[str, str]]:
    """Yield what differs between two searches that can change an answer, as `kind`, `before` and `after`."""
    pairs = {
        "release": (before.release_name, after.release_name),
        "pipeline": (before.pipeline, after.pipeline),
        "version": (str(before.pipeline_number), str(after.pipeline_number)),
        "settings": (str(before.settings_version), str(after.settings_version)),
        "code": (before.code_version, after.code_version),
    }
    for kind, (old, new) in pairs.items():
        if old != new:
            yield {"kind": kind, "before": old, "after": new}
    told = dict(_options(before.specification, after.specification))
    if before.pipeline == after.pipeline:
        for option, (old, new) in told.items():
            yield {"kind": "option", "option": option, "before": old, "after": new}


def _options(before: Json, after: Json, at: str = "") -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the values that differ between two specifications, by their place (`stages.fuse.OPTIONS.k`)."""
    for key in sorted({*before, *after}):
        old, new, place = before.get(key), after.get(key), f"{at}.{key}" if at else str(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _options(old, new, place)
        elif old != new:
            yield place.replace("stages.", "", 1).replace(".OPTIONS.", "."), (_shown(old), _shown(new))


def _shown(value: object) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
