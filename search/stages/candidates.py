"""Triplets → the nodes that their symbols may take (AF-Retriever, section 3.2, step 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from search.domain.linking import LinkedPlan
from search.domain.options import option
from search.domain.plan import Filter, Plan, Target
from search.domain.plan.checks import misfits
from search.domain.ranking import CandidateArrays, in_order_of
from search.domain.trace import Limit
from search.domain.triplets import Symbol, TripletQuery
from search.domain.vector_kinds import DOCUMENT, NAME, WHOLE
from search.interfaces import Adjacency, Encoder, GraphStore, Keys, MentionIndex, NodeStore, TextIndex, VectorIndex
from search.interfaces.triplets import SHOWN, SymbolCandidates

STAGE = "candidates"
NO_VECTORS = "This release has no vectors: names are looked up by their words."


@dataclass
class _Notes:
    """Sentences about what could not be done as asked, and the words that join each constant's search text."""

    said: list[str] = field(default_factory=list)
    joined: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Candidates:
    """Looks up constants by name, and holds conditions on fields against all nodes.

    The candidates of a constant are the nodes whose name is nearest to its text. Conditions on other fields are hard
    filters, of constants and of variables. A condition that cannot be applied, because no such node has the field or
    the value, joins the text of its constant; on a variable it is dropped. Without vectors, exact names come first,
    then documents by BM25.
    """

    encoder: Encoder
    vectors: VectorIndex
    text: TextIndex
    mentions: MentionIndex
    nodes: NodeStore
    graph: GraphStore
    adjacency: Adjacency
    l_max: int = option(
        100, "Largest number of entities for each constant (l_max).", low=1, high=1_500_000, public_high=10_000
    )
    kind: str = option(
        NAME,
        "Kind of vectors that a constant's text is compared with: names, or documents without or with relations.",
        choices=(NAME, DOCUMENT, WHOLE),
    )
    filtered: int = option(
        500_000, "Largest number of entities that a condition may keep.", low=1_000, high=5_000_000, public_high=500_000
    )

    def __call__(self, query: TripletQuery, limit: Limit) -> SymbolCandidates:
        """Return the candidates of the symbols that triplets connect with the target. Raises DeadlineExceeded."""
        limit.check(STAGE)
        if query.obstacle:
            return SymbolCandidates({})
        notes, used = _Notes(), set(query.used)
        allowed: dict[str, Keys] = {}
        constants = {symbol.name: symbol for symbol in query.constants if symbol.name in used}
        for condition in query.filters:
            if condition.var not in used:
                continue
            keys = self._meeting(query.symbol(condition.var), condition, limit, notes)
            if keys is not None:
                both = allowed.get(condition.var)
                allowed[condition.var] = keys if both is None else np.intersect1d(both, keys, assume_unique=True)
            elif condition.var in constants:
                notes.joined.setdefault(condition.var, []).append(f"{condition.field} {condition.value}")
        if not self.vectors.kinds:
            notes.said.append(NO_VECTORS)
        ranked: dict[str, tuple[int, ...]] = {}
        texts: dict[str, str] = {}
        for name, symbol in constants.items():
            texts[name] = " ".join(filter(None, [symbol.text, *notes.joined.get(name, ())]))
            limit.check(STAGE)
            found = self._nearest(replace(symbol, text=texts[name]), allowed.pop(name, None), limit)
            ranked[name] = tuple(found)
            if not found:
                notes.said.append(f"Nothing is named like “{texts[name]:.80}”.")
        shown = {name: self.nodes.references(keys[:SHOWN]) for name, keys in ranked.items()}
        return SymbolCandidates(ranked, allowed, texts, shown, " ".join(dict.fromkeys(notes.said)))

    def _nearest(self, symbol: Symbol, among: Keys | None, limit: Limit) -> list[int]:
        """Return the candidates of a constant, best first: nodes chosen for it, then by its text."""
        chosen = [key for key in self.nodes.keys(symbol.ids) if key is not None]
        found = self._by_vectors(symbol, among, limit) if self.vectors.kinds else self._by_words(symbol, among)
        if among is not None:
            chosen = [key for key in chosen if key in set(among.tolist())]
        return list(dict.fromkeys([*chosen, *found]))[: self.l_max]

    def _by_vectors(self, symbol: Symbol, among: Keys | None, limit: Limit) -> Iterable[int]:
        if not symbol.text.strip():
            return []
        kind = self.kind if self.kind in self.vectors.kinds else WHOLE
        vector = self.encoder.encode([symbol.text])[0]
        if among is None:
            return [found.key for found in self.vectors.nearest(kind, vector, self.l_max, symbol.labels, limit)]
        cosines = self.vectors.cosines(vector, among.tolist(), kind)
        return in_order_of(cosines, cosines)

    def _by_words(self, symbol: Symbol, among: Keys | None) -> Iterable[int]:
        """Return the nodes of exactly this name, then those whose documents match its words best."""
        named = [key for one in self.mentions.find(symbol.text) for key in one.keys]
        codes = [self.adjacency.schema.type_codes[label] for label in symbol.labels]
        exact = sorted(dict.fromkeys(named))
        if codes and exact:
            exact = np.asarray(exact)[np.isin(self.nodes.types(exact), codes)].tolist()
        found = [one.key for one in self.text.search(symbol.text, self.l_max, symbol.labels)]
        if among is None:
            return [*exact, *found]
        kept = set(among.tolist())
        return [*(key for key in [*exact, *found] if key in kept), *among.tolist()]

    def _meeting(self, symbol: Symbol, condition: Filter, limit: Limit, notes: _Notes) -> Keys | None:
        """Return the sorted keys of the symbol's types that meet a condition; None, with a note, if there are none."""
        asked = self._applicable(symbol, condition)
        if asked is not None:
            plan = Plan(target=Target(symbol.name, symbol.labels), filters=(asked,))
            found = self.graph.execute(LinkedPlan(plan, ()), limit, self.filtered)
            if found.truncated:
                notes.said.append(f"More than {self.filtered:,} entities meet the condition on {condition.field}.")
            if found.candidates:
                return np.unique(CandidateArrays.of(found.candidates).node_keys.astype(np.int32))
        why = "no entity has this value" if asked is not None else "there is no such property"
        joins = "; it joins the name that is searched" if symbol.text else "; it is left out"
        notes.said.append(f"{condition.field} {condition.op} {condition.value!r:.60} cannot be applied: {why}{joins}.")
        return None

    def _applicable(self, symbol: Symbol, condition: Filter) -> Filter | None:
        """Return the condition with a value of its field's kind, or None if no type of the symbol can have it."""
        plan = Plan(target=Target(symbol.name, symbol.labels))
        for value in _values(condition.value):
            same = replace(condition, value=value)
            if not misfits(replace(plan, filters=(same,)), self.adjacency.schema):
                return same
        return None


_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def _values(value: object) -> list[object]:
    """Return a value as it is written, as a text, and as a number: models do not know the kind of a field."""
    if not isinstance(value, str | int | float):
        return [value]
    found: list[object] = [value, str(value)]
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return [*found, int(value)]  # A float would round it from 2**53 on.
    try:
        number = float(value)
    except ValueError:
        return found
    return [*found, int(number) if number.is_integer() and abs(number) < 2**53 else number]
