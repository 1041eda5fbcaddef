"""Plans in words, so that an encoder can compare them with a question.

A hop is written as a triple in its stored direction, with the description of the relation if the knowledge base has
one: `movie directed by person`. This wording distinguished plans of two hops more than twice as often as a wording with
arrows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search.domain.graph import Schema
from search.stages.plan.knowledge.shape import Metapath
from search.text import words

_GLUED = re.compile(r"(is|has)?(new|old)?(.+?)(version)?(of|in|by|to|for|with|from)?")
"""Small words at the ends of an identifier that is written as one word: `ISNEWVERSIONOF`, `USEDBY`."""


def identifier_words(name: str) -> str:
    """Return the words of a relation's name; one written in capitals without separators is split at its small words."""
    said = words(name)
    if " " in said or not name.isupper() or (found := _GLUED.fullmatch(said)) is None:
        return said
    return " ".join(part for part in found.groups() if part)


@dataclass(frozen=True, eq=False)
class Wording:
    """The words for a schema and for plans over it."""

    schema: Schema
    _triples: dict[Metapath, tuple[str, ...]] = field(default_factory=dict, init=False)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Each node type in words, by code."""
        return tuple(words(node_type.name) for node_type in self.schema.node_types)

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """Each relation in words, by code: its description, or the words of its name if it has none."""
        return tuple(relation.description or identifier_words(relation.name) for relation in self.schema.relations)

    @cached_property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """All phrases for each relation, then for each node type: name, descriptions and aliases, each once."""
        relations = [
            (identifier_words(relation.name), relation.description, relation.inverse, *relation.aliases)
            for relation in self.schema.relations
        ]
        types = [(words(node_type.name), *node_type.aliases) for node_type in self.schema.node_types]
        return tuple(tuple(dict.fromkeys(phrase for phrase in said if phrase)) for said in [*relations, *types])

    def plan(self, paths: Sequence[Metapath]) -> str:
        """Return a plan as `which <answer type>: <triple>, <triple>`; the triples of each path begin at the answer."""
        told = ", ".join(", ".join(self._told(path)) for path in paths)
        return f"which {self.types[paths[0].end]}: {told}"

    def _told(self, path: Metapath) -> tuple[str, ...]:
        told = self._triples.get(path)
        if told is None:
            here = path.start
            forth = []
            for step in path.steps:
                source, target = (here, step.to_type) if step.direction == "out" else (step.to_type, here)
                forth.append(f"{self.types[source]} {self.relations[step.relation]} {self.types[target]}")
                here = step.to_type
            told = self._triples[path] = tuple(reversed(forth))
        return told
