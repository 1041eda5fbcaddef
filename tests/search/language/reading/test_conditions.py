"""Words that limit, count or compute, in every language that is read whole."""

from __future__ import annotations

import pytest

from search.language.languages import known_languages, language
from search.language.reading import read_cues
from search.language.reading.question import read_question


def said(text: str, code: str = "en") -> list[tuple[str, str]]:
    return [(cue.kind, text[cue.start : cue.end]) for cue in read_cues(text, code).conditions]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("which rivers run only through Texas", "en", [("every", "only")]),
        ("the total area of all states", "en", [("other", "total"), ("every", "all")]),
        ("the second or third longest river", "en", [("place", "second"), ("either", "or"), ("place", "third")]),
        ("rivers in both states on average", "en", [("both", "both"), ("other", "on average")]),
        ("welche Flüsse fließen nur durch Texas", "de", [("every", "nur")]),
        ("der zweite im Durchschnitt", "de", [("place", "zweite"), ("other", "im Durchschnitt")]),
        ("la deuxième en moyenne de tous les fleuves", "fr",
         [("place", "deuxième"), ("other", "en moyenne"), ("every", "tous les")]),
        ("el segundo promedio de todos los ríos", "es",
         [("place", "segundo"), ("other", "promedio"), ("every", "todos los")]),
    ],
)  # fmt: skip
def test_condition_words_are_found_with_their_kind(text: str, code: str, words: list[tuple[str, str]]) -> None:
    assert said(text, code) == words


@pytest.mark.parametrize("text", ["sold at all", "not only tents", "what are rivers of Texas", "tent 2"])
def test_stretches_that_mean_something_else_together_are_none(text: str) -> None:
    assert said(text) == []


def test_digits_are_no_places() -> None:
    assert said("mehr als 2 Autoren", "de") == [("other", "mehr")]


@pytest.mark.parametrize("code", known_languages())
def test_every_language_that_is_read_whole_has_them(code: str) -> None:
    assert language(code).set("condition_words", "every")
    assert language(code).set("condition_words", "other")


def test_the_words_of_another_language_are_found_where_the_gloss_says_them() -> None:
    read = read_question("Welche Produkte sind nur aus Wolle?", "en")
    [only] = [cue for cue in read.cues.conditions if cue.kind == "every"]
    assert read.gloss.original[slice(*read.gloss.origin(only.start, only.end))] == "nur"
