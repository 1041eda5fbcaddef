"""A set, and what is asked of it → the plan that engines execute.

Each set becomes conditions on one variable of the plan: a relation a hop, a name an anchor, a field a filter. What must
be found first, because an order or an alternative chooses it, becomes a plan inside an anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import cast

from search.domain.graph import ANY, OPPOSITE, Direction, Schema
from search.domain.plan import Anchor, Count, Exclusion, FieldOf, Filter, Hop, Operator, Order, Plan, Risk, Target
from search.domain.plan.parse import MAX_FILTERS
from search.domain.plan.parts import (
    AGGREGATES,
    DENIED,
    MAX_ANCHORS,
    MAX_DEPTH,
    MAX_EXCLUSIONS,
    MAX_HOPS,
    MAX_TEXT,
    NEGATED,
)
from search.interfaces import NodeStore
from search.stages.plan.schema_index import SchemaIndex
from search.stages.plan.sets import (
    Asked,
    Compared,
    Counted,
    Either,
    Kind,
    Meet,
    Named,
    NodeSet,
    Top,
    Walk,
    Where,
    WhereCount,
    Without,
    codes,
    is_found_first,
)

TARGET, NAME = "T", "name"


class NotWritten(Exception):
    """The plan language has no words for a set."""


@dataclass(frozen=True)
class Composer:
    """Writes the plans of sets over one schema."""

    index: SchemaIndex
    nodes: NodeStore

    @property
    def schema(self) -> Schema:
        """The schema of the plans."""
        return self.index.schema

    def __call__(self, asked: Asked, residual: str = "", risk: Risk = "normal") -> Plan:
        """Return the plan of what is asked. Raises NotWritten for a set that no plan can say."""
        plan = self._plan(asked.of, 1, residual, risk)
        filters = plan.filters
        if not (residual or plan.anchors or plan.runs_over_type or asked.ask in AGGREGATES):
            # All nodes of the type: what has a name.
            filters = (Filter(TARGET, NAME, "exists"),)
        return Plan(
            plan.anchors, plan.hops, plan.target, filters, risk, None, plan.exclude, plan.order, asked.ask,
            asked.show,
        )  # fmt: skip

    def _plan(self, of: NodeSet, depth: int, residual: str = "", risk: Risk = "normal") -> Plan:
        draft = _Draft(self, depth, count(1))
        order = None
        if isinstance(of, Top):
            order = draft.order(of)
            of = of.of
        draft.write(TARGET, of)
        if draft.is_too_large:
            raise NotWritten
        labels = tuple(self.schema.node_types[code].name for code in codes(of.types))
        whole = len(labels) == len(self.schema.node_types)
        target = Target(TARGET, () if whole else labels, residual[:MAX_TEXT].strip())
        return Plan(
            tuple(draft.anchors), tuple(draft.hops), target, tuple(draft.filters), risk, None, tuple(draft.exclude),
            order,
        )  # fmt: skip

    def label(self, types: int) -> str:
        """Return the name of the only type of a mask; ANY for several."""
        several = codes(types)
        return self.schema.node_types[several[0]].name if len(several) == 1 else ANY

    def way(self, relation: int, direction: Direction) -> Direction | None:
        """Return the direction of a hop; None where the relation reads the same in both."""
        return None if self.schema.relations[relation].mutual else direction


@dataclass
class _Draft:
    """The parts of one plan while it is written."""

    composer: Composer
    depth: int
    number: count[int]
    anchors: list[Anchor] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    exclude: list[Exclusion] = field(default_factory=list)

    @property
    def is_too_large(self) -> bool:
        """Whether the language of plans has no plan of so many parts."""
        sizes = ((self.hops, MAX_HOPS), (self.anchors, MAX_ANCHORS), (self.filters, MAX_FILTERS))
        return len(self.exclude) > MAX_EXCLUSIONS or any(len(parts) > most for parts, most in sizes)

    def write(self, var: str, of: NodeSet) -> None:
        """Add the conditions of a set to a variable."""
        match of:
            case Kind():
                return
            case Named(types, keys, text):
                if any(anchor.var == var for anchor in self.anchors):
                    raise NotWritten
                ids = tuple(self.composer.nodes.ids(keys))
                self.anchors.append(Anchor(var, text, self.composer.label(types), "name", ids))
            case Meet(_, one, other):
                self.write(var, one)
                self.write(var, other)
            case Walk():
                self._hop(var, of)
            case Where() | WhereCount() | Compared():
                self.write(var, of.of)
                self.filters.append(self._filter(var, of))
            case Without(_, inner, other):
                self.write(var, inner)
                self._leave_out(var, other)
            case Either() | Top():
                self._found_first(var, of)

    def _filter(self, var: str, of: Where | WhereCount | Compared) -> Filter:
        if isinstance(of, Compared):
            against = f"x{next(self.number)}"
            self._found_first(against, of.other)
            return Filter(var, of.field, of.op, FieldOf(against, of.other_field))
        given = list(of.value) if isinstance(of.value, tuple) else of.value
        if isinstance(of, WhereCount):
            return Filter(var, "", of.op, given, self.counted(var, of.count))
        return Filter(var, of.field, of.op, None if of.op in ("exists", "missing") else given)

    def _leave_out(self, var: str, other: NodeSet) -> None:
        """Add that a variable's node is not in a set: the opposite of its only filter, or an exclusion."""
        own = _Draft(self.composer, self.depth, self.number)
        own.write(var, other)
        if own.exclude:
            raise NotWritten
        if own.anchors or own.hops:
            self.exclude.append(Exclusion(tuple(own.anchors), tuple(own.hops), tuple(own.filters)))
        elif len(own.filters) == 1 and (opposite := _opposite(own.filters[0])) is not None:
            self.filters.append(opposite)
        else:
            own._found_first(var, other)
            self.exclude.append(Exclusion(tuple(own.anchors), (), ()))

    def order(self, of: Top) -> Order:
        """Return the order of a set that is chosen by one."""
        by = of.by if isinstance(of.by, str) else self.counted(TARGET, of.by)
        return Order(by, of.end, of.limit)

    def counted(self, var: str, counted: Counted) -> Count:
        """Return what is counted of a variable, with the conditions on what is counted."""
        name = self.composer.schema.relations[counted.relation].name
        way = self.composer.way(counted.relation, counted.direction)
        among = ""
        if counted.among is not None:
            among = f"x{next(self.number)}"
            self.hops.append(Hop(var, name, among, self.composer.label(counted.to), way))
            self.write(among, counted.among)
        return Count(name, way, self.composer.label(counted.to), among)

    def _hop(self, var: str, of: Walk) -> None:
        name = self.composer.schema.relations[of.relation].name
        if isinstance(of.of, Kind):
            # Any such neighbour will do, a named node of the plan too.
            back = self.composer.way(of.relation, OPPOSITE[of.direction])
            there = Count(name, back, self.composer.label(of.of.types))
            self.filters.append(Filter(var, "", ">=", 1, there))
            return
        near = f"x{next(self.number)}"
        named = isinstance(of.of, Named)
        first = named or self._is_found_first(of)
        if first:
            # Nodes of other types may stand there in the role of this one.
            mixed = self.composer.index.playing(of.types, of.relation, of.direction) != of.types
            label = ANY if mixed else self.composer.label(of.types)
            self.hops.append(Hop(near, name, var, label, self.composer.way(of.relation, of.direction)))
        else:
            back = self.composer.way(of.relation, OPPOSITE[of.direction])
            self.hops.append(Hop(var, name, near, self.composer.label(of.of.types), back))
        if first and not named:
            self._found_first(near, of.of)
        else:
            self.write(near, of.of)

    def _is_found_first(self, of: Walk) -> bool:
        mutual = self.composer.schema.relations[of.relation].mutual
        return is_found_first(of, mutual=mutual)

    def _found_first(self, var: str, of: NodeSet) -> None:
        """Add an anchor whose nodes a set holds: named ones by their ids, others by a plan inside the anchor."""
        if any(anchor.var == var for anchor in self.anchors):
            raise NotWritten
        label = self.composer.label(of.types)
        named = _alternatives(of)
        if named:
            keys = tuple(dict.fromkeys(key for one in named for key in one.keys))
            text = ", ".join(dict.fromkeys(one.text for one in named))
            self.anchors.append(Anchor(var, text, label, "name", tuple(self.composer.nodes.ids(keys))))
            return
        if self.depth >= MAX_DEPTH or isinstance(of, Either):
            raise NotWritten
        plan = self.composer._plan(of, self.depth + 1)
        self.anchors.append(Anchor(var, plan.wording, label, "name", (), plan))


def _opposite(condition: Filter) -> Filter | None:
    """Return the filter that is met where another is not, by nodes that have the field; None if there is none."""
    if condition.count is not None and (condition.op, condition.value) == (">=", 1):
        return replace(condition, op="=", value=0)
    for negated, plain in NEGATED.items():
        if condition.op == plain:
            return replace(condition, op=cast(Operator, negated))
    denied = DENIED.get(condition.op)
    return None if denied is None else replace(condition, op=denied)


def _alternatives(of: NodeSet) -> Sequence[Named]:
    """Return the named sets of which a set is made by *or*; none if it is anything else."""
    match of:
        case Named():
            return [of]
        case Either(_, one, other):
            left, right = _alternatives(one), _alternatives(other)
            return [*left, *right] if left and right else []
        case _:
            return []
