"""Folds of questions about the parts of a graph, by hand."""

from pathlib import Path

import numpy as np
import pytest

from search.adapters import adjacency_memmap, mentions_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.graph import NodeType, Relation, Schema
from search.interfaces import Keys
from tests.graphs import edge_arrays
from training.learning.folds import folds_apart, folds_of, patterns_of

SCHEMA = Schema((NodeType("thing"),), (Relation("row of"), Relation("links to")), ())
TABLES, ROWS = 12, 5


@pytest.fixture
def tables(tmp_path: Path) -> MemmapAdjacency:
    """Twelve tables of five rows; each row links to a page of its own, and all rows link to one hub (the last key)."""
    edges = []
    for table in range(TABLES):
        for row in range(ROWS):
            key = TABLES + table * ROWS + row
            edges += [(0, key, table), (1, key, key + TABLES * ROWS), (1, key, _hub())]
    relation, source, target = np.array(edges).T
    adjacency_memmap.build(
        tmp_path,
        nodes=_hub() + 1,
        types=np.zeros(_hub() + 1, dtype=np.int16),
        relations=2,
        edges=edge_arrays(source=source, relation=relation, target=target),
    )
    return MemmapAdjacency(tmp_path, SCHEMA)


def _hub() -> int:
    return TABLES + 2 * TABLES * ROWS


def _answers() -> list[Keys]:
    """The answers are rows and, every second time, the page that the row links to."""
    rows = [TABLES + at for at in range(TABLES * ROWS)]
    return [np.array([row + (at % 2) * TABLES * ROWS], dtype=np.int32) for at, row in enumerate(rows)]


def test_rows_of_a_table_and_their_pages_are_in_one_fold_and_a_hub_joins_nothing(tables: MemmapAdjacency) -> None:
    texts = [f"question {at}" for at in range(TABLES * ROWS)]
    folds = folds_apart(texts, _answers(), tables, 3, 0)
    of_table = folds.reshape(TABLES, ROWS)
    assert (of_table == of_table[:, :1]).all()
    assert np.bincount(folds).tolist() == [20, 20, 20]
    assert folds.tolist() == folds_apart(texts, _answers(), tables, 3, 0).tolist()
    assert folds.tolist() != folds_apart(texts, _answers(), tables, 3, 1).tolist()
    alone = folds_of(texts, 3, 0).reshape(TABLES, ROWS)
    assert not (alone == alone[:, :1]).all(), "without looking at the graph, tables are divided"


def test_the_same_words_stay_together_and_few_groups_are_divided_by_words(tables: MemmapAdjacency) -> None:
    texts = [f"question {at % 30}" for at in range(TABLES * ROWS)]
    folds = folds_apart(texts, _answers(), tables, 3, 0)
    assert folds[:30].tolist() == folds[30:].tolist()
    answers = [np.array([0], dtype=np.int32)] * 4
    assert sorted(folds_apart(["a", "b", "c", "d"], answers, tables, 4, 0).tolist()) == [0, 1, 2, 3]


PLACES = ("Kansas", "Texas", "Ohio", "New Mexico", "Iowa", "Utah")
ASKED = (
    "what is the highest point in {}", "how many people live in {}", "where is {}", "which rivers run through {}",
    "what borders {}", "name the capital of {}", "how large is {}", "who governs {}", "which lakes are in {}",
)  # fmt: skip


@pytest.fixture
def mentions(tmp_path: Path) -> MemmapMentions:
    mentions_memmap.build(tmp_path, ((key, name, False) for key, name in enumerate(PLACES)))
    return MemmapMentions(tmp_path)


def test_a_pattern_is_what_a_question_says_besides_names(mentions: MemmapMentions) -> None:
    same = ["what is the highest point in kansas", "What's the highest point of New Mexico?", "highest points, Ohio"]
    others = ["what is the lowest point in Kansas", "where is Ohio", "Texas", "how many people live in Texas"]
    found = patterns_of([*same, *others], mentions)
    assert len(set(found[:3])) == 1
    assert len({found[0], *found[3:]}) == 1 + len(others)


def test_questions_that_differ_in_the_name_alone_are_in_one_fold(mentions: MemmapMentions) -> None:
    texts = [asked.format(place) for place in PLACES for asked in ASKED]
    folds = folds_of(texts, 3, 0, patterns_of(texts, mentions))
    by_pattern = folds.reshape(len(PLACES), len(ASKED))
    assert (by_pattern == by_pattern[:1]).all()
    assert np.bincount(folds).tolist() == [18, 18, 18]
    plain = folds_of(texts, 3, 0).reshape(len(PLACES), len(ASKED))
    assert not (plain == plain[:1]).all(), "without patterns, they are divided"


def test_a_pattern_that_most_people_ask_is_divided(mentions: MemmapMentions, tables: MemmapAdjacency) -> None:
    # Eleven of fifteen questions are of one pattern, and half a fold of three is two and a half questions.
    texts = [f"where is {place} {number}" for place in PLACES for number in ("", "now")][:11] + [
        asked.format("Utah") for asked in ASKED[:4]
    ]
    folds = folds_of(texts, 3, 0, ["where"] * 11 + list("abcd"))
    assert set(folds[:11].tolist()) == {0, 1, 2}
    answers = [np.array([at], dtype=np.int32) for at in range(len(texts))]
    assert set(folds_apart(texts, answers, tables, 3, 0, ["where"] * 11 + list("abcd"))[:11].tolist()) == {0, 1, 2}


def test_the_graph_and_the_patterns_keep_questions_together(mentions: MemmapMentions, tables: MemmapAdjacency) -> None:
    texts = [f"question {at}" for at in range(TABLES * ROWS)]
    patterns = [str(at // 2) if at < 10 else f"own {at}" for at in range(TABLES * ROWS)]
    folds = folds_apart(texts, _answers(), tables, 3, 0, patterns)
    assert all(folds[at] == folds[at + 1] for at in range(0, 10, 2))
    assert len(set(folds.tolist())) == 3
