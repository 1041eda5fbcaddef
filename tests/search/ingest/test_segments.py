"""Passages end where the subject changes, as worked out by hand on an encoder of two words; tables keep headers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.graph import Node
from search.fields.passages import Passages
from search.ingest.segments import (
    SegmentTable,
    cut_at_drops,
    passages_at,
    read_table,
    sentences_of,
    table_segments,
    windows_of,
)
from search.services.knowledge.index_snapshot import build_index
from tests.fakes import HashEncoder
from tests.oracle import Graph
from tests.search.services.knowledge.test_index_snapshot import GRAPH, snapshot_of


def toy(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode a text by how often it says *sea* and how often *war*."""
    counts = np.array([[text.count("sea"), text.count("war")] for text in texts], dtype=np.float32)
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


def node(**fields: object) -> Node:
    return Node(0, "n", "page", "Page", fields=fields)  # type: ignore[arg-type]


SEA, WAR = "The sea is one.", "The war is two."


def test_a_window_holds_the_sentences_around() -> None:
    assert windows_of(["a", "b", "c"]) == ["a b", "a b c", "b c"]
    assert windows_of(["a"]) == ["a"]


def test_a_passage_ends_at_the_largest_drop() -> None:
    # Windows of the eight sentences: (2,0) (3,0) (3,0) (2,1) (1,2) (0,3) (0,3) (0,2). Cosines of neighbours: 1, 1,
    # 0.894, 0.8, 0.894, 1, 1. The 80th percentile of the drops 0 0 0 0 0.106 0.106 0.2 is 0.106; only 0.2 exceeds it.
    sentences = [SEA] * 4 + [WAR] * 4
    assert passages_at(sentences, toy(windows_of(sentences))) == [" ".join([SEA] * 4), " ".join([WAR] * 4)]


def test_a_document_of_one_subject_is_not_cut() -> None:
    assert passages_at([SEA] * 6, toy(windows_of([SEA] * 6))) == [" ".join([SEA] * 6)]
    assert passages_at([SEA], toy([SEA])) == [SEA]
    assert passages_at([SEA, WAR], toy(windows_of([SEA, WAR]))) == [f"{SEA} {WAR}"]
    assert passages_at([], np.empty((0, 2), dtype=np.float32)) == []


def test_all_nodes_of_a_block_are_encoded_at_once_and_keep_their_own_passages() -> None:
    calls: list[int] = []

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        calls.append(len(texts))
        return toy(texts)

    changing = node(text=" ".join([SEA] * 4 + [WAR] * 4), link="https://example.org/sea")
    found = cut_at_drops([node(), changing, node(text=SEA)], encode)
    assert found == [["Page"], [" ".join([SEA] * 4), " ".join([WAR] * 4)], [SEA]]
    assert calls == [9]
    assert cut_at_drops([node()], encode) == [["Page"]]


def test_a_long_passage_is_cut_and_a_long_document_ends() -> None:
    [parts] = cut_at_drops([node(text="sea " * 400)], toy)
    assert [len(part.split()) for part in parts] == [150, 150, 100]
    [many] = cut_at_drops([node(text="sea " * 150 * 50)], toy)
    assert len(many) == 40


ROWS = "\n".join(["Year | Host", *(f"{1900 + at} | City {at}" for at in range(21))])


def test_a_table_is_cut_into_even_segments_that_repeat_the_headers() -> None:
    segments = list(table_segments(node(results=ROWS)))
    assert [len(segment.splitlines()) - 2 for segment in segments] == [7, 7, 7]
    assert segments[1].splitlines()[:3] == ["Page, results", "Year | Host", "1907 | City 7"]
    rows = [line for segment in segments for line in segment.splitlines()[2:]]
    assert rows == [f"{1900 + at} | City {at}" for at in range(21)]


@pytest.mark.parametrize("rows", range(2, 60))
def test_segments_have_five_to_ten_rows_where_there_are_five(rows: int) -> None:
    text = "\n".join(["a|b", *(f"{at}|x" for at in range(rows))])
    sizes = [len(segment.splitlines()) - 2 for segment in table_segments(node(t=text))]
    assert sum(sizes) == rows
    assert max(sizes) <= 10
    assert min(sizes) >= min(rows, 5)


def test_what_reads_as_a_table() -> None:
    markdown = "| Year | Host |\n|:---|---|\n| 1900 | Paris |\n| 1904 | St. Louis |"
    assert read_table(markdown) == SegmentTable(("Year", "Host"), (("1900", "Paris"), ("1904", "St. Louis")))
    assert read_table("Year\tHost\n1900\tParis\n1904\tSt. Louis") is not None
    for other in ("One line | only", "a | b\nc", "Prose.\nMore prose.\nStill more.", "a | b\nc | d", 7, ["a | b"]):
        assert read_table(other) is None  # type: ignore[arg-type]


def test_a_table_is_no_sentence_and_stands_behind_the_prose() -> None:
    both = node(text=f"{SEA} {SEA}", results=ROWS)
    assert sentences_of(both) == [SEA, SEA]
    [texts] = cut_at_drops([both], toy)
    assert (texts[0], len(texts)) == (f"{SEA} {SEA}", 4)


@pytest.mark.django_db
def test_passages_cut_at_drops_are_a_kind_of_their_own(settings: Settings) -> None:
    settings.GRASP_ENCODERS = {"hash@1": {}}
    text = "A road leads away. It is long. Nobody walks it. The king is old. He has a horse. It is grey."
    graph = Graph((*GRAPH.nodes[:1], Node(1, "film/2", "film", "Birch", fields={"plot": text}), *GRAPH.nodes[2:]),
                  GRAPH.edges)  # fmt: skip
    encoder = HashEncoder()
    snapshot = snapshot_of(graph)
    built = build_index(snapshot=snapshot, encoder=encoder, kinds=["passage:drops"])
    tools = wiring.Tools(built.release)
    [expected] = cut_at_drops([graph.nodes[1]], lambda texts: encoder.encode(texts).astype(np.float16))
    assert len(expected) == 2
    for passage in expected:
        assert tools.vectors.nearest("passage:drops", encoder.vector(passage), 3)[0].key == 1
    keys, _ = Passages(encoder, tools.vectors).of(expected[0])
    assert 1 in keys
    # The usual passages are as they were, and a release may have both.
    both = build_index(snapshot=snapshot, encoder=encoder, kinds=["passage", "passage:drops"])
    assert {"passage", "passage:drops"} <= wiring.Tools(both.release).vectors.kinds
