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

from search.adapters.text_bm25 import Bm25Index, Document, build
from search.adapters.text_bm25 import corpus as corpus_files
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
        map(Document, documents, fields or [{}] * len(documents)),
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


def test_a_document_has_the_words_of_its_fields_and_of_the_names_that_it_refers_to(tmp_path: Path) -> None:
    names = ["Amber Road", "The Birch"]
    referring = [Document("film", {"plot": "a road"}, {"relation:LIKE": [1, 0]}), Document("film", {}, {})]
    written = [Document("film road birch amber road"), Document("film")]
    (tmp_path / "referring").mkdir()
    (tmp_path / "written").mkdir()
    types = np.zeros(2, dtype=np.int16)
    build(tmp_path / "referring", referring, types, names=names)
    build(tmp_path / "written", written, types)
    for name in ("vocabulary.bin", "whole/data.csc.index.npy", "whole/indices.csc.index.npy"):
        assert (tmp_path / "referring" / name).read_bytes() == (tmp_path / "written" / name).read_bytes()
    found = Bm25Index(tmp_path / "referring", SCHEMA)
    assert found.fields == ("plot", "relation:LIKE")
    assert [[one.key for one in found.search(word, 9, field="relation:LIKE")] for word in ("birch", "film")] == [
        [0],
        [],
    ]


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
    at_once=st.sampled_from([1, 7, 1 << 21]),
    corpus=st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=20).filter("".join),
    asked=st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
)
def test_scores_are_those_of_bm25s(
    tmp_path_factory: pytest.TempPathFactory, at_once: int, corpus: list[str], asked: str
) -> None:
    stemmer = Stemmer.Stemmer("english")
    reference = bm25s.BM25()
    tokens = bm25s.tokenize(corpus, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    if not any(tokens):
        return
    reference.index(tokens, show_progress=False)
    [query] = bm25s.tokenize([asked], stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False)
    expected = reference.get_scores(query) if query else np.zeros(len(corpus))
    with pytest.MonkeyPatch.context() as patch:
        # As many words as are sorted at once: each on its own, a few, or all.
        patch.setattr(corpus_files, "WORDS_AT_ONCE", at_once)
        found = index(tmp_path_factory.mktemp("bm25"), corpus).search(asked, len(corpus))
    assert {c.key: c.score for c in found} == pytest.approx(
        {key: score for key, score in enumerate(expected.tolist()) if score > 0}, rel=1e-5
    )


def test_an_index_in_corpus_files_has_the_files_of_one_in_a_single_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(3)
    # Few words are in most documents, most words in few.
    texts = [" ".join(f"w{int(40**place)}" for place in draw.random(30)) for _ in range(200)]
    fields = [{"plot": text[: 9 * (at % 3)]} for at, text in enumerate(texts)]
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    index(tmp_path / "one", texts, fields=fields)
    monkeypatch.setattr(corpus_files, "WORDS_AT_ONCE", 100)
    monkeypatch.setattr(corpus_files, "WORDS_A_WRITE", 64)
    index(tmp_path / "many", texts, fields=fields)
    one, many = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "many")
    )
    # Four of the documents, four of the field, and types, manifest and both files of the vocabulary.
    assert len(one) == 12
    assert many == one


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 30), labels=st.sampled_from([(), ("film",), ("person",)]))
def test_the_best_are_the_first_of_all_that_match(
    tmp_path_factory: pytest.TempPathFactory, seed: int, k: int, labels: tuple[str, ...]
) -> None:
    draw = np.random.default_rng(seed)

    def text(words: int) -> str:
        return " ".join(f"w{int(60**place)}" for place in draw.random(words))

    types = draw.integers(0, 2, 100).tolist()
    built = index(tmp_path_factory.mktemp("best"), [text(int(size)) for size in draw.integers(1, 20, 100)], types)
    asked = text(6)
    keys, scores = built.matching(asked)
    matching = zip(keys.tolist(), scores.tolist(), strict=True)
    every = [(key, score) for key, score in matching if not labels or SCHEMA.node_types[types[key]].name in labels]
    expected = sorted(every, key=lambda pair: (-pair[1], pair[0]))[:k]
    assert [(found.key, found.score) for found in built.search(asked, k, labels)] == expected
