"""Ten folders as people have them become the right graphs by the guesses alone; what stays doubtful is said."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from search.ingest.detect import detect
from search.ingest.faults import FaultLog
from search.ingest.mapping.source import mapped_source
from search.ingest.rows import NodeRow
from search.ingest.validate import CheckedBundle, check
from search.services.imports.preview import preview
from tests.search.ingest.reallife import FOLDERS
from tests.search.ingest.reallife.expected import Expected, Folder


def plain(text: str) -> str:
    """Return a name in small Latin letters and digits alone, as names of types and fields may be written."""
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text.casefold()))


class Graph:
    """What an import by the guess alone makes of a folder."""

    def __init__(self, checked: CheckedBundle) -> None:
        names = [one.name for one in checked.schema.node_types]
        self.nodes: dict[int, NodeRow] = dict(checked.good_nodes())
        self.type_of = {key: names[node.type] for key, node in self.nodes.items()}
        self.types = Counter(self.type_of.values())
        ends = zip(checked.edges.source.tolist(), checked.edges.target.tolist(), strict=True)
        self.edges = [(begin, end) for begin, end in ends]

    def type(self, wanted: str) -> str:
        return next((name for name in self.types if plain(wanted) in plain(name)), "")

    def between(self, one: str, other: str) -> int:
        pair = {self.type(one), self.type(other)}
        return sum({self.type_of[begin], self.type_of[end]} == pair for begin, end in self.edges)

    def named(self, type_: str, name: str) -> int | None:
        found = (key for key, node in self.nodes.items() if node.name == name)
        return next((key for key in found if self.type_of[key] == self.type(type_)), None)

    def value(self, key: int, column: str) -> Any:
        fields = self.nodes[key].fields
        return next((value for name, value in fields.items() if plain(name).startswith(plain(column))), None)

    def listed(self, key: int, column: str) -> set[str]:
        """Return the values of a field, or the names of the neighbours whose type is the column's."""
        value = self.value(key, column)
        if value is not None:
            return set(value if isinstance(value, list) else [value])
        others = {end if begin == key else begin for begin, end in self.edges if key in (begin, end)}
        word = plain(column).removesuffix("s")
        return {self.nodes[other].name for other in others if plain(self.type_of[other]).startswith(word)}


def faults_of(graph: Graph, expected: Expected) -> list[str]:
    """Return everything in which a graph is not the expected one."""
    may = {plain(column).removesuffix("s") for column in expected.may_be_nodes}
    known = {graph.type(wanted) for wanted in expected.types}
    wrong = [
        f"type {name} is none" for name in graph.types if name not in known and plain(name).removesuffix("s") not in may
    ]
    for wanted, count in expected.types.items():
        if graph.types[graph.type(wanted)] != count:
            wrong.append(f"{wanted}: {graph.types[graph.type(wanted)]} nodes, not {count}")
    for (one, other), count in expected.relations.items():
        if graph.between(one, other) != count:
            wrong.append(f"{one}–{other}: {graph.between(one, other)} edges, not {count}")
    for (type_, name, column), value in expected.values.items():
        key = graph.named(type_, name)
        found = "no such node" if key is None else graph.value(key, column)
        if column in expected.may_be_nodes and found is None and key is not None and value is not None:
            found = next(iter(graph.listed(key, column)), None)
        if found != value:
            wrong.append(f"{type_} {name!r}, {column}: {found!r}, not {value!r}")
    for (type_, name, column), values in expected.lists.items():
        key = graph.named(type_, name)
        found = {"no such node"} if key is None else graph.listed(key, column)
        if found != values:
            wrong.append(f"{type_} {name!r}, {column}: {sorted(found)}, not {sorted(values)}")
    return wrong


def written(folder: Folder, at: Path) -> Path:
    for name, content in folder.files.items():
        (at / name).write_bytes(content)
    return at


def imported(at: Path) -> Graph:
    detected = detect(at, "given")
    assert detected.mapping is not None
    return Graph(check(mapped_source(detected.root, detected.mapping), FaultLog()))


@pytest.mark.parametrize("name", FOLDERS)
def test_the_guess_alone_makes_the_right_graph(name: str, tmp_path: Path) -> None:
    folder = FOLDERS[name]
    assert faults_of(imported(written(folder, tmp_path)), folder.expected) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_doubtful_is_said_with_its_column(name: str, tmp_path: Path) -> None:
    shown = preview(written(FOLDERS[name], tmp_path))
    told = " ".join(one["message"] for one in (*shown["warnings"], *shown["faults"], *shown["remarks"]))
    assert [column for column in FOLDERS[name].expected.warned if f"'{column}'" not in told] == []
