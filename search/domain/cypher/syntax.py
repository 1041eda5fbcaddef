"""The parts of a Cypher text as they are written, before any name is looked up in a schema."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.cypher.faults import CypherPlace
from search.domain.graph import Direction

Literal = str | int | float


@dataclass(frozen=True, slots=True)
class Word:
    """A name as it is written, without backticks, and its place."""

    text: str
    place: CypherPlace


@dataclass(frozen=True, slots=True)
class WrittenCondition:
    """A condition on a property of a variable; `var` is the name of the variable's node, also of a node without one."""

    var: str
    key: Word
    op: str
    value: Literal
    place: CypherPlace


@dataclass(frozen=True, slots=True)
class WrittenNode:
    """A node of a pattern. A node without a name gets one that no variable can have."""

    name: str
    label: Word | None
    place: CypherPlace


@dataclass(frozen=True, slots=True)
class WrittenEdge:
    """An edge of a pattern from the node before it to the node after it; `direction` None: written without arrow."""

    head: str
    relation: Word | None
    tail: str
    direction: Direction | None
    place: CypherPlace


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A whole query: nodes as often as they are written, edges, conditions, and the returned variable."""

    nodes: tuple[WrittenNode, ...]
    edges: tuple[WrittenEdge, ...]
    conditions: tuple[WrittenCondition, ...]
    returned: Word
