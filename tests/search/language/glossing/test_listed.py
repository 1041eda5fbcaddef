"""The meaning that the knowledge base speaks of; the schemas and what is right are made up by hand."""

from __future__ import annotations

import pytest

from search.language.gloss import gloss
from search.language.glossing.wanted import Wanted

PLACES = Wanted(
    frozenset(("state", "states", "country", "river", "rivers", "area", "population", "density", "borders"))
)
NAMED = Wanted(PLACES.schema, is_name=lambda said: said.casefold() in ("rio grande", "colorado", "berg", "essen"))


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        # Of several words of the schema the one that is spelt alike.
        ("de", "welche Staaten", "which states"),
        ("it", "quali stati", "which states"),
        ("es", "estados", "states"),
        # A word that the dictionary reads otherwise, and one of the schema.
        ("pt", "a área", "the area"),
        ("de", "Grenzen", "borders"),
        # Compounds: a part that says nothing of the schema is left out.
        ("de", "Welche Bundesstaaten", "which state"),
        ("de", "Bevölkerungsdichte", "population density"),
        ("de", "bevoelkerungsdichte", "population density"),
        # With a capital a word of the schema is still one.
        ("fr", "Quels États", "which states"),
        # No list has it, but it is nearly spelt like a word of the schema.
        ("pt", "a densidade populacional", "the density population"),
    ],
)
def test_the_meaning_in_the_schema_wins(source: str, text: str, read: str) -> None:
    assert gloss(text, source, "en", PLACES).text == read


@pytest.mark.parametrize(
    ("source", "text", "read"),
    [
        ("es", "el rio grande", "the rio grande"),
        ("es", "el rio de colorado", "the river of colorado"),
        ("nl", "de berg", "the berg"),
        ("pt", "o berg", "the berg"),
    ],
)
def test_names_stay_as_they_are(source: str, text: str, read: str) -> None:
    assert gloss(text, source, "en", NAMED).text == read


def test_a_meaning_that_is_a_name_wins_where_the_schema_has_none() -> None:
    """Portuguese *gota* is a droplet first, then gout."""
    assert gloss("a gota", "pt", "en").text == "the droplet"
    assert gloss("a gota", "pt", "en", Wanted(is_known=lambda word: word == "gout")).text == "the gout"


def test_words_of_english_stay_unless_the_schema_has_what_they_mean() -> None:
    """*tail* and *light* may be of a name; Portuguese *rim* is a kidney."""
    assert gloss("o loon tail light", "pt", "en").text == "the loon tail light"
    assert gloss("o rim", "pt", "en", Wanted(frozenset(("kidney",)))).text == "the kidney"


def test_numbers_in_words_are_numbers() -> None:
    assert gloss("moins de vingt fleuves", "fr", "en").text == "under 20 rivers"
    assert gloss("más de veinte ríos", "es", "en").text == "over 20 rivers"


def test_a_word_before_a_year_is_one_of_time() -> None:
    assert gloss("merken voor 1950", "nl", "en").text == "brands before 1950"
    assert gloss("medicijnen voor kinderen", "nl", "en").text.startswith("drugs for ")


def test_without_a_schema_the_dictionary_comes_first() -> None:
    assert gloss("welche Staaten", "de", "en").text == "which countries"
