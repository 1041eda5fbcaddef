"""Passages that are cut where a document's subject changes, and table segments with headers (SAGE, section 2.1 A).

A document is a sequence of sentences. Each sentence is read with the sentences around it (a window), and the passages
end where two neighbouring windows are least alike. A table is never cut within a row: its segments have 5 to 10 rows
and repeat the headers.

The paper's text names the percentile of the drops (the 80th) and 5 to 10 rows a segment, and leaves the width of a
window open; one sentence on either side is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from search import text
from search.domain.graph import FieldValue, Node

AROUND = 1
"""Sentences on either side of a sentence that its window holds."""
DROP_PERCENTILE = 80.0
"""Percentile of a document's drops of similarity above which a passage ends."""
ROWS_MOST = 10
"""Rows of a table segment. The rows are divided evenly, so that a table of 5 rows or more has no segment below 5."""
LEAST_CELLS, LEAST_LINES = 2, 3
"""Cells of each line, and lines with the header, of a text that reads as a table."""
_SEPARATORS = ("|", "\t")

Encode = Callable[[Sequence[str]], NDArray[np.floating]]
"""A function: texts → a vector of unit length for each."""


@dataclass(frozen=True, slots=True)
class SegmentTable:
    """A table in a field: the cells of its header, and those of its rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def cut_at_drops(nodes: Sequence[Node], encode: Encode) -> list[list[str]]:
    """Return for each node its passages and table segments; a node without text has its name alone.

    The windows of all nodes are encoded in one call. Only the first `text.PASSAGES` texts of a node are returned, and a
    passage is cut after `text.CHUNK_WORDS` words, which is about what encoders read.
    """
    several = [sentences_of(node) for node in nodes]
    windows = [windows_of(sentences) for sentences in several]
    flat = [window for own in windows for window in own]
    vectors = np.asarray(encode(flat), dtype=np.float32) if flat else np.empty((0, 1), dtype=np.float32)
    found: list[list[str]] = []
    first = 0
    for node, sentences, own in zip(nodes, several, windows, strict=True):
        cut = passages_at(sentences, vectors[first : first + len(own)])
        first += len(own)
        texts = [part for passage in cut for part in _parts(passage)] + list(table_segments(node))
        found.append(texts[: text.PASSAGES] or [node.name])
    return found


def sentences_of(node: Node) -> list[str]:
    """Return the sentences of a node's fields, without tables and links."""
    said = " ".join(
        text.field_text(value) for value in node.fields.values() if not text.is_link(value) and not read_table(value)
    )
    return [sentence for sentence in map(str.strip, text.SENTENCE_ENDS.split(said)) if sentence]


def windows_of(sentences: Sequence[str]) -> list[str]:
    """Return the window of each sentence: itself and `AROUND` sentences on either side, fewer at the ends."""
    return [" ".join(sentences[max(0, at - AROUND) : at + AROUND + 1]) for at in range(len(sentences))]


def passages_at(sentences: Sequence[str], windows: NDArray[np.float32]) -> list[str]:
    """Return the sentences joined into passages, which end where the similarity of neighbouring windows drops.

    `windows` holds the vector of each sentence's window, of unit length. A drop is 1 - cosine; a passage ends at those
    above the `DROP_PERCENTILE` of this document's drops. If all are equal, nothing is cut.
    """
    if not len(sentences):
        return []
    drops = 1.0 - np.einsum("ij,ij->i", windows[:-1], windows[1:]).round(6)
    ends = np.flatnonzero(drops > np.percentile(drops, DROP_PERCENTILE)) + 1 if len(drops) else np.empty(0, np.int64)
    bounds = [0, *ends.tolist(), len(sentences)]
    return [" ".join(sentences[low:high]) for low, high in pairwise(bounds)]


def read_table(value: FieldValue) -> SegmentTable | None:
    """Return the table that a field's text is, or None: lines of as many cells each, divided by bars or tabs.

    The first line is the header; a line of dashes below it, as in Markdown, is left out.
    """
    if not isinstance(value, str):
        return None
    lines = [line for line in value.splitlines() if line.strip()]
    for separator in _SEPARATORS:
        cells = [tuple(cell.strip() for cell in line.strip().strip("|").split(separator)) for line in lines]
        cells = [row for at, row in enumerate(cells) if at != 1 or not all(set(cell) <= set("-: ") for cell in row)]
        even = len(cells) >= LEAST_LINES and {len(row) for row in cells} == {len(cells[0])}
        if even and len(cells[0]) >= LEAST_CELLS:
            return SegmentTable(cells[0], tuple(cells[1:]))
    return None


def table_segments(node: Node) -> Iterator[str]:
    """Yield the segments of a node's tables: its name, the field, the headers, and up to `ROWS_MOST` rows."""
    for name, value in node.fields.items():
        table = read_table(value)
        if table is None:
            continue
        head = f"{node.name}, {text.words(name)}\n{' | '.join(table.header)}"
        count = -(-len(table.rows) // ROWS_MOST)
        for part in np.array_split(np.arange(len(table.rows)), count):
            yield "\n".join([head, *(" | ".join(table.rows[at]) for at in part)])


def _parts(passage: str) -> Iterator[str]:
    """Yield a passage in pieces of at most `text.CHUNK_WORDS` words."""
    said = passage.split()
    for first in range(0, len(said), text.CHUNK_WORDS):
        yield " ".join(said[first : first + text.CHUNK_WORDS])
