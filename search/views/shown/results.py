"""One result as the list shows it: its checked conditions and its paths in words; `why.py` explains its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search.plan_words import Relations, hop_words, relation_words, variables_of
from search.sentences.paths import path_words
from search.sentences.reading import named_conditions, reading_words
from search.sentences.values import more_conditions, type_words, values_of
from search.services.searches.understood import walks
from search.views.shown.answer import near_words, place_words
from search.views.shown.plans import filter_text

Json = Mapping[str, Any]

CONDITION_SIGNS = {
    "met": ("✓", "met"),
    "not_met": ("✗", "not met"),
    "unknown": ("?", "not checked"),
    "dropped": ("–", "dropped"),
}
DROPPED = "nothing meets this and the rest, so it is searched as text"


@dataclass(frozen=True, slots=True)
class ShownCondition:
    """One condition of the plan, checked for one result."""

    kind: str
    label: str
    status: str
    mark: str
    word: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShownPath:
    """A path in words, and as rows of the equivalent table: from, relation, to."""

    words: str
    rows: tuple[tuple[Json, str, Json], ...]


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A result ready to print."""

    rank: int
    score: float
    id: str
    type: str
    name: str
    snippet: str
    conditions: tuple[ShownCondition, ...]
    plan_index: int | None
    paths: tuple[ShownPath, ...]
    answers: bool = True
    """Whether it is an answer of the shown plan; others are near."""
    ordered: str = ""
    """The value that put it where it stands or that the plan shows, and the values that the plan's filters compare."""
    place: str = ""
    ticks: tuple[ShownCondition, ...] = ()
    """The conditions as a card shows them: each name with the relations that lead to it."""
    near: str = ""
    """What one that is no answer meets, and what not, in one sentence."""


def show_results(search: Json, relations: Relations | None = None) -> tuple[ShownResult, ...]:
    """Return the results of a described search, best first; `relations` are those of the schema, for their wordings."""
    results, known = search["results"], relations or {}
    shown = [_show(result, search["plans"], known) for result in results]
    orders, none = _orders(search, known), search["answer"]["verdict"] == "none"
    return tuple(
        replace(
            one, ordered=order, place=place,
            answers=bool(result["answers"]) and not none,
            near=_near(result, one, search, known),
        )
        for one, result, (order, place) in zip(shown, results, orders, strict=True)
    )  # fmt: skip


def _near(result: Json, shown: ShownResult, search: Json, relations: Relations) -> str:
    evidence = result["evidence"] or {}
    if not any(walks(entry["plan"]) for entry in search["plans"]):
        return ""
    excluded = any(one["status"] == "not_met" for one in evidence.get("exclude", ()))
    other = shown.plan_index not in (None, search["plan_index"]) and evidence.get("whole") == "met"
    plan = search["plans"][shown.plan_index]["plan"] if other and shown.plan_index is not None else None
    if plan is not None and not walks(plan):
        return near_words((), excluded=excluded, otherwise="")
    return near_words(shown.ticks, excluded=excluded, otherwise=reading_words(plan, relations) if plan else "")


def _orders(search: Json, relations: Relations) -> Iterator[tuple[str, str]]:
    """Yield for each result the values that its plan orders by, shows and compares, and its place in the order.

    Each plan has an order of its own, so a place is shared only within a plan.
    """
    every = [result["evidence"] or {} for result in search["results"]]
    placed = [evidence.get("order") or {} for evidence in every]
    met = Counter(
        (evidence.get("plan_index"), one.get("place"))
        for evidence, one in zip(every, placed, strict=True) if one.get("status") == "met"
    )  # fmt: skip
    for evidence, one in zip(every, placed, strict=True):
        index = evidence.get("plan_index", -1)
        plan = search["plans"][index]["plan"] if 0 <= index < len(search["plans"]) else {}
        place = one["place"] if plan.get("order") and one else None
        shared = met[index, place] > 1
        yield ", ".join(values_of(plan, evidence, relations)), place_words(place, shared) if place else ""


def _show(result: Json, plans: Sequence[Json], relations: Relations) -> ShownResult:
    evidence = result["evidence"]
    paths = evidence["paths"] if evidence else []
    broken = [path for one in (evidence or {}).get("exclude", ()) for path in one["paths"]]
    node = result["node"]
    return ShownResult(
        rank=result["rank"],
        score=result["score"],
        id=node["id"],
        type=type_words(node["type"]),
        name=node["name"],
        snippet=result["snippet"],
        conditions=_conditions(evidence, plans, relations),
        ticks=_ticks(evidence, plans, relations),
        plan_index=evidence["plan_index"] if evidence else None,
        paths=tuple(show_path(path, relations) for path in [*paths, *broken] if len(path) > 1),
    )


def _conditions(evidence: Json | None, plans: Sequence[Json], relations: Relations) -> tuple[ShownCondition, ...]:
    """Return the conditions of the plan that the evidence refers to: anchors, hops, filters and so on, then the text.

    Conditions that were dropped so that the plan finds something come before the text.
    """
    if not evidence or not 0 <= evidence["plan_index"] < len(plans):
        return ()
    entry = plans[evidence["plan_index"]]
    plan = entry["plan"]
    anchors = {anchor["var"]: anchor for anchor in plan["anchors"]}
    labels = _labels(plan)
    found = [
        _condition("anchor", anchors[a["var"]]["text"], a["status"], type_words(anchors[a["var"]]["label"]))
        for a in evidence["anchors"]
        if a["var"] in anchors
    ]
    for checked in evidence["hops"]:
        hop = plan["hops"][checked["index"]]
        ends = f"{labels[hop['from']]} to {labels[hop['to_var']]}"
        found.append(_condition("hop", hop_words(hop, relations), checked["status"], ends))
    goal, variables = plan["target"].get("var", "T"), variables_of(plan)
    for checked in evidence.get("filters", ()):
        limit = plan["filters"][checked["index"]]
        found.append(
            _condition(
                "filter",
                filter_text(limit, goal, variables, relations),
                checked["status"],
                labels.get(limit["var"], ""),
            )
        )
    found += [_condition(*told) for told in more_conditions(plan, evidence, relations)]
    found += [_condition("dropped", text, "dropped", DROPPED) for text in entry.get("dropped", ())]
    residual = evidence["residual"]
    if residual["text"]:
        found.append(_nearness(residual))
    return tuple(found)


def _ticks(evidence: Json | None, plans: Sequence[Json], relations: Relations) -> tuple[ShownCondition, ...]:
    """Return the conditions in which a name and the relations that lead to it are one."""
    if not evidence or not 0 <= evidence["plan_index"] < len(plans):
        return ()
    plan = plans[evidence["plan_index"]]["plan"]
    anchors = {one["var"]: one["status"] for one in evidence["anchors"]}
    hops = {one["index"]: one["status"] for one in evidence["hops"]}
    named = list(named_conditions(plan, relations))
    said = {hop for one in named for hop in one.hops}
    found = [
        _condition("anchor", one.words, _worst([anchors.get(one.var, "unknown"), *(hops[at] for at in one.hops)]))
        for one in named
    ]
    rest = [one for one in _conditions(evidence, plans, relations) if one.kind not in ("anchor", "hop")]
    loose = [
        _condition("hop", hop_words(plan["hops"][at], relations), status)
        for at, status in hops.items()
        if at not in said
    ]
    return (*found, *loose, *rest)


def _worst(statuses: Sequence[str]) -> str:
    return next((one for one in ("not_met", "unknown") if one in statuses), "met")


def _labels(plan: Json) -> dict[str, str]:
    labels = {hop["to_var"]: type_words(hop["to_label"]) for hop in plan["hops"]}
    labels |= {hop["from"]: labels.get(hop["from"], "anything") for hop in plan["hops"]}
    return labels | {anchor["var"]: anchor["text"] for anchor in plan["anchors"]}


def _condition(kind: str, label: str, status: str, note: str = "") -> ShownCondition:
    mark, word = CONDITION_SIGNS.get(status, CONDITION_SIGNS["unknown"])
    return ShownCondition(kind, label, status, mark, word, note)


def _nearness(residual: Json) -> ShownCondition:
    """Return the text condition: the document's similarity to the text, and the level of the best of its type."""
    label, score, threshold = f"“{residual['text']}”", residual.get("score"), residual.get("threshold")
    if score is None:
        return _condition("text", label, "unknown", "likeness of the text")
    note = "" if threshold is None else f"; the best texts of its type reach {threshold:.2f}"
    return ShownCondition("text", label, "near", *CONDITION_SIGNS["unknown"], f"likeness {score:.2f}{note}")


def show_path(path: Sequence[Json], relations: Relations) -> ShownPath:
    """Return a path of the evidence ready to print, its relations as the schema words them."""
    rows = [
        (start, relation_words(edge["relation"], edge["direction"], relations), end)
        for start, edge, end in zip(path[0::2], path[1::2], path[2::2], strict=False)
    ]
    return ShownPath(path_words(path, relations), tuple(rows))
