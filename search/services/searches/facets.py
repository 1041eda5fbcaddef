"""facets_of: how the answers of a plan can be narrowed down by type, by fields, and by what they are related with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from search import wiring
from search.adapters.postgres_reading import read
from search.domain.errors import StageError
from search.domain.facets import MOST_VALUES, Facet, FacetValue, best, date_ranges, most_frequent, ranges, worth
from search.domain.graph import OPPOSITE, Direction, Field
from search.domain.plan import MAX_ANCHORS, MAX_HOPS, Plan
from search.domain.plan.parse import MAX_FILTERS
from search.domain.trace import Limit
from search.interfaces import Keys
from search.language.reader import range_words, value_words
from search.models import SearchRun
from search.plan_words import field_words
from search.services.searches.plan_answers import PlanAnswers
from search.text import words

MOST_FACETS = 4
LEAST_WORTH = 0.15
"""Facets of less worth are left out: few answers have a shown value, or nearly all have the same."""
FEWEST_ANSWERS = 8
"""Fewer answers are read faster than narrowed down."""
LOOKED_AT = 5_000
"""Answers that are looked at. Of more answers, that many are taken evenly from the order of the answers."""
MOST_EDGES = 200_000
"""Edges of one relation that are read; a relation of which the answers have more is left out."""
FACETS_SECONDS = 0.75
"""Time in seconds after which no further relation is looked at."""
LONGEST_LABEL = 80
"""Characters of a value that is offered; longer values are descriptions."""
_SOME = """SELECT ARRAY(SELECT fields -> name FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (name, place)
ORDER BY place) FROM search_node WHERE snapshot_id = %s AND key = ANY(%s)"""


@dataclass(frozen=True, slots=True)
class AnswerFacets:
    """The facets of some answers, most useful first; `looked_at` of the `answers` were counted.

    `complete` says that every relation was looked at, so that more time would find no others.
    """

    facets: tuple[Facet, ...] = ()
    looked_at: int = 0
    answers: int = 0
    complete: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return them as the API shows them."""
        return {
            "facets": [facet.to_json() for facet in self.facets],
            "looked_at": self.looked_at,
            "answers": self.answers,
        }


def facets_of(answers: PlanAnswers, run: SearchRun, seconds: float = FACETS_SECONDS) -> AnswerFacets:
    """Return the facets of a plan's answers; none if there are few answers or the graph cannot be read.

    `seconds` is the time after which no further relation is looked at.
    """
    if len(answers) < FEWEST_ANSWERS or run.release is None or answers.plan is None:
        return AnswerFacets(answers=len(answers))
    keys = answers.keys
    if len(keys) > LOOKED_AT:
        keys = keys[np.linspace(0, len(keys), LOOKED_AT, endpoint=False).astype(np.int64)]
    tools = wiring.tools(run.release, run.settings_version)
    looked = _Look(tools, answers.plan, keys, Limit.seconds(seconds))
    found: list[Facet] = []
    complete = False
    try:
        for facet in looked.all():
            found.append(facet)
        complete = True
    except StageError:
        # The time ran out or a database is away: what was found until then is shown.
        pass
    return AnswerFacets(tuple(best(found, MOST_FACETS, LEAST_WORTH)), len(keys), len(answers), complete)


@dataclass(frozen=True)
class _Look:
    """One look at some answers (`keys`) of a plan."""

    tools: wiring.Tools
    plan: Plan
    keys: Keys
    limit: Limit

    def all(self) -> Iterator[Facet]:
        """Yield every facet with at least two values. Raises DeadlineExceeded if the time runs out."""
        codes, counts = np.unique(self.tools.nodes.types(self.keys), return_counts=True)
        types = [self.tools.schema.node_types[code] for code in codes.tolist()]
        if len(types) > 1:
            yield self._types([one.name for one in types], counts.tolist())
        if len(self.plan.filters) < MAX_FILTERS:
            fields = {one.name: one for kind in types for one in kind.fields if one.kind != "text"}
            yield from self._fields(fields, [one.name for one in types])
        if len(self.plan.anchors) < MAX_ANCHORS and len(self.plan.hops) < MAX_HOPS:
            for relation, way, far in self._relations({one.name for one in types}):
                self.limit.check("facets")
                facet = self._relation(relation, way, far)
                if facet is not None:
                    yield facet

    def _types(self, names: Sequence[str], counts: Sequence[int]) -> Facet:
        ordered = sorted(zip(names, counts, strict=True), key=lambda one: (-one[1], one[0]))
        values = [FacetValue(words(name), count, {"target": {"labels": [name]}}) for name, count in ordered]
        return self._facet("type", "type", values)

    def _facet(self, kind: Any, name: str, values: Sequence[FacetValue], direction: str = "") -> Facet:
        shown = tuple(values[:MOST_VALUES])
        value = worth([one.count for one in shown], len(self.keys))
        return Facet(kind, name, shown, value, len(values) - len(shown), direction)

    def _fields(self, fields: dict[str, Field], types: Sequence[str]) -> Iterator[Facet]:
        for name, several in self._values(list(fields), types):
            if fields[name].kind == "keyword":
                texts = [[one for one in some if isinstance(one, str) and one.strip()] for some in several]
                frequent = most_frequent(texts)
                short = [(text, count) for text, count in frequent if len(text) <= LONGEST_LABEL]
                yield self._facet("field", name, [self._value(name, "=", text, text, count) for text, count in short])
                continue
            kinds: tuple[type, ...] = (int, float) if fields[name].kind == "number" else (str,)
            measured: list[list[Any]] = [[one for one in some if isinstance(one, kinds)] for some in several]
            unit = field_words(name, self.tools.schema.wordings)[1]
            parts = ranges(measured) if fields[name].kind == "number" else date_ranges(measured)
            yield self._facet("field", name, [
                self._value(name, "=" if low == high else "between", low if low == high else [low, high], label, count)
                for (low, high, count), label in zip(parts, _labels(parts, fields[name].kind, unit), strict=True)
            ])  # fmt: skip

    def _values(self, names: Sequence[str], types: Sequence[str]) -> Iterator[tuple[str, list[list[Any]]]]:
        """Yield the values of each field for each answer that has some; those not in the columns are read together."""
        columns = self.tools.columns
        mapped = [name for name in names if all(columns.whole(label, name) for label in types)]
        others = [name for name in names if name not in mapped]
        query = [others, self.tools.snapshot.pk, self.keys.tolist()]
        rows = read("facets", _SOME, query, self.limit) if others else []
        own = self.tools.nodes.types(self.keys)
        for name in names:
            if name not in mapped:
                values = [row[others.index(name)] for (row,) in rows]
                yield name, [one if isinstance(one, list) else [one] for one in values if one is not None]
                continue
            several: dict[tuple[str, int], list[Any]] = {}
            for label in types:
                keys = np.asarray(self.keys[own == self.tools.schema.type_codes[label]], dtype=np.int32)
                owner, found = columns.values(label, name, keys)
                for at, value in zip(owner.tolist(), columns.read(found), strict=True):
                    several.setdefault((label, at), []).append(value)
            yield name, list(several.values())

    def _value(self, name: str, op: str, value: Any, label: str, count: int) -> FacetValue:
        condition = {"var": self.plan.target.var, "field": name, "op": op, "value": value}
        return FacetValue(label, count, {"filters": [condition]})

    def _relations(self, types: set[str]) -> list[tuple[str, Direction, str]]:
        """Return the relations of the types, with direction and type of the far end, those with most edges first."""
        hidden = {one.name for one in self.tools.schema.node_types if one.hidden}
        counts: dict[tuple[str, Direction, str], int] = {}
        for kind in self.tools.schema.relation_types:
            for near, far, way in kind.ways:
                if near in types and far not in hidden:
                    one = (kind.relation, way, far)
                    counts[one] = counts.get(one, 0) + kind.count
        return sorted(counts, key=lambda one: (-counts[one], one))

    def _relation(self, relation: str, way: Direction, far: str) -> Facet | None:
        """Return the facet of the neighbours of one type over a relation; None if there are too many edges."""
        schema = self.tools.schema
        walked = self.tools.adjacency.walk(self.keys, schema.relation_codes[relation], way, MOST_EDGES)
        if walked is None:
            return None
        place, there = walked
        kept = self.tools.nodes.types(there) == schema.type_codes[far]
        pairs = np.unique(np.stack([there[kept].astype(np.int64), place[kept]]), axis=1)
        keys, counts = np.unique(pairs[0], return_counts=True)
        first = np.lexsort((keys, -counts))[:MOST_VALUES]
        nodes = self.tools.nodes.references(keys[first].tolist())
        var = self._unused()
        values = [
            FacetValue(node.name, count, {
                "anchors": [{"var": var, "text": node.name, "label": far, "match_mode": "name", "ids": [node.id]}],
                "hops": [{
                    "from": var, "rel": relation, "to_var": self.plan.target.var,
                    "to_label": self.plan.target.labels[0] if len(self.plan.target.labels) == 1 else "*",
                    "direction": OPPOSITE[way],
                }],
            })
            for node, count in zip(nodes, counts[first].tolist(), strict=True)
        ]  # fmt: skip
        value = worth([one.count for one in values], len(self.keys))
        return Facet("relation", relation, tuple(values), value, len(keys) - len(values), way)

    def _unused(self) -> str:
        used = {*self.plan.variables, *(var for pattern in self.plan.exclude for var in pattern.variables)}
        return next(f"f{number}" for number in range(1, len(used) + 2) if f"f{number}" not in used)


def _labels(parts: Sequence[tuple[Any, Any, int]], kind: str, unit: str) -> list[str]:
    """Return the ranges as text; dates as years where these tell the ranges apart."""
    ends = [(low, high) for low, high, _ in parts]
    if kind == "date":
        years = [(str(low)[:4], str(high)[:4]) for low, high in ends]
        apart = all(one[1] < other[0] for one, other in pairwise(years))
        ends = years if apart else [(low[:10], high[:10]) for low, high in ends]
    return [value_words(low, unit) if low == high else range_words(low, high, unit, " – ") for low, high in ends]
