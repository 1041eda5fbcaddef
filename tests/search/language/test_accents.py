"""Words typed without accents; what they stand for is written by hand."""

import pytest

from search.language.accents import paired, spelled, typed, unaccented, unpaired
from search.language.tokens import tokens


@pytest.mark.parametrize(
    ("word", "plain"),
    [("größte", "grosste"), ("montaña", "montana"), ("cœur", "coeur"), ("população", "populacao"), ("Łódź", "lodz")],
)
def test_a_word_loses_its_accents(word: str, plain: str) -> None:
    assert unaccented(word) == plain


def test_umlauts_are_typed_as_pairs_of_letters_or_as_vowels() -> None:
    assert paired("Größe") == "groesse"
    assert unpaired("laender") == "lander"
    assert typed(("größte", "Stadt")) == [("grosste", "stadt"), ("groesste", "stadt")]
    assert typed(("stadt",)) == []


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("de", "laengster hoechste kuerzesten", ["längster", "höchste", "kürzesten"]),
        ("es", "despues mas barato", ["después", "mas", "barato"]),
        ("fr", "le moins cher apres 2000", ["le", "moins", "cher", "après", "2000"]),
        ("en", "longest river", ["longest", "river"]),
    ],
)
def test_words_of_asking_are_spelt_as_their_language_does(code: str, text: str, words: list[str]) -> None:
    """*mas* stays: the data file of Spanish has it in both spellings."""
    assert [token.word for token in spelled(tokens(text), code)] == words


def test_tokens_keep_their_places() -> None:
    [token] = spelled(tokens("laengster"), "de")
    assert (token.start, token.end) == (0, 9)
