"""Ways from a node to one that a question can name, and all nodes that meet such ways (docs/architecture.md, "What a
match is")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS, Direction
from search.interfaces import Keys
from training.data.synthesis.base import Base, turned
from training.data.synthesis.english import same_both_ways
from training.data.synthesis.parts import MadeStep, MadeWay
from training.data.synthesis.texts import plain
from training.data.synthesis.tools import SynthesisTools

MOST_EDGES = 20_000
"""Edges that one step of a way may read; a way over more is not asked about."""
MOST_MEANT = 4
"""Nodes of one type that may have the name which a question uses."""
MOST_ROWS = 16
"""Choices of the nodes that are meant by all names of a question."""
RETURNING = 0.6
"""Share of the steps that go back over the relation of the step before them, to another node."""
MOST_KNOWN = 10_000
"""Nodes whose relations are remembered."""
LONGEST_NAME = 12
"""Words of a name that a question may use."""


@dataclass(frozen=True, eq=False)
class MadeWays:
    """Draws ways, and finds what they lead to."""

    tools: SynthesisTools
    base: Base
    _known: dict[int, tuple[list[tuple[int, Direction]], NDArray[np.float64]]] = field(default_factory=dict, init=False)

    def draw(self, key: int, hops: int, chance: np.random.Generator, most: int) -> MadeWay | None:
        """Return a way of so many steps from a node to a node with a usable name, or None if this draw led nowhere.

        A way that more than `most` nodes meet leads nowhere.
        """
        walked = self.walk(key, hops, chance)
        if walked is None:
            return None
        steps, end = walked
        met = self._met(int(self.tools.adjacency.types[key]), MadeWay(steps, (end,)), end, (end,))
        if met is None or len(met) > most:
            # Looked at before the name, because most draws end here.
            return None
        name = self.tools.nodes.references([end])[0].name
        ends = self.meant(end, name)
        return MadeWay(steps, ends, name) if ends else None

    def walk(self, key: int, hops: int, chance: np.random.Generator) -> tuple[tuple[MadeStep, ...], int] | None:
        """Return the steps of a random way and the key at its end; no node is visited twice."""
        here, seen, steps = key, {key}, list[MadeStep]()
        back: tuple[int, Direction] | None = None
        for _ in range(hops):
            step = self._step(here, chance, back)
            if step is None:
                return None
            relation, direction = step
            back = relation, turned(direction)
            near = np.array([here], dtype=np.int32)
            far = self.tools.adjacency.neighbours(near, relation, direction)
            there = int(far[chance.integers(len(far))])
            near_type, far_type = (int(code) for code in self.tools.adjacency.types[[here, there]])
            if there in seen or self.base.schema.node_types[far_type].hidden:
                return None
            steps.append(MadeStep(relation, self._directions(relation, direction, near_type, far_type), far_type))
            seen.add(there)
            here = there
        return tuple(steps), here

    def meant(self, key: int, name: str) -> tuple[int, ...]:
        """Return the nodes of this node's type that its name may mean; none if the name cannot be used."""
        said = plain(name).split()
        if not 0 < len(said) <= LONGEST_NAME or any(sign in name for sign in "\n\t\r\x00"):
            return ()
        types = self.tools.adjacency.types
        keys = tuple(sorted(one for one in self.tools.mentions.lookup(name) if types[one] == types[key]))
        return keys if key in keys and len(keys) <= MOST_MEANT else ()

    def found(self, answer_type: int, ways: Sequence[MadeWay]) -> Keys | None:
        """Return all nodes of a type that meet every way, sorted; None if that takes too many edges."""
        rows = list(product(*(way.ends for way in ways)))
        if len(rows) > MOST_ROWS:
            return None
        parts: list[Keys] = []
        for ends in rows:
            kept: Keys | None = None
            for way, end in zip(ways, ends, strict=True):
                met = self._met(answer_type, way, end, ends)
                if met is None:
                    return None
                kept = met if kept is None else np.intersect1d(kept, met, assume_unique=True)
            parts.append(kept if kept is not None else np.zeros(0, np.int32))
        return np.unique(np.concatenate(parts)).astype(np.int32) if parts else np.zeros(0, np.int32)

    def _met(self, answer_type: int, way: MadeWay, end: int, taken: Sequence[int]) -> Keys | None:
        """Return the nodes that one way meets from one end; no other variable takes a node of `taken`."""
        graph = self.tools.adjacency
        here = np.array([end], dtype=np.int32)
        for at in range(len(way.steps) - 1, -1, -1):
            step = way.steps[at]
            ways = [turned(direction) for direction in step.directions]
            if sum(graph.edges(here, step.relation, one) for one in ways) > MOST_EDGES:
                return None
            near = way.steps[at - 1].far_type if at else answer_type
            parts = [graph.neighbours(here, step.relation, one) for one in ways]
            here = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts)).astype(np.int32)
            kept = graph.types[here] == near
            for key in taken:
                kept &= here != key
            here = here[kept]
        return here

    def _step(
        self, key: int, chance: np.random.Generator, back: tuple[int, Direction] | None
    ) -> tuple[int, Direction] | None:
        """Return a relation and a direction in which a node has edges, drawn by the root of the relation's size.

        Often it is the way back (`back`) over the relation just walked: people ask for things that share something.
        """
        there, bounds = self._choices(key)
        if chance.random() < RETURNING and back in there:
            return back
        return there[int(np.searchsorted(bounds, chance.random(), side="right"))] if there else None

    def _choices(self, key: int) -> tuple[list[tuple[int, Direction]], NDArray[np.float64]]:
        """Return the relations and directions in which a node has edges, and the bounds of their shares in [0, 1)."""
        known = self._known.get(key)
        if known is None:
            counts = self.tools.adjacency.counts(np.array([key], dtype=np.int32))
            there = [pair for pair, edges in sorted(counts.items()) if edges <= MOST_EDGES]
            shares = np.array([self._roots[relation] for relation, _ in there])
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = there, np.cumsum(shares / shares.sum())[:-1] if there else shares
        return known

    def _directions(self, relation: int, drawn: Direction, near: int, far: int) -> tuple[Direction, ...]:
        """Return the stored directions that the words of a relation stand for, between two types.

        Between different types words do not tell the directions apart. Within one type they do, unless the relation
        says the same both ways.
        """
        if near != far:
            return self.base.directions(relation, near, far)
        said = self.base.schema.relations[relation]
        phrase = said.description or said.name.replace("_", " ").lower()
        same = bool(said.inverse) and said.inverse == said.description
        english = self.base.schema.language.lower().startswith("en")
        return DIRECTIONS if same or (english and same_both_ways(phrase)) else (drawn,)

    @cached_property
    def _roots(self) -> list[float]:
        """The square root of the number of each relation's edges, by code."""
        counts = dict.fromkeys(self.base.schema.relation_codes, 0)
        for kind in self.base.schema.relation_types:
            counts[kind.relation] += kind.count
        return [math.sqrt(max(1, counts[relation.name])) for relation in self.base.schema.relations]
