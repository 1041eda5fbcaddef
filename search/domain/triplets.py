"""A question as triplets: symbols, relations between them, and conditions on their fields (AF-Retriever, section 3.2).

A symbol with a name to look up is a *constant*: a small list of candidate nodes that can grow. Every other symbol is a
*variable*. The symbol that is asked for is always a variable, also if the query says something about its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from search.domain.plan import Filter


@dataclass(frozen=True, slots=True)
class Symbol:
    """A place that nodes take. `labels` are the allowed node types (none: any).

    `text` is what is known of the node's name; `ids` are nodes that were already chosen for it, the best first.
    """

    name: str
    labels: tuple[str, ...] = ()
    text: str = ""
    ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the symbol as a JSON object."""
        return {"symbol": self.name, "labels": list(self.labels), "text": self.text}


@dataclass(frozen=True, slots=True)
class Triplet:
    """A relation between two symbols: stored from `head` to `tail`, or either way if it is not `directed`.

    `relation` None allows any relation.
    """

    head: str
    relation: str | None
    tail: str
    directed: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the triplet as a JSON object."""
        return {"head": self.head, "relation": self.relation, "tail": self.tail, "directed": self.directed}


@dataclass(frozen=True)
class TripletQuery:
    """Symbols, triplets, filters on fields of symbols (`Filter.var` is the symbol), and the symbol that is asked for.

    `target` is empty if nothing that can be grounded was found in the question.
    """

    symbols: tuple[Symbol, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    filters: tuple[Filter, ...] = ()
    target: str = ""

    def symbol(self, name: str) -> Symbol:
        """Return the symbol with a name; a symbol without any conditions if there is none."""
        return next((symbol for symbol in self.symbols if symbol.name == name), Symbol(name))

    @property
    def constants(self) -> tuple[Symbol, ...]:
        """The symbols that are looked up by name."""
        return tuple(s for s in self.symbols if (s.text.strip() or s.ids) and s.name != self.target)

    @property
    def used(self) -> tuple[str, ...]:
        """The symbols that triplets connect with the target, in the order of the triplets, the target first."""
        reached = dict.fromkeys([self.target])
        for _ in self.triplets:
            for triplet in self.triplets:
                if triplet.head in reached or triplet.tail in reached:
                    reached |= dict.fromkeys([triplet.head, triplet.tail])
        return tuple(reached)

    @property
    def obstacle(self) -> str:
        """Why the triplets cannot be grounded, as a sentence; empty if they can.

        AF-Retriever grounds a query only if a triplet contains the target and at least one symbol is a constant.
        """
        if not self.triplets:
            return "The question has no relation that the graph knows."
        if not any(self.target in (triplet.head, triplet.tail) for triplet in self.triplets):
            return "No triplet contains what is asked for."
        return "" if self.constants else "No entity is named from which the triplets could be followed."

    def text(self) -> str:
        """Return the query on one line in the notation of Cypher, for people."""
        said: set[str] = set()
        patterns = []
        for triplet in self.triplets:
            relation = f"[:{quoted(triplet.relation)}]" if triplet.relation else ""
            edge = f"-{relation}->" if triplet.directed else f"-{relation}-"
            patterns.append(f"{self._node(triplet.head, said)}{edge}{self._node(triplet.tail, said)}")
        patterns += [self._node(symbol.name, said) for symbol in self.symbols if symbol.name not in said]
        where = " AND ".join(f"{f.var}.{quoted(f.field)} {f.op} {f.value!r}" for f in self.filters)
        parts = [f"MATCH {', '.join(patterns)}" if patterns else "", f"WHERE {where}" if where else ""]
        return " ".join(filter(None, [*parts, f"RETURN {self.target}" if self.target else ""]))

    def _node(self, name: str, said: set[str]) -> str:
        """Return a node of the notation; its label and its text are written only the first time."""
        if name in said:
            return f"({name})"
        said.add(name)
        symbol = self.symbol(name)
        label = f":{'|'.join(map(quoted, symbol.labels))}" if symbol.labels else ""
        text = f' {{name: "{symbol.text}"}}' if symbol.text else ""
        return f"({name}{label}{text})"

    def to_json(self) -> dict[str, Any]:
        """Return the query as a JSON object."""
        return {
            "symbols": [symbol.to_json() for symbol in self.symbols],
            "triplets": [triplet.to_json() for triplet in self.triplets],
            "filters": [condition.to_json() for condition in self.filters],
            "target": self.target,
        }


def quoted(name: str) -> str:
    """Return a name as Cypher writes it: in backticks if it has other signs than letters, digits and `_`."""
    return name if name.isidentifier() else f"`{name}`"
