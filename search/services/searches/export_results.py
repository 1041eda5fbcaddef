"""export_results: a search's results as rows of a table, each with its arithmetic, its conditions and its paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from search.plan_words import exclusion_words, variables_of, what_words
from search.text import path_text

Json = Mapping[str, Any]

FIRST = ("rank", "score", "id", "type", "name", "snippet")
LAST = ("conditions", "paths")
OF_A_LIST = ("rank", "score", "weight", "contribution")


def export_results(search: Json) -> Iterator[list[str | int | float]]:
    """Yield the header, then a row for each result of a described search; `search.tables` makes the cells harmless."""
    results: Sequence[Json] = search["results"]
    lists = list(dict.fromkeys(name for result in results for name in result["scores"]))
    yield [*FIRST, *(f"{name} {part}" for name in lists for part in OF_A_LIST), *LAST]
    for result in results:
        node = result["node"]
        given = (result["scores"].get(name, {}).get(part) for name in lists for part in OF_A_LIST)
        shares = ("" if share is None else share for share in given)
        told = (node["id"], node["type"], node["name"], result["snippet"])
        yield [
            result["rank"], result["score"], *told, *shares,
            _conditions(result["evidence"], search["plans"]), _paths(result["evidence"]),
        ]  # fmt: skip


def _conditions(evidence: Json | None, plans: Sequence[Json]) -> str:
    """Return each condition with its state, and how near the text is: `Ada Holm: met; “amber”: likeness 0.27`."""
    if not evidence or not 0 <= evidence["plan_index"] < len(plans):
        return ""
    plan = plans[evidence["plan_index"]]["plan"]
    texts = {anchor["var"]: anchor["text"] for anchor in plan["anchors"]}
    told = [f"{texts.get(anchor['var'], anchor['var'])}: {anchor['status']}" for anchor in evidence["anchors"]]
    told += [f"{plan['hops'][hop['index']]['rel']}: {hop['status']}" for hop in evidence["hops"]]
    told += [f"{plan['filters'][kept['index']]['field']}: {kept['status']}" for kept in evidence.get("filters", ())]
    told += [
        f"not {exclusion_words(plan['exclude'][one['index']], variables_of(plan))}: {one['status']}"
        for one in evidence.get("exclude", ())
    ]
    if (placed := evidence.get("order")) and plan.get("order"):
        told.append(f"{what_words(plan['order']['by'])}: {placed['value']}: {placed['status']}")
    text, score = evidence["residual"]["text"], evidence["residual"].get("score")
    if text:
        told.append(f"“{text}”: unknown" if score is None else f"“{text}”: likeness {score:.2f}")
    return "; ".join(status.replace("not_met", "not met") for status in told)


def _paths(evidence: Json | None) -> str:
    """Return every path on a line of its own, as `Ada Holm ← directed by — Amber Road`.

    Paths that break an exclusion come last, after the word "not".
    """
    if not evidence:
        return ""
    broken = [f"not: {path_text(path)}" for one in evidence.get("exclude", ()) for path in one["paths"]]
    return "\n".join([*map(path_text, evidence["paths"]), *broken])
