"""Words looked up in the lists; which lines are found is told by reading the files as text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.language.glossing.lists import LISTS, WordList, endings, key_of, listed_languages, word_list


def rows(code: str) -> Iterator[list[str]]:
    for line in (LISTS / f"{code}.txt").read_text(encoding="utf-8").splitlines():
        yield line.split("|")


def first(code: str, said: str) -> str:
    found = word_list(code, "en").meanings(said.split())
    return found[0].words[0] if found else ""


@pytest.mark.parametrize(
    ("code", "said", "meant"),
    [
        # As listed, without accents, and in the letters of a keyboard without umlauts.
        ("de", "fluss", "river"), ("es", "río", "river"), ("es", "rio", "river"), ("pt", "populacao", "population"),
        ("fr", "riviere", "river"), ("it", "citta", "city"), ("nl", "rivier", "river"),
        # Inflected forms.
        ("de", "flüsse", "river"), ("de", "flusse", "river"), ("de", "fluesse", "river"), ("de", "länder", "country"),
        ("de", "laendern", "country"), ("de", "bergen", "mountain"), ("es", "ríos", "river"), ("es", "rios", "river"),
        ("es", "poblaciones", "population"), ("pt", "populacoes", "population"), ("pt", "animais", "animal"),
        ("fr", "chevaux", "horse"), ("fr", "montagnes", "mountain"), ("it", "fiumi", "river"),
        ("it", "laghi", "lake"), ("it", "banche", "bank"), ("nl", "rivieren", "river"), ("nl", "bergen", "mountain"),
        ("nl", "huizen", "house"), ("es", "atraviesa", "cross"), ("pt", "atravessam", "cross"),
        ("it", "attraversano", "cross"),
        # Phrases before words.
        ("es", "tienda de campaña", "tent"), ("es", "tiendas de campana", "tent"),
    ],
)  # fmt: skip
def test_a_word_is_found_in_every_form(code: str, said: str, meant: str) -> None:
    assert first(code, said) == meant


@pytest.mark.parametrize(("code", "said"), [("de", "xqzt"), ("es", "a"), ("fr", ""), ("it", "…"), ("nl", "ß")])
def test_no_word_has_no_meaning(code: str, said: str) -> None:
    assert word_list(code, "en").meanings(said.split()) == []


def test_a_word_as_it_is_spelt_comes_before_one_without_its_accent() -> None:
    """Portuguese *lã* is wool, *lá* is there."""
    meanings = word_list("pt", "en").meanings(["lã"])
    assert (meanings[0].words[0], meanings[0].distance) == ("wool", -2)
    assert {meaning.distance for meaning in meanings[1:]} == {-1}


def test_longer_phrases_come_first_with_their_number_of_words() -> None:
    found = word_list("es", "en").meanings(["tienda", "de", "campaña", "barata"])
    assert [found[0].length, found[-1].length] == [3, 1]


@pytest.mark.parametrize("code", listed_languages())
def test_every_row_is_in_order_and_complete(code: str) -> None:
    """A word that is not in the order of the file would not be found."""
    folds = endings(code)[1]
    lines = [line.encode() for line in (LISTS / f"{code}.txt").read_text(encoding="utf-8").splitlines()]
    assert lines == sorted(lines)
    for key, spelling, kind, meanings in rows(code):
        assert key_of(spelling or key, folds) == key
        assert spelling != key
        assert kind in ("n", "a", "v", "f")
        assert all(word.isascii() for word in meanings.split(","))
        assert all(meanings.split(","))


@pytest.mark.parametrize("code", listed_languages())
def test_every_listed_word_is_found(code: str) -> None:
    listed = WordList(code)
    for key, spelling, kind, meanings in list(rows(code))[::97]:
        said = (spelling or key).split()
        found = {(one.length, one.kind, ",".join(one.words)) for one in listed.meanings(said)}
        assert (len(key.split()), kind, meanings) in found
        assert listed.has(said[0]) or len(said) > 1


@given(st.sampled_from(listed_languages()), st.lists(st.text(max_size=12), max_size=5))
def test_any_words_may_be_looked_up(code: str, said: list[str]) -> None:
    for meaning in word_list(code, "en").meanings([word.lower() for word in said]):
        assert 1 <= meaning.length <= len(said)


@pytest.mark.parametrize(("code", "into"), [("sv", "en"), ("de", "fr"), ("en", "de")])
def test_other_pairs_of_languages_have_no_list(code: str, into: str) -> None:
    assert word_list(code, into) is None


def test_letters_that_two_endings_share_belong_to_the_stem() -> None:
    """*ces>z* and *oes>ao* have no letter in common at the begin; *es>e* is *s>*."""
    assert ("ces", "z") in endings("es")[0]
    assert ("oes", "ao") in endings("pt")[0]
    assert endings("nl")[1][0] == ("aa", "a")
