"""A set, and what is asked of it → the plan that engines execute.

Each set becomes conditions on one variable of the plan: a relation a hop, a name an anchor, a field a filter. What must
be found first, because an order or an alternative chooses it, becomes a plan inside an anchor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import cast

from search.domain.graph import ANY, OPPOSITE, Direction, Schema
from search.domain.plan import (
    Anchor,
    Count,
    EdgeField,
    Exclusion,
    FieldOf,
    Filter,
    Hop,
    Operator,
    Order,
    Plan,
    Risk,
    Target,
)
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
from search.stages.plan.given import fresh, lessened, variables_of
from search.stages.plan.schema_index import SchemaIndex
from search.stages.plan.sets import (
    Asked,
    Compared,
    Counted,
    Either,
    Given,
    Kind,
    Meet,
    Named,
    NodeSet,
    OfEdge,
    Top,
    Walk,
    Where,
    WhereCount,
    Without,
    codes,
    given_at,
    givens,
    is_found_first,
    parts,
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
        plan = self._plan(asked.of, 1, residual, risk, asked.edge)
        filters = plan.filters
        if not (residual or plan.anchors or plan.runs_over_type or asked.ask in AGGREGATES):
            # All nodes of the type: what has a name.
            filters = (Filter(plan.target.var, NAME, "exists"),)
        return replace(plan, filters=filters, ask=asked.ask, show=asked.show)

    def _plan(
        self, of: NodeSet, depth: int, residual: str = "", risk: Risk = "normal", shown: OfEdge | None = None
    ) -> Plan:
        given = given_at(of)
        others = givens(of)
        taken = frozenset().union(*(variables_of(one.before.plan) for one in others))
        name = given.target if given else fresh(others[0].before.plan, TARGET) if others else TARGET
        draft = _Draft(self, depth, name, (at for at in count(1) if f"x{at}" not in taken))
        order = None if given is None else lessened(given.before.plan, given.gone).order
        top = of if isinstance(of, Top) else None
        by = top.by if top is not None and isinstance(top.by, OfEdge) else None
        draft.edges |= {one.relation: "" for one in (by, shown) if one is not None}
        if top is not None:
            order = draft.order(top) if by is None else order
            of = top.of
            while isinstance(of, Top) and not of.limit:
                of = of.of
        draft.write(name, of)
        if not all(draft.edges.values()):
            raise NotWritten
        if by is not None and top is not None:
            order = Order(EdgeField(by.field, draft.edges[by.relation]), top.end, top.limit or None)
        if draft.is_too_large:
            raise NotWritten
        labels = tuple(self.schema.node_types[code].name for code in codes(of.types))
        whole = len(labels) == len(self.schema.node_types)
        said = [given.before.plan.target.relevance_text] if given is not None else []
        target = Target(name, () if whole else labels, " ".join(filter(None, [*said, residual]))[:MAX_TEXT].strip())
        mode = None if given is None else given.before.plan.retrieval_mode
        return Plan(
            tuple(draft.anchors), tuple(draft.hops), target, tuple(draft.filters), risk, mode, tuple(draft.exclude),
            order, show_edge=draft.edges[shown.relation] if shown is not None else "",
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
    target: str
    number: Iterator[int]
    anchors: list[Anchor] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    exclude: list[Exclusion] = field(default_factory=list)
    edges: dict[int, str] = field(default_factory=dict)
    """Relations of which an edge to the target is compared or shown, with the variable at the other end."""

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
                self.filters += self._filters(var, of)
            case Without(_, inner, other):
                self.write(var, inner)
                self._leave_out(var, other)
            case Either() | Top():
                self._found_first(var, of)
            case Given():
                self._given(var, of)

    def _filters(self, var: str, of: Where | WhereCount | Compared) -> list[Filter]:
        if isinstance(of, Compared):
            against = self._name(of.other)
            self._found_first(against, of.other)
            return [Filter(var, of.field, of.op, FieldOf(against, of.other_field))]
        given = list(of.value) if isinstance(of.value, tuple) else of.value
        if isinstance(of, WhereCount):
            return [Filter(var, "", of.op, given, self.counted(var, of.count))]
        condition = Filter(var, of.field, of.op, None if of.op in ("exists", "missing") else given)
        return [condition]

    def _leave_out(self, var: str, other: NodeSet) -> None:
        """Add that a variable's node is not in a set: the opposite of its only filter, or an exclusion."""
        own = _Draft(self.composer, self.depth, self.target, self.number)
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

    def _name(self, of: NodeSet) -> str:
        """Return the variable for the nodes of a set: that of the search before where it holds what that found."""
        given = given_at(of)
        return given.target if given is not None else f"x{next(self.number)}"

    def _given(self, var: str, of: Given) -> None:
        """Add the plan of the search before, whose variables keep their names."""
        plan = lessened(of.before.plan, of.gone)
        if var != plan.target.var:
            raise NotWritten
        if var != self.target and plan.order is not None and plan.order.limit is not None:
            self._found_first(var, of)
            return
        held = dict(of.held)
        labels = {one: self.composer.label(inner.types) for one, inner in of.held}
        anchored = {anchor.var for anchor in plan.anchors}
        self.anchors += [anchor for anchor in plan.anchors if anchor.var not in held]
        self.hops += [
            replace(hop, to_label=labels[hop.to_var]) if hop.to_var in anchored & held.keys() else hop
            for hop in plan.hops
        ]
        # That all nodes have a name is said again where nothing else is.
        self.filters += [one for one in plan.filters if (one.field, one.op) != (NAME, "exists")]
        self.exclude += plan.exclude
        for one, inner in of.held:
            if one in anchored:
                self._found_first(one, inner)
            else:
                self.write(one, inner)

    def order(self, of: Top) -> Order:
        """Return the order of a set that is chosen by one."""
        by = self.counted(self.target, of.by) if isinstance(of.by, Counted) else of.by
        assert not isinstance(by, OfEdge)
        return Order(by, of.end, of.limit or None)

    def counted(self, var: str, counted: Counted) -> Count:
        """Return what is counted of a variable, with the conditions on what is counted."""
        name = self.composer.schema.relations[counted.relation].name
        way = self.composer.way(counted.relation, counted.direction)
        among = ""
        if counted.among is not None:
            among = self._name(counted.among)
            self.hops.append(Hop(var, name, among, self.composer.label(counted.to), way))
            self.write(among, counted.among)
        return Count(name, way, self.composer.label(counted.to), among, counted.function, counted.of)

    def _hop(self, var: str, of: Walk) -> None:
        name = self.composer.schema.relations[of.relation].name
        meant = var == self.target and of.relation in self.edges
        if isinstance(of.of, Kind) and not of.where and not meant:
            # Any such neighbour will do, a named node of the plan too.
            back = self.composer.way(of.relation, OPPOSITE[of.direction])
            there = Count(name, back, self.composer.label(of.of.types))
            self.filters.append(Filter(var, "", ">=", 1, there))
            return
        near = self._name(of.of)
        if meant:
            self.edges[of.relation] = near
        where = tuple(one.as_filter() for one in of.where)
        named = isinstance(of.of, Named)
        first = named or self._is_found_first(of)
        if first:
            way = self.composer.way(of.relation, of.direction)
            self.hops.append(Hop(near, name, var, self._end(of), way, where))
        else:
            back = self.composer.way(of.relation, OPPOSITE[of.direction])
            self.hops.append(Hop(var, name, near, self._end(of.of), back, where))
        if first and not named:
            self._found_first(near, of.of)
        else:
            self.write(near, of.of)

    def _end(self, of: NodeSet) -> str:
        """Return the label of the nodes of a set; ANY where nodes of other types may stand in the role of this one."""
        walks = [one for one in parts(of) if isinstance(one, Walk)]
        mixed = any(self.composer.index.playing(one.types, one.relation, one.direction) != one.types for one in walks)
        return ANY if mixed else self.composer.label(of.types)

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
