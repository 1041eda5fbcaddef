"""Why a result stands where it does: the sum that is its score, what moved it, and the drawing of its paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.fusion import SINGLE, SUM
from search.plan_words import Relations
from search.signals.titles import signal_value
from search.text import words
from search.views.shown.drawing import Drawing, draw

Json = Mapping[str, Any]

BY_RANK, BY_SCORE = "w / (k + rank)", "w × score"
BAR_WIDTH = 160.0
"""Width of the largest contribution's bar, in units of the drawing."""
SMALL_WEIGHT = 0.01
"""A weight below this is shown with two significant digits, which is exact enough for a sum with four decimals."""


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One list's part in the sum; `formula` is empty where the list does not hold the result.

    The sum adds up the lists with `depth` 0. A deeper list follows the list into which it was fused. Its contribution
    is a share of that list's contribution, in proportion to its share of that list's score.
    """

    title: str
    rank: int | None
    score: float | None
    weight: float
    formula: str
    contribution: float
    bar: float
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ShownSignal:
    """A signal that moved a result; `start` and `bar` are place and width of its bar, which begins in the middle."""

    title: str
    value: str
    contribution: float
    size: float
    start: float
    bar: float


@dataclass(frozen=True, slots=True)
class ShownWhy:
    """The reasons for the place of one result; `formula` says how a list adds to the sum, in symbols.

    `fused` is False where a single list gave the score, so that there is nothing to add up.
    """

    parts: tuple[ScorePart, ...]
    total: float
    fused: bool
    formula: str
    signals: tuple[ShownSignal, ...]
    drawing: Drawing | None


def show_why(search: Json, rank: int, relations: Relations) -> ShownWhy | None:
    """Return the reasons for the place of the result with this rank; None without such a result.

    Bars are as long as their part of the largest value of all results, so that those of two results can be compared.
    """
    results = search["results"]
    result = next((one for one in results if one["rank"] == rank), None)
    if result is None:
        return None
    fusion = search["fusion"] or {}
    largest = max((share["contribution"] for one in results for _, share in _shares(one)), default=0.0)
    strongest = max((abs(one["contribution"]) for other in results for one in other.get("signals", ())), default=0.0)
    parts = tuple(_part(path, share, fusion, largest) for path, share in _shares(result))
    return ShownWhy(
        parts=parts,
        total=sum(part.contribution for part in parts if not part.depth),
        fused=any(part.depth for part in parts) or (bool(fusion) and fusion.get("method") != SINGLE),
        formula=_formula_title(result),
        signals=tuple(_signal(one, strongest) for one in result.get("signals", ())),
        drawing=draw(result["evidence"]["paths"] if result["evidence"] else [], relations),
    )


def _shares(result: Json) -> list[tuple[tuple[str, ...], Json]]:
    """Return the lists' contributions by path in the tree of fusions, those that add most first.

    A fused list precedes the lists in it.
    """
    named = [*result["scores"].items(), *result.get("fused", {}).items()]
    shares = [(tuple(share.get("path") or [name]), share) for name, share in named]
    adds = {path: share["contribution"] for path, share in shares}

    def place(path: tuple[str, ...]) -> list[tuple[float, str]]:
        return [(-adds.get(path[: depth + 1], 0.0), name) for depth, name in enumerate(path)]

    return sorted(shares, key=lambda entry: place(entry[0]))


def _part(path: tuple[str, ...], share: Json, fusion: Json, largest: float) -> ScorePart:
    return ScorePart(
        title=_title(path[-1], fusion),
        rank=share["rank"],
        score=share["score"],
        weight=share["weight"],
        formula=_formula(share, fusion),
        contribution=share["contribution"],
        bar=round(BAR_WIDTH * share["contribution"] / largest, 1) if largest > 0 else 0.0,
        depth=len(path) - 1,
    )


def _signal(signal: Json, strongest: float) -> ShownSignal:
    """Return a signal with its bar: to the right of the middle if it moved the result up, else to the left."""
    middle = BAR_WIDTH / 2
    width = round(middle * abs(signal["contribution"]) / strongest, 1) if strongest > 0 else 0.0
    start = middle if signal["contribution"] >= 0 else round(middle - width, 1)
    title, value = signal.get("title", signal["name"]), signal_value(signal["name"], signal["value"])
    return ShownSignal(title, value, signal["contribution"], abs(signal["contribution"]), start, width)


def _title(name: str, fusion: Json) -> str:
    return fusion.get("titles", {}).get(name) or words(name).capitalize()


def _formula_title(result: Json) -> str:
    """Return how the lists add to the sum, in symbols: by ranks, by scores, or both where fusions are nested."""
    methods = {share.get("method", "") for _, share in _shares(result)}
    return " or ".join(
        title for title, there in ((BY_RANK, "" in methods), (BY_SCORE, methods & {SINGLE, SUM})) if there
    )


def _formula(share: Json, fusion: Json) -> str:
    rank, k = share["rank"], share.get("k", fusion.get("k"))
    if share.get("method") in (SINGLE, SUM):
        return f"{share['weight']:.4g} × {share['score']:.4f}" if rank is not None else ""
    return f"{_weight(share['weight'])} / ({k:g} + {rank})" if fusion and rank is not None and k is not None else ""


def _weight(weight: float) -> str:
    """Return a weight with enough digits to recompute the sum, which is shown with four decimals."""
    return f"{weight:g}" if weight >= SMALL_WEIGHT else f"{weight:.2g}"
