"""Ordinary words for the words of schemas."""

import pytest

from search.language.synonyms import synonyms


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("pills", "drug"),
        ("Medication", "drug"),
        ("movies", "film"),
        ("store", "shop"),
        ("maker", "brand"),
        ("researchers", "author"),
        ("illness", "disease"),
        ("high blood pressure", "hypertension"),
        ("costs", "price"),
        ("weigh", "weight"),
        ("came out", "released"),
        ("Holland", "Netherlands"),
        ("British", "United Kingdom"),
        ("paracetamol", "acetaminophen"),
    ],
)
def test_what_people_say_stands_for_what_schemas_say(said: str, meant: str) -> None:
    assert meant in synonyms(said)


def test_unknown_words_and_languages_have_none() -> None:
    assert synonyms("xyzzy") == ()
    assert synonyms("") == ()
    assert synonyms("drug", "ko") == ()
    assert synonyms("drug", "../en") == ()


def test_a_word_is_not_its_own_synonym() -> None:
    assert "film" not in synonyms("films")


def test_a_word_of_a_group_is_not_read_as_another_form_of_one_elsewhere() -> None:
    """*Film* is a thing, and *filmed* what a director did; only the second has no entry of its own as a noun."""
    assert "director" not in synonyms("films")
    assert "director" in synonyms("filmed")
