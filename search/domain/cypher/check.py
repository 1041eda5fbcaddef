"""Holds a written query against a schema: names as the schema spells them, faults with the nearest name, strictness."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from search.domain.cypher.faults import CypherFault
from search.domain.cypher.syntax import Word, WrittenCondition, WrittenEdge, WrittenQuery
from search.domain.errors import nearest
from search.domain.graph import Schema
from search.domain.plan import Filter
from search.domain.triplets import Symbol, Triplet, TripletQuery

NAMES = ("name", "title")
"""Properties that say a node's name."""
NAMING = ("=", "contains")
"""Comparisons with a name that make a symbol a constant."""
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Strictness:
    """How names of node types, relations and properties are used (AF-Retriever, table 18; FocusedRetriever, table 7).

    `nodes`: a known label restricts its symbol, and triplets with an unknown label are dropped; otherwise labels
    restrict nothing but the target. `edges`: likewise for relations; otherwise any relation joins the two symbols.
    `properties`: `join` keeps every condition, and a condition that cannot be applied joins the search text later;
    `strict` drops conditions on unknown properties; `lenient` drops all conditions that are not about names.
    """

    nodes: bool = True
    edges: bool = True
    properties: str = "join"


@dataclass(frozen=True)
class CheckedQuery:
    """The triplets of a query, and its faults; parts with a fault are left out of the triplets."""

    query: TripletQuery
    faults: tuple[CypherFault, ...] = ()


def checked_query(
    written: WrittenQuery, schema: Schema, strict: Strictness, concealed: Collection[str] = ()
) -> CheckedQuery:
    """Return what of a query can be used with a schema; types in `concealed` count as unknown."""
    return _Checker(schema, strict, concealed).check(written)


def visible_types(schema: Schema, concealed: Collection[str]) -> list[str]:
    """Return the node types that a model may name: those that are neither hidden by the schema nor concealed."""
    hidden = {plain(name) for name in concealed}
    return [kind.name for kind in schema.node_types if not kind.hidden and plain(kind.name) not in hidden]


class _Checker:
    """Checks one query; an instance is used once."""

    def __init__(self, schema: Schema, strict: Strictness, concealed: Collection[str]) -> None:
        self.schema = schema
        self.strict = strict
        self.types = visible_types(schema, concealed)
        ends = [kind for kind in schema.relation_types if kind.source in self.types and kind.target in self.types]
        self.relations = list(dict.fromkeys(kind.relation for kind in ends))
        self.faults: list[CypherFault] = []
        self.unknown: set[str] = set()
        """Symbols whose label is unknown."""

    def check(self, written: WrittenQuery) -> CheckedQuery:
        """Return the usable part of the query and its faults."""
        labels = self._labels(written)
        target = written.returned
        if target.text not in labels:
            self._fault(target, f"`{target.text}` is returned but stands in no pattern", labels)
            return CheckedQuery(TripletQuery(), tuple(self.faults))
        texts, filters = self._conditions(written, labels)
        triplets = tuple(found for edge in written.edges if (found := self._triplet(edge, labels)) is not None)
        kept = {name for triplet in triplets for name in (triplet.head, triplet.tail)} | {target.text}
        symbols = tuple(
            Symbol(
                name, (label,) if label and self._restricts(name, target.text) else (), " ".join(texts.get(name, ()))
            )
            for name, label in labels.items()
            if name in kept
        )
        used = tuple(condition for condition in filters if condition.var in kept)
        return CheckedQuery(TripletQuery(symbols, triplets, used, target.text), tuple(self.faults))

    def _restricts(self, name: str, target: str) -> bool:
        return self.strict.nodes or name == target

    def _labels(self, written: WrittenQuery) -> dict[str, str]:
        """Return variable → node type as the schema spells it, empty without a known one."""
        labels: dict[str, str] = {}
        for node in written.nodes:
            known = labels.setdefault(node.name, "")
            if node.label is None:
                continue
            found = self._known(node.label, self.types, "type", self.strict.nodes)
            if found is None:
                self.unknown.add(node.name)
            elif known and found != known:
                self._fault(node.label, f"`{node.name}` is a `{known}` already", ())
            else:
                labels[node.name] = found
        return labels

    def _triplet(self, edge: WrittenEdge, labels: dict[str, str]) -> Triplet | None:
        """Return the triplet of an edge; None if it is dropped."""
        relation = None
        if edge.relation is not None:
            relation = self._known(edge.relation, self.relations, "relation", self.strict.edges)
            if relation is None and self.strict.edges:
                return None
        if self.strict.nodes and {edge.head, edge.tail} & self.unknown:
            return None
        if relation is None or not self.strict.edges:
            return Triplet(edge.head, None, edge.tail, directed=False)
        return self._turned(edge, relation, labels)

    def _turned(self, edge: WrittenEdge, relation: str, labels: dict[str, str]) -> Triplet:
        """Return the triplet in the direction in which the schema has it; as written where it has both or neither."""
        if edge.direction is None:
            return Triplet(edge.head, relation, edge.tail, directed=False)
        pairs = [(kind.source, kind.target) for kind in self.schema.relation_types if kind.relation == relation]
        head, tail = labels[edge.head], labels[edge.tail]

        def fits(one: str, other: str) -> bool:
            return any(one in ("", source) and other in ("", target) for source, target in pairs)

        if fits(head, tail):
            return Triplet(edge.head, relation, edge.tail)
        if fits(tail, head):
            return Triplet(edge.tail, relation, edge.head)
        place = edge.relation.place if edge.relation else edge.place
        message = f"no `{relation}` joins a `{head or 'node'}` and a `{tail or 'node'}`"
        self.faults.append(CypherFault(place, message))
        return Triplet(edge.head, relation, edge.tail)

    def _conditions(self, written: WrittenQuery, labels: dict[str, str]) -> tuple[dict[str, list[str]], list[Filter]]:
        """Return variable → what is said of its name, and the conditions on other properties."""
        texts: dict[str, list[str]] = {}
        filters: list[Filter] = []
        for condition in written.conditions:
            if condition.var not in labels:
                word = Word(condition.var, condition.place)
                self._fault(word, f"`{condition.var}` stands in no pattern", labels)
            elif plain(condition.key.text) in NAMES and condition.op in NAMING:
                texts.setdefault(condition.var, []).append(str(condition.value).strip())
            elif (kept := self._filter(condition, labels[condition.var])) is not None:
                filters.append(kept)
        return texts, filters

    def _filter(self, condition: WrittenCondition, label: str) -> Filter | None:
        """Return a condition with its property as the schema spells it; None if it is dropped."""
        if self.strict.properties == "lenient":
            return None
        kinds = [kind for kind in self.schema.node_types if label in ("", kind.name) and kind.name in self.types]
        fields = list(dict.fromkeys(field.name for kind in kinds for field in kind.fields))
        meant = plain(condition.key.text)
        field = "name" if meant in NAMES else next((name for name in fields if plain(name) == meant), None)
        if field is None and self.strict.properties == "strict":
            self._fault(condition.key, f"`{label or 'no type'}` has no property `{condition.key.text:.60}`", fields)
            return None
        op = condition.op
        return Filter(condition.var, field or condition.key.text, op, condition.value)  # type: ignore[arg-type]

    def _known(self, word: Word, names: Iterable[str], what: str, strict: bool) -> str | None:
        """Return the name that is meant, whatever its case and signs; None, with a fault, if there is none."""
        meant = plain(word.text)
        found = next((name for name in names if name == word.text), None) or next(
            (name for name in names if plain(name) == meant), None
        )
        if found is None:
            done = "its triplets are dropped" if strict else "it restricts nothing"
            self._fault(word, f"`{word.text:.60}` is no available {what}, so {done}", names)
        return found

    def _fault(self, word: Word, message: str, names: Iterable[str]) -> None:
        self.faults.append(CypherFault(word.place, message, nearest(word.text, names)))


def plain(name: str) -> str:
    """Return a name without regard to case, and with one space for all other signs than letters and digits."""
    return _SIGNS.sub(" ", name.casefold()).strip()
