"""Conditions that no walk says alone: exclusions, orders, comparisons. They are drawn so that they change the answers.

Their answers are those of the plan language (docs/architecture.md): an exclusion has no match, places of an order are
counted without gaps and equal values share one, a comparison holds if any pair of values does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.filtering import meets
from search.domain.graph import DIRECTIONS, Node
from search.domain.plan import Count, Filter, Order
from search.interfaces import Keys
from training.data.synthesis.base import Base
from training.data.synthesis.fields import MadeFields
from training.data.synthesis.parts import MadeComparison, MadeDraft, MadeStep, MadeWay
from training.data.synthesis.reading import SynthesisReader
from training.data.synthesis.tools import SynthesisTools
from training.data.synthesis.ways import MOST_EDGES, MadeWays

_ANOTHER = 6
"""Draws of another node that a condition tells from the answer."""
_SEVERAL = 0.2
"""Share of the orders that ask for more than one place."""
_FALLING = 0.7
"""Share of the orders by a count that ask for the most, not for the fewest."""


@dataclass(frozen=True, eq=False)
class MadeConditions:
    """Draws conditions for the nodes that the rest of a question leaves, and applies them."""

    tools: SynthesisTools
    base: Base
    reader: SynthesisReader
    ways: MadeWays
    fields: MadeFields

    def exclusion(self, key: int, others: Keys, chance: np.random.Generator) -> MadeWay | None:
        """Return a way to a named node that one of the others meets and the node `key` does not; None by bad luck."""
        for other in self._drawn(key, others, chance):
            way = self.ways.draw(other, 1 if chance.random() < 0.85 else 2, chance, MOST_EDGES)
            if way is not None and key not in way.ends and not self._meets(key, way):
                return way
        return None

    def lack(self, key: int, others: Keys, chance: np.random.Generator) -> MadeWay | None:
        """Return a way of one step without an end, that one of the others has and the node `key` has not."""
        for other in self._drawn(key, others, chance):
            walked = self.ways.walk(other, 1, chance)
            if walked is None:
                continue
            way = MadeWay(walked[0], ())
            having = self._having(np.array([key], dtype=np.int32), way.steps[0])
            if having is not None and not having.any():
                return way
        return None

    def by_field(self, answer_type: int, keys: Keys, chance: np.random.Generator) -> Order | None:
        """Return an order by a number or a date that the nodes do not all share."""
        kind = self.base.schema.node_types[answer_type].name
        known = [one for one in self.fields.by_type.get(kind, ()) if one.kind in ("number", "date")]
        if not known:
            return None
        field = known[int(chance.integers(len(known)))].name
        direction = "desc" if chance.random() < 0.5 else "asc"
        order = Order(field, direction, self._places(chance))  # type: ignore[arg-type]
        values = {value for value in self._values(keys, order) if value is not None}
        return order if len(values) > (order.limit or 1) and len({type(one) is str for one in values}) == 1 else None

    def by_count(self, answer_type: int, keys: Keys, chance: np.random.Generator) -> Order | None:
        """Return an order by the number of neighbours over a relation, where the nodes differ in it."""
        walked = self.ways.walk(int(keys[chance.integers(len(keys))]), 1, chance)
        if walked is None:
            return None
        (step,) = walked[0]
        kind = self.base.schema.node_types[step.far_type].name
        direction = step.directions[0] if len(step.directions) == 1 else None
        falling = chance.random() < _FALLING
        counted = Count(self.base.schema.relations[step.relation].name, direction, kind)
        order = Order(counted, "desc" if falling else "asc", self._places(chance))
        counts = self._counts(keys, counted)
        if counts is None or len(distinct := set(counts.tolist())) <= (order.limit or 1):
            return None
        # Whoever asks for the fewest means those with at least one.
        return None if not falling and 0 in distinct else order

    def comparison(self, node: Node, chance: np.random.Generator) -> MadeComparison | None:
        """Return a comparison that a node meets with a named node of its type; None by bad luck."""
        known = [one.name for one in self.fields.by_type.get(node.type, ()) if one.kind in ("number", "date")]
        known = [name for name in known if isinstance(node.fields.get(name), int | float | str)]
        answer_type = self.base.schema.type_codes[node.type]
        if not known:
            return None
        field, own = known[int(chance.integers(len(known)))], self.base.of_type(answer_type)
        for key in self._drawn(node.key, own, chance):
            (other,) = self.reader.nodes([key])
            keys, value, mine = self.ways.meant(key, other.name), other.fields.get(field), node.fields[field]
            alike = isinstance(value, str) == isinstance(mine, str)
            if not keys or not isinstance(value, int | float | str) or not alike or value == mine:
                continue
            return MadeComparison(field, ">" if mine > value else "<", keys, answer_type, other.name)  # type: ignore[operator]
        return None

    def met(self, draft: MadeDraft, keys: Keys) -> Keys | None:
        """Return those of the nodes that meet the comparison and the exclusions of a draft, then its order.

        None if that takes too many edges, or if one of these conditions changes nothing.
        """
        if draft.compared is not None:
            before, keys = len(keys), self._comparing(draft.compared, keys)
            if len(keys) == before:
                return None
        for way in draft.exclusions:
            excluded = self._excluded(draft.answer_type, keys, way)
            if excluded is None or not excluded.any():
                return None
            keys = keys[~excluded]
        if draft.order is None:
            return keys
        kept = self._placed(keys, draft.order)
        return None if kept is None or len(kept) == len(keys) else kept

    def _drawn(self, key: int, others: Keys, chance: np.random.Generator) -> list[int]:
        """Return a few of the other nodes."""
        there = others[others != key]
        if not len(there):
            return []
        return [int(there[at]) for at in chance.integers(len(there), size=min(_ANOTHER, len(there)))]

    def _places(self, chance: np.random.Generator) -> int:
        return int(chance.integers(2, 4)) if chance.random() < _SEVERAL else 1

    def _meets(self, key: int, way: MadeWay) -> bool:
        found = self._excluded(int(self.tools.adjacency.types[key]), np.array([key], dtype=np.int32), way)
        return found is None or bool(found.any())

    def _excluded(self, answer_type: int, keys: Keys, way: MadeWay) -> NDArray[np.bool_] | None:
        """Return for each node whether it meets a way; None if that takes too many edges."""
        if not way.ends:
            return self._having(keys, way.steps[0])
        found = self.ways.found(answer_type, (way,))
        return None if found is None else np.isin(keys, found)

    def _having(self, keys: Keys, step: MadeStep) -> NDArray[np.bool_] | None:
        """Return for each node whether a step leads anywhere; None if that takes too many edges."""
        having = np.zeros(len(keys), dtype=bool)
        for direction in step.directions:
            walked = self.tools.adjacency.walk(keys, step.relation, direction, MOST_EDGES)
            if walked is None:
                return None
            places, far = walked
            having[places[self.tools.adjacency.types[far] == step.far_type]] = True
        return having

    def _counts(self, keys: Keys, counted: Count) -> NDArray[np.int64] | None:
        """Return the number of different neighbours of each node; None if that takes too many edges."""
        graph, relation = self.tools.adjacency, self.base.schema.relation_codes[counted.rel]
        pairs: list[NDArray[np.int64]] = []
        for direction in (counted.direction,) if counted.direction else DIRECTIONS:
            walked = graph.walk(keys, relation, direction, MOST_EDGES)
            if walked is None:
                return None
            places, far = walked
            fitting = graph.types[far] == self.base.schema.type_codes[counted.to_label]
            pairs.append(np.stack((places[fitting], far[fitting].astype(np.int64)), axis=1))
        joined = np.unique(np.concatenate(pairs), axis=0)
        return np.bincount(joined[:, 0], minlength=len(keys))

    def _values(self, keys: Keys, order: Order) -> list[Any]:
        """Return the value of each node that an order by a field compares."""
        assert isinstance(order.by, str)
        return [_first_of(node.fields, order) for node in self.reader.nodes(keys)]

    def _placed(self, keys: Keys, order: Order) -> Keys | None:
        """Return the nodes at the first places of an order; None if that takes too many edges."""
        if not isinstance(order.by, Count):
            values = self._values(keys, order)
        else:
            counts = self._counts(keys, order.by)
            if counts is None:
                return None
            values = counts.tolist()
        distinct = sorted({one for one in values if one is not None}, key=lambda one: (isinstance(one, str), one))
        places = {one: at for at, one in enumerate(distinct if order.direction == "asc" else distinct[::-1], 1)}
        last = len(distinct) + 1
        kept = [places.get(value, last) <= (order.limit or last) for value in values]
        return keys[np.array(kept, dtype=bool)]

    def _comparing(self, compared: MadeComparison, keys: Keys) -> Keys:
        """Return those of the nodes that meet a comparison with any node that its name may mean."""
        kept = np.zeros(len(keys), dtype=bool)
        nodes = self.reader.nodes(keys)
        for other in self.reader.nodes(compared.keys):
            value = other.fields.get(compared.field)
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    told = [Filter("T", compared.field, compared.op, one)]
                    kept |= np.array([node.key != other.key and meets(node, told) for node in nodes], dtype=bool)
        return keys[kept]


def _first_of(fields: Mapping[str, Any], order: Order) -> Any:
    """Return the value that an order compares: of a list its first one in the order."""
    value = fields.get(str(order.by))
    items: Sequence[Any] = value if isinstance(value, list) else [] if value is None else [value]
    ranked = sorted(items, key=lambda one: (isinstance(one, str), one))
    return (ranked[0] if order.direction == "asc" else ranked[-1]) if ranked else None
