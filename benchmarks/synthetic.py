"""Writes synthetic bundles in the shape of the Microsoft Academic Graph, at any size: `python -m benchmarks.synthetic`.

Authors write papers, belong to institutions; papers cite papers and have fields. Degrees follow power laws: the largest
field has about a 400th of the edges of its relation. Texts are of invented words, which are as unequally frequent as
those of a language. All is drawn from one seed and written in blocks, so that memory does not grow with the size.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

SIZES = {"3k": (3_000, 60_000), "30k": (30_000, 600_000), "190k": (190_000, 4_000_000), "1.9M": (1_900_000, 40_000_000)}
"""Name of a size → nodes and edges. Repeated edges are left out, which takes some per cent of them."""
SHARES = {"author": 0.59, "paper": 0.374, "institution": 0.0047}
"""Share of each type among the nodes; the rest are fields."""
BLOCK = 10_000
"""Nodes that are drawn and written at once."""
ABSTRACT = (60, 140)
"""Fewest and most words of an abstract: about 110 tokens a paper with its title."""
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "ro", "su", "bra", "cle", "dri", "ski", "mar", "ter")
YEARS = (1950, 2024)
EDGES_A_WRITE = 1_000_000


@dataclass(frozen=True, slots=True)
class _Relation:
    """Edges from each node of a type: how many on average, and the exponent of the ends' unequal frequency."""

    source: str
    name: str
    target: str
    share: float
    power: float


RELATIONS = (
    _Relation("author", "AFFILIATED_WITH", "institution", 0.03, 1.5),
    _Relation("paper", "HAS_TOPIC", "field", 0.46, 1.9),
    _Relation("paper", "CITES", "paper", 0.28, 1.7),
    _Relation("paper", "WRITTEN_BY", "author", 0.23, 1.25),
)


class _Words:
    """Invented words, the most frequent first; the n-th is about as frequent as 1/n."""

    def __init__(self, count: int) -> None:
        self.all = [self._word(at) for at in range(count)]

    @staticmethod
    def _word(at: int) -> str:
        parts = []
        at += len(SYLLABLES)
        while at:
            at, syllable = divmod(at, len(SYLLABLES))
            parts.append(SYLLABLES[syllable])
        return "".join(parts)

    def texts(self, draw: np.random.Generator, lengths: NDArray[np.int64]) -> list[str]:
        """Return one text for each length in words."""
        places = (len(self.all) ** draw.random(int(lengths.sum()))).astype(np.int64) - 1
        words = [self.all[place] for place in places.tolist()]
        ends = np.cumsum(lengths).tolist()
        return [" ".join(words[end - length : end]) for end, length in zip(ends, lengths.tolist(), strict=True)]


def counts(nodes: int) -> dict[str, int]:
    """Return type → number of nodes."""
    found = {kind: max(1, round(share * nodes)) for kind, share in SHARES.items()}
    return found | {"field": nodes - sum(found.values())}


def generate(folder: Path, nodes: int, edges: int, seed: int = 7) -> Path:
    """Write the bundle into a folder, which is made, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(seed)
    of_type = counts(nodes)
    with gzip.open(folder / "nodes.jsonl.gz", "wb", compresslevel=1) as file:
        for block in _nodes(draw, of_type):
            file.write(b"\n".join(orjson.dumps(node) for node in block) + b"\n")
    with gzip.open(folder / "edges.tsv.gz", "wb", compresslevel=1) as file:
        file.write(b"source\trelation\ttarget\n")
        written = {relation.name: _write_edges(file, draw, relation, of_type, edges) for relation in RELATIONS}
    described = {
        "name": f"synthetic-{nodes}",
        "title": "Synthetic graph of papers",
        "domain": "papers",
        "licence": "none needed: everything is invented",
        "node_types": {kind: {"count": count, "answerable": True} for kind, count in of_type.items()},
        "relation_types": [
            {"source": one.source, "relation": one.name, "target": one.target, "count": written[one.name]}
            for one in RELATIONS
        ],
    }
    (folder / "kb.json").write_text(json.dumps(described, indent=1))
    return folder


def _nodes(draw: np.random.Generator, of_type: dict[str, int]) -> Iterator[list[dict[str, object]]]:
    """Yield the nodes of all types in blocks; the vocabulary grows with the square root of the number of papers."""
    words = _Words(int(300 * of_type["paper"] ** 0.5))
    given, family = words.all[:1_000], words.all[1_000 : 1_000 + 10 * int(of_type["author"] ** 0.5)]
    for kind, count in of_type.items():
        for first in range(0, count, BLOCK):
            size = min(BLOCK, count - first)
            names: Sequence[str]
            fields: list[dict[str, object]] = [{} for _ in range(size)]
            if kind == "author":
                one, other = draw.integers(len(given), size=size), draw.integers(len(family), size=size)
                names = [f"{given[a]} {family[b]}".title() for a, b in zip(one.tolist(), other.tolist(), strict=True)]
            elif kind == "institution":
                names = [f"University of {family[at % len(family)]} {at}".title() for at in range(first, first + size)]
            elif kind == "field":
                names = [
                    f"{words.all[at % len(words.all)]} {given[at % 7]} studies" for at in range(first, first + size)
                ]
            else:
                names = [text.capitalize() for text in words.texts(draw, draw.integers(5, 14, size))]
                abstracts = words.texts(draw, draw.integers(*ABSTRACT, size))
                # More papers in later years.
                years = YEARS[1] - ((YEARS[1] - YEARS[0]) * draw.random(size) ** 2).astype(np.int64)
                venues = (300 * draw.random(size) ** 2).astype(np.int64)
                fields = [
                    {"abstract": abstract, "year": year, "venue": f"Journal {venue}", "pages": pages}
                    for abstract, year, venue, pages in zip(
                        abstracts, years.tolist(), venues.tolist(), draw.integers(4, 40, size).tolist(), strict=True
                    )
                ]
            yield [
                {"id": f"{kind}:{first + at}", "type": kind, "name": name, "fields": of_node}
                for at, (name, of_node) in enumerate(zip(names, fields, strict=True))
            ]


def _write_edges(
    file: gzip.GzipFile | BinaryIO, draw: np.random.Generator, relation: _Relation, of_type: dict[str, int], edges: int
) -> int:
    """Write the edges of a relation and return their number; a block of sources at a time, each edge once."""
    sources, targets = of_type[relation.source], of_type[relation.target]
    mean = relation.share * edges / sources
    block = max(1, int(EDGES_A_WRITE / max(mean, 1)))
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    written = 0
    for first in range(0, sources, block):
        size = min(block, sources - first)
        source = np.repeat(np.arange(first, first + size), draw.poisson(mean, size))
        target = (targets * draw.random(len(source)) ** relation.power).astype(np.int64)
        if relation.source == relation.target:
            # Neighbouring numbers of papers say nothing; a paper does not cite itself.
            kept = source != target
            source, target = source[kept], target[kept]
        source, target = np.divmod(np.unique(source * targets + target), targets)
        columns = {
            "source": pc.binary_join_element_wise(relation.source, pc.cast(pa.array(source), pa.string()), ":"),
            "relation": pa.array([relation.name]).take(pa.array(np.zeros(len(source), dtype=np.int32))),
            "target": pc.binary_join_element_wise(relation.target, pc.cast(pa.array(target), pa.string()), ":"),
        }
        csv.write_csv(pa.table(columns), file, options)
        written += len(source)
    return written


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SIZES:
        sys.exit(f"usage: python -m benchmarks.synthetic {{{','.join(SIZES)}}} FOLDER")
    generate(Path(sys.argv[2]), *SIZES[sys.argv[1]])
