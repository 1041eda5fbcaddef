"""Which stretches of a question count as names."""

from pathlib import Path

import pytest

from search.adapters import mentions_memmap, near_names
from search.language.names import NamedPart, find_names, ordinary_words, schema_words
from tests.search.stages.plan.films import FILMS, SCHEMA, described

ORDINARY = ordinary_words(SCHEMA)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> mentions_memmap.MemmapMentions:
    folder: Path = tmp_path_factory.mktemp("names")
    extra = ["Big", "Big Heat", "big heat wave", "Director", "drama film"]
    names = [*(node.name for node in FILMS.nodes), *extra]
    mentions_memmap.build(folder, ((key, name, False) for key, name in enumerate(names)))
    return mentions_memmap.MemmapMentions(folder)


def names(index: mentions_memmap.MemmapMentions, text: str, most: int = 9) -> dict[str, NamedPart]:
    return {name.mention.text: name for name in find_names(text, index, ORDINARY, most)}


def test_words_of_the_schema_and_of_asking_are_ordinary() -> None:
    assert {"film", "direct", "act", "what"} <= ORDINARY
    assert not {"heat", "drama", "kid"} & ORDINARY


def test_aliases_and_wordings_are_words_of_the_schema_too() -> None:
    assert {"movi", "pictur", "mad", "helm"} <= schema_words(described())


def test_the_longest_name_wins(index: mentions_memmap.MemmapMentions) -> None:
    assert list(names(index, "films like Big Heat")) == ["Big Heat"]


def test_a_longer_name_in_other_case_does_not_hide_an_exact_one(index: mentions_memmap.MemmapMentions) -> None:
    assert {"Big Heat", "Big Heat wave"} <= set(names(index, "who made the Big Heat wave"))


def test_an_ordinary_name_counts_by_capitals_or_quotes_alone(index: mentions_memmap.MemmapMentions) -> None:
    assert list(names(index, "director of heat")) == ["heat"]
    assert set(names(index, "who made Director")) == {"Director"}
    assert set(names(index, "who made 'director'")) == {"director"}


def test_the_capital_at_the_beginning_of_a_question_says_nothing(index: mentions_memmap.MemmapMentions) -> None:
    assert list(names(index, "What is this")) == []
    assert not names(index, "Heat was made by whom")["Heat"].capitalised
    assert names(index, "who made Heat")["Heat"].capitalised


def test_a_question_in_capitals_marks_nothing(index: mentions_memmap.MemmapMentions) -> None:
    assert not names(index, "WHO MADE HEAT")["HEAT"].marked


def test_marked_names_are_kept_where_only_few_may_be(index: mentions_memmap.MemmapMentions) -> None:
    assert list(names(index, "drama kid heat or Ann Arbor", most=1)) == ["Ann Arbor"]


def test_behind_which_the_schemas_own_word_says_what_is_asked_for(index: mentions_memmap.MemmapMentions) -> None:
    assert list(names(index, "Which drama film is the longest?")) == ["drama"]
    assert list(names(index, "who made the drama film")) == ["drama film"]
    assert list(names(index, "which Big Heat do you mean")) == ["Big Heat"]
    assert "drama film" in names(index, "which 'drama film' do you mean")


def test_a_plural_with_words_of_the_schema_hides_no_name(tmp_path: Path) -> None:
    exact, near = tmp_path / "mentions", tmp_path / "near_names"
    exact.mkdir()
    near.mkdir()
    names = ["drama", "drama film", "Heat", "Heat wave"]
    mentions_memmap.build(exact, ((key, name, False) for key, name in enumerate(names)))
    near_names.build(near, exact, "en")
    index = mentions_memmap.MemmapMentions(exact, near=near)

    def found(text: str) -> list[tuple[str, str]]:
        return [(name.mention.text, name.how) for name in find_names(text, index, ORDINARY, 9)]

    assert found("old drama films") == [("drama films", "plural"), ("drama", "name")]
    assert found("which drama films are old") == [("drama", "name")]
    assert found("long Heat waves") == [("Heat waves", "plural")]


def test_a_misspelt_word_of_the_schema_is_no_name(tmp_path: Path) -> None:
    exact, near = tmp_path / "mentions", tmp_path / "near_names"
    exact.mkdir()
    near.mkdir()
    mentions_memmap.build(exact, ((key, name, False) for key, name in enumerate(["Director", "Wennerholt"])))
    near_names.build(near, exact, "en")
    index = mentions_memmap.MemmapMentions(exact, near=near)
    assert {mention.meant for mention in index.find("the direktor wennerhold")} == {"Director", "Wennerholt"}
    assert [name.mention.meant for name in find_names("the direktor wennerhold", index, ORDINARY, 9)] == ["Wennerholt"]
