"""The graph that a folder of tables should become, written by hand before the guesses were looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | None


@dataclass(frozen=True)
class Expected:
    """What a person who knows the tables would call right."""

    #: Type → number of its nodes; a type is found by a part of its name, in the singular.
    types: Mapping[str, int]
    #: (type, type) → number of edges between the two, whichever way they point.
    relations: Mapping[tuple[str, str], int] = field(default_factory=dict)
    #: (type, name of a node, column) → value. None: the node has no value there. Dates are written as ISO 8601.
    values: Mapping[tuple[str, str, str], Value] = field(default_factory=dict)
    #: (type, name of a node, column) → the separate values, whether kept as a list or as nodes of their own.
    lists: Mapping[tuple[str, str, str], frozenset[str]] = field(default_factory=dict)
    #: Columns whose repeated values may be nodes of their own: right with and without.
    may_be_nodes: tuple[str, ...] = ()
    #: Columns that the checked import has to name in a warning, however the graph was read.
    warned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Folder:
    """Tables as somebody has them."""

    files: Mapping[str, bytes]
    expected: Expected


def table(rows: list[list[str]], *, separator: str = ",", encoding: str = "utf-8", newline: str = "\r\n") -> bytes:
    """Write rows as a spreadsheet program would: quoted only where the separator, a quote or a line break needs it."""

    def cell(text: str) -> str:
        quoted = any(mark in text for mark in (separator, '"', "\n"))
        return '"' + text.replace('"', '""') + '"' if quoted else text

    return "".join(separator.join(map(cell, row)) + newline for row in rows).encode(encoding)
