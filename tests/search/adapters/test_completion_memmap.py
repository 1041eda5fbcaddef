"""Names by how they begin, or how a word in them does; against a look through all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.adapters import completion_memmap
from search.adapters.completion_memmap import MemmapCompletion
from search.adapters.name_words import name_words

FILM, PERSON = 0, 1
NAMES = (
    ("The Godfather", FILM), ("Amélie", FILM), ("Godfather of Harlem", FILM), ("Amelie Zurcher", PERSON),
    ("Spider-Man: Homecoming", FILM), ("Groß und Klein", FILM), ("千と千尋の神隠し", FILM), ("!!!", FILM),
    ("Zoë God", PERSON), ("Søren Łuk", PERSON),
)  # fmt: skip


def index_of(
    folder: Path, names: tuple[tuple[str, int], ...], aliases: tuple[tuple[int, str], ...] = ()
) -> MemmapCompletion:
    folder.mkdir(exist_ok=True)
    given = [(key, name, False) for key, (name, _) in enumerate(names)] + [(key, name, True) for key, name in aliases]
    completion_memmap.build(folder, given)
    return MemmapCompletion(folder, np.array([code for _, code in names], dtype=np.int16))


@pytest.fixture
def films(tmp_path: Path) -> MemmapCompletion:
    return index_of(tmp_path, NAMES, ((0, "Der Pate"),))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("godf", [2, 0]), ("godfather", [2, 0]), ("GODFATHER  of", [2]), ("the g", [0]), ("amelie", [1, 3]),
        ("Amélie", [1, 3]), ("ame", [1, 3]), ("pate", [0]), ("der p", [0]), ("spider man", [4]), ("man home", [4]),
        ("home", [4]), ("gross", [5]), ("zoe", [8]), ("soren", [9]), ("SØR", [9]), ("luk", [9]),
        ("千尋", [6]), ("god", [2, 8, 0]), ("zzz", []), ("", []),
        ("!!", [7]), ("!!!", [7]), ("elie", []), ("the godfather part two of all times and more", []),
    ],
)  # fmt: skip
def test_a_name_is_found_by_its_beginning_and_behind_those_by_the_beginning_of_a_word(
    films: MemmapCompletion, text: str, keys: list[int]
) -> None:
    assert films.contains(text, 10) == keys


def test_beginnings_alone_and_one_type_alone(films: MemmapCompletion) -> None:
    assert films.begins("god", 10) == [2]
    assert films.contains("god", 10, PERSON) == [8]
    assert films.contains("amelie", 10, FILM) == [1]


def test_no_more_than_asked_for(films: MemmapCompletion) -> None:
    assert films.contains("god", 2) == [2, 8]
    assert films.contains("god", 1) == [2]


def test_no_names_at_all(tmp_path: Path) -> None:
    assert index_of(tmp_path, ()).contains("god", 5) == []


def test_beginnings_longer_than_what_names_are_ordered_by(tmp_path: Path) -> None:
    long = "Proceedings of the International Conference on "
    index = index_of(tmp_path, ((long + "Roads", FILM), (long + "Rivers", FILM), (long + "Rain", FILM)))
    assert sorted(index.contains(long + "r", 10)) == [0, 1, 2]
    assert index.contains(long + "riv", 10) == [1]
    assert index.contains("international conference on ra", 10) == [2]


WORDS = st.lists(st.sampled_from(["a", "ab", "abé", "Öl", "the", "x" * 20, "b-c", "日本"]), min_size=1, max_size=5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(WORDS.map(" ".join), max_size=12), asked=WORDS.map(" ".join), cut=st.integers(1, 12))
def test_what_is_found_is_what_a_look_through_all_names_finds(
    tmp_path: Path, names: list[str], asked: str, cut: int
) -> None:
    index = index_of(tmp_path, tuple((name, FILM) for name in names))
    wanted = " ".join(name_words(asked[:cut]))
    folded = [name_words(name) for name in names]
    begin = {key for key, words in enumerate(folded) if wanted and " ".join(words).startswith(wanted)}
    inside = {
        key
        for key, words in enumerate(folded)
        if wanted and any(" ".join(words[at:]).startswith(wanted) for at in range(len(words)))
    }
    assert set(index.begins(asked[:cut], 100)) == begin
    found = index.contains(asked[:cut], 100)
    assert len(found) == len(set(found))
    assert set(found) == inside
    assert set(found[: len(begin)]) == begin
