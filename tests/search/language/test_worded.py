"""A question in the language of a knowledge base, and the way back to its words."""

from __future__ import annotations

from search.language.glossing.wanted import Wanted
from search.language.worded import worded


def test_a_question_in_the_language_of_the_base_has_its_misspelt_words_mended() -> None:
    read = worded("chepest tent wihtout poles", "en", Wanted(frozenset({"tent", "poles"})))
    assert (read.text, read.original) == ("cheapest tent without poles", "chepest tent wihtout poles")
    assert (read.language, read.into) == ("en", "en")
    start = read.text.index("without")
    assert read.original[slice(*read.origin(start, start + len("without")))] == "wihtout"


def test_a_word_that_is_known_stays_as_it_is() -> None:
    read = worded("which tents are chepest", "en", Wanted(is_known={"chepest"}.__contains__))
    assert read.text == "which tents are chepest"


def test_a_question_in_another_language_is_read_word_by_word() -> None:
    read = worded("Quels médicaments traitent l'asthme ?", "en")
    assert (read.language, read.into, read.read) == ("fr", "en", True)
    assert read.text.split()[:3] == ["which", "drugs", "treat"]


def test_a_name_of_several_words_that_the_base_knows_stays() -> None:
    read = worded("rivières comme rio grande", "en", Wanted(is_name={"rio grande"}.__contains__))
    assert "rio grande" in read.text


def test_without_a_dictionary_a_question_stays_as_it_is() -> None:
    text = "누가 이 영화를 감독했나요?"
    read = worded(text, "en")
    assert (read.text, read.read) == (text, False)
