"""BM25: the numbers against the formula and against bm25s itself, the order, types, fields and languages."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import bm25s
import numpy as np
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from search.adapters.text_bm25 import Bm25Index, build
from search.domain.errors import StageError
from search.domain.graph import NodeType, Schema

SCHEMA = Schema((NodeType("film", 2), NodeType("person", 1)), (), ())


def index(
    folder: Path,
    documents: Sequence[str],
    types: Sequence[int] | None = None,
    fields: Sequence[Mapping[str, str]] | None = None,
    language: str = "en",
) -> Bm25Index:
    build(
        folder,
        zip(documents, fields or [{}] * len(documents), strict=True),
        np.array(types or [0] * len(documents), dtype=np.int16),
        language,
    )
    return Bm25Index(folder, SCHEMA)


def test_a_score_is_that_of_the_formula(tmp_path: Path) -> None:
    found = index(tmp_path, ["amber road", "amber", "birch birch road"]).search("Birch?", 10)
    # One of three documents holds the word, twice; it has 3 words, 2 on average.
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    score = idf * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / 2))
    assert [(candidate.key, candidate.score) for candidate in found] == [(2, pytest.approx(score, rel=1e-6))]


def test_the_rarity_of_a_text_is_the_idf_of_its_words_known_or_not(tmp_path: Path) -> None:
    built = index(tmp_path, ["amber road", "amber", "birch birch road"])
    # `amber` is in two of three documents, `zebra` in none; `the` is no word, and a repeated one counts once.
    amber, zebra = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), math.log(1 + (3 - 0 + 0.5) / (0 + 0.5))
    assert built.rarity("The amber zebra, amber!") == pytest.approx(amber + zebra)
    assert built.rarity("the") == 0.0


def test_inflections_match_and_stop_words_do_not(tmp_path: Path) -> None:
    built = index(tmp_path, ["the roads were long", "this is the matter"])
    assert [candidate.key for candidate in built.search("Is this a ROAD?", 10)] == [0]
    assert built.search("is this the", 10) == []


def test_a_text_without_a_known_word_finds_nothing(tmp_path: Path) -> None:
    built = index(tmp_path, ["amber road"])
    assert built.search("", 10) == []
    assert built.search("zebra ☃ 🎬", 10) == []


def test_level_scores_are_ordered_by_key_also_at_the_cut(tmp_path: Path) -> None:
    built = index(tmp_path, ["road"] * 50)
    assert [candidate.key for candidate in built.search("road", 7)] == list(range(7))


def test_only_nodes_of_the_types_asked_for_are_found(tmp_path: Path) -> None:
    built = index(tmp_path, ["amber road", "amber", "amber road road"], types=[0, 1, 0])
    assert {candidate.key for candidate in built.search("amber", 10, ["film"])} == {0, 2}
    assert {candidate.key for candidate in built.search("amber", 10, ["person", "film"])} == {0, 1, 2}
    with pytest.raises(KeyError):
        built.search("amber", 10, ["planet"])


def test_a_field_is_searched_among_the_nodes_that_have_it(tmp_path: Path) -> None:
    fields = [{"plot": "a lighthouse"}, {}, {"plot": "a road", "tag/line": "lighthouse"}]
    built = index(tmp_path, ["lighthouse", "lighthouse", "road"], fields=fields)
    [found] = built.search("lighthouse", 10, field="plot")
    # One of the two plots holds the word; every plot has one word, for "a" is too short.
    assert (found.key, found.score) == (0, pytest.approx(math.log(1 + 1.5 / 1.5) * 1 / (1 + 1.5), rel=1e-6))
    assert [candidate.key for candidate in built.search("lighthouse", 10, field="tag/line")] == [2]
    with pytest.raises(StageError, match="the index has no field 'year'; it has: plot, tag/line") as raised:
        built.search("lighthouse", 10, field="year")
    assert raised.value.permanent


def test_documents_without_any_word_can_be_indexed(tmp_path: Path) -> None:
    built = index(tmp_path, ["", "the", "☃"], fields=[{"plot": ""}, {}, {}])
    assert built.search("road", 10) == []


def test_another_language_has_its_own_stems(tmp_path: Path) -> None:
    built = index(tmp_path, ["die Häuser am Fluss", "the houses"], language="de-AT")
    assert [candidate.key for candidate in built.search("die Hauses", 10)] == [0]


def test_a_language_without_stemmer_matches_words_as_they_are(tmp_path: Path) -> None:
    built = index(tmp_path, ["roads", "road"], language="tlh")
    assert [candidate.key for candidate in built.search("road", 10)] == [1]


WORDS = st.sampled_from(["amber", "roads", "road", "birch", "the", "lighthouses", "x1", "ärger"])


@given(
    corpus=st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=20).filter("".join),
    asked=st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
)
def test_scores_are_those_of_bm25s(tmp_path_factory: pytest.TempPathFactory, corpus: list[str], asked: str) -> None:
    stemmer = Stemmer.Stemmer("english")
    reference = bm25s.BM25()
    tokens = bm25s.tokenize(corpus, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    if not any(tokens):
        return
    reference.index(tokens, show_progress=False)
    [query] = bm25s.tokenize([asked], stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    expected = reference.get_scores(query) if query else np.zeros(len(corpus))
    found = index(tmp_path_factory.mktemp("bm25"), corpus).search(asked, len(corpus))
    assert {c.key: c.score for c in found} == pytest.approx(
        {key: score for key, score in enumerate(expected.tolist()) if score > 0}, rel=1e-5
    )
