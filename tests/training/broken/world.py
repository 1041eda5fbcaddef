"""A generated base, and questions whose right walks are known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tests.search.ingest import bundles
from training.data.examples import Example

Edge = tuple[int, str, int]
Step = tuple[str, str, str]
"""A hop: relation, direction, type at its far end."""

NAME = "broken"
SIZES = {"film": 400, "person": 200, "studio": 60, "city": 30, "award": 40}
RELATIONS: dict[str, tuple[str, str]] = {
    "directed_by": ("film", "person"), "written_by": ("film", "person"), "made_by": ("film", "studio"),
    "sold_by": ("film", "studio"), "based_in": ("studio", "city"), "founded_in": ("studio", "city"),
    "won": ("film", "award"),
}  # fmt: skip
TWIN = {"directed_by": "written_by", "made_by": "sold_by", "based_in": "founded_in"}
TWIN |= {there: here for here, there in TWIN.items()}
"""Relations between the same types: a hop over the other one is a wrong hop to the right type."""
WALKS: dict[str, tuple[str, tuple[Step, ...]]] = {
    "films directed by": ("person", (("directed_by", "in", "film"),)),
    "films written by": ("person", (("written_by", "in", "film"),)),
    "director of": ("film", (("directed_by", "out", "person"),)),
    "studio of": ("film", (("made_by", "out", "studio"),)),
    "films made by": ("studio", (("made_by", "in", "film"),)),
    "studios based in": ("city", (("based_in", "in", "studio"),)),
    "writers of the films directed by": ("person", (("directed_by", "in", "film"), ("written_by", "out", "person"))),
    "studios of the films written by": ("person", (("written_by", "in", "film"), ("made_by", "out", "studio"))),
    "city of the studio of": ("film", (("made_by", "out", "studio"), ("based_in", "out", "city"))),
    "films of studios based in": ("city", (("based_in", "in", "studio"), ("made_by", "in", "film"))),
}
"""What is asked → the type of the named node and the right walk."""
CUT_OFF = 0.12
"""Share of the nodes that have lost all their edges: the base lacks them, the questions expect them."""


@dataclass(frozen=True)
class World:
    """The nodes (type and name by position), all true edges, and the nodes whose edges the base lacks."""

    nodes: tuple[tuple[str, str], ...]
    edges: tuple[Edge, ...]
    cut_off: frozenset[int]

    @classmethod
    def of(cls, seed: int = 0) -> World:
        """Return a world; the same seed gives the same one."""
        chance = random.Random(seed)
        names = _names(sum(SIZES.values()), chance)
        nodes = tuple((kind, next(names)) for kind, size in SIZES.items() for _ in range(size))
        of_type = {kind: [at for at, node in enumerate(nodes) if node[0] == kind] for kind in SIZES}
        edges = [
            (source, relation, chance.choice(of_type[there]))
            for relation, (here, there) in RELATIONS.items()
            for source in of_type[here]
        ]
        cut_off = frozenset(at for at in range(len(nodes)) if chance.random() < CUT_OFF)
        return cls(nodes, tuple(edges), cut_off)

    def follow(self, start: int, steps: Sequence[Step]) -> frozenset[int]:
        """Return the nodes at the end of a walk over the true edges that does not return to its start."""
        here = {start}
        for relation, direction, _ in steps:
            pairs = ((s, t) if direction == "out" else (t, s) for s, r, t in self.edges if r == relation)
            here = {there for near, there in pairs if near in here} - {start}
        return frozenset(here)

    def bundle(self, folder: Path) -> Path:
        """Write the base: without the edges of the nodes that are cut off."""
        nodes = [
            {"id": f"n{at:04}", "type": kind, "name": name, "fields": {}} for at, (kind, name) in enumerate(self.nodes)
        ]
        edges = [
            {"source": f"n{source:04}", "relation": relation, "target": f"n{target:04}"}
            for source, relation, target in self.edges
            if not self.cut_off & {source, target}
        ]
        return bundles.write(folder, nodes, edges, name=NAME, node_types={kind: {} for kind in SIZES})

    def questions(self, seed: int = 0) -> list[Example]:
        """Return every question of `WALKS` about nodes that are not cut off, in a random order."""
        found = []
        for said, (kind, steps) in WALKS.items():
            for at, (own, name) in enumerate(self.nodes):
                if own == kind and at not in self.cut_off:
                    answers = tuple(f"n{end:04}" for end in sorted(self.follow(at, steps)))
                    if 1 <= len(answers) <= 12:
                        found.append(Example(f"{said} {at}", f"{said}: {name}", answers))
        random.Random(seed).shuffle(found)
        return found

    def near(self, start: int, hops: int) -> frozenset[int]:
        """Return the nodes that are at most so many hops away in the base."""
        near = {start}
        for _ in range(hops):
            edges = [(s, t) for s, _, t in self.edges if not self.cut_off & {s, t}]
            near |= {t for s, t in edges if s in near} | {s for s, t in edges if t in near}
        return frozenset(near)


def _names(number: int, chance: random.Random) -> Iterator[str]:
    """Return an iterator over different names of two made-up words."""
    parts = (
        ("b", "d", "f", "g", "k", "m", "r", "v", "z"),
        ("a", "o", "u", "ei"),
        ("x", "nk", "lm", "rg"),
        ("ur", "oz"),
    )
    words = ["".join(several).capitalize() for several in product(*parts)]
    pairs = {f"{chance.choice(words)} {chance.choice(words)}" for _ in range(3 * number)}
    chosen = sorted(pairs)
    chance.shuffle(chosen)
    return iter(chosen)
